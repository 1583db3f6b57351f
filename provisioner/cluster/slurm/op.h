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
	ACT_REFUSE,  /* it was not accepted */
	ACT_RESERVE, /* and those below: one command for each */
	ACT_UNRESERVE,
	ACT_SET_ASIDE, /* all that wait for an acceptance: a reservation for it */
	ACT_SUBMIT,    /* all of that reservation: their job */
	ACT_CANCEL,
	ACT_FREE /* of that reservation */
};

enum bu_slurm_verdict { VERDICT_NONE, VERDICT_GOOD, VERDICT_AGAIN, VERDICT_BAD };

enum { BU_SLURM_JOB_SIZE = 24, BU_SLURM_ONCE_SIZE = 9, BU_SLURM_TOGETHER_MAX = 16 };

/* The acceptance of a node, on its way through slurmctld (accept.c). */
struct bu_slurm_trial {
	char *command; /* NULL = none is wanted */
	double least;
	int64_t limit_ms;
	char once[BU_SLURM_ONCE_SIZE]; /* stands in its job's comment */
	int64_t since_ms;              /* of this round; 0 = not begun */
	int untried;                   /* none is wanted, or somebody else drained it */
	int waits;                     /* for others, in no reservation yet */
	int alone;    /* a job of several has failed: this round alone */
	int failed;   /* jobs of several */
	int vanished; /* jobs */
	int swept, passed;
	long judged; /* job; those up to it are over */
	long seen;   /* job of this round; 0 = none */
	int members; /* nodes of the reservation */
	enum bu_slurm_verdict verdict;
	enum bu_err_kind kind;       /* of a bad one */
	char reservation[96];        /* that the node is in; "" = none */
	char job[BU_SLURM_JOB_SIZE]; /* to be cancelled */
	char ends[160]; /* why its job is being cancelled; "" = it is not */
	char text[300]; /* what it is judged by */
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
	int acting;          /* its act is in the command that runs */
	int alone;           /* a batch with it was refused */
	int wants_jobs;      /* squeue decides */
	int wants_trials;    /* so does what there is of acceptances */
	enum bu_drain drain; /* as the last look says */
	int busy;            /* likewise: jobs run */
	struct bu_slurm_trial trial;
	int maint; /* as the last look says, it is in some reservation for that */
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
/* accept.c. text: as bu_slurm_trials_argv prints it. The node's acceptance goes on; of
 * an operation that wants none, what is left of an earlier one ends. */
void bu_slurm_decide_trials(struct bu_cluster_op *op, const char *text);
/* Before that, of each operation. */
void bu_slurm_note_trials(struct bu_cluster_op *op, const char *text);
void bu_slurm_trial_begin(struct bu_cluster_op *op,
			  const struct bu_cluster_acceptance *acceptance);
extern const char *const bu_slurm_trials_argv[];
/* Runs fn with the command of ACT_SET_ASIDE and of those that follow. */
void bu_slurm_trial_act(struct bu_cluster *cluster, const struct bu_cluster_op *first,
			void (*fn)(struct bu_cluster *cluster,
				   const char *const *argv));
/* Ends the operation. */
void bu_slurm_finish(struct bu_cluster_op *op, const struct bu_err *err);
/* What it did is seen by the next look. */
void bu_slurm_look_later(struct bu_cluster_op *op);
/* A command failed: it may pass; who waits without an end is told, and asks less often.
 */
void bu_slurm_try_later(struct bu_cluster_op *op, const struct bu_err *err);

#endif
