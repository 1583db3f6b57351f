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

/* Jobs may take hours to end: their node is looked at less and less often. */
enum { LOOK_MS = 500, LOOK_MAX_MS = 8000, COMMAND_MS = 15000 };
enum { JOBS_MAX_BYTES = 16 << 20 };

struct bu_cluster_op {
	struct bu_loop *loop;
	char *env_conf;
	char *node_arg; /* "nodename=X" */
	char *node;
	char *features;   /* wanted; "" = none */
	int64_t until_ms; /* 0 = no end */
	int64_t look_ms;
	void (*look)(struct bu_cluster_op *op);
	void (*decide)(struct bu_cluster_op *op, enum bu_slurm_view view);
	struct bu_job *job;
	struct bu_timer *timer;
	bu_cluster_fn fn;
	void (*words)(const char *text, void *arg);
	void *arg;
	char last[64];     /* what sinfo said last */
	char refusal[200]; /* the last command's, "" = it was done */
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
	free(op->features);
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
	struct bu_job_opts opts = {.argv = argv,
				   .env = env,
				   .deadline_ms = COMMAND_MS,
				   .output_max = JOBS_MAX_BYTES};
	struct bu_err err;

	op->job = bu_job_start(op->loop, &opts, fn, op, &err);
	if (!op->job)
		finish(op, &err);
}

static void
look_later(struct bu_cluster_op *op)
{
	struct bu_err err;

	if (!op->until_ms || bu_loop_now_ms(op->loop) < op->until_ms) {
		bu_timer_set(op->timer, op->look_ms);
		return;
	}
	if (op->refusal[0])
		bu_err_set(&err, BU_ERR_TIMEOUT, 0, "Slurm, about %s: %s", op->node,
			   op->refusal);
	else
		bu_err_set(&err, BU_ERR_TIMEOUT, 0,
			   "Slurm says '%s' for %s; see sinfo -R", op->last, op->node);
	finish(op, &err);
}

/* It may pass; who waits without an end is told, and asks less often. */
static void
try_later(struct bu_cluster_op *op, const struct bu_err *err)
{
	bu_autofree char *text = bu_xasprintf("Slurm: %s", err->text);

	bu_text_copy(op->refusal, sizeof(op->refusal), err->text);
	if (op->words)
		op->words(text, op->arg);
	if (op->look_ms < LOOK_MAX_MS)
		op->look_ms *= 2;
	look_later(op);
}

static void
on_acted(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_cluster_op *op = arg;

	op->job = NULL;
	op->refusal[0] = '\0';
	if (!err) {
		look_later(op);
		return;
	}
	/* A refusal may be a race with the node's own registration: look again. */
	bu_warn("slurm", "%s: %s", op->node, err->text);
	try_later(op, err);
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

/* Which jobs keep it, for people. */
static void
on_jobs(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_cluster_op *op = arg;
	char text[400];
	size_t len;

	op->job = NULL;
	if (!err) {
		len = (size_t)snprintf(text, sizeof(text), "Slurm: %s; jobs", op->last);
		for (const char *at = result->out; *at && len < sizeof(text) - 1;) {
			size_t line = strcspn(at, "\n");

			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"%s %.*s", at > result->out ? "," : "",
						(int)line, at);
			at += line + (at[line] != '\0');
		}
		op->words(text, op->arg);
	}
	if (op->look_ms < LOOK_MAX_MS)
		op->look_ms *= 2;
	look_later(op);
}

static void
ask_jobs(struct bu_cluster_op *op)
{
	const char *argv[] = {"squeue", "-h", "-o", "%i (%u)", "-w", op->node, NULL};

	if (op->words)
		run(op, argv, on_jobs);
	else
		look_later(op);
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
		ask_jobs(op);
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
		try_later(op, err);
		return;
	}
	op->refusal[0] = '\0';
	snprintf(op->last, sizeof(op->last), "%.*s", (int)strcspn(result->out, "\n"),
		 result->out);
	view = bu_slurm_view(op->last);
	op->decide(op, view);
}

