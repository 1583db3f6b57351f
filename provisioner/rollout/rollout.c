/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns. Which orders are open is in the log; each look counts them anew, stops a
 * rollout whose failures are too many, and gives turns under the limits. Invariant: of
 * a pool never more than max_unavailable nodes are away because of rollouts, and none
 * of a rollout that has stopped.
 */
#include "provisioner/rollout/rollout.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "profiles/window.h"
#include "provisioner/rollout/rollout_impl.h"

static size_t
pools_of(const struct bu_world *world)
{
	return world->desired ? world->desired->pools_count : 0;
}

static size_t
pool_index(const struct bu_world *world, const struct bu_desired_node *want)
{
	return (size_t)(want->pool - world->desired->pools);
}

struct bu_share *
bu_view_share(const struct bu_view *view, const struct bu_rollout *rollout, size_t pool)
{
	size_t index = (size_t)(rollout - view->world->rollouts);

	return &view->shares[index * pools_of(view->world) + pool];
}

static void
count_order(struct bu_share *share, const struct bu_rollout *rollout,
	    const struct bu_node *node)
{
	const struct bu_order *order = &node->order;
	int disturbs = order->class > BU_CLASS_RELABEL && order->served;

	share->total++;
	share->withdrawn += order->withdrawn;
	share->failed += order->failed;
	share->turn += order->open && !order->begun;
	share->under_way += order->open && order->begun;
	share->trying += order->open && order->begun && disturbs;
	if (!order->open && !order->failed && !order->withdrawn) {
		share->done++;
		share->proven += disturbs;
	}
	if (order->served && order->fault_seq > rollout->resumed_seq) {
		share->faults++;
		share->canary_faults += disturbs;
		share->faulty = node;
	}
}

static int
is_away(const struct bu_node *node)
{
	const struct bu_order *order = &node->order;

	return node->state != BU_STATE_READY || node->appending ||
	       (order->open && order->begun && order->class > BU_CLASS_RELABEL);
}

/* Nothing brings it back but a person. */
static int
is_stuck(const struct bu_node *node)
{
	return node->held_by[0] ||
	       (node->state != BU_STATE_READY && bu_state_info(node->state)->settled);
}

static void
note_away(struct bu_view *view, size_t pool, const struct bu_node *node)
{
	const struct bu_node **example = &view->example[pool];

	view->away[pool]++;
	if (!*example || (!is_stuck(*example) && is_stuck(node)))
		*example = node;
}

/* Both lists are sorted by name. */
static const struct bu_desired_node *
next_desired(const struct bu_world *world, const struct bu_node *node, size_t *at)
{
	const struct bu_desired *desired = world->desired;
	int order = -1;

	while (*at < desired->nodes_count) {
		order = strcmp(desired->nodes[*at].name, node->name);
		if (order >= 0)
			break;
		(*at)++;
	}
	return order == 0 ? &desired->nodes[*at] : NULL;
}

void
bu_view_init(struct bu_view *view, const struct bu_world *world)
{
	const struct bu_rollout *rollout = NULL;
	size_t pools = pools_of(world);

	view->world = world;
	view->relabels = 0;
	view->now_s = bu_wall_ms(bu_loop_clock(world->loop)) / 1000;
	view->away = bu_xcalloc(pools + 1, sizeof(*view->away));
	view->example = bu_xcalloc(pools + 1, sizeof(*view->example));
	view->shares = bu_xcalloc(pools * BU_ROLLOUTS_MAX + 1, sizeof(*view->shares));
	for (size_t i = 0, k = 0; pools && i < world->count; i++) {
		const struct bu_node *node = world->nodes[i];
		const struct bu_desired_node *want = next_desired(world, node, &k);
		const struct bu_order *order = &node->order;
		size_t pool;

		if (!want)
			continue;
		pool = pool_index(world, want);
		if (is_away(node))
			note_away(view, pool, node);
		view->relabels +=
			order->open && order->begun && order->class == BU_CLASS_RELABEL;
		/* Neighbours are mostly of the same one. */
		if (!rollout || strcmp(rollout->id, order->rollout) != 0)
			rollout = order->seq
					  ? bu_world_rollout((struct bu_world *)world,
							     order->rollout)
					  : NULL;
		if (rollout)
			count_order(bu_view_share(view, rollout, pool), rollout, node);
	}
}

