/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a Prometheus for the errors of switch ports, received and sent. Called by
 * switches_read.c. Invariants: the loop never waits; each request has a deadline and a
 * bounded answer; credentials are read for one request, and are in no log or error; no
 * series scraped before the load counts as a reading of it.
 */
#include "provisioner/gate/campaign/prometheus.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/http_async.h"
#include "base/json.h"
#include "base/plain.h"
#include "base/secret.h"
#include "base/secrets.h"
#include "base/text.h"
#include "provisioner/gate/campaign/series.h"

enum {
	REQUEST_MS = 30000,
	CONNECT_MS = 10000,
	ANSWER_MAX = 8 * 1024 * 1024, /* some 20,000 series */
	STATUS_BAD_REQUEST = 400,
	STATUS_UNPROCESSABLE = 422,
};

struct bu_prometheus {
	struct bu_loop *loop;
	struct bu_http_async *http;
	struct bu_http_exchange *exchange; /* NULL = no request is under way */
	struct bu_secrets *secrets;
	struct bu_timer *timer;
	char *url, *credentials;
	char *queries[2]; /* switch_received, switch_sent */
	char *device, *peer, *port;
	const struct bu_topology *shape;
	struct bu_series series;
	int64_t loaded_ms; /* Unix time: earlier series are too old */
	size_t step;
	bu_prometheus_fn fn; /* NULL = no ask is under way */
	void *arg;
};

/* The queries of a reading, in order: for each counter first the series that are too
 * old, then the values. */
static const struct {
	int sent, is_age;
} steps[] = {{0, 1}, {0, 0}, {1, 1}, {1, 0}};

static void ask_next(void *arg);

struct bu_prometheus *
bu_prometheus_create(struct bu_loop *loop)
{
	struct bu_prometheus *one = bu_xcalloc(1, sizeof(*one));

	one->loop = loop;
	one->http = bu_http_async_create(loop);
	one->timer = bu_timer_create(loop, ask_next, one);
	one->secrets = bu_secrets_create(loop, ask_next, one);
	return one;
}

static void
forget_keys(struct bu_prometheus *one)
{
	free(one->url);
	free(one->credentials);
	free(one->queries[0]);
	free(one->queries[1]);
	free(one->device);
	free(one->peer);
	free(one->port);
}

void
bu_prometheus_destroy(struct bu_prometheus *one)
{
	if (!one)
		return;
	bu_http_async_destroy(one->http);
	bu_secrets_destroy(one->secrets);
	bu_timer_destroy(one->timer);
	bu_series_fini(&one->series);
	forget_keys(one);
	free(one);
}

int
bu_prometheus_is_asked(const struct bu_prometheus *one)
{
	return one && one->fn;
}

static struct bu_series_of
series_of(const struct bu_prometheus *one, int sent)
{
	return (struct bu_series_of){
		.shape = one->shape,
		.labels = {.device = one->device, .peer = one->peer, .port = one->port},
		.sent = sent,
	};
}

/* --- the answer --- */

static void
end(struct bu_prometheus *one, const json_t *answer, const struct bu_err *err)
{
	bu_prometheus_fn fn = one->fn;

	one->fn = NULL;
	fn(answer, err, one->arg);
}

static void
end_well(struct bu_prometheus *one)
{
	struct bu_series_of of = series_of(one, 0);
	struct bu_err err = {0};
	bu_autojson json_t *links = bu_series_links(&one->series, &of, &err);

	end(one, links, links ? NULL : &err);
}

/* The error of a status other than 200, with the text of Prometheus if any. */
static int
read_refusal(const struct bu_prometheus *one, const struct bu_http_answer *answer,
	     struct bu_err *err)
{
	bu_autojson json_t *json = json_loadb(answer->body, answer->size, 0, NULL);
	char said[120];

	bu_text_copy(said, sizeof(said), bu_json_str(json, "error", ""));
	if (answer->status == 401 || answer->status == 403)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "it answers with status %ld; %s switch_credentials",
				  answer->status,
				  one->credentials ? "correct" : "give");
	if (answer->status >= 300 && answer->status < 400)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "it sends its clients elsewhere (status %ld); give "
				  "switch_counters the URL of Prometheus itself",
				  answer->status);
	return bu_err_set(err, BU_ERR_REMOTE, 0, "%s: it answers with status %ld%s%s",
			  steps[one->step].sent ? "switch_sent" : "switch_received",
			  answer->status, *said ? ": " : "", said);
}

/* A query that changes labels has no timestamps: then switch_delay alone keeps old
 * values out. */
static int
has_no_age(const struct bu_prometheus *one, const struct bu_http_answer *answer)
{
	return steps[one->step].is_age && (answer->status == STATUS_UNPROCESSABLE ||
					   answer->status == STATUS_BAD_REQUEST);
}

static int
read_answer(struct bu_prometheus *one, const struct bu_http_answer *answer,
	    struct bu_err *err)
{
	struct bu_series_of of = series_of(one, steps[one->step].sent);
	bu_autojson json_t *json = NULL;
	int rc;

