/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks for an echo over a VLAN, on a machine whose kernel has no VLANs:
 *
 *	vlanping LINK VLAN FROM TO SIZE TRIES
 *
 * Tagged frames go out of LINK as they are. TO answers the ARP request for it and an
 * ICMP echo of SIZE bytes (with the IP header) in one piece; exit status 0 when it did
 * within TRIES seconds.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/if_ether.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/text.h"

enum {
	FRAME_MAX = 16384,
	HEAD = 18,
	ECHO_ID = 0x6275,
	TRY_MS = 1000,
	FRAMES_MAX = 200
};

struct vlan_head {
	uint8_t to[6], from[6];
	uint16_t tpid, tci, type;
} __attribute__((packed));

struct pinger {
	int fd, vlan, size;
	struct in_addr from, to;
	uint8_t mac[6], peer[6];
	uint8_t frame[FRAME_MAX];
};

static uint16_t
sum_of(const uint8_t *bytes, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static void
put_head(struct pinger *p, const uint8_t to[6], uint16_t type)
{
	struct vlan_head head = {.tpid = htons(ETHERTYPE_VLAN),
				 .tci = htons((uint16_t)p->vlan),
				 .type = htons(type)};

	memcpy(head.to, to, 6);
	memcpy(head.from, p->mac, 6);
	memset(p->frame, 0, sizeof(p->frame));
	memcpy(p->frame, &head, sizeof(head));
}

static void
send_arp(struct pinger *p)
{
	static const uint8_t all[6] = {255, 255, 255, 255, 255, 255};
	struct ether_arp arp = {.ea_hdr = {.ar_hrd = htons(ARPHRD_ETHER),
					   .ar_pro = htons(ETHERTYPE_IP),
					   .ar_hln = 6,
					   .ar_pln = 4,
					   .ar_op = htons(ARPOP_REQUEST)}};

	put_head(p, all, ETHERTYPE_ARP);
	memcpy(arp.arp_sha, p->mac, 6);
	memcpy(arp.arp_spa, &p->from, 4);
	memcpy(arp.arp_tpa, &p->to, 4);
	memcpy(p->frame + HEAD, &arp, sizeof(arp));
	if (write(p->fd, p->frame, HEAD + sizeof(arp)) < 0)
		perror("vlanping: send");
}

static void
send_echo(struct pinger *p)
{
	struct iphdr ip = {.version = 4,
			   .ihl = 5,
			   .tot_len = htons((uint16_t)p->size),
			   .frag_off = htons(IP_DF),
			   .ttl = 64,
			   .protocol = IPPROTO_ICMP,
			   .saddr = p->from.s_addr,
			   .daddr = p->to.s_addr};
	struct icmphdr icmp = {.type = ICMP_ECHO, .un.echo.id = htons(ECHO_ID)};

	put_head(p, p->peer, ETHERTYPE_IP);
	ip.check = sum_of((const uint8_t *)&ip, sizeof(ip));
	icmp.checksum = sum_of((const uint8_t *)&icmp, sizeof(icmp));
	memcpy(p->frame + HEAD, &ip, sizeof(ip));
	memcpy(p->frame + HEAD + sizeof(ip), &icmp, sizeof(icmp));
	if (write(p->fd, p->frame, HEAD + (size_t)p->size) < 0)
		perror("vlanping: send");
}

/* One frame of our VLAN (the kernel has taken its tag off): its size, else 0. */
static ssize_t
receive(struct pinger *p)
{
	char control[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	struct iovec iov = {.iov_base = p->frame, .iov_len = sizeof(p->frame)};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control,
				 .msg_controllen = sizeof(control)};
	ssize_t got = recvmsg(p->fd, &message, 0);
	struct tpacket_auxdata aux = {0};

	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c;
	     c = CMSG_NXTHDR(&message, c))
		if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA)
			memcpy(&aux, CMSG_DATA(c), sizeof(aux));
	return got > 0 && (aux.tp_vlan_tci & 0xfff) == p->vlan ? got : 0;
}

static int
is_arp_answer(struct pinger *p, ssize_t size)
{
	const struct ether_arp *arp = (const void *)(p->frame + ETHER_HDR_LEN);

	if (size < ETHER_HDR_LEN + (ssize_t)sizeof(*arp) ||
	    arp->ea_hdr.ar_op != htons(ARPOP_REPLY) ||
	    memcmp(arp->arp_spa, &p->to, 4) != 0)
		return 0;
	memcpy(p->peer, arp->arp_sha, 6);
	return 1;
}

static int
is_echo_answer(struct pinger *p, ssize_t size)
{
	const struct iphdr *ip = (const void *)(p->frame + ETHER_HDR_LEN);
	const struct icmphdr *icmp = (const void *)(ip + 1);

	return size >= ETHER_HDR_LEN + p->size && ip->protocol == IPPROTO_ICMP &&
	       ip->saddr == p->to.s_addr && icmp->type == ICMP_ECHOREPLY &&
	       icmp->un.echo.id == htons(ECHO_ID) &&
	       ntohs(ip->tot_len) == (uint16_t)p->size;
}

static int
ask(struct pinger *p, void (*send_fn)(struct pinger *p),
    int (*answers)(struct pinger *p, ssize_t size), int tries)
{
	struct pollfd poller = {.fd = p->fd, .events = POLLIN};

	for (int i = 0; i < tries; i++) {
		send_fn(p);
		for (int n = 0; n < FRAMES_MAX && poll(&poller, 1, TRY_MS) == 1; n++)
			if (answers(p, receive(p)))
				return 0;
	}
	return -1;
}

static int
open_link(struct pinger *p, const char *link)
{
	struct sockaddr_ll where = {.sll_family = AF_PACKET,
				    .sll_protocol = htons(ETH_P_ALL),
				    .sll_ifindex = (int)if_nametoindex(link)};
	struct ifreq request = {0};
	int on = 1;

	p->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	bu_text_copy(request.ifr_name, sizeof(request.ifr_name), link);
	if (p->fd < 0 || bind(p->fd, (struct sockaddr *)&where, sizeof(where)) != 0 ||
	    setsockopt(p->fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)) != 0 ||
	    ioctl(p->fd, SIOCGIFHWADDR, &request) != 0)
		return -1;
	memcpy(p->mac, request.ifr_hwaddr.sa_data, 6);
	return 0;
}

int
main(int argc, char **argv)
{
	static struct pinger p;
	int tries = argc == 7 ? atoi(argv[6]) : 0;

	if (tries < 1 || (p.vlan = atoi(argv[2])) < 1 ||
	    inet_pton(AF_INET, argv[3], &p.from) != 1 ||
	    inet_pton(AF_INET, argv[4], &p.to) != 1 || (p.size = atoi(argv[5])) < 28 ||
	    p.size > FRAME_MAX - HEAD) {
		fprintf(stderr, "usage: vlanping LINK VLAN FROM TO SIZE TRIES\n");
		return 2;
	}
	if (open_link(&p, argv[1]) != 0) {
		perror("vlanping");
		return 2;
	}
	if (ask(&p, send_arp, is_arp_answer, tries) != 0) {
		fprintf(stderr, "vlanping: nobody in VLAN %d is %s\n", p.vlan, argv[4]);
		return 1;
	}
	if (ask(&p, send_echo, is_echo_answer, tries) != 0) {
		fprintf(stderr, "vlanping: %s does not echo %d bytes\n", argv[4],
			p.size);
		return 1;
	}
	return 0;
}
