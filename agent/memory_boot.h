/* SPDX-License-Identifier: Apache-2.0 */
/* A system that runs from memory: the ramdisk's agent loads it, and its init goes
 * there. */
#ifndef BU_AGENT_MEMORY_BOOT_H
#define BU_AGENT_MEMORY_BOOT_H

#include "agent/uplink.h"

/* As a work item (agent/jobs.h). BU_ERR_STATE in an installed system. */
bu_must int bu_memory_boot_item(struct bu_uplink *link, const json_t *item,
				json_t **ret_result, struct bu_err *err);
/* The appliance has heard of it: ends this process, and init goes to the new root. */
void bu_memory_boot_after(const json_t *item, int failed);

#endif
