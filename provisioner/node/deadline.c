/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a node may take, until when, and whether it was late lately. Called by all
 * files of reconcile, the brake and views. Invariants: a node that waits, is held, is
 * settled or has left the profile has no deadline; progress ends lateness; starts of
 * bringupd give no node more than GRACE_MS over its limit, however many there are.
 */
#include <string.h>

#include "provisioner/node/membership.h"
#include "provisioner/node/reconcile_impl.h"

/* The time in which agents are heard again after a start. */
enum { GRACE_MS = 60000 };

/* Added to the limit of a power action: the reset of the BMC before it, the POST of the
 * class, and its wait for disks. The state's own limit has room for usual machines. */
static int64_t
post_ms(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_desired_node *reach, *ordered;
	int64_t bmc_ms, disks_ms;

	if (bu_action_info(node->step.action)->actor != BU_ACTOR_POWER || node->kexecs)
		return 0;
	reach = bu_fleet_reach(rec->fleet, node);
	ordered = bu_fleet_ordered(rec->fleet, node);
	bmc_ms = bu_reconcile_resets_bmc(node, reach) ? BU_POWER_BMC_RESET_MS : 0;
	disks_ms = ordered ? ordered->hardware->disk_wait_ms : 0;
	return reach ? bu_desired_post_ms(reach) + disks_ms + bmc_ms : 0;
}

static int64_t
acceptance_ms(const struct bu_reconcile *rec, const struct bu_node *node)
{
	if (node->state != BU_STATE_JOINING)
		return 0;
	return bu_membership_acceptance_ms(bu_fleet_desired(rec->fleet, node));
}

int64_t
bu_reconcile_limit_ms(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int limit_s = rec->limit_s[node->state];
	const struct bu_desired_node *want;

	if (!limit_s)
		limit_s = bu_action_info(node->step.action)->limit_s;
	if (!limit_s)
		limit_s = bu_state_info(node->state)->limit_s;
	if (limit_s != BU_LIMIT_OF_POOL)
		return limit_s * INT64_C(1000) + post_ms(rec, node) +
		       acceptance_ms(rec, node);
	want = bu_fleet_ordered(rec->fleet, node);
	return want ? want->pool->drain_deadline_ms : 0;
}

int
bu_reconcile_start_waits(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t start = rec->fleet->start.seq;

	return start && (rec->starting.seq != start || node->live.start->waits);
}

int64_t
bu_reconcile_since_ms(const struct bu_node *node)
{
	/* Times before the appliance's boot are negative. */
	return node->live.progress_ms && node->live.progress_ms > node->live.clock_ms
		       ? node->live.progress_ms
		       : node->live.clock_ms;
}

int
bu_reconcile_holds(const struct bu_node *node)
{
	const struct bu_order *order = node->order;

	/* The system on a machine of another epoch is another appliance's work. An
	 * order that boots nothing has no power cycle of its own. A reboot that a
	 * person asked for meanwhile is tried again like any other. */
	return bu_state_info(node->state)->ladder == BU_LADDER_HOLD ||
	       (node->adopted->unproven && !node->reset &&
		!(order->open && order->begun)) ||
	       (order->open && order->begun && !node->reset &&
		bu_class_info(order->class)->next == BU_STATE_VALIDATING);
}

int
bu_reconcile_resets_bmc(const struct bu_node *node, const struct bu_desired_node *want)
{
	return node->power_fails >= BU_REPEATS_MAX && bu_bmc_is(want) &&
	       strcmp(want->pool->bmc_reset, "last-try") == 0;
}

int
bu_reconcile_cycles(const struct bu_node *node)
{
	return node->reset || !(bu_trigger_info(node->on)->flags & BU_ON_NO_CYCLE);
}

/* Early in a life of bringupd a node is late only if it is over its limit by the grace.
 * The time of earlier lives counts, however short they were. */
static int64_t
with_grace(const struct bu_reconcile *rec, int64_t deadline_ms, int64_t limit_ms)
{
	int64_t grace_ms = limit_ms < GRACE_MS ? limit_ms : GRACE_MS;
	int64_t most_ms = deadline_ms + grace_ms, early_ms = rec->life_ms + grace_ms;
	int64_t later_ms = most_ms < early_ms ? most_ms : early_ms;

	return later_ms > deadline_ms ? later_ms : deadline_ms;
}

int64_t
bu_reconcile_deadline(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t limit_ms = bu_reconcile_limit_ms(rec, node);

	/* A settled node has a deadline only for a step of its order. */
	if (bu_state_info(node->state)->settled &&
	    (!node->order->open || node->step.status != BU_STEP_OPEN))
		return 0;
	if (!limit_ms || node->hold->owner || bu_node_stands_still(node) ||
	    !node->live.in_profile || bu_reconcile_start_waits(rec, node))
		return 0;
	return with_grace(rec, bu_reconcile_since_ms(node) + limit_ms, limit_ms);
}

int
bu_reconcile_is_late(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return node->live.late_ms &&
	       bu_loop_now_ms(rec->fleet->loop) - node->live.late_ms <
		       BU_LATE_MEMORY_MS;
}
