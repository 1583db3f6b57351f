/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All objects of a kind: listed once, then watched. Called by driver.c for nodes, pods
 * and certificate requests. Invariants: a list is asked for only at the start and when
 * the server has forgotten the version that the watch goes on from; a server that
 * refuses or fails is asked less and less often, and no two appliances in step.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "provisioner/cluster/kubernetes/kube.h"

enum {
	PAGE = 500,
	PAUSE_MS = 1000,
	PAUSE_MAX_MS = 20000,
	/* The server sends a bookmark each minute. */
	STALL_MS = 150 * 1000,
	WATCH_S = 300,
	LINE_MAX_BYTES = 16 << 20,
};

static uint32_t
any(uint32_t below)
{
	uint32_t number;

	bu_random(&number, sizeof(number));
	return number % below;
}

static void
fail(struct bu_kube_watch *watch, const struct bu_err *err, int64_t after_ms)
{
	int64_t pause_ms = watch->pause_ms ? watch->pause_ms : PAUSE_MS;

	if (!watch->err.kind)
		bu_warn("kubernetes", "%s of %s: %s", watch->what, watch->cluster->url,
			err->text);
	watch->err = *err;
	watch->pause_ms = pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause_ms * 2;
	if (after_ms > pause_ms)
		pause_ms = after_ms;
	bu_timer_set(watch->again, pause_ms + any((uint32_t)pause_ms / 2));
	bu_kube_tell(watch->cluster);
}

static void
answers(struct bu_kube_watch *watch)
{
	watch->err = (struct bu_err){0};
	watch->pause_ms = 0;
	bu_kube_tell(watch->cluster);
}

static void
keep_version(struct bu_kube_watch *watch, const json_t *object)
{
	const char *version = bu_json_str(bu_kube_at(object, "metadata", NULL),
					  "resourceVersion", NULL);

	if (!version)
		return;
	free(watch->version);
	watch->version = bu_xstrdup(version);
}

static void
forget_version(struct bu_kube_watch *watch)
{
	free(bu_steal(&watch->version));
	free(bu_steal(&watch->next));
	watch->listing = 0;
}

/* --- the watch --- */

static void
take_line(struct bu_kube_watch *watch, const char *line, size_t size)
{
	bu_autojson json_t *event = bu_json_parse(line, size, "event", NULL);
	const char *type = bu_json_str(event, "type", "");
	json_t *object = json_object_get(event, "object");

	if (strcmp(type, "ERROR") == 0 || !json_is_object(object)) {
		/* The server does not keep what came after this version. */
		forget_version(watch);
		return;
	}
	keep_version(watch, object);
	if (strcmp(type, "BOOKMARK") != 0)
		watch->apply(watch->cluster, object, strcmp(type, "DELETED") == 0);
}

static void
take_lines(struct bu_kube_watch *watch)
{
	size_t begin = 0;
	const char *end;

	while (watch->version && begin < watch->size &&
	       (end = memchr(watch->buffer + begin, '\n', watch->size - begin))) {
		size_t size = (size_t)(end - watch->buffer) - begin;

		if (size)
			take_line(watch, watch->buffer + begin, size);
		begin += size + 1;
	}
	watch->size -= begin;
	if (watch->size)
		memmove(watch->buffer, watch->buffer + begin, watch->size);
	if (watch->size > LINE_MAX_BYTES)
		forget_version(watch);
	if (watch->version || !watch->exchange)
		return;
	bu_kube_drop(watch->cluster, &watch->exchange);
	bu_timer_set(watch->again, PAUSE_MS);
}

static void
on_lines(void *arg)
{
	struct bu_kube_watch *watch = arg;

	if (watch->err.kind)
		answers(watch);
	bu_timer_set(watch->again, STALL_MS);
	take_lines(watch);
}

static void
on_part(const char *data, size_t size, void *arg)
{
	struct bu_kube_watch *watch = arg;

	watch->buffer = bu_xgrow(watch->buffer, &watch->cap, watch->size + size + 1, 1);
	memcpy(watch->buffer + watch->size, data, size);
	watch->size += size;
	bu_timer_set(watch->lines, 0);
}

static void
on_watched(struct bu_http_answer *http, const struct bu_err *err, void *arg)
{
	struct bu_kube_watch *watch = arg;
	struct bu_kube_answer answer;

	watch->exchange = NULL;
	bu_kube_read(watch->cluster, http, err, &answer);
	take_lines(watch);
	watch->size = 0;
	if (answer.status == 410)
		forget_version(watch);
	if (answer.err.kind && answer.status != 410)
		fail(watch, &answer.err, answer.after_ms);
	else
		bu_timer_set(watch->again, PAUSE_MS + any(PAUSE_MS));
	bu_kube_answer_fini(&answer);
}

