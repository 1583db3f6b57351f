/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs and reservations of acceptances, as Slurm prints them. Pure. */
#ifndef BU_CLUSTER_SLURM_TRIALS_H
#define BU_CLUSTER_SLURM_TRIALS_H

#include <stddef.h>

#define BU_SLURM_TRIAL_JOB "bringup-acceptance"
/* Before a name of a node; no name of a drain's reservation begins so. */
#define BU_SLURM_TRIAL_RESERVATION "bringup_acceptance-"

/* Texts are borrowed and end at their size. */
struct bu_slurm_trial_job {
	long id;
	int active; /* it waits or runs */
	int cancelled;
	int nodes;      /* how many */
	char state[24]; /* "RUNNING" */
	const char *list, *reason, *comment;
	size_t list_size, reason_size, comment_size;
};

/* The newest job after `after` whose comment has the word `once`. 1 = there is one. */
int bu_slurm_trial_job(const char *text, const char *once, long after,
		       struct bu_slurm_trial_job *ret);
/* An active job on the node whose comment lacks the word `once`. 1 = there is one. */
int bu_slurm_trial_stale(const char *text, const char *once, const char *node,
			 struct bu_slurm_trial_job *ret);
/* The reservation for acceptances that the node is in, and how many nodes are. name: ""
 * = none. */
void bu_slurm_trial_reservation(const char *text, const char *node, char *name,
				size_t size, int *ret_nodes);
/* What the job has told: its exit status, and the end of what it printed, owned. -1 =
 * nothing. */
int bu_slurm_trial_told(const struct bu_slurm_trial_job *job, char **ret_output);

#endif
