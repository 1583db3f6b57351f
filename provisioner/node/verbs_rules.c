/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a verb mean something to a node now? Asked by the other files of verbs and by
 * the API. Invariant: nothing here changes anything.
 */
#include "provisioner/node/verbs_rules.h"

#include <string.h>

#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"

int
bu_verb_runs(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));

	return node->boot_installed && node->live.last_seen_ms &&
	       now_ms - node->live.last_seen_ms <= BU_HEARD_MS;
}

int
bu_verb_is_held(const struct bu_node *node)
{
	return node->hold->owner == BU_OWNER_PERSON;
}

/* "validate, service, retire"; owned. */
static char *
verbs_of(enum bu_state state)
{
	char *text = bu_xstrdup("");

	for (int verb = 0; verb < BU_VERB_COUNT; verb++)
		if (bu_verb_takes((enum bu_verb)verb, state))
			bu_text_add(&text, ", ", "%s",
				    bu_verb_info((enum bu_verb)verb)->name);
	return text;
}

static int
refuse_state(const struct bu_node *node, enum bu_verb verb, struct bu_err *err)
{
	bu_autofree char *others = verbs_of(node->state);

	if (verb == BU_VERB_RELEASE)
		return bu_err_set(err, BU_ERR_STATE, 0, "node %s is not held",
				  node->name);
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "node %s is %s; %s has no effect there; it takes: %s",
			  node->name, bu_state_name(node->state),
			  bu_verb_info(verb)->name, others);
}

int
bu_verb_is_out(const struct bu_node *node)
{
	if (!bu_state_is_in_cluster(node->state) || bu_node_has_left(node))
		return 1;
	return node->state == BU_STATE_DRAINING && !node->live.in_profile &&
	       node->step.action == BU_ACTION_LEAVE &&
	       node->step.status == BU_STEP_DONE;
}

/* Refuses a verb in a drain for an order. replace and retire need no files. */
static int
check_ordered(const struct bu_node *node, enum bu_verb verb, struct bu_err *err)
{
	const struct bu_order *order = node->order;
	int forgets = verb == BU_VERB_REPLACE || verb == BU_VERB_RETIRE;

	if (forgets && bu_verb_is_out(node))
		return 0;
	if (bu_node_has_left(node) && !bu_node_keeps_files(node))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s has left its cluster for an order (%s, of "
				  "rollout %s), and its files are being written; it "
				  "takes: replace, retire",
				  node->name, bu_class_name(order->class),
				  order->rollout);
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "node %s is draining for an order (%s, of rollout %s); "
			  "bringup rollout abort %s cancels it",
			  node->name, bu_class_name(order->class), order->rollout,
			  order->rollout);
}

int
bu_verb_check(const struct bu_node *node, enum bu_verb verb, struct bu_err *err)
{
	const struct bu_order *order = node->order;
	bu_autofree char *hold = bu_hold_text(node->hold);

	if (!bu_verb_takes(verb, node->state))
		return refuse_state(node, verb, err);
	if (!node->live.in_profile && verb != BU_VERB_RETIRE)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is not in the applied profile, so nothing "
				  "is done to it; bringup node retire %s forgets it",
				  node->name, node->name);
	if (bu_verb_is_held(node))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is %s; bringup node release %s ends the "
				  "hold",
				  node->name, hold, node->name);
	if (node->state == BU_STATE_DRAINING && order->open && order->begun)
		return check_ordered(node, verb, err);
	return 0;
}
