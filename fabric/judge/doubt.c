/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the nodes with a wrong instrument: the node that most of the doubtful flows
 * have in common. Called between the stages. Invariant: a doubt that the only partner
 * may cause removes no node.
 */
#include "fabric/judge/campaign.h"

/* Flows that a node sends, receives, and both. A loopback may show in one direction
 * alone. */
enum { SENDS, RECEIVES, BOTH, HALVES };

struct count {
	int all, bad;
	int partner; /* 1 + the only partner of the bad flows; -1 = several */
	unsigned char what;
};

static void
add(struct count *count, unsigned char doubt, int partner)
{
	count->all++;
	if (!doubt)
		return;
	count->bad++;
	count->what |= doubt;
	count->partner =
		count->partner == 0 || count->partner == partner + 1 ? partner + 1 : -1;
}

static struct count *
count_doubts(const struct campaign *c)
{
	struct count *counts =
		bu_xcalloc((size_t)c->t->nodes * HALVES, sizeof(*counts));

	for (size_t i = 0; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];
		int ends[2] = {flow->src / c->t->rails, flow->dst / c->t->rails};
		unsigned char doubt = flow->doubt & (unsigned char)~BU_DOUBT_NONE;

		if (c->doubted[ends[0]] || c->doubted[ends[1]])
			continue;
		for (int k = 0; k < 2; k++) {
			add(&counts[ends[k] * HALVES + k], doubt, ends[!k]);
			add(&counts[ends[k] * HALVES + BOTH], doubt, ends[!k]);
		}
	}
	return counts;
}

/* The node with the largest share of doubtful flows, above 60 % of its own. Both
 * directions are tried first, then each one. */
static int
most_doubted(const struct campaign *c, unsigned char *ret_doubt)
{
	bu_autofree struct count *counts = count_doubts(c);
	static const int halves[] = {BOTH, SENDS, RECEIVES};
	int found = -1;

	for (size_t h = 0; h < BU_LEN(halves) && found < 0; h++) {
		double most = 0.6;

		for (int node = 0; node < c->t->nodes; node++) {
			const struct count *count = &counts[node * HALVES + halves[h]];

			/* The only partner may be the doubtful one. */
			if (count->bad < 3 || count->bad <= most * count->all ||
			    count->partner > 0)
				continue;
			most = (double)count->bad / count->all;
			found = node;
			*ret_doubt = count->what;
		}
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
