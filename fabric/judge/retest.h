/* SPDX-License-Identifier: Apache-2.0 */
/* One round of stage C: chosen in retest_choose.c, counted in retest.c. */
#ifndef BU_FABRIC_JUDGE_RETEST_H
#define BU_FABRIC_JUDGE_RETEST_H

#include "fabric/judge/campaign.h"

struct retest {
	struct campaign *c;
	struct bu_sprt_rule rule;
	uint64_t random;
	unsigned char *busy; /* parts in use this round */
	struct bu_flow *flows;
	int count;
};

/* Fills r->flows: a test for each suspect that is open, if one can be had now. */
void bu_retest_choose(struct retest *r, int round);

#endif
