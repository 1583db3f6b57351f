/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets of a trace. Called by trace.c. A router's answer is in the error queue of the
 * socket that sent the datagram (IP_RECVERR): no raw socket is needed, and no other
 * process's answer is read. Source ports of RoCE flows can be bound, because adapters
 * and soft-RoCE send these packets without a socket; the kernel binds only port 4791
 * for soft-RoCE. Where another process has the port, the flow has no trace. Invariant:
 * no function here waits.
 */
#include "fabric/probe/trace_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

/* Shorter than the header of any RoCE packet: an adapter would drop it. */
struct payload {
	unsigned char magic[3], ttl;
};
static const unsigned char magic[3] = {'b', 'u', 't'};

int
bu_trace_address(const char *gid, int port, union bu_trace_address *ret)
{
	struct in6_addr address;

	if (inet_pton(AF_INET6, gid, &address) != 1 || IN6_IS_ADDR_LINKLOCAL(&address))
		return -1;
	memset(ret, 0, sizeof(*ret));
	if (IN6_IS_ADDR_V4MAPPED(&address)) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)port);
		memcpy(&ret->v4.sin_addr, &address.s6_addr[12], 4);
	} else {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons((uint16_t)port);
		ret->v6.sin6_addr = address;
	}
	return 0;
}

static socklen_t
size_of(const union bu_trace_address *address)
{
	return address->any.sa_family == AF_INET ? sizeof(address->v4)
						 : sizeof(address->v6);
}

static int
port_of(const union bu_trace_address *address)
{
	return ntohs(address->any.sa_family == AF_INET ? address->v4.sin_port
						       : address->v6.sin6_port);
}

static int
ask_for_errors(int fd, int family)
{
	int on = 1;

	return family == AF_INET
		       ? setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on))
		       : setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on));
}

int
bu_trace_socket(const union bu_trace_address *from, const char *netdev,
		struct bu_err *err)
{
	int family = from->any.sa_family, ret;
	bu_autoclose int fd =
		socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || ask_for_errors(fd, family))
		return bu_err_set(err, BU_ERR_IO, errno, "a socket of the trace");
	if (*netdev && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, netdev,
				  (socklen_t)strlen(netdev) + 1))
		return bu_err_set(err, BU_ERR_IO, errno, "interface %s", netdev);
	if (bind(fd, &from->any, size_of(from)))
		return bu_err_set(err, BU_ERR_IO, errno, "UDP port %d", port_of(from));
	ret = fd;
	fd = -1;
	return ret;
}

/* An answer to an earlier datagram is the next call's error, and that call sends
 * nothing. */
int
bu_trace_send(int fd, const union bu_trace_address *to, int ttl)
{
	struct payload payload = {.ttl = (unsigned char)ttl};
	int v4 = to->any.sa_family == AF_INET;

	memcpy(payload.magic, magic, sizeof(magic));
	if (setsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6,
		       v4 ? IP_TTL : IPV6_UNICAST_HOPS, &ttl, sizeof(ttl)))
		return -1;
	for (int tries = 0; tries < 3; tries++)
		if (sendto(fd, &payload, sizeof(payload), MSG_DONTWAIT, &to->any,
			   size_of(to)) == sizeof(payload))
			return 0;
	return -1;
}

/* Kinds of answers: TTL exceeded on the way, port unreachable at the peer. */
static const struct {
	int origin, type, code, reached;
} kinds[] = {
	{SO_EE_ORIGIN_ICMP, ICMP_TIME_EXCEEDED, ICMP_EXC_TTL, 0},
	{SO_EE_ORIGIN_ICMP, ICMP_DEST_UNREACH, ICMP_PORT_UNREACH, 1},
	{SO_EE_ORIGIN_ICMP6, ICMP6_TIME_EXCEEDED, ICMP6_TIME_EXCEED_TRANSIT, 0},
	{SO_EE_ORIGIN_ICMP6, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_NOPORT, 1},
};

static void
read_error(const struct sock_extended_err *error, struct bu_trace_answer *ret)
{
	union bu_trace_address from;

	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		if (error->ee_origin != kinds[i].origin ||
		    error->ee_type != kinds[i].type || error->ee_code != kinds[i].code)
			continue;
		memcpy(&from, SO_EE_OFFENDER(error),
		       error->ee_origin == SO_EE_ORIGIN_ICMP ? sizeof(from.v4)
							     : sizeof(from.v6));
		ret->reached = kinds[i].reached;
		if (from.any.sa_family == AF_INET)
			inet_ntop(AF_INET, &from.v4.sin_addr, ret->from,
				  sizeof(ret->from));
		else if (from.any.sa_family == AF_INET6)
			inet_ntop(AF_INET6, &from.v6.sin6_addr, ret->from,
				  sizeof(ret->from));
	}
}

int
bu_trace_receive(int fd, struct bu_trace_answer *ret)
{
	struct payload payload = {.ttl = 0};
	union bu_trace_address to = {.any = {.sa_family = AF_UNSPEC}};
	union {
		char bytes[512];
		struct cmsghdr align;
	} control;
	struct iovec data = {&payload, sizeof(payload)};
	struct msghdr message = {.msg_name = &to,
				 .msg_namelen = sizeof(to),
				 .msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	ssize_t size = recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT);

	*ret = (struct bu_trace_answer){.reached = 0};
	if (size < 0)
		return 0;
	for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one;
	     one = CMSG_NXTHDR(&message, one)) {
		int v4 = one->cmsg_level == IPPROTO_IP && one->cmsg_type == IP_RECVERR;
		int v6 = one->cmsg_level == IPPROTO_IPV6 &&
			 one->cmsg_type == IPV6_RECVERR;

		if (v4 || v6)
			read_error((const void *)CMSG_DATA(one), ret);
	}
	ret->port = port_of(&to);
	if (size == sizeof(payload) && memcmp(payload.magic, magic, sizeof(magic)) == 0)
		ret->ttl = payload.ttl;
	return 1;
}
