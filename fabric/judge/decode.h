/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From pairs to nodes: who is proven, who is accused, who must wait. Pure.
 *
 * rate(i->j) is at most what i sends, the path carries and j receives. So a direction
 * that passes proves the sending half of i and the receiving half of j, whoever else is
 * slow; a direction that fails accuses a half only when the other end is proven in
 * full.
 */
#ifndef BU_FABRIC_JUDGE_DECODE_H
#define BU_FABRIC_JUDGE_DECODE_H

#include "fabric/judge/expect.h"
#include "model/result.h"

#define BU_FINDINGS(X)                                                                 \
	X(CERTIFIED,                                                                   \
	  "certified")        /* it was before; a candidate's probe never judges it */ \
	X(PROVEN, "proven")   /* both halves passed */                                 \
	X(ACCUSED, "accused") /* a half failed towards a proven peer */                \
	X(WAITING, "waiting") /* nobody can tell yet */                                \
	X(INCONCLUSIVE, "inconclusive") /* the instrument failed: probe again */

enum bu_finding_kind {
#define X(id, name) BU_FINDING_##id,
	BU_FINDINGS(X)
#undef X
};
const char *bu_finding_name(enum bu_finding_kind kind);

struct bu_decode_node {
	const char *name;
	int certified;
};

enum { BU_PEERS_MAX = 8, BU_FINDING_TEXT = 480 };

struct bu_finding {
	enum bu_finding_kind kind;
	int partner;    /* PROVEN: node whose probe proved it; certified ones first */
	int sends_slow; /* ACCUSED: which halves */
	int receives_slow;
	double figure_gbps; /* ACCUSED: the best that was seen of the worse half; 0 when
			       nothing arrived */
	double wanted_gbps;
	int peers[BU_PEERS_MAX]; /* ACCUSED: proven nodes that saw it */
	int peer_count;
	char text[BU_FINDING_TEXT]; /* one line for people */
};

/* One finding per node into ret. Results about nodes that are not in the list are
 * passed over; of several results of one pair each direction's best counts. */
void bu_decode(const struct bu_decode_node *nodes, int node_count,
	       const struct bu_pair_result *const *results, int result_count,
	       const struct bu_expect *expect, struct bu_finding *ret);

#endif
