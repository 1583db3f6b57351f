/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listeners of the API. A handler that answers LATER leaves its connection
 * suspended; waking resumes it and the handler is asked again.
 */
#include "provisioner/api/server.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mhd.h"
#include "provisioner/api/server_impl.h"

enum {
	IDLE_S = 120,
	WAKE_MS = 100, /* at most ten answers a second to each waiting client */
	AGAIN_MS = 1000,
	UNKNOWN_MS = 5000, /* so long a log may be silent about what was handed to it */
	LISTENERS_MAX = 8,
};

/* What a listener takes: connections, as agents keep theirs, and bytes of a body from
 * those that it knows (by certificate, or because only root gets there) and from all
 * others. */
static const struct limits {
	enum bu_listener kind;
	unsigned connections;
	size_t known_bytes, other_bytes;
} limits[] = {
	{BU_LISTEN_BOOT, 16384, 0, 4096},
	{BU_LISTEN_AGENT, 16384, 8 << 20, 512 << 10},
	{BU_LISTEN_LOCAL, 1024, 64 << 20, 64 << 20},
	{BU_LISTEN_PAGE, 1024, 0, 4096},
};

struct listener {
	struct bu_server *server;
	enum bu_listener kind;
	struct bu_mhd *mhd;
	int tls;
};

struct exchange {
	struct exchange *next; /* in the list of those that wait */
	struct listener *listener;
	struct MHD_Connection *connection;
	int waiting;
	int64_t since_ms; /* all of it is there */
	int whole;
	char *body;
	size_t body_size;
	size_t body_cap;
	int too_large;
	struct bu_tls_peer peer;
	struct bu_err peer_fault; /* why there is none */
	int is_kept; /* the handler has answered; the log has to catch up */
	struct bu_reply kept;
	int64_t kept_after, kept_until; /* batches of the log */
	int64_t kept_ms;
};

struct bu_server {
	struct bu_loop *loop;
	const struct bu_route *routes;
	void *arg;
	struct listener listeners[LISTENERS_MAX];
	size_t count;
	struct exchange *waiting;
	struct bu_timer *wake;
	int64_t wake_ms; /* when wake is due; 0 = not set */
};

const char *
bu_request_query(const struct bu_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND,
					   name);
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

static void
read_peer(struct exchange *exchange)
{
	const union MHD_ConnectionInfo *info;

	if (!exchange->listener->tls)
		return;
	info = MHD_get_connection_info(exchange->connection,
				       MHD_CONNECTION_INFO_GNUTLS_SESSION);
	if (!info ||
	    bu_tls_peer(info->tls_session, &exchange->peer, &exchange->peer_fault) != 0)
		exchange->peer.name[0] = '\0';
}

static void
suspend(struct exchange *exchange)
{
	struct bu_server *server = exchange->listener->server;

	exchange->waiting = 1;
	exchange->next = server->waiting;
	server->waiting = exchange;
	MHD_suspend_connection(exchange->connection);
	if (!server->wake_ms) {
		server->wake_ms = bu_loop_now_ms(server->loop) + AGAIN_MS;
		bu_timer_set(server->wake, AGAIN_MS);
	}
}

/* Why the answer that was kept is not given; NULL = nothing is against it (yet). */
static const struct bu_err *
what_is_against(const struct exchange *exchange, struct bu_err *unknown)
{
	const struct bu_store *store = exchange->kept.logged;
	const struct bu_err *down = bu_store_down(store);
	int64_t now_ms = bu_loop_now_ms(exchange->listener->server->loop);

	if (bu_store_committed(store) >= exchange->kept_until)
		return bu_store_refused(store, exchange->kept_after,
					exchange->kept_until);
	if (!down || now_ms - exchange->kept_ms < UNKNOWN_MS)
		return NULL;
	*unknown = *down;
	bu_err_wrap(unknown, "it is not known yet whether this is in the log");
	return unknown;
}

static void
drop_kept(struct exchange *exchange)
{
	if (!exchange->is_kept)
		return;
	exchange->is_kept = 0;
	json_decref(exchange->kept.json);
	free(exchange->kept.text);
}

