/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the check reports of similar machines: these faults no machine sees alone.
 * Pure; the gate calls it when reports arrive.
 *
 * duplicate   fail  two machines have the same host name, address, GUID or GID
 * cohort-odd  warn  most machines have another firmware, driver, GPU or partitions
 * gpu-h2d...  warn  a rate of a GPU is under 90 % of the median of machines with the
 *                   same expected rate; under 80 %: fail
 * cabling     fail  the cables of two machines are swapped, or a rail is cabled to
 *                   another leaf than that of most neighbours
 */
#ifndef BU_FABRIC_JUDGE_COHORT_H
#define BU_FABRIC_JUDGE_COHORT_H

#include "model/check.h"

struct bu_cohort_node {
	const char *node;
	const struct bu_checks *checks;
	const char *rack; /* for domains.h; "" = unknown */
};

/* Calls found for each finding about the node `only`, NULL = about every node. The row
 * is complete (group audit) and valid until found returns. */
void bu_cohort_judge(const struct bu_cohort_node *nodes, size_t count, const char *only,
		     void (*found)(const char *node, const struct bu_check *row,
				   void *arg),
		     void *arg);
/* Does bu_cohort_judge() compare this row? */
int bu_cohort_compares(const struct bu_check *row);
/* Must the values of this id differ between machines? */
int bu_cohort_is_unique(const char *id);
/* The length of the switch's name in "leaf01:swp3". */
size_t bu_cohort_switch_length(const char *text);
/* Is a seen "leaf01.falcon:swp3" the expected "leaf01:swp3", "leaf01" or itself? */
int bu_cohort_port_fits(const char *seen, const char *expected);

#endif
