/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that clusters have switched off to save power. Asked by observe.c.
 * Invariant: a machine that does not come when it is woken counts as asleep no more.
 */
#include "model/state.h"
#include "provisioner/node/over.h"
#include "provisioner/node/reconcile_impl.h"

int
bu_suspend_is(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_node_power_request *request = node->power;
	const struct bu_desired_node *want = bu_fleet_desired(rec->fleet, node);
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));
	int64_t limit_ms = bu_state_info(BU_STATE_BOOTING)->limit_s * INT64_C(1000);

	if (node->state != BU_STATE_READY || !bu_over_is(node) ||
	    node->over->op != BU_POWER_REQUEST_SUSPEND)
		return 0;
	if (request->op != BU_POWER_REQUEST_WAKE || !want)
		return request->op != BU_POWER_REQUEST_WAKE_FAILED;
	return request->result != BU_OUTCOME_FAILED &&
	       now_ms - request->at_ms < limit_ms + bu_desired_post_ms(want);
}
