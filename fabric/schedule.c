/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probe schedule. Called by the gate and stages.c. Pure. Invariant: no node is in
 * two pairs of a round, and over all rounds each pair comes exactly once.
 */
#include "fabric/schedule.h"

#include "base/err.h"

int
bu_schedule_rounds(int n)
{
	return n < 2 ? 0 : n - 1 + n % 2;
}

uint64_t
bu_schedule_random(uint64_t *state)
{
	uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

/* ret[n]: the place that stays empty (-1) where n is odd. */
void
bu_schedule_order(int n, uint64_t seed, int *ret)
{
	for (int i = 0; i < n; i++) {
		int j = (int)(bu_schedule_random(&seed) % (uint64_t)(i + 1));

		ret[i] = ret[j];
		ret[j] = i;
	}
	ret[n] = -1;
}

/* The circle: the last place is fixed, the others turn by one each round. */
int
bu_schedule_pairs(const int *order, int n, int round, struct bu_pair *ret)
{
	int places = n + n % 2, turning = places - 1, count = 0;
	int x = turning, y = round;

	for (int i = 0; i < places / 2; i++) {
		if (order[x] >= 0 && order[y] >= 0)
			ret[count++] = (struct bu_pair){order[x], order[y]};
		x = i ? x + 1 : round + 1;
		x = x < turning ? x : x - turning;
		y = y ? y - 1 : turning - 1;
	}
	return count;
}

int
bu_schedule_round(int n, uint64_t seed, int round, struct bu_pair *ret)
{
	bu_autofree int *order = bu_xcalloc((size_t)n + 1, sizeof(*order));

	bu_assert(round >= 0 && round < bu_schedule_rounds(n));
	bu_schedule_order(n, seed, order);
	return bu_schedule_pairs(order, n, round, ret);
}

/* Two places meet in the round that is half their sum, modulo the turning places. The
 * last place meets each other one in the round of its number. */
int
bu_schedule_meet(int n, int x, int y)
{
	int turning = n + n % 2 - 1;

	if (x == turning || y == turning)
		return x == turning ? y : x;
	return (x + y) % 2 ? (x + y + turning) / 2 % turning : (x + y) / 2;
}

int
bu_schedule_round_of(int n, uint64_t seed, int a, int b)
{
	int x = -1, y = -1;
	bu_autofree int *order = NULL;

	if (n < 2 || a == b)
		return -1;
	order = bu_xcalloc((size_t)n + 1, sizeof(*order));
	bu_schedule_order(n, seed, order);
	for (int i = 0; i < n; i++) {
		x = order[i] == a ? i : x;
		y = order[i] == b ? i : y;
	}
	return x < 0 || y < 0 ? -1 : bu_schedule_meet(n, x, y);
}
