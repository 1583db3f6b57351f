/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lets a node take work, and what changes its labels and taints later. Called by
 * ops.c after each look. Invariants: the gate goes last, when labels, taints and the
 * condition are there; a cordon of somebody else's stays.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/cluster/kubernetes/kube.h"

/* --- labels --- */

static int
is_held(const json_t *status)
{
	const json_t *all = bu_kube_at(status, "details", "causes", NULL), *one;
	size_t i;

	json_array_foreach (all, i, one)
		if (strcmp(bu_json_str(one, "reason", ""), "FieldManagerConflict") == 0)
			return 1;
	return 0;
}

static void
applied(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	struct bu_err err;

	if (answer->status == 409 && is_held(answer->body)) {
		bu_err_set(&err, BU_ERR_STATE, 0,
			   "%s: another manager has a label of [pool] labels: %s; take "
			   "it out of the profile, or have its manager give it up",
			   op->node, bu_json_str(answer->body, "message", ""));
		bu_kube_op_finish(op, &err);
	} else if (answer->status == 409 || answer->status == 404) {
		bu_kube_op_later(op);
	} else if (answer->err.kind) {
		bu_kube_op_refused(op, answer);
	} else {
		op->labelled = 1;
		bu_kube_op_look(op);
	}
}

static void
apply_labels(struct bu_cluster_op *op, const json_t *node)
{
	bu_autojson json_t *body = bu_kube_labels(node, op);
	bu_autofree char *path = bu_xasprintf(
		"/api/v1/nodes/%s?fieldManager=bringup&force=false", op->node);
	struct bu_kube_request request = {
		.method = "PATCH", .path = path, .type = BU_KUBE_APPLY, .body = body};

	bu_kube_op_act(op, &request, applied);
}

/* --- the decisions --- */

static int
patch_taints(struct bu_cluster_op *op, const json_t *node)
{
	return bu_kube_op_patch(
		op, node,
		&(struct bu_kube_spec){.taints = op->taints, .gate = -1, .cordon = -1});
}

/* An administrator's drain that is in the log is made again. */
static int
open_gate(struct bu_cluster_op *op, const json_t *node,
	  const struct bu_cluster_fact *fact)
{
	struct bu_kube_spec spec = {
		.gate = 0,
		.cordon = fact->drain == BU_DRAIN_OTHER ? -1 : op->known[0] != '\0',
		.drained = op->known[0] ? op->known : NULL,
	};

	return bu_kube_op_patch(op, node, &spec);
}

/* Not who takes work already (its gate was opened before a crash), and not who is kept
 * from work by somebody else. */
static int
is_tried(const struct bu_cluster_op *op, const json_t *node,
	 const struct bu_cluster_fact *fact)
{
	bu_autojson json_t *opens = bu_kube_spec_patch(
		node, &(struct bu_kube_spec){.gate = 0, .cordon = -1});

	return opens && !op->known[0] && fact->drain != BU_DRAIN_OTHER;
}

void
bu_kube_decide_admit(struct bu_cluster_op *op, json_t *node)
{
	struct bu_cluster_fact fact;

	if (!node || !bu_kube_is_ready(node)) {
		bu_kube_op_later(op);
		return;
	}
	bu_kube_fact(node, &fact);
	if (patch_taints(op, node))
		return;
	if (!op->labelled) {
		apply_labels(op, node);
	} else if (is_tried(op, node, &fact) && bu_kube_trial(op)) {
		return;
	} else if (bu_kube_op_tell(op, node, 1)) {
		return;
	} else if (open_gate(op, node, &fact)) {
		return;
	} else if (bu_kube_trial_sweep(op)) {
		return;
	} else if (!op->tidied) {
		bu_kube_op_tidy(op);
	} else {
		if (fact.drain == BU_DRAIN_OTHER)
			snprintf(op->detail, sizeof(op->detail), "it stays drained: %s",
				 fact.reason);
		bu_kube_op_finish(op, NULL);
	}
}

void
bu_kube_decide_relabel(struct bu_cluster_op *op, json_t *node)
{
	if (!node) {
		BU_TEXT_COPY(op->refusal, "it knows no such node");
		bu_kube_op_later(op);
	} else if (patch_taints(op, node)) {
		return;
	} else if (!op->labelled) {
		apply_labels(op, node);
	} else {
		bu_kube_op_finish(op, NULL);
	}
}
