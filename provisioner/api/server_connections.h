/* SPDX-License-Identifier: Apache-2.0 */
/* The connections of one listener: their clients, stages and deadlines. */
#ifndef BU_API_SERVER_CONNECTIONS_H
#define BU_API_SERVER_CONNECTIONS_H

#include <microhttpd.h>

#include "base/crypto.h"
#include "model/limit.h"
#include "provisioner/api/server.h"

/* Stage of a connection. Each has a deadline, except ANSWER. A connection is known if
 * it is of a caller with a role or of a machine with a certificate. */
enum bu_stage {
	BU_STAGE_OPENING, /* TLS handshake, first header */
	BU_STAGE_BODY,
	BU_STAGE_IDLE,
	BU_STAGE_ANSWER,
	BU_STAGE_COUNT
};

struct bu_connections;
struct bu_connection;

/* meters: of the server, by limit. wire: NULL = clients' cards are not looked for. */
struct bu_connections *bu_connections_create(struct bu_loop *loop,
					     enum bu_listener kind, int tls,
					     struct bu_meter *const *meters,
					     struct bu_wire *wire);
/* Called after libmicrohttpd's daemon has stopped. */
void bu_connections_destroy(struct bu_connections *all);
/* Maximum of connections: a share of the files that this process may open. */
unsigned bu_connections_most(const struct bu_connections *all);

/* Callbacks of libmicrohttpd; the argument is the struct bu_connections. */
enum MHD_Result bu_connections_accept(void *arg, const struct sockaddr *from,
				      socklen_t size);
void bu_connections_notify(void *arg, struct MHD_Connection *connection, void **context,
			   enum MHD_ConnectionNotificationCode what);

struct bu_connection *bu_connection_of(struct MHD_Connection *connection);
/* The client's address; "" over a unix socket. */
const char *bu_connection_address(const struct bu_connection *one);
/* The verified peer of a TLS connection; its name is empty until one is verified. */
struct bu_tls_peer *bu_connection_peer(struct bu_connection *one);
const struct bu_seen *bu_connection_seen(const struct bu_connection *one);
/* Sets the machine named by the client's certificate, or the caller. */
void bu_connection_known(struct bu_connection *one, const char *machine);
/* The key for limits: machine, address or user. */
const char *bu_connection_key(const struct bu_connection *one);
/* 0, or the seconds after which BODY may be asked for again. */
bu_must int bu_connection_set(struct bu_connection *one, enum bu_stage stage);
/* Counts bytes of a body that are kept. -1 = no room. */
bu_must int bu_connection_grow(struct bu_connection *one, size_t bytes);

#endif
