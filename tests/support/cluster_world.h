/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster with node001 as a test of its driver sees it, and two of them: Slurm by the
 * fake scontrol, and the driver of paper. Kubernetes is in kube_world.h.
 */
#ifndef BU_TESTS_SUPPORT_CLUSTER_WORLD_H
#define BU_TESTS_SUPPORT_CLUSTER_WORLD_H

#include <string.h>

#include "tests/support/paper_cluster.h"
#include "tests/support/rig.h"

struct world {
	const struct bu_cluster_driver *driver;
	/* node001 is so from now on; nobody else is known. */
	void (*be)(const struct rig *rig, enum paper_is is);
	/* The cluster carries out what it was told. */
	void (*turn)(const struct rig *rig);
	enum paper_is (*now)(void);
	void (*silence)(const struct rig *rig, int on);
	int (*labelled)(const struct rig *rig); /* tier=gold, or the feature gold */
	int (*gated)(const struct rig *rig);    /* also while it is away */
	const char *theirs;                     /* the reason of PAPER_THEIRS */
	const char *job;                        /* of PAPER_BUSY, as it is told */
	/* Before the driver is opened by this handle; after it was closed. */
	void (*begin)(struct rig *rig, char handle[BU_CLUSTER_HANDLE_SIZE]);
	void (*end)(void);
};

static enum paper_is slurm_is;

static inline void
slurm_be(const struct rig *rig, enum paper_is is)
{
	static const char *const words[] = {
		[PAPER_UNKNOWN] = "",
		[PAPER_AWAY] = "down*",
		[PAPER_OURS] = "drained",
		[PAPER_SERVES] = "idle",
		[PAPER_BUSY] = "mixed",
		[PAPER_LEAVING] = "draining",
		[PAPER_THEIRS] = ("IDLE+DRAIN " PAPER_REASON),
	};
	int busy = is == PAPER_BUSY || is == PAPER_LEAVING;

	rig_write(rig, "sinfo", "\n");
	rig_write(rig, "slurm.node001", words[is]);
	rig_write(rig, "squeue", busy ? "node001|12 (alice)\n" : "");
	slurm_is = is;
}

/* The job of an acceptance ends as soon as it is there. */
static inline void
slurm_turn_job(const struct rig *rig, const char *told)
{
	const char *words = strstr(told, "--comment=bringup ");
	bu_autofree char *job = NULL;

	if (strstr(told, "create reservation"))
		rig_write(rig, "reservations",
			  "ReservationName=bringup_acceptance-node001 Nodes=node001 "
			  "NodeCnt=1 \n");
	if (strstr(told, "delete reservationname=bringup_acceptance-node001"))
		rig_write(rig, "reservations", "No reservations in the system\n");
	if (!words)
		return;
	words += strlen("--comment=");
	job = bu_xasprintf("bringup|12|COMPLETED|1|node001|None|%.16s; exit 0; %s\n",
			   words, paper_cluster.prints);
	rig_write(rig, "squeue", job);
}

static inline void
slurm_turn(const struct rig *rig)
{
	bu_autofree char *told = rig_read(rig, "scontrol.log");

	rig_write(rig, "scontrol.log", "");
	slurm_turn_job(rig, told);
	if (strstr(told, "state=resume"))
		slurm_be(rig, PAPER_SERVES);
	else if (strstr(told, "reason=" PAPER_REASON))
		slurm_be(rig, PAPER_THEIRS);
	else if (strstr(told, "state=drain"))
		slurm_be(rig, slurm_is == PAPER_BUSY ? PAPER_LEAVING : PAPER_OURS);
	else if (strstr(told, "delete nodename="))
		slurm_be(rig, PAPER_UNKNOWN);
}

static inline enum paper_is
slurm_now(void)
{
	return slurm_is;
}

static inline void
slurm_silence(const struct rig *rig, int on)
{
	if (on)
		rig_write(rig, "slurm.fail", "no slurmctld\n");
	else
		rig_remove(rig, "slurm.fail");
}

static inline int
slurm_labelled(const struct rig *rig)
{
	bu_autofree char *features = rig_read(rig, "features.node001");

	return strstr(features, "=gold ") != NULL;
}

static inline int
slurm_gated(const struct rig *rig)
{
	return slurm_is == PAPER_OURS || slurm_is == PAPER_LEAVING;
}

static inline void
paper_be(const struct rig *rig, enum paper_is is)
{
	paper_cluster.is = is;
}

static inline void
paper_turn(const struct rig *rig)
{
}

static inline enum paper_is
paper_now(void)
{
	return paper_cluster.is;
}

static inline void
paper_silence(const struct rig *rig, int on)
{
	paper_cluster.silent = on;
}

static inline int
paper_labelled(const struct rig *rig)
{
	return strcmp(paper_cluster.labels, "tier=gold") == 0;
}

static inline int
paper_gated(const struct rig *rig)
{
	return paper_cluster.is == PAPER_OURS || paper_cluster.is == PAPER_LEAVING;
}

static inline void
no_begin(struct rig *rig, char handle[BU_CLUSTER_HANDLE_SIZE])
{
}

static inline void
no_end(void)
{
}

#endif
