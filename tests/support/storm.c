/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storm of machines that start at once, for tests/system/storm:
 *
 *	storm dhcp LINK COUNT SECONDS    as many DHCP clients begin within one second
 *	storm http ADDRESS PORT PATH COUNT    as many fetch one file at the same time
 *	storm tftp ADDRESS FILE COUNT MS    the same by TFTP, MS over a block
 *
 * The DHCP clients are of one process with one raw socket. Client N has the MAC that
 * make-site gives machine N, asks as firmware does (PXEClient, architecture 7), and
 * repeats by RFC 2131: after 4, 8, 16, 32 s, then each 64 s, each plus or minus one
 * second. Exit status 0 when all have what they want in time.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "tests/support/storm.h"

enum { START_MS = 1000, FIRST_MS = 4000, LAST_MS = 64000, JITTER_MS = 1000 };
enum { DISCOVER = 1, OFFER, REQUEST, ACK = 5, NAK };
enum { BUFFER = 16 << 20, CHUNK = 1 << 18, HTTP_MS = 300000 };

struct dhcp {
	uint8_t op, htype, hlen, hops;
	uint32_t xid;
	uint16_t secs, flags;
	uint32_t ciaddr, yiaddr, siaddr, giaddr;
	uint8_t chaddr[16], sname[64], file[128];
	uint32_t magic;
	uint8_t options[312];
} __attribute__((packed));

struct frame {
	struct ether_header eth;
	struct iphdr ip;
	struct udphdr udp;
	struct dhcp dhcp;
} __attribute__((packed));

struct client {
	int64_t next_ms, wait_ms, done_ms;
	uint32_t offered, server;
};

struct storm {
	int fd, count, done;
	struct client *clients; /* client N is [N - 1] */
	int64_t begin_ms;
	long sent, heard, refused;
};

static int64_t
now_ms(void)
{
	return bu_mono_ms(bu_clock_system());
}

static uint16_t
ip_sum(const void *ip)
{
	const uint8_t *bytes = ip;
	uint32_t sum = 0;

	for (size_t i = 0; i < sizeof(struct iphdr); i++)
		sum += (uint32_t)bytes[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static void
set_mac(int n, uint8_t mac[6])
{
	const uint8_t bytes[] = {
		0x52, 0x54, 0x00, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};

	memcpy(mac, bytes, sizeof(bytes));
}

static uint8_t *
add(uint8_t *at, uint8_t code, const void *value, uint8_t size)
{
	*at++ = code;
	*at++ = size;
	memcpy(at, value, size);
	return at + size;
}

static void
fill_options(const struct client *client, uint8_t *at)
{
	static const uint8_t wanted[] = {1, 3, 6, 12, 15, 42, 43, 60, 66, 67};
	static const uint8_t arch[] = {0, 7};
	uint8_t type = client->offered ? REQUEST : DISCOVER;

	at = add(at, 53, &type, 1);
	at = add(at, 55, wanted, sizeof(wanted));
	at = add(at, 60, "PXEClient:Arch:00007:UNDI:003016", 32);
	at = add(at, 93, arch, sizeof(arch));
	if (client->offered) {
		at = add(at, 50, &client->offered, 4);
		at = add(at, 54, &client->server, 4);
	}
	*at = 255;
}

static void
ask(struct storm *storm, int n)
{
	struct client *client = &storm->clients[n - 1];
	struct frame frame = {
		.eth = {.ether_type = htons(ETHERTYPE_IP)},
		.ip = {.version = 4,
		       .ihl = 5,
		       .ttl = 64,
		       .protocol = IPPROTO_UDP,
		       .tot_len = htons(sizeof(frame) - sizeof(frame.eth)),
		       .daddr = INADDR_BROADCAST},
		.udp = {.source = htons(68),
			.dest = htons(67),
			.len = htons(sizeof(frame.udp) + sizeof(frame.dhcp))},
		.dhcp = {.op = 1,
			 .htype = 1,
			 .hlen = 6,
			 .xid = htonl((uint32_t)n),
			 .magic = htonl(0x63825363)},
	};
	int64_t jitter_ms = rand() % (2 * JITTER_MS + 1) - JITTER_MS;

	memset(frame.eth.ether_dhost, 0xff, ETH_ALEN);
	set_mac(n, frame.eth.ether_shost);
	set_mac(n, frame.dhcp.chaddr);
	fill_options(client, frame.dhcp.options);
	frame.ip.check = ip_sum(&frame.ip);
	if (send(storm->fd, &frame, sizeof(frame), 0) == (ssize_t)sizeof(frame))
		storm->sent++;
	client->next_ms = now_ms() + client->wait_ms + jitter_ms;
	client->wait_ms = client->wait_ms < LAST_MS ? 2 * client->wait_ms : LAST_MS;
}

static const uint8_t *
option(const struct dhcp *dhcp, uint8_t code)
{
	const uint8_t *at = dhcp->options;
	const uint8_t *end = at + sizeof(dhcp->options);

	while (at + 1 < end && *at != 255) {
		if (*at == code)
			return at + 2;
		at += *at ? 2 + at[1] : 1;
	}
	return NULL;
}

static void
take_answer(struct storm *storm, const struct frame *frame)
{
	int n = (int)ntohl(frame->dhcp.xid);
	const uint8_t *type = option(&frame->dhcp, 53);
	const uint8_t *server = option(&frame->dhcp, 54);
	struct client *client;

	if (frame->dhcp.op != 2 || n < 1 || n > storm->count || !type || !server)
		return;
	client = &storm->clients[n - 1];
	storm->heard++;
	if (client->done_ms)
		return;
	if (*type == OFFER && !client->offered) {
		client->offered = frame->dhcp.yiaddr;
		memcpy(&client->server, server, 4);
		client->wait_ms = FIRST_MS;
		ask(storm, n);
	} else if (*type == ACK && client->offered == frame->dhcp.yiaddr) {
		client->done_ms = now_ms() - storm->begin_ms;
		storm->done++;
	} else if (*type == NAK) {
		storm->refused++;
		client->offered = 0;
	}
}

static void
hear(struct storm *storm)
{
	struct pollfd wait = {storm->fd, POLLIN, 0};
	struct frame frame;

	if (poll(&wait, 1, 1) < 1)
		return;
	for (;;) {
		memset(&frame, 0, sizeof(frame));
		if (recv(storm->fd, &frame, sizeof(frame), MSG_DONTWAIT) < 0)
			return;
		if (frame.eth.ether_type == htons(ETHERTYPE_IP) &&
		    frame.ip.protocol == IPPROTO_UDP && frame.udp.dest == htons(68))
			take_answer(storm, &frame);
	}
}

static int
open_link(const char *link)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET,
				      .sll_protocol = htons(ETH_P_IP),
				      .sll_ifindex = (int)if_nametoindex(link)};
	struct packet_mreq all = {.mr_ifindex = address.sll_ifindex,
				  .mr_type = PACKET_MR_PROMISC};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_IP));
	int size = BUFFER;

	if (fd < 0 || bind(fd, (void *)&address, sizeof(address)) != 0 ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) != 0) {
		perror(link);
		exit(1);
	}
	return fd;
}

