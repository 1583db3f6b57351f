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

/* 1 when the pair is still to be probed, and can be now. */
typedef int (*bu_schedule_wanted_fn)(int a, int b, void *arg);
/* The pairs of the round that holds most wanted ones (the first of several), only
 * these; 0 when none is wanted any more. */
int bu_schedule_next(int n, uint64_t seed, bu_schedule_wanted_fn wanted, void *arg,
		     struct bu_pair *ret);

#endif
