/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's own change: the appliance has another one, which is fetched, verified,
 * put into a slot and started, on trial (agent/slots.h). Nothing else on the node
 * notices.
 */
#ifndef BU_AGENT_AGENT_UPGRADE_H
#define BU_AGENT_AGENT_UPGRADE_H

#include "agent/uplink.h"
#include "images/install/install.h"
#include "model/work.h"

/* Everything but the last step: the slot is full and current, and the process goes on
 * with what it is. BU_ERR_VERIFY for what is not signed or not what was signed;
 * BU_ERR_STATE where there are no slots. */
bu_must int bu_agent_upgrade_change(const char *dir, const struct bu_work_agent *work,
				    struct bu_err *err);
/* The same as a work item, and its end: the new one is started. */
bu_must int bu_agent_upgrade_item(struct bu_uplink *link, const json_t *item,
				  json_t **ret_result, struct bu_err *err);
void bu_agent_upgrade_after(const json_t *item, int failed);

/* This agent in its slot, for the root of a system that it installs; owned, no files
 * when it lies in no slot itself. */
struct bu_brought {
	struct bu_install_file *files;
	size_t count;
};
bu_must int bu_agent_upgrade_bring(struct bu_brought *ret, struct bu_err *err);
void bu_brought_fini(struct bu_brought *brought);

#endif
