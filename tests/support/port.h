/* SPDX-License-Identifier: Apache-2.0 */
/* A port of 127.0.0.1 that was free a moment ago, for servers of a test. */
#ifndef BU_TESTS_SUPPORT_PORT_H
#define BU_TESTS_SUPPORT_PORT_H

#include <arpa/inet.h>
#include <check.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of SOCK_STREAM (TCP) or SOCK_DGRAM (UDP). */
static inline int
free_port_of(int type)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, type, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, size), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	close(fd);
	return ntohs(at.sin_port);
}

static inline int
free_port(void)
{
	return free_port_of(SOCK_STREAM);
}

#endif
