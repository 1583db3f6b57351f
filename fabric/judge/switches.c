/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides links by the counters of their switches, read after rounds at full load: the
 * only witness where flows are sprayed. Called by localise.c after the links were
 * measured. Invariant: the sequential test of flows decides on readings, too.
 */
#include <math.h>

#include "fabric/judge/campaign.h"

enum { READINGS_MAX = 36 };

/* Clears links; it also accuses those that are bad in a third of the readings. judge()
 * has a second rule, which accuses rarer faults. */
static const struct bu_sprt_rule readings_rule = {0.02, 0.35, 1e-5, 5e-3};

/* By link: may a flow since `first` have used it? Not a sprayed one without a
 * result. */
static unsigned char *
used_links(const struct campaign *c, size_t first)
{
	int spines = c->t->spines;
	unsigned char *used = bu_xcalloc(2 * (size_t)c->t->leaves * (size_t)spines, 1);

	for (size_t i = first; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];
		int up = c->leaf_of[flow->src] * spines;
		int down = c->leaf_of[flow->dst] * spines;

		if (up == down || (c->t->sprayed && flow->doubt & BU_DOUBT_NONE))
			continue;
		for (int spine = 0; spine < spines; spine++) {
			if (flow->path >= 0 && flow->path != spine)
				continue;
			used[2 * (up + spine) + BU_LINK_UP] = 1;
			used[2 * (down + spine) + BU_LINK_DOWN] = 1;
		}
	}
	return used;
}

/* The rate of a good link in each leaf's bundle, by direction: the third quartile,
 * below FEW links the best. Leaves differ in their number of ports; the links of one
 * leaf carry the same. */
static void
learn_bundles(const struct campaign *c, const struct bu_link_count *counts,
	      const unsigned char *used, float *ret)
{
	enum { FEW = 4 };
	int spines = c->t->spines;
	bu_autofree float *rates = bu_xcalloc((size_t)spines, sizeof(*rates));

	for (int bundle = 0; bundle < 2 * c->t->leaves; bundle++) {
		float best = 0;
		size_t n = 0;

		for (int spine = 0; spine < spines; spine++) {
			int link = 2 * (bundle / 2 * spines + spine) + bundle % 2;

			if (!used[link] || counts[link].rate < 0)
				continue;
			rates[n++] = counts[link].rate;
			best = counts[link].rate > best ? counts[link].rate : best;
		}
		ret[bundle] = n < FEW ? best : (float)bu_stats_quarter(rates, n, 3);
	}
}

/* The most errors of a good link, from the first quartile of all links. */
static double
most_bad(const struct bu_link_count *counts, const unsigned char *used, int links)
{
	bu_autofree float *bad = bu_xcalloc((size_t)links, sizeof(*bad));
	size_t n = 0;

	for (int i = 0; i < links; i++) {
		if (used[i] && counts[i].bad >= 0)
			bad[n++] = (float)counts[i].bad;
	}
	return 10 * bu_stats_quarter(bad, n, 1) + 10;
}

/* The least share of its bundle's good rate that a link must reach, from the spread of
 * all links. share: by link, -1 = not told. */
static double
learn_shares(const struct campaign *c, const struct bu_link_count *counts,
	     const unsigned char *used, float *share)
{
	int links = 2 * c->t->leaves * c->t->spines;
	bu_autofree float *bundles =
		bu_xcalloc(2 * (size_t)c->t->leaves, sizeof(*bundles));
	bu_autofree float *kept = bu_xcalloc((size_t)links, sizeof(*kept));
	size_t n = 0;
	double median;

	/* unsprayed, a bad link slows the good one on its path: flows decide */
	if (c->t->sprayed)
		learn_bundles(c, counts, used, bundles);
	for (int i = 0; i < links; i++) {
		float good = bundles[i / 2 / c->t->spines * 2 + i % 2];

		share[i] = -1;
		if (used[i] && good > 0 && counts[i].rate >= 0)
			share[i] = kept[n++] = counts[i].rate / good;
	}
	median = bu_stats_median(kept, n);
	return fmin(0.8 * median, median - 8 * bu_stats_sigma(kept, n, median));
}

/* A link is a suspect from its first bad reading on; the good ones before count, too.
 */
