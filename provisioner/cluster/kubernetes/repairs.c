/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to repair a node (ExternalRemediationRequest of NVSentinel), where the API
 * server knows that kind: its group is found by discovery, then they are watched.
 * Called by driver.c. Invariants: nothing is asked but the discovery while there is no
 * such kind; at most OPEN_MAX of them are kept; one answer is under way at most, and
 * changes the object that was read for it or nothing.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/cluster/kubernetes/kube.h"

#define KIND "externalremediationrequests"
#define RELEASED "NVSentinelOwnershipReleased"
#define COMPLETE "ExternalRemediationComplete"
#define ACCEPTED "bringup.dev/Accepted"
/* One answer names all kinds of all groups. */
#define DISCOVERY                                                                      \
	"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"        \
	"application/json"

enum {
	OPEN_MAX = 1024,
	CONDITIONS_MAX = 32, /* of an object that is answered */
	DISCOVER_MS = 10 * 60 * 1000,
	FAILED_MS = 10000,
};

/* --- what is open --- */

/* Unix time; 0 = it is none. */
static int64_t
read_when(const char *text)
{
	struct tm tm = {0};
	const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	return end ? (int64_t)timegm(&tm) * 1000 : 0;
}

static int
is_status(const json_t *object, const char *type, const char *status)
{
	return strcmp(bu_json_str(bu_kube_condition(object, type), "status", ""),
		      status) == 0;
}

static int
is_open(const json_t *object)
{
	return is_status(object, RELEASED, "True") &&
	       !is_status(object, COMPLETE, "True") &&
	       !is_status(object, COMPLETE, "False") &&
	       !bu_kube_at(object, "metadata", "deletionTimestamp", NULL);
}

/* The fields of a health event were once those of the spec itself. */
static const char *
node_of(const json_t *object)
{
	const json_t *spec = json_object_get(object, "spec");

	return bu_json_str(json_object_get(spec, "healthEvent"), "nodeName",
			   bu_json_str(spec, "nodeName", ""));
}

/* "NAME" or "NAMESPACE/NAME"; owned. */
static char *
id_of(const json_t *object)
{
	const char *space =
		bu_json_str(json_object_get(object, "metadata"), "namespace", "");

	return bu_xasprintf("%s%s%s", space, *space ? "/" : "", bu_kube_name(object));
}

/* ".../v1/KIND/NAME", or with the namespace before the kind; owned. */
static char *
path_of(const struct bu_cluster *cluster, const json_t *object)
{
	const char *space =
		bu_json_str(json_object_get(object, "metadata"), "namespace", "");
	const char *base = cluster->repairs.base;

	if (!*space)
		return bu_xasprintf("%s/%s", base, bu_kube_name(object));
	return bu_xasprintf("%.*s/namespaces/%s/" KIND "/%s",
			    (int)(strlen(base) - strlen("/" KIND)), base, space,
			    bu_kube_name(object));
}

static void
apply(struct bu_cluster *cluster, json_t *object, int gone)
{
	struct bu_kube_repairs *repairs = &cluster->repairs;
	const json_t *meta = json_object_get(object, "metadata");
	bu_autofree char *id = id_of(object);
	bu_autofree char *path = path_of(cluster, object);
	const json_t *accepted = bu_kube_condition(object, ACCEPTED);

	if (repairs->old)
		json_object_del(repairs->old, id);
	if (gone || !is_open(object)) {
		json_object_del(repairs->open, id);
		return;
	}
	if (!json_object_get(repairs->open, id) &&
	    json_object_size(repairs->open) >= OPEN_MAX) {
		repairs->missed = 1;
		return;
	}
	if (!is_status(object, ACCEPTED, "True"))
		accepted = NULL;
	json_object_set_new(repairs->open, id,
			    json_pack("{s:s,s:s,s:I,s:I}", "path", path, "node",
				      node_of(object), "created_ms",
				      (json_int_t)read_when(bu_json_str(
					      meta, "creationTimestamp", NULL)),
				      "accepted_ms",
				      (json_int_t)read_when(bu_json_str(
					      accepted, "lastTransitionTime", NULL))));
}

static void
mark(struct bu_cluster *cluster)
{
	json_decref(cluster->repairs.old);
	cluster->repairs.old = json_copy(cluster->repairs.open);
}

static void
sweep(struct bu_cluster *cluster)
{
	const char *id;
	json_t *one;

	json_object_foreach (cluster->repairs.old, id, one)
		json_object_del(cluster->repairs.open, id);
	json_decref(cluster->repairs.old);
	cluster->repairs.old = NULL;
}

