/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which proven nodes are lent as partners, as `partners` of their pool says. Asked by
 * campaign_state.c. Invariant: of a cluster that does not answer nobody is lent as
 * idle. A job that begins after the answer meets a probe of a few seconds: that is the
 * price.
 */
#include <string.h>

#include "provisioner/gate/internal.h"

int
bu_gate_lends(struct bu_gate *gate, const struct bu_node *node,
	      const struct bu_desired_node *want)
{
	const char *partners = want->pool->partners;

	/* Who is on its way into its cluster has no jobs either. */
	if (!want->cluster || !node->joined.cluster[0] || strcmp(partners, "any") == 0)
		return 1;
	return strcmp(partners, "idle") == 0 && bu_reconcile_is_idle(gate->rec, node);
}
