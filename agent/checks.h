/* SPDX-License-Identifier: Apache-2.0 */
/* The work item `checks` (checks/checks.h): looks at this machine. */
#ifndef BU_AGENT_CHECKS_H
#define BU_AGENT_CHECKS_H

#include "agent/uplink.h"

/* *ret_result: the report (model/check.h). BU_ERR_INVAL for an item that makes no
 * sense, CANCELLED. */
bu_must int bu_agent_checks(struct bu_uplink *link, const json_t *item,
			    json_t **ret_result, struct bu_err *err);

#endif
