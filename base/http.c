/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP client over libcurl, called by the command line, the agent and worker children;
 * it blocks. One easy handle per object keeps the connection between calls.
 *
 * Invariants: over https only TLS 1.3, only the CA that the caller named, and the name
 * in the URL must be in the certificate; no redirect is followed and no proxy of the
 * environment is used; an answer never takes more memory than its caller allowed.
 */
#include "base/http.h"

#include <curl/curl.h>
#include <pthread.h>
#include <string.h>

#include "base/json.h"

enum {
	CONNECT_MS = 5000,
	SILENT_S = 60, /* of an answer without an end */
	JSON_MAX = 64 * 1024 * 1024,
	ERROR_MAX = 64 * 1024,
	/* Of what is large; curl's own 16 KiB take a call of the kernel each. */
	READ_BYTES = 256 * 1024,
};

struct bu_http {
	CURL *curl;
	char *base_url;
	char *unix_socket;
	char *ca_file;
	char *cert_file;
	char *key_file;
	char *token;
	long connect_timeout_ms;
	int (*stop)(void *arg); /* NULL = nothing is asked */
	void *stop_arg;
	int told; /* the last error was the server's own */
	char why[CURL_ERROR_SIZE];
};

/* What comes back. Answers from 300 on go to `error`, so that buf holds payload alone.
 */
struct answer {
	CURL *curl;
	char *buf;
	size_t size;
	size_t cap;
	size_t max;
	int fixed; /* buf is the caller's and holds max bytes */
	int too_long;
	char *error;
	size_t error_size;
};

static void
answer_fini(struct answer *answer)
{
	if (!answer->fixed)
		free(answer->buf);
	free(answer->error);
}
#define AUTO_ANSWER __attribute__((cleanup(answer_fini)))

static void
init_curl(void)
{
	CURLcode rc = curl_global_init(CURL_GLOBAL_DEFAULT);

	bu_assert(rc == CURLE_OK);
}

static char *
copy(const char *text)
{
	return text ? bu_xstrdup(text) : NULL;
}

struct bu_http *
bu_http_create(const struct bu_http_opts *opts)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct bu_http *http = bu_xcalloc(1, sizeof(*http));
	size_t length;

	pthread_once(&once, init_curl);
	http->curl = curl_easy_init();
	bu_assert(http->curl != NULL);
	http->base_url =
		bu_xstrdup(opts->base_url ? opts->base_url : "http://localhost");
	length = strlen(http->base_url);
	while (length > 0 && http->base_url[length - 1] == '/')
		http->base_url[--length] = '\0';
	http->unix_socket = copy(opts->unix_socket);
	http->ca_file = copy(opts->ca_file);
	http->cert_file = copy(opts->cert_file);
	http->key_file = copy(opts->key_file);
	http->token = copy(opts->token);
	http->connect_timeout_ms =
		opts->connect_timeout_ms ? opts->connect_timeout_ms : CONNECT_MS;
	return http;
}

void
bu_http_destroy(struct bu_http *http)
{
	if (!http)
		return;
	curl_easy_cleanup(http->curl);
	free(http->base_url);
	free(http->unix_socket);
	free(http->ca_file);
	free(http->cert_file);
	free(http->key_file);
	free(http->token);
	free(http);
}

static size_t
on_data(char *data, size_t unit, size_t count, void *arg)
{
	struct answer *answer = arg;
	size_t size = unit * count;
	long status = 0;

	curl_easy_getinfo(answer->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 300) {
		size_t room = ERROR_MAX - answer->error_size;
		size_t kept = size < room ? size : room;

		if (!answer->error)
			answer->error = bu_xmalloc(ERROR_MAX + 1);
		memcpy(answer->error + answer->error_size, data, kept);
		answer->error_size += kept;
		return size;
	}
	if (size > answer->max - answer->size) {
		answer->too_long = 1;
		return 0;
	}
	if (!answer->fixed)
		answer->buf =
			bu_xgrow(answer->buf, &answer->cap, answer->size + size + 1, 1);
	memcpy(answer->buf + answer->size, data, size);
	answer->size += size;
	return size;
}

static int
on_tick(void *arg, curl_off_t down, curl_off_t downloaded, curl_off_t up,
	curl_off_t uploaded)
{
	const struct bu_http *http = arg;

	(void)down, (void)downloaded, (void)up, (void)uploaded;
	return http->stop(http->stop_arg);
}

