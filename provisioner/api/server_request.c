/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request from its head to its handler. Called by libmicrohttpd for each part that
 * has come. Invariants: who is over a limit is refused before anything is done; a
 * handler has the whole body or is not called.
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/plain.h"
#include "provisioner/api/server_impl.h"

/* Of its body that a request may put into the log as its own. */
enum { OWN_TIMES = 4, OWN_BYTES = 16 << 10 };

/* Bytes of one body that a listener takes from those that it knows by their
 * certificate, token or session, and from all others; who has no role at its listener
 * sends none. */
static const struct sizes {
	enum bu_listener kind;
	size_t known_bytes, other_bytes;
} sizes[] = {
	{BU_LISTEN_BOOT, 0, 4096},
	{BU_LISTEN_AGENT, 8 << 20, 512 << 10},
	{BU_LISTEN_LOCAL, 64 << 20, 64 << 20},
	{BU_LISTEN_PEOPLE, 64 << 20, 4096},
	{BU_LISTEN_PAGE, 0, 4096},
};

const char *
bu_request_query(const struct bu_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND,
					   name);
}

int
bu_request_has(const struct bu_request *request, const char *name)
{
	return MHD_lookup_connection_value_n(request->connection, MHD_GET_ARGUMENT_KIND,
					     name, strlen(name), NULL, NULL) == MHD_YES;
}

const char *
bu_request_header(const struct bu_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *
bu_request_cookie(const struct bu_request *request, const char *name)
{
	return request->connection ? MHD_lookup_connection_value(request->connection,
								 MHD_COOKIE_KIND, name)
				   : NULL;
}

int64_t
bu_request_number(const struct bu_request *request, const char *name, int64_t fallback,
		  int64_t most)
{
	const char *text = bu_request_query(request, name);
	int64_t value = text ? strtoll(text, NULL, 10) : fallback;

	if (value < 0)
		value = 0;
	return value > most ? most : value;
}

int
bu_request_read(const struct bu_request *request, const struct bu_field *fields,
		void *ret, struct bu_err *err)
{
	bu_autojson json_t *none = json_object();

	return bu_record_from_json(fields, request->body ? request->body : none, ret,
				   err);
}

/* Copies the path's variable segments; 1 when the route fits. */
static int
match(const char *route, const char *path, char *store, size_t size,
      const char *params[BU_PARAMS_MAX])
{
	size_t count = 0, used = 0;

	while (*route) {
		size_t length;

		if (*route != '*') {
			if (*route++ != *path++)
				return 0;
			continue;
		}
		length = route[1] == '*' ? strlen(path) : strcspn(path, "/");
		if (!length || count == BU_PARAMS_MAX || used + length + 1 > size)
			return 0;
		memcpy(store + used, path, length);
		store[used + length] = '\0';
		params[count++] = store + used;
		used += length + 1;
		path += length;
		route += route[1] == '*' ? 2 : 1;
	}
	return !*path;
}

/* Verifies the certificate at the first request of a connection, and again when the
 * certificate is not valid by the clock: GnuTLS says why. Whether the machine may still
 * come with it is asked of the log at each request, by the handlers. */
static void
read_peer(struct bu_exchange *exchange)
{
	struct bu_tls_peer *peer = bu_connection_peer(exchange->of);
	const union MHD_ConnectionInfo *info;

	if (!exchange->listener->tls || exchange->listener->kind == BU_LISTEN_PEOPLE)
		return;
	info = MHD_get_connection_info(exchange->connection,
				       MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!bu_tls_peer_holds(peer, bu_wall_ms(bu_clock_system()) / 1000) &&
	    (!info || bu_tls_peer(info->tls_session, peer, &exchange->peer_fault) != 0))
		peer->name[0] = '\0';
	exchange->peer = *peer;
	if (peer->name[0])
		bu_connection_known(exchange->of, peer->name);
}

/* Failures are counted by address, and tokens and certificates that open are not: who
 * guesses keeps nobody out. A token that cannot be judged yet is no failure. */
static enum MHD_Result
refuse_caller(struct bu_exchange *exchange, struct bu_err *err)
{
	struct bu_server *server = exchange->listener->server;
	int is_token = exchange->listener->kind == BU_LISTEN_PEOPLE &&
		       err->kind == BU_ERR_DENIED;
	int wait_s = 0;

	if (is_token)
		wait_s = bu_meter_take(server->meters[BU_LIMIT_LOGINS],
				       bu_connection_address(exchange->of), 1);
	if (wait_s)
		bu_err_set(err, BU_ERR_BUSY, 0,
			   "too many requests with wrong tokens or certificates "
			   "from this address; "
			   "ask again in %d s",
			   wait_s);
	return bu_server_send_error(exchange->connection,
				    is_token && !wait_s ? MHD_HTTP_UNAUTHORIZED : 0,
				    wait_s, err);
}

/* What comes in pieces has not waited: only when it was asked once, it has. */
static int64_t
heard_ms(struct bu_exchange *exchange)
{
	int64_t now_ms = bu_loop_now_ms(exchange->listener->server->loop);

	if (!exchange->whole)
		exchange->since_ms = now_ms;
	exchange->whole = 1;
	return now_ms;
}

/* The route of its method and path, with what stood for '*' in store. */
static const struct bu_route *
find_route(const struct bu_exchange *exchange, struct bu_request *request, char *store,
	   size_t size, struct bu_err *err)
{
	const struct bu_route *route = exchange->listener->server->routes;
	int is_head = strcmp(request->method, "HEAD") == 0, known = 0;

	for (; route->method; route++) {
		int fits =
			(route->listeners & (int)exchange->listener->kind) &&
			match(route->path, request->path, store, size, request->params);

		known |= fits;
		if (fits &&
		    strcmp(route->method, is_head ? "GET" : request->method) == 0)
			return route;
	}
	bu_err_set(err, BU_ERR_NOTFOUND, 0, "nothing at %s %s%s", request->method,
		   request->path, known ? " (another method is)" : "");
	return NULL;
}

/* Makes the caller. Somebody unknown gets what is open to everybody, and that alone. */
static int
let_in(struct bu_exchange *exchange, const struct bu_route *route, struct bu_err *err)
{
	if (bu_server_call(exchange, err) == 0)
		return 0;
	if (!route || route->role != BU_CALLER_OPEN)
		return -1;
	exchange->caller.roles = BU_CALLER_OPEN;
	return 0;
}

void
bu_request_seen(const struct bu_request *request, struct bu_seen *ret)
{
	const struct bu_exchange *exchange = request->exchange;

	if (exchange)
		*ret = *bu_connection_seen(exchange->of);
	else
		memset(ret, 0, sizeof(*ret));
}

int
bu_request_within(const struct bu_request *request, enum bu_limit id,
		  struct bu_err *err)
{
	struct bu_exchange *exchange = request->exchange;
	int wait_s;

	if (!exchange || request->waited_ms)
		return 0;
	wait_s = bu_meter_take(exchange->listener->server->meters[id],
			       bu_connection_key(exchange->of), 1);
	if (!wait_s)
		return 0;
	exchange->retry_s = wait_s;
	return bu_err_set(err, BU_ERR_BUSY, 0, "more than %lld %s; ask again in %d s",
			  (long long)bu_limit_info(id)->most, bu_limit_info(id)->unit,
			  wait_s);
}

/* At its first call: whether this machine may have one more request answered, and
 * another row in the log. */
static int
check_sender(struct bu_exchange *exchange, struct bu_err *err)
{
	struct bu_server *server = exchange->listener->server;
	struct bu_request request = {.exchange = exchange};

	if (!exchange->peer.name[0] || exchange->counted)
		return 0;
	exchange->retry_s = bu_meter_take(server->meters[BU_LIMIT_LOG_BYTES],
					  exchange->peer.name, 0);
	if (exchange->retry_s)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "this machine has filled its part of the log; ask "
				  "again in %d s",
				  exchange->retry_s);
	if (bu_request_within(&request, BU_LIMIT_WAITING, err) != 0)
		return -1;
	exchange->counted = 1;
	return 0;
}

