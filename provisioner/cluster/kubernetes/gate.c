/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate before a restart of the machine, and the condition that says which
 * certificate a node has joined with. Called by ops.c after each look, and by admit.c.
 * Invariant: the gate is put back first; a node whose condition says False is gated.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/cluster/kubernetes/kube.h"

/* --- the condition --- */

static char *
message_of(const struct bu_cluster_op *op, int valid)
{
	if (!valid)
		return bu_xstrdup("bringup restarts its machine");
	return op->proof[0] ? bu_xasprintf("certificate %s", op->proof)
			    : bu_xstrdup("by bringup");
}

static int
is_told(const json_t *node, const char *status, const char *message)
{
	const json_t *all = bu_kube_at(node, "status", "conditions", NULL), *one;
	size_t i;

	json_array_foreach (all, i, one)
		if (strcmp(bu_json_str(one, "type", ""), BU_KUBE_CONDITION) == 0)
			return strcmp(bu_json_str(one, "status", ""), status) == 0 &&
			       strcmp(bu_json_str(one, "message", ""), message) == 0;
	return 0;
}

static void
told(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	if (answer->err.kind && answer->status != 409 && answer->status != 404)
		bu_kube_op_refused(op, answer);
	else if (answer->err.kind)
		bu_kube_op_later(op);
	else
		bu_kube_op_look(op);
}

int
bu_kube_op_tell(struct bu_cluster_op *op, const json_t *node, int valid)
{
	bu_autofree char *path =
		bu_xasprintf("/api/v1/nodes/%s/status?fieldManager=bringup", op->node);
	bu_autofree char *message = message_of(op, valid);
	const char *status = valid ? "True" : "False";
	bu_autojson json_t *body = NULL;
	struct bu_kube_request request = {
		.method = "PATCH", .path = path, .type = BU_KUBE_MERGE};
	char now[32];

	if (is_told(node, status, message))
		return 0;
	bu_kube_when(op->cluster, 0, now);
	body = json_pack("{s:{s:[{s:s,s:s,s:s,s:s,s:s}]}}", "status", "conditions",
			 "type", BU_KUBE_CONDITION, "status", status, "reason",
			 valid ? "Validated" : "Restarts", "message", message,
			 "lastTransitionTime", now);
	request.body = body;
	bu_kube_op_act(op, &request, told);
	return 1;
}

/* --- the decision --- */

void
bu_kube_decide_gate(struct bu_cluster_op *op, json_t *node)
{
	static const struct bu_kube_spec spec = {.gate = 1, .cordon = -1};

	if (!node)
		bu_kube_op_finish(op, NULL);
	else if (!bu_kube_op_patch(op, node, &spec) && !bu_kube_op_tell(op, node, 0))
		bu_kube_op_finish(op, NULL);
}