static void
add_reading(struct campaign *c, int part, int link, int bad)
{
	struct bu_sprt *sprt = &bu_campaign_suspect(c, part, 0)->sprt;

	for (; c->good_readings[link] > 0; c->good_readings[link]--)
		bu_sprt_add(sprt, &readings_rule, 0);
	bu_sprt_add(sprt, &readings_rule, bad);
}

static void
add_switch_counts(struct campaign *c, const struct bu_link_count *counts, size_t first)
{
	int links = 2 * c->t->leaves * c->t->spines, base = 2 * bu_topology_ports(c->t);
	bu_autofree unsigned char *used = used_links(c, first);
	bu_autofree float *share = bu_xcalloc((size_t)links, sizeof(*share));
	double least = learn_shares(c, counts, used, share);
	double most = most_bad(counts, used, links);

	for (int i = 0; i < links; i++) {
		int bad = counts[i].bad > most || (share[i] >= 0 && share[i] < least);

		if (!used[i] || (counts[i].bad < 0 && share[i] < 0))
			continue;
		c->link_readings++;
		if (bad || c->suspect_of[(base + i) * BU_SYMPTOMS_COUNT] >= 0)
			add_reading(c, base + i, i, bad);
		else
			c->good_readings[i]++;
	}
}

/* The share of a good link's readings that are bad by chance. Links that are bad in
 * more than an eighth are left out. */
static double
chance(const struct campaign *c)
{
	int bad = 0;

	for (size_t i = 0; i < c->suspect_count; i++) {
		const struct bu_sprt *sprt = &c->suspects[i].sprt;

		bad += 8 * sprt->bad <= c->readings ? sprt->bad : 0;
	}
	return c->link_readings ? (double)bad / (double)c->link_readings : 0;
}

/* Decides by all readings of a link: 1 = bad, -1 = good, 0 = open. */
static int
judge(const struct bu_sprt *sprt, double by_chance)
{
	const double healthy = fmin(0.1, fmax(0.005, 2 * by_chance));
	const struct bu_sprt_rule seldom = {healthy, fmax(0.2, 2 * healthy),
					    readings_rule.alpha, readings_rule.beta};
	struct bu_sprt all = {0};

	for (int i = 0; i < sprt->tests; i++)
		bu_sprt_add(&all, &seldom, i < sprt->bad);
	return bu_sprt_decided(&all, &seldom) > 0
		       ? 1
		       : bu_sprt_decided(sprt, &readings_rule);
}

static int
is_a_link_open(const struct campaign *c)
{
	double by_chance = chance(c);

	for (size_t i = 0; i < c->suspect_count; i++) {
		if (judge(&c->suspects[i].sprt, by_chance) == 0)
			return 1;
	}
	return 0;
}

int
bu_campaign_has_switches(const struct campaign *c)
{
	return c->site->switches && c->t->has_switch && c->t->leaves * c->t->spines > 0;
}

/* The first reading only sets the baseline of the counters. */
int
bu_campaign_switches(struct campaign *c, const struct bu_order *order, int readings,
		     struct bu_err *err)
{
	size_t links = 2 * (size_t)c->t->leaves * (size_t)c->t->spines;
	bu_autofree struct bu_link_count *counts = bu_xcalloc(links, sizeof(*counts));
	int rc = c->site->switches(c->site->arg, counts, err);

	c->fills = 1;
	for (int i = 0; i < readings && rc == 0; i++) {
		size_t first = c->count;

		rc = bu_campaign_cross_round(c, STAGE_D, order, c->readings++, err);
		if (rc == 0)
			rc = c->site->switches(c->site->arg, counts, err);
		if (rc == 0)
			add_switch_counts(c, counts, first);
	}
	return rc;
}

int
bu_campaign_decide_links(struct campaign *c, const struct bu_order *order,
			 struct bu_err *err)
{
	double by_chance;
	int rc = 0;

	while (rc == 0 && c->readings < READINGS_MAX && is_a_link_open(c))
		rc = bu_campaign_switches(c, order, 1, err);
	by_chance = chance(c);
	for (size_t i = 0; i < c->suspect_count && rc == 0; i++) {
		struct suspect *suspect = &c->suspects[i];

		suspect->state = judge(&suspect->sprt, by_chance);
		suspect->by_switch = suspect->state > 0;
		if (suspect->state == 0) /* flows decide, by their own rule */
			suspect->sprt = (struct bu_sprt){0};
	}
	return rc;
}
