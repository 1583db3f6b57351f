/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a campaign, and what builds on what: campaign.c is asked by rounds.c
 * (leaf and cross rounds), switches.c and retest.c; these and accuse.c by localise.c,
 * which alone knows the order of the stages.
 */
#ifndef BU_FABRIC_JUDGE_CAMPAIGN_H
#define BU_FABRIC_JUDGE_CAMPAIGN_H

#include "fabric/judge/localise.h"
#include "fabric/judge/parts.h"
#include "fabric/judge/stats.h"
#include "fabric/stages.h"

/* So many nodes must have had bad tests with a port that stands accused, if there are
 * as many: each of them may be the bad one itself, proven or not. */
enum { BU_WITNESSES = 3 };

/* One symptom of one part that is tested again. */
struct suspect {
	int part, symptom;
	int state; /* 0 = open, 1 = stands, -1 = cleared */
	struct bu_sprt sprt;
	int clean;                 /* tests whose other parts were all clean */
	int witness[BU_WITNESSES]; /* nodes that its bad tests were with */
	int good_with[BU_WITNESSES], bad_with[BU_WITNESSES]; /* tests with them */
	int again;          /* 1 + the witness that it is tested with once more */
	int seen, idle;     /* tests that were counted; rounds since then */
	int leans;          /* its tests say that it is bad, and more nodes are asked */
	int witnesses, few; /* few: it stands, and no other node could test it */
	int by_switch;      /* its tests were readings of switches */
	int by_all;         /* it stands by all that it measured; so is its llr */
	int absorbed;       /* a larger part is accused instead */
	int with_port;      /* cleared only because its port stands accused already */
	struct bu_sprt_rule rule; /* of its tests again */
	float best_gbps;          /* of the tests again */
};

struct campaign {
	const struct bu_topology *t;
	const struct bu_site *site;
	const struct bu_localise_opts *opts;
	uint64_t seed;
	int parts_count;
	int *leaf_of;          /* as LLDP says, else the plan */
	unsigned char *usable; /* ports that are there and whose instrument is right */
	unsigned char *trusted_parts;
	unsigned char *doubted; /* nodes: BU_DOUBT_... */
	struct bu_order order;
	struct bu_limits limits;
	struct bu_flow *flows;
	size_t count, cap;
	struct bu_part *parts;
	int *suspect_of; /* [part * BU_SYMPTOMS_COUNT + symptom], -1 = none */
	struct suspect *suspects;
	size_t suspect_count, suspect_cap;
	unsigned char
		*watched; /* ports: had a bad flow that nothing lasting explains */
	int fills;        /* rounds between leaves test all that idle inside theirs */
	int readings;     /* of the switches, so far */
	size_t link_readings; /* the same, of links that were in use */
	int leaf_done;        /* stage A is over */
	int *lacks;           /* partners that each port still needs in stage A */
	int waiting;          /* some of these are being measured */
	/* Ports that lack partners, of whom some will be measured with them. */
	unsigned char *seeks;
	int ignores_via; /* the site picks paths itself */
	int qps_cross;
	size_t retest_first; /* flow */
	struct bu_report *report;
};

enum stage { STAGE_A, STAGE_B, STAGE_C, STAGE_D };

/* campaign.c. All flows so far; until there are more. */
struct bu_flows bu_campaign_flows(const struct campaign *c);
/* Whatever runs rounds returns 0, 1 when the site has no answer yet, -1. */
void bu_campaign_init(struct campaign *c);
void bu_campaign_fini(struct campaign *c);
bu_must int bu_campaign_lldp(struct campaign *c, struct bu_err *err);
/* The flows of one round go to the site, and to c->flows. */
bu_must int bu_campaign_round(struct campaign *c, enum stage stage,
			      struct bu_flow *flows, int count, struct bu_err *err);
/* Both directions of a pair, unless it would say nothing; how many flows. */
int bu_campaign_pair(const struct campaign *c, int a, int b, int via,
		     struct bu_flow *flows);
/* Counts what came since flow `first`; how many ports still lack partners. */
int bu_campaign_count_lacks(const struct campaign *c, size_t first, int *lacks);
/* Does this part stand accused of the symptom, or its port of another one? Then it
 * explains what was bad in its company. */
int bu_campaign_spoils(const struct campaign *c, int part, int symptom);
struct suspect *bu_campaign_suspect(struct campaign *c, int part, int symptom);

/* pieces.c. The same for a site that has results by and by: `lacks` goes down by those
 * that are there; of the others each free port is asked about one partner, those that
 * failed lately last. */
bu_must int bu_campaign_leaf_pieces(struct campaign *c, int rounds, struct bu_err *err);
/* rounds.c. Rounds inside the leaves until each port met its number of partners. */
bu_must int bu_campaign_leaf_stage(struct campaign *c, int partners,
				   struct bu_err *err);
bu_must int bu_campaign_leaf_round(struct campaign *c, enum stage stage, int round,
				   struct bu_err *err);
/* Rounds of stage B: from leaf to leaf of each rail, then across rails where these
 * reach each other. A round beyond the last begins again, with other ports. */
int bu_campaign_cross_rounds(const struct campaign *c, const struct bu_order *order);
/* Besides, a watched port that idles is tested inside its leaf. */
bu_must int bu_campaign_cross_round(struct campaign *c, enum stage stage,
				    const struct bu_order *order, int round,
				    struct bu_err *err);
/* Was it bad, and nothing lasting explains it? What comes and goes besides at a port
 * that has a lasting fault is not asked for; between proven ports it was judged. */
int bu_campaign_is_fickle(const struct campaign *c, const struct bu_flow *flow);
/* The ports of such flows since flow `first` are watched. */
void bu_campaign_watch(struct campaign *c, size_t first);
/* Ports without a lasting symptom so far. */
void bu_campaign_proven_order(const struct campaign *c, struct bu_order *ret);
/* Can one queue pair carry a whole link here? If not, links need as many as ports. */
int bu_campaign_one_qp_is_enough(const struct campaign *c);

/* switches.c. Sprayed flows cannot name a link, its switches can: so many rounds at
 * full load, each followed by a reading, and more until each link that was odd is
 * decided. */
int bu_campaign_has_switches(const struct campaign *c);
bu_must int bu_campaign_switches(struct campaign *c, const struct bu_order *order,
				 int readings, struct bu_err *err);
bu_must int bu_campaign_decide_links(struct campaign *c, const struct bu_order *order,
				     struct bu_err *err);
/* doubt.c. Nodes whose instrument is wrong are taken out. */
void bu_campaign_doubt(struct campaign *c);
/* retest.c. Rounds until every suspect is decided, or their number is up. */
bu_must int bu_campaign_retest(struct campaign *c, struct bu_err *err);
/* chance.c. Of this suspect: was a flow since flow `first` bad, and nothing else on its
 * way stands accused of the same? */
int bu_campaign_has_unexplained(const struct campaign *c, size_t place, size_t first);
/* accuse.c. From what stands to accusations. */
void bu_campaign_accuse(struct campaign *c);

#endif
