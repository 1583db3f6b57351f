/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A correction of a node's reach in the applied profile. The power action is done again
 * if it failed by the old reach, waits for a person or met another machine. Called by
 * reconcile.c at each tick. Invariant: no machine is touched here; the repeated step
 * first compares the machine's identity and power state.
 */
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"

/* Was the reach corrected since it was used? Compared once per revision. */
static int
is_corrected(const struct bu_reconcile *rec, struct bu_node *node)
{
	char now[65];

	if (!node->live.reach->digest[0] ||
	    strcmp(node->live.reach->revision, rec->fleet->revision) == 0)
		return 0;
	bu_reach_digest(rec->fleet, node, now);
	BU_TEXT_COPY(bu_node_reach(node)->revision, rec->fleet->revision);
	return now[0] && strcmp(now, node->live.reach->digest) != 0;
}

/* The machine's identity is compared again before the next power action. */
static void
let_go(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_err err;

	if (bu_reconcile_release(rec, node, "bringup", &err) != 0)
		bu_warn("node", "%s", err.text);
}

/* The profile has a BMC for the machine that a person should have switched. */
static int
has_driver_now(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return node->live.wait_reason->code == BU_REASON_BY_HAND &&
	       node->step.status == BU_STEP_OPEN &&
	       bu_action_info(node->step.action)->actor == BU_ACTOR_POWER &&
	       !bu_manual_is(bu_fleet_reach(rec->fleet, node)) &&
	       !node->live.effect_running && !node->hold->owner;
}

void
bu_corrected_look(struct bu_reconcile *rec, struct bu_node *node)
{
	int foreign = node->hold->owner == BU_OWNER_BRINGUP &&
		      node->hold->reason.code == BU_REASON_FOREIGN_MACHINE;

	if (rec->stopped || node->live.appending)
		return;
	if (has_driver_now(rec, node))
		bu_effect_observe(rec, node);
	if ((!foreign && !bu_node_power_failed(node)) || !is_corrected(rec, node))
		return;
	bu_info("node", "%s: the profile says anew how its machine is reached",
		node->name);
	if (foreign)
		let_go(rec, node);
	else if (node->live.retry_ms)
		node->live.retry_ms = bu_loop_now_ms(rec->fleet->loop);
}
