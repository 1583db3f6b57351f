/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slurm through its own commands, as a Debian package ships them. A cluster runs one
 * command at a time: `scontrol -o show node` for all of its nodes, squeue where it
 * matters which jobs keep a node, and what operations do, the same for many nodes in
 * one call. Each operation is a loop of "look, then do the one thing that is missing",
 * so that it may start anywhere and be repeated. Invariant: an operation decides only
 * by a look that began after the operation, and after the last thing that it did.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "provisioner/cluster/drivers.h"
#include "provisioner/cluster/slurm/op.h"

/* Before the name of a node. */
#define BU_SLURM_RESERVATION "bringup-"

enum { COMMAND_MS = 15000, OUTPUT_MAX_BYTES = 32 << 20, BATCH_MAX = 500 };

static void pump(struct bu_cluster *cluster);

static void
run(struct bu_cluster *cluster, const char *const *argv, bu_job_fn fn)
{
	const char *env[] = {cluster->env_conf, NULL};
	struct bu_job_opts opts = {.argv = argv,
				   .env = env,
				   .deadline_ms = COMMAND_MS,
				   .output_max = OUTPUT_MAX_BYTES};
	struct bu_err err;

	cluster->job = bu_job_start(cluster->loop, &opts, fn, cluster, &err);
	if (!cluster->job)
		fn(NULL, &err, cluster);
}

static int
is_due(const struct bu_cluster_op *op)
{
	return !op->act && op->cluster->looks > op->after &&
	       bu_slurm_now(op->cluster) >= op->next_ms;
}

static int
is_whole(const struct bu_job_result *result, struct bu_err *err)
{
	if (result->out_size < OUTPUT_MAX_BYTES &&
	    strlen(result->out) == result->out_size)
		return 1;
	bu_err_set(err, BU_ERR_REMOTE, 0, "scontrol printed more than can be read");
	return 0;
}

/* Callbacks may end operations: the walk begins anew after each that was due. */
static struct bu_cluster_op *
next_due(struct bu_cluster *cluster)
{
	for (struct bu_cluster_op *op = cluster->ops; op; op = op->next)
		if (is_due(op) && !op->wants_jobs && !op->wants_trials)
			return op;
	return NULL;
}

static void
decide_all(struct bu_cluster *cluster, const struct bu_cluster_row *rows, size_t count,
	   const struct bu_err *err)
{
	struct bu_cluster_op *op;

	while ((op = next_due(cluster))) {
		const struct bu_cluster_row *row = bu_slurm_find(rows, count, op->node);

		op->after = cluster->looks;
		if (err) {
			bu_slurm_try_later(op, err);
			continue;
		}
		op->refusal[0] = '\0';
		snprintf(op->last, sizeof(op->last), "%s",
			 row ? row->fact.state : "not known");
		op->decide(op, row);
	}
}

static void
on_looked(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_cluster *cluster = arg;
	struct bu_cluster_row *rows = NULL;
	struct bu_err bad;
	size_t count = 0;

	err = bu_slurm_explain(err, &bad);
	cluster->job = NULL;
	cluster->looking = 0;
	cluster->looks++;
	cluster->looked_ms = bu_slurm_now(cluster);
	if (!err && (!is_whole(result, &bad) ||
		     bu_slurm_parse(result->out, &rows, &count, &bad) != 0))
		err = &bad;
	if (cluster->seen)
		cluster->seen(rows, count, err, cluster->arg);
	decide_all(cluster, rows, count, err);
	free(rows);
	pump(cluster);
}

static void
on_jobs(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_cluster *cluster = arg;
	struct bu_err bad;
	struct bu_cluster_op *op;

	err = bu_slurm_explain(err, &bad);
	cluster->job = NULL;
	if (!err && !is_whole(result, &bad))
		err = &bad;
	for (;;) {
		bu_autofree char *jobs = NULL;

		for (op = cluster->ops; op && !op->wants_jobs;)
			op = op->next;
		if (!op)
			break;
		op->wants_jobs = 0;
		if (err) {
			bu_slurm_try_later(op, err);
			continue;
		}
		jobs = bu_slurm_jobs_of(result->out, op->node);
		bu_slurm_decide_jobs(op, jobs);
	}
	pump(cluster);
}

