/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP on the event loop over libcurl's multi interface; called by drivers of power and
 * of clusters. Invariants: no byte of a request leaves before the peer is known to be
 * the right one; an answer never takes more memory than its caller allowed; each
 * exchange ends in exactly one callback or in its abort.
 */
#include "base/http_async.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/http_async_impl.h"

/* Debian's; libcurl over GnuTLS knows none of itself. */
#define SYSTEM_CAS "/etc/ssl/certs/ca-certificates.crt"

static void
exchange_free(struct bu_http_exchange *exchange)
{
	struct bu_http_exchange **link = &exchange->async->first;

	while (*link != exchange)
		link = &(*link)->next;
	*link = exchange->next;
	if (!exchange->part)
		bu_loop_awaited(exchange->async->loop)->exchanges--;
	curl_multi_remove_handle(exchange->async->multi, exchange->curl);
	curl_easy_cleanup(exchange->curl);
	curl_slist_free_all(exchange->headers);
	free(exchange->method);
	free(exchange->url);
	free(exchange->fingerprint);
	free(exchange->ca);
	free(exchange->body);
	free(exchange);
}

/* --- connections --- */

static curl_socket_t
open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
	struct bu_http_exchange *exchange = arg;
	struct bu_http_async *async = exchange->async;
	int fd;

	(void)purpose;
	if ((exchange->look && exchange->look(&to->addr, exchange->arg) != 0) ||
	    (async->may && async->may(&to->addr, &exchange->barred) != 0))
		return CURL_SOCKET_BAD;
	fd = socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
	if (fd < 0)
		return CURL_SOCKET_BAD;
	bu_http_connections_add(&async->connections, fd);
	return fd;
}

static int
close_socket(void *arg, curl_socket_t fd)
{
	struct bu_http_async *async = arg;

	bu_http_connections_forget(&async->connections, fd);
	return close(fd);
}

/* The connection of an exchange that has ended well, unless it was closed with it. */
static int64_t
kept_connection(const struct bu_http_exchange *exchange)
{
	curl_socket_t fd = CURL_SOCKET_BAD;

	if (curl_easy_getinfo(exchange->curl, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK)
		return 0;
	return bu_http_connections_number(&exchange->async->connections, fd);
}

/* curl sees its end, and forgets it, when it next looks for one. */
void
bu_http_async_close(struct bu_http_async *async, int64_t number)
{
	bu_http_connections_end(&async->connections, number);
}

void
bu_http_async_limit(struct bu_http_async *async, bu_http_address_fn may)
{
	async->may = may;
}

/* --- what curl says --- */

/* The certificate that the peer showed when no CA knew it: "Cert:" and PEM. */
static void
read_shown(struct bu_http_exchange *exchange)
{
	struct curl_certinfo *info = NULL;

	if (curl_easy_getinfo(exchange->curl, CURLINFO_CERTINFO, &info) != CURLE_OK ||
	    !info || info->num_of_certs < 1)
		return;
	for (const struct curl_slist *row = info->certinfo[0]; row; row = row->next)
		if (strncmp(row->data, "Cert:", 5) == 0)
			bu_ignore(bu_cert_fingerprint(row->data + 5, exchange->shown,
						      NULL));
}

static void
fail_verify(struct bu_http_exchange *exchange, struct bu_err *err)
{
	if (!exchange->fingerprint)
		read_shown(exchange);
	if (exchange->fingerprint)
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "%s shows another certificate than the one that is "
			   "expected: %s. Find out why it changed before you trust it",
			   exchange->url,
			   exchange->shown[0] ? exchange->shown : "none");
	else
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "%s: no CA of %s vouches for its certificate, whose "
			   "fingerprint is %s: %s",
			   exchange->url, exchange->ca,
			   exchange->shown[0] ? exchange->shown : "unknown",
			   exchange->why);
}

static void
fail(struct bu_http_exchange *exchange, CURLcode code, struct bu_err *err)
{
	enum bu_err_kind kind = BU_ERR_REMOTE;

	if (exchange->too_long) {
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "%s %s: the answer is longer than %zu bytes",
			   exchange->method, exchange->url, exchange->max);
		return;
	}
	if (code == CURLE_COULDNT_CONNECT && exchange->barred.kind != BU_ERR_NONE) {
		*err = exchange->barred;
		bu_err_wrap(err, "%s %s", exchange->method, exchange->url);
		return;
	}
	if (code == CURLE_PEER_FAILED_VERIFICATION ||
	    code == CURLE_SSL_CACERT_BADFILE || code == CURLE_ABORTED_BY_CALLBACK) {
		fail_verify(exchange, err);
		return;
	}
	if (code == CURLE_OPERATION_TIMEDOUT)
		kind = BU_ERR_TIMEOUT;
	if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)
		kind = BU_ERR_INVAL;
	bu_err_set(err, kind, 0, "%s %s: %s", exchange->method, exchange->url,
		   exchange->why[0] ? exchange->why : curl_easy_strerror(code));
}

