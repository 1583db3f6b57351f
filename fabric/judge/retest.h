/* SPDX-License-Identifier: Apache-2.0 */
/* One round of stage C: chosen in retest_choose.c, counted in retest.c. */
#ifndef BU_FABRIC_JUDGE_RETEST_H
#define BU_FABRIC_JUDGE_RETEST_H

#include "fabric/judge/campaign.h"

/* After so many rounds in which no test counted there is no other partner: fewer than
 * the empty ones that end the tests. */
enum { BU_RETEST_IDLE = 12 };

struct retest {
	struct campaign *c;
	uint64_t random, of_round;
	unsigned char *busy; /* parts in use this round */
	struct bu_flow *flows;
	int count;
	const struct suspect *avoids; /* the witnesses of this one; NULL = none */
	int only;                     /* 1 + the node that is asked; 0 = any */
	int *unexplained; /* of each suspect: bad flows of the earlier stages */
	size_t standing;  /* when these were counted */
};

/* The place of the node among those that it had bad tests with; -1 = it had none. */
int bu_retest_witness(const struct suspect *suspect, int node);
/* Could it be tested with another node than its witnesses, now or in another round? */
int bu_retest_has_more(const struct campaign *c, const struct suspect *suspect);
/* chance.c. Counts r->unexplained anew when something more stands. place: of a suspect.
 */
void bu_retest_count_unexplained(struct retest *r);
/* Good in all tests again, so often that it was bad before by chance. */
int bu_retest_was_chance(const struct retest *r, size_t place);
/* Its tests again do not decide; all that it measured does, and they say the same.
 * ret_llr: of all. */
int bu_retest_is_bad_by_all(const struct retest *r, size_t place, double *ret_llr);
/* Fills r->flows: a test for each suspect that is open, if one can be had now. */
void bu_retest_choose(struct retest *r, int round);

#endif
