/* SPDX-License-Identifier: Apache-2.0 */
/* A Prometheus of paper over loopback: the test says what each query gives, from a
 * thread of the server's, while nothing else goes on. */
#ifndef BU_TESTS_SUPPORT_FAKEPROM_H
#define BU_TESTS_SUPPORT_FAKEPROM_H

#include <check.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

enum { FAKEPROM_TEXT_MAX = 2048 };

/* The body, owned; *status is 200 at first. */
typedef char *(*fakeprom_fn)(const char *query, int *status, void *arg);

struct fakeprom {
	struct MHD_Daemon *daemon;
	char url[64];
	fakeprom_fn fn;
	void *arg;
	int asked;
	char query[FAKEPROM_TEXT_MAX]; /* the last one */
	char who[FAKEPROM_TEXT_MAX];   /* its Authorization; "" = none */
	char path[FAKEPROM_TEXT_MAX];  /* "POST /api/v1/query" */
	char body_[FAKEPROM_TEXT_MAX]; /* as it comes in */
};

static inline void
fakeprom_answer(struct fakeprom *prom, struct MHD_Connection *connection)
{
	const char *who = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						      "Authorization");
	struct MHD_Response *response;
	int status = 200;
	char *text;

	snprintf(prom->who, sizeof(prom->who), "%s", who ? who : "");
	snprintf(prom->query, sizeof(prom->query), "%s",
		 strncmp(prom->body_, "query=", 6) == 0 ? prom->body_ + 6 : "?");
	MHD_http_unescape(prom->query);
	prom->asked++;
	text = prom->fn(prom->query, &status, prom->arg);
	response = MHD_create_response_from_buffer(strlen(text), text,
						   MHD_RESPMEM_MUST_FREE);
	MHD_add_response_header(response, "Location", "http://127.0.0.1:1/");
	MHD_queue_response(connection, (unsigned)status, response);
	MHD_destroy_response(response);
}

static inline enum MHD_Result
fakeprom_take(void *arg, struct MHD_Connection *connection, const char *url,
	      const char *method, const char *version, const char *data, size_t *size,
	      void **kept)
{
	struct fakeprom *prom = arg;
	size_t have = strlen(prom->body_);

	if (!*kept) {
		*kept = prom;
		prom->body_[0] = '\0';
		snprintf(prom->path, sizeof(prom->path), "%s %s", method, url);
	} else if (*size) {
		ck_assert_uint_lt(have + *size, sizeof(prom->body_));
		memcpy(prom->body_ + have, data, *size);
		prom->body_[have + *size] = '\0';
		*size = 0;
	} else {
		fakeprom_answer(prom, connection);
	}
	return MHD_YES;
}

static inline void
fakeprom_begin(struct fakeprom *prom, fakeprom_fn fn, void *arg)
{
	const union MHD_DaemonInfo *info;

	memset(prom, 0, sizeof(*prom));
	prom->fn = fn;
	prom->arg = arg;
	prom->daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ERROR_LOG, 0, NULL, NULL,
		fakeprom_take, prom, MHD_OPTION_SOCK_ADDR,
		&(struct sockaddr_in){.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
		MHD_OPTION_END);
	ck_assert_ptr_nonnull(prom->daemon);
	info = MHD_get_daemon_info(prom->daemon, MHD_DAEMON_INFO_BIND_PORT);
	snprintf(prom->url, sizeof(prom->url), "http://127.0.0.1:%d", info->port);
}

static inline void
fakeprom_end(struct fakeprom *prom)
{
	MHD_stop_daemon(prom->daemon);
}

#endif
