/* SPDX-License-Identifier: Apache-2.0 */
/* From the item of work to the installer's options; called by jobs.c. */
#include "agent/ordered.h"

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
		.data = ret->data,
		.data_count = work->data_count,
		.root_bytes = (uint64_t)work->root_bytes,
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
