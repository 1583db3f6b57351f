/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an operation does after each look at its cluster. Called by driver.c. Invariant:
 * a node has left only when Slurm has answered and does not know it: a node that is
 * merely drained gets jobs as soon as an administrator resumes it. No drain but
 * bringup's own is resumed, overwritten or forgotten.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "provisioner/cluster/slurm/op.h"

void
bu_slurm_op_free(struct bu_cluster_op *op)
{
	struct bu_cluster_op **link = &op->cluster->ops;

	while (*link != op)
		link = &(*link)->next;
	*link = op->next;
	free(op->node);
	free(op->features);
	free(op->known);
	free(op->trial.command);
	free(op);
}

void
bu_slurm_finish(struct bu_cluster_op *op, const struct bu_err *err)
{
	bu_cluster_fn fn = op->fn;
	void *arg = op->arg;
	char detail[sizeof(op->detail)], drained[sizeof(op->by_other)];
	struct bu_cluster_done done = {.detail = detail, .drained = drained};

	memcpy(detail, op->detail, sizeof(detail));
	memcpy(drained, op->by_other, sizeof(drained));
	bu_slurm_op_free(op);
	fn(err, &done, arg);
}

void
bu_slurm_look_later(struct bu_cluster_op *op)
{
	struct bu_err err;

	op->next_ms = bu_slurm_now(op->cluster) + op->look_ms;
	if (!op->until_ms || bu_slurm_now(op->cluster) < op->until_ms)
		return;
	if (op->refusal[0])
		bu_err_set(&err, BU_ERR_TIMEOUT, 0, "Slurm, about %s: %s", op->node,
			   op->refusal);
	else
		bu_err_set(&err, BU_ERR_TIMEOUT, 0,
			   "Slurm says '%s' for %s; see sinfo -R", op->last, op->node);
	bu_slurm_finish(op, &err);
}

static void
slow_down(struct bu_cluster_op *op)
{
	if (op->look_ms < BU_SLURM_LOOK_MAX_MS)
		op->look_ms *= 2;
	bu_slurm_look_later(op);
}

void
bu_slurm_try_later(struct bu_cluster_op *op, const struct bu_err *err)
{
	bu_autofree char *text = bu_xasprintf("Slurm: %s", err->text);

	bu_text_copy(op->refusal, sizeof(op->refusal), err->text);
	if (op->words)
		op->words(text, op->arg);
	slow_down(op);
}

/* A node that somebody else keeps from work is not tried. */
static int
wants_trials(struct bu_cluster_op *op, const struct bu_cluster_fact *fact)
{
	int tried = op->trial.command && !op->known[0] && fact->drain != BU_DRAIN_OTHER;

	op->trial.untried = !tried;
	op->drain = fact->drain;
	op->busy = fact->jobs;
	return tried ? !op->trial.passed : !op->trial.swept;
}

void
bu_slurm_decide_admit(struct bu_cluster_op *op, const struct bu_cluster_row *row)
{
	const struct bu_cluster_fact *fact = row ? &row->fact : NULL;
	struct bu_err err;

	if (row && row->invalid) {
		bu_err_set(&err, BU_ERR_REMOTE, 0,
			   "Slurm finds less on %s than its configuration says; see "
			   "scontrol show node %s",
			   op->node, op->node);
		bu_slurm_finish(op, &err);
	} else if (!row || !fact->responds) {
		bu_slurm_look_later(op);
	} else if (wants_trials(op, fact)) {
		op->wants_trials = 1;
	} else if (row->maint && !op->unreserved) {
		/* Of a drain that was called off, whoever has taken the drain over. */
		op->act = ACT_UNRESERVE;
	} else if (fact->drain == BU_DRAIN_OURS) {
		op->act = op->known[0] ? ACT_DRAIN_AGAIN : ACT_RESUME;
	} else {
		/* In service, or kept from it by somebody else, who will resume it. */
		if (fact->drain == BU_DRAIN_OTHER)
			snprintf(op->detail, sizeof(op->detail),
				 "it stays drained by %s: %s", fact->by, fact->reason);
		bu_slurm_finish(op, NULL);
	}
}

/* Only squeue tells of jobs that are suspended, and whose they are. */
void
bu_slurm_decide_leave(struct bu_cluster_op *op, const struct bu_cluster_row *row)
{
	const struct bu_cluster_fact *fact = row ? &row->fact : NULL;

	op->by_other[0] = '\0';
	if (!row) {
		bu_slurm_finish(op, NULL);
		return;
	}
	if (!op->trial.swept) {
		op->wants_trials = 1;
		return;
	}
	if (fact->drain == BU_DRAIN_OTHER) {
		snprintf(op->detail, sizeof(op->detail), "it was drained by %s: %s",
			 fact->by, fact->reason);
		if (strcmp(fact->reason, op->known) != 0)
			bu_text_copy(op->by_other, sizeof(op->by_other), fact->reason);
	}
	if (fact->drain == BU_DRAIN_NONE) {
		op->act = ACT_DRAIN;
		return;
	}
	op->drained = !fact->jobs;
	op->maint = row->maint;
	op->wants_jobs = 1;
}

void
bu_slurm_decide_jobs(struct bu_cluster_op *op, const char *jobs)
{
	bu_autofree char *text =
		bu_xasprintf("Slurm: draining; jobs%s%s", *jobs ? " " : "", jobs);

	if (op->drained && !*jobs) {
		if (op->by_other[0])
			bu_slurm_finish(op, NULL);
		else
			op->act = (op->reserved || op->maint) && !op->unreserved
					  ? ACT_UNRESERVE
					  : ACT_DELETE;
		return;
	}
	if (*jobs && !op->reserved && !op->maint &&
	    bu_slurm_now(op->cluster) - op->since_ms >= BU_SLURM_LONG_DRAIN_MS) {
		op->act = ACT_RESERVE;
		return;
	}
	if (op->words)
		op->words(text, op->arg);
	slow_down(op);
}

/* A node that is down without a drain would be in service as soon as it registers. */
void
bu_slurm_decide_gate(struct bu_cluster_op *op, const struct bu_cluster_row *row)
{
	if (!row || row->drains || row->fact.drain == BU_DRAIN_OTHER)
		bu_slurm_finish(op, NULL);
	else
		op->act = ACT_GATE;
}

void
bu_slurm_decide_relabel(struct bu_cluster_op *op, const struct bu_cluster_row *row)
{
	if (!row) {
		bu_text_copy(op->refusal, sizeof(op->refusal), "it knows no such node");
		bu_slurm_look_later(op);
	} else if (row->features_size == strlen(op->features) &&
		   strncmp(row->features ? row->features : "", op->features,
			   row->features_size) == 0) {
		bu_slurm_finish(op, NULL);
	} else {
		snprintf(op->last, sizeof(op->last), "features are others still");
		op->act = ACT_LABEL;
	}
}
