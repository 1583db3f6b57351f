/* SPDX-License-Identifier: Apache-2.0 */
/* What the fake slurmctld keeps: shared by slurm.c and slurm_commands.c. */
#ifndef BU_TESTS_SIM_HARM_SLURM_H
#define BU_TESTS_SIM_HARM_SLURM_H

#include "tests/sim/harm/harm.h"

enum { NODES_MAX = 24 };

struct slurm_member {
	char name[NAME_SIZE];
	int machine; /* whose slurmd answers; -1 = none */
	int drain, down, silent;
	char reason[120];
	char features[80];
	int job; /* its number; 0 = none */
	int job_boot;
	int64_t job_ms, missed_ms;
};

struct slurm_ctl {
	int stopped;
	int64_t hangs_ms, loses_ms;
	struct slurm_member members[NODES_MAX];
	int count;
	/* What administrators want, whatever becomes of slurmctld's memory. */
	struct {
		char name[NAME_SIZE];
		int64_t at_ms;
	} drains[NODES_MAX];
	int drains_count;
};
extern struct slurm_ctl slurm_ctls[CLUSTERS];
extern const char *const slurm_names[CLUSTERS];

struct slurm_member *slurm_member_of(struct slurm_ctl *ctl, const char *name);
/* Which of ctl->drains it is; -1 = none. */
int slurm_drain_index(const struct slurm_ctl *ctl, const char *name);
void slurm_drain_forget(struct slurm_ctl *ctl, const char *name);
/* The daemon's commands: those that are due, and when the next one is. */
void slurm_commands_turn(void);
int64_t slurm_commands_due_ms(void);

#endif