static int
by_time(const void *a, const void *b)
{
	const struct client *x = a, *y = b;

	return (x->done_ms > y->done_ms) - (x->done_ms < y->done_ms);
}

/* Two machines with one address would be worse than one without. */
static int
by_address(const void *a, const void *b)
{
	const struct client *x = a, *y = b;

	return (x->offered > y->offered) - (x->offered < y->offered);
}

static int
count_twice(struct storm *storm)
{
	int twice = 0;

	qsort(storm->clients, (size_t)storm->count, sizeof(*storm->clients),
	      by_address);
	for (int i = 1; i < storm->count; i++)
		twice += storm->clients[i].done_ms && storm->clients[i - 1].done_ms &&
			 storm->clients[i].offered == storm->clients[i - 1].offered;
	return twice;
}

static int
tell_dhcp(struct storm *storm)
{
	int twice = count_twice(storm);
	size_t none;

	qsort(storm->clients, (size_t)storm->count, sizeof(*storm->clients), by_time);
	none = (size_t)(storm->count - storm->done);
	printf("%d of %d clients have a lease, %d addresses given twice; ", storm->done,
	       storm->count, twice);
	if (storm->done)
		printf("half after %.1f s, 99 %% after %.1f s, the last after %.1f s; ",
		       storm->clients[none + (size_t)storm->done / 2].done_ms / 1e3,
		       storm->clients[none + (size_t)storm->done * 99 / 100].done_ms /
			       1e3,
		       storm->clients[storm->count - 1].done_ms / 1e3);
	printf("%ld packets sent (%.1f each), %ld heard, %ld refused\n", storm->sent,
	       (double)storm->sent / storm->count, storm->heard, storm->refused);
	return storm->done == storm->count && !twice ? 0 : 1;
}

static int
run_dhcp(const char *link, int count, int seconds)
{
	struct storm storm = {.fd = open_link(link), .count = count};
	int64_t end_ms;
	int rc;

	storm.clients = bu_xcalloc((size_t)count, sizeof(*storm.clients));
	storm.begin_ms = now_ms();
	end_ms = storm.begin_ms + seconds * INT64_C(1000);
	srand(1);
	for (int i = 0; i < count; i++) {
		storm.clients[i].next_ms = storm.begin_ms + rand() % START_MS;
		storm.clients[i].wait_ms = FIRST_MS;
	}
	while (storm.done < count && now_ms() < end_ms) {
		int64_t now = now_ms();

		for (int n = 1; n <= count; n++)
			if (!storm.clients[n - 1].done_ms &&
			    storm.clients[n - 1].next_ms <= now)
				ask(&storm, n);
		hear(&storm);
	}
	rc = tell_dhcp(&storm);
	free(storm.clients);
	close(storm.fd);
	return rc;
}

