/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The MAC of what has just spoken to us from an address. Called by boot.c and agents.c
 * before a token leaves and before one is taken. Invariant: a host that is on one wire
 * with us is seen as the kernel saw it, whatever it says of itself.
 */
#include "provisioner/api/neighbour.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

/* A single entry: whole tables are long when thousands boot at once. */
static int
ask(int fd, const char *interface, struct in_addr address, char ret_mac[BU_MAC_SIZE])
{
	struct arpreq request = {0};
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = address};
	const unsigned char *mac = (const unsigned char *)request.arp_ha.sa_data;
	char text[BU_MAC_SIZE];

	memcpy(&request.arp_pa, &to, sizeof(to));
	bu_text_copy(request.arp_dev, sizeof(request.arp_dev), interface);
	if (ioctl(fd, SIOCGARP, &request) != 0 || !(request.arp_flags & ATF_COM))
		return -1;
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
	return bu_mac_normalize(text, ret_mac);
}

int
bu_neighbour_mac(const char *address, char ret_mac[BU_MAC_SIZE])
{
	struct if_nameindex *interfaces;
	struct in_addr in;
	int fd, rc = -1;

	if (inet_pton(AF_INET, address, &in) != 1)
		return -1;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	interfaces = if_nameindex();
	for (size_t i = 0; rc != 0 && interfaces && interfaces[i].if_name; i++)
		rc = ask(fd, interfaces[i].if_name, in, ret_mac);
	if (interfaces)
		if_freenameindex(interfaces);
	close(fd);
	return rc;
}
