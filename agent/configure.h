/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes the configuration of a running system and takes it back by itself when the
 * appliance cannot be reached any more afterwards.
 *
 * The item is struct bu_work_configure (model/work.h). What a pattern matches and is
 * none of the files goes. Live: applied now and proven by a fresh connection to the
 * appliance within confirm_ms, else undone. Not live: written now, applied by the next
 * boot, proven then in the same way.
 * Result: {"changed":[paths],"applied":[groups],"links":[of the inventory]}; a path
 * "kargs" stands for the kernel's arguments.
 */
#ifndef BU_AGENT_CONFIGURE_H
#define BU_AGENT_CONFIGURE_H

#include "agent/change.h"
#include "model/work.h"

struct bu_configure {
	const char *root;    /* prefix of all paths; "" on a node */
	const char *boot_id; /* of this boot */
	int64_t pause_ms;    /* between tries to reach the appliance */
	/* One try to reach it over a connection of its own. */
	int (*confirm)(const char *id, const void *arg, struct bu_err *err);
	const void *arg;
	/* bu_bootargs_system(); NULL = kernel arguments are left alone. */
	int (*bootargs)(const char *kargs, char **ret_old, struct bu_err *err);
};

/* files: those of the item, unpacked. BU_ERR_STATE "rolled back: ..."
 * when what was changed has been put back, BU_ERR_IO when even that went wrong. */
bu_must int bu_configure_run(const struct bu_configure *configure,
			     const struct bu_work_configure *work,
			     const struct bu_change_file *files, size_t count,
			     json_t **ret_result, struct bu_err *err);
/* To be called when the agent starts: a change that was neither kept nor undone (the
 * agent or the machine died) is undone, and the item of that id gets this as its
 * answer; one that waited for this boot is proven first. Blocks for its confirm_ms. */
void bu_configure_recover(const struct bu_configure *configure);

#endif
