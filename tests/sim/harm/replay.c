/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Around a start over the same log: what the log owns is as it was. Called by daemon.c.
 * Invariant: what is only seen is not compared.
 */
#include "base/json.h"
#include "tests/sim/harm/harm.h"

static json_t *kept; /* of oracle_remember() */

static json_t *
owned_by_log(const struct bu_node *node)
{
	bu_autofree char *reason = bu_reason_text(&node->reason);

	return json_pack(
		"{s:s,s:s,s:s,s:i,s:s,s:i,s:i,s:s,s:s,s:s,s:s,s:s,s:i,s:i,s:i,s:s,s:s,"
		"s:s,s:s,s:i}",
		"state", bu_state_name(node->state), "reason", reason, "step",
		node->step.id, "status", node->step.status, "machine", node->machine,
		"repeats", node->repeats, "stages", node->stages_count, "boot",
		node->boot_id, "image", node->installed_digest, "installed",
		node->installed_step, "facets", node->facets, "held", node->hold.by,
		"open", node->order.open, "begun", node->order.begun, "failed",
		node->order.failed, "order", node->order.rollout, "admitted",
		node->admitted_step, "power", bu_deed_names[node->power.op], "done",
		bu_outcome_names[node->power.result], "outdated", node->outdated);
}

static json_t *
all_of(const struct bu_fleet *fleet)
{
	json_t *all = json_object();

	for (size_t i = 0; i < fleet->count; i++)
		json_object_set_new(all, fleet->nodes[i]->name,
				    owned_by_log(fleet->nodes[i]));
	return all;
}

void
oracle_remember(const struct bu_fleet *fleet)
{
	json_decref(kept);
	kept = all_of(fleet);
}

void
oracle_compare(const struct bu_fleet *fleet)
{
	bu_autojson json_t *now = kept ? all_of(fleet) : NULL;
	const char *name;
	json_t *was;

	oracle_anew();
	json_object_foreach (kept, name, was) {
		json_t *is = json_object_get(now, name);

		if (!json_equal(was, is)) {
			bu_autofree char *a = json_dumps(was, JSON_COMPACT);
			bu_autofree char *b = is ? json_dumps(is, JSON_COMPACT) : NULL;

			broken(RULE_REPLAY, "%s was %s before the restart, and is %s",
			       name, a, b ? b : "gone");
		}
	}
	json_decref(kept);
	kept = NULL;
}
