/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why an open order may not begin now, as a code and as a reason. Called by rollout.c
 * for each waiting node, and by show.c. Invariant: nothing is changed here.
 */
#include "base/text.h"
#include "model/sentence.h"
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

static json_t *
refused_by_rollout(const char *id, const struct bu_rollout *rollout)
{
	if (!rollout)
		return BU_SAID(ROLLOUT_UNKNOWN, BU_ARG("rollout", id));
	return BU_SAID(ROLLOUT_STATE, BU_ARG("rollout", id),
		       BU_ARG("state", bu_rollout_state_name(rollout->state)),
		       BU_ARG_SAID("why", bu_said_of(&rollout->reason)),
		       BU_ARG("open", rollout->ended_ms ? "" : id));
}

/* A withdrawn turn proves nothing. NULL = none was. */
static json_t *
left_said(const struct bu_share *share)
{
	const struct bu_node *left = share->gave_up;
	int is_parked = left && left->state == BU_STATE_PARKED;

	if (!left)
		return NULL;
	if ((is_parked || left->state == BU_STATE_SERVICING) && share->back)
		return BU_SAID(CANARY_OUT, BU_ARG("node", left->name),
			       BU_ARG("state", bu_state_name(left->state)),
			       BU_ARG("verb", is_parked ? "resume" : "release"));
	return BU_SAID(CANARY_WITHDRAWN, BU_ARG("node", left->name),
		       BU_ARG("state", bu_state_name(left->state)),
		       BU_ARG_NUMBER("back", share->back));
}

/* The canary that the node waits for. */
static json_t *
canary_said(const struct bu_desired_pool *pool, const struct bu_share *share)
{
	const struct bu_node *tries = share->tries;
	json_t *turn = NULL;

	if (tries)
		turn = BU_SAID(CANARY_TRIES, BU_ARG("node", tries->name),
			       BU_ARG("state", bu_state_name(tries->state)),
			       BU_ARG("by", tries->hold->owner ? tries->hold->by : ""),
			       BU_ARG_NUMBER("now", share->gave_up != NULL));
	return BU_SAID(CANARY_FIRST, BU_ARG("pool", pool->name),
		       BU_ARG_NUMBER("proven", share->proven),
		       BU_ARG_NUMBER("canary", pool->canary),
		       BU_ARG_SAID("tries", turn),
		       BU_ARG_SAID("left", left_said(share)));
}

static json_t *
away_said(const struct bu_view *view, const struct bu_desired_pool *pool, size_t index)
{
	const struct bu_node *one = view->example[index];

	return BU_SAID(MANY_AWAY, BU_ARG_NUMBER("count", view->away[index]),
		       BU_ARG("pool", pool->name), BU_ARG("node", one->name),
		       BU_ARG("state", bu_state_name(one->state)),
		       BU_ARG("condition", bu_conditions_first(one->conditions)),
		       BU_ARG_NUMBER("max", pool->max_unavailable));
}

json_t *
bu_refusal_said(const struct bu_rollouts *rollouts, const struct bu_view *view,
		const struct bu_node *node, enum bu_refusal refusal)
{
	const struct bu_desired_node *want = bu_fleet_desired(rollouts->fleet, node);
	const struct bu_desired_pool *pool = want ? want->pool : NULL;
	const struct bu_rollout *rollout =
		bu_fleet_rollout(rollouts->fleet, node->order->rollout);
	size_t index = want ? bu_view_pool(rollouts->fleet, want) : 0;

	switch (refusal) {
	case BU_MAY_GO:
		return NULL;
	case BU_REFUSED_ROLLOUT:
		return refused_by_rollout(node->order->rollout, rollout);
	case BU_REFUSED_LEFT:
		return BU_SAID_ALONE(NODE_UNKNOWN);
	case BU_REFUSED_UNSETTLED:
		return BU_SAID(IS_IN, BU_ARG("state", bu_state_name(node->state)));
	case BU_REFUSED_HELD:
		return BU_SAID(HELD_BY, BU_ARG("by", node->hold->by));
	case BU_REFUSED_BRAKE:
		return BU_SAID(BRAKE_ON,
			       BU_ARG("scope", bu_brake_scope(rollouts->brake, node)));
	case BU_REFUSED_RELABELS:
		return BU_SAID(RELABELS, BU_ARG_NUMBER("count", view->relabels));
	case BU_REFUSED_WINDOW:
		return BU_SAID(WINDOW, BU_ARG("pool", pool->name),
			       BU_ARG("window", pool->maintenance));
	case BU_REFUSED_CANARY:
		return canary_said(pool, bu_view_share(view, rollout, index));
	case BU_REFUSED_AWAY:
		break;
	}
	return away_said(view, pool, index);
}
