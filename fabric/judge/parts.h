/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder for whole fabrics: folds millions of flows into arrays of parts. Pure.
 *
 * Parts are numbered: 2 * port + half of a port (0 sends, 1 receives); then 2 * (leaf *
 * spines + spine) + dir of a link; then 2 * leaf + dir of all links of a leaf together,
 * for a sprayed flow takes all of them.
 * The rate of a flow is that of its slowest part, so a part is at least as good as the
 * best flow through it. A part without a good flow is suspected. A bad flow between
 * parts with good flows makes its ports watched (campaign.h).
 */
#ifndef BU_FABRIC_JUDGE_PARTS_H
#define BU_FABRIC_JUDGE_PARTS_H

#include "fabric/judge/accusation.h"
#include "fabric/judge/flow.h"

/* Limits beyond which a flow is bad, by tier: 0 inside a leaf, 1 between leaves. */
struct bu_limits {
	double reject;       /* input: least share of limit_gbps; 0 = 0.95 */
	double lat_limit_us; /* input; 0 = the cohort alone decides */
	double median_gbps[2], min_gbps[2];
	double median_us[2], max_us[2], max99_us[2];
	double max_lost;
	int mtu; /* the most frequent one, bytes */
};

/* BU_DOUBT_... bits of a flow's own figures, 0 = none. seconds, seconds_dst: the
 * duration by the clock of each end; 0 = not told, as for bytes. */
int bu_flow_doubt(double limit_gbps, double rate_gbps, double seconds,
		  double seconds_dst, double bytes);

enum { BU_FLOW_PARTS_MAX = 4 };
int bu_parts_count(const struct bu_topology *topology);
/* leaf_of: as cabled, not as planned. Returns how many; 0 = the path is unknown. */
int bu_flow_parts(const struct bu_topology *topology, const int *leaf_of,
		  const struct bu_flow *flow, int ret[BU_FLOW_PARTS_MAX]);

struct bu_flows {
	const struct bu_topology *topology;
	const int *leaf_of; /* by port: as cabled, not as planned */
	const struct bu_flow *list;
	size_t count;
};

/* A rate is bad by an absolute rule (under the share of limit_gbps) or by the cohort's
 * (more than 3 % and a z of 3.5 under the median of the ports' best). Latencies and
 * losses go by the cohort. Fewer than eight ports have a cohort rule for losses alone.
 */
void bu_limits_learn(struct bu_limits *ret, const struct bu_flows *flows);
/* The symptoms of a flow: bits 1 << symptom; 0 = good. */
unsigned int bu_flow_symptoms(const struct bu_limits *limits, const int *leaf_of,
			      const struct bu_flow *flow);

/* Weight of a flow that is bad in this symptom: 0.5 just beyond the limit, where noise
 * may lead, 1 far from it. */
double bu_flow_weight(const struct bu_limits *limits, const int *leaf_of,
		      const struct bu_flow *flow, enum bu_symptom symptom);

/* All flows through one part, counted. Flows of one round run in the same seconds and
 * share one event: a round is bad when all its flows were. */
struct bu_part {
	uint32_t flows, rounds;
	uint32_t bad[BU_SYMPTOMS_COUNT], bad_rounds[BU_SYMPTOMS_COUNT];
	float best_gbps;
	float weight[BU_SYMPTOMS_COUNT]; /* of the worst flow */
	unsigned int last;               /* 1 + the round of the last flow */
	unsigned int last_bits;          /* symptoms of all flows of that round */
};
/* ret: bu_parts_count() entries, zeroed. */
void bu_parts_decode(const struct bu_flows *flows, const struct bu_limits *limits,
		     struct bu_part *ret);
/* Sets 1 << symptom in ret[part] for the suspects of each bad flow: its parts without a
 * good flow or, where it has none, its parts with a bad round. ret: bu_parts_count()
 * entries, zeroed. trusted: by part, never suspected; NULL = none. */
void bu_parts_suspect(const struct bu_flows *flows, const struct bu_limits *limits,
		      const struct bu_part *parts, const unsigned char *trusted,
		      unsigned char *ret);

#endif
