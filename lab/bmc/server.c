/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP listeners of virtual BMCs, one each. A slow BMC keeps its own clients
 * waiting and nobody else's.
 */
#include "lab/bmc/server.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/mhd.h"

enum {
	IDLE_S = 60,
	BODY_MAX = 1 << 20,
	CONNECTIONS_MAX = 256,
};

struct bu_bmc_server {
	struct bu_loop *loop;
	struct bu_bmc *bmc;
	struct bu_bmc_listen listen;
	struct bu_mhd *mhd;
	struct bu_timer *machine;  /* the BMC's: power, POST, tasks */
	struct bu_timer *slow;     /* answers that wait */
	struct bu_timer *changing; /* to the other certificate */
	struct exchange *waiting;  /* oldest last */
};

struct exchange {
	struct exchange *next;
	struct bu_bmc_server *server;
	struct MHD_Connection *connection;
	char *body;
	size_t size, cap;
	int64_t due_ms; /* its answer goes out; 0 = it has not waited yet */
};

static const char *
header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result
find_query(void *cls, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct bu_bmc_request *ret = cls;

	if (*key != '$')
		return MHD_YES;
	ret->query = key;
	ret->query_value = value;
	return MHD_NO;
}

static enum MHD_Result
send_reply(struct MHD_Connection *connection, const struct bu_bmc_reply *reply)
{
	bu_autofree char *text =
		reply->body ? json_dumps(reply->body, JSON_COMPACT) : NULL;
	const char *body = reply->text ? reply->text : text ? text : "";
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(body), (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result result;
	const char *name;
	json_t *value;

	json_object_foreach (reply->headers, name, value)
		MHD_add_response_header(response, name, json_string_value(value));
	if (*body)
		MHD_add_response_header(response, "Content-Type",
					reply->text ? reply->type
						    : "application/json;charset=utf-8");
	result = MHD_queue_response(connection, (unsigned)reply->status, response);
	MHD_destroy_response(response);
	return result;
}

static void
plan(struct bu_bmc_server *server)
{
	int64_t now_ms = bu_loop_now_ms(server->loop);
	int64_t due_ms = bu_bmc_advance(server->bmc, now_ms);

	if (due_ms >= 0)
		bu_timer_set(server->machine, due_ms > now_ms ? due_ms - now_ms : 1);
}

static enum MHD_Result
answer(struct exchange *exchange, const char *url, const char *method)
{
	struct MHD_Connection *connection = exchange->connection;
	struct bu_bmc_server *server = exchange->server;
	struct bu_bmc_request request = {
		.method = method,
		.path = url,
		.authorization = header(connection, "Authorization"),
		.token = header(connection, "X-Auth-Token"),
		.content_type = header(connection, "Content-Type"),
		.accept = header(connection, "Accept"),
		.odata_version = header(connection, "OData-Version"),
		.if_match = header(connection, "If-Match"),
		.if_none_match = header(connection, "If-None-Match"),
		.has_length = header(connection, "Content-Length") ||
			      header(connection, "Transfer-Encoding"),
		.body = exchange->body,
		.size = exchange->size,
	};
	struct bu_bmc_reply reply;
	enum MHD_Result result;

	MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, find_query,
				  &request);
	bu_bmc_answer(server->bmc, &request, bu_loop_now_ms(server->loop),
		      bu_wall_ms(bu_loop_clock(server->loop)), &reply);
	result = send_reply(connection, &reply);
	bu_bmc_reply_free(&reply);
	plan(server);
	return result;
}

/* 1 when it waits first. */
static int
wait_first(struct exchange *exchange)
{
	struct bu_bmc_server *server = exchange->server;
	int64_t slow_ms = bu_bmc_fault_get(server->bmc, BU_BMC_FAULT_SLOW);

	if (slow_ms <= 0 || exchange->due_ms)
		return 0;
	exchange->due_ms = bu_loop_now_ms(server->loop) + slow_ms;
	exchange->next = server->waiting;
	server->waiting = exchange;
	MHD_suspend_connection(exchange->connection);
	if (!exchange->next)
		bu_timer_set(server->slow, slow_ms);
	return 1;
}