/* What it has put into the log is its sender's, as far as its own bytes go: the last
 * result of a campaign also writes the certificates of all the others. */
static enum bu_answer
call(struct bu_exchange *exchange, const struct bu_route *route,
     const struct bu_request *request, struct bu_reply *reply, struct bu_err *err)
{
	struct bu_server *server = exchange->listener->server;
	int64_t before = server->log ? bu_store_bytes(server->log) : 0;
	enum bu_answer rc = route->fn(server->arg, request, reply, err);
	int64_t wrote = server->log ? bu_store_bytes(server->log) - before : 0;
	int64_t most = OWN_TIMES * (int64_t)exchange->body_size + OWN_BYTES;

	if (server->log && exchange->listener->kind == BU_LISTEN_AGENT)
		bu_meter_charge(server->meters[BU_LIMIT_LOG_BYTES],
				bu_connection_key(exchange->of),
				wrote < most ? wrote : most);
	return rc;
}

static enum MHD_Result
dispatch(struct bu_exchange *exchange, const char *url, const char *method)
{
	int64_t now_ms = heard_ms(exchange);
	struct bu_request request = {.listener = exchange->listener->kind,
				     .caller = &exchange->caller,
				     .method = method,
				     .path = url,
				     .peer = exchange->peer.name,
				     .peer_cert = exchange->peer.fingerprint,
				     .peer_fault = exchange->peer_fault.text,
				     .waited_ms = now_ms - exchange->since_ms,
				     .connection = exchange->connection,
				     .exchange = exchange};
	struct bu_reply reply = {0};
	struct bu_err err = {0}, lost = {0};
	bu_autojson json_t *body = NULL;
	char store[512];
	const struct bu_route *route;

	route = find_route(exchange, &request, store, sizeof(store), &lost);
	if (let_in(exchange, route, &err) != 0)
		return refuse_caller(exchange, &err);
	if (!route)
		return bu_server_refuse(exchange, &lost);
	if (bu_request_may(&request, route->role, &err) != 0 ||
	    check_sender(exchange, &err) != 0)
		return bu_server_refuse(exchange, &err);
	if (exchange->body_size) {
		body = bu_json_parse(exchange->body, exchange->body_size, "request",
				     &err);
		if (!body)
			return bu_server_refuse(exchange, &err);
		if (request.listener == BU_LISTEN_AGENT)
			bu_plain_json(body);
		request.body = body;
	}
	switch (call(exchange, route, &request, &reply, &err)) {
	case BU_ANSWER_NOW:
		return bu_server_answer(exchange, &reply);
	case BU_ANSWER_LATER:
		bu_server_suspend(exchange);
		return MHD_YES;
	case BU_ANSWER_ERROR:
		break;
	}
	return bu_server_refuse(exchange, &err);
}

