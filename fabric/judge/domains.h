/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the NVLink domains of a rack's GPUs, as drivers report them ("UUID.CLIQUE",
 * rows gpu-fabric). A tray in another domain or clique than most GPUs of its rack
 * cannot reach them by NVLink, though all its own checks pass.
 *
 * cohort-odd  warn  a GPU's domain or clique differs from that of most of its rack
 */
#ifndef BU_FABRIC_JUDGE_DOMAINS_H
#define BU_FABRIC_JUDGE_DOMAINS_H

#include "fabric/judge/cohort.h"

/* Does this row name a domain? */
int bu_domain_is_told(const struct bu_check *row);
/* Calls found for each finding about the node `only` (NULL = each node), compared with
 * all nodes of its rack. Else as bu_cohort_judge(). */
void bu_domains_judge(const struct bu_cohort_node *nodes, size_t count,
		      const char *only,
		      void (*found)(const char *node, const struct bu_check *row,
				    void *arg),
		      void *arg);

#endif