static enum MHD_Result
on_access(void *cls, struct MHD_Connection *connection, const char *url,
	  const char *method, const char *version, const char *data, size_t *size,
	  void **slot)
{
	struct exchange *exchange = *slot;

	if (!exchange) {
		exchange = bu_xcalloc(1, sizeof(*exchange));
		exchange->server = cls;
		exchange->connection = connection;
		*slot = exchange;
		return MHD_YES;
	}
	if (*size) {
		if (exchange->size + *size > BODY_MAX)
			return MHD_NO;
		exchange->body = bu_xgrow(exchange->body, &exchange->cap,
					  exchange->size + *size, 1);
		memcpy(exchange->body + exchange->size, data, *size);
		exchange->size += *size;
		*size = 0;
		return MHD_YES;
	}
	return wait_first(exchange) ? MHD_YES : answer(exchange, url, method);
}

static void
on_completed(void *cls, struct MHD_Connection *connection, void **slot,
	     enum MHD_RequestTerminationCode code)
{
	struct exchange *exchange = *slot;

	if (!exchange)
		return;
	free(exchange->body);
	free(exchange);
	*slot = NULL;
}

static void
on_machine(void *arg)
{
	plan(arg);
}

/* Those whose time has come; the newest are first, so the rest of the list waits no
 * longer than the first that is due. */
static void
on_slow(void *arg)
{
	struct bu_bmc_server *server = arg;
	int64_t now_ms = bu_loop_now_ms(server->loop), next_ms = 0;
	struct exchange **link = &server->waiting, *exchange;

	while ((exchange = *link)) {
		if (exchange->due_ms > now_ms) {
			next_ms = exchange->due_ms;
			link = &exchange->next;
			continue;
		}
		*link = exchange->next;
		MHD_resume_connection(exchange->connection);
	}
	if (server->waiting)
		bu_timer_set(server->slow, next_ms - now_ms);
	bu_mhd_run(server->mhd);
}

/* --- the listener --- */

static int
start(struct bu_bmc_server *server, struct bu_err *err)
{
	const struct bu_bmc_listen *listen = &server->listen;

	server->mhd = bu_mhd_start(
		server->loop,
		&(struct bu_mhd_opts){
			.fd = dup(listen->fd), /* it begins anew with another
						  certificate */
			.on_access = on_access,
			.on_completed = on_completed,
			.arg = server,
			.idle_s = IDLE_S,
			.connections = CONNECTIONS_MAX,
			.cert_pem = listen->cert_pem,
			.key_pem = listen->key_pem,
			.priorities = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2",
		},
		err);
	return server->mhd ? 0 : -1;
}

static void
stop(struct bu_bmc_server *server)
{
	struct exchange *exchange;

	while ((exchange = server->waiting)) {
		server->waiting = exchange->next;
		MHD_resume_connection(exchange->connection);
	}
	bu_mhd_stop(server->mhd);
	server->mhd = NULL;
}

static void
on_changing(void *arg)
{
	struct bu_bmc_server *server = arg;
	struct bu_err err = {0};

	stop(server);
	server->listen.cert_pem = server->listen.other_pem;
	bu_assert(start(server, &err) == 0);
}

struct bu_bmc_server *
bu_bmc_server_create(struct bu_loop *loop, struct bu_bmc *bmc,
		     const struct bu_bmc_listen *listen, struct bu_err *err)
{
	struct bu_bmc_server *server = bu_xcalloc(1, sizeof(*server));
	int64_t change_s = bu_bmc_fault_get(bmc, BU_BMC_FAULT_NEW_CERTIFICATE);

	server->loop = loop;
	server->bmc = bmc;
	server->listen = *listen;
	server->machine = bu_timer_create(loop, on_machine, server);
	server->slow = bu_timer_create(loop, on_slow, server);
	server->changing = bu_timer_create(loop, on_changing, server);
	if (start(server, err) != 0) {
		bu_bmc_server_destroy(server);
		return NULL;
	}
	if (change_s != BU_BMC_NOT && listen->other_pem)
		bu_timer_set(server->changing, change_s * 1000);
	return server;
}

void
bu_bmc_server_destroy(struct bu_bmc_server *server)
{
	if (!server)
		return;
	stop(server);
	bu_timer_destroy(server->machine);
	bu_timer_destroy(server->slow);
	bu_timer_destroy(server->changing);
	close(server->listen.fd);
	free(server);
}
