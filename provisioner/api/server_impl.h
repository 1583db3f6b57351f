/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the server. */
#ifndef BU_API_SERVER_IMPL_H
#define BU_API_SERVER_IMPL_H

#include <microhttpd.h>

#include "base/crypto.h"
#include "base/mhd.h"
#include "provisioner/api/server_connections.h"

enum { BU_LISTENERS_MAX = 8 };

struct bu_listening {
	struct bu_server *server;
	enum bu_listener kind;
	struct bu_mhd *mhd;
	struct bu_connections *connections;
	int tls;
};

struct bu_exchange {
	struct bu_exchange *next; /* in server->waiting or woken */
	struct bu_listening *listener;
	struct MHD_Connection *connection;
	struct bu_connection *of;
	int waiting;
	int64_t since_ms; /* the whole request came */
	int whole;
	char *body;
	size_t body_size;
	size_t body_cap;
	int too_large, counted; /* counted: as a waiting one */
	int retry_s;            /* of a refusal; 0 = not set */
	struct bu_tls_peer peer;
	struct bu_err peer_fault; /* why peer is empty */
	struct bu_caller caller;
	int is_called; /* caller is made */
	int is_kept;   /* the handler has answered; waits for the log */
	struct bu_reply kept;
	int64_t kept_after, kept_until; /* counts of batches of the log */
	int64_t kept_ms;
};

struct bu_server {
	struct bu_loop *loop;
	const struct bu_route *routes;
	void *arg;
	struct bu_listening listeners[BU_LISTENERS_MAX];
	size_t count;
	struct bu_exchange *waiting;
	struct bu_exchange *woken; /* those that are called again in the next turns */
	struct bu_timer *wake, *turn;
	int64_t wake_ms; /* when wake is due; 0 = not set */
	char *names;     /* host names, see bu_server_names() */
	struct bu_callers callers;
	const struct bu_store *log;
	struct bu_wire *wire; /* NULL = no listener for nodes */
	struct bu_meter *meters[BU_LIMIT_COUNT];
};

/* server_request.c: callbacks of libmicrohttpd. */
enum MHD_Result bu_server_on_access(void *cls, struct MHD_Connection *connection,
				    const char *url, const char *method,
				    const char *version, const char *data, size_t *size,
				    void **slot);
void bu_server_on_completed(void *cls, struct MHD_Connection *connection, void **slot,
			    enum MHD_RequestTerminationCode code);

/* server_caller.c: makes the caller of this request; 0 = they may come, or still may.
 */
bu_must int bu_server_call(struct bu_exchange *exchange, struct bu_err *err);

/* server_wait.c. Suspends the request; its handler or its stream is called again later.
 */
void bu_server_suspend(struct bu_exchange *exchange);

/* server_answer.c. */
/* Sends the handler's reply, after the log has its rows. */
enum MHD_Result bu_server_answer(struct bu_exchange *exchange, struct bu_reply *reply);
enum MHD_Result bu_server_send_kept(struct bu_exchange *exchange);
void bu_server_drop_kept(struct bu_exchange *exchange);

/* server_stream.c. Takes the state. */
enum MHD_Result bu_server_stream(struct bu_exchange *exchange,
				 const struct bu_stream *of);

/* server_response.c. */
/* Those that each answer carries. */
/* etag: NULL = the answer is kept nowhere. */
void bu_server_headers(struct MHD_Response *response, const char *content_type,
		       const char *etag);
/* Takes the contents of the reply. */
enum MHD_Result bu_server_send(struct MHD_Connection *connection,
			       struct bu_reply *reply);
/* status: 0 = by the error. retry_s: Retry-After of 503; 0 = the default. */
enum MHD_Result bu_server_send_error(struct MHD_Connection *connection, int status,
				     int retry_s, const struct bu_err *err);
enum MHD_Result bu_server_refuse(struct bu_exchange *exchange,
				 const struct bu_err *err);

/* server_hosts.c. names: separated by commas; "localhost" and our own addresses always
 * count. */
int bu_host_is_ours(const char *names, const char *host);
/* 1 = the caller comes with the page's cookie, and shows nothing else. connection NULL
 * = 0. */
int bu_cookie_counts(struct MHD_Connection *connection);
/* Checks Host, and Origin for methods that change something. 0, or the status of the
 * refusal. */
bu_must int bu_host_check(const char *names, struct MHD_Connection *connection,
			  const char *method, struct bu_err *err);

#endif