/* Everything but method, body and range. */
static void
set_up(struct bu_http *http, const char *url, int64_t timeout_ms, struct answer *answer)
{
	CURL *curl = http->curl;

	curl_easy_reset(curl); /* keeps the connections */
	http->why[0] = '\0';
	http->told = 0;
	answer->curl = curl;
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, http->why);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "bringup/" BU_VERSION);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, http->connect_timeout_ms);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, http->unix_socket);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_3);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
	curl_easy_setopt(curl, CURLOPT_CAINFO, http->ca_file);
	curl_easy_setopt(curl, CURLOPT_CAPATH, NULL); /* not the system's CAs */
	curl_easy_setopt(curl, CURLOPT_SSLCERT, http->cert_file);
	curl_easy_setopt(curl, CURLOPT_SSLKEY, http->key_file);
	if (http->stop) {
		curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_tick);
		curl_easy_setopt(curl, CURLOPT_XFERINFODATA, http);
		curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	}
	if (http->token) {
		curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
		curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, http->token);
	}
}

/* A kind for what curl says; all others are BU_ERR_REMOTE. */
static const struct {
	CURLcode code;
	enum bu_err_kind kind;
} curl_kinds[] = {
	{CURLE_OPERATION_TIMEDOUT, BU_ERR_TIMEOUT},
	{CURLE_ABORTED_BY_CALLBACK, BU_ERR_CANCELLED},
	{CURLE_URL_MALFORMAT, BU_ERR_INVAL},
	{CURLE_UNSUPPORTED_PROTOCOL, BU_ERR_INVAL},
	{CURLE_PEER_FAILED_VERIFICATION, BU_ERR_VERIFY},
	{CURLE_SSL_CACERT_BADFILE, BU_ERR_INVAL},
	{CURLE_SSL_CERTPROBLEM, BU_ERR_INVAL},
};

static int
fail_curl(const struct bu_http *http, CURLcode code, const char *method,
	  const char *url, struct bu_err *err)
{
	enum bu_err_kind kind = BU_ERR_REMOTE;

	for (size_t i = 0; i < BU_LEN(curl_kinds); i++)
		if (curl_kinds[i].code == code)
			kind = curl_kinds[i].kind;
	/* So curl calls an answer that is none of HTTP, too. */
	if (code == CURLE_UNSUPPORTED_PROTOCOL && strncasecmp(url, "http", 4) == 0)
		kind = BU_ERR_REMOTE;
	return bu_err_set(err, kind, 0, "%s %s: %s", method, url,
			  http->why[0] ? http->why : curl_easy_strerror(code));
}

/* {"error":{...}} as it is, otherwise the status. */
static int
fail_status(struct bu_http *http, const struct answer *answer, long status,
	    const char *method, const char *url, struct bu_err *err)
{
	bu_autojson json_t *reply =
		answer->error ? json_loadb(answer->error, answer->error_size, 0, NULL)
			      : NULL;
	const json_t *error = json_object_get(reply, "error");
	struct bu_err told;

	if (!json_is_object(error))
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "%s %s: the server answered with status %ld", method,
				  url, status);
	bu_json_to_err(error, &told);
	http->told = 1;
	if (err)
		*err = told;
	return -1;
}

static int
perform(struct bu_http *http, const char *method, const char *url,
	struct answer *answer, struct bu_err *err)
{
	CURLcode code;
	long status = 0;

	if (strncasecmp(url, "https:", 6) == 0 && !http->ca_file)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s %s: https needs the file of the CA", method, url);
	code = curl_easy_perform(http->curl);
	if (answer->too_long)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "%s %s: the answer is longer than %zu bytes", method,
				  url, answer->max);
	if (code != CURLE_OK)
		return fail_curl(http, code, method, url, err);
	curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
	return status < 300 ? 0 : fail_status(http, answer, status, method, url, err);
}

void
bu_http_watch(struct bu_http *http, int (*stop)(void *arg), void *arg)
{
	http->stop = stop;
	http->stop_arg = arg;
}

static const char *const methods[] = {"GET", "POST", "PUT", "DELETE"};

static int
check_method(const char *method, const json_t *body, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(methods); i++)
		if (strcmp(method, methods[i]) == 0 && !(i == 0 && body))
			return 0;
	return bu_err_set(
		err, BU_ERR_INVAL, 0,
		"HTTP method '%s'%s: GET without a body, POST, PUT or DELETE is "
		"needed",
		method, body ? " with a body" : "");
}

struct lines {
	struct answer *answer; /* for what is no answer */
	char *line;
	size_t size, cap;
	int (*fn)(const char *line, void *arg);
	void *arg;
	int stopped;
};

static size_t
on_lines(char *data, size_t unit, size_t count, void *arg)
{
	struct lines *lines = arg;
	long status = 0;

	curl_easy_getinfo(lines->answer->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 300)
		return on_data(data, unit, count, lines->answer);
	for (size_t i = 0; i < unit * count && !lines->stopped; i++) {
		if (lines->size >= JSON_MAX)
			return 0;
		lines->line = bu_xgrow(lines->line, &lines->cap, lines->size + 1, 1);
		lines->line[lines->size++] = data[i] == '\n' ? '\0' : data[i];
		if (data[i] == '\n') {
			lines->stopped = lines->fn(lines->line, lines->arg);
			lines->size = 0;
		}
	}
	return lines->stopped ? 0 : unit * count;
}

