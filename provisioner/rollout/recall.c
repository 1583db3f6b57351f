/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An abort recalls orders that have begun and have not passed a point of no return.
 * Called by rollout.c, apply.c and the API. Invariants: in one commit with the abort,
 * each recalled node is on its way back to where it was. No disk of it was written. A
 * node that has left its cluster boots the system still on its disk, or keeps the files
 * that it had.
 */
#include <string.h>

#include "provisioner/rollout/rollout_impl.h"

/* Finds the trigger that takes the node back; -1: err says why its order goes on. */
static int
way_back(const struct bu_rollouts *rollouts, struct bu_node *node,
	 enum bu_trigger *ret_on, struct bu_err *err)
{
	enum bu_abort abort = bu_state_info(node->state)->abort;
	struct bu_move move = {.on = BU_TRIGGER_ABORT};
	enum bu_state to;

	if (bu_node_check_recall(node, err) != 0)
		return -1;
	if (abort == BU_ABORT_BEFORE_WRITING && node->order->served)
		move.on = BU_TRIGGER_ABORT_BOOT;
	*ret_on = move.on;
	if (bu_reconcile_can(rollouts->rec, node, &move, &to, err) == 0)
		return 0;
	/* a replaced machine has nothing to boot */
	*ret_on = move.on = BU_TRIGGER_ABORT;
	return abort == BU_ABORT_BEFORE_WRITING
		       ? bu_reconcile_can(rollouts->rec, node, &move, &to, err)
		       : -1;
}

static int
is_under_way(const struct bu_node *node, const char *id)
{
	return node->order->open && node->order->begun &&
	       strcmp(node->order->rollout, id) == 0;
}

/* For an open order that has begun. Makes at most two events. */
static int
recall(struct bu_rollouts *rollouts, struct bu_node *node, const char *by,
       const struct bu_reason *reason, struct bu_event *events, size_t *count)
{
	struct bu_move move = {.reason = reason, .by = by};
	struct bu_err err;

	if (way_back(rollouts, node, &move.on, &err) != 0 ||
	    bu_reconcile_moved(rollouts->rec, node, &move, &events[*count], &err) != 0)
		return -1;
	(*count)++;
	if (node->hold->owner)
		BU_EVENT_MAKE(&events[(*count)++], BU_EVENT_RELEASED, node->name,
			      released, .by = by);
	return 0;
}

int
bu_recall_check(struct bu_rollouts *rollouts, const char *name, struct bu_err *err)
{
	struct bu_node *node = bu_fleet_node(rollouts->fleet, name);
	enum bu_trigger on;

	if (!node || !node->order->open || !node->order->begun)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s has no order under way any more; plan again",
				  name);
	if (way_back(rollouts, node, &on, err) == 0)
		return 0;
	return bu_err_wrap(err, "the order of node %s cannot begin anew", name);
}

size_t
bu_recall_for(struct bu_rollouts *rollouts, const char *name, const char *by,
	      struct bu_event *events)
{
	struct bu_node *node = bu_fleet_node(rollouts->fleet, name);
	struct bu_reason anew;
	size_t count = 0;

	bu_reason_set(&anew, BU_REASON_ORDERED_ANEW, NULL);
	bu_ignore(recall(rollouts, node, by, &anew, events, &count));
	return count;
}

size_t
bu_recall(struct bu_rollouts *rollouts, const char *id, const char *by,
	  struct bu_event *events)
{
	struct bu_reason reason;
	size_t count = 0;

	BU_REASON_SET(&reason, ABORTED, .text = {by});
	for (size_t i = 0; i < rollouts->fleet->count; i++) {
		struct bu_node *node = rollouts->fleet->nodes[i];

		if (is_under_way(node, id))
			bu_ignore(recall(rollouts, node, by, &reason, events, &count));
	}
	return count;
}

json_t *
bu_rollouts_recalled(struct bu_rollouts *rollouts, const char *id)
{
	json_t *back = json_array(), *on = json_array();

	for (size_t i = 0; i < rollouts->fleet->count; i++) {
		struct bu_node *node = rollouts->fleet->nodes[i];
		enum bu_trigger trigger;
		struct bu_err err;

		if (!is_under_way(node, id))
			continue;
		if (way_back(rollouts, node, &trigger, &err) == 0)
			json_array_append_new(back, json_string(node->name));
		else
			json_array_append_new(on,
					      json_pack("{s:s,s:s}", "node", node->name,
							"why", err.text));
	}
	return json_pack("{s:o,s:o}", "called_back", back, "going_on", on);
}

int
bu_rollouts_is_moving(const struct bu_rollouts *rollouts, const char *id)
{
	for (size_t i = 0; i < rollouts->fleet->count; i++) {
		const struct bu_node *node = rollouts->fleet->nodes[i];

		if (node->live.appending && strcmp(node->order->rollout, id) == 0)
			return 1;
	}
	return 0;
}
