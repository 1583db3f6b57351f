/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listens for LLDP on the ports of the fabric; called by the audit (audit_cabling.c).
 * Invariants: nothing is sent; no frame makes it read past its end or keeps it longer
 * than its time; texts are printable.
 */
#include "checks/audit/lldp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	ETHERTYPE = 0x88cc,
	TLV_END = 0,
	TLV_CHASSIS = 1,
	TLV_PORT = 2,
	TLV_TTL = 3,
	TLV_PORT_DESCRIPTION = 4,
	TLV_SYSTEM_NAME = 5,
	CHASSIS_MAC = 4,
	CHASSIS_ADDRESS = 5,
	PORT_MAC = 3,
	PORT_ADDRESS = 4,
	ADDRESS_IPV4 = 1,
	FRAME_MAX = 9216,
	STEP_MS = 200,
	FRAMES_MAX = 10000, /* of all ports: a flood */
};

struct tlv {
	int type;
	const uint8_t *value;
	size_t size;
};

static void
text_of(const uint8_t *value, size_t size, char *ret)
{
	size_t length = size < BU_LLDP_TEXT - 1 ? size : BU_LLDP_TEXT - 1;

	for (size_t i = 0; i < length; i++)
		ret[i] = value[i] >= ' ' && value[i] <= '~' ? (char)value[i] : '?';
	ret[length] = '\0';
}

/* Chassis and port ids: a subtype, then a text, a MAC address or a network address. */
static int
id_of(const struct tlv *tlv, int mac, int address, char *ret)
{
	const uint8_t *value = tlv->value + 1;

	if (tlv->size < 2)
		return -1;
	if (tlv->value[0] == mac && tlv->size == 7)
		snprintf(ret, BU_LLDP_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", value[0],
			 value[1], value[2], value[3], value[4], value[5]);
	else if (tlv->value[0] == address && tlv->size == 6 && value[0] == ADDRESS_IPV4)
		inet_ntop(AF_INET, value + 1, ret, BU_LLDP_TEXT);
	else
		text_of(value, tlv->size - 1, ret);
	return 0;
}

static int
take(const struct tlv *tlv, struct bu_lldp *ret)
{
	switch (tlv->type) {
	case TLV_CHASSIS:
		return id_of(tlv, CHASSIS_MAC, CHASSIS_ADDRESS, ret->chassis);
	case TLV_PORT:
		return id_of(tlv, PORT_MAC, PORT_ADDRESS, ret->port);
	case TLV_TTL:
		if (tlv->size < 2)
			return -1;
		ret->ttl_s = tlv->value[0] << 8 | tlv->value[1];
		return 0;
	case TLV_PORT_DESCRIPTION:
		text_of(tlv->value, tlv->size, ret->description);
		return 0;
	case TLV_SYSTEM_NAME:
		text_of(tlv->value, tlv->size, ret->name);
		return 0;
	default:
		return 0;
	}
}

int
bu_lldp_parse(const uint8_t *frame, size_t size, struct bu_lldp *ret,
	      struct bu_err *err)
{
	struct bu_lldp got = *ret;
	size_t at = 0;
	int place = 0;

	got.chassis[0] = got.port[0] = got.name[0] = got.description[0] = '\0';
	for (;; place++) {
		struct tlv tlv;

		if (size - at < 2)
			break; /* some leave the end out */
		tlv.type = frame[at] >> 1;
		tlv.size = (size_t)(frame[at] & 1) << 8 | frame[at + 1];
		at += 2;
		if (tlv.type == TLV_END)
			break;
		if (tlv.size > size - at)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "LLDP: part %d is longer than its frame",
					  place + 1);
		tlv.value = frame + at;
		at += tlv.size;
		/* The standard wants these three first, in this order, once. */
		if ((place < 3) != (tlv.type <= TLV_TTL) ||
		    (place < 3 && tlv.type != place + 1) || take(&tlv, &got) != 0)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "LLDP: part %d of type %d is out of place or "
					  "too short",
					  place + 1, tlv.type);
	}
	if (place < 3)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "LLDP: expected chassis, port and time");
	if (got.ttl_s == 0)
		return bu_err_set(err, BU_ERR_STATE, 0, "LLDP: %s %s announces its end",
				  got.chassis, got.port);
	*ret = got;
	return 0;
}

const char *
bu_lldp_switch(const struct bu_lldp *port)
{
	return *port->name ? port->name : port->chassis;
}

static int
looks_like_mac(const char *text)
{
	return strlen(text) == 17 && strspn(text, "0123456789abcdef:") == 17;
}

const char *
bu_lldp_port(const struct bu_lldp *port)
{
	return looks_like_mac(port->port) && *port->description ? port->description
								: port->port;
}

/* Is text the first `length` bytes of expected, but for the case? Nothing is not. */
static int
same(const char *text, const char *expected, size_t length)
{
	return length > 0 && strlen(text) == length &&
	       strncasecmp(text, expected, length) == 0;
}

static int
is_switch(const struct bu_lldp *port, const char *expected, size_t length)
{
	size_t label = strcspn(port->name, ".");

	return same(port->chassis, expected, length) ||
	       same(port->name, expected, length) ||
	       (label > 0 && label == length &&
		strncasecmp(port->name, expected, length) == 0);
}

