/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a campaign share: localise.c, retest.c, accuse.c. */
#ifndef BU_FABRIC_JUDGE_LOCALISE_IMPL_H
#define BU_FABRIC_JUDGE_LOCALISE_IMPL_H

#include "fabric/judge/localise.h"
#include "fabric/judge/parts.h"
#include "fabric/judge/stats.h"
#include "fabric/stages.h"

/* One symptom of one part that is tested again. */
struct suspect {
	int part, symptom;
	int state; /* 0 = open, 1 = stands, -1 = cleared */
	struct bu_sprt sprt;
	int clean;       /* tests whose other parts were all clean */
	int by_switch;   /* its tests were readings of switches */
	int absorbed;    /* a larger part is accused instead */
	float best_gbps; /* of the tests again */
};

struct campaign {
	const struct bu_topology *t;
	const struct bu_site *site;
	uint64_t seed;
	int parts_count;
	int *leaf_of;           /* as LLDP says, else the plan */
	unsigned char *usable;  /* ports whose instrument is right */
	unsigned char *doubted; /* nodes: BU_DOUBT_... */
	struct bu_order order;
	struct bu_gate gate;
	struct bu_flow *flows;
	size_t count, cap;
	struct bu_part *parts;
	int *suspect_of; /* [part * BU_SYMPTOMS_COUNT + symptom], -1 = none */
	struct suspect *suspects;
	size_t suspect_count, suspect_cap;
	int ignores_via; /* the site picks paths itself */
	int qps_cross;
	size_t retest_first; /* flow */
	struct bu_sprt_rule rule;
	struct bu_report *report;
};

enum stage { STAGE_A, STAGE_B, STAGE_C, STAGE_D };

/* The flows of one round go to the site, and to c->flows. */
int bu_campaign_round(struct campaign *c, enum stage stage, struct bu_flow *flows,
		      int count, struct bu_err *err);
struct suspect *bu_campaign_suspect(struct campaign *c, int part, int symptom);
/* Rounds until every suspect is decided, or their number is up. */
int bu_campaign_retest(struct campaign *c, struct bu_err *err);
void bu_campaign_explain_away(struct campaign *c);
/* From what stands to accusations. */
void bu_campaign_accuse(struct campaign *c);
uint64_t bu_campaign_random(uint64_t *state);

#endif
