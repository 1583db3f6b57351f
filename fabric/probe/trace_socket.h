/* SPDX-License-Identifier: Apache-2.0 */
/* UDP sockets of a trace: send a datagram with a small TTL, read the routers' answers.
 * Used by trace.c. */
#ifndef BU_FABRIC_PROBE_TRACE_SOCKET_H
#define BU_FABRIC_PROBE_TRACE_SOCKET_H

#include <netinet/in.h>

#include "base/err.h"
#include "model/result.h"

union bu_trace_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* An answer to one datagram. */
struct bu_trace_answer {
	int reached; /* 1 = port unreachable, from the peer; 0 = TTL exceeded, on the
			way */
	int port;    /* destination port of the datagram */
	int ttl;     /* TTL that was sent; 0 = not told */
	char from[BU_HOP_SIZE]; /* "" = another kind of error */
};

/* -1: no address of a routed GID. */
bu_must int bu_trace_address(const char *gid, int port, union bu_trace_address *ret);
/* A socket bound to the address, its port and the interface; -1. */
int bu_trace_socket(const union bu_trace_address *from, const char *netdev,
		    struct bu_err *err);
bu_must int bu_trace_send(int fd, const union bu_trace_address *to, int ttl);
/* 1 = an answer was read. */
int bu_trace_receive(int fd, struct bu_trace_answer *ret);

#endif
