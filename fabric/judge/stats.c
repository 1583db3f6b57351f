/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics for the decoder and the benches. Pure. Medians are found by selection: a
 * million values take milliseconds. */
#include "fabric/judge/stats.h"

#include <math.h>

static void
swap(float *a, float *b)
{
	float kept = *a;

	*a = *b;
	*b = kept;
}

/* The value of rank k: Hoare's selection around the middle of three. */
static float
select_rank(float *v, size_t count, size_t k)
{
	ptrdiff_t left = 0, right = (ptrdiff_t)count - 1, rank = (ptrdiff_t)k;

	while (left < right) {
		ptrdiff_t middle = left + (right - left) / 2, i = left, j = right;
		float pivot;

		if (v[middle] < v[left])
			swap(&v[middle], &v[left]);
		if (v[right] < v[left])
			swap(&v[right], &v[left]);
		if (v[right] < v[middle])
			swap(&v[right], &v[middle]);
		pivot = v[middle];
		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (pivot < v[j])
				j--;
			if (i <= j)
				swap(&v[i++], &v[j--]);
		}
		if (rank <= j)
			right = j;
		else if (rank >= i)
			left = i;
		else
			break;
	}
	return v[rank];
}

double
bu_stats_quarter(float *values, size_t count, int quarter)
{
	return count == 0 ? 0
			  : (double)select_rank(values, count,
						count * (size_t)quarter / 4);
}

double
bu_stats_median(float *values, size_t count)
{
	return bu_stats_quarter(values, count, 2);
}

double
bu_stats_sigma(float *values, size_t count, double centre)
{
	for (size_t i = 0; i < count; i++)
		values[i] = fabsf(values[i] - (float)centre);
	return 1.4826 * bu_stats_median(values, count);
}

void
bu_sprt_add(struct bu_sprt *sprt, const struct bu_sprt_rule *rule, int bad)
{
	if (bad) {
		bu_sprt_add_bad(sprt, rule, 1);
		return;
	}
	sprt->tests++;
	sprt->llr += log((1 - rule->faulty) / (1 - rule->healthy));
}

void
bu_sprt_add_bad(struct bu_sprt *sprt, const struct bu_sprt_rule *rule, double weight)
{
	sprt->tests++;
	sprt->bad++;
	sprt->llr += weight * log(rule->faulty / rule->healthy);
}

int
bu_sprt_decided(const struct bu_sprt *sprt, const struct bu_sprt_rule *rule)
{
	if (sprt->llr >= log((1 - rule->beta) / rule->alpha))
		return 1;
	return sprt->llr <= log(rule->beta / (1 - rule->alpha)) ? -1 : 0;
}

int
bu_stats_chance(const struct bu_chance *chance)
{
	double p = chance->faulty, seen = chance->seen;
	/* of suspects with a bad test: the chance of this result */
	double suspects = 1 - pow(1 - p, seen), ways = 1, tests;

	for (int i = 0; i < chance->bad && i < chance->seen; i++)
		ways *= (seen - i) / (i + 1) * p / (1 - p);
	ways = fmin(ways, pow(ways, chance->weight));
	tests = log(chance->beta * suspects / ways) / log(1 - p);
	return chance->seen < 1 ? 0 : tests > seen ? (int)ceil(tests) : chance->seen;
}
