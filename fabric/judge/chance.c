/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weighs the flows of a suspect from before stage C. Called by retest.c and accuse.c.
 * Invariants: the earlier stages alone accuse no part. A bad flow through an accused
 * part says nothing about its other parts.
 */
#include "fabric/judge/retest.h"

/* CHANCE_TESTS: least good tests in stage C. CHANCE_BAD: most bad rounds before stage
 * C. BAD_COUNTED: most bad rounds before stage C that are counted. */
enum { CHANCE_TESTS = 4, CHANCE_BAD = 3, BAD_COUNTED = 16 };

/* Share of faulty suspects that bu_retest_was_chance() may acquit, halved for each bad
 * round before stage C. */
static const double chance_beta = 3e-2;

static size_t
count_standing(const struct campaign *c)
{
	size_t count = 0;

	for (size_t i = 0; i < c->suspect_count; i++)
		count += c->suspects[i].state > 0;
	return count;
}

/* Is one link of a bundle accused? A bundle: all links of a leaf, as sprayed flows take
 * them. 0 where `part` is no bundle. */
static int
has_bad_link(const struct campaign *c, int part)
{
	int links = 2 * bu_topology_ports(c->t), spines = c->t->spines;
	int all = part - links - 2 * c->t->leaves * spines;

	for (int spine = 0; all >= 0 && spine < spines; spine++) {
		int link = links + 2 * (all / 2 * spines + spine) + all % 2;

		for (int s = 0; s < BU_SYMPTOMS_COUNT; s++) {
			int place = c->suspect_of[link * BU_SYMPTOMS_COUNT + s];

			if (place >= 0 && c->suspects[place].state > 0)
				return 1;
		}
	}
	return 0;
}

/* Is another part of the flow accused of the same symptom? */
static int
is_explained(const struct campaign *c, const int *list, int n, int own, int symptom)
{
	for (int k = 0; k < n; k++) {
		if (k != own && bu_campaign_spoils(c, list[k], symptom))
			return 1;
		if (k > 1 && c->t->sprayed && has_bad_link(c, list[k]))
			return 1;
	}
	return 0;
}

/* Counts each suspect's bad flows before stage C that no accused part explains. Counts
 * again when more suspects stand. */
void
bu_retest_count_unexplained(struct retest *r)
{
	struct campaign *c = r->c;
	size_t standing = count_standing(c);

	if (r->unexplained && standing == r->standing)
		return;
	free(r->unexplained);
	r->unexplained = bu_xcalloc(c->suspect_count, sizeof(*r->unexplained));
	r->standing = standing;
	for (size_t i = 0; i < c->retest_first; i++) {
		const struct bu_flow *flow = &c->flows[i];
		unsigned int bits = bu_flow_symptoms(&c->limits, c->leaf_of, flow);
		int list[BU_FLOW_PARTS_MAX], n;

		if (!bits || flow->doubt)
			continue;
		n = bu_flow_parts(c->t, c->leaf_of, flow, list);
		for (int k = 0; k < n * BU_SYMPTOMS_COUNT; k++) {
			int own = k / BU_SYMPTOMS_COUNT, s = k % BU_SYMPTOMS_COUNT;
			int place = c->suspect_of[list[own] * BU_SYMPTOMS_COUNT + s];

			if (place >= 0 && bits >> s & 1)
				r->unexplained[place] +=
					!is_explained(c, list, n, own, s);
		}
	}
}

int
bu_campaign_has_unexplained(const struct campaign *c, size_t place, size_t first)
{
	const struct suspect *suspect = &c->suspects[place];

	for (size_t i = first; i < c->count; i++) {
		const struct bu_flow *flow = &c->flows[i];
		unsigned int bits = bu_flow_symptoms(&c->limits, c->leaf_of, flow);
		int list[BU_FLOW_PARTS_MAX], n;

		if (flow->doubt || !(bits >> suspect->symptom & 1))
			continue;
		n = bu_flow_parts(c->t, c->leaf_of, flow, list);
		for (int k = 0; k < n; k++) {
			if (list[k] == suspect->part &&
			    !is_explained(c, list, n, k, suspect->symptom))
				return 1;
		}
	}
	return 0;
}

/* Bad rounds before stage C, at most as many as bad flows that are not explained. */
static int
count_bad_before(const struct retest *r, size_t place)
{
	const struct suspect *suspect = &r->c->suspects[place];
	int rounds = (int)r->c->parts[suspect->part].bad_rounds[suspect->symptom];

	rounds = rounds < r->unexplained[place] ? rounds : r->unexplained[place];
	return rounds < BAD_COUNTED ? rounds : BAD_COUNTED;
}

/* True where the bad rounds before stage C are few and may be chance: all retests are
 * good, and they are enough. Each further bad round halves the accepted risk. */
int
bu_retest_was_chance(const struct retest *r, size_t place)
{
	const struct suspect *suspect = &r->c->suspects[place];
	const struct bu_part *before = &r->c->parts[suspect->part];
	int bad = count_bad_before(r, place);
	struct bu_chance chance = {
		.seen = (int)before->rounds -
			((int)before->bad_rounds[suspect->symptom] - bad),
		.bad = bad,
		.weight = (double)before->weight[suspect->symptom],
		.faulty = suspect->rule.faulty,
		.beta = chance_beta / (1 << bad),
	};

	return bad <= CHANCE_BAD && !suspect->sprt.bad &&
	       suspect->sprt.tests >= CHANCE_TESTS &&
	       chance.seen + suspect->sprt.tests >= bu_stats_chance(&chance) &&
	       !bu_campaign_has_unexplained(r->c, place, r->c->retest_first);
}

/* The retests may not decide a rare intermittent fault in the rounds of stage C. Then
 * the flows of all stages decide together, where the retests were bad, too. */
int
bu_retest_is_bad_by_all(const struct retest *r, size_t place, double *ret_llr)
{
	const struct suspect *suspect = &r->c->suspects[place];
	const struct bu_part *before = &r->c->parts[suspect->part];
	int bad = count_bad_before(r, place);
	int good = (int)(before->rounds - before->bad_rounds[suspect->symptom]);
	int is_link = suspect->part >= 2 * bu_topology_ports(r->c->t);
	struct bu_sprt all = suspect->sprt;

	for (int i = 0; i < good; i++)
		bu_sprt_add(&all, &suspect->rule, 0);
	for (int i = 0; i < bad; i++)
		bu_sprt_add_bad(&all, &suspect->rule,
				(double)before->weight[suspect->symptom]);
	*ret_llr = all.llr;
	return bad > 0 && suspect->sprt.bad >= BU_WITNESSES &&
	       (is_link || suspect->witnesses == BU_WITNESSES) &&
	       bu_sprt_decided(&all, &suspect->rule) > 0;
}
