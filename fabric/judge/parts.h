/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder for whole fabrics: from flows to parts of the fabric. Pure.
 *
 * Millions of flows are folded into arrays; the parts are halves of ports and
 * directions of links.
 *
 * Part: 2 * port + half of a port (0 sends, 1 receives); then 2 * (leaf * spines +
 * spine) + dir of a link; then 2 * leaf + dir of all links of a leaf together, which is
 * all that a sprayed flow can tell.
 * rate(i->j) is the least of its parts, so a part is at least as good as the best flow
 * through it: it is suspected when none of its flows was good, and watched when a flow
 * between good parts was bad.
 */
#ifndef BU_FABRIC_JUDGE_PARTS_H
#define BU_FABRIC_JUDGE_PARTS_H

#include "fabric/judge/accusation.h"
#include "fabric/judge/flow.h"

/* From which figure on a flow is bad, by tier: 0 inside a leaf, 1 between leaves. */
struct bu_limits {
	double reject;       /* set before it learns: share of the limit; 0 = 0.95 */
	double lat_limit_us; /* likewise; 0 = the cohort alone decides */
	double median_gbps[2], min_gbps[2];
	double median_us[2], max_us[2], max99_us[2];
	double max_lost;
	int mtu; /* the common one */
};

/* What is wrong with the instrument: BU_DOUBT_... or 0. Durations by the clocks of both
 * ends, 0 = not told; so is bytes. */
int bu_flow_doubt(double limit_gbps, double rate_gbps, double seconds,
		  double seconds_dst, double bytes);

enum { BU_FLOW_PARTS_MAX = 4 };
int bu_parts_count(const struct bu_topology *topology);
/* leaf_of: where the ports really hang. Returns how many; 0 when its path is unknown.
 */
int bu_flow_parts(const struct bu_topology *topology, const int *leaf_of,
		  const struct bu_flow *flow, int ret[BU_FLOW_PARTS_MAX]);

/* Flows of one fabric, as the decoder looks at them. */
struct bu_flows {
	const struct bu_topology *topology;
	const int *leaf_of; /* where the ports really hang */
	const struct bu_flow *list;
	size_t count;
};

/* Absolute (a share of the limit) and cohort rule (more than 3 % and z of 3.5 below the
 * median of the ports' best) together, latencies and losses by the cohort. Fewer than
 * eight ports are no cohort: there the absolute ones decide alone. */
void bu_limits_learn(struct bu_limits *ret, const struct bu_flows *flows);
/* Bits 1 << symptom; 0 = good. */
unsigned int bu_flow_symptoms(const struct bu_limits *limits, const int *leaf_of,
			      const struct bu_flow *flow);

/* What a bad flow counts for, of this symptom: 0.5 just beyond the limit, where chance
 * may lead, 1 far from it. */
double bu_flow_weight(const struct bu_limits *limits, const int *leaf_of,
		      const struct bu_flow *flow, enum bu_symptom symptom);

/* What all flows say about one part. Those of one round are of the same seconds, and of
 * one event: a round is bad when all of them were. */
struct bu_part {
	uint32_t flows, rounds;
	uint32_t bad[BU_SYMPTOMS_COUNT], bad_rounds[BU_SYMPTOMS_COUNT];
	float best_gbps;
	float weight[BU_SYMPTOMS_COUNT]; /* of the bad one that counts for most */
	unsigned int last;               /* 1 + the round of the last one */
	unsigned int last_bits;          /* what was bad in all of that round */
};
/* ret: bu_parts_count(), zeroed. */
void bu_parts_decode(const struct bu_flows *flows, const struct bu_limits *limits,
		     struct bu_part *ret);
/* ret: bu_parts_count(), each symptom's bit set where a part is to be tested again;
 * lasting where no flow was good. trusted: parts that are beyond doubt; NULL = none. */
void bu_parts_suspect(const struct bu_flows *flows, const struct bu_limits *limits,
		      const struct bu_part *parts, const unsigned char *trusted,
		      unsigned char *ret);

#endif