static void
watch_on(struct bu_kube_watch *watch)
{
	int64_t seconds = WATCH_S + any(WATCH_S);
	bu_autofree char *path =
		bu_xasprintf("%swatch=1&allowWatchBookmarks=true&resourceVersion=%s"
			     "&timeoutSeconds=%lld",
			     watch->path, watch->version, (long long)seconds);
	struct bu_kube_request request = {.method = "GET",
					  .path = path,
					  .part = on_part,
					  .timeout_ms = (seconds + 30) * 1000};
	struct bu_err err;

	watch->size = 0;
	watch->exchange =
		bu_kube_send(watch->cluster, &request, on_watched, watch, &err);
	if (watch->exchange)
		bu_timer_set(watch->again, STALL_MS);
	else
		fail(watch, &err, 0);
}

/* --- the list --- */

static void
take_page(struct bu_kube_watch *watch, const json_t *page)
{
	const char *next =
		bu_json_str(bu_kube_at(page, "metadata", NULL), "continue", "");
	const json_t *items = json_object_get(page, "items");
	json_t *item;
	size_t i;

	json_array_foreach (items, i, item)
		watch->apply(watch->cluster, item, 0);
	free(bu_steal(&watch->next));
	if (*next) {
		watch->next = bu_xstrdup(next);
	} else {
		watch->listing = 0;
		watch->synced = 1;
		watch->sweep(watch->cluster);
		keep_version(watch, page);
		answers(watch);
	}
	bu_timer_set(watch->again, 0);
}

static void
on_listed(struct bu_http_answer *http, const struct bu_err *err, void *arg)
{
	struct bu_kube_watch *watch = arg;
	struct bu_kube_answer answer;

	watch->exchange = NULL;
	bu_kube_read(watch->cluster, http, err, &answer);
	if (!answer.err.kind && !json_is_array(json_object_get(answer.body, "items")))
		bu_err_set(&answer.err, BU_ERR_REMOTE, 0, "%s answers with no list",
			   watch->cluster->url);
	if (answer.err.kind) {
		forget_version(watch);
		fail(watch, &answer.err, answer.after_ms);
	} else {
		take_page(watch, answer.body);
	}
	bu_kube_answer_fini(&answer);
}

static void
list(struct bu_kube_watch *watch)
{
	bu_autofree char *path = bu_xasprintf("%slimit=%d%s%s", watch->path, PAGE,
					      watch->next ? "&continue=" : "",
					      watch->next ? watch->next : "");
	struct bu_kube_request request = {.method = "GET", .path = path};
	struct bu_err err;

	if (!watch->listing)
		watch->mark(watch->cluster);
	watch->listing = 1;
	watch->exchange =
		bu_kube_send(watch->cluster, &request, on_listed, watch, &err);
	if (!watch->exchange)
		fail(watch, &err, 0);
}

static void
on_again(void *arg)
{
	struct bu_kube_watch *watch = arg;
	struct bu_err err;

	if (watch->exchange) {
		bu_err_set(&err, BU_ERR_TIMEOUT, 0, "the watch of %s says nothing",
			   watch->what);
		bu_kube_drop(watch->cluster, &watch->exchange);
		fail(watch, &err, 0);
	} else if (watch->version) {
		watch_on(watch);
	} else {
		list(watch);
	}
}

void
bu_kube_watch_begin(struct bu_kube_watch *watch, struct bu_cluster *cluster)
{
	watch->cluster = cluster;
	watch->again = bu_timer_create(cluster->loop, on_again, watch);
	watch->lines = bu_timer_create(cluster->loop, on_lines, watch);
	bu_timer_set(watch->again, 0);
}

void
bu_kube_watch_renew(struct bu_kube_watch *watch)
{
	bu_kube_drop(watch->cluster, &watch->exchange);
	bu_timer_stop(watch->lines);
	watch->size = 0;
	forget_version(watch);
	bu_timer_set(watch->again, 0);
}

void
bu_kube_watch_end(struct bu_kube_watch *watch)
{
	bu_kube_drop(watch->cluster, &watch->exchange);
	bu_timer_destroy(watch->again);
	bu_timer_destroy(watch->lines);
	free(watch->version);
	free(watch->next);
	free(watch->buffer);
}