void
bu_view_fini(struct bu_view *view)
{
	free(view->away);
	free(view->example);
	free(view->shares);
}

int
bu_rollout_spent(const struct bu_view *view, const struct bu_rollout *rollout,
		 char *ret_why, size_t size)
{
	for (size_t i = 0; i < pools_of(view->world); i++) {
		const struct bu_desired_pool *pool = &view->world->desired->pools[i];
		const struct bu_share *share = bu_view_share(view, rollout, i);
		const struct bu_node *node = share->faulty;
		int canary = share->canary_faults && share->proven < pool->canary;

		if (!canary && (!share->faults || share->faults < pool->failure_budget))
			continue;
		snprintf(ret_why, size,
			 "pool %s: %d of its failure budget of %d%s; %s: %s",
			 pool->name, share->faults, pool->failure_budget,
			 canary ? ", a canary among them" : "", node->name,
			 node->order.reason[0] ? node->order.reason
					       : node->held_reason);
		return 1;
	}
	return 0;
}

/* Of a node in service whose order would disturb it. */
static enum bu_refusal
limits_refuse(const struct bu_view *view, const struct bu_rollout *rollout,
	      const struct bu_desired_node *want)
{
	const struct bu_desired_pool *pool = want->pool;
	size_t index = pool_index(view->world, want);
	const struct bu_share *share = bu_view_share(view, rollout, index);

	if (!bu_window_open(pool->maintenance, view->now_s))
		return BU_REFUSED_WINDOW;
	if (share->proven < pool->canary &&
	    share->proven + share->trying >= pool->canary)
		return BU_REFUSED_CANARY;
	return view->away[index] >= pool->max_unavailable ? BU_REFUSED_AWAY : BU_MAY_GO;
}

enum bu_refusal
bu_turn_refused(const struct bu_rollouts *rollouts, const struct bu_view *view,
		const struct bu_node *node)
{
	const struct bu_order *order = &node->order;
	const struct bu_rollout *rollout =
		bu_world_rollout(rollouts->world, order->rollout);
	const struct bu_desired_node *want;

	if (!rollout || rollout->state != BU_ROLLOUT_RUNNING)
		return BU_REFUSED_ROLLOUT;
	want = bu_world_desired(rollouts->world, node);
	if (!want)
		return BU_REFUSED_LEFT;
	if (!bu_state_info(node->state)->settled)
		return BU_REFUSED_UNSETTLED;
	if (node->held_by[0])
		return BU_REFUSED_HELD;
	if (bu_brake_scope(rollouts->brake, node))
		return BU_REFUSED_BRAKE;
	if (node->state != BU_STATE_READY)
		return BU_MAY_GO;
	if (order->class > BU_CLASS_RELABEL)
		return limits_refuse(view, rollout, want);
	return view->relabels >= BU_RELABELS_MAX ? BU_REFUSED_RELABELS : BU_MAY_GO;
}

