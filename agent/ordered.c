/* SPDX-License-Identifier: Apache-2.0 */
/* From the item of work to the installer's options; called by jobs.c. */
#include "agent/ordered.h"

#include <string.h>

#include "base/path.h"

void
bu_ordered_fill(const struct bu_work_install *work, struct bu_ordered *ret)
{
	for (size_t i = 0; i < work->data_count; i++)
		ret->data[i] =
			(struct bu_install_data){work->data[i].name, work->data[i].guid,
						 (uint64_t)work->data[i].size_bytes};
	for (size_t i = 0; i < work->scratch_count; i++)
		ret->scratch[i] = (struct bu_install_member){work->scratch[i].path,
							     work->scratch[i].guid};
	ret->opts = (struct bu_install_opts){
		.base_url = work->base_url,
		.image = work->image,
		.manifest_digest = work->digest,
		.image_public_pem = work->image_key,
		.disk = work->disk,
		.allow_wipe = work->wipe,
		.keep_data = work->keep,
		.kargs = work->kargs,
		.raw = work->raw,
		.data = ret->data,
		.data_count = work->data_count,
		.root_bytes = (uint64_t)work->root_bytes,
		.mirror = work->mirror[0] ? work->mirror : NULL,
		.mirror_uuid = work->mirror_uuid,
		.mirror_granted = work->mirror_granted,
		.roots = work->roots,
		.reuse = work->reuse,
		.scratch = ret->scratch,
		.scratch_count = work->scratch_count,
		.scratch_uuid = work->scratch_uuid,
		.scratch_wipe = work->scratch_wipe,
		.mark_text = work->mark.text,
		.mark_sig = work->mark.sig,
		.appliance_public_pem = work->appliance_key,
		.step_id = work->work.id,
		.stamp_text = work->stamp.text,
		.stamp_sig = work->stamp.sig,
	};
}

static void
add_seed(struct bu_ordered *ordered, const char *path, const char *content, size_t size)
{
	ordered->seed[ordered->opts.seed_file_count++] =
		(struct bu_install_file){bu_path_name(path), 0600, content, size};
}

int
bu_ordered_files(struct bu_ordered *ordered, const struct bu_install_file *files,
		 size_t count, struct bu_err *err)
{
	struct bu_install_opts *opts = &ordered->opts;

	if (!opts->raw) {
		opts->files = files;
		opts->file_count = count;
		return 0;
	}
	if (count + 2 > BU_LEN(ordered->seed))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%zu files for cloud-init; at most %zu", count,
				  BU_LEN(ordered->seed) - 2);
	opts->seed_files = ordered->seed;
	for (size_t i = 0; i < count; i++)
		add_seed(ordered, files[i].path, files[i].content, files[i].size);
	add_seed(ordered, "stamp.json", opts->stamp_text, strlen(opts->stamp_text));
	add_seed(ordered, "stamp.sig", opts->stamp_sig, strlen(opts->stamp_sig));
	return 0;
}
