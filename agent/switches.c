/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the counters of switches in a child process, because a call of its driver may
 * hang; called by jobs.c. Invariant: the agent waits until the item's deadline and no
 * longer, and no child is left.
 */
#include "agent/switches.h"

#include <string.h>

#include "agent/child_probe.h"
#include "base/json.h"
#include "checks/audit/ibfabric.h"
#include "model/work.h"

/* EARLY: so much before the deadline the walk ends by itself, with its own words. */
enum { EARLY_MS = 2000 };

/* In the child. */
static json_t *
read_switches(const json_t *ask, void **kept)
{
	struct bu_work_switches work;
	struct bu_err err = {0};
	json_t *result;

	if (!ask)
		return NULL;
	if (bu_record_from_json(bu_work_switches_fields, ask, &work, &err) != 0)
		return json_pack("{s:o}", "error", bu_json_from_err(&err));
	result = bu_ib_fabric_read_of(&work.rail, work.names,
				      work.deadline_ms - EARLY_MS, &err);
	return result ? json_pack("{s:o}", "result", result)
		      : json_pack("{s:o}", "error", bu_json_from_err(&err));
}

int
bu_agent_switches(struct bu_uplink *link, const json_t *item, json_t **ret_result,
		  struct bu_err *err)
{
	bu_autojson json_t *answer = NULL;
	struct bu_work_switches work;

	if (bu_record_from_json(bu_work_switches_fields, item, &work, err) != 0)
		return bu_err_wrap(err, "switches");
	answer = bu_child_probe_once(read_switches, item, work.deadline_ms, err);
	if (!answer)
		return bu_err_wrap(err, "port %s",
				   work.rail.port[0] ? work.rail.port
						     : work.rail.address);
	if (json_object_get(answer, "result")) {
		*ret_result = json_incref(json_object_get(answer, "result"));
		return 0;
	}
	bu_json_to_err(json_object_get(answer, "error"), err);
	return -1;
}
