/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate before a restart of the machine, the condition that says which certificate a
 * node has joined with, and the one that says what is wrong with it. Called by ops.c
 * after each look, by admit.c and by driver.c.
 * Invariant: the gate is put back first; a node whose condition says False is gated.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/cluster/kubernetes/kube.h"

enum { FAULT_MS = 60000 };

/* --- the condition --- */

static char *
message_of(const struct bu_cluster_op *op, int valid)
{
	if (!valid)
		return bu_xstrdup("bringup restarts its machine");
	return op->proof[0] ? bu_xasprintf("certificate %s", op->proof)
			    : bu_xstrdup("by bringup");
}

/* A condition as it is to be. */
struct told {
	const char *type, *status, *reason, *message;
};

static int
is_told(const json_t *node, const struct told *told)
{
	const json_t *now = bu_kube_condition(node, told->type);

	return now && strcmp(bu_json_str(now, "status", ""), told->status) == 0 &&
	       strcmp(bu_json_str(now, "message", ""), told->message) == 0;
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

static int
tell(struct bu_cluster_op *op, const json_t *node, const struct told *as)
{
	bu_autofree char *path =
		bu_xasprintf("/api/v1/nodes/%s/status?fieldManager=bringup", op->node);
	bu_autojson json_t *body = NULL;
	struct bu_kube_request request = {
		.method = "PATCH", .path = path, .type = BU_KUBE_MERGE};
	char now[32];

	if (is_told(node, as))
		return 0;
	bu_kube_when(op->cluster, 0, now);
	body = json_pack("{s:{s:[{s:s,s:s,s:s,s:s,s:s}]}}", "status", "conditions",
			 "type", as->type, "status", as->status, "reason", as->reason,
			 "message", as->message, "lastTransitionTime", now);
	request.body = body;
	bu_kube_op_act(op, &request, told);
	return 1;
}

int
bu_kube_op_tell(struct bu_cluster_op *op, const json_t *node, int valid)
{
	bu_autofree char *message = message_of(op, valid);
	const struct told as = {BU_KUBE_CONDITION, valid ? "True" : "False",
				valid ? "Validated" : "Restarts", message};

	return tell(op, node, &as);
}

/* --- what is wrong with a node --- */

static void
decide_fault(struct bu_cluster_op *op, json_t *node)
{
	int on = op->fault[0] != '\0';
	const struct told as = {BU_KUBE_FAULT, on ? "True" : "False",
				on ? op->code : "NoFault",
				on ? op->fault : "bringup finds nothing wrong"};

	if (!node || !tell(op, node, &as))
		bu_kube_op_finish(op, NULL);
}

/* It is compared with what is there at the next call. */
static void
on_fault(const struct bu_err *err, const struct bu_cluster_done *done, void *arg)
{
	(void)err;
	(void)done;
	(void)arg;
}

void
bu_kube_fault(struct bu_cluster *cluster, const char *node, const char *code,
	      const char *text)
{
	const struct bu_kube_node *known = bu_kube_find(cluster, node);
	const struct bu_cluster_target target = {.member = {.name = node},
						 .deadline_ms = FAULT_MS};
	char fault[sizeof(known->fault)];
	struct bu_cluster_op *op;

	bu_text_copy(fault, sizeof(fault), text ? text : "");
	if (!known || strcmp(known->fault, fault) == 0)
		return;
	for (op = cluster->ops; op; op = op->next)
		if (op->fault && strcmp(op->node, node) == 0)
			return;
	op = bu_kube_op_start(cluster, &target, on_fault, NULL);
	op->fault = bu_xstrdup(fault);
	op->code = bu_xstrdup(code ? code : "");
	op->decide = decide_fault;
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
