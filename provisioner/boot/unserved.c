/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listens beside dnsmasq to what firmware asks for; dnsmasq.c makes it. The kernel
 * hands over copies of DHCP requests alone. Invariant: it sends nothing and takes
 * nothing from dnsmasq; each machine is named once in the log for each thing that it
 * asks for.
 */
#include "provisioner/boot/unserved.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "provisioner/boot/bootp.h"

enum {
	LOOK_MS = 60 * 1000,
	PACKET_MAX = 1500,
	UDP_SIZE = 8,
	IP_MIN = 20,
	ETHERNET = 1,
	MAC_BYTES = 6,
	/* More of them is no site, but a host that makes them up. */
	TOLD_MAX = 1024,
	/* Firmware repeats its request at longer distances. */
	TELL_AGAIN_MS = 3000,
};

struct told {
	char mac[BU_UNSERVED_MAC_SIZE];
	uint16_t arch;
	int stands;      /* its last request was this one */
	int64_t told_ms; /* monotonic; of the last one that was told */
};

struct bu_unserved {
	struct bu_loop *loop;
	struct bu_unserved_opts opts;
	char *interface;
	struct bu_timer *look;
	struct bu_watch *watch;
	int fd, troubled;
	unsigned int index; /* of the interface that it listens on */
	struct told *told;
	size_t told_count;
};

/* IPv4, UDP, the first fragment, to port 67. */
static const struct sock_filter wanted[] = {
	BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 9),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 17, 0, 6),
	BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 6),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x1fff, 4, 0),
	BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
	BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 67, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, 0xffff),
	BPF_STMT(BPF_RET | BPF_K, 0),
};

static int
parse_bootp(const uint8_t *packet, size_t size, struct bu_unserved_asks *ret)
{
	static const uint8_t none[4];
	const uint8_t *mac = packet + BU_BOOTP_MAC_AT, *archs;
	size_t length;

	if (!bu_bootp_is(packet, size, BU_BOOTP_REQUEST, BU_BOOTP_DISCOVER) ||
	    packet[1] != ETHERNET || packet[2] != MAC_BYTES ||
	    bu_bootp_option(packet, size, BU_BOOTP_IPXE, &length))
		return -1;
	archs = bu_bootp_option(packet, size, BU_BOOTP_ARCH, &length);
	if (!archs || length < 2)
		return -1;
	for (size_t i = 0; i + 1 < length && ret->count < BU_UNSERVED_ARCHS; i += 2)
		ret->archs[ret->count++] = (uint16_t)(archs[i] << 8 | archs[i + 1]);
	snprintf(ret->mac, sizeof(ret->mac), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0],
		 mac[1], mac[2], mac[3], mac[4], mac[5]);
	ret->relayed = memcmp(packet + BU_BOOTP_RELAY_AT, none, sizeof(none)) != 0;
	return 0;
}

int
bu_unserved_parse(const uint8_t *packet, size_t size, struct bu_unserved_asks *ret)
{
	size_t head;

	memset(ret, 0, sizeof(*ret));
	if (size < IP_MIN)
		return -1;
	head = (size_t)(packet[0] & 15) * 4;
	if (packet[0] >> 4 != 4 || head < IP_MIN || size < head + UDP_SIZE)
		return -1;
	return parse_bootp(packet + head + UDP_SIZE, size - head - UDP_SIZE, ret);
}

static void
tell(const struct bu_unserved *unserved, const char *mac, const char *asks)
{
	if (unserved->opts.fn)
		unserved->opts.fn(mac, asks, unserved->opts.arg);
}

/* What it asked for before is over; 1 = there was something. */
static int
end_others(struct bu_unserved *unserved, const char *mac)
{
	int ended = 0;

	for (size_t i = 0; i < unserved->told_count; i++) {
		struct told *told = &unserved->told[i];

		if (!told->stands || strcmp(told->mac, mac) != 0)
			continue;
		told->stands = 0;
		ended = 1;
	}
	return ended;
}

/* NULL = there is no room for another. */
static struct told *
find(struct bu_unserved *unserved, const struct bu_unserved_asks *asks, int *ret_new)
{
	struct told *told;

	*ret_new = 0;
	for (size_t i = 0; i < unserved->told_count; i++)
		if (unserved->told[i].arch == asks->archs[0] &&
		    strcmp(unserved->told[i].mac, asks->mac) == 0)
			return &unserved->told[i];
	if (unserved->told_count == TOLD_MAX)
		return NULL;
	*ret_new = 1;
	told = &unserved->told[unserved->told_count++];
	bu_text_copy(told->mac, sizeof(told->mac), asks->mac);
	told->arch = asks->archs[0];
	return told;
}

