/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the host that asks can be the machine of a node. Called by boot.c, agents.c,
 * discover.c and nocloud.c before a token leaves and before one is taken. Invariant: of
 * a node whose boot network is attached to the appliance, only a host that was seen on
 * that wire gets or shows a token.
 */
#include "provisioner/api/strangers.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "base/log.h"
#include "provisioner/node/proof.h"

static int
is_in(const struct bu_desired_network *network, const struct sockaddr *at)
{
	int bits = network->cidr.prefix_len;
	uint32_t mask = bits ? UINT32_MAX << (32 - bits) : 0;

	return at && at->sa_family == AF_INET &&
	       (ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr) &
		mask) == network->cidr.net;
}

/* Without a network in the profile it has an address of the range that we serve. */
int
bu_stranger_attached(const struct bu_api *api, const struct bu_desired_node *want)
{
	const struct bu_desired_network *boot =
		want ? bu_desired_node_network(want, BU_ROLE_BOOT) : NULL;
	struct ifaddrs *list;
	int found = 0;

	if (!boot)
		return api->work.boot_address && *api->work.boot_address;
	if (getifaddrs(&list) != 0)
		return 1;
	for (const struct ifaddrs *at = list; at && !found; at = at->ifa_next)
		found = !(at->ifa_flags & IFF_LOOPBACK) && is_in(boot, at->ifa_addr);
	freeifaddrs(list);
	return found;
}

int
bu_stranger_is(const struct bu_api *api, const struct bu_desired_node *want,
	       const struct bu_seen *seen, const char *mac)
{
	char plain[BU_MAC_SIZE];

	if (seen->place != BU_WIRE_ON)
		return bu_stranger_attached(api, want);
	if (!mac || bu_mac_normalize(mac, plain) != 0)
		return 0;
	return strcmp(seen->mac, plain) != 0 ||
	       (*seen->answers && strcmp(seen->answers, plain) != 0);
}

int
bu_stranger_asks(const struct bu_api *api, struct bu_node *node,
		 const struct bu_request *request, const char *mac)
{
	const struct bu_desired_node *want = bu_fleet_reach(api->fleet, node);
	char address[BU_ADDRESS_SIZE];
	struct bu_seen seen;

	bu_request_seen(request, &seen);
	if (!bu_stranger_is(api, want, &seen, mac))
		return 0;
	bu_request_address(request, address);
	bu_warn("boot", "%s (%s%s) asks for the boot script of %s and gets no token",
		address, *seen.mac ? "MAC " : "not on its wire", seen.mac, node->name);
	bu_proof_stranger(api->rec, node, address, seen.mac);
	return 1;
}