char *
bu_refusal_text(const struct bu_rollouts *rollouts, const struct bu_view *view,
		const struct bu_node *node, enum bu_refusal refusal)
{
	const struct bu_desired_node *want = bu_world_desired(rollouts->world, node);
	const struct bu_desired_pool *pool = want ? want->pool : NULL;
	const struct bu_rollout *rollout =
		bu_world_rollout(rollouts->world, node->order.rollout);
	size_t index = want ? pool_index(rollouts->world, want) : 0;
	const struct bu_node *one = view->example[index];

	switch (refusal) {
	case BU_MAY_GO:
		return bu_xstrdup("");
	case BU_REFUSED_ROLLOUT:
		return bu_xasprintf("rollout %s is %s%s%s", node->order.rollout,
				    rollout ? bu_rollout_state_name(rollout->state)
					    : "unknown",
				    rollout && rollout->reason[0] ? ": " : "",
				    rollout ? rollout->reason : "");
	case BU_REFUSED_LEFT:
		return bu_xstrdup("the applied profile has no such node");
	case BU_REFUSED_UNSETTLED:
		return bu_xasprintf("it is %s", bu_state_name(node->state));
	case BU_REFUSED_HELD:
		return bu_xasprintf("it is held by %s", node->held_by);
	case BU_REFUSED_BRAKE:
		return bu_xasprintf("the brake is on for %s",
				    bu_brake_scope(rollouts->brake, node));
	case BU_REFUSED_RELABELS:
		return bu_xasprintf("%d others are relabelled now", view->relabels);
	case BU_REFUSED_WINDOW:
		return bu_xasprintf("outside the maintenance of pool %s (%s, UTC)",
				    pool->name, pool->maintenance);
	case BU_REFUSED_CANARY:
		return bu_xasprintf(
			"the canary of pool %s comes first: %d of %d done", pool->name,
			bu_view_share(view, rollout, index)->proven, pool->canary);
	case BU_REFUSED_AWAY:
		break;
	}
	return bu_xasprintf("%d of pool %s are away or under way, %s (%s) among them; "
			    "max_unavailable is %d",
			    view->away[index], pool->name, one->name,
			    bu_state_name(one->state), pool->max_unavailable);
}

static void
give_turn(struct bu_rollouts *rollouts, struct bu_view *view, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_world_desired(rollouts->world, node);
	struct bu_share *share;
	struct bu_err err;
	size_t pool;

	if (node->appending || bu_turn_refused(rollouts, view, node) != BU_MAY_GO)
		return;
	if (bu_reconcile_begin(rollouts->rec, node, &err) != 0) {
		bu_warn("rollout", "%s", err.text);
		return;
	}
	/* On its way to the log; the others of this look are decided by it. */
	pool = pool_index(rollouts->world, want);
	share = bu_view_share(
		view, bu_world_rollout(rollouts->world, node->order.rollout), pool);
	if (node->state == BU_STATE_READY && node->order.class > BU_CLASS_RELABEL) {
		note_away(view, pool, node);
		share->trying++;
	} else if (node->order.class == BU_CLASS_RELABEL) {
		view->relabels++;
	}
}

static int
by_batch(const void *a, const void *b)
{
	const struct bu_node *const *left = a, *const *right = b;
	int order = (*left)->order.batch - (*right)->order.batch;

	return order ? order : strcmp((*left)->name, (*right)->name);
}

/* Nothing is begun while a stop is on its way to the log. */
static int
stop_spent(struct bu_rollouts *rollouts, const struct bu_view *view)
{
	struct bu_world *world = rollouts->world;
	int stops = 0;

	for (size_t i = 0; i < world->rollouts_count; i++) {
		const struct bu_rollout *rollout = &world->rollouts[i];
		struct bu_event event;
		char why[700];

		if (rollout->state != BU_ROLLOUT_RUNNING) {
			if (strcmp(rollouts->told, rollout->id) == 0)
				rollouts->told[0] = '\0';
			continue;
		}
		if (!bu_rollout_spent(view, rollout, why, sizeof(why)))
			continue;
		stops++;
		if (strcmp(rollouts->told, rollout->id) == 0)
			continue;
		memcpy(rollouts->told, rollout->id, sizeof(rollouts->told));
		bu_warn("rollout", "%s stops: %s", rollout->id, why);
		bu_event_init(&event, BU_EVENT_ROLLOUT, "",
			      json_pack("{s:s,s:s,s:s,s:s}", "rollout", rollout->id,
					"to", "stopped", "by", "bringup", "reason",
					why));
		bu_reconcile_note(rollouts->rec, &event, 1);
	}
	return stops;
}

