/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A campaign over a whole fabric, from the plan to the accusations. Stage A finds the
 * ports that are good inside their leaf. B measures links with these ports. D repeats
 * both, to show intermittent faults. C, the last, tests each suspect with proven
 * partners until a sequential test decides. struct bu_site may be a model, a simulator
 * or agents.
 */
#ifndef BU_FABRIC_JUDGE_LOCALISE_H
#define BU_FABRIC_JUDGE_LOCALISE_H

#include <stdint.h>

#include "fabric/judge/accusation.h"
#include "fabric/judge/flow.h"

/* Partners that a node's ports meet in stage A: the usual number, one, or twice. */
enum bu_effort { BU_EFFORT_USUAL, BU_EFFORT_BRIEF, BU_EFFORT_TWICE };

/* Arrays are by node, unless said otherwise; NULL = no node is. */
struct bu_localise_opts {
	uint64_t seed;
	int partners;                 /* 0 = what bu_stage_partners() says */
	const unsigned char *trusted; /* proven before: partners, never accused */
	const unsigned char *absent;  /* cannot be tested now */
	const unsigned char *no_port; /* by port: the node has none on that rail */
	const unsigned char *effort;  /* enum bu_effort */
	const unsigned char *busy;    /* is being measured right now */
	/* Stage A of a site with `known`. A pair is late where one end is `last` or
	 * both are `slow`. The campaign asks for it after all others, and not while an
	 * end that is not `last` has other partners to wait for. */
	const unsigned char *last, *slow;
	double reject;     /* least share of limit_gbps; 0 = 0.95 */
	double lat_max_us; /* microseconds; 0 = the cohort alone decides */
	double blast;      /* accused share above which a leaf or spine is;
			      0 = 0.5 */
	int retests;       /* most rounds of stage C; 0 = 48 */
	int lean;          /* stage D only after a fickle flow (campaign.h) */
};

/* State of a port after a campaign, best last. */
enum bu_port_state {
	BU_PORT_OPEN,      /* not tested, or with too few partners */
	BU_PORT_SUSPECTED, /* a symptom is open or stands */
	BU_PORT_GOOD       /* sent and received well, no symptom */
};

struct bu_report {
	struct bu_accusation *accusations;
	int count;
	int rounds[4]; /* of stages A, B, C, D */
	long flows;
	int undecided;        /* suspects neither accused nor cleared */
	unsigned char *ports; /* enum bu_port_state of each */
};

/* 0: the campaign is over. 1: the site has no answer yet (struct bu_site), and the
 * report has the ports that are good already and no accusations. Call it again when
 * there are more answers: the same answers lead to the same questions. -1: err. */
bu_must int bu_localise(const struct bu_topology *topology, const struct bu_site *site,
			const struct bu_localise_opts *opts, struct bu_report *ret,
			struct bu_err *err);
void bu_report_fini(struct bu_report *report);

#endif
