/* SPDX-License-Identifier: Apache-2.0 */
/* The transfers of a loop, as http_async.c keeps them. Nothing else includes this. */
#ifndef BU_BASE_HTTP_ASYNC_IMPL_H
#define BU_BASE_HTTP_ASYNC_IMPL_H

#include <curl/curl.h>

#include "base/crypto.h"
#include "base/http_async.h"
#include "base/http_connections.h"

struct bu_http_async {
	struct bu_loop *loop;
	CURLM *multi;
	struct bu_timer *timer;
	struct bu_http_exchange *first;
	struct bu_http_connections connections;
	bu_http_address_fn may; /* NULL = any address */
};

struct bu_http_exchange {
	struct bu_http_async *async;
	struct bu_http_exchange *next;
	CURL *curl;
	struct curl_slist *headers;
	char *method, *url;
	char *fingerprint; /* NULL = CAs */
	char *ca;          /* their file */
	char *body;
	size_t size, cap, max;
	int too_long, sent;   /* more than max; how often the request went out */
	struct bu_err barred; /* an address that may not be connected to */
	int (*look)(const struct sockaddr *address, void *arg);
	void (*part)(const char *data, size_t size, void *arg); /* NULL = body */
	char shown[BU_DIGEST_SIZE]; /* what a wrong peer showed; "" */
	char why[CURL_ERROR_SIZE];
	bu_http_answer_fn fn;
	void *arg;
};

#endif
