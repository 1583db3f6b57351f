/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which sockets of libcurl are there. Called by http_async.c alone. Invariant: a number
 * is given once, though the kernel gives the socket's own again.
 */
#include "base/http_connections.h"

#include <sys/socket.h>

#include "base/mem.h"

struct bu_http_connection {
	struct bu_http_connection *next;
	int64_t number;
	int fd;
};

void
bu_http_connections_forget(struct bu_http_connections *list, int fd)
{
	struct bu_http_connection **link = &list->first, *connection;

	while ((connection = *link) && connection->fd != fd)
		link = &connection->next;
	if (!connection)
		return;
	*link = connection->next;
	free(connection);
}

void
bu_http_connections_add(struct bu_http_connections *list, int fd)
{
	struct bu_http_connection *connection = bu_xcalloc(1, sizeof(*connection));

	bu_http_connections_forget(list, fd);
	connection->number = ++list->numbers;
	connection->fd = fd;
	connection->next = list->first;
	list->first = connection;
}

int64_t
bu_http_connections_number(const struct bu_http_connections *list, int fd)
{
	const struct bu_http_connection *connection = list->first;

	while (connection && connection->fd != fd)
		connection = connection->next;
	return connection ? connection->number : 0;
}

void
bu_http_connections_end(const struct bu_http_connections *list, int64_t number)
{
	const struct bu_http_connection *connection = list->first;

	while (connection && connection->number != number)
		connection = connection->next;
	if (connection)
		shutdown(connection->fd, SHUT_RDWR);
}

void
bu_http_connections_fini(struct bu_http_connections *list)
{
	while (list->first)
		bu_http_connections_forget(list, list->first->fd);
}
