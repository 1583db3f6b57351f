/* SPDX-License-Identifier: Apache-2.0 */
/* UDP sockets of a trace: one datagram out with few hops to go, and what routers say of
 * it. Used by trace.c. */
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

/* What came back for one datagram. */
struct bu_trace_answer {
	int reached; /* the peer has no such port: it arrived; 0 = it was on its way */
	int port;    /* that the datagram went to */
	int ttl;     /* with which it was sent; 0 = the router does not tell */
	char from[BU_HOP_SIZE]; /* "" = it is of a kind that says nothing here */
};

/* -1: it is no address of a GID that is routed. */
bu_must int bu_trace_address(const char *gid, int port, union bu_trace_address *ret);
/* Bound to the address, its port and the interface; -1. */
int bu_trace_socket(const union bu_trace_address *from, const char *netdev,
		    struct bu_err *err);
bu_must int bu_trace_send(int fd, const union bu_trace_address *to, int ttl);
/* 1 = there was one. */
int bu_trace_receive(int fd, struct bu_trace_answer *ret);

#endif
