/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that only a person can switch (power = manual). Called by effects.c before
 * it would ask bringup-power, and by reconcile.c at each tick. Invariant: such a node
 * waits for its machine without a deadline, a ladder or a power action, and says what
 * to press; the machine's own call ends the wait.
 */
#include <string.h>

#include "provisioner/node/reconcile_impl.h"

int
bu_manual_is(const struct bu_desired_node *want)
{
	return want && strcmp(want->power, "manual") == 0;
}

void
bu_manual_look(struct bu_reconcile *rec, struct bu_node *node)
{
	int waits = node->step.status == BU_STEP_OPEN &&
		    bu_action_info(node->step.action)->actor == BU_ACTOR_POWER &&
		    bu_manual_is(bu_fleet_reach(rec->fleet, node));
	struct bu_reason before = *node->live.wait_reason;

	if (waits)
		BU_REASON_SET(
			bu_node_wait_reason(node), BY_HAND,
			.text = {node->name, node->step.action == BU_ACTION_DISKBOOT
						     ? "its disk"
						     : "the network"});
	else if (before.code == BU_REASON_BY_HAND)
		bu_node_drop_wait_reason(node);
	if (!bu_reason_same(&before, node->live.wait_reason))
		bu_fleet_touch(rec->fleet, node);
}
