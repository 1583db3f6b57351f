/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP client, the only user of libcurl. Blocking calls, for the command line, the
 * agent and worker children; never used inside bringupd's loop.
 */
#ifndef BU_BASE_HTTP_H
#define BU_BASE_HTTP_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct bu_http; /* one connection pool; not shared between threads */

struct bu_http_opts {
	const char *base_url;    /* "https://10.0.0.1:8443"; paths are appended to it */
	const char *unix_socket; /* path; NULL = TCP */
	const char *ca_file;     /* PEM; required for https */
	const char *cert_file;   /* client certificate, PEM; NULL = none */
	const char *key_file;
	const char *token;       /* Authorization: Bearer; NULL = none */
	long connect_timeout_ms; /* 0 = 5,000 */
};
/* Never NULL. Errors of all calls: BU_ERR_TIMEOUT, BU_ERR_VERIFY when the server is not
 * of the CA or not of this name, BU_ERR_REMOTE for the rest of what can happen. Over
 * https TLS 1.3; no redirects, no proxies. */
struct bu_http *bu_http_create(const struct bu_http_opts *opts);
void bu_http_destroy(struct bu_http *http);

/* The PEM text of the CA that the server at url shows behind its own certificate, if
 * its SHA-256 is this one; owned. Nothing is sent and nobody is verified: it is for the
 * ca_file of a first call. BU_ERR_VERIFY: it shows another one. */
char *bu_http_find_ca(const char *url, const char *fingerprint, struct bu_err *err);

/* stop is asked about once a second while a call waits; when it does not say 0 the call
 * ends with BU_ERR_CANCELLED. NULL: nothing is asked any more. */
void bu_http_watch(struct bu_http *http, int (*stop)(void *arg), void *arg);

struct bu_http_call {
	const char *method, *path;
	const json_t *body;
	int64_t timeout_ms;
};
/* method GET, POST, PUT, DELETE; body may be NULL. Answers below 300 give 0; *ret_reply
 * (may be NULL) is a new reference or NULL when the answer was empty. An answer
 * {"error":{"kind","text"}} becomes err; anything else from 300 on is BU_ERR_REMOTE. */
bu_must int bu_http_json(struct bu_http *http, const struct bu_http_call *call,
			 json_t **ret_reply, struct bu_err *err);
/* Hands over each line of an answer that has no end, without its line end, until fn
 * returns other than 0 (0 = so it ended) or the server ends it. BU_ERR_TIMEOUT when
 * nothing comes for a minute. */
bu_must int bu_http_follow(struct bu_http *http, const char *path,
			   int (*fn)(const char *line, void *arg), void *arg,
			   struct bu_err *err);
struct bu_http_part {
	const char *path;
	uint64_t offset;
	size_t size;
};
/* Bytes [offset, offset+size) of the path into buf; a shorter or longer answer is
 * BU_ERR_REMOTE. */
bu_must int bu_http_range(struct bu_http *http, const struct bu_http_part *part,
			  void *buf, int64_t timeout_ms, struct bu_err *err);
/* The whole answer, NUL-terminated, at most max bytes; owned. */
char *bu_http_get(struct bu_http *http, const char *path, size_t max,
		  int64_t timeout_ms, size_t *ret_size, struct bu_err *err);
/* Whether the last error is what the server itself said, as {"error":...}. */
int bu_http_was_told(const struct bu_http *http);
/* The server's clock (Date) in its last answer, Unix time in s; 0 when it did not tell.
 */
int64_t bu_http_date_s(struct bu_http *http);

#endif
