/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a declared tree against round trips; called where a campaign measured latency.
 * Invariants: nothing is accused unless both classes have pairs enough and their
 * medians lie further apart than what scatters in each; a node needs two pairs at its
 * leaf and more than half of them against it.
 */
#include "fabric/judge/rtt.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "model/result.h"

enum { PAIRS_LEAST = 3, NODE_PAIRS_LEAST = 2, SCATTER = 3 };

struct votes {
	int all, against;
};

static int
is_near(const struct bu_rtt *pair, const int *leaf_of)
{
	return leaf_of[pair->a] == leaf_of[pair->b];
}

static int
is_known(const struct bu_rtt *pair, const int *leaf_of, int nodes)
{
	return pair->a >= 0 && pair->a < nodes && pair->b >= 0 && pair->b < nodes &&
	       pair->a != pair->b && leaf_of[pair->a] >= 0 && leaf_of[pair->b] >= 0 &&
	       isfinite(pair->min_us) && pair->min_us > 0;
}

struct sample {
	const struct bu_rtt *pairs;
	size_t count;
	const int *leaf_of;
	int nodes;
};

/* Median of a class, and the median distance from it. */
static size_t
class_of(const struct sample *s, int near, double *values, double *ret_median,
	 double *ret_scatter)
{
	size_t used = 0;

	for (size_t i = 0; i < s->count; i++)
		if (is_known(&s->pairs[i], s->leaf_of, s->nodes) &&
		    is_near(&s->pairs[i], s->leaf_of) == near)
			values[used++] = s->pairs[i].min_us;
	*ret_median = bu_quantile(values, used, 0.5);
	for (size_t i = 0; i < used; i++)
		values[i] = fabs(values[i] - *ret_median);
	*ret_scatter = bu_quantile(values, used, 0.5);
	return used;
}

/* A wrong node spoils the pairs of its partners, too: the worst one goes first, and its
 * pairs no longer count. */
static int
accuse_worst(const struct sample *s, double border_us, struct votes *votes, char *wrong)
{
	int worst = -1;

	memset(votes, 0, (size_t)s->nodes * sizeof(*votes));
	for (size_t i = 0; i < s->count; i++) {
		const struct bu_rtt *pair = &s->pairs[i];
		int against = pair->min_us >= border_us;

		/* Far pairs mostly stay far wherever a node is. */
		if (!is_known(pair, s->leaf_of, s->nodes) ||
		    !is_near(pair, s->leaf_of) || wrong[pair->a] || wrong[pair->b])
			continue;
		votes[pair->a].all++;
		votes[pair->b].all++;
		votes[pair->a].against += against;
		votes[pair->b].against += against;
	}
	for (int node = 0; node < s->nodes; node++) {
		const struct votes *v = &votes[node];

		if (v->all < NODE_PAIRS_LEAST || v->against * 2 <= v->all)
			continue;
		if (worst < 0 ||
		    v->against * votes[worst].all > votes[worst].against * v->all)
			worst = node;
	}
	if (worst >= 0)
		wrong[worst] = 1;
	return worst >= 0;
}

struct bu_rtt_result
bu_rtt_judge(const struct bu_rtt *pairs, size_t count, const int *leaf_of, int nodes,
	     char *ret_wrong)
{
	const struct sample s = {pairs, count, leaf_of, nodes};
	struct bu_rtt_result result = {.verdict = BU_RTT_UNKNOWN};
	bu_autofree double *values = bu_xcalloc(count, sizeof(*values));
	bu_autofree struct votes *votes = bu_xcalloc((size_t)nodes, sizeof(*votes));
	double near_scatter, far_scatter;

	memset(ret_wrong, 0, (size_t)nodes);
	result.near_count = class_of(&s, 1, values, &result.near_us, &near_scatter);
	result.far_count = class_of(&s, 0, values, &result.far_us, &far_scatter);
	if (result.near_count < PAIRS_LEAST || result.far_count < PAIRS_LEAST ||
	    result.far_us - result.near_us <= SCATTER * (near_scatter + far_scatter))
		return result;
	result.verdict = BU_RTT_AGREES;
	while (accuse_worst(&s, (result.near_us + result.far_us) / 2, votes, ret_wrong))
		result.verdict = BU_RTT_DISAGREES;
	return result;
}
