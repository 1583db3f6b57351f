/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a plan to orders, in one batch of the log. Invariant: what destroys is ordered
 * only for nodes that a grant names.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/rollout/rollout_impl.h"

static const struct bu_node *
changing_of(const struct bu_rollouts *rollouts, const char *name)
{
	const struct bu_node *node = bu_world_node(rollouts->world, name);

	return node && node->appending ? node : NULL;
}

const struct bu_node *
bu_rollouts_changing(const struct bu_rollouts *rollouts, const json_t *plan)
{
	const struct bu_node *node;
	const char *from;
	size_t i;
	json_t *step, *to;

	json_object_foreach (json_object_get(plan, "renames"), from, to) {
		node = changing_of(rollouts, from);
		if (node)
			return node;
	}
	json_array_foreach (json_object_get(plan, "steps"), i, step) {
		node = changing_of(rollouts, bu_json_str(step, "node", ""));
		if (node)
			return node;
	}
	return NULL;
}

static json_t *
order_body(const json_t *step, const char *id, const char *commit, int reset)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:I,s:b,s:b}", "rollout", id,
			 "class", bu_json_str(step, "class", ""), "image",
			 bu_json_str(step, "image", ""), "digest",
			 bu_json_str(step, "digest", ""), "facets",
			 bu_json_str(step, "facets", ""), "commit", commit, "batch",
			 (json_int_t)bu_json_int(step, "batch", 0), "reset", reset,
			 "replace", bu_json_bool(step, "replace", 0));
}

enum { EVENTS_OF_ORDER = 3 };

/* One that is held because its machine is on begins anew: the grant came with this
 * plan. Returns how many events. */
static size_t
let_go(const struct bu_node *node, const char *by, struct bu_event *ret)
{
	if (!node || node->held_for != BU_HOLD_IS_ON)
		return 0;
	bu_event_init(&ret[0], BU_EVENT_STATE, node->name,
		      json_pack("{s:s,s:s,s:s,s:s}", "from", bu_state_name(node->state),
				"to",
				bu_state_name(bu_state_info(node->state)->abort_to),
				"on", bu_trigger_name(BU_TRIGGER_ABORT), "reason",
				"its machine was on; ordered anew, with a grant"));
	bu_event_init(&ret[1], BU_EVENT_RELEASED, node->name,
		      json_pack("{s:s}", "by", by));
	return 2;
}

int
bu_rollouts_apply(struct bu_rollouts *rollouts, const json_t *plan,
		  const char *plan_digest, const json_t *grants, const char *by,
		  char *ret_id, struct bu_err *err)
{
	const json_t *steps = json_object_get(plan, "steps");
	const char *commit = bu_json_str(plan, "commit", "");
	size_t count = 0, i;
	bu_autofree struct bu_event *events = NULL;
	struct bu_grants *granted;
	bu_autojson json_t *none = json_array();
	const struct bu_node *changing = bu_rollouts_changing(rollouts, plan);
	const json_t *renames = json_object_get(plan, "renames");
	const char *from;
	json_t *step, *to;
	char id[40];

	if (changing)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is changing at this moment; apply again",
				  changing->name);
	granted = bu_grants_read(grants, err);
	if (!granted || bu_grants_check(granted, steps, err) != 0) {
		bu_grants_destroy(granted);
		return -1;
	}
	events = bu_xcalloc(json_object_size(renames) + 1 +
				    EVENTS_OF_ORDER * json_array_size(steps),
			    sizeof(*events));
	/* Before the profile knows the new names. */
	json_object_foreach ((json_t *)(uintptr_t)renames, from, to)
		bu_event_init(&events[count++], BU_EVENT_RENAMED, from,
			      json_pack("{s:O}", "to", to));
	snprintf(id, sizeof(id), "r-%lld-%.6s",
		 (long long)bu_wall_ms(bu_loop_clock(rollouts->world->loop)) / 1000,
		 plan_digest);
	bu_event_init(&events[count++], BU_EVENT_APPLIED, "",
		      json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:O,s:s}", "rollout", id,
				"plan", plan_digest, "revision",
				bu_json_str(plan, "revision", ""), "commit", commit,
				"limit", bu_json_str(plan, "limit", ""), "nodes",
				(int)json_array_size(steps), "grants",
				grants ? grants : none, "by", by));
	json_array_foreach (steps, i, step) {
		const char *name = bu_json_str(step, "node", "");

		count += let_go(bu_world_node(rollouts->world, name), by,
				&events[count]);
		bu_event_init(
			&events[count++], BU_EVENT_ORDER, name,
			order_body(step, id, commit, bu_grants_reset(granted, name)));
	}
	bu_grants_destroy(granted);
	bu_reconcile_note(rollouts->rec, events, count);
	memcpy(ret_id, id, sizeof(id));
	return 0;
}