	if (has_no_age(one, answer))
		return 0;
	if (answer->status != 200)
		return read_refusal(one, answer, err);
	json = bu_json_parse(answer->body, answer->size, "its answer", err);
	if (!json)
		return -1;
	bu_plain_json(json);
	rc = steps[one->step].is_age ? bu_series_check_age(&of, json, err)
				     : bu_series_add(&one->series, &of, json, err);
	return rc ? bu_err_wrap(err, of.sent ? "switch_sent" : "switch_received") : 0;
}

static void
on_answer(struct bu_http_answer *answer, const struct bu_err *err, void *arg)
{
	struct bu_prometheus *one = arg;
	struct bu_err wrong = {0};

	one->exchange = NULL;
	if (err)
		end(one, NULL, err);
	else if (read_answer(one, answer, &wrong) != 0)
		end(one, NULL, &wrong);
	else if (++one->step < BU_LEN(steps))
		ask_next(one);
	else
		end_well(one);
}

/* --- the request --- */

/* Percent-encodes a value of a form. */
static char *
escaped(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
	char *ret = bu_xmalloc(3 * strlen(text) + 1), *to = ret;

	for (; *text; text++) {
		if (strchr(plain, *text))
			*to++ = *text;
		else
			to += sprintf(to, "%%%02X", (unsigned char)*text);
	}
	*to = '\0';
	return ret;
}

static char *
form_of(const struct bu_prometheus *one)
{
	const char *asked = one->queries[steps[one->step].sent];
	bu_autofree char *old = bu_xasprintf("timestamp(%s) < %lld.%03d", asked,
					     (long long)(one->loaded_ms / 1000),
					     (int)(one->loaded_ms % 1000));
	bu_autofree char *text = escaped(steps[one->step].is_age ? old : asked);

	return bu_xasprintf("query=%s", text);
}

/* secret: a bearer token, or USER:PASSWORD, which is cut in place; NULL = none. */
static void
post(struct bu_prometheus *one, char *secret)
{
	size_t slashes = strlen(one->url);
	char *password = secret ? strchr(secret, ':') : NULL;
	bu_autofree char *url = NULL, *form = form_of(one);
	char *token = secret && !password
			      ? bu_xasprintf("Authorization: Bearer %s", secret)
			      : NULL;
	const char *const headers[] = {
		"Content-Type: application/x-www-form-urlencoded",
		"Accept: application/json", token, NULL};
	struct bu_http_request request = {
		.method = "POST",
		.headers = headers,
		.body = form,
		.timeout_ms = REQUEST_MS,
		.connect_timeout_ms = CONNECT_MS,
		.max = ANSWER_MAX,
		.last = one->step + 1 == BU_LEN(steps),
	};

	while (slashes && one->url[slashes - 1] == '/')
		slashes--;
	url = bu_xasprintf("%.*s/api/v1/query", (int)slashes, one->url);
	request.url = url;
	if (password) {
		*password = '\0';
		request.user = secret;
		request.password = password + 1;
	}
	one->exchange = bu_http_exchange_start(one->http, &request, on_answer, one);
	if (token)
		bu_secret_free(token, strlen(token));
}

/* Cuts the line end at the end of a file. No other line end may get into a header. */
static int
check_secret(const struct bu_prometheus *one, char *secret, size_t size,
	     struct bu_err *err)
{
	if (size && secret[size - 1] == '\n')
		secret[--size] = '\0';
	if (size && strlen(secret) == size && bu_text_is_ascii(secret))
		return 0;
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "secret %s: is neither a bearer token nor USER:PASSWORD, in "
			  "one line of plain characters",
			  one->credentials);
}

/* Also called when a program has given the secret. */
static void
ask_next(void *arg)
{
	struct bu_prometheus *one = arg;
	struct bu_err err = {0};
	char *secret = NULL;
	size_t size = 0;

	if (!one->fn || one->exchange)
		return;
	if (one->credentials) {
		secret = bu_secrets_get(one->secrets, one->credentials, &size, &err);
		if (!secret && err.kind == BU_ERR_BUSY)
			return;
		if (!secret || check_secret(one, secret, size, &err) != 0) {
			bu_secret_free(secret, size);
			end(one, NULL, &err);
			return;
		}
	}
	post(one, secret);
	bu_secret_free(secret, size);
}

void
bu_prometheus_ask(struct bu_prometheus *one, const struct bu_desired_network *network,
		  const struct bu_topology *shape, bu_prometheus_fn fn, void *arg)
{
	forget_keys(one);
	one->url = bu_xstrdup(network->switch_counters);
	one->credentials = network->switch_credentials
				   ? bu_xstrdup(network->switch_credentials)
				   : NULL;
	one->queries[0] = bu_xstrdup(network->switch_received);
	one->queries[1] = bu_xstrdup(network->switch_sent);
	one->device = bu_xstrdup(network->switch_device_label);
	one->peer = bu_xstrdup(network->switch_peer_label);
	one->port = bu_xstrdup(network->switch_port_label);
	one->shape = shape;
	one->loaded_ms = bu_wall_ms(bu_loop_clock(one->loop));
	one->step = 0;
	one->fn = fn;
	one->arg = arg;
	bu_series_begin(&one->series);
	bu_timer_set(one->timer, network->switch_delay_ms);
}
