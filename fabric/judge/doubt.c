/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose instrument is wrong: the node that most of the doubtful flows have in common.
 * Called between the stages. Invariant: a doubt that may be the partner's removes no
 * node.
 */
#include "fabric/judge/campaign.h"

/* The node in the largest share of doubtful flows, when that is most of its own. */
static int
most_doubted(const struct campaign *c, unsigned char *ret_doubt)
{
	int nodes = c->t->nodes, rails = c->t->rails, found = -1;
	bu_autofree int *all = bu_xcalloc((size_t)nodes + 1, sizeof(*all));
	bu_autofree int *bad = bu_xcalloc((size_t)nodes + 1, sizeof(*bad));
	bu_autofree unsigned char *what = bu_xcalloc((size_t)nodes + 1, 1);
	bu_autofree int *partner = bu_xcalloc((size_t)nodes + 1, sizeof(*partner));
	double most = 0.6;

	for (size_t i = 0; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];
		int ends[2] = {flow->src / rails, flow->dst / rails};
		unsigned char doubt = flow->doubt & (unsigned char)~BU_DOUBT_NONE;

		if (c->doubted[ends[0]] || c->doubted[ends[1]])
			continue;
		for (int k = 0; k < 2; k++) {
			all[ends[k]]++;
			bad[ends[k]] += doubt != 0;
			what[ends[k]] |= doubt;
			if (doubt && partner[ends[k]] == 0)
				partner[ends[k]] = ends[!k] + 1;
			else if (doubt && partner[ends[k]] != ends[!k] + 1)
				partner[ends[k]] = -1;
		}
	}
	for (int node = 0; node < nodes; node++) {
		/* With one partner only, it may be that one's. */
		if (bad[node] < 3 || bad[node] <= most * all[node] || partner[node] > 0)
			continue;
		most = (double)bad[node] / all[node];
		found = node;
		*ret_doubt = what[node];
	}
	return found;
}

void
bu_campaign_doubt(struct campaign *c)
{
	unsigned char doubt = 0;
	int node;

	while ((node = most_doubted(c, &doubt)) >= 0) {
		c->doubted[node] = doubt;
		for (int rail = 0; rail < c->t->rails; rail++)
			c->usable[node * c->t->rails + rail] = 0;
	}
	for (size_t i = 0; i < c->count; i++) {
		if (c->doubted[c->flows[i].src / c->t->rails] ||
		    c->doubted[c->flows[i].dst / c->t->rails])
			c->flows[i].doubt |= BU_DOUBT_NONE;
	}
}
