/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request to a cluster's API server and its answer. Called by the other files of
 * this driver. Invariant: the credential is read anew for each request, and is nowhere
 * but in its header.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/secret.h"
#include "base/text.h"
#include "provisioner/cluster/kubernetes/kube.h"

enum {
	CONNECT_MS = 5000,
	REQUEST_MS = 30000,
	UNDERWAY_MAX = 32,
	ANSWER_MAX_BYTES = 64 << 20,
	AFTER_MAX_S = 600,
};

static char *
authorize(struct bu_cluster *cluster, struct bu_err *err)
{
	size_t size;
	char *token = bu_secrets_get(cluster->secrets, cluster->token, &size, err);
	char *header = NULL;

	if (!token)
		return NULL;
	bu_text_trim(token);
	if (!token[0] || !bu_text_is_ascii(token))
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "%s holds no token of a service account", cluster->token);
	else
		header = bu_xasprintf("Authorization: Bearer %s", token);
	bu_secret_free(token, size);
	return header;
}

static struct bu_http_exchange *
start(struct bu_cluster *cluster, const struct bu_kube_request *request,
      const char *authorization, bu_http_answer_fn fn, void *arg)
{
	bu_autofree char *url = bu_xasprintf("%s%s", cluster->url, request->path);
	bu_autofree char *type = bu_xasprintf(
		"Content-Type: %s", request->type ? request->type : "application/json");
	bu_autofree char *accept = bu_xasprintf(
		"Accept: %s", request->accept ? request->accept : "application/json");
	const char *headers[] = {authorization, accept, type, NULL};
	struct bu_http_request http = {
		.method = request->method,
		.url = url,
		.headers = headers,
		.ca = cluster->ca,
		.timeout_ms = request->timeout_ms ? request->timeout_ms : REQUEST_MS,
		.connect_timeout_ms = CONNECT_MS,
		.max = ANSWER_MAX_BYTES,
		.compressed = !request->part,
		.part = request->part,
	};
	struct bu_http_exchange *exchange;
	char *body = request->body ? json_dumps(request->body, JSON_COMPACT) : NULL;

	http.body = body;
	exchange = bu_http_exchange_start(cluster->http, &http, fn, arg);
	if (body)
		explicit_bzero(body, strlen(body));
	free(body);
	return exchange;
}

struct bu_http_exchange *
bu_kube_send(struct bu_cluster *cluster, const struct bu_kube_request *request,
	     bu_http_answer_fn fn, void *arg, struct bu_err *err)
{
	struct bu_http_exchange *exchange;
	char *authorization;

	if (cluster->underway >= UNDERWAY_MAX && !request->part) {
		bu_err_set(err, BU_ERR_BUSY, 0, "%d requests are under way",
			   cluster->underway);
		return NULL;
	}
	authorization = authorize(cluster, err);
	if (!authorization)
		return NULL;
	exchange = start(cluster, request, authorization, fn, arg);
	cluster->underway++;
	bu_secret_free(authorization, strlen(authorization));
	return exchange;
}

void
bu_kube_drop(struct bu_cluster *cluster, struct bu_http_exchange **exchange)
{
	if (!*exchange)
		return;
	cluster->underway--;
	bu_http_exchange_abort(*exchange);
	*exchange = NULL;
}

static void
read_refusal(const struct bu_cluster *cluster, struct bu_kube_answer *ret)
{
	const char *message = bu_json_str(ret->body, "message", "");

	if (ret->status == 401)
		bu_err_set(&ret->err, BU_ERR_DENIED, 0,
			   "%s does not accept the token of %s; make a new one for "
			   "the service account bringup and put it there",
			   cluster->url, cluster->token);
	else if (ret->status == 403)
		bu_err_set(&ret->err, BU_ERR_DENIED, 0,
			   "%s; apply what `bringup cluster manifest` prints", message);
	else
		bu_err_set(&ret->err,
			   ret->status == 404 ? BU_ERR_NOTFOUND : BU_ERR_REMOTE, 0,
			   "the API server answers %ld%s%s", ret->status,
			   *message ? ": " : "", message);
}

static int64_t
read_after(const struct bu_http_answer *answer)
{
	const char *text = bu_http_answer_header(answer, "Retry-After");
	int64_t seconds;

	if (!text || bu_text_int(text, 0, AFTER_MAX_S, &seconds) != 0)
		return 0;
	return seconds * 1000;
}

void
bu_kube_read(struct bu_cluster *cluster, const struct bu_http_answer *answer,
	     const struct bu_err *err, struct bu_kube_answer *ret)
{
	*ret = (struct bu_kube_answer){0};
	cluster->underway--;
	if (err) {
		ret->err = *err;
		return;
	}
	ret->status = answer->status;
	ret->after_ms = read_after(answer);
	if (answer->size)
		ret->body = bu_json_parse(answer->body, answer->size, "answer", NULL);
	if (answer->status >= 400 || answer->status < 200)
		read_refusal(cluster, ret);
}

void
bu_kube_answer_fini(struct bu_kube_answer *answer)
{
	json_decref(answer->body);
	answer->body = NULL;
}

json_t *
bu_kube_at(const json_t *object, ...)
{
	const char *key;
	va_list keys;

	va_start(keys, object);
	while (object && (key = va_arg(keys, const char *)))
		object = json_object_get(object, key);
	va_end(keys);
	return (json_t *)(uintptr_t)object;
}

const char *
bu_kube_name(const json_t *object)
{
	return bu_json_str(bu_kube_at(object, "metadata", NULL), "name", "");
}

void
bu_kube_when_ms(int64_t at_ms, char ret[32])
{
	time_t at = (time_t)(at_ms / 1000);
	struct tm tm;

	bu_assert(gmtime_r(&at, &tm) != NULL);
	strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

void
bu_kube_when(const struct bu_cluster *cluster, int64_t in_s, char ret[32])
{
	bu_kube_when_ms(bu_wall_ms(bu_loop_clock(cluster->loop)) + in_s * 1000, ret);
}