static void
on_trials(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_cluster *cluster = arg;
	struct bu_cluster_op *op;
	struct bu_err bad;

	err = bu_slurm_explain(err, &bad);
	cluster->job = NULL;
	if (!err && !is_whole(result, &bad))
		err = &bad;
	for (op = cluster->ops; op && !err; op = op->next)
		if (op->wants_trials)
			bu_slurm_note_trials(op, result->out);
	for (op = cluster->ops; op;) {
		if (!op->wants_trials) {
			op = op->next;
			continue;
		}
		op->wants_trials = 0;
		if (err)
			bu_slurm_try_later(op, err);
		else
			bu_slurm_decide_trials(op, result->out);
		op = cluster->ops; /* it may have ended some */
	}
	pump(cluster);
}

/* Those of the batch that has just run. */
static struct bu_cluster_op *
next_acting(struct bu_cluster *cluster)
{
	struct bu_cluster_op *op = cluster->ops;

	while (op && !op->acting)
		op = op->next;
	if (op)
		op->acting = 0;
	return op;
}

/* The error that is worth a second try. A site may allow no reservations; the end of
 * one is tried until there is none, as its node gets no job before, and nothing tells.
 */
static const struct bu_err *
note_reservation(struct bu_cluster_op *op, const struct bu_err *err)
{
	int over = op->act == ACT_RESERVE ||
		   (op->act == ACT_UNRESERVE &&
		    (!err || bu_slurm_has_no_reservation(err->text)));

	op->reserved |= op->act == ACT_RESERVE;
	op->unreserved |= op->act == ACT_UNRESERVE && over;
	if (err && over)
		bu_info("slurm", "%s: %s", op->node, err->text);
	return over ? NULL : err;
}

static void
on_acted(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_cluster *cluster = arg;
	struct bu_cluster_op *op;
	struct bu_err bad;
	size_t count = 0;

	err = bu_slurm_explain(err, &bad);
	cluster->job = NULL;
	for (op = cluster->ops; op; op = op->next)
		count += op->acting != 0;
	while ((op = next_acting(cluster))) {
		const struct bu_err *bad_act;

		/* One that is not there is enough for Slurm to refuse all of them. */
		if (err && count > 1) {
			op->alone = 1;
			continue;
		}
		bad_act = note_reservation(op, err);
		op->act = ACT_NONE;
		op->after = cluster->looks;
		if (bad_act) {
			/* It may be a race with the node's own registration. */
			bu_warn("slurm", "%s: %s", op->node, bad_act->text);
			bu_slurm_try_later(op, bad_act);
			continue;
		}
		op->refusal[0] = '\0';
		bu_slurm_look_later(op);
	}
	pump(cluster);
}

/* The nodes of one call: those that want the same as the first. Owned. */
static char *
gather(struct bu_cluster *cluster, const struct bu_cluster_op *first)
{
	char *names = NULL;
	size_t size, count = 0;
	FILE *out = open_memstream(&names, &size);

	bu_assert(out);
	fputs("nodename=", out);
	for (struct bu_cluster_op *op = cluster->ops; op; op = op->next) {
		if (op != first &&
		    (op->act != first->act || op->alone || first->alone ||
		     first->act >= ACT_RESERVE || count == BATCH_MAX ||
		     strcmp(op->features, first->features) != 0 ||
		     strcmp(op->known, first->known) != 0))
			continue;
		op->acting = 1;
		fprintf(out, "%s%s", count++ ? "," : "", op->node);
	}
	fclose(out);
	return names;
}

