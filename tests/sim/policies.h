/* SPDX-License-Identifier: Apache-2.0 */
/* Two policies that others use, as controls on the same simulated fabrics. */
#ifndef BU_TESTS_SIM_POLICIES_H
#define BU_TESTS_SIM_POLICIES_H

#include "tests/sim/sim.h"

/* Accused nodes are set in ret (plan.nodes). Both pair at random over the whole fabric,
 * four queue pairs on whatever paths the hash gives, and fail a test under 90 % of the
 * limit. */
/* 15 pairings; a node whose tests fail more often than not is accused. */
void sim_policy_fifteen(struct sim *sim, unsigned char *ret);
/* One pairing; who failed meets a node that passed, while the others test on; who fails
 * again is accused. */
void sim_policy_one_and_one(struct sim *sim, unsigned char *ret);

#endif
