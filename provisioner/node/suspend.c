/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that clusters have switched off to save power. Asked by observe.c.
 * Invariant: a machine that does not come when it is woken counts as asleep no more.
 */
#include "model/state.h"
#include "provisioner/node/over.h"
#include "provisioner/node/reconcile_impl.h"

/* A question may be so long on its way. */
enum { ANSWER_MS = 15000 };

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
	if (request->woken.seq < node->over->seq)
		return 1;
	if (request->woken.failed || !want)
		return !request->woken.failed;
	return now_ms - request->woken.at_ms < limit_ms + bu_desired_post_ms(want);
}

/* How long ago a fact was learnt is monotonic; when the log has a row, Unix time. */
int
bu_suspend_may(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_cluster_fact *fact = node->live.cluster;
	struct bu_loop *loop = rec->fleet->loop;
	int64_t now_ms = bu_loop_now_ms(loop);
	int64_t learnt_ms = bu_wall_ms(bu_loop_clock(loop)) - now_ms + fact->at_ms;

	return bu_cluster_fact_is_recent(fact, now_ms) && fact->sleeps && !fact->jobs &&
	       learnt_ms > node->since_ms &&
	       (!node->power->woken.at_ms ||
		learnt_ms > node->power->woken.at_ms + ANSWER_MS);
}
