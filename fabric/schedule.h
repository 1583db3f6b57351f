/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs that are probed at the same time: rounds of disjoint pairs among n nodes by
 * the circle method. n - 1 rounds (n where n is odd) hold each pair exactly once. The
 * seed orders the nodes: a certificate can repeat the rounds from it.
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
/* The round of the pair a, b; -1 = none. */
int bu_schedule_round_of(int n, uint64_t seed, int a, int b);

/* The same for many calls: the seeded order of n nodes, n + 1 places in ret, and the
 * pairs of one of its rounds. */
void bu_schedule_order(int n, uint64_t seed, int *ret);
int bu_schedule_pairs(const int *order, int n, int round, struct bu_pair *ret);
/* The round in which two places of an order of n meet. */
int bu_schedule_meet(int n, int x, int y);
/* The next number of the sequence that starts from *state (splitmix64). */
uint64_t bu_schedule_random(uint64_t *state);

#endif