/* Of drains that are bringup's own. */
static const char *const reasons[] = {
	[ACT_DRAIN] = "reason=" BU_SLURM_MARK " leaves the cluster",
	[ACT_GATE] = "reason=" BU_SLURM_MARK " its machine restarts",
	[ACT_REFUSE] = "reason=" BU_SLURM_MARK " not accepted",
};

static void
run_act(struct bu_cluster *cluster, const struct bu_cluster_op *first)
{
	bu_autofree char *names = gather(cluster, first);
	bu_autofree char *available =
		bu_xasprintf("availablefeatures=%s", first->features);
	bu_autofree char *active = bu_xasprintf("activefeatures=%s", first->features);
	bu_autofree char *known = bu_xasprintf("reason=%s", first->known);
	bu_autofree char *reservation =
		bu_xasprintf("reservationname=" BU_SLURM_RESERVATION "%s", first->node);
	bu_autofree char *nodes = bu_xasprintf("nodes=%s", first->node);
	const char *reserve[] = {"scontrol",
				 "create",
				 "reservation",
				 reservation,
				 nodes,
				 "starttime=now",
				 "duration=UNLIMITED",
				 "flags=maint,ignore_jobs",
				 "users=root",
				 NULL};
	const char *argv[] = {"scontrol", "update", names, NULL, NULL, NULL};

	switch (first->act) {
	case ACT_NONE:
		return;
	case ACT_RESUME:
		argv[3] = "state=resume";
		break;
	case ACT_DRAIN:
	case ACT_GATE:
	case ACT_REFUSE:
		argv[3] = "state=drain";
		argv[4] = reasons[first->act];
		break;
	case ACT_DRAIN_AGAIN:
		argv[3] = "state=drain";
		argv[4] = known;
		break;
	case ACT_DELETE:
		argv[1] = "delete";
		break;
	case ACT_LABEL:
		argv[3] = available;
		argv[4] = active;
		break;
	case ACT_RESERVE:
		run(cluster, reserve, on_acted);
		return;
	case ACT_SET_ASIDE:
	case ACT_SUBMIT:
	case ACT_CANCEL:
	case ACT_FREE:
		return; /* of accept.c */
	case ACT_UNRESERVE:
		argv[1] = "delete";
		argv[2] = reservation;
	}
	run(cluster, argv, on_acted);
}

static void
run_trial(struct bu_cluster *cluster, const char *const *argv)
{
	run(cluster, argv, on_acted);
}

static void
begin_act(struct bu_cluster *cluster, struct bu_cluster_op *first)
{
	if (first->act < ACT_SET_ASIDE) {
		run_act(cluster, first);
		return;
	}
	first->acting = 1;
	bu_slurm_trial_act(cluster, first, run_trial);
}

static void
run_look(struct bu_cluster *cluster)
{
	const char *argv[] = {"scontrol", "-o", "show", "node", NULL};

	cluster->asked = 0;
	cluster->looking = 1;
	run(cluster, argv, on_looked);
}

static void
run_jobs(struct bu_cluster *cluster)
{
	const char *argv[] = {"squeue", "-h",         "-t", "R,CG,CF,S",
			      "-o",     "%N|%i (%u)", NULL};

	run(cluster, argv, on_jobs);
}

/* Begins what is wanted most: jobs that a look has asked for, acts, another look. */
static void
pump(struct bu_cluster *cluster)
{
	const struct bu_cluster_op *jobs = NULL, *trials = NULL;
	struct bu_cluster_op *act = NULL;
	int64_t next_ms = 0;

	if (cluster->job)
		return;
	for (struct bu_cluster_op *op = cluster->ops; op; op = op->next) {
		act = !act && op->act ? op : act;
		jobs = op->wants_jobs ? op : jobs;
		trials = op->wants_trials ? op : trials;
		if (!next_ms || op->next_ms < next_ms)
			next_ms = op->next_ms;
	}
	/* However many operations there are. */
	if (next_ms && next_ms < cluster->looked_ms + BU_SLURM_LOOK_MS)
		next_ms = cluster->looked_ms + BU_SLURM_LOOK_MS;
	if (jobs)
		run_jobs(cluster);
	else if (trials)
		run(cluster, bu_slurm_trials_argv, on_trials);
	else if (act)
		begin_act(cluster, act);
	else if (cluster->asked || (next_ms && next_ms <= bu_slurm_now(cluster)))
		run_look(cluster);
	else if (next_ms)
		bu_timer_set(cluster->timer, next_ms - bu_slurm_now(cluster));
}

