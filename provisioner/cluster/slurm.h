/* SPDX-License-Identifier: Apache-2.0 */
/* How Slurm's words for a node's state are read; pure, for slurm.c and its test. */
#ifndef BU_CLUSTER_SLURM_H
#define BU_CLUSTER_SLURM_H

enum bu_slurm_view {
	BU_SLURM_UNKNOWN,  /* not there, or not answering */
	BU_SLURM_DRAINED,  /* registered, takes no work, runs none */
	BU_SLURM_DRAINING, /* takes no new work, runs some */
	BU_SLURM_TAKING,   /* idle, mixed, allocated, reserved: takes work */
	BU_SLURM_INVALID,  /* reports less than was configured */
};

/* text: what `sinfo -h -N -o %T` prints for one node, "" when it knows none. */
enum bu_slurm_view bu_slurm_view(const char *text);

#endif
