/* SPDX-License-Identifier: Apache-2.0 */
/* The connections of one listener: whose each is, how far, and when it has to be. */
#ifndef BU_API_SERVER_CONNECTIONS_H
#define BU_API_SERVER_CONNECTIONS_H

#include <microhttpd.h>

#include "model/limit.h"
#include "provisioner/api/server.h"

/* How far a connection is, each with a deadline but ANSWER. One of a machine with a
 * certificate is known, as is one of the command line. */
enum bu_stage {
	BU_STAGE_OPENING, /* handshake, first head */
	BU_STAGE_BODY,
	BU_STAGE_IDLE,
	BU_STAGE_ANSWER,
	BU_STAGE_COUNT
};

struct bu_connections;
struct bu_connection;

/* meters: of the server, by limit. wire: NULL = nobody is looked for. */
struct bu_connections *bu_connections_create(struct bu_loop *loop,
					     enum bu_listener kind, int tls,
					     struct bu_meter *const *meters,
					     struct bu_wire *wire);
/* After the daemon of its connections was stopped. */
void bu_connections_destroy(struct bu_connections *all);
/* How many it takes: its share of the files that this process may open. */
unsigned bu_connections_most(const struct bu_connections *all);

/* Callbacks of libmicrohttpd; the argument is the struct bu_connections. */
enum MHD_Result bu_connections_accept(void *arg, const struct sockaddr *from,
				      socklen_t size);
void bu_connections_notify(void *arg, struct MHD_Connection *connection, void **context,
			   enum MHD_ConnectionNotificationCode what);

struct bu_connection *bu_connection_of(struct MHD_Connection *connection);
/* Its address; "" over a unix socket. */
const char *bu_connection_address(const struct bu_connection *one);
const struct bu_seen *bu_connection_seen(const struct bu_connection *one);
/* The machine that its certificate names. */
void bu_connection_known(struct bu_connection *one, const char *machine);
/* Who is counted for what it does: its machine, address or user. */
const char *bu_connection_key(const struct bu_connection *one);
/* BODY may be refused: 0, or after how many seconds it may be asked again. */
bu_must int bu_connection_set(struct bu_connection *one, enum bu_stage stage);
/* So many bytes more of a body are kept. -1: there is no room for them. */
bu_must int bu_connection_grow(struct bu_connection *one, size_t bytes);

#endif