static void
finish(struct bu_http_exchange *exchange, CURLcode code)
{
	struct bu_http_answer answer = {.exchange = exchange};
	struct bu_err err = {0};

	if (code != CURLE_OK) {
		fail(exchange, code, &err);
		exchange->fn(NULL, &err, exchange->arg);
		return;
	}
	if (!exchange->body)
		exchange->body = bu_xmalloc(1);
	exchange->body[exchange->size] = '\0';
	answer.body = exchange->body;
	answer.size = exchange->size;
	answer.connection = kept_connection(exchange);
	curl_easy_getinfo(exchange->curl, CURLINFO_PRIMARY_IP, &answer.address);
	answer.sent = exchange->sent;
	curl_easy_getinfo(exchange->curl, CURLINFO_RESPONSE_CODE, &answer.status);
	exchange->fn(&answer, NULL, exchange->arg);
}

const char *
bu_http_answer_header(const struct bu_http_answer *answer, const char *name)
{
	struct curl_header *header = NULL;

	if (curl_easy_header(answer->exchange->curl, name, 0, CURLH_HEADER, -1,
			     &header) != CURLHE_OK)
		return NULL;
	return header->value;
}

/* Callbacks start and abort exchanges: the list of messages is read anew each time. */
static void
collect(struct bu_http_async *async)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(async->multi, &left))) {
		CURLcode code = message->data.result;
		void *exchange = NULL;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
		finish(exchange, code);
		exchange_free(exchange);
	}
}

/* --- the loop --- */

static void
on_time(void *arg)
{
	struct bu_http_async *async = arg;
	int running;

	curl_multi_socket_action(async->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	collect(async);
}

static int
set_timer(CURLM *multi, long timeout_ms, void *arg)
{
	struct bu_http_async *async = arg;

	(void)multi;
	if (timeout_ms < 0)
		bu_timer_stop(async->timer);
	else
		bu_timer_set(async->timer, timeout_ms);
	return 0;
}

static void
on_socket(int fd, int what, void *arg)
{
	struct bu_http_async *async = arg;
	int flags = (what & BU_READABLE ? CURL_CSELECT_IN : 0) |
		    (what & BU_WRITABLE ? CURL_CSELECT_OUT : 0);
	int running;

	curl_multi_socket_action(async->multi, fd, flags, &running);
	collect(async);
}

static int
set_socket(CURL *curl, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
	struct bu_http_async *async = arg;
	struct bu_watch *watch = socket_arg;
	int want = (what & CURL_POLL_IN ? BU_READABLE : 0) |
		   (what & CURL_POLL_OUT ? BU_WRITABLE : 0);

	(void)curl;
	if (what == CURL_POLL_REMOVE) {
		bu_watch_destroy(watch);
		curl_multi_assign(async->multi, fd, NULL);
	} else if (watch) {
		bu_watch_set(watch, want);
	} else {
		watch = bu_watch_create(async->loop, fd, want, on_socket, async);
		curl_multi_assign(async->multi, fd, watch);
	}
	return 0;
}

struct bu_http_async *
bu_http_async_create(struct bu_loop *loop)
{
	struct bu_http_async *async = bu_xcalloc(1, sizeof(*async));

	bu_assert(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
	async->loop = loop;
	async->timer = bu_timer_create(loop, on_time, async);
	async->multi = curl_multi_init();
	bu_assert(async->multi != NULL);
	curl_multi_setopt(async->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
	curl_multi_setopt(async->multi, CURLMOPT_SOCKETDATA, async);
	curl_multi_setopt(async->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(async->multi, CURLMOPT_TIMERDATA, async);
	return async;
}

void
bu_http_async_destroy(struct bu_http_async *async)
{
	if (!async)
		return;
	while (async->first)
		exchange_free(async->first);
	curl_multi_cleanup(async->multi);
	bu_http_connections_fini(&async->connections);
	bu_timer_destroy(async->timer);
	free(async);
	curl_global_cleanup();
}

void
bu_http_async_finish(struct bu_http_async *async, int64_t within_ms)
{
	int64_t until_ms = bu_mono_ms(bu_clock_system()) + within_ms;
	int64_t left_ms;
	int running;

	while (async->first &&
	       (left_ms = until_ms - bu_mono_ms(bu_clock_system())) > 0) {
		curl_multi_perform(async->multi, &running);
		collect(async);
		if (async->first)
			curl_multi_poll(async->multi, NULL, 0,
					left_ms < 100 ? (int)left_ms : 100, NULL);
	}
}

/* --- one exchange --- */

static int
is_good(CURL *curl)
{
	long status;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	return status == 200;
}

static size_t
on_data(char *data, size_t unit, size_t count, void *arg)
{
	struct bu_http_exchange *exchange = arg;
	size_t size = unit * count;

	if (exchange->part && is_good(exchange->curl))
		return exchange->part(data, size, exchange->arg), size;
	if (size > exchange->max - exchange->size) {
		exchange->too_long = 1;
		return 0;
	}
	exchange->body =
		bu_xgrow(exchange->body, &exchange->cap, exchange->size + size + 1, 1);
	memcpy(exchange->body + exchange->size, data, size);
	exchange->size += size;
	return size;
}

/* curl sends a request once more, and does not say so otherwise. */
static int
on_debug(CURL *curl, curl_infotype type, char *data, size_t size, void *arg)
{
	struct bu_http_exchange *exchange = arg;

	exchange->sent += type == CURLINFO_HEADER_OUT;
	if (type == CURLINFO_HEADER_IN && exchange->part && size <= 2 &&
	    data[0] == '\r' && is_good(curl))
		exchange->part("", 0, exchange->arg);
	return 0;
}

/* The connection stands, the request has not left. */
static int
check_peer(void *arg, char *ip, char *local_ip, int port, int local_port)
{
	struct bu_http_exchange *exchange = arg;
	struct curl_tlssessioninfo *info = NULL;

	(void)ip, (void)local_ip, (void)port, (void)local_port;
	if (curl_easy_getinfo(exchange->curl, CURLINFO_TLS_SSL_PTR, &info) ==
		    CURLE_OK &&
	    info && info->internals)
		bu_tls_shown(info->internals, exchange->shown);
	return bu_equal_secret(exchange->shown, exchange->fingerprint)
		       ? CURL_PREREQFUNC_OK
		       : CURL_PREREQFUNC_ABORT;
}

static void
set_peer(struct bu_http_exchange *exchange)
{
	CURL *curl = exchange->curl;
	long by_ca = !exchange->fingerprint;

	curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, by_ca);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, by_ca ? 2L : 0L);
	curl_easy_setopt(curl, CURLOPT_CERTINFO, by_ca);
	/* Reading all CAs would cost more than the rest of a connection. */
	curl_easy_setopt(curl, CURLOPT_CAINFO, by_ca ? exchange->ca : NULL);
	curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	/* Over plain http a fingerprint is never shown, and so nothing is sent. */
	if (exchange->fingerprint) {
		curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, check_peer);
		curl_easy_setopt(curl, CURLOPT_PREREQDATA, exchange);
	}
}

static void
set_request(struct bu_http_exchange *exchange, const struct bu_http_request *request)
{
	CURL *curl = exchange->curl;

	for (size_t i = 0; request->headers && request->headers[i]; i++)
		exchange->headers =
			curl_slist_append(exchange->headers, request->headers[i]);
	exchange->headers = curl_slist_append(exchange->headers, "Expect:");
	if (request->last)
		exchange->headers =
			curl_slist_append(exchange->headers, "Connection: close");
	bu_assert(exchange->headers != NULL);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, exchange->headers);
	if (request->body || strcmp(request->method, "POST") == 0) {
		curl_easy_setopt(curl, CURLOPT_POST, 1L);
		curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS,
				 request->body ? request->body : "");
	}
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, exchange->method);
	if (request->user) {
		curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		curl_easy_setopt(curl, CURLOPT_USERNAME, request->user);
		curl_easy_setopt(curl, CURLOPT_PASSWORD, request->password);
	}
	curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING,
			 request->compressed ? "" : "identity");
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
			 (long)request->connect_timeout_ms);
	curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, request->fresh ? 1L : 0L);
	curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, request->last ? 1L : 0L);
}

