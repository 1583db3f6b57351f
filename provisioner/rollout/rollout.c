/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and turns. Which nodes have an open order is in the log; nothing is kept here.
 */
#include "provisioner/rollout/rollout.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "provisioner/plan/plan.h"

struct bu_rollouts {
	struct bu_world *world;
	struct bu_reconcile *rec;
	struct bu_timer *turn;
};

/* Nodes of the pool that are not in service. */
static int
away(const struct bu_world *world, const char *pool)
{
	int count = 0;

	for (size_t i = 0; i < world->count; i++)
		count += world->nodes[i]->in_profile &&
			 strcmp(world->nodes[i]->pool, pool) == 0 &&
			 (world->nodes[i]->state != BU_STATE_READY ||
			  world->nodes[i]->appending);
	return count;
}

static void
give_turn(struct bu_rollouts *rollouts, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_world_desired(rollouts->world, node);
	enum bu_trigger trigger = BU_TRIGGER_START;
	struct bu_err err;

	if (!node->order.open || !bu_state_info(node->state)->settled ||
	    node->held_by[0] || node->appending || !want)
		return;
	if (node->state == BU_STATE_READY) {
		trigger = BU_TRIGGER_REBUILD;
		if (away(rollouts->world, node->pool) >= want->pool->max_unavailable)
			return;
	}
	if (bu_reconcile_fire(rollouts->rec, node, trigger, NULL, NULL, 0, &err) != 0)
		bu_warn("rollout", "%s", err.text);
}

static void
on_turn(void *arg)
{
	struct bu_rollouts *rollouts = arg;

	for (size_t i = 0; i < rollouts->world->count; i++)
		give_turn(rollouts, rollouts->world->nodes[i]);
}

struct bu_rollouts *
bu_rollouts_create(struct bu_world *world, struct bu_reconcile *rec)
{
	struct bu_rollouts *rollouts = bu_xcalloc(1, sizeof(*rollouts));

	rollouts->world = world;
	rollouts->rec = rec;
	rollouts->turn = bu_timer_create(world->loop, on_turn, rollouts);
	return rollouts;
}

void
bu_rollouts_destroy(struct bu_rollouts *rollouts)
{
	if (!rollouts)
		return;
	bu_timer_destroy(rollouts->turn);
	free(rollouts);
}

void
bu_rollouts_kick(struct bu_rollouts *rollouts)
{
	bu_timer_set(rollouts->turn, 0);
}

static json_t *
order_body(const json_t *step, const char *id)
{
	return json_pack("{s:s,s:s,s:s,s:s}", "rollout", id, "class",
			 bu_json_str(step, "class", ""), "image",
			 bu_json_str(step, "image", ""), "digest",
			 bu_json_str(step, "digest", ""));
}

int
bu_rollouts_apply(struct bu_rollouts *rollouts, const json_t *plan,
		  const char *plan_digest, const char *granted, const char *by,
		  char *ret_id, struct bu_err *err)
{
	const json_t *steps = json_object_get(plan, "steps");
	size_t count = json_array_size(steps), i;
	bu_autofree char *ungranted = bu_plan_ungranted(plan, granted);
	bu_autofree struct bu_event *events = bu_xcalloc(count + 1, sizeof(*events));
	json_t *step;
	char id[40];

	if (ungranted)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "these nodes would lose what is on their disk: %s; "
				  "apply with --grant wipe if that is wanted",
				  ungranted);
	snprintf(id, sizeof(id), "r-%lld-%.6s",
		 (long long)bu_wall_ms(bu_loop_clock(rollouts->world->loop)) / 1000,
		 plan_digest);
	bu_event_init(&events[0], BU_EVENT_APPLIED, "",
		      json_pack("{s:s,s:s,s:s,s:s,s:b,s:s,s:i}", "rollout", id, "plan",
				plan_digest, "revision",
				bu_json_str(plan, "revision", ""), "commit",
				bu_json_str(plan, "commit", ""), "wipe",
				granted && strcmp(granted, "wipe") == 0, "by", by,
				"nodes", (int)count));
	json_array_foreach (steps, i, step)
		bu_event_init(&events[i + 1], BU_EVENT_ORDER,
			      bu_json_str(step, "node", ""), order_body(step, id));
	bu_reconcile_note(rollouts->rec, events, count + 1);
	memcpy(ret_id, id, sizeof(id));
	return 0;
}

json_t *
bu_rollouts_json(const struct bu_rollouts *rollouts)
{
	const struct bu_world *world = rollouts->world;
	int total = 0, ready = 0, failed = 0, quarantined = 0, turn = 0, under_way = 0;

	if (!world->rollout.id[0])
		return json_null();
	for (size_t i = 0; i < world->count; i++) {
		const struct bu_node *node = world->nodes[i];

		if (strcmp(node->order.rollout, world->rollout.id) != 0)
			continue;
		total++;
		if (!bu_state_info(node->state)->settled)
			under_way++;
		else
			turn += node->order.open;
		ready += !node->order.open && node->state == BU_STATE_READY;
		failed += !node->order.open && node->state == BU_STATE_FAILED;
		quarantined += !node->order.open && node->state == BU_STATE_QUARANTINED;
	}
	return json_pack("{s:s,s:s,s:i,s:i,s:i,s:i,s:i,s:i}", "id", world->rollout.id,
			 "plan", world->rollout.plan, "total", total, "ready", ready,
			 "failed", failed, "quarantined", quarantined, "turn", turn,
			 "under_way", under_way);
}
