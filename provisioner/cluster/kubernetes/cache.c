/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes and pods as the watches have told, and the rows made of them. Called by watch.c
 * through its vtable and by driver.c. Invariant: a row is told only while both watches
 * know what is now.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/cluster/kubernetes/kube.h"

/* --- one node --- */

const char *
bu_kube_manager(const json_t *node, const char *field)
{
	const json_t *all = bu_kube_at(node, "metadata", "managedFields", NULL);
	const json_t *one;
	size_t i;

	json_array_foreach (all, i, one)
		if (bu_kube_at(one, "fieldsV1", "f:spec", field, NULL))
			return bu_json_str(one, "manager", NULL);
	return NULL;
}

const json_t *
bu_kube_condition(const json_t *object, const char *type)
{
	const json_t *all = bu_kube_at(object, "status", "conditions", NULL), *one;
	size_t i;

	json_array_foreach (all, i, one)
		if (strcmp(bu_json_str(one, "type", ""), type) == 0)
			return one;
	return NULL;
}

static int
is_tainted(const json_t *node, const char *key)
{
	const json_t *all = bu_kube_at(node, "spec", "taints", NULL), *one;
	size_t i;

	json_array_foreach (all, i, one)
		if (strcmp(bu_json_str(one, "key", ""), key) == 0)
			return 1;
	return 0;
}

/* The condition comes seconds before its controller takes the taints away. */
int
bu_kube_is_ready(const json_t *node)
{
	return strcmp(bu_json_str(bu_kube_condition(node, "Ready"), "status", ""),
		      "True") == 0 &&
	       !is_tainted(node, "node.kubernetes.io/not-ready") &&
	       !is_tainted(node, "node.kubernetes.io/unreachable");
}

/* A cordon has no reason of its own: whose it is stands in its place. */
static void
read_drain(const json_t *node, struct bu_cluster_fact *ret)
{
	const json_t *notes = bu_kube_at(node, "metadata", "annotations", NULL);
	const char *drained = bu_json_str(notes, BU_KUBE_DRAINED, "");
	const char *by = bu_kube_manager(node, "f:unschedulable");
	bu_autofree char *reason = NULL;

	ret->drain = is_tainted(node, BU_KUBE_GATE) ? BU_DRAIN_OURS : BU_DRAIN_NONE;
	if (!bu_json_bool(json_object_get(node, "spec"), "unschedulable", 0))
		return;
	ret->drain = BU_DRAIN_OURS;
	if (json_object_get(notes, BU_KUBE_LEAVES))
		return;
	ret->drain = BU_DRAIN_OTHER;
	BU_TEXT_COPY(ret->by, by && !*drained ? by : "");
	reason = *drained ? bu_xstrdup(drained)
			  : bu_xasprintf("cordoned by %s",
					 by ? by : "an unknown manager");
	BU_TEXT_COPY(ret->reason, reason);
}

void
bu_kube_fact(const json_t *node, struct bu_cluster_fact *ret)
{
	const json_t *ready = bu_kube_condition(node, "Ready");
	const char *status = bu_json_str(ready, "status", "Unknown");
	int cordoned = bu_json_bool(json_object_get(node, "spec"), "unschedulable", 0);

	*ret = (struct bu_cluster_fact){.known = 1};
	ret->responds = strcmp(status, "Unknown") != 0;
	ret->down = strcmp(status, "True") != 0;
	snprintf(ret->state, sizeof(ret->state), "%s%s%s",
		 ret->down ? "NotReady" : "Ready",
		 cordoned ? ",SchedulingDisabled" : "",
		 is_tainted(node, BU_KUBE_GATE) ? ", gated" : "");
	if (ret->down)
		BU_TEXT_COPY(ret->reason, bu_json_str(ready, "message", ""));
	read_drain(node, ret);
}

/* --- nodes --- */

