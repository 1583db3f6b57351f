/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives turns. The log has the open orders. Each look counts them anew, stops a rollout
 * with too many failures, and gives turns under the limits. Invariants: because of
 * rollouts never more than max_unavailable nodes of a pool are away. A stopped rollout
 * gives no turn.
 */
#include "provisioner/rollout/rollout.h"

#include <string.h>

#include "base/log.h"
#include "provisioner/node/fence.h"
#include "provisioner/rollout/rollout_impl.h"

static void
give_turn(struct bu_rollouts *rollouts, struct bu_view *view, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(rollouts->fleet, node);
	int was_away = bu_view_is_away(node);
	struct bu_share *share;
	struct bu_err err;
	size_t pool;

	if (node->live.appending || bu_turn_refused(rollouts, view, node) != BU_MAY_GO)
		return;
	if (bu_reconcile_begin(rollouts->rec, node, &err) != 0) {
		bu_warn("rollout", "%s", err.text);
		return;
	}
	/* the turn is on its way to the log: the rest of this look counts it */
	pool = bu_view_pool(rollouts->fleet, want);
	share = bu_view_share(
		view, bu_fleet_rollout(rollouts->fleet, node->order->rollout), pool);
	if (node->state == BU_STATE_READY &&
	    bu_class_info(node->order->class)->disturbs) {
		if (!was_away)
			bu_view_add_away(view, pool, node);
		share->trying++;
	} else if (node->order->class == BU_CLASS_RELABEL) {
		view->relabels++;
	}
}

static int
by_batch(const void *a, const void *b)
{
	const struct bu_node *const *left = a, *const *right = b;
	int order = (*left)->order->batch - (*right)->order->batch;

	return order ? order : strcmp((*left)->name, (*right)->name);
}

static void
init_event(struct bu_event *ret, const char *rollout, enum bu_rollout_state to,
	   const char *by, const struct bu_reason *why)
{
	BU_EVENT_MAKE(ret, BU_EVENT_ROLLOUT, "", rollout, .rollout = rollout,
		      .to = bu_rollout_state_name(to), .by = by, .reason = *why);
}

/* Stops rollouts with too many failures; returns how many. No turn is given while a
 * stop is on its way to the log. */
static int
stop_spent(struct bu_rollouts *rollouts, const struct bu_view *view)
{
	struct bu_fleet *fleet = rollouts->fleet;
	int stops = 0;

	for (size_t i = 0; i < fleet->rollouts_count; i++) {
		const struct bu_rollout *rollout = &fleet->rollouts[i];
		bu_autofree char *text = NULL;
		struct bu_reason why;
		struct bu_event event;

		if (rollout->state != BU_ROLLOUT_RUNNING ||
		    !bu_rollout_spent(view, rollout, &why))
			continue;
		stops++;
		init_event(&event, rollout->id, BU_ROLLOUT_STOPPED, "bringup", &why);
		text = bu_reason_text(&why);
		bu_warn("rollout", "%s stops: %s", rollout->id, text);
		bu_reconcile_note(rollouts->rec, &event, 1);
	}
	return stops;
}

static void
on_turn(void *arg)
{
	struct bu_rollouts *rollouts = arg;
	struct bu_fleet *fleet = rollouts->fleet;
	bu_autofree struct bu_node **waiting = NULL;
	struct bu_view view;
	size_t count = 0, cap = 0;

	rollouts->looked_ms = bu_loop_now_ms(fleet->loop);
	if (!fleet->desired || bu_store_down(fleet->store) || bu_fence_is_shut(fleet))
		return;
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		if (!node->order->open || node->order->begun)
			continue;
		waiting = bu_xgrow(waiting, &cap, count + 1, sizeof(*waiting));
		waiting[count++] = node;
	}
	bu_view_init(&view, fleet);
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
bu_rollouts_create(struct bu_fleet *fleet, struct bu_reconcile *rec)
{
	struct bu_rollouts *rollouts = bu_xcalloc(1, sizeof(*rollouts));

	rollouts->fleet = fleet;
	rollouts->rec = rec;
	rollouts->turn = bu_timer_create(fleet->loop, on_turn, rollouts);
	rollouts->brake = bu_brake_create(fleet, rec);
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
			  bu_loop_now_ms(rollouts->fleet->loop);

	bu_timer_set(rollouts->turn, wait_ms > 0 ? wait_ms : 0);
}

/* --- people --- */

static int
change(struct bu_rollouts *rollouts, const char *id, enum bu_rollout_state to,
       unsigned int from, const char *by, struct bu_err *err)
{
	const struct bu_rollout *rollout = bu_fleet_rollout(rollouts->fleet, id);
	bu_autofree struct bu_event *events = NULL;
	struct bu_reason why;
	size_t count = 1;

	if (!rollout)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no rollout '%s'; bringup rollout list shows those "
				  "that are known",
				  id);
	if (rollout->ended_ms)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "rollout %s has ended (%s): none of its orders is "
				  "open",
				  id, bu_rollout_state_name(rollout->state));
	if (rollout->state == to)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "rollout %s is %s already; bringup rollout show %s "
				  "says by whom",
				  id, bu_rollout_state_name(to), id);
	if (!(from & 1u << rollout->state))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "rollout %s is %s; only one that is %s can become %s",
				  id, bu_rollout_state_name(rollout->state),
				  to == BU_ROLLOUT_PAUSED ? "running"
							  : "paused or stopped",
				  bu_rollout_state_name(to));
	events = bu_xcalloc(1 + 2 * rollouts->fleet->count, sizeof(*events));
	BU_REASON_SET(&why, ROLLOUT_BY, .text = {by});
	init_event(&events[0], id, to, by, &why);
	if (to == BU_ROLLOUT_ABORTED)
		count += bu_recall(rollouts, id, by, &events[1]);
	bu_reconcile_note(rollouts->rec, events, count);
	return 0;
}

int
bu_rollouts_pause(struct bu_rollouts *rollouts, const char *id, const char *by,
		  struct bu_err *err)
{
	return change(rollouts, id, BU_ROLLOUT_PAUSED, 1u << BU_ROLLOUT_RUNNING, by,
		      err);
}

int
bu_rollouts_resume(struct bu_rollouts *rollouts, const char *id, const char *by,
		   struct bu_err *err)
{
	return change(rollouts, id, BU_ROLLOUT_RUNNING,
		      1u << BU_ROLLOUT_PAUSED | 1u << BU_ROLLOUT_STOPPED, by, err);
}

int
bu_rollouts_abort(struct bu_rollouts *rollouts, const char *id, const char *by,
		  struct bu_err *err)
{
	return change(rollouts, id, BU_ROLLOUT_ABORTED,
		      1u << BU_ROLLOUT_RUNNING | 1u << BU_ROLLOUT_PAUSED |
			      1u << BU_ROLLOUT_STOPPED,
		      by, err);
}
