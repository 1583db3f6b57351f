/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of the decoder. Pure. */
#ifndef BU_FABRIC_JUDGE_STATS_H
#define BU_FABRIC_JUDGE_STATS_H

#include <stddef.h>

/* All order values anew. 0 when there are none. */
double bu_stats_median(float *values, size_t count);
/* quarter: 1 to 3. */
double bu_stats_quarter(float *values, size_t count, int quarter);
/* Median of the distances from centre, times 1.4826: sigma of a normal distribution. */
double bu_stats_sigma(float *values, size_t count, double centre);

/*
 * A sequential test of one component: of its tests a share is_healthy is bad when it is
 * healthy, at least is_faulty when not. It goes on until one of the two is certain.
 */
struct bu_sprt {
	double llr; /* log of the likelihoods' ratio, faulty to healthy */
	int tests, bad;
};
/* alpha: healthy ones accused; beta: faulty ones acquitted. */
struct bu_sprt_rule {
	double healthy, faulty, alpha, beta;
};
void bu_sprt_add(struct bu_sprt *sprt, const struct bu_sprt_rule *rule, int bad);
/* A bad test that counts for so much of one: 0 to 1. */
void bu_sprt_add_bad(struct bu_sprt *sprt, const struct bu_sprt_rule *rule,
		     double weight);
/* 1 = faulty, -1 = healthy, 0 = test on. */
int bu_sprt_decided(const struct bu_sprt *sprt, const struct bu_sprt_rule *rule);

/* Of `seen` tests so many were bad, which count for `weight` of one each: after how
 * many in all, the later ones good, it was by chance. Of components of which a share
 * `faulty` of the tests is bad, and one of these was, no more than beta get so far. */
struct bu_chance {
	int seen, bad;
	double weight, faulty, beta;
};
int bu_stats_chance(const struct bu_chance *chance);

#endif