/* Where the name is, or would be. */
static size_t
place_of(const struct bu_kube_cache *cache, const char *name)
{
	size_t low = 0, high = cache->count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (strcmp(cache->nodes[mid].row.name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int
is_at(const struct bu_kube_cache *cache, size_t at, const char *name)
{
	return at < cache->count && strcmp(cache->nodes[at].row.name, name) == 0;
}

const struct bu_kube_node *
bu_kube_find(const struct bu_cluster *cluster, const char *name)
{
	size_t at = place_of(&cluster->cache, name);

	return is_at(&cluster->cache, at, name) ? &cluster->cache.nodes[at] : NULL;
}

static void
remove_at(struct bu_kube_cache *cache, size_t at)
{
	memmove(&cache->nodes[at], &cache->nodes[at + 1],
		(cache->count - at - 1) * sizeof(*cache->nodes));
	cache->count--;
}

static void
insert_at(struct bu_kube_cache *cache, size_t at, const char *name)
{
	cache->nodes = bu_xgrow(cache->nodes, &cache->cap, cache->count + 1,
				sizeof(*cache->nodes));
	memmove(&cache->nodes[at + 1], &cache->nodes[at],
		(cache->count - at) * sizeof(*cache->nodes));
	memset(&cache->nodes[at], 0, sizeof(*cache->nodes));
	BU_TEXT_COPY(cache->nodes[at].row.name, name);
	cache->count++;
}

static void
read_fault(const json_t *object, struct bu_kube_node *node)
{
	const json_t *fault = bu_kube_condition(object, BU_KUBE_FAULT);
	int on = strcmp(bu_json_str(fault, "status", ""), "True") == 0;

	BU_TEXT_COPY(node->fault, on ? bu_json_str(fault, "message", "?") : "");
}

/* Longer names are not bringup's. */
static void
apply_node(struct bu_cluster *cluster, json_t *object, int gone)
{
	struct bu_kube_cache *cache = &cluster->cache;
	const json_t *labels = bu_kube_at(object, "metadata", "labels", NULL);
	const char *name = bu_kube_name(object);
	size_t at = place_of(cache, name);
	struct bu_kube_node *node;

	if (gone && is_at(cache, at, name))
		remove_at(cache, at);
	if (gone || !*name || strlen(name) >= sizeof(node->row.name))
		return;
	if (!is_at(cache, at, name))
		insert_at(cache, at, name);
	node = &cache->nodes[at];
	bu_kube_fact(object, &node->row.fact);
	node->ready = bu_kube_is_ready(object);
	node->validated = json_object_get(labels, BU_KUBE_VALIDATED) != NULL;
	BU_TEXT_COPY(node->address, bu_json_str(labels, BU_KUBE_ADDRESS, ""));
	read_fault(object, node);
	node->marked = 0;
}

static void
mark_nodes(struct bu_cluster *cluster)
{
	for (size_t i = 0; i < cluster->cache.count; i++)
		cluster->cache.nodes[i].marked = 1;
}

static void
sweep_nodes(struct bu_cluster *cluster)
{
	for (size_t i = cluster->cache.count; i-- > 0;)
		if (cluster->cache.nodes[i].marked)
			remove_at(&cluster->cache, i);
}

const struct bu_kube_watch bu_kube_watch_nodes = {
	.what = "nodes",
	.path = "/api/v1/nodes?",
	.apply = apply_node,
	.mark = mark_nodes,
	.sweep = sweep_nodes,
};

/* --- pods --- */

static int
is_of_daemon_set(const json_t *pod)
{
	const json_t *all = bu_kube_at(pod, "metadata", "ownerReferences", NULL), *one;
	size_t i;

	json_array_foreach (all, i, one)
		if (bu_json_bool(one, "controller", 0) &&
		    strcmp(bu_json_str(one, "kind", ""), "DaemonSet") == 0)
			return 1;
	return 0;
}

int
bu_kube_pod_is_work(const json_t *pod)
{
	const char *phase = bu_json_str(json_object_get(pod, "status"), "phase", "");

	return strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0 &&
	       !bu_kube_at(pod, "metadata", "annotations",
			   "kubernetes.io/config.mirror", NULL) &&
	       !is_of_daemon_set(pod);
}

static void
count(struct bu_kube_cache *cache, const char *node, int by)
{
	json_int_t now = bu_json_int(cache->jobs, node, 0) + by;

	if (now > 0)
		json_object_set_new(cache->jobs, node, json_integer(now));
	else
		json_object_del(cache->jobs, node);
}

static void
apply_pod(struct bu_cluster *cluster, json_t *object, int gone)
{
	struct bu_kube_cache *cache = &cluster->cache;
	const char *space =
		bu_json_str(json_object_get(object, "metadata"), "namespace", "");
	const char *node = bu_json_str(json_object_get(object, "spec"), "nodeName", "");
	bu_autofree char *key = bu_xasprintf("%s/%s", space, bu_kube_name(object));
	const char *was = bu_json_str(cache->pods, key, NULL);

	if (cache->old_pods)
		json_object_del(cache->old_pods, key);
	if (was) {
		count(cache, was, -1);
		json_object_del(cache->pods, key);
	}
	if (gone || !*node || !bu_kube_pod_is_work(object))
		return;
	json_object_set_new(cache->pods, key, json_string(node));
	count(cache, node, 1);
}

static void
mark_pods(struct bu_cluster *cluster)
{
	json_decref(cluster->cache.old_pods);
	cluster->cache.old_pods = json_copy(cluster->cache.pods);
}

static void
sweep_pods(struct bu_cluster *cluster)
{
	struct bu_kube_cache *cache = &cluster->cache;
	const char *key;
	json_t *node;

	json_object_foreach (cache->old_pods, key, node) {
		count(cache, json_string_value(node), -1);
		json_object_del(cache->pods, key);
	}
	json_decref(cache->old_pods);
	cache->old_pods = NULL;
}

const struct bu_kube_watch bu_kube_watch_pods = {
	.what = "pods",
	.path = "/api/v1/pods?fieldSelector=spec.nodeName!%3D,status.phase!%3DSucceeded,"
		"status.phase!%3DFailed&",
	.apply = apply_pod,
	.mark = mark_pods,
	.sweep = sweep_pods,
};

/* --- both --- */

void
bu_kube_cache_init(struct bu_kube_cache *cache)
{
	*cache = (struct bu_kube_cache){.pods = json_object(), .jobs = json_object()};
}

void
bu_kube_cache_fini(struct bu_kube_cache *cache)
{
	free(cache->nodes);
	json_decref(cache->pods);
	json_decref(cache->jobs);
	json_decref(cache->old_pods);
}

static void
tell_rows(struct bu_cluster *cluster)
{
	const struct bu_kube_cache *cache = &cluster->cache;
	struct bu_cluster_row *rows = bu_xcalloc(cache->count + 1, sizeof(*rows));

	for (size_t i = 0; i < cache->count; i++) {
		rows[i] = cache->nodes[i].row;
		rows[i].fact.jobs = (int)bu_json_int(cache->jobs, rows[i].name, 0);
	}
	cluster->seen(rows, cache->count, NULL, cluster->arg);
	free(rows);
}

void
bu_kube_tell(struct bu_cluster *cluster)
{
	const struct bu_err *err = cluster->nodes.err.kind  ? &cluster->nodes.err
				   : cluster->pods.err.kind ? &cluster->pods.err
							    : NULL;

	if (!cluster->asked || !cluster->seen)
		return;
	if (!err && (!cluster->nodes.synced || !cluster->pods.synced))
		return;
	cluster->asked = 0;
	if (err)
		cluster->seen(NULL, 0, err, cluster->arg);
	else
		tell_rows(cluster);
}
