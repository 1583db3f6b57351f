/* SPDX-License-Identifier: Apache-2.0 */
/* One round of stage C: retest_choose.c chooses its tests, retest.c counts them. */
#ifndef BU_FABRIC_JUDGE_RETEST_H
#define BU_FABRIC_JUDGE_RETEST_H

#include "fabric/judge/campaign.h"

/* Rounds without a counted test after which a port has no other partner; fewer than the
 * empty rounds that end stage C (EMPTY of retest.c). */
enum { BU_RETEST_IDLE = 12 };

struct retest {
	struct campaign *c;
	uint64_t random, of_round;
	unsigned char *busy; /* by part: in use this round */
	struct bu_flow *flows;
	int count;
	const struct suspect *avoids; /* not tested with its witnesses; NULL = none */
	int only;                     /* 1 + the only partner now; 0 = any node */
	int *unexplained;             /* by suspect: such bad flows before stage C */
	size_t standing;              /* suspects that stood at that count */
};

/* The place of the node in suspect->witness; -1 = no witness. */
int bu_retest_witness(const struct suspect *suspect, int node);
/* Can a node that is no witness test this port, now or in another round? */
int bu_retest_has_more(const struct campaign *c, const struct suspect *suspect);
/* chance.c. Counts r->unexplained, and again when more suspects stand. */
void bu_retest_count_unexplained(struct retest *r);
/* Was every test good, so often that the bad ones before were chance? place: of a
 * suspect. */
int bu_retest_was_chance(const struct retest *r, size_t place);
/* Where stage C does not decide: do the flows of all stages accuse the suspect, with
 * bad tests in stage C, too? ret_llr: of all flows. */
int bu_retest_is_bad_by_all(const struct retest *r, size_t place, double *ret_llr);
/* Fills r->flows with a test of each open suspect that has a partner now. */
void bu_retest_choose(struct retest *r, int round);

#endif