void
bu_kube_repairs_tell(struct bu_cluster *cluster, bu_cluster_repair_fn fn, void *arg)
{
	json_t *open = cluster->repairs.open, *one;
	const char *id;
	void *next;

	if (!cluster->repairs.watch.synced || cluster->repairs.watch.err.kind)
		return;
	json_object_foreach_safe(open, next, id, one)
	{
		const struct bu_cluster_repair repair = {
			.id = id,
			.node = bu_json_str(one, "node", ""),
			.created_ms = bu_json_int(one, "created_ms", 0),
			.accepted_ms = bu_json_int(one, "accepted_ms", 0)};

		fn(&repair, arg);
	}
}

/* --- answers --- */

static void
end_answer(struct bu_cluster *cluster)
{
	json_decref(cluster->repairs.answer);
	cluster->repairs.answer = NULL;
}

/* There is room for some that were left out: only a new list names them. */
static void
look_for_more(struct bu_cluster *cluster)
{
	struct bu_kube_repairs *repairs = &cluster->repairs;

	if (!repairs->missed || json_object_size(repairs->open) > OPEN_MAX / 2)
		return;
	repairs->missed = 0;
	bu_kube_watch_renew(&repairs->watch);
}

/* What is answered is open no more, and is told no more by the watch. */
static void
on_answered(struct bu_http_answer *http, const struct bu_err *err, void *arg)
{
	struct bu_cluster *cluster = arg;
	struct bu_kube_repairs *repairs = &cluster->repairs;
	struct bu_kube_answer answer;

	repairs->exchange = NULL;
	bu_kube_read(cluster, http, err, &answer);
	if (answer.status == 404)
		json_object_del(repairs->open, bu_json_str(repairs->answer, "id", ""));
	else if (!answer.err.kind && json_is_object(answer.body))
		apply(cluster, answer.body, 0);
	else if (answer.status != 409)
		repairs->rest_ms = bu_kube_now(cluster) + FAILED_MS;
	bu_kube_answer_fini(&answer);
	end_answer(cluster);
	look_for_more(cluster);
}

/* Whole seconds, rounded up: a node that was ready before is not one that is ready
 * again. */
static json_t *
condition_of(const struct bu_cluster *cluster, const json_t *answer)
{
	char now[32];

	bu_kube_when_ms(bu_wall_ms(bu_loop_clock(cluster->loop)) + 999, now);
	return json_pack("{s:s,s:s,s:s,s:s,s:s}", "type",
			 bu_json_str(answer, "type", ""), "status",
			 bu_json_str(answer, "status", ""), "reason",
			 bu_json_str(answer, "reason", ""), "message",
			 bu_json_str(answer, "message", ""), "lastTransitionTime", now);
}

/* A list is replaced as a whole: by one of the version that was read. NULL = it is not
 * open any more. */
static json_t *
patch_of(const struct bu_cluster *cluster, const json_t *object)
{
	const json_t *answer = cluster->repairs.answer;
	const json_t *all = bu_kube_at(object, "status", "conditions", NULL);
	json_t *conditions, *one;
	size_t i;

	if (!is_open(object) || json_array_size(all) > CONDITIONS_MAX)
		return NULL;
	conditions = json_array();
	json_array_foreach (all, i, one)
		if (strcmp(bu_json_str(one, "type", ""),
			   bu_json_str(answer, "type", "")) != 0)
			json_array_append(conditions, one);
	json_array_append_new(conditions, condition_of(cluster, answer));
	return json_pack(
		"{s:{s:s},s:{s:o}}", "metadata", "resourceVersion",
		bu_json_str(json_object_get(object, "metadata"), "resourceVersion", ""),
		"status", "conditions", conditions);
}

static void
on_read(struct bu_http_answer *http, const struct bu_err *err, void *arg)
{
	struct bu_cluster *cluster = arg;
	struct bu_kube_repairs *repairs = &cluster->repairs;
	const char *id = bu_json_str(repairs->answer, "id", "");
	bu_autofree char *path = bu_xasprintf("%s/status?fieldManager=bringup",
					      bu_json_str(repairs->answer, "path", ""));
	bu_autojson json_t *patch = NULL;
	struct bu_kube_request request = {
		.method = "PATCH", .path = path, .type = BU_KUBE_REPLACE};
	struct bu_kube_answer answer;
	struct bu_err why;

	repairs->exchange = NULL;
	bu_kube_read(cluster, http, err, &answer);
	if (!answer.err.kind)
		patch = patch_of(cluster, answer.body);
	request.body = patch;
	if (patch)
		repairs->exchange =
			bu_kube_send(cluster, &request, on_answered, cluster, &why);
	else if (!answer.err.kind || answer.status == 404)
		json_object_del(repairs->open, id);
	if (!repairs->exchange) {
		end_answer(cluster);
		repairs->rest_ms = bu_kube_now(cluster) + FAILED_MS;
	}
	bu_kube_answer_fini(&answer);
}

