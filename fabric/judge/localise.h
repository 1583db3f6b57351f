/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A campaign over a whole fabric, from the plan to the accusations: stage A finds the
 * ports that are good inside their leaf, B measures the links with these, D goes on
 * with both so that what comes and goes shows, C tests each suspect again with proven
 * partners until a sequential test decides. The site is asked through struct bu_site,
 * so a model, a simulator and a campaign of agents look the same from here.
 */
#ifndef BU_FABRIC_JUDGE_LOCALISE_H
#define BU_FABRIC_JUDGE_LOCALISE_H

#include <stdint.h>

#include "fabric/judge/accusation.h"
#include "fabric/judge/flow.h"

/* How many partners a node meets: the usual number, one, or twice as many. */
enum bu_effort { BU_EFFORT_USUAL, BU_EFFORT_BRIEF, BU_EFFORT_TWICE };

/* Arrays are by node and may be NULL: no node is. */
struct bu_localise_opts {
	uint64_t seed;
	int partners;                 /* 0 = what bu_stage_partners() says */
	const unsigned char *trusted; /* proven before: partners, never accused */
	const unsigned char *absent;  /* cannot be tested now */
	const unsigned char *no_port; /* by port: its node has none of that rail */
	const unsigned char *effort;  /* enum bu_effort */
	const unsigned char *busy;    /* is being measured right now */
	/* Stage A of a site whose results come by and by, which asks about pairs that
	 * may hold a port up only where that one has no others to wait for. last:
	 * holds up what is measured with it; slow: one of two of these may. */
	const unsigned char *last, *slow;
	double reject;     /* share of the limit that must arrive; 0 = 0.95 */
	double lat_max_us; /* 0 = the cohort alone decides */
	double blast;      /* accused share of a leaf above which it is the leaf;
			      0 = 0.5 */
	int retests;       /* rounds in which suspects are tested again until their
			      tests decide; 0 = 48 */
	int lean;          /* extra rounds only where a good part had a bad result */
};

/* What is known about a port, best last. */
enum bu_port_state {
	BU_PORT_OPEN,      /* not tested, or not enough */
	BU_PORT_SUSPECTED, /* is tested again, or is accused */
	BU_PORT_GOOD       /* sent and received well, and nothing speaks against it */
};

struct bu_report {
	struct bu_accusation *accusations;
	int count;
	int rounds[4]; /* of stages A, B, C, D */
	long flows;
	int undecided; /* suspects whose test did not end: neither accused nor cleared
			*/
	unsigned char *ports; /* enum bu_port_state of each */
};

/* 0: it is over. 1: the site has no answer yet (struct bu_site); the report holds the
 * ports that are good already, and accuses none. The same answers lead to the same
 * questions, so it is asked again from the start when there are more. -1: it failed. */
bu_must int bu_localise(const struct bu_topology *topology, const struct bu_site *site,
			const struct bu_localise_opts *opts, struct bu_report *ret,
			struct bu_err *err);
void bu_report_fini(struct bu_report *report);

#endif