static void
on_turn(void *arg)
{
	struct bu_rollouts *rollouts = arg;
	struct bu_world *world = rollouts->world;
	bu_autofree struct bu_node **waiting = NULL;
	struct bu_view view;
	size_t count = 0, cap = 0;

	rollouts->looked_ms = bu_loop_now_ms(world->loop);
	if (!world->desired)
		return;
	for (size_t i = 0; i < world->count; i++) {
		struct bu_node *node = world->nodes[i];

		if (!node->order.open || node->order.begun)
			continue;
		waiting = bu_xgrow(waiting, &cap, count + 1, sizeof(*waiting));
		waiting[count++] = node;
	}
	bu_view_init(&view, world);
	if (!stop_spent(rollouts, &view) && count) {
		qsort(waiting, count, sizeof(*waiting), by_batch);
		for (size_t i = 0; i < count; i++)
			give_turn(rollouts, &view, waiting[i]);
	}
	bu_view_fini(&view);
	if (count)
		bu_timer_set(rollouts->turn, BU_TURNS_AGAIN_MS);
}

struct bu_rollouts *
bu_rollouts_create(struct bu_world *world, struct bu_reconcile *rec)
{
	struct bu_rollouts *rollouts = bu_xcalloc(1, sizeof(*rollouts));

	rollouts->world = world;
	rollouts->rec = rec;
	rollouts->turn = bu_timer_create(world->loop, on_turn, rollouts);
	rollouts->brake = bu_brake_create(world, rec);
	return rollouts;
}

void
bu_rollouts_destroy(struct bu_rollouts *rollouts)
{
	if (!rollouts)
		return;
	bu_brake_destroy(rollouts->brake);
	bu_timer_destroy(rollouts->turn);
	free(rollouts);
}

void
bu_rollouts_kick(struct bu_rollouts *rollouts)
{
	int64_t wait_ms = rollouts->looked_ms + BU_TURNS_GAP_MS -
			  bu_loop_now_ms(rollouts->world->loop);

	bu_timer_set(rollouts->turn, wait_ms > 0 ? wait_ms : 0);
}

/* --- people --- */

static int
change(struct bu_rollouts *rollouts, const char *id, const char *to, unsigned int from,
       const char *by, struct bu_err *err)
{
	const struct bu_rollout *rollout = bu_world_rollout(rollouts->world, id);
	bu_autofree char *reason = bu_xasprintf("by %s", by);
	struct bu_event event;

	if (!rollout)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no rollout '%s'; bringup rollout list shows those "
				  "that are known",
				  id);
	if (!(from & 1u << rollout->state))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "rollout %s is %s; it cannot become %s", id,
				  bu_rollout_state_name(rollout->state), to);
	bu_event_init(&event, BU_EVENT_ROLLOUT, "",
		      json_pack("{s:s,s:s,s:s,s:s}", "rollout", id, "to", to, "by", by,
				"reason", reason));
	bu_reconcile_note(rollouts->rec, &event, 1);
	return 0;
}

int
bu_rollouts_pause(struct bu_rollouts *rollouts, const char *id, const char *by,
		  struct bu_err *err)
{
	return change(rollouts, id, "paused", 1u << BU_ROLLOUT_RUNNING, by, err);
}

int
bu_rollouts_resume(struct bu_rollouts *rollouts, const char *id, const char *by,
		   struct bu_err *err)
{
	return change(rollouts, id, "running",
		      1u << BU_ROLLOUT_PAUSED | 1u << BU_ROLLOUT_STOPPED, by, err);
}

int
bu_rollouts_abort(struct bu_rollouts *rollouts, const char *id, const char *by,
		  struct bu_err *err)
{
	return change(rollouts, id, "aborted",
		      1u << BU_ROLLOUT_RUNNING | 1u << BU_ROLLOUT_PAUSED |
			      1u << BU_ROLLOUT_STOPPED,
		      by, err);
}