void
bu_kube_repairs_answer(struct bu_cluster *cluster, const char *id,
		       enum bu_cluster_verdict verdict, const char *code,
		       const char *text)
{
	struct bu_kube_repairs *repairs = &cluster->repairs;
	const char *path =
		bu_json_str(json_object_get(repairs->open, id), "path", NULL);
	struct bu_kube_request request = {.method = "GET", .path = path};
	struct bu_err err;

	if (!path || repairs->answer || repairs->exchange ||
	    bu_kube_now(cluster) < repairs->rest_ms)
		return;
	repairs->answer =
		json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "id", id, "path", path, "type",
			  verdict == BU_CLUSTER_ACCEPTED ? ACCEPTED : COMPLETE,
			  "status", verdict == BU_CLUSTER_REFUSED ? "False" : "True",
			  "reason", code, "message", text);
	repairs->exchange = bu_kube_send(cluster, &request, on_read, cluster, &err);
	if (!repairs->exchange)
		end_answer(cluster);
}

/* --- discovery --- */

/* The group's first version that has the kind, owned; NULL. */
static char *
find_base(const json_t *groups)
{
	const json_t *items = json_object_get(groups, "items"), *group, *version, *kind;
	size_t i, j, k;

	json_array_foreach (items, i, group)
		json_array_foreach (json_object_get(group, "versions"), j, version)
			json_array_foreach (json_object_get(version, "resources"), k,
					    kind)
				if (strcmp(bu_json_str(kind, "resource", ""), KIND) ==
				    0)
					return bu_xasprintf(
						"/apis/%s/%s/" KIND,
						bu_kube_name(group),
						bu_json_str(version, "version", "v1"));
	return NULL;
}

static const struct bu_kube_watch watch = {
	.what = "requests for repairs",
	.apply = apply,
	.mark = mark,
	.sweep = sweep,
};

static void
on_discovered(struct bu_http_answer *http, const struct bu_err *err, void *arg)
{
	struct bu_cluster *cluster = arg;
	struct bu_kube_repairs *repairs = &cluster->repairs;
	struct bu_kube_answer answer;

	repairs->exchange = NULL;
	bu_kube_read(cluster, http, err, &answer);
	repairs->base = answer.err.kind ? NULL : find_base(answer.body);
	if (repairs->base) {
		repairs->path = bu_xasprintf("%s?", repairs->base);
		repairs->watch = watch;
		repairs->watch.path = repairs->path;
		bu_kube_watch_begin(&repairs->watch, cluster);
	} else {
		bu_timer_set(repairs->again, DISCOVER_MS);
	}
	bu_kube_answer_fini(&answer);
}

static void
on_again(void *arg)
{
	struct bu_cluster *cluster = arg;
	struct bu_kube_repairs *repairs = &cluster->repairs;
	struct bu_kube_request request = {
		.method = "GET", .path = "/apis", .accept = DISCOVERY};
	struct bu_err err;

	repairs->exchange =
		bu_kube_send(cluster, &request, on_discovered, cluster, &err);
	if (!repairs->exchange)
		bu_timer_set(repairs->again, FAILED_MS);
}

void
bu_kube_repairs_init(struct bu_cluster *cluster)
{
	cluster->repairs.open = json_object();
	cluster->repairs.again = bu_timer_create(cluster->loop, on_again, cluster);
	bu_timer_set(cluster->repairs.again, 0);
}

void
bu_kube_repairs_fini(struct bu_cluster *cluster)
{
	struct bu_kube_repairs *repairs = &cluster->repairs;

	bu_kube_drop(cluster, &repairs->exchange);
	if (repairs->base)
		bu_kube_watch_end(&repairs->watch);
	bu_timer_destroy(repairs->again);
	json_decref(repairs->open);
	json_decref(repairs->old);
	json_decref(repairs->answer);
	free(repairs->base);
	free(repairs->path);
}
