/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operations share: each is a loop of "look at the node, then do the one thing
 * that is missing", so that it may start anywhere and be repeated. Called by driver.c
 * and by what decides. Invariants: one request of an operation is under way at most; it
 * decides only by a look that began after the last thing that it did.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/cluster/kubernetes/kube.h"

void
bu_kube_op_free(struct bu_cluster_op *op)
{
	struct bu_cluster_op **link = &op->cluster->ops;

	while (*link != op)
		link = &(*link)->next;
	*link = op->next;
	bu_kube_drop(op->cluster, &op->exchange);
	bu_timer_destroy(op->timer);
	free(op->node);
	free(op->labels);
	free(op->taints);
	free(op->address);
	free(op->proof);
	free(op->known);
	free(op->blocked);
	free(op->trial.command);
	free(op->trial.image);
	free(op->trial.once);
	json_decref(op->pods);
	if (op->secret)
		explicit_bzero(op->secret, strlen(op->secret));
	free(op->secret);
	free(op->fault);
	free(op->code);
	free(op);
}

void
bu_kube_op_finish(struct bu_cluster_op *op, const struct bu_err *err)
{
	char detail[sizeof(op->detail)], drained[sizeof(op->drained)];
	char *secret = bu_steal(&op->secret);
	struct bu_cluster_done done = {.detail = detail, .drained = drained};
	bu_cluster_fn fn = op->fn;
	void *arg = op->arg;

	memcpy(detail, op->detail, sizeof(detail));
	memcpy(drained, op->drained, sizeof(drained));
	if (!err && secret) {
		done.secret = secret;
		done.secret_size = strlen(secret);
	}
	bu_kube_op_free(op);
	fn(err, &done, arg);
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

void
bu_kube_op_say(struct bu_cluster_op *op, const char *text)
{
	bu_autofree char *words = bu_xasprintf("Kubernetes: %s", text);

	if (op->words)
		op->words(words, op->arg);
}

void
bu_kube_op_later(struct bu_cluster_op *op)
{
	struct bu_err err;

	if (!op->until_ms || bu_kube_now(op->cluster) < op->until_ms) {
		bu_timer_set(op->timer, op->look_ms);
		return;
	}
	if (op->refusal[0])
		bu_err_set(&err, BU_ERR_TIMEOUT, 0, "Kubernetes, about %s: %s",
			   op->node, op->refusal);
	else
		bu_err_set(&err, BU_ERR_TIMEOUT, 0,
			   "Kubernetes says '%s' of %s; see kubectl describe node %s",
			   op->last, op->node, op->node);
	bu_kube_op_finish(op, &err);
}

void
bu_kube_op_slower(struct bu_cluster_op *op)
{
	if (op->look_ms < BU_KUBE_LOOK_MAX_MS)
		op->look_ms *= 2;
	bu_kube_op_later(op);
}

static void
refuse(struct bu_cluster_op *op, const struct bu_err *err)
{
	if (err->kind == BU_ERR_BUSY) {
		bu_kube_op_later(op);
		return;
	}
	BU_TEXT_COPY(op->refusal, err->text);
	bu_kube_op_say(op, err->text);
	bu_kube_op_slower(op);
}

void
bu_kube_op_refused(struct bu_cluster_op *op, const struct bu_kube_answer *answer)
{
	if (answer->after_ms > op->look_ms)
		op->look_ms = answer->after_ms > BU_KUBE_LOOK_MAX_MS
				      ? BU_KUBE_LOOK_MAX_MS
				      : answer->after_ms;
	refuse(op, &answer->err);
}

/* --- acts --- */

static void
on_acted(struct bu_http_answer *http, const struct bu_err *err, void *arg)
{
	struct bu_cluster_op *op = arg;
	struct bu_kube_answer answer;

	op->exchange = NULL;
	bu_kube_read(op->cluster, http, err, &answer);
	op->acted(op, &answer);
	bu_kube_answer_fini(&answer);
}

void
bu_kube_op_act(struct bu_cluster_op *op, const struct bu_kube_request *request,
	       void (*acted)(struct bu_cluster_op *op, struct bu_kube_answer *answer))
{
	struct bu_err err;

	op->acted = acted;
	op->exchange = bu_kube_send(op->cluster, request, on_acted, op, &err);
	if (!op->exchange)
		refuse(op, &err);
}

static int
is_raced(const struct bu_kube_answer *answer)
{
	return answer->status == 409 || answer->status == 422 || answer->status == 404;
}

/* Somebody else has written meanwhile: the next look tells what is there now. */
static void
patched(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	if (!answer->err.kind)
		bu_kube_op_look(op);
	else if (is_raced(answer))
		bu_kube_op_later(op);
	else
		bu_kube_op_refused(op, answer);
}

int
bu_kube_op_patch(struct bu_cluster_op *op, const json_t *node,
		 const struct bu_kube_spec *spec)
{
	bu_autojson json_t *patch = bu_kube_spec_patch(node, spec);
	bu_autofree char *path =
		bu_xasprintf("/api/v1/nodes/%s?fieldManager=bringup", op->node);
	struct bu_kube_request request = {
		.method = "PATCH", .path = path, .type = BU_KUBE_PATCH, .body = patch};

	if (!patch)
		return 0;
	bu_kube_op_act(op, &request, patched);
	return 1;
}

static void
tidied(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	if (answer->err.kind && answer->status != 404) {
		bu_kube_op_refused(op, answer);
		return;
	}
	op->tidied = 1;
	bu_kube_op_look(op);
}

void
bu_kube_op_tidy(struct bu_cluster_op *op)
{
	char id[BU_KUBE_ID_SIZE];
	bu_autofree char *path = NULL;
	struct bu_kube_request request = {.method = "DELETE"};

	bu_kube_pass_take(op->cluster, op->node);
	bu_kube_token_id(op->node, id);
	path = bu_xasprintf("/api/v1/namespaces/kube-system/secrets/bootstrap-token-%s",
			    id);
	request.path = path;
	bu_kube_op_act(op, &request, tidied);
}

/* --- looks --- */

static void
note_state(struct bu_cluster_op *op, const json_t *node)
{
	struct bu_cluster_fact fact = {0};

	if (node)
		bu_kube_fact(node, &fact);
	BU_TEXT_COPY(op->last, node ? fact.state : "not known");
}

static void
looked(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	if (answer->status != 404 &&
	    (answer->err.kind || !json_is_object(answer->body))) {
		if (!answer->err.kind)
			bu_err_set(&answer->err, BU_ERR_REMOTE, 0,
				   "the API server answers with no node");
		bu_kube_op_refused(op, answer);
		return;
	}
	op->refusal[0] = '\0';
	note_state(op, answer->status == 404 ? NULL : answer->body);
	op->decide(op, answer->status == 404 ? NULL : answer->body);
}

void
bu_kube_op_look(struct bu_cluster_op *op)
{
	bu_autofree char *path = bu_xasprintf("/api/v1/nodes/%s", op->node);
	struct bu_kube_request request = {.method = "GET", .path = path};

	bu_kube_op_act(op, &request, looked);
}

static void
on_timer(void *arg)
{
	struct bu_cluster_op *op = arg;

	op->begin(op);
}

static char *
own(const char *text)
{
	return bu_xstrdup(text ? text : "");
}

static void
begin_trial(struct bu_kube_trial *trial, const struct bu_cluster_acceptance *acceptance)
{
	if (!acceptance)
		return;
	trial->command = own(acceptance->command);
	trial->image = own(acceptance->image);
	trial->once = own(acceptance->once);
	trial->least = acceptance->least;
	trial->limit_ms = acceptance->limit_ms;
}

struct bu_cluster_op *
bu_kube_op_start(struct bu_cluster *cluster, const struct bu_cluster_target *target,
		 bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = bu_xcalloc(1, sizeof(*op));

	op->cluster = cluster;
	op->node = own(target->member.name);
	op->labels = own(target->member.labels);
	op->taints = own(target->member.taints);
	op->address = own(target->member.address);
	op->proof = own(target->proof);
	op->known = own(target->drained);
	if (target->deadline_ms)
		op->until_ms = bu_kube_now(cluster) + target->deadline_ms;
	op->look_ms = BU_KUBE_LOOK_MS;
	begin_trial(&op->trial, target->acceptance);
	op->begin = bu_kube_op_look;
	op->words = target->words;
	op->fn = fn;
	op->arg = arg;
	op->timer = bu_timer_create(cluster->loop, on_timer, op);
	op->next = cluster->ops;
	cluster->ops = op;
	bu_timer_set(op->timer, 0);
	return op;
}