void
bu_unserved_take(struct bu_unserved *unserved, const struct bu_unserved_asks *asks)
{
	bu_autofree char *lack = NULL;
	char words[BU_ARCH_WORDS_SIZE];
	struct told *told;
	int64_t now_ms;
	int is_new;

	if (unserved->opts.relayed_only && !asks->relayed)
		return;
	lack = bu_loaders_lack(&unserved->opts.loaders, unserved->opts.proxy,
			       asks->archs, asks->count);
	if (!lack) {
		if (end_others(unserved, asks->mac))
			tell(unserved, asks->mac, "");
		return;
	}
	end_others(unserved, asks->mac);
	told = find(unserved, asks, &is_new);
	if (!told)
		return;
	now_ms = bu_mono_ms(bu_loop_clock(unserved->loop));
	told->stands = 1;
	if (!is_new && now_ms - told->told_ms < TELL_AGAIN_MS)
		return;
	told->told_ms = now_ms;
	bu_arch_words(asks->archs[0], words);
	if (is_new)
		bu_warn("dhcp",
			"the firmware of the machine with the card %s asks for "
			"architecture %s: %s",
			asks->mac, words, lack);
	tell(unserved, asks->mac, words);
}

static void
stop_listening(struct bu_unserved *unserved)
{
	bu_watch_destroy(unserved->watch);
	unserved->watch = NULL;
	if (unserved->fd >= 0)
		close(unserved->fd);
	unserved->fd = -1;
}

static void
on_request(int fd, int what, void *arg)
{
	struct bu_unserved *unserved = arg;
	uint8_t packet[PACKET_MAX];
	struct bu_unserved_asks asks;
	ssize_t size = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);

	if (size > 0 && bu_unserved_parse(packet, (size_t)size, &asks) == 0)
		bu_unserved_take(unserved, &asks);
}

/* It is bound last: nothing is heard without the filter. */
static int
open_socket(unsigned int index)
{
	const struct sock_fprog filter = {BU_LEN(wanted),
					  (struct sock_filter *)(uintptr_t)wanted};
	const struct sockaddr_ll at = {.sll_family = AF_PACKET,
				       .sll_protocol = htons(ETH_P_IP),
				       .sll_ifindex = (int)index};
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error;

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) ==
		    0 &&
	    bind(fd, (const struct sockaddr *)(const void *)&at, sizeof(at)) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* The interface may be made later, and made anew. */
static void
look(void *arg)
{
	struct bu_unserved *unserved = arg;
	unsigned int index = if_nametoindex(unserved->interface);

	bu_timer_set(unserved->look, LOOK_MS);
	if (unserved->fd >= 0 && index == unserved->index)
		return;
	stop_listening(unserved);
	unserved->index = index;
	unserved->fd = index ? open_socket(index) : -1;
	if (unserved->fd >= 0) {
		unserved->watch = bu_watch_create(unserved->loop, unserved->fd,
						  BU_READABLE, on_request, unserved);
		unserved->troubled = 0;
		return;
	}
	if (!unserved->troubled)
		bu_warn("dhcp",
			"machines on %s that ask for a loader that is not there are "
			"not named: %s",
			unserved->interface, strerror(errno));
	unserved->troubled = 1;
}

struct bu_unserved *
bu_unserved_create(struct bu_loop *loop, const struct bu_unserved_opts *opts)
{
	struct bu_unserved *unserved = bu_xcalloc(1, sizeof(*unserved));

	unserved->loop = loop;
	unserved->opts = *opts;
	unserved->interface = bu_xstrdup(opts->interface);
	unserved->told = bu_xcalloc(TOLD_MAX, sizeof(*unserved->told));
	unserved->fd = -1;
	unserved->look = bu_timer_create(loop, look, unserved);
	look(unserved);
	return unserved;
}

void
bu_unserved_destroy(struct bu_unserved *unserved)
{
	if (!unserved)
		return;
	stop_listening(unserved);
	bu_timer_destroy(unserved->look);
	free(unserved->interface);
	free(unserved->told);
	free(unserved);
}
