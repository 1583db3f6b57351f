/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP server inside the loop; the only user of libmicrohttpd. Listeners share one
 * table of routes; a route names the listeners that offer it.
 */
#ifndef BU_API_SERVER_H
#define BU_API_SERVER_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/record.h"
#include "model/limit.h"
#include "provisioner/api/wire.h"
#include "provisioner/store/store.h"

enum bu_listener {
	BU_LISTEN_BOOT = 1,  /* plain HTTP for boot files and image parts */
	BU_LISTEN_AGENT = 2, /* TLS, client certificates */
	BU_LISTEN_LOCAL = 4, /* unix socket of the command line */
	BU_LISTEN_PAGE = 8,  /* 127.0.0.1, plain, read-only */
};

struct bu_server;

enum { BU_PARAMS_MAX = 4 };

struct bu_request {
	enum bu_listener listener; /* that it came by */
	const char *method;
	const char *path;
	const char *params[BU_PARAMS_MAX]; /* what stood for '*' in the route */
	const json_t *body;                /* NULL when there was none */
	const char *peer;       /* name in the verified client certificate; "" = none */
	const char *peer_cert;  /* its fingerprint */
	const char *peer_fault; /* why there is none; "" = not said */
	int64_t waited_ms;      /* since the request came; 0 at the first call */
	void *connection;       /* for bu_request_query() */
	void *exchange;         /* for bu_request_within(); NULL = no limits */
};
enum { BU_ADDRESS_SIZE = 46 };
/* From where it came: "10.77.0.11"; "" over a unix socket. */
void bu_request_address(const struct bu_request *request, char ret[BU_ADDRESS_SIZE]);
/* How it was seen on the wire when its connection came. */
void bu_request_seen(const struct bu_request *request, struct bu_seen *ret);
enum { BU_BY_SIZE = 96 };
/* Who asks, for the log: over the unix socket the user at its other end, as "root" or
 * "alice (uid 1000)", over TLS the name in the client's certificate. says: what the
 * client says of itself, NULL = nothing; a name of up to 32 letters, digits and "._-"
 * is added as "root (says alice)", anything else is dropped. */
void bu_request_by(const struct bu_request *request, const char *says,
		   char ret[BU_BY_SIZE]);
/* Value of ?name=, NULL when it is missing. */
const char *bu_request_query(const struct bu_request *request, const char *name);
/* The same as a number from 0 to most; fallback when it is missing. */
int64_t bu_request_number(const struct bu_request *request, const char *name,
			  int64_t fallback, int64_t most);
/* Counts the request at its first call, for its machine or, without a certificate, its
 * address. BU_ERR_BUSY: it is one too many, and is answered with Retry-After. */
bu_must int bu_request_within(const struct bu_request *request, enum bu_limit id,
			      struct bu_err *err);
/* The body by its table; none is as one that says nothing. BU_ERR_INVAL with the path
 * of the field that is wrong. */
bu_must int bu_request_read(const struct bu_request *request,
			    const struct bu_field *fields, void *ret,
			    struct bu_err *err);

struct bu_overlay {
	uint64_t offset;
	size_t size;
	char bytes[4096];
};

/* What a handler fills; all of it starts empty. One of json, text, fd is used. */
struct bu_reply {
	int status;   /* 0 = 200 */
	int retry_s;  /* Retry-After of 503; 0 = some seconds */
	json_t *json; /* taken */
	char *text;   /* taken */
	const char *content_type;
	int has_fd;
	int fd; /* taken; Range is honoured */
	uint64_t fd_size;
	/* What is sent instead of the file's own bytes there; taken. */
	struct bu_overlay *overlays;
	size_t overlays_count;
	/* What was handed to the log until now is in it before this is sent: who hears
	 * that something was taken may rely on it. NULL = at once. */
	const struct bu_store *logged;
};

enum bu_answer { BU_ANSWER_NOW = 0, BU_ANSWER_ERROR = -1, BU_ANSWER_LATER = 1 };

/* LATER: asked again after bu_server_wake() and when a second has passed. */
typedef enum bu_answer (*bu_handler_fn)(void *arg, const struct bu_request *request,
					struct bu_reply *reply, struct bu_err *err);

struct bu_route {
	const char *method;
	const char *path; /* a segment "*" takes any one, a last "**" all the rest */
	int listeners;
	bu_handler_fn fn;
	const char *help;
};

/* routes: ends with a NULL method. arg is handed to every handler. */
struct bu_server *bu_server_create(struct bu_loop *loop, const struct bu_route *routes,
				   void *arg);
void bu_server_destroy(struct bu_server *server);
/* PEM. */
struct bu_server_tls {
	const char *cert, *key;
	/* Of the clients. NULL: they are firmware, which has no certificates and may
	 * speak TLS 1.2. */
	const char *ca;
};
/* Takes fd, a listening socket. tls: NULL for plain. */
bu_must int bu_server_listen(struct bu_server *server, enum bu_listener kind, int fd,
			     const struct bu_server_tls *tls, struct bu_err *err);
/* The names by which people and machines reach it, with commas; "localhost" and its own
 * addresses need none. A request that names another host is answered 421. */
void bu_server_names(struct bu_server *server, const char *names);
/* What requests of agents put into this log counts for their machines. */
void bu_server_counts_log(struct bu_server *server, const struct bu_store *log);
/* Says so, once a minute, of a limit that a handler keeps. */
void bu_server_refused(struct bu_server *server, enum bu_limit id, const char *key);
/* Asks waiting handlers again, at most ten times a second. */
void bu_server_wake(struct bu_server *server);

/* "10.0.0.1:8080" -> a listening socket, -1 and err when not. */
bu_must int bu_listen_tcp(const char *address, struct bu_err *err);
/* A stale socket file is replaced; mode 0600. Its folder is made where it is missing,
 * for every user to pass, and so is /run/bringup made that. BU_ERR_STATE when a program
 * listens there or it is no socket. */
bu_must int bu_listen_unix(const char *path, struct bu_err *err);
/* The one that systemd has opened for us; -1 = there is none. */
bu_must int bu_listen_inherited(void);

#endif