/* --- http --- */

struct fetch {
	int fd, asked;
	int64_t got, done_ms;
};

struct fetches {
	int poll_fd, count, open, bad;
	struct fetch *list;
	char *request;
	char chunk[CHUNK];
	int64_t begin_ms, first_size;
};

static void
begin_fetch(struct fetches *all, struct fetch *fetch, const struct sockaddr_in *to)
{
	struct epoll_event event = {.events = EPOLLOUT | EPOLLIN, .data.ptr = fetch};
	/* Machines have an address each; ours may be any of 127.0.0.0/8. */
	const struct sockaddr_in own = {
		.sin_family = AF_INET,
		.sin_addr.s_addr =
			htonl(INADDR_LOOPBACK + (uint32_t)(fetch - all->list)),
	};

	fetch->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fetch->fd < 0 || bind(fetch->fd, (const void *)&own, sizeof(own)) != 0 ||
	    (connect(fetch->fd, (const void *)to, sizeof(*to)) != 0 &&
	     errno != EINPROGRESS) ||
	    epoll_ctl(all->poll_fd, EPOLL_CTL_ADD, fetch->fd, &event) != 0) {
		perror("connect");
		exit(1);
	}
	all->open++;
}

static void
end_fetch(struct fetches *all, struct fetch *fetch)
{
	close(fetch->fd);
	all->open--;
	fetch->done_ms = now_ms() - all->begin_ms;
	if (!all->first_size)
		all->first_size = fetch->got;
	if (fetch->got < 1000 || fetch->got != all->first_size)
		all->bad++;
}

static void
advance(struct fetches *all, struct fetch *fetch)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = fetch};
	ssize_t size;

	if (!fetch->asked) {
		size = (ssize_t)strlen(all->request);
		fetch->asked = 1;
		if (send(fetch->fd, all->request, (size_t)size, MSG_NOSIGNAL) != size) {
			end_fetch(all, fetch);
			return;
		}
		epoll_ctl(all->poll_fd, EPOLL_CTL_MOD, fetch->fd, &event);
		return;
	}
	size = recv(fetch->fd, all->chunk, sizeof(all->chunk), 0);
	if (size > 0)
		fetch->got += size;
	else if (size == 0 || errno != EAGAIN)
		end_fetch(all, fetch);
}

static int
tell_http(const struct fetches *all)
{
	int64_t last_ms = 0, first_ms = INT64_MAX;

	for (int i = 0; i < all->count; i++) {
		last_ms =
			all->list[i].done_ms > last_ms ? all->list[i].done_ms : last_ms;
		first_ms = all->list[i].done_ms < first_ms ? all->list[i].done_ms
							   : first_ms;
	}
	printf("%d of %d have all %.1f MB; the first after %.1f s, the last after %.1f "
	       "s; %.0f MB/s together\n",
	       all->count - all->bad - all->open, all->count, all->first_size / 1e6,
	       first_ms / 1e3, last_ms / 1e3,
	       last_ms ? all->first_size / 1e3 * all->count / last_ms : 0.0);
	return all->bad || all->open ? 1 : 0;
}

static int
run_http(const char *address, int port, const char *path, int count)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct fetches *all = bu_xcalloc(1, sizeof(*all));
	struct epoll_event events[64];
	int rc;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		return 1;
	all->count = count;
	all->list = bu_xcalloc((size_t)count, sizeof(*all->list));
	all->request =
		bu_xasprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
			     path, address);
	all->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	all->begin_ms = now_ms();
	for (int i = 0; i < count; i++)
		begin_fetch(all, &all->list[i], &to);
	while (all->open && now_ms() < all->begin_ms + HTTP_MS) {
		int ready = epoll_wait(all->poll_fd, events, BU_LEN(events), 1000);

		for (int i = 0; i < ready; i++)
			advance(all, events[i].data.ptr);
	}
	rc = tell_http(all);
	free(all->request);
	free(all->list);
	free(all);
	return rc;
}

int
main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "dhcp") == 0)
		return run_dhcp(argv[2], atoi(argv[3]), atoi(argv[4]));
	if (argc == 6 && strcmp(argv[1], "http") == 0)
		return run_http(argv[2], atoi(argv[3]), argv[4], atoi(argv[5]));
	if (argc == 6 && strcmp(argv[1], "tftp") == 0)
		return storm_tftp(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]));
	fprintf(stderr, "usage: storm dhcp LINK COUNT SECONDS\n"
			"       storm http ADDRESS PORT PATH COUNT\n"
			"       storm tftp ADDRESS FILE COUNT MS\n");
	return 1;
}
