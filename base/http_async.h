/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP on the event loop, for devices: one exchange is one request and its answer,
 * whatever its status. HTTP/1.1; no redirect is followed, no proxy used; over https TLS
 * 1.2 or later, and the peer is who the certificate's fingerprint or the system's CAs
 * say. Connections are kept for the next exchange with the same server.
 */
#ifndef BU_BASE_HTTP_ASYNC_H
#define BU_BASE_HTTP_ASYNC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/loop.h"

struct bu_http_async;    /* of one loop */
struct bu_http_exchange; /* under way */

struct bu_http_async *bu_http_async_create(struct bu_loop *loop);
/* Drops what is under way; no callback. Not from one. */
void bu_http_async_destroy(struct bu_http_async *async);

/* Asked before each connection about the address that it would be made to, whatever
 * name led there; 0 = yes, else err says why not and is the end of an exchange that
 * reaches no other address. NULL = any. */
typedef int (*bu_http_address_fn)(const struct sockaddr *to, struct bu_err *err);
void bu_http_async_limit(struct bu_http_async *async, bu_http_address_fn may);

struct bu_http_request {
	const char *method;
	const char *url;
	const char *const *headers; /* "Name: value", NULL-terminated; NULL = none */
	const char *body;           /* NULL = none */
	const char *user;           /* Basic, with the first request; NULL = none */
	const char *password;
	/* SHA-256 of the certificate's DER, 64 lower-case hex digits: then no CA is
	 * asked. NULL: the system's CAs, and the name in the URL. Compared before a
	 * byte of the request leaves, on kept connections, too. */
	const char *fingerprint;
	/* Path of certificates in PEM: the CAs that may vouch for the server in place
	 * of the system's. NULL = the system's. */
	const char *ca;
	int64_t timeout_ms, connect_timeout_ms;
	size_t max;     /* bytes of the answer's body */
	int compressed; /* 1: it may come compressed; 0: identity */
	/* 1: on a new connection. On a kept one that its peer has given up, the request
	 * goes out twice, whatever it asks for. */
	int fresh;
	int last; /* 1: the connection is closed afterwards */
	/* Asked about each address of the host, with the callback's arg; not 0: it is
	 * not connected to. NULL = all may be. */
	int (*look)(const struct sockaddr *address, void *arg);
	/* For a body that comes little by little and may never end: gets each part of a
	 * 200's, with the callback's arg, first an empty one when its head has come; no
	 * part is kept for the answer. Starts and
	 * aborts no exchange. Nobody waits for such an exchange to end (base/loop.h).
	 */
	void (*part)(const char *data, size_t size, void *arg);
};

struct bu_http_answer {
	long status;
	char *body; /* never NULL; NUL-terminated; the callback may write into it */
	size_t size;
	int64_t connection;  /* that is kept; 0 = it was closed */
	const char *address; /* that it came from, as "10.0.0.1" */
	/* How often the request went out: twice where the peer gave up a kept
	 * connection under it. */
	int sent;
	const struct bu_http_exchange *exchange;
};
/* The last header of this name; NULL. Borrowed until the next call. */
const char *bu_http_answer_header(const struct bu_http_answer *answer,
				  const char *name);

/* One of answer and err is given. Errors: BU_ERR_TIMEOUT; BU_ERR_VERIFY: the server is
 * not who it should be; BU_ERR_INVAL: the URL; BU_ERR_REMOTE: the rest. */
typedef void (*bu_http_answer_fn)(struct bu_http_answer *answer,
				  const struct bu_err *err, void *arg);

/* The request is copied. fn is called from the loop alone. */
struct bu_http_exchange *bu_http_exchange_start(struct bu_http_async *async,
						const struct bu_http_request *request,
						bu_http_answer_fn fn, void *arg);
/* fn is not called any more. */
void bu_http_exchange_abort(struct bu_http_exchange *exchange);
/* Ends a kept connection that is not used; one that is gone is none. Small servers have
 * few places for those who say nothing. */
void bu_http_async_close(struct bu_http_async *async, int64_t connection);
/* Works without the loop, for at most so long, until no exchange is under way: for the
 * last requests of a program that ends. Callbacks come from here. */
void bu_http_async_finish(struct bu_http_async *async, int64_t within_ms);

#endif