size_t
bu_lldp_is(const struct bu_lldp *port, const char *expected)
{
	/* The colons of a MAC address belong to the name of the switch: any place may
	 * be the one that parts the two. */
	for (const char *colon = strchr(expected, ':'); colon;
	     colon = strchr(colon + 1, ':')) {
		const char *want = colon + 1;
		size_t length = (size_t)(colon - expected);

		if (is_switch(port, expected, length) &&
		    (same(port->port, want, strlen(want)) ||
		     same(port->description, want, strlen(want))))
			return length;
	}
	return is_switch(port, expected, strlen(expected)) ? strlen(expected) : 0;
}

/* --- listening --- */

/* -1 with errno. */
static int
open_port(const char *netdev)
{
	/* Nearest bridge, nearest non-TPMR bridge, nearest customer bridge. */
	static const uint8_t groups[] = {0x0e, 0x03, 0x00};
	struct sockaddr_ll here = {.sll_family = AF_PACKET,
				   .sll_protocol = htons(ETHERTYPE)};
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int saved;

	if (fd < 0)
		return -1;
	here.sll_ifindex = (int)if_nametoindex(netdev);
	if (here.sll_ifindex == 0 ||
	    bind(fd, (struct sockaddr *)&here, sizeof(here)) != 0) {
		saved = errno;
		close(fd);
		errno = saved;
		return -1;
	}
	for (size_t i = 0; i < BU_LEN(groups); i++) {
		struct packet_mreq group = {
			.mr_ifindex = here.sll_ifindex,
			.mr_type = PACKET_MR_MULTICAST,
			.mr_alen = 6,
			.mr_address = {0x01, 0x80, 0xc2, 0, 0, groups[i]}};

		/* A card that cannot filter hears everything anyway. */
		setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &group,
			   sizeof(group));
	}
	return fd;
}

/* All frames that wait; how many there were. */
static int
read_frames(int fd, struct bu_lldp *port)
{
	static __thread uint8_t frame[FRAME_MAX];
	int count = 0;

	while (count < 100) {
		struct sockaddr_ll from = {0};
		socklen_t length = sizeof(from);
		ssize_t got = recvfrom(fd, frame, sizeof(frame), 0,
				       (struct sockaddr *)&from, &length);

		if (got < 0)
			break;
		count++;
		if (from.sll_pkttype != PACKET_OUTGOING &&
		    bu_lldp_parse(frame, (size_t)got, port, NULL) == 0)
			port->heard = 1;
	}
	return count;
}

static int
open_ports(struct bu_lldp *ports, size_t count, struct pollfd *fds, struct bu_err *err)
{
	for (size_t i = 0; i < count; i++) {
		ports[i].heard = 0;
		fds[i] = (struct pollfd){.fd = open_port(ports[i].netdev),
					 .events = POLLIN};
		if (fds[i].fd >= 0 || errno == ENODEV)
			continue;
		return bu_err_set(err,
				  errno == EPERM || errno == EACCES ? BU_ERR_DENIED
								    : BU_ERR_IO,
				  errno, "listen for LLDP on %s", ports[i].netdev);
	}
	return 0;
}

static void
listen_until(struct bu_lldp *ports, size_t count, struct pollfd *fds, int64_t end_ms,
	     int (*stop)(void *arg), void *arg)
{
	int frames = 0;

	while (frames < FRAMES_MAX && !(stop && stop(arg))) {
		int64_t left_ms = end_ms - bu_mono_ms(bu_clock_system());
		size_t waiting = 0;

		for (size_t i = 0; i < count; i++)
			waiting += !ports[i].heard && fds[i].fd >= 0;
		if (waiting == 0 || left_ms <= 0)
			return;
		if (poll(fds, count, left_ms < STEP_MS ? (int)left_ms : STEP_MS) <= 0)
			continue;
		for (size_t i = 0; i < count; i++) {
			if (fds[i].revents & POLLIN)
				frames += read_frames(fds[i].fd, &ports[i]);
			/* The interface went away or down: clear it, hear no more. */
			if (fds[i].revents & (POLLERR | POLLHUP | POLLNVAL)) {
				close(fds[i].fd);
				fds[i].fd = -1;
			}
		}
	}
}

int
bu_lldp_listen(struct bu_lldp *ports, size_t count, int64_t wait_ms,
	       int (*stop)(void *arg), void *arg, struct bu_err *err)
{
	struct pollfd fds[BU_LLDP_PORTS_MAX];
	int rc;

	if (count > BU_LLDP_PORTS_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "listen for LLDP: more than %d ports",
				  BU_LLDP_PORTS_MAX);
	for (size_t i = 0; i < count; i++)
		fds[i].fd = -1;
	rc = open_ports(ports, count, fds, err);
	if (rc == 0)
		listen_until(ports, count, fds, bu_mono_ms(bu_clock_system()) + wait_ms,
			     stop, arg);
	for (size_t i = 0; i < count; i++)
		if (fds[i].fd >= 0)
			close(fds[i].fd);
	return rc;
}