static void
on_timer(void *arg)
{
	pump(arg);
}

/* --- the vtable --- */

static struct bu_cluster *
slurm_open(struct bu_loop *loop, const char *handle, bu_cluster_seen_fn seen, void *arg)
{
	struct bu_cluster *cluster = bu_xcalloc(1, sizeof(*cluster));

	cluster->loop = loop;
	cluster->env_conf = bu_xasprintf("SLURM_CONF=%s", handle);
	cluster->seen = seen;
	cluster->arg = arg;
	cluster->timer = bu_timer_create(loop, on_timer, cluster);
	return cluster;
}

static void
slurm_close(struct bu_cluster *cluster)
{
	if (!cluster)
		return;
	bu_job_cancel(cluster->job);
	while (cluster->ops)
		bu_slurm_op_free(cluster->ops);
	bu_timer_destroy(cluster->timer);
	free(cluster->env_conf);
	free(cluster);
}

static void
slurm_observe(struct bu_cluster *cluster)
{
	cluster->asked = !cluster->looking;
	bu_timer_set(cluster->timer, 0);
}

static struct bu_cluster_op *
start(struct bu_cluster *cluster, const struct bu_cluster_target *target,
      bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = bu_xcalloc(1, sizeof(*op));
	struct bu_cluster_op **link = &cluster->ops;

	op->cluster = cluster;
	op->node = bu_xstrdup(target->member.name);
	op->features =
		bu_xstrdup(target->member.features ? target->member.features : "");
	op->known = bu_xstrdup(target->drained ? target->drained : "");
	op->since_ms = op->next_ms = bu_slurm_now(cluster);
	if (target->deadline_ms)
		op->until_ms = op->next_ms + target->deadline_ms;
	op->look_ms = BU_SLURM_LOOK_MS;
	bu_slurm_trial_begin(op, target->acceptance);
	op->words = target->words;
	op->fn = fn;
	op->arg = arg;
	op->after = cluster->looks + cluster->looking;
	while (*link)
		link = &(*link)->next;
	*link = op;
	bu_timer_set(cluster->timer, 0);
	return op;
}

#define OPERATION(verb)                                                                \
	static struct bu_cluster_op *slurm_##verb(                                     \
		struct bu_cluster *cluster, const struct bu_cluster_target *target,    \
		bu_cluster_fn fn, void *arg)                                           \
	{                                                                              \
		struct bu_cluster_op *op = start(cluster, target, fn, arg);            \
                                                                                       \
		op->decide = bu_slurm_decide_##verb;                                   \
		return op;                                                             \
	}

OPERATION(admit)
OPERATION(leave)
OPERATION(gate)
OPERATION(relabel)

/* slurm.conf says all that the commands need. */
static void
slurm_handle(const struct bu_cluster_site *site, char ret[BU_CLUSTER_HANDLE_SIZE])
{
	bu_text_copy(ret, BU_CLUSTER_HANDLE_SIZE, site->conf);
}

const struct bu_cluster_driver bu_cluster_slurm = {
	.name = "slurm",
	.needs = "slurmd",
	.handle = slurm_handle,
	.secret = bu_slurm_secret,
	.client = bu_slurm_client,
	.open = slurm_open,
	.close = slurm_close,
	.observe = slurm_observe,
	.admit = slurm_admit,
	.leave = slurm_leave,
	.gate = slurm_gate,
	.relabel = slurm_relabel,
	.cancel = bu_slurm_op_free,
};
