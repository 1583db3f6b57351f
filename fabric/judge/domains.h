/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NVLink domains of a rack's GPUs, as their drivers tell them ("UUID.CLIQUE", rows
 * gpu-fabric): a tray with another domain or clique than most GPUs of its rack cannot
 * reach them by NVLink, though each of its own checks passes.
 *
 * cohort-odd  warn  another domain, or another clique of it, than most of its rack
 */
#ifndef BU_FABRIC_JUDGE_DOMAINS_H
#define BU_FABRIC_JUDGE_DOMAINS_H

#include "fabric/judge/cohort.h"

/* Does this row tell a domain? */
int bu_domain_is_told(const struct bu_check *row);
/* Findings about this node, among all that are given; those of its rack count. As
 * bu_cohort_judge(). */
void bu_domains_judge(const struct bu_cohort_node *nodes, size_t count,
		      const char *only,
		      void (*found)(const char *node, const struct bu_check *row,
				    void *arg),
		      void *arg);

#endif
