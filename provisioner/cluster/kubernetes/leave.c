/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What takes a node out. Called by ops.c after each look. Invariants: no pod is deleted
 * past its disruption budget; a node has left only when the API server answers and does
 * not know it; pods of DaemonSets and of the kubelet itself end with their node.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/cluster/kubernetes/kube.h"

enum { NAMED_MAX = 3 };

static void evict_next(struct bu_cluster_op *op);

/* --- what is left of a node that is gone --- */

static void
dropped(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	if (answer->err.kind && answer->status != 404)
		bu_kube_op_refused(op, answer);
	else
		bu_kube_op_look(op);
}

/* Of the node's certificate requests; NULL = none is left. */
static const char *
request_of(const struct bu_cluster_op *op)
{
	const char *name;
	json_t *node;

	json_object_foreach (op->cluster->requests.of, name, node)
		if (strcmp(json_string_value(node), op->node) == 0)
			return name;
	return NULL;
}

static void
clear_up(struct bu_cluster_op *op)
{
	const char *name = request_of(op);
	bu_autofree char *path = NULL;
	struct bu_kube_request request = {.method = "DELETE"};

	if (!op->tidied) {
		bu_kube_op_tidy(op);
	} else if (name) {
		path = bu_xasprintf(
			"/apis/certificates.k8s.io/v1/certificatesigningrequests/%s",
			name);
		request.path = path;
		json_object_del(op->cluster->requests.of, name);
		bu_kube_op_act(op, &request, dropped);
	} else {
		bu_kube_op_finish(op, NULL);
	}
}

/* --- pods --- */

static int
has_ended(const struct bu_cluster_op *op, const json_t *pod)
{
	return !bu_kube_pod_is_work(pod) ||
	       (op->absent && bu_kube_at(pod, "metadata", "deletionTimestamp", NULL));
}

static const char *
space_of(const json_t *pod)
{
	return bu_json_str(json_object_get(pod, "metadata"), "namespace", "default");
}

/* "default/a, default/b and 3 more" */
static char *
name_pods(const json_t *pods)
{
	size_t count = json_array_size(pods), i;
	char *text = NULL;
	json_t *pod;

	json_array_foreach (pods, i, pod)
		if (i < NAMED_MAX)
			bu_text_add(&text, ", ", "%s/%s", space_of(pod),
				    bu_kube_name(pod));
	if (count > NAMED_MAX)
		bu_text_add(&text, " and ", "%zu more", count - NAMED_MAX);
	return text;
}

/* The cause says which budget, the message only that there is one. */
static const char *
cause_of(const json_t *status)
{
	const json_t *first =
		json_array_get(bu_kube_at(status, "details", "causes", NULL), 0);

	return bu_json_str(first, "message", bu_json_str(status, "message", ""));
}

static void
note_blocked(struct bu_cluster_op *op, const json_t *pod, const json_t *status)
{
	char since[32];

	if (!op->blocked_ms)
		op->blocked_ms = bu_wall_ms(bu_loop_clock(op->cluster->loop));
	bu_kube_when_ms(op->blocked_ms, since);
	free(op->blocked);
	op->blocked =
		bu_xasprintf("draining; pod %s/%s is kept since %s: %s", space_of(pod),
			     bu_kube_name(pod), since, cause_of(status));
}

static void
end_round(struct bu_cluster_op *op)
{
	if (op->blocked)
		bu_kube_op_say(op, op->blocked);
	else
		op->blocked_ms = 0;
	bu_kube_op_slower(op);
}

static void
evicted(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	bu_autojson json_t *pod = json_incref(json_array_get(op->pods, 0));

	if (answer->status == 429)
		note_blocked(op, pod, answer->body);
	if (answer->err.kind && answer->status != 429 && answer->status != 404) {
		bu_kube_op_refused(op, answer);
		return;
	}
	json_array_remove(op->pods, 0);
	evict_next(op);
}

static void
evict(struct bu_cluster_op *op, const json_t *pod)
{
	bu_autofree char *path = bu_xasprintf("/api/v1/namespaces/%s/pods/%s/eviction",
					      space_of(pod), bu_kube_name(pod));
	bu_autojson json_t *body = json_pack(
		"{s:s,s:s,s:{s:s,s:s}}", "apiVersion", "policy/v1", "kind", "Eviction",
		"metadata", "name", bu_kube_name(pod), "namespace", space_of(pod));
	struct bu_kube_request request = {.method = "POST", .path = path, .body = body};

	bu_kube_op_act(op, &request, evicted);
}

/* One that ends already is waited for. */
static void
evict_next(struct bu_cluster_op *op)
{
	const json_t *pod;

	while ((pod = json_array_get(op->pods, 0)) &&
	       bu_kube_at(pod, "metadata", "deletionTimestamp", NULL))
		json_array_remove(op->pods, 0);
	if (pod)
		evict(op, pod);
	else
		end_round(op);
}

static void
delete_node(struct bu_cluster_op *op)
{
	bu_autofree char *path = bu_xasprintf("/api/v1/nodes/%s", op->node);
	struct bu_kube_request request = {.method = "DELETE", .path = path};

	bu_kube_op_act(op, &request, dropped);
}

static void
listed(struct bu_cluster_op *op, struct bu_kube_answer *answer)
{
	json_t *items = json_object_get(answer->body, "items");
	bu_autofree char *names = NULL, *text = NULL;

	if (answer->err.kind || !json_is_array(items)) {
		if (!answer->err.kind)
			bu_err_set(&answer->err, BU_ERR_REMOTE, 0,
				   "the API server answers with no list of pods");
		bu_kube_op_refused(op, answer);
		return;
	}
	for (size_t i = json_array_size(items); i-- > 0;)
		if (has_ended(op, json_array_get(items, i)))
			json_array_remove(items, i);
	if (!json_array_size(items)) {
		delete_node(op);
		return;
	}
	names = name_pods(items);
	text = bu_xasprintf("draining; pods %s", names);
	if (!op->blocked)
		bu_kube_op_say(op, text);
	free(bu_steal(&op->blocked));
	json_decref(op->pods);
	op->pods = json_incref(items);
	evict_next(op);
}

static void
list_pods(struct bu_cluster_op *op)
{
	bu_autofree char *path = bu_xasprintf(
		"/api/v1/pods?fieldSelector=spec.nodeName%%3D%s", op->node);
	struct bu_kube_request request = {.method = "GET", .path = path};

	bu_kube_op_act(op, &request, listed);
}

/* --- the decision --- */

void
bu_kube_decide_leave(struct bu_cluster_op *op, json_t *node)
{
	struct bu_kube_spec spec = {.gate = 1, .cordon = 1};
	struct bu_cluster_fact fact;

	op->drained[0] = '\0';
	if (!node) {
		clear_up(op);
		return;
	}
	bu_kube_fact(node, &fact);
	op->absent = !fact.responds;
	if (fact.drain == BU_DRAIN_OTHER) {
		spec.cordon = -1;
		snprintf(op->detail, sizeof(op->detail), "it was drained: %s",
			 fact.reason);
		if (strcmp(fact.reason, op->known) != 0) {
			BU_TEXT_COPY(op->drained, fact.reason);
			bu_kube_op_finish(op, NULL);
			return;
		}
	}
	if (!bu_kube_op_patch(op, node, &spec))
		list_pods(op);
}
