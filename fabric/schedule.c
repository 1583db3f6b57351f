/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe schedule, asked by the gate. Pure. Invariant: no node is in two pairs of a
 * round, and over all rounds each pair comes exactly once.
 */
#include "fabric/schedule.h"

#include "base/err.h"

int
bu_schedule_rounds(int n)
{
	return n < 2 ? 0 : n - 1 + n % 2;
}

static uint64_t
next_random(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* The nodes in seeded order; of an odd number the last place stays empty (-1). */
static int *
seeded_order(int n, uint64_t seed)
{
	int *order = bu_xcalloc((size_t)n + 1, sizeof(*order));

	for (int i = 0; i < n; i++) {
		int j = (int)(next_random(&seed) % (uint64_t)(i + 1));

		order[i] = order[j];
		order[j] = i;
	}
	order[n] = -1;
	return order;
}

/* The circle: the last place stands still, the others turn by one each round. */
static int
round_pairs(const int *order, int n, int round, struct bu_pair *ret)
{
	int places = n + n % 2, turning = places - 1, count = 0;

	for (int i = 0; i < places / 2; i++) {
		int x = i == 0 ? turning : (round + i) % turning;
		int y = i == 0 ? round : (round - i + turning) % turning;

		if (order[x] < 0 || order[y] < 0)
			continue;
		ret[count++] = (struct bu_pair){order[x], order[y]};
	}
	return count;
}

int
bu_schedule_round(int n, uint64_t seed, int round, struct bu_pair *ret)
{
	bu_autofree int *order = NULL;

	bu_assert(round >= 0 && round < bu_schedule_rounds(n));
	order = seeded_order(n, seed);
	return round_pairs(order, n, round, ret);
}
