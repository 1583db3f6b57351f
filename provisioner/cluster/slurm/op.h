/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by driver.c (commands) and decide.c (what follows from their answers). */
#ifndef BU_CLUSTER_SLURM_OP_H
#define BU_CLUSTER_SLURM_OP_H

#include "base/worker.h"
#include "provisioner/cluster/slurm/parse.h"

/* Jobs may take hours to end: their node is looked at less and less often. */
enum { BU_SLURM_LOOK_MS = 500, BU_SLURM_LOOK_MAX_MS = 8000 };

/* A drain that takes longer is a reservation for maintenance, too. */
enum { BU_SLURM_LONG_DRAIN_MS = 600000 };

/* What an operation wants to be done next. */
enum bu_slurm_act {
	ACT_NONE,
	ACT_RESUME,
	ACT_DRAIN,
	ACT_GATE,
	ACT_DRAIN_AGAIN, /* as an administrator had it */
	ACT_DELETE,
	ACT_LABEL,
	ACT_RESERVE, /* and ACT_UNRESERVE: of one node at a time */
	ACT_UNRESERVE
};

struct bu_cluster_op {
	struct bu_cluster_op *next;
	struct bu_cluster *cluster;
	char *node;
	char *features;   /* wanted; "" = none */
	int64_t until_ms; /* 0 = no end */
	int64_t look_ms, next_ms, since_ms;
	int64_t after; /* looks up to this one began before its last act */
	char *known;   /* reason of an administrator's drain in the log; "" = none */
	char by_other[160]; /* not in the log yet: the reason that it has now */
	void (*decide)(struct bu_cluster_op *op, const struct bu_cluster_row *row);
	enum bu_slurm_act act;
	int acting;     /* its act is in the command that runs */
	int alone;      /* a batch with it was refused */
	int wants_jobs; /* squeue decides */
	int maint;      /* as the last look says, it is in some reservation for that */
	int reserved, unreserved; /* bringup's own was asked for; it is not there */
	int drained;              /* as the last look says, with no jobs */
	bu_cluster_fn fn;
	void (*words)(const char *text, void *arg);
	void *arg;
	char last[96];     /* what Slurm said last of its state */
	char refusal[200]; /* the last command's, "" = it was done */
	char detail[240];  /* for the log */
};

struct bu_cluster {
	struct bu_loop *loop;
	char *env_conf;
	bu_cluster_seen_fn seen;
	void *arg;
	struct bu_cluster_op *ops;
	struct bu_job *job; /* the command that runs */
	struct bu_timer *timer;
	int64_t looks; /* that have ended */
	int64_t looked_ms;
	int looking; /* the command that runs is a look */
	int asked;   /* one is wanted */
};

static inline int64_t
bu_slurm_now(const struct bu_cluster *cluster)
{
	return bu_loop_now_ms(cluster->loop);
}

void bu_slurm_op_free(struct bu_cluster_op *op);

/* client.c; as of the vtable */
bu_must int bu_slurm_client(const struct bu_cluster_site *site,
			    const struct bu_cluster_member *member, const void *secret,
			    size_t secret_size, struct bu_cluster_client *ret,
			    struct bu_err *err);
const char *bu_slurm_secret(const struct bu_cluster_site *site);

/* Each of them may end the operation, or says what it wants next. row: NULL = Slurm
 * answered, and does not know the node. */
void bu_slurm_decide_admit(struct bu_cluster_op *op, const struct bu_cluster_row *row);
void bu_slurm_decide_leave(struct bu_cluster_op *op, const struct bu_cluster_row *row);
void bu_slurm_decide_gate(struct bu_cluster_op *op, const struct bu_cluster_row *row);
void bu_slurm_decide_relabel(struct bu_cluster_op *op,
			     const struct bu_cluster_row *row);
/* jobs: "12 (alice), 17 (bob)", "" = none. */
void bu_slurm_decide_jobs(struct bu_cluster_op *op, const char *jobs);
/* What it did is seen by the next look. */
void bu_slurm_look_later(struct bu_cluster_op *op);
/* A command failed: it may pass; who waits without an end is told, and asks less often.
 */
void bu_slurm_try_later(struct bu_cluster_op *op, const struct bu_err *err);

#endif