static enum MHD_Result
send_kept(struct exchange *exchange)
{
	struct bu_err unknown;
	const struct bu_err *bad = what_is_against(exchange, &unknown);

	if (bad) {
		drop_kept(exchange);
		return bu_server_send_error(exchange->connection, bad);
	}
	if (bu_store_committed(exchange->kept.logged) < exchange->kept_until) {
		suspend(exchange);
		return MHD_YES;
	}
	exchange->is_kept = 0;
	return bu_server_send(exchange->connection, &exchange->kept);
}

static enum MHD_Result
answer(struct exchange *exchange, struct bu_reply *reply)
{
	if (!reply->logged)
		return bu_server_send(exchange->connection, reply);
	exchange->is_kept = 1;
	exchange->kept = *reply;
	exchange->kept_after = bu_store_committed(reply->logged);
	exchange->kept_until = bu_store_appended(reply->logged);
	exchange->kept_ms = bu_loop_now_ms(exchange->listener->server->loop);
	return send_kept(exchange);
}

/* What comes in pieces has not waited: only when it was asked once, it has. */
static int64_t
heard_ms(struct exchange *exchange)
{
	int64_t now_ms = bu_loop_now_ms(exchange->listener->server->loop);

	if (!exchange->whole)
		exchange->since_ms = now_ms;
	exchange->whole = 1;
	return now_ms;
}

static enum MHD_Result
dispatch(struct exchange *exchange, const char *url, const char *method)
{
	struct bu_server *server = exchange->listener->server;
	int64_t now_ms = heard_ms(exchange);
	struct bu_request request = {.listener = exchange->listener->kind,
				     .method = method,
				     .path = url,
				     .peer = exchange->peer.name,
				     .peer_cert = exchange->peer.fingerprint,
				     .peer_fault = exchange->peer_fault.text,
				     .waited_ms = now_ms - exchange->since_ms,
				     .connection = exchange->connection};
	struct bu_reply reply = {0};
	struct bu_err err = {0};
	bu_autojson json_t *body = NULL;
	char store[512];
	const struct bu_route *route = server->routes;
	int known = 0;

	for (; route->method; route++) {
		int fits =
			(route->listeners & (int)exchange->listener->kind) &&
			match(route->path, url, store, sizeof(store), request.params);

		known |= fits;
		if (fits && (strcmp(route->method, method) == 0 ||
			     (strcmp(method, "HEAD") == 0 &&
			      strcmp(route->method, "GET") == 0)))
			break;
	}
	if (!route->method) {
		bu_err_set(&err, BU_ERR_NOTFOUND, 0, "nothing at %s %s%s", method, url,
			   known ? " (another method is)" : "");
		return bu_server_send_error(exchange->connection, &err);
	}
	if (exchange->body_size) {
		body = bu_json_parse(exchange->body, exchange->body_size, "request",
				     &err);
		if (!body)
			return bu_server_send_error(exchange->connection, &err);
		request.body = body;
	}
	switch (route->fn(server->arg, &request, &reply, &err)) {
	case BU_ANSWER_NOW:
		return answer(exchange, &reply);
	case BU_ANSWER_LATER:
		suspend(exchange);
		return MHD_YES;
	case BU_ANSWER_ERROR:
		break;
	}
	return bu_server_send_error(exchange->connection, &err);
}

static const struct limits *
limits_of(enum bu_listener kind)
{
	size_t i = 0;

	while (limits[i].kind != kind)
		i++;
	return &limits[i];
}

static size_t
body_max(const struct exchange *exchange)
{
	const struct limits *of = limits_of(exchange->listener->kind);

	return exchange->peer.name[0] ? of->known_bytes : of->other_bytes;
}

static void
add_body(struct exchange *exchange, const char *data, size_t size)
{
	if (exchange->too_large || exchange->body_size + size > body_max(exchange)) {
		exchange->too_large = 1;
		free(bu_steal(&exchange->body));
		return;
	}
	exchange->body = bu_xgrow(exchange->body, &exchange->body_cap,
				  exchange->body_size + size, 1);
	memcpy(exchange->body + exchange->body_size, data, size);
	exchange->body_size += size;
}

