/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the switches count, read after rounds at full load: the only witness where flows
 * are sprayed. Asked by the campaign after the links were measured. Invariant: the same
 * sequential test as for flows decides, on readings.
 */
#include "fabric/judge/campaign.h"

enum { SWITCH_READINGS = 8, SWITCH_READINGS_MAX = 24 };

/* The links that the last flows may have used: by leaf, then direction. */
static unsigned char *
used_leaves(const struct campaign *c, size_t first)
{
	unsigned char *used = bu_xcalloc(2 * (size_t)c->t->leaves + 1, 1);

	for (size_t i = first; i < c->count; i++) {
		used[2 * c->leaf_of[c->flows[i].src] + BU_LINK_UP] = 1;
		used[2 * c->leaf_of[c->flows[i].dst] + BU_LINK_DOWN] = 1;
	}
	return used;
}

/* Bad counters: far above those of the better links; a rate far under the median's. */
static void
add_switch_counts(struct campaign *c, const struct bu_link_count *counts, size_t first,
		  const struct bu_sprt_rule *rule)
{
	int links = 2 * c->t->leaves * c->t->spines, base = 2 * bu_topology_ports(c->t);
	bu_autofree unsigned char *used = used_leaves(c, first);
	bu_autofree float *bad = bu_xcalloc((size_t)links + 1, sizeof(*bad));
	bu_autofree float *rate = bu_xcalloc((size_t)links + 1, sizeof(*rate));
	double most_bad, median_rate, sigma;
	size_t n = 0;

	for (int i = 0; i < links; i++) {
		if (!used[i / 2 / c->t->spines * 2 + i % 2])
			continue;
		bad[n] = counts[i].bad;
		rate[n++] = counts[i].rate;
	}
	most_bad = 10 * bu_stats_quarter(bad, n, 1) + 10;
	median_rate = bu_stats_median(rate, n);
	sigma = bu_stats_sigma(rate, n, median_rate);
	for (int i = 0; i < links; i++) {
		int lossy = counts[i].bad > most_bad;
		int slow = counts[i].rate >= 0 && counts[i].rate < 0.8 * median_rate &&
			   counts[i].rate < median_rate - 8 * sigma;

		if (!used[i / 2 / c->t->spines * 2 + i % 2])
			continue;
		if (lossy || slow || c->suspect_of[(base + i) * BU_SYMPTOMS_COUNT] >= 0)
			bu_sprt_add(&bu_campaign_suspect(c, base + i, 0)->sprt, rule,
				    lossy || slow);
	}
}

static int
is_a_link_open(const struct campaign *c, const struct bu_sprt_rule *rule)
{
	for (size_t i = 0; i < c->suspect_count; i++) {
		if (bu_sprt_decided(&c->suspects[i].sprt, rule) == 0)
			return 1;
	}
	return 0;
}

/* Sprayed flows cannot name a link, its switches can: after each of some rounds at full
 * load their counters are read, and the same sequential test decides. */
int
bu_campaign_switches(struct campaign *c, const struct bu_order *order,
		     struct bu_err *err)
{
	const struct bu_sprt_rule rule = {0.02, 0.5, 1e-6, 1e-3};
	size_t links = 2 * (size_t)c->t->leaves * (size_t)c->t->spines;
	bu_autofree struct bu_link_count *counts =
		bu_xcalloc(links + 1, sizeof(*counts));
	size_t first = c->count;

	if (!c->site->switches || !c->t->has_switch || links == 0)
		return 0;
	for (int i = 0; i <= SWITCH_READINGS_MAX; i++) {
		int rc = c->site->switches(c->site->arg, counts, err);

		if (rc != 0)
			return rc;
		if (i > 0)
			add_switch_counts(c, counts, first, &rule);
		first = c->count;
		if (i >= SWITCH_READINGS && !is_a_link_open(c, &rule))
			break;
		if (i < SWITCH_READINGS_MAX)
			rc = bu_campaign_cross_round(c, STAGE_D, order, i, err);
		if (rc != 0)
			return rc;
	}
	for (size_t i = 0; i < c->suspect_count; i++) {
		struct suspect *suspect = &c->suspects[i];

		suspect->state = bu_sprt_decided(&suspect->sprt, &rule);
		suspect->by_switch = suspect->state > 0;
		if (suspect->state == 0) /* flows begin anew, by their own rule */
			suspect->sprt = (struct bu_sprt){0};
	}
	return 0;
}
