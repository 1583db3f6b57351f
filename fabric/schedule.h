/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pairs are probed at the same time: rounds of disjoint pairs among n nodes by
 * the circle method, so that n - 1 rounds (n, when n is odd) hold each pair exactly
 * once. The seed orders the nodes: the same seed gives the same rounds, for
 * certificates.
 */
#ifndef BU_FABRIC_SCHEDULE_H
#define BU_FABRIC_SCHEDULE_H

#include <stdint.h>

struct bu_pair {
	int a, b; /* indices of nodes, 0 to n - 1 */
};

/* Rounds of a full schedule; 0 for n < 2. */
int bu_schedule_rounds(int n);
/* Pairs of round 0 to bu_schedule_rounds() - 1; ret holds n / 2. Returns how many. */
int bu_schedule_round(int n, uint64_t seed, int round, struct bu_pair *ret);
/* The round of the pair a, b; -1 = there is none. */
int bu_schedule_round_of(int n, uint64_t seed, int a, int b);

/* The same for callers that ask often: the seeded order of n nodes, n + 1 places in
 * ret, and the pairs of a round of it. */
void bu_schedule_order(int n, uint64_t seed, int *ret);
int bu_schedule_pairs(const int *order, int n, int round, struct bu_pair *ret);
/* The round in which two places of an order of n meet. */
int bu_schedule_meet(int n, int x, int y);
/* The next number of a sequence that its first state fixes (splitmix64). */
uint64_t bu_schedule_random(uint64_t *state);

#endif
