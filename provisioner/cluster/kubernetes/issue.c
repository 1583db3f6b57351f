/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a node's bootstrap token. Called by driver.c. Invariant: bringup never reads a
 * Secret: one of the same name is deleted and made anew.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/cluster/kubernetes/kube.h"

#define SECRETS "/api/v1/namespaces/kube-system/secrets"

static void
deleted(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	if (answer->err.kind && answer->status != 404)
		bu_kube_op_refused(op, answer);
	else
		bu_kube_issue(op);
}

static void
replace(struct bu_cluster_op *op)
{
	char id[BU_KUBE_ID_SIZE];
	bu_autofree char *path = NULL;
	struct bu_kube_request request = {.method = "DELETE"};

	bu_kube_token_id(op->node, id);
	path = bu_xasprintf(SECRETS "/bootstrap-token-%s", id);
	request.path = path;
	bu_kube_op_act(op, &request, deleted);
}

static void
made(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	if (answer->status == 409) {
		replace(op);
	} else if (answer->err.kind) {
		bu_kube_op_refused(op, answer);
	} else {
		bu_kube_pass_give(op->cluster, op->node, op->address);
		bu_kube_op_finish(op, NULL);
	}
}

static void
wipe(char **secret)
{
	if (*secret)
		explicit_bzero(*secret, strlen(*secret));
	free(bu_steal(secret));
}

void
bu_kube_issue(struct bu_cluster_op *op)
{
	struct bu_kube_request request = {.method = "POST", .path = SECRETS};
	bu_autojson json_t *body = NULL;
	struct bu_err err;

	wipe(&op->secret);
	body = bu_kube_token_make(op->cluster, op->node, &op->secret, &err);
	request.body = body;
	if (body)
		bu_kube_op_act(op, &request, made);
	else
		bu_kube_op_finish(op, &err);
}
