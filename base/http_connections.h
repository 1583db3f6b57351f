/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets of http_async.c, each by a number that no other one ever has. */
#ifndef BU_BASE_HTTP_CONNECTIONS_H
#define BU_BASE_HTTP_CONNECTIONS_H

#include <stdint.h>

struct bu_http_connection;
struct bu_http_connections {
	struct bu_http_connection *first;
	int64_t numbers; /* given so far */
};

/* curl closes what never stood without telling: the number comes back with the next. */
void bu_http_connections_add(struct bu_http_connections *list, int fd);
void bu_http_connections_forget(struct bu_http_connections *list, int fd);
/* 0 = there is none of that socket. */
int64_t bu_http_connections_number(const struct bu_http_connections *list, int fd);
/* Both directions are shut; curl closes it. */
void bu_http_connections_end(const struct bu_http_connections *list, int64_t number);
void bu_http_connections_fini(struct bu_http_connections *list);

#endif
