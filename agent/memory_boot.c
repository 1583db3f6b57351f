/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The item "load"; called by jobs.c. Invariants: no disk is named in it and none is
 * touched; key and certificate are in memory alone, and go with the boot.
 */
#include "agent/memory_boot.h"

#include <stdlib.h>

#include "agent/agent_upgrade.h"
#include "agent/system.h"
#include "base/file.h"
#include "base/log.h"
#include "images/install/ram.h"
#include "model/work.h"

/* What the ramdisk's init looks for when the agent has ended (ramdisk.init). */
#define ROOT_FILE "/run/bringup/root"

static int
load(struct bu_uplink *link, const struct bu_work_load *work, struct bu_err *err)
{
	struct bu_system_told told = {.link = link, .id = work->work.id};
	struct bu_install_hooks hooks = bu_system_hooks(&told);
	struct bu_system_files files = {.count = 0};
	struct bu_brought agent = {0};
	struct bu_install_opts opts = {
		.base_url = work->base_url,
		.image = work->image,
		.manifest_digest = work->digest,
		.image_public_pem = work->image_key,
		.stamp_text = work->stamp.text,
		.stamp_sig = work->stamp.sig,
	};
	struct bu_ram_place place;
	char release[65];
	int rc = -1;

	if (bu_ram_place("/ram", release, &place, err) == 0 &&
	    bu_agent_upgrade_bring(&agent, err) == 0 &&
	    bu_system_files_read(work->files, work->files_count, &files, err) == 0 &&
	    bu_system_add_identity(link->identity, &files, err) == 0) {
		opts.files = files.list;
		opts.file_count = files.count;
		opts.agent_files = agent.files;
		opts.agent_file_count = agent.count;
		rc = bu_ram_load(&opts, &hooks, &place, err);
	}
	bu_brought_fini(&agent);
	bu_system_files_fini(&files);
	return rc;
}

int
bu_memory_boot_item(struct bu_uplink *link, const json_t *item, json_t **ret_result,
		    struct bu_err *err)
{
	struct bu_work_load work;
	int rc;

	(void)ret_result;
	if (link->identity->installed)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "an installed system does not load another one");
	if (bu_record_from_json(bu_work_load_fields, item, &work, err) != 0)
		return bu_err_wrap(err, "load");
	rc = load(link, &work, err);
	bu_record_fini(bu_work_load_fields, &work);
	return rc;
}

void
bu_memory_boot_after(const json_t *item, int failed)
{
	struct bu_err err = {0};

	(void)item;
	if (failed)
		return;
	if (bu_file_write_text(ROOT_FILE, 0600, &err, "/ram/root\n") != 0) {
		bu_error("load", "%s", err.text);
		return;
	}
	bu_info("load", "loaded; going there");
	exit(0);
}