static enum MHD_Result
on_access(void *cls, struct MHD_Connection *connection, const char *url,
	  const char *method, const char *version, const char *data, size_t *size,
	  void **slot)
{
	struct listener *listener = cls;
	struct exchange *exchange = *slot;
	struct bu_err err;

	if (!exchange) {
		exchange = bu_xcalloc(1, sizeof(*exchange));
		exchange->listener = listener;
		exchange->connection = connection;
		*slot = exchange;
		read_peer(exchange);
		return MHD_YES;
	}
	if (*size) {
		add_body(exchange, data, *size);
		*size = 0;
		return MHD_YES;
	}
	if (exchange->too_large) {
		bu_err_set(&err, BU_ERR_INVAL, 0, "request larger than %zu bytes",
			   body_max(exchange));
		return bu_server_send_error(exchange->connection, &err);
	}
	if (exchange->is_kept)
		return send_kept(exchange);
	return dispatch(exchange, url, method);
}

static void
on_completed(void *cls, struct MHD_Connection *connection, void **slot,
	     enum MHD_RequestTerminationCode code)
{
	struct exchange *exchange = *slot;

	if (!exchange)
		return;
	drop_kept(exchange);
	free(exchange->body);
	free(exchange);
	*slot = NULL;
}

static void
on_wake(void *arg)
{
	struct bu_server *server = arg;
	struct exchange *exchange;

	server->wake_ms = 0;
	while ((exchange = server->waiting)) {
		server->waiting = exchange->next;
		exchange->waiting = 0;
		MHD_resume_connection(exchange->connection);
	}
	for (size_t i = 0; i < server->count; i++)
		bu_mhd_run(server->listeners[i].mhd);
}

void
bu_server_wake(struct bu_server *server)
{
	int64_t due_ms = bu_loop_now_ms(server->loop) + WAKE_MS;

	if (!server->waiting || (server->wake_ms && server->wake_ms <= due_ms))
		return;
	server->wake_ms = due_ms;
	bu_timer_set(server->wake, WAKE_MS);
}

struct bu_server *
bu_server_create(struct bu_loop *loop, const struct bu_route *routes, void *arg)
{
	struct bu_server *server = bu_xcalloc(1, sizeof(*server));

	server->loop = loop;
	server->routes = routes;
	server->arg = arg;
	server->wake = bu_timer_create(loop, on_wake, server);
	return server;
}

void
bu_server_destroy(struct bu_server *server)
{
	struct exchange *exchange;

	if (!server)
		return;
	while ((exchange = server->waiting)) {
		server->waiting = exchange->next;
		MHD_resume_connection(exchange->connection);
	}
	for (size_t i = 0; i < server->count; i++)
		bu_mhd_stop(server->listeners[i].mhd);
	bu_timer_destroy(server->wake);
	free(server);
}

#define TLS_1_3 "NORMAL:-VERS-ALL:+VERS-TLS1.3"
#define WITH_OLD TLS_1_3 ":+VERS-TLS1.2" /* firmware */

int
bu_server_listen(struct bu_server *server, enum bu_listener kind, int fd,
		 const struct bu_server_tls *tls, struct bu_err *err)
{
	struct listener *listener = &server->listeners[server->count];

	bu_assert(server->count < LISTENERS_MAX);
	listener->server = server;
	listener->kind = kind;
	listener->tls = tls != NULL;
	listener->mhd =
		bu_mhd_start(server->loop,
			     &(struct bu_mhd_opts){
				     .fd = fd,
				     .on_access = on_access,
				     .on_completed = on_completed,
				     .arg = listener,
				     .idle_s = IDLE_S,
				     .logs = 1,
				     .connections = limits_of(kind)->connections,
				     .cert_pem = tls ? tls->cert : NULL,
				     .key_pem = tls ? tls->key : NULL,
				     .ca_pem = tls ? tls->ca : NULL,
				     .priorities = tls && !tls->ca ? WITH_OLD : TLS_1_3,
			     },
			     err);
	if (!listener->mhd)
		return -1;
	server->count++;
	return 0;
}