struct bu_http_exchange *
bu_http_exchange_start(struct bu_http_async *async,
		       const struct bu_http_request *request, bu_http_answer_fn fn,
		       void *arg)
{
	struct bu_http_exchange *exchange = bu_xcalloc(1, sizeof(*exchange));
	CURL *curl = curl_easy_init();

	bu_assert(curl != NULL);
	exchange->async = async;
	exchange->curl = curl;
	exchange->method = bu_xstrdup(request->method);
	exchange->url = bu_xstrdup(request->url);
	exchange->fingerprint =
		request->fingerprint ? bu_xstrdup(request->fingerprint) : NULL;
	exchange->ca = bu_xstrdup(request->ca ? request->ca : SYSTEM_CAS);
	exchange->max = request->max;
	exchange->look = request->look;
	exchange->part = request->part;
	exchange->fn = fn;
	exchange->arg = arg;
	exchange->next = async->first;
	async->first = exchange;
	if (!exchange->part)
		bu_loop_awaited(async->loop)->exchanges++;
	curl_easy_setopt(curl, CURLOPT_PRIVATE, exchange);
	curl_easy_setopt(curl, CURLOPT_URL, exchange->url);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, exchange->why);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_USERAGENT, "bringup/" BU_VERSION);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_CLOSESOCKETFUNCTION, close_socket);
	curl_easy_setopt(curl, CURLOPT_CLOSESOCKETDATA, async);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, exchange);
	curl_easy_setopt(curl, CURLOPT_VERBOSE, 1L);
	curl_easy_setopt(curl, CURLOPT_DEBUGFUNCTION, on_debug);
	curl_easy_setopt(curl, CURLOPT_DEBUGDATA, exchange);
	set_peer(exchange);
	set_request(exchange, request);
	bu_assert(curl_multi_add_handle(async->multi, curl) == CURLM_OK);
	return exchange;
}

void
bu_http_exchange_abort(struct bu_http_exchange *exchange)
{
	exchange_free(exchange);
}
