/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of the decoder. Pure. */
#ifndef BU_FABRIC_JUDGE_STATS_H
#define BU_FABRIC_JUDGE_STATS_H

#include <stddef.h>

/* The functions of `values` reorder them; 0 for none. */
double bu_stats_median(float *values, size_t count);
/* The quartile 1, 2 or 3. */
double bu_stats_quarter(float *values, size_t count, int quarter);
/* Median distance from centre, times 1.4826: sigma of a normal distribution. */
double bu_stats_sigma(float *values, size_t count, double centre);

/*
 * A sequential probability ratio test (SPRT) of one component, which goes on until one
 * of the two is certain: the component is healthy, or it is faulty.
 */
struct bu_sprt {
	double llr; /* log of the likelihood ratio, faulty to healthy */
	int tests, bad;
};
/* Shares: bad tests of healthy, of faulty ones; healthy accused, faulty acquitted. */
struct bu_sprt_rule {
	double healthy, faulty, alpha, beta;
};
void bu_sprt_add(struct bu_sprt *sprt, const struct bu_sprt_rule *rule, int bad);
/* Adds a bad test of this weight, 0 to 1. */
void bu_sprt_add_bad(struct bu_sprt *sprt, const struct bu_sprt_rule *rule,
		     double weight);
/* 1 = faulty, -1 = healthy, 0 = test on. */
int bu_sprt_decided(const struct bu_sprt *sprt, const struct bu_sprt_rule *rule);

/* `bad` of the first `seen` tests of a component were bad, each with this weight. After
 * how many tests in all, the later ones good, were they bad by chance? Of components
 * with a share `faulty` of bad tests, at most a share beta gets so far. */
struct bu_chance {
	int seen, bad;
	double weight, faulty, beta;
};
int bu_stats_chance(const struct bu_chance *chance);

#endif
