/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listeners of the API, and answers that wait. A handler that answers LATER leaves
 * its connection suspended; waking resumes it and the handler is asked again. Others:
 * server_request.c has a request until its handler is called, server_connections.c the
 * connections within their limits.
 */
#include "provisioner/api/server.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mhd.h"
#include "provisioner/api/server_impl.h"

/* WAKE: at most ten answers a second to each waiting client. RESUMED: waiting handlers
 * that are called in one turn of the loop; there may be thousands. */
enum { WAKE_MS = 100, RESUMED_MAX = 32 };

static void
resume(struct bu_exchange **list, size_t most)
{
	struct bu_exchange *exchange;

	for (size_t i = 0; i < most && (exchange = *list); i++) {
		*list = exchange->next;
		exchange->waiting = 0;
		MHD_resume_connection(exchange->connection);
	}
}

static void
on_turn(void *arg)
{
	struct bu_server *server = arg;

	resume(&server->woken, RESUMED_MAX);
	for (size_t i = 0; i < server->count; i++)
		bu_mhd_run(server->listeners[i].mhd);
	if (server->woken)
		bu_timer_set(server->turn, 0);
}

/* Whoever waits now comes after those that still have to be called. */
static void
on_wake(void *arg)
{
	struct bu_server *server = arg;
	struct bu_exchange **last = &server->woken;

	server->wake_ms = 0;
	while (*last)
		last = &(*last)->next;
	*last = bu_steal(&server->waiting);
	on_turn(server);
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
	server->turn = bu_timer_create(loop, on_turn, server);
	server->names = bu_xstrdup("");
	for (int i = 0; i < BU_PERSON_COUNT; i++)
		server->callers.groups[i].gid = -1;
	for (int id = 0; id < BU_LIMIT_COUNT; id++)
		server->meters[id] = bu_meter_create(loop, (enum bu_limit)id);
	return server;
}

void
bu_server_names(struct bu_server *server, const char *names)
{
	free(server->names);
	server->names = bu_xstrdup(names);
}

void
bu_server_callers(struct bu_server *server, const struct bu_callers *callers)
{
	server->callers = *callers;
}

void
bu_server_refused(struct bu_server *server, enum bu_limit id, const char *key)
{
	bu_meter_refused(server->meters[id], key);
}

void
bu_server_counts_log(struct bu_server *server, const struct bu_store *log)
{
	server->log = log;
}

void
bu_server_destroy(struct bu_server *server)
{
	if (!server)
		return;
	resume(&server->woken, SIZE_MAX);
	resume(&server->waiting, SIZE_MAX);
	for (size_t i = 0; i < server->count; i++) {
		bu_mhd_stop(server->listeners[i].mhd);
		bu_connections_destroy(server->listeners[i].connections);
	}
	bu_wire_destroy(server->wire);
	for (int id = 0; id < BU_LIMIT_COUNT; id++)
		bu_meter_destroy(server->meters[id]);
	bu_timer_destroy(server->wake);
	bu_timer_destroy(server->turn);
	free(server->names);
	free(server);
}

/* Who comes to a listener of nodes is looked for on the wire. */
static struct bu_wire *
look_for(struct bu_server *server, enum bu_listener kind, int fd)
{
	struct sockaddr_in at = {0};
	socklen_t size = sizeof(at);

	if (kind != BU_LISTEN_BOOT && kind != BU_LISTEN_AGENT)
		return NULL;
	if (!server->wire)
		server->wire = bu_wire_create(server->loop);
	if (getsockname(fd, (struct sockaddr *)&at, &size) == 0)
		bu_wire_port(server->wire, ntohs(at.sin_port));
	return server->wire;
}

int
bu_server_listen(struct bu_server *server, enum bu_listener kind, int fd,
		 const struct bu_server_tls *tls, struct bu_err *err)
{
	struct bu_listening *listener = &server->listeners[server->count];

	bu_assert(server->count < BU_LISTENERS_MAX);
	listener->server = server;
	listener->kind = kind;
	listener->tls = tls != NULL;
	listener->connections =
		bu_connections_create(server->loop, kind, tls != NULL, server->meters,
				      look_for(server, kind, fd));
	listener->mhd = bu_mhd_start(
		server->loop,
		&(struct bu_mhd_opts){
			.fd = fd,
			.on_access = bu_server_on_access,
			.on_completed = bu_server_on_completed,
			.arg = listener,
			.on_accept = bu_connections_accept,
			.on_connection = bu_connections_notify,
			.connections_arg = listener->connections,
			.idle_s = (unsigned)bu_limit_info(BU_LIMIT_IDLE)->most,
			.logs = 1,
			.connections = bu_connections_most(listener->connections),
			.cert_pem = tls ? tls->cert : NULL,
			.key_pem = tls ? tls->key : NULL,
			.ca_pem = tls ? tls->ca : NULL,
			.priorities =
				kind == BU_LISTEN_BOOT ? BU_TLS_FIRMWARE : BU_TLS_NEW,
		},
		err);
	if (!listener->mhd) {
		bu_connections_destroy(bu_steal(&listener->connections));
		return -1;
	}
	server->count++;
	return 0;
}