int
bu_http_follow(struct bu_http *http, const char *path,
	       int (*fn)(const char *line, void *arg), void *arg, struct bu_err *err)
{
	AUTO_ANSWER struct answer answer = {.max = JSON_MAX};
	bu_autofree char *url = bu_xasprintf("%s%s", http->base_url, path);
	struct lines lines = {.answer = &answer, .fn = fn, .arg = arg};
	int rc;

	set_up(http, url, 0, &answer);
	curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION, on_lines);
	curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, &lines);
	curl_easy_setopt(http->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(http->curl, CURLOPT_LOW_SPEED_TIME, (long)SILENT_S);
	rc = perform(http, "GET", url, &answer, err);
	free(lines.line);
	return lines.stopped ? 0 : rc;
}

int
bu_http_json(struct bu_http *http, const struct bu_http_call *call, json_t **ret_reply,
	     struct bu_err *err)
{
	const char *method = call->method;
	const json_t *body = call->body;
	AUTO_ANSWER struct answer answer = {.max = JSON_MAX};
	bu_autofree char *url = bu_xasprintf("%s%s", http->base_url, call->path);
	bu_autofree char *text = body ? bu_json_canonical(body) : bu_xstrdup("");
	struct curl_slist *headers = NULL;
	json_t *reply = NULL;
	int rc;

	if (check_method(method, body, err))
		return -1;
	set_up(http, url, call->timeout_ms, &answer);
	if (body)
		headers = curl_slist_append(headers, "Content-Type: application/json");
	headers = curl_slist_append(headers, "Accept: application/json");
	headers = curl_slist_append(headers, "Expect:"); /* no round trip before it */
	bu_assert(headers != NULL);
	curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, headers);
	if (strcmp(method, "GET") != 0) {
		curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, text);
		curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)strlen(text));
		curl_easy_setopt(http->curl, CURLOPT_CUSTOMREQUEST, method);
	}
	rc = perform(http, method, url, &answer, err);
	curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(headers);
	if (rc)
		return -1;
	if (answer.size > 0) {
		reply = bu_json_parse(answer.buf, answer.size, "the answer", err);
		if (!reply) {
			if (err)
				err->kind = BU_ERR_REMOTE;
			return bu_err_wrap(err, "%s %s", method, url);
		}
	}
	if (ret_reply)
		*ret_reply = reply;
	else
		json_decref(reply);
	return 0;
}

int
bu_http_range(struct bu_http *http, const struct bu_http_part *part, void *buf,
	      int64_t timeout_ms, struct bu_err *err)
{
	AUTO_ANSWER struct answer answer = {.buf = buf, .max = part->size, .fixed = 1};
	bu_autofree char *url = bu_xasprintf("%s%s", http->base_url, part->path);
	bu_autofree char *range = NULL;
	long status = 0;

	if (part->size == 0)
		return 0;
	range = bu_xasprintf("%ju-%ju", (uintmax_t)part->offset,
			     (uintmax_t)(part->offset + part->size - 1));
	set_up(http, url, timeout_ms, &answer);
	curl_easy_setopt(http->curl, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(http->curl, CURLOPT_RANGE, range);
	curl_easy_setopt(http->curl, CURLOPT_BUFFERSIZE, (long)READ_BYTES);
	if (perform(http, "GET", url, &answer, err))
		return -1;
	curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &status);
	if (answer.size != part->size)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "GET %s: bytes %s: the answer has %zu of %zu bytes",
				  url, range, answer.size, part->size);
	/* 200 is the whole file: right only for a range that begins with it. */
	if (status != 206 && part->offset != 0)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "GET %s: bytes %s: the server ignores the range", url,
				  range);
	return 0;
}

char *
bu_http_get(struct bu_http *http, const char *path, size_t max, int64_t timeout_ms,
	    size_t *ret_size, struct bu_err *err)
{
	AUTO_ANSWER struct answer answer = {.max = max};
	bu_autofree char *url = bu_xasprintf("%s%s", http->base_url, path);

	set_up(http, url, timeout_ms, &answer);
	curl_easy_setopt(http->curl, CURLOPT_HTTPGET, 1L);
	if (perform(http, "GET", url, &answer, err))
		return NULL;
	if (!answer.buf)
		answer.buf = bu_xmalloc(1);
	answer.buf[answer.size] = '\0';
	if (ret_size)
		*ret_size = answer.size;
	return bu_steal(&answer.buf);
}

int
bu_http_was_told(const struct bu_http *http)
{
	return http->told;
}

int64_t
bu_http_date_s(struct bu_http *http)
{
	struct curl_header *date;
	time_t when;

	if (curl_easy_header(http->curl, "Date", 0, CURLH_HEADER, -1, &date) !=
	    CURLHE_OK)
		return 0;
	when = curl_getdate(date->value, NULL);
	return when > 0 ? (int64_t)when : 0;
}
