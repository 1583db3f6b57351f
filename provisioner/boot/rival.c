/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the boot network for an address, takes none, and looks who offers one; bringupd
 * makes it where dhcp = full. Invariant: nothing is decided by it, it is only said:
 * who else answers may be right.
 */
#include "provisioner/boot/rival.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "provisioner/boot/bootp.h"

enum {
	FIRST_MS = 2000,
	EACH_MS = 60 * 1000,
	WAIT_MS = 4000,
	SERVER_PORT = 67,
	CLIENT_PORT = 68,
	PACKET_MAX = 1500,
};

struct bu_rival {
	struct bu_loop *loop;
	char *interface, *own;
	bu_rival_fn fn;
	void *arg;
	struct bu_timer *next;
	struct bu_watch *watch;
	int fd, troubled;
	uint32_t xid;
	char seen[BU_RIVAL_SIZE], said[BU_RIVAL_SIZE];
};

int
bu_rival_parse(const uint8_t *packet, size_t size, uint32_t xid,
	       char ret[BU_RIVAL_SIZE])
{
	const uint8_t *server;
	size_t length;

	if (!bu_bootp_is(packet, size, BU_BOOTP_REPLY, BU_BOOTP_OFFER) ||
	    memcmp(packet + BU_BOOTP_XID_AT, &xid, sizeof(xid)) != 0)
		return -1;
	server = bu_bootp_option(packet, size, BU_BOOTP_SERVER, &length);
	if (!server || length != 4)
		return -1;
	return inet_ntop(AF_INET, server, ret, BU_RIVAL_SIZE) ? 0 : -1;
}

static void
stop_asking(struct bu_rival *rival)
{
	bu_watch_destroy(rival->watch);
	rival->watch = NULL;
	if (rival->fd >= 0)
		close(rival->fd);
	rival->fd = -1;
}

/* Ours: the interface may have several. */
static int
is_own(const char *interface, const char *address)
{
	struct ifaddrs *list;
	struct in_addr in;
	int found = 0;

	if (inet_pton(AF_INET, address, &in) != 1 || getifaddrs(&list) != 0)
		return 0;
	for (const struct ifaddrs *at = list; at; at = at->ifa_next)
		if (at->ifa_addr && at->ifa_addr->sa_family == AF_INET &&
		    strcmp(at->ifa_name, interface) == 0)
			found |=
				((const struct sockaddr_in *)(const void *)at->ifa_addr)
					->sin_addr.s_addr == in.s_addr;
	freeifaddrs(list);
	return found;
}

static void
on_answer(int fd, int what, void *arg)
{
	struct bu_rival *rival = arg;
	uint8_t packet[PACKET_MAX];
	char server[BU_RIVAL_SIZE];
	ssize_t size = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);

	if (size > 0 && bu_rival_parse(packet, (size_t)size, rival->xid, server) == 0 &&
	    strcmp(server, rival->own) != 0 && !is_own(rival->interface, server))
		bu_text_copy(rival->seen, sizeof(rival->seen), server);
}

static int
open_socket(const char *interface)
{
	const struct sockaddr_in any = {.sin_family = AF_INET,
					.sin_port = htons(CLIENT_PORT)};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1, error;

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one, sizeof(one)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface,
		       (socklen_t)strlen(interface)) == 0 &&
	    bind(fd, (const struct sockaddr *)&any, sizeof(any)) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* Of a card that no machine has, which a server need not remember: nothing is taken. */
static int
send_discover(const struct bu_rival *rival)
{
	static const uint8_t mac[] = {0x02, 'b', 'u', 0, 0, 1};
	const struct sockaddr_in all = {.sin_family = AF_INET,
					.sin_port = htons(SERVER_PORT),
					.sin_addr = {htonl(INADDR_BROADCAST)}};
	uint8_t packet[300] = {BU_BOOTP_REQUEST, 1, sizeof(mac)};

	memcpy(packet + BU_BOOTP_XID_AT, &rival->xid, sizeof(rival->xid));
	packet[BU_BOOTP_FLAGS_AT] = 0x80; /* the answer goes to all */
	memcpy(packet + BU_BOOTP_MAC_AT, mac, sizeof(mac));
	memcpy(packet + BU_BOOTP_COOKIE_AT, bu_bootp_cookie, sizeof(bu_bootp_cookie));
	packet[BU_BOOTP_SIZE] = BU_BOOTP_TYPE;
	packet[BU_BOOTP_SIZE + 1] = 1;
	packet[BU_BOOTP_SIZE + 2] = BU_BOOTP_DISCOVER;
	packet[BU_BOOTP_SIZE + 3] = BU_BOOTP_END;
	return sendto(rival->fd, packet, sizeof(packet), 0,
		      (const struct sockaddr *)&all,
		      sizeof(all)) == (ssize_t)sizeof(packet)
		       ? 0
		       : -1;
}

static void
ask(struct bu_rival *rival)
{
	rival->seen[0] = '\0';
	bu_random(&rival->xid, sizeof(rival->xid));
	rival->fd = open_socket(rival->interface);
	if (rival->fd >= 0 && send_discover(rival) == 0) {
		rival->watch = bu_watch_create(rival->loop, rival->fd, BU_READABLE,
					       on_answer, rival);
		rival->troubled = 0;
		bu_timer_set(rival->next, WAIT_MS);
		return;
	}
	if (!rival->troubled)
		bu_warn("dhcp", "whether another server answers on %s is not known: %s",
			rival->interface, strerror(errno));
	rival->troubled = 1;
	stop_asking(rival);
	/* What was true once is not said of now. */
	if (rival->said[0]) {
		rival->said[0] = '\0';
		rival->fn("", rival->arg);
	}
	bu_timer_set(rival->next, EACH_MS);
}

static void
tell(struct bu_rival *rival)
{
	if (strcmp(rival->seen, rival->said) == 0)
		return;
	bu_text_copy(rival->said, sizeof(rival->said), rival->seen);
	if (rival->said[0])
		bu_warn("dhcp",
			"another DHCP server answers on %s: %s; machines that take its "
			"offer do not boot; switch it off there, or set dhcp = proxy",
			rival->interface, rival->said);
	else
		bu_info("dhcp", "no other DHCP server answers on %s any more",
			rival->interface);
	rival->fn(rival->said, rival->arg);
}

static void
turn(void *arg)
{
	struct bu_rival *rival = arg;

	if (!rival->watch) {
		ask(rival);
		return;
	}
	stop_asking(rival);
	bu_timer_set(rival->next, EACH_MS);
	tell(rival);
}

struct bu_rival *
bu_rival_create(struct bu_loop *loop, const char *interface, const char *own,
		bu_rival_fn fn, void *arg)
{
	struct bu_rival *rival = bu_xcalloc(1, sizeof(*rival));

	rival->loop = loop;
	rival->interface = bu_xstrdup(interface);
	rival->own = bu_xstrdup(own);
	rival->fn = fn;
	rival->arg = arg;
	rival->fd = -1;
	rival->next = bu_timer_create(loop, turn, rival);
	bu_timer_set(rival->next, FIRST_MS);
	return rival;
}

void
bu_rival_destroy(struct bu_rival *rival)
{
	if (!rival)
		return;
	stop_asking(rival);
	bu_timer_destroy(rival->next);
	free(rival->interface);
	free(rival->own);
	free(rival);
}
