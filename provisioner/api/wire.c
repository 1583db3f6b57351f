/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel copies the first packet (SYN) of each connection to our ports here, with
 * the MAC that sent it; server_connections.c asks when it takes the connection. An
 * address alone shows nothing: whoever lies about it in ARP, or sends from behind a
 * router, has it, too. Invariants: a host is ON the wire only by a packet that came in
 * where the kernel's routes have its address, without a router between; a packet that
 * was not seen is nobody's.
 */
#include "provisioner/api/wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"

enum {
	SLOTS = 65536,
	KEEP_MS = 60 * 1000, /* from the packet until its connection is taken */
	PORTS_MAX = 8,
	QUEUE_BYTES = 8 << 20, /* some thousand packets */
	PACKET_MAX = 80,       /* of its two heads */
	HEAD = 10,             /* instructions before those of the ports */
};

struct slot {
	uint32_t address;
	uint16_t port;
	uint8_t mac[6];
	int interface;
	int64_t at_ms; /* 0 = nobody's */
};

struct bu_wire {
	struct bu_loop *loop;
	int fd, route_fd;
	struct bu_watch *watch;
	uint16_t ports[PORTS_MAX];
	size_t ports_count;
	uint32_t seed;
	struct slot slots[SLOTS];
};

/* Of packets without their link's head: TCP, no fragment, SYN without ACK, to a port of
 * ours. */
static void
set_filter(struct bu_wire *wire)
{
	const struct sock_filter head[HEAD] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 6),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 0, 0),
		BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		BPF_STMT(BPF_LD | BPF_B | BPF_IND, 13),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 0),
		BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
		BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0),
	};
	struct sock_filter code[HEAD + PORTS_MAX + 2];
	size_t ports = wire->ports_count, end = HEAD + ports;
	struct sock_fprog program = {(unsigned short)(end + 2), code};

	memcpy(code, head, sizeof(head));
	code[1].jf = (uint8_t)(end - 2);
	code[3].jt = (uint8_t)(end - 4);
	code[7].jf = (uint8_t)(end - 8);
	for (size_t i = 0; i < ports; i++)
		code[HEAD + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							      wire->ports[i],
							      (uint8_t)(ports - i), 0);
	code[end] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, 0);
	code[end + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, PACKET_MAX);
	if (setsockopt(wire->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
		       sizeof(program)) != 0)
		bu_error("wire", "cannot look at packets: %s", strerror(errno));
}

static struct slot *
slot_of(struct bu_wire *wire, uint32_t address, uint16_t port)
{
	uint32_t hash = (address ^ wire->seed) * 2654435761u;

	hash = (hash ^ port ^ hash >> 15) * 2246822519u;
	return &wire->slots[(hash ^ hash >> 13) % SLOTS];
}

static void
keep(struct bu_wire *wire, const uint8_t *packet, size_t size,
     const struct sockaddr_ll *from)
{
	size_t head = size ? (size_t)(packet[0] & 15) * 4 : 0;
	uint32_t address;
	uint16_t port;
	struct slot *slot;

	if (head < 20 || size < head + 4 || from->sll_pkttype != PACKET_HOST ||
	    from->sll_hatype != ARPHRD_ETHER || from->sll_halen != 6)
		return;
	memcpy(&address, packet + 12, sizeof(address));
	memcpy(&port, packet + head, sizeof(port));
	slot = slot_of(wire, address, port);
	slot->address = address;
	slot->port = port;
	memcpy(slot->mac, from->sll_addr, sizeof(slot->mac));
	slot->interface = from->sll_ifindex;
	slot->at_ms = bu_loop_now_ms(wire->loop) + 1;
}

static void
drain(struct bu_wire *wire)
{
	uint8_t packet[PACKET_MAX];
	struct sockaddr_ll from;
	socklen_t length = sizeof(from);
	ssize_t size;

	while (wire->fd >= 0 &&
	       (size = recvfrom(wire->fd, packet, sizeof(packet), MSG_DONTWAIT,
				(struct sockaddr *)&from, &length)) >= 0) {
		keep(wire, packet, (size_t)size, &from);
		length = sizeof(from);
	}
}

static void
on_packets(int fd, int what, void *arg)
{
	drain(arg);
}

/* Protocol 0 hears nothing until the first port is known. */
static int
open_packets(void)
{
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int bytes = QUEUE_BYTES;

	if (fd < 0) {
		bu_warn("wire",
			"cannot look at packets (%s): no host is known to be on a wire "
			"with us, and no machine of an attached network gets a token; "
			"give bringupd CAP_NET_RAW",
			strerror(errno));
		return -1;
	}
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) != 0)
		bu_ignore(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)));
	return fd;
}

