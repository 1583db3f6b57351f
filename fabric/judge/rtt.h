/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do round trips agree with what is said about the wiring? Two nodes at one leaf are
 * nearer than two at different leaves. Absolute times are not believed: only that the
 * classes come in order. Pure.
 */
#ifndef BU_FABRIC_JUDGE_RTT_H
#define BU_FABRIC_JUDGE_RTT_H

#include <stddef.h>

struct bu_rtt {
	int a, b;      /* numbers of nodes, from 0 */
	double min_us; /* the shortest of several round trips */
};

enum bu_rtt_verdict {
	BU_RTT_AGREES,
	BU_RTT_DISAGREES, /* nodes are named */
	BU_RTT_UNKNOWN,   /* too few pairs, or the classes lie too close together */
};

struct bu_rtt_result {
	enum bu_rtt_verdict verdict;
	double near_us, far_us; /* medians of the classes */
	size_t near_count, far_count;
};

/* leaf_of: leaf of each of `nodes` nodes as declared, any number; -1 = not known.
 * ret_wrong (nodes members) becomes 1 for each node that is far from most of those
 * that it should share a leaf with. */
struct bu_rtt_result bu_rtt_judge(const struct bu_rtt *pairs, size_t count,
				  const int *leaf_of, int nodes, char *ret_wrong);

#endif
