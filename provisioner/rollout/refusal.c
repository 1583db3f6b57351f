/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why an open order may not begin now, as a code and as a text. Called by rollout.c for
 * each waiting node, and by show.c. Invariant: nothing is changed here.
 */
#include "base/text.h"
#include "profiles/language/window.h"
#include "provisioner/rollout/rollout_impl.h"

/* For a node in service whose order would disturb it. */
static enum bu_refusal
limits_refuse(const struct bu_view *view, const struct bu_rollout *rollout,
	      const struct bu_node *node, const struct bu_desired_node *want)
{
	const struct bu_desired_pool *pool = want->pool;
	size_t index = bu_view_pool(view->fleet, want);
	const struct bu_share *share = bu_view_share(view, rollout, index);

	if (!bu_window_open(pool->maintenance, view->now_s))
		return BU_REFUSED_WINDOW;
	if (share->proven < pool->canary &&
	    share->proven + share->trying + share->back >= pool->canary)
		return BU_REFUSED_CANARY;
	/* the node's own absence does not count */
	return view->away[index] - bu_view_is_away(node) >= pool->max_unavailable
		       ? BU_REFUSED_AWAY
		       : BU_MAY_GO;
}

enum bu_refusal
bu_turn_refused(const struct bu_rollouts *rollouts, const struct bu_view *view,
		const struct bu_node *node)
{
	const struct bu_order *order = node->order;
	const struct bu_rollout *rollout =
		bu_fleet_rollout(rollouts->fleet, order->rollout);
	const struct bu_desired_node *want;

	if (!rollout || rollout->state != BU_ROLLOUT_RUNNING)
		return BU_REFUSED_ROLLOUT;
	want = bu_fleet_desired(rollouts->fleet, node);
	if (!want)
		return BU_REFUSED_LEFT;
	if (!bu_lifecycle_begins(node->state))
		return BU_REFUSED_UNSETTLED;
	if (node->hold->owner)
		return BU_REFUSED_HELD;
	if (bu_brake_scope(rollouts->brake, node))
		return BU_REFUSED_BRAKE;
	if (node->state != BU_STATE_READY)
		return BU_MAY_GO;
	if (bu_class_info(order->class)->disturbs)
		return limits_refuse(view, rollout, node, want);
	return view->relabels >= BU_RELABELS_MAX ? BU_REFUSED_RELABELS : BU_MAY_GO;
}

static char *
refused_by_rollout(const char *id, const struct bu_rollout *rollout)
{
	bu_autofree char *why = rollout ? bu_reason_text(&rollout->reason) : NULL;

	if (!rollout)
		return bu_xasprintf("rollout %s is unknown", id);
	return bu_xasprintf("rollout %s is %s%s%s%s%s", id,
			    bu_rollout_state_name(rollout->state), *why ? ": " : "",
			    why, rollout->ended_ms ? "" : "; bringup rollout resume ",
			    rollout->ended_ms ? "" : id);
}

/* The canary that the node waits for. A withdrawn turn proves nothing. */
static char *
canary_text(const struct bu_desired_pool *pool, const struct bu_share *share)
{
	char *text = bu_xasprintf("the canary of pool %s comes first: %d of %d done",
				  pool->name, share->proven, pool->canary);
	const struct bu_node *tries = share->tries, *gave_up = share->gave_up;

	if (tries)
		bu_text_add(&text, "; ", "%s (%s%s%s) has its turn%s", tries->name,
			    bu_state_name(tries->state),
			    tries->hold->owner ? ", held by " : "",
			    tries->hold->owner ? tries->hold->by : "",
			    gave_up ? " now" : "");
	if (gave_up &&
	    (gave_up->state == BU_STATE_PARKED ||
	     gave_up->state == BU_STATE_SERVICING) &&
	    share->back)
		bu_text_add(&text, "; ",
			    "%s was taken out (%s) in the middle of its turn, and "
			    "what that did to it is not known: bringup node %s %s lets "
			    "it go on",
			    gave_up->name, bu_state_name(gave_up->state),
			    gave_up->state == BU_STATE_PARKED ? "resume" : "release",
			    gave_up->name);
	else if (gave_up)
		bu_text_add(&text, "; ",
			    "the turn of %s (%s) was withdrawn, which is neither a "
			    "success nor a failure: another node is the canary%s",
			    gave_up->name, bu_state_name(gave_up->state),
			    share->back ? " when that one is back or at rest" : "");
	return text;
}

char *
bu_refusal_text(const struct bu_rollouts *rollouts, const struct bu_view *view,
		const struct bu_node *node, enum bu_refusal refusal)
{
	const struct bu_desired_node *want = bu_fleet_desired(rollouts->fleet, node);
	const struct bu_desired_pool *pool = want ? want->pool : NULL;
	const struct bu_rollout *rollout =
		bu_fleet_rollout(rollouts->fleet, node->order->rollout);
	size_t index = want ? bu_view_pool(rollouts->fleet, want) : 0;
	const struct bu_node *one = view->example[index];
	const char *condition = one ? bu_conditions_first(one->conditions) : NULL;

	switch (refusal) {
	case BU_MAY_GO:
		return bu_xstrdup("");
	case BU_REFUSED_ROLLOUT:
		return refused_by_rollout(node->order->rollout, rollout);
	case BU_REFUSED_LEFT:
		return bu_xstrdup("the applied profile has no such node");
	case BU_REFUSED_UNSETTLED:
		return bu_xasprintf("it is %s", bu_state_name(node->state));
	case BU_REFUSED_HELD:
		return bu_xasprintf("it is held by %s", node->hold->by);
	case BU_REFUSED_BRAKE:
		return bu_xasprintf(
			"the brake is on for %s, whose nodes are late together; it "
			"ends when fewer are; bringup status names them, bringup node "
			"release lets one of them go on",
			bu_brake_scope(rollouts->brake, node));
	case BU_REFUSED_RELABELS:
		return bu_xasprintf("%d others are relabelled now", view->relabels);
	case BU_REFUSED_WINDOW:
		return bu_xasprintf("outside the maintenance of pool %s (%s, UTC)",
				    pool->name, pool->maintenance);
	case BU_REFUSED_CANARY:
		return canary_text(pool, bu_view_share(view, rollout, index));
	case BU_REFUSED_AWAY:
		break;
	}
	return bu_xasprintf(
		"%d of pool %s are away or under way, %s (%s%s%s) among them; "
		"max_unavailable is %d",
		view->away[index], pool->name, one->name, bu_state_name(one->state),
		condition ? ", " : "", condition ? condition : "",
		pool->max_unavailable);
}
