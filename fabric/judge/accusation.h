/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accusations of a campaign: each names a bad part of a fabric by codes and figures.
 * Programs decide by these; the sentence is made from them, for people alone.
 */
#ifndef BU_FABRIC_JUDGE_ACCUSATION_H
#define BU_FABRIC_JUDGE_ACCUSATION_H

#include <jansson.h>

#include "model/topology.h"

/* id, name in JSON, words of the sentence, hint. The last symptom of an accusation, in
 * this order, gives its hint. */
#define BU_SYMPTOMS(X)                                                                 \
	X(RATE, "rate", "slow",                                                        \
	  "swap the cable first, then try another port of the switch, then the NIC")   \
	X(LATENCY, "latency", "late",                                                  \
	  "look at the NIC's slot, its NUMA node and power saving")                    \
	X(LOSS, "loss", "loses packets",                                               \
	  "clean or swap the cable and its transceivers, then try another port of "    \
	  "the switch, then swap the NIC")                                             \
	X(MTU, "mtu", "smaller MTU than the others",                                   \
	  "set the MTU of the port and of its switch port as planned")                 \
	X(CABLING, "cabling", "cabled to another leaf than planned",                   \
	  "re-plug the cable, or correct the plan")

enum bu_symptom {
#define X(id, name, words, hint) BU_SYMPTOM_##id,
	BU_SYMPTOMS(X)
#undef X
		BU_SYMPTOMS_COUNT
};

/* One symptom of an accused part, with its figures. */
struct bu_sign {
	enum bu_symptom symptom;
	int by_lldp;   /* CABLING: LLDP told it; leaf and planned are set */
	int by_switch; /* bad and tests count readings of switches, not flows */
	int bad, tests;
	int nothing;                   /* RATE: 0 bit/s arrived in every test */
	double best_gbps, median_gbps; /* RATE, all tests bad; 0 = not told */
	int leaf, planned;             /* by_lldp: places in leaf_ids */
};

enum bu_what {
	BU_WHAT_ENDPOINT,
	BU_WHAT_LEAF,
	BU_WHAT_SPINE,
	BU_WHAT_LINK,
	BU_WHAT_INCONCLUSIVE,
	BU_WHAT_ANY
};
enum { BU_DIR_OUT = 1, BU_DIR_IN = 2 }; /* tx, rx of a port; up, down of a link */

/* Why no test tells the parts of an ANY apart: the parts share all their flows, the
 * leaf has no good port to test from, or each flow takes all links of the leaf. */
enum bu_alike { BU_ALIKE_TWINS, BU_ALIKE_NO_GOOD_PORT, BU_ALIKE_SPRAYED };

struct bu_accusation {
	enum bu_what what;
	int port;    /* ENDPOINT */
	int witness; /* ENDPOINT: 1 + the only node that could test the port, and may
			have the fault itself; 0 = several nodes did */
	int node;    /* INCONCLUSIVE */
	int leaf;    /* LEAF, LINK */
	int spine;
	int dir;           /* ENDPOINT, LINK: BU_DIR_... */
	double confidence; /* 0 to 1 */
	struct bu_sign signs[BU_SYMPTOMS_COUNT];
	int sign_count;
	/* LEAF, SPINE: `accused` of its `tested` ports (by_links: of its links) are
	 * bad. tested 0: not counted, as in a member of an ANY. */
	int accused, tested, by_links;
	int doubt;                /* INCONCLUSIVE: BU_DOUBT_... */
	enum bu_alike alike;      /* ANY */
	struct bu_accusation *of; /* ANY: its members */
	int of_count;
};

int bu_accusation_has(const struct bu_accusation *accusation, enum bu_symptom symptom);
/* "slow: 3 of 3 tests again, at best 40.00 Gbit/s of 392.00 Gbit/s"; owned. */
char *bu_accusation_text(const struct bu_topology *t,
			 const struct bu_accusation *accusation);
/* The hint of BU_SYMPTOMS; a general one where there is no symptom. */
const char *bu_accusation_hint(const struct bu_accusation *accusation);
/* {"what", the part, "symptoms":[{"symptom","by"?,"bad"?,"tests"?,"best_gbps"?,
 * "median_gbps"?,"nothing"?,"leaf"?,"planned"?}], "cause": the text, "confidence"?,
 * "accused"?, "tested"?, "doubts"?: names, "witness"?, "alike"?, "of"?}. New reference.
 */
json_t *bu_accusation_to_json(const struct bu_topology *t,
			      const struct bu_accusation *accusation);

#endif
