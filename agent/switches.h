/* SPDX-License-Identifier: Apache-2.0 */
/* The work item `switches`: what the switches of a fabric count, as a port of this node
 * reads it. */
#ifndef BU_AGENT_SWITCHES_H
#define BU_AGENT_SWITCHES_H

#include "agent/uplink.h"

/* *ret_result: as bu_ib_fabric_read(); its errors, and TIMEOUT. It takes no longer than
 * the item's deadline, whatever a driver does. */
bu_must int bu_agent_switches(struct bu_uplink *link, const json_t *item,
			      json_t **ret_result, struct bu_err *err);

#endif
