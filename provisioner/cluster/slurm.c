/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slurm through its own commands, as a Debian package ships them: sinfo observes,
 * scontrol acts. Each operation is a loop of "look, then do the one thing that is
 * missing", so that it may start anywhere and be repeated.
 */
#include "provisioner/cluster/slurm.h"

#include <string.h>

#include "base/log.h"
#include "base/worker.h"
#include "provisioner/cluster/cluster.h"

enum { LOOK_MS = 500, COMMAND_MS = 15000 };

struct bu_cluster_op {
	struct bu_loop *loop;
	char *env_conf;
	char *node_arg; /* "nodename=X" */
	char *node;
	int64_t until_ms;
	int admit;
	struct bu_job *job;
	struct bu_timer *timer;
	bu_cluster_fn fn;
	void *arg;
	char last[64]; /* what sinfo said last */
};

static const struct {
	const char *word;
	enum bu_slurm_view view;
} words[] = {
	{"inval", BU_SLURM_INVALID},     {"draining", BU_SLURM_DRAINING},
	{"drained", BU_SLURM_DRAINED},   {"drain", BU_SLURM_DRAINED},
	{"down", BU_SLURM_DRAINED},      {"idle", BU_SLURM_TAKING},
	{"mixed", BU_SLURM_TAKING},      {"allocated", BU_SLURM_TAKING},
	{"completing", BU_SLURM_TAKING}, {"planned", BU_SLURM_TAKING},
	{"reserved", BU_SLURM_TAKING},   {"maint", BU_SLURM_TAKING},
};

enum bu_slurm_view
bu_slurm_view(const char *text)
{
	/* "idle*": slurmctld has lost touch with it. */
	if (!*text || strchr(text, '*'))
		return BU_SLURM_UNKNOWN;
	for (size_t i = 0; i < BU_LEN(words); i++)
		if (strncmp(text, words[i].word, strlen(words[i].word)) == 0)
			return words[i].view;
	return BU_SLURM_UNKNOWN;
}

static void
op_free(struct bu_cluster_op *op)
{
	bu_timer_destroy(op->timer);
	free(op->env_conf);
	free(op->node_arg);
	free(op->node);
	free(op);
}

static void
finish(struct bu_cluster_op *op, const struct bu_err *err)
{
	bu_cluster_fn fn = op->fn;
	void *arg = op->arg;

	op_free(op);
	fn(err, arg);
}

static void
run(struct bu_cluster_op *op, const char *const *argv, bu_job_fn fn)
{
	const char *env[] = {op->env_conf, NULL};
	struct bu_job_opts opts = {.argv = argv, .env = env, .deadline_ms = COMMAND_MS};
	struct bu_err err;

	op->job = bu_job_start(op->loop, &opts, fn, op, &err);
	if (!op->job)
		finish(op, &err);
}

static void
look_later(struct bu_cluster_op *op)
{
	struct bu_err err;

	if (bu_loop_now_ms(op->loop) < op->until_ms) {
		bu_timer_set(op->timer, LOOK_MS);
		return;
	}
	bu_err_set(&err, BU_ERR_TIMEOUT, 0, "Slurm says '%s' for %s; see sinfo -R",
		   op->last, op->node);
	finish(op, &err);
}

static void
on_acted(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_cluster_op *op = arg;

	op->job = NULL;
	/* A refusal may be a race with the node's own registration: look again. */
	if (err)
		bu_warn("slurm", "%s: %s", op->node, err->text);
	look_later(op);
}

static void
act(struct bu_cluster_op *op, const char *verb, const char *state, const char *reason)
{
	const char *argv[] = {"scontrol", verb, op->node_arg, state, reason, NULL};

	run(op, argv, on_acted);
}

static void
decide_admit(struct bu_cluster_op *op, enum bu_slurm_view view)
{
	struct bu_err err;

	switch (view) {
	case BU_SLURM_TAKING:
		finish(op, NULL);
		return;
	case BU_SLURM_DRAINED:
	case BU_SLURM_DRAINING:
		act(op, "update", "state=resume", NULL);
		return;
	case BU_SLURM_INVALID:
		bu_err_set(&err, BU_ERR_REMOTE, 0,
			   "Slurm finds less on %s than its configuration says; see "
			   "scontrol show node %s",
			   op->node, op->node);
		finish(op, &err);
		return;
	case BU_SLURM_UNKNOWN:
		look_later(op);
	}
}

static void
decide_leave(struct bu_cluster_op *op, enum bu_slurm_view view)
{
	switch (view) {
	case BU_SLURM_TAKING:
	case BU_SLURM_INVALID:
		act(op, "update", "state=drain", "reason=bringup: leaves the cluster");
		return;
	case BU_SLURM_DRAINED:
		act(op, "delete", NULL, NULL);
		return;
	case BU_SLURM_DRAINING:
		look_later(op);
		return;
	case BU_SLURM_UNKNOWN:
		if (!op->last[0])
			finish(op, NULL);
		else
			act(op, "delete", NULL, NULL);
	}
}

static void
on_looked(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_cluster_op *op = arg;
	enum bu_slurm_view view;

	op->job = NULL;
	if (err) {
		snprintf(op->last, sizeof(op->last), "sinfo failed");
		look_later(op);
		return;
	}
	snprintf(op->last, sizeof(op->last), "%.*s", (int)strcspn(result->out, "\n"),
		 result->out);
	view = bu_slurm_view(op->last);
	if (op->admit)
		decide_admit(op, view);
	else
		decide_leave(op, view);
}

static void
look(void *arg)
{
	struct bu_cluster_op *op = arg;
	const char *argv[] = {"sinfo", "-h", "-N", "-o", "%T", "-n", op->node, NULL};

	run(op, argv, on_looked);
}

static struct bu_cluster_op *
start(struct bu_loop *loop, const struct bu_cluster_target *target, int admit,
      bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = bu_xcalloc(1, sizeof(*op));

	op->loop = loop;
	op->env_conf = bu_xasprintf("SLURM_CONF=%s", target->conf);
	op->node_arg = bu_xasprintf("nodename=%s", target->node);
	op->node = bu_xstrdup(target->node);
	op->until_ms = bu_loop_now_ms(loop) + target->deadline_ms;
	op->admit = admit;
	op->fn = fn;
	op->arg = arg;
	op->timer = bu_timer_create(loop, look, op);
	bu_timer_set(op->timer, 0);
	return op;
}

static struct bu_cluster_op *
slurm_admit(struct bu_loop *loop, const struct bu_cluster_target *target,
	    bu_cluster_fn fn, void *arg)
{
	return start(loop, target, 1, fn, arg);
}

static struct bu_cluster_op *
slurm_leave(struct bu_loop *loop, const struct bu_cluster_target *target,
	    bu_cluster_fn fn, void *arg)
{
	return start(loop, target, 0, fn, arg);
}

static void
slurm_cancel(struct bu_cluster_op *op)
{
	bu_job_cancel(op->job);
	op_free(op);
}

static const struct bu_cluster_driver slurm_driver = {
	.name = "slurm",
	.admit = slurm_admit,
	.leave = slurm_leave,
	.cancel = slurm_cancel,
};

static const struct bu_cluster_driver *const drivers[] = {&slurm_driver};

const struct bu_cluster_driver *
bu_cluster_driver(const char *name)
{
	for (size_t i = 0; i < BU_LEN(drivers); i++)
		if (strcmp(drivers[i]->name, name) == 0)
			return drivers[i];
	return NULL;
}
