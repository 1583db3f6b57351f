/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which proven nodes are lent as partners, by `partners` of their pool. Asked by
 * campaign_state.c, asks.c and probe.c. Invariants: a node is not lent as idle while
 * its cluster does not answer; a node with jobs is in one probe a minute at most. A job
 * that begins after the cluster's answer shares its links with a probe for a few
 * seconds: an accepted cost.
 */
#include <string.h>

#include "provisioner/gate/terms/terms.h"

/* A probe takes some seconds: jobs lose a tenth of their time at most. */
enum { REST_MS = 60000 };

int
bu_gate_works(const struct bu_gate *gate, const struct bu_node *node,
	      const struct bu_desired_node *want)
{
	/* A joining node has no jobs, and neither has a rebooted one, whatever the
	 * cluster answers. */
	return want && want->cluster && node->joined->cluster[0] &&
	       bu_state_serves(node->state) && !bu_reconcile_is_idle(gate->rec, node);
}

int
bu_gate_lends(struct bu_gate *gate, const struct bu_node *node,
	      const struct bu_desired_node *want)
{
	const char *partners = want->pool->partners;

	if (!want->cluster || !node->joined->cluster[0] || strcmp(partners, "any") == 0)
		return 1;
	return strcmp(partners, "idle") == 0 && !bu_gate_works(gate, node, want);
}

int
bu_gate_rests(const struct bu_gate *gate, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);

	return node->live.disturbed_ms &&
	       bu_loop_now_ms(gate->fleet->loop) - node->live.disturbed_ms < REST_MS &&
	       bu_gate_works(gate, node, want);
}
