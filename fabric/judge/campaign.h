/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a campaign. rounds.c (leaf and cross rounds), switches.c and retest.c
 * call campaign.c; localise.c calls these and accuse.c in the order of the stages.
 */
#ifndef BU_FABRIC_JUDGE_CAMPAIGN_H
#define BU_FABRIC_JUDGE_CAMPAIGN_H

#include "fabric/judge/localise.h"
#include "fabric/judge/parts.h"
#include "fabric/judge/stats.h"
#include "fabric/stages.h"

/* A port stands accused after bad tests with so many nodes, if that many can test it:
 * each of these nodes, proven or not, may be the bad one itself. */
enum { BU_WITNESSES = 3 };

/* The suspicion of one symptom of one part, which more tests decide. */
struct suspect {
	int part, symptom;
	int state; /* 0 = open, 1 = stands, -1 = cleared */
	struct bu_sprt sprt;
	int clean;                 /* tests with all other parts of the flow clean */
	int witness[BU_WITNESSES]; /* nodes of its bad tests */
	int good_with[BU_WITNESSES], bad_with[BU_WITNESSES]; /* tests with each */
	int again;          /* 1 + the witness of its next test; 0 = any node */
	int seen, idle;     /* counted tests; rounds since the last one */
	int leans;          /* bad by its tests, but more nodes are to confirm it */
	int witnesses, few; /* few: stands by fewer nodes than BU_WITNESSES */
	int by_switch;      /* stands by readings of switches */
	int by_all;         /* stands by the flows of all stages; sprt.llr is theirs */
	int absorbed;       /* its leaf or spine is accused instead */
	int with_port;      /* cleared undecided: its port stands accused already */
	struct bu_sprt_rule rule; /* of the tests in stage C */
	float best_gbps;          /* the best of these */
};

struct campaign {
	const struct bu_topology *t;
	const struct bu_site *site;
	const struct bu_localise_opts *opts;
	uint64_t seed;
	int parts_count;
	int *leaf_of;          /* by port: heard by LLDP, else planned */
	unsigned char *usable; /* by port: present, with an instrument not in doubt */
	unsigned char *trusted_parts; /* by part */
	unsigned char *doubted;       /* by node: BU_DOUBT_... */
	struct bu_order order;
	struct bu_limits limits;
	struct bu_flow *flows;
	size_t count, cap;
	struct bu_part *parts;
	int *suspect_of; /* [part * BU_SYMPTOMS_COUNT + symptom], -1 = none */
	struct suspect *suspects;
	size_t suspect_count, suspect_cap;
	unsigned char *watched; /* by port: had a fickle flow */
	int fills;            /* rounds between leaves test idle ports inside theirs */
	int readings;         /* of the switches' counters, so far */
	size_t link_readings; /* sum over readings: links in use that were read */
	int *good_readings;   /* by link: before its first bad one */
	int leaf_done;        /* stage A is over */
	int *lacks;           /* by port: partners still to meet in stage A */
	int waiting;          /* ports that lack partners are being measured */
	/* By port: lacks partners, and is being measured or waits for a busy one. */
	unsigned char *seeks;
	int ignores_via;     /* most flows took another spine than asked for */
	int qps_cross;       /* queue pairs of a flow between leaves */
	size_t retest_first; /* the first flow of stage C */
	struct bu_report *report;
};

enum stage { STAGE_A, STAGE_B, STAGE_C, STAGE_D };

/* campaign.c. All flows so far; valid until the next round. */
struct bu_flows bu_campaign_flows(const struct campaign *c);
/* A function that runs rounds returns 0, 1 (the site has no answer yet) or -1. */
void bu_campaign_init(struct campaign *c);
void bu_campaign_fini(struct campaign *c);
bu_must int bu_campaign_lldp(struct campaign *c, struct bu_err *err);
/* The site measures the flows of one round; they are appended to c->flows. */
bu_must int bu_campaign_round(struct campaign *c, enum stage stage,
			      struct bu_flow *flows, int count, struct bu_err *err);
/* Fills in both directions of a pair. Returns 2, or 0 where a port is not usable. */
int bu_campaign_pair(const struct campaign *c, int a, int b, int via,
		     struct bu_flow *flows);
/* Takes the partners met since flow `first` off lacks[]. Returns how many usable ports
 * still lack some. */
int bu_campaign_count_lacks(const struct campaign *c, size_t first, int *lacks);
/* Does the part stand accused of the symptom, or was it cleared `with_port`? Then a bad
 * flow through it says nothing of the flow's other parts. */
int bu_campaign_spoils(const struct campaign *c, int part, int symptom);
struct suspect *bu_campaign_suspect(struct campaign *c, int part, int symptom);

/* pieces.c. bu_campaign_leaf_stage() for a site with `known`. Results that are there
 * count down c->lacks. For each free port one more partner is asked for; pairs that
 * failed lately come last. */
bu_must int bu_campaign_leaf_pieces(struct campaign *c, int rounds, struct bu_err *err);
/* rounds.c. Rounds inside the leaves until each port has met its partners. */
bu_must int bu_campaign_leaf_stage(struct campaign *c, int partners,
				   struct bu_err *err);
bu_must int bu_campaign_leaf_round(struct campaign *c, enum stage stage, int round,
				   struct bu_err *err);
/* Number of rounds of stage B: from leaf to leaf of each rail, then across rails where
 * these reach each other. Later rounds repeat them with other ports. */
int bu_campaign_cross_rounds(const struct campaign *c, const struct bu_order *order);
/* Runs one such round. Watched ports that idle are tested inside their leaf. */
bu_must int bu_campaign_cross_round(struct campaign *c, enum stage stage,
				    const struct bu_order *order, int round,
				    struct bu_err *err);
/* Was the flow bad though no part on its way is always bad? 0 where a port of the flow
 * has any lasting fault, and between two trusted ports. */
int bu_campaign_is_fickle(const struct campaign *c, const struct bu_flow *flow);
/* Watches the untrusted ports of such flows since flow `first`. */
void bu_campaign_watch(struct campaign *c, size_t first);
/* Ports without a lasting symptom; of a leaf and rail with none, all not miscabled. */
void bu_campaign_proven_order(const struct campaign *c, struct bu_order *ret);
/* Does one queue pair fill a link? Else flows between leaves use 4, as inside a leaf.
 */
int bu_campaign_one_qp_is_enough(const struct campaign *c);

/* switches.c. A sprayed flow names no link, the counters of its switches do.
 * bu_campaign_switches() runs `readings` rounds at full load and reads after each;
 * bu_campaign_decide_links() goes on until each suspected link is decided. */
int bu_campaign_has_switches(const struct campaign *c);
bu_must int bu_campaign_switches(struct campaign *c, const struct bu_order *order,
				 int readings, struct bu_err *err);
bu_must int bu_campaign_decide_links(struct campaign *c, const struct bu_order *order,
				     struct bu_err *err);
/* doubt.c. Excludes the nodes whose instrument is wrong. */
void bu_campaign_doubt(struct campaign *c);
/* retest.c. Rounds until every suspect is decided, at most opts->retests. */
bu_must int bu_campaign_retest(struct campaign *c, struct bu_err *err);
/* chance.c. Was a flow of this suspect since flow `first` bad, though no other part on
 * its way stands accused of the same symptom? place: in c->suspects. */
int bu_campaign_has_unexplained(const struct campaign *c, size_t place, size_t first);
/* accuse.c. Fills the report from the suspects that stand. */
void bu_campaign_accuse(struct campaign *c);

#endif
