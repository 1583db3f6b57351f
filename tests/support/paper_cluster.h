/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster driver of paper: one node, node001, that is what a test says. */
#ifndef BU_TESTS_SUPPORT_PAPER_CLUSTER_H
#define BU_TESTS_SUPPORT_PAPER_CLUSTER_H

#include "provisioner/cluster/cluster.h"

#define PAPER_REASON "DIMM A3"

enum paper_is {
	PAPER_UNKNOWN,
	PAPER_AWAY,    /* its client is not in touch */
	PAPER_OURS,    /* drained by bringup, and idle */
	PAPER_SERVES,  /* idle */
	PAPER_BUSY,    /* a job runs, 12 of alice */
	PAPER_LEAVING, /* drained by bringup, and the job runs */
	PAPER_THEIRS,  /* drained by an administrator, for PAPER_REASON */
};

extern struct paper_cluster {
	enum paper_is is;
	int silent; /* it does not answer */
	char labels[64];
	const char *prints; /* the job of an acceptance, in all worlds */
} paper_cluster;

extern const struct bu_cluster_driver bu_paper_cluster;

#endif
