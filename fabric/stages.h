/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rounds of a whole fabric. Pure: what runs in a round follows from (round, order,
 * seed), so a node that knows the order finds its own partner, and the appliance
 * publishes nothing else.
 *
 * A port is one rail of one node: node * rails + rail. In a round no port sends twice
 * or receives twice; both directions of a pair run together.
 *
 * Stages A and D, the leaf: the circle inside each (leaf, rail), so no path through a
 * spine is in play. Stage B, leaf to leaf: each leaf meets another one, and each pair
 * of ports takes a spine of its own, so no two flows share a link. Where rails reach
 * each other, leaves without a common rail meet, too (across). Stage C (whatever is
 * accused against proven partners) depends on findings: fabric/judge/localise.c.
 */
#ifndef BU_FABRIC_STAGES_H
#define BU_FABRIC_STAGES_H

#include <stdint.h>

#include "fabric/schedule.h"

/* The ports that take part, by leaf, then rail, then number. */
struct bu_order {
	int leaves, rails, spines;
	int sprayed; /* no link can be chosen, so leaves part at once */
	int port_count;
	int *start; /* of group leaf * rails + rail; one more at the end */
	int *ports;
	/* Of bu_order_seed(): the circle of each group, from start[group] + group on.
	 */
	int *circle;
	int *place; /* of each port in the circle of its group; -1 = it takes no part */
	int *group; /* of each port */
	int top;    /* the last port of these two */
	uint64_t seed;
};

/* leaves, rails, spines and sprayed are set by the caller. leaf_of: the leaf of each
 * port; usable: NULL = all take part. */
void bu_order_init(struct bu_order *order, const int *leaf_of, int ports,
		   const unsigned char *usable);
/* For many rounds of this seed. */
void bu_order_seed(struct bu_order *order, uint64_t seed);
void bu_order_fini(struct bu_order *order);

/* Independent partners that keep the expected number of wrongly blamed halves of
 * `ports` under budget, when a share `spoiled` of the pairs is bad for another's fault:
 * ceil(ln(budget / (2 ports)) / ln spoiled). */
int bu_stage_partners(int ports, double spoiled, double budget);

/* The most that any group needs. */
int bu_stage_leaf_rounds(const struct bu_order *order, int d);
/* In which round of the circle inside one group of n, (leaf * rails + rail), two
 * places meet; -1 = in none. */
int bu_stage_group_round_of(int n, uint64_t seed, int group, int a, int b);
/* Pairs of ports; ret holds port_count / 2. A round beyond the last goes on with the
 * circle, then begins again. Returns how many. */
int bu_stage_leaf_round(const struct bu_order *order, uint64_t seed, int round,
			struct bu_pair *ret);

/* The partners of one port inside its leaf, round by round, of an order that has its
 * seed: what bu_stage_leaf_round() says of this port. */
struct bu_partners {
	const int *ports, *circle;
	int turning, place; /* places that turn */
	int at, step; /* of its next partner; of two rounds, from one to the next */
};
void bu_partners_begin(const struct bu_order *order, int port, struct bu_partners *ret);
/* Of the next round; -1 = it pauses. */
int bu_partners_next(struct bu_partners *partners);
/* In which round these two meet first, and how many later again; -1 = they do not. */
int bu_stage_leaf_round_of(const struct bu_order *order, int a, int b, int *ret_every);

struct bu_cross {
	int a, b;  /* ports of two leaves; of one rail, or across of two */
	int spine; /* 0 when there is none */
};
/* Rounds in which each leaf meets d others, or all, over each of its spines. */
int bu_stage_cross_rounds(const struct bu_order *order, int d);
/* ret holds port_count / 2. Returns how many. */
int bu_stage_cross_round(const struct bu_order *order, uint64_t seed, int round,
			 struct bu_cross *ret);
/* The same across rails: each leaf meets d of the leaves that it has no rail in common
 * with, or all, and these again until it had BU_STAGE_ACROSS_LEAST meetings. 0 = there
 * are none. No pair is of one node. */
enum { BU_STAGE_ACROSS_LEAST = 4 };
int bu_stage_across_rounds(const struct bu_order *order, int d);
int bu_stage_across_round(const struct bu_order *order, uint64_t seed, int round,
			  struct bu_cross *ret);

#endif