struct bu_wire *
bu_wire_create(struct bu_loop *loop)
{
	struct bu_wire *wire = bu_xcalloc(1, sizeof(*wire));

	wire->loop = loop;
	bu_random(&wire->seed, sizeof(wire->seed));
	wire->fd = open_packets();
	wire->route_fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (wire->fd >= 0)
		wire->watch =
			bu_watch_create(loop, wire->fd, BU_READABLE, on_packets, wire);
	return wire;
}

void
bu_wire_destroy(struct bu_wire *wire)
{
	if (!wire)
		return;
	bu_watch_destroy(wire->watch);
	if (wire->fd >= 0)
		close(wire->fd);
	if (wire->route_fd >= 0)
		close(wire->route_fd);
	free(wire);
}

void
bu_wire_port(struct bu_wire *wire, uint16_t port)
{
	const struct sockaddr_ll all = {.sll_family = AF_PACKET,
					.sll_protocol = htons(ETH_P_IP)};

	if (wire->fd < 0 || wire->ports_count == PORTS_MAX)
		return;
	wire->ports[wire->ports_count++] = port;
	set_filter(wire);
	if (wire->ports_count == 1 &&
	    bind(wire->fd, (const struct sockaddr *)&all, sizeof(all)) != 0)
		bu_error("wire", "cannot look at packets: %s", strerror(errno));
}

/* The interface on which this address is, without a router between. 0 = there is none.
 */
static int
read_route(const char *answer, size_t size)
{
	const struct nlmsghdr *head = (const void *)answer;
	const struct rtmsg *route = NLMSG_DATA(head);
	const struct rtattr *at = RTM_RTA(route);
	int interface = 0, left;

	if (!NLMSG_OK(head, (unsigned)size) || head->nlmsg_type != RTM_NEWROUTE ||
	    route->rtm_type != RTN_UNICAST)
		return 0;
	left = (int)RTM_PAYLOAD(head);
	for (; RTA_OK(at, left); at = RTA_NEXT(at, left)) {
		if (at->rta_type == RTA_GATEWAY || at->rta_type == RTA_VIA)
			return 0;
		if (at->rta_type == RTA_OIF)
			memcpy(&interface, RTA_DATA(at), sizeof(interface));
	}
	return interface;
}

static int
interface_to(const struct bu_wire *wire, struct in_addr address)
{
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
		struct rtattr attribute;
		struct in_addr to;
	} ask = {
		.head = {.nlmsg_len = sizeof(ask),
			 .nlmsg_type = RTM_GETROUTE,
			 .nlmsg_flags = NLM_F_REQUEST},
		.route = {.rtm_family = AF_INET, .rtm_dst_len = 32},
		.attribute = {RTA_LENGTH(sizeof(address)), RTA_DST},
		.to = address,
	};
	_Alignas(struct nlmsghdr) char answer[1024];
	ssize_t size;

	if (send(wire->route_fd, &ask, sizeof(ask), 0) != (ssize_t)sizeof(ask))
		return 0;
	size = recv(wire->route_fd, answer, sizeof(answer), MSG_DONTWAIT);
	return size > 0 ? read_route(answer, (size_t)size) : 0;
}

static void
print_mac(const uint8_t *mac, char ret[BU_MAC_SIZE])
{
	char text[BU_MAC_SIZE];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
	if (bu_mac_normalize(text, ret) != 0)
		ret[0] = '\0';
}

/* A single entry: whole tables are long when thousands boot at once. */
static void
ask_neighbours(int interface, struct in_addr address, char ret[BU_MAC_SIZE])
{
	struct arpreq request = {0};
	const struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = address};
	char name[IF_NAMESIZE];
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(&request.arp_pa, &to, sizeof(to));
	if (fd >= 0 && if_indextoname((unsigned)interface, name)) {
		bu_text_copy(request.arp_dev, sizeof(request.arp_dev), name);
		if (ioctl(fd, SIOCGARP, &request) == 0 && request.arp_flags & ATF_COM)
			print_mac((const uint8_t *)request.arp_ha.sa_data, ret);
	}
	if (fd >= 0)
		close(fd);
}

void
bu_wire_look(struct bu_wire *wire, const struct sockaddr_in *from, struct bu_seen *ret)
{
	int interface = interface_to(wire, from->sin_addr);
	struct slot *slot;

	memset(ret, 0, sizeof(*ret));
	drain(wire);
	if (!interface) {
		ret->place = BU_WIRE_OFF;
		return;
	}
	slot = slot_of(wire, from->sin_addr.s_addr, from->sin_port);
	if (!slot->at_ms || slot->address != from->sin_addr.s_addr ||
	    slot->port != from->sin_port || slot->interface != interface ||
	    bu_loop_now_ms(wire->loop) - slot->at_ms > KEEP_MS)
		return;
	slot->at_ms = 0;
	ret->place = BU_WIRE_ON;
	print_mac(slot->mac, ret->mac);
	ask_neighbours(interface, from->sin_addr, ret->answers);
}
