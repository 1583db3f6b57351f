/* SPDX-License-Identifier: Apache-2.0 */
/* What the agent of the boot ramdisk puts into a new system, and tells meanwhile. */
#ifndef BU_AGENT_SYSTEM_H
#define BU_AGENT_SYSTEM_H

#include "agent/uplink.h"
#include "images/install/install.h"
#include "model/work.h"

enum { BU_SYSTEM_OWN_FILES = 5 };

/* Files of a work item, and the agent's own. */
struct bu_system_files {
	struct bu_install_file list[BU_WORK_FILES_MAX + BU_SYSTEM_OWN_FILES];
	char *owned[BU_WORK_FILES_MAX + BU_SYSTEM_OWN_FILES];
	size_t count;
};
/* BU_ERR_INVAL names the file whose content is said twice, not at all or not in hex
 * digits. What was read before is kept. */
bu_must int bu_system_files_read(const struct bu_work_file *list, size_t count,
				 struct bu_system_files *files, struct bu_err *err);
/* Takes content. */
void bu_system_files_add(struct bu_system_files *files, const char *path, mode_t mode,
			 char *content, size_t size);
/* The system's agent goes on with our identity. */
bu_must int bu_system_add_identity(const struct bu_identity *identity,
				   struct bu_system_files *files, struct bu_err *err);
void bu_system_files_fini(struct bu_system_files *files);

/* Tells the appliance how far the item is, and hears when it is not wanted any more. */
struct bu_system_told {
	struct bu_uplink *link;
	const char *id;
	int cancelled;
};
struct bu_install_hooks bu_system_hooks(struct bu_system_told *told);

#endif
