/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resolves a neighbour's link address before a queue pair is connected to it. Called by
 * verbs_connect.c. The kernel's own ib_resolve_eth_dmac() sleeps a whole second when
 * the answer comes before it waits, as on a fast network. Invariant: at most LEARN_MS
 * of sleep.
 */
#include "fabric/probe/neighbour.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sysroot.h"

enum { LEARN_MS = 50, DISCARD_PORT = 9 };

/* Flags of the peer in the ARP table: above 0 = known, 0 = asked for, -1 = missing. */
static int
flags_of(const char *root, const char *peer)
{
	bu_autofree char *table =
		bu_sysroot_read(root, 1024 * 1024, NULL, "proc/net/arp");
	size_t length = strlen(peer);

	for (const char *line = table; line; line = strchr(line, '\n')) {
		unsigned int type, flags;

		line += *line == '\n';
		if (strncmp(line, peer, length) == 0 && line[length] == ' ' &&
		    sscanf(line + length, " 0x%x 0x%x", &type, &flags) == 2)
			return (int)flags;
	}
	return -1;
}

void
bu_neighbour_learn(const char *root, struct in_addr local, struct in_addr peer)
{
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = local};
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(DISCARD_PORT),
				 .sin_addr = peer};
	bu_autoclose int fd = -1;
	char text[INET_ADDRSTRLEN];

	inet_ntop(AF_INET, &peer, text, sizeof(text));
	if (flags_of(root, text) > 0)
		return;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof(from)) ||
	    sendto(fd, "", 0, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to)) < 0)
		return;
	for (int ms = 0; ms < LEARN_MS && flags_of(root, text) == 0; ms++)
		poll(NULL, 0, 1);
}
