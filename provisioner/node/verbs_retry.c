/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries a failed order out once more. Called by verbs.c. Invariant: it is the same
 * order with the same grants: nothing is written that was not granted, and nothing
 * twice.
 */
#include <string.h>

#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs_impl.h"

/* The disk is written; only its boot, or a later step, has failed. */
static int
is_written(const struct bu_node *node)
{
	const struct bu_order *order = node->order;
	enum bu_state next = bu_class_info(order->class)->next;

	if (node->state != BU_STATE_FAILED || node->writing ||
	    !node->installed_digest[0])
		return 0;
	return next != BU_STATE_READY &&
	       (!bu_class_installs(order->class) || order->installed);
}

static void
reopened(struct bu_event *ret, const struct bu_node *node, const char *by, int begun)
{
	BU_EVENT_MAKE(ret, BU_EVENT_ORDER, node->name, order,
		      .rollout = node->order->rollout,
		      .class = bu_class_name(node->order->class),
		      .batch = BU_UNSAID_INT, .reset = BU_UNSAID, .replace = BU_UNSAID,
		      .retry = 1, .begun = begun, .by = by);
}

/* Boots the installed system; with the order, when that has failed. */
static char *
boot(struct bu_reconcile *rec, struct bu_node *node, const struct bu_verb_ask *ask,
     struct bu_err *err)
{
	struct bu_reason reason;
	struct bu_move move = {
		.on = bu_verb_runs(rec, node) ? BU_TRIGGER_VALIDATE : BU_TRIGGER_BOOT,
		.reason = &reason,
		.by = ask->by,
		.reset = node->order->failed && node->order->reset,
	};
	struct bu_event order;
	enum bu_state to;

	BU_REASON_SET(&reason, VERB, .text = {"retry", ask->by, ask->reason});
	if (bu_reconcile_can(rec, node, &move, &to, err) != 0)
		return NULL;
	if (node->order->failed && !ask->dry_run) {
		reopened(&order, node, ask->by, 1);
		move.extra = &order;
		move.count = 1;
	}
	if (!ask->dry_run && bu_reconcile_move(rec, node, &move, err) != 0)
		return NULL;
	return bu_xasprintf("%s -> %s, nothing is written", bu_state_name(node->state),
			    bu_state_name(to));
}

/* Opens the order from its turn on. */
static char *
open_again(struct bu_reconcile *rec, struct bu_node *node,
	   const struct bu_verb_ask *ask, struct bu_err *err)
{
	const struct bu_order *order = node->order;
	const struct bu_rollout *rollout = bu_fleet_rollout(rec->fleet, order->rollout);
	struct bu_event event;

	if (!rollout || rollout->state == BU_ROLLOUT_ABORTED) {
		bu_err_set(err, BU_ERR_STATE, 0,
			   "node %s: rollout %s %s; bringup apply orders it again",
			   node->name, order->rollout,
			   rollout ? "was aborted" : "is no longer known");
		return NULL;
	}
	if (!ask->dry_run) {
		reopened(&event, node, ask->by, 0);
		bu_reconcile_append(rec, node, &event, 1);
	}
	return bu_xasprintf("its order (%s, of rollout %s) is opened again%s",
			    bu_class_name(order->class), order->rollout,
			    rollout->state == BU_ROLLOUT_STOPPED
				    ? "; bringup rollout resume lets it begin"
				    : "");
}

char *
bu_verb_retry(struct bu_reconcile *rec, struct bu_node *node,
	      const struct bu_verb_ask *ask, struct bu_err *err)
{
	if (node->hold->owner == BU_OWNER_BRINGUP) {
		if (!ask->dry_run && bu_reconcile_release(rec, node, ask->by, err) != 0)
			return NULL;
		return bu_xstrdup("released");
	}
	if (bu_verb_check(node, BU_VERB_RETRY, err) != 0)
		return NULL;
	if (node->order->failed && !is_written(node))
		return open_again(rec, node, ask, err);
	if (node->state == BU_STATE_FAILED && !node->order->open)
		return boot(rec, node, ask, err);
	bu_err_set(err, BU_ERR_STATE, 0, "node %s: its last order has not failed",
		   node->name);
	return NULL;
}