static void
look_state(struct bu_cluster_op *op)
{
	const char *argv[] = {"sinfo", "-h", "-N", "-o", "%T", "-n", op->node, NULL};

	run(op, argv, on_looked);
}

/* "AvailableFeatures=rxe,lab ..." of scontrol's words; (null) is none. */
static int
has_features(const char *shown, const char *wanted)
{
	static const char key[] = " AvailableFeatures=";
	const char *value = strstr(shown, key);
	size_t len;

	if (!value)
		return 0;
	value += strlen(key);
	len = strcspn(value, " \n");
	if (len == strlen("(null)") && strncmp(value, "(null)", len) == 0)
		len = 0;
	return len == strlen(wanted) && strncmp(value, wanted, len) == 0;
}

static void
on_shown(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_cluster_op *op = arg;
	bu_autofree char *available = NULL, *active = NULL;

	op->job = NULL;
	if (err) {
		try_later(op, err);
		return;
	}
	op->refusal[0] = '\0';
	snprintf(op->last, sizeof(op->last), "features are others still");
	if (has_features(result->out, op->features)) {
		finish(op, NULL);
		return;
	}
	available = bu_xasprintf("availablefeatures=%s", op->features);
	active = bu_xasprintf("activefeatures=%s", op->features);
	act(op, "update", available, active);
}

static void
look_features(struct bu_cluster_op *op)
{
	const char *argv[] = {"scontrol", "-o", "show", "node", op->node, NULL};

	run(op, argv, on_shown);
}

/* A line for each job: "gpu[001-004]". */
static void
on_busy(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_cluster_op *op = arg;
	bu_autofree char *sets = err ? NULL : bu_xstrdup(result->out);
	size_t used = 0;

	op->job = NULL;
	for (size_t i = 0; sets && result->out[i]; i++) {
		int ends = result->out[i] == '\n';

		if (!ends || (used && sets[used - 1] != ','))
			sets[used++] = ends ? ',' : result->out[i];
	}
	if (sets) {
		sets[used && sets[used - 1] == ',' ? used - 1 : used] = '\0';
		op->words(sets, op->arg);
	}
	finish(op, err);
}

/* Pending jobs have no nodes yet. */
static void
look_busy(struct bu_cluster_op *op)
{
	const char *argv[] = {"squeue", "-h", "-t", "R,CG,CF,S", "-o", "%N", NULL};

	run(op, argv, on_busy);
}

static void
look(void *arg)
{
	struct bu_cluster_op *op = arg;

	op->look(op);
}

static struct bu_cluster_op *
start(struct bu_loop *loop, const struct bu_cluster_target *target, bu_cluster_fn fn,
      void *arg)
{
	struct bu_cluster_op *op = bu_xcalloc(1, sizeof(*op));

	op->loop = loop;
	op->env_conf = bu_xasprintf("SLURM_CONF=%s", target->conf);
	op->node_arg = bu_xasprintf("nodename=%s", target->node ? target->node : "");
	op->node = bu_xstrdup(target->node ? target->node : "");
	op->features = bu_xstrdup(target->features ? target->features : "");
	if (target->deadline_ms)
		op->until_ms = bu_loop_now_ms(loop) + target->deadline_ms;
	op->look_ms = LOOK_MS;
	op->look = look_state;
	op->words = target->words;
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
	struct bu_cluster_op *op = start(loop, target, fn, arg);

	op->decide = decide_admit;
	return op;
}

static struct bu_cluster_op *
slurm_leave(struct bu_loop *loop, const struct bu_cluster_target *target,
	    bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = start(loop, target, fn, arg);

	op->decide = decide_leave;
	return op;
}

static struct bu_cluster_op *
slurm_relabel(struct bu_loop *loop, const struct bu_cluster_target *target,
	      bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = start(loop, target, fn, arg);

	op->look = look_features;
	return op;
}

static struct bu_cluster_op *
slurm_busy(struct bu_loop *loop, const struct bu_cluster_target *target,
	   bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = start(loop, target, fn, arg);

	op->look = look_busy;
	return op;
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
	.relabel = slurm_relabel,
	.busy = slurm_busy,
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
