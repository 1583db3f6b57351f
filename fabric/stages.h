/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rounds of a whole fabric. Pure: the pairs of a round follow from (round, order,
 * seed). A node that knows the order finds its own partner, and the appliance publishes
 * nothing else.
 *
 * A port is one rail of one node: node * rails + rail. In a round each port sends at
 * most once and receives at most once; both directions of a pair run together.
 *
 * - Stages A, D: pairs inside each (leaf, rail) by the circle; no flow crosses a spine.
 * - Stage B: each leaf meets another one. Each pair of ports has a spine of its own, so
 *   no two flows share a link. Where rails reach each other, leaves without a common
 *   rail meet, too (across).
 * - Stage C: suspects against proven partners, by findings (fabric/judge/localise.h).
 */
#ifndef BU_FABRIC_STAGES_H
#define BU_FABRIC_STAGES_H

#include <stdint.h>

#include "fabric/schedule.h"

/* The ports that take part, by leaf, then rail, then number. */
struct bu_order {
	int leaves, rails, spines;
	int sprayed; /* no link can be chosen: one meeting of two leaves is enough */
	int port_count;
	int *start; /* by group leaf * rails + rail; one more at the end */
	int *ports;
	/* Set by bu_order_seed(): each group's circle, from start[group] + group on. */
	int *circle;
	int *place; /* by port: place in the circle of its group; -1 = takes no part */
	int *group; /* of each port */
	int top;    /* last port of place[] and group[] */
	uint64_t seed;
};

/* The caller sets leaves, rails, spines and sprayed. leaf_of: by port. usable: by port;
 * NULL = all take part. */
void bu_order_init(struct bu_order *order, const int *leaf_of, int ports,
		   const unsigned char *usable);
/* Prepares the circles of this seed; rounds of it are then faster. */
void bu_order_seed(struct bu_order *order, uint64_t seed);
void bu_order_fini(struct bu_order *order);

/* Number of independent partners that keeps the expected wrongly accused halves of
 * `ports` under budget, where a share `spoiled` of the pairs is bad by another part's
 * fault: ceil(ln(budget / (2 ports)) / ln spoiled). */
int bu_stage_partners(int ports, double spoiled, double budget);

/* Rounds until each port of every group met d partners, or all of its group. */
int bu_stage_leaf_rounds(const struct bu_order *order, int d);
/* The round in which two places of a group of n (leaf * rails + rail) meet; -1 =
 * none. */
int bu_stage_group_round_of(int n, uint64_t seed, int group, int a, int b);
/* Pairs of ports; ret holds port_count / 2. Rounds beyond bu_stage_leaf_rounds() go on
 * with the circle, then repeat it. Returns how many. */
int bu_stage_leaf_round(const struct bu_order *order, uint64_t seed, int round,
			struct bu_pair *ret);

/* The partners of one port inside its leaf, round by round, as bu_stage_leaf_round()
 * pairs them. The order needs its seed. */
struct bu_partners {
	const int *ports, *circle;
	int turning, place; /* turning: places that turn */
	int at, step;       /* at: place of the next partner; step: per round */
};
void bu_partners_begin(const struct bu_order *order, int port, struct bu_partners *ret);
/* The partner of the next round; -1 = the port pauses. */
int bu_partners_next(struct bu_partners *partners);
/* The first round in which a and b meet; -1 = never. ret_every: rounds between
 * meetings. */
int bu_stage_leaf_round_of(const struct bu_order *order, int a, int b, int *ret_every);

struct bu_cross {
	int a, b;  /* ports of two leaves, of one rail or of two */
	int spine; /* 0 also where there is no spine */
};
/* Rounds in which each leaf meets d others, or all, over each of its spines. */
int bu_stage_cross_rounds(const struct bu_order *order, int d);
/* ret holds port_count / 2. Returns how many. */
int bu_stage_cross_round(const struct bu_order *order, uint64_t seed, int round,
			 struct bu_cross *ret);
/* The same across rails, for leaves without a common rail: each meets d such leaves, or
 * all, and repeats them until it had BU_STAGE_ACROSS_LEAST meetings. 0 = there are
 * none. No pair is of one node. */
enum { BU_STAGE_ACROSS_LEAST = 4 };
int bu_stage_across_rounds(const struct bu_order *order, int d);
int bu_stage_across_round(const struct bu_order *order, uint64_t seed, int round,
			  struct bu_cross *ret);

#endif
