/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no machine can see alone: the check reports of similar machines, compared. Pure;
 * the gate calls it when reports arrive.
 *
 * duplicate   fail  two machines with one host name, address, GUID or GID
 * cohort-odd  warn  firmware, driver, partitions other than those of most machines
 * gpu-h2d...  warn  a rate of a GPU under 90 % of that of most machines of which the
 *                   same is expected; under 80 %: fail
 * cabling     fail  cables of two machines are swapped; a rail is cabled to another
 *                   leaf than its neighbours'
 */
#ifndef BU_FABRIC_JUDGE_COHORT_H
#define BU_FABRIC_JUDGE_COHORT_H

#include "model/check.h"

struct bu_cohort_node {
	const char *node;
	const struct bu_checks *checks;
	const char *rack; /* "" = unknown; for domains.h */
};

/* Calls found for each finding about a node, in the order of nodes; only: about this
 * one alone, NULL = about each. The row is complete (group audit) and lives until found
 * returns. */
void bu_cohort_judge(const struct bu_cohort_node *nodes, size_t count, const char *only,
		     void (*found)(const char *node, const struct bu_check *row,
				   void *arg),
		     void *arg);
/* Is this row one of those that are compared? */
int bu_cohort_compares(const struct bu_check *row);
/* May no two machines tell the same in rows of this id? */
int bu_cohort_is_unique(const char *id);
/* Of "leaf01:swp3", how much of it names the switch. */
size_t bu_cohort_switch_length(const char *text);
/* Does "leaf01.falcon:swp3" fit "leaf01:swp3", "leaf01" or itself? */
int bu_cohort_port_fits(const char *seen, const char *expected);

#endif