static int
is_known(const struct bu_exchange *exchange)
{
	return exchange->listener->kind == BU_LISTEN_PEOPLE
		       ? exchange->caller.roles != BU_CALLER_OPEN
		       : exchange->peer.name[0] != '\0';
}

static size_t
body_max(const struct bu_exchange *exchange)
{
	size_t i = 0;

	while (sizes[i].kind != exchange->listener->kind)
		i++;
	return is_known(exchange) ? sizes[i].known_bytes : sizes[i].other_bytes;
}

static void
add_body(struct bu_exchange *exchange, const char *data, size_t size)
{
	size_t cap = exchange->body_cap;

	if (exchange->too_large || exchange->body_size + size > body_max(exchange)) {
		exchange->too_large = 1;
		free(bu_steal(&exchange->body));
		return;
	}
	exchange->body = bu_xgrow(exchange->body, &exchange->body_cap,
				  exchange->body_size + size, 1);
	memcpy(exchange->body + exchange->body_size, data, size);
	exchange->body_size += size;
	if (bu_connection_grow(exchange->of, exchange->body_cap - cap) == 0)
		return;
	exchange->too_large = 1; /* it was shut */
	free(bu_steal(&exchange->body));
}

static int
has_body(struct MHD_Connection *connection)
{
	const char *length = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && strcmp(length, "0") != 0) ||
	       MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					   MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

/* Its head is there. */
static enum MHD_Result
begin(struct bu_exchange *exchange, const char *method, const char *url)
{
	struct bu_request request = {.method = method, .path = url};
	struct bu_server *server = exchange->listener->server;
	enum bu_listener kind = exchange->listener->kind;
	struct bu_err err;
	int status = 0, wait_s;
	char store[512];

	read_peer(exchange);
	if (let_in(exchange, find_route(exchange, &request, store, sizeof(store), NULL),
		   &err) != 0)
		return refuse_caller(exchange, &err);
	if (kind == BU_LISTEN_LOCAL || (kind == BU_LISTEN_PEOPLE && is_known(exchange)))
		bu_connection_known(exchange->of, exchange->caller.who);
	wait_s = bu_connection_set(exchange->of, has_body(exchange->connection)
							 ? BU_STAGE_BODY
							 : BU_STAGE_ANSWER);
	if (wait_s)
		bu_err_set(&err, BU_ERR_BUSY, 0,
			   "too many unfinished requests; ask again in %d s", wait_s);
	else if (kind != BU_LISTEN_LOCAL)
		status = bu_host_check(server->names, exchange->connection, method,
				       &err);
	if (!wait_s && !status)
		return MHD_YES;
	return bu_server_send_error(exchange->connection, status, wait_s, &err);
}

enum MHD_Result
bu_server_on_access(void *cls, struct MHD_Connection *connection, const char *url,
		    const char *method, const char *version, const char *data,
		    size_t *size, void **slot)
{
	struct bu_listening *listener = cls;
	struct bu_exchange *exchange = *slot;
	struct bu_err err;

	if (!exchange) {
		exchange = bu_xcalloc(1, sizeof(*exchange));
		exchange->listener = listener;
		exchange->connection = connection;
		exchange->of = bu_connection_of(connection);
		*slot = exchange;
		return begin(exchange, method, url);
	}
	if (*size) {
		add_body(exchange, data, *size);
		*size = 0;
		return MHD_YES;
	}
	if (!exchange->whole && bu_connection_set(exchange->of, BU_STAGE_ANSWER) != 0)
		return MHD_NO; /* it was shut */
	if (exchange->too_large) {
		bu_err_set(&err, BU_ERR_INVAL, 0, "request larger than %zu bytes",
			   body_max(exchange));
		return bu_server_refuse(exchange, &err);
	}
	if (exchange->is_kept)
		return bu_server_send_kept(exchange);
	return dispatch(exchange, url, method);
}

void
bu_server_on_completed(void *cls, struct MHD_Connection *connection, void **slot,
		       enum MHD_RequestTerminationCode code)
{
	struct bu_exchange *exchange = *slot;

	if (!exchange)
		return;
	if (exchange->counted)
		bu_meter_give(exchange->listener->server->meters[BU_LIMIT_WAITING],
			      exchange->peer.name, 1);
	if (bu_connection_set(exchange->of, BU_STAGE_IDLE) != 0)
		bu_debug("server", "a connection that was shut has ended");
	bu_server_drop_kept(exchange);
	free(exchange->body);
	free(exchange);
	*slot = NULL;
}
