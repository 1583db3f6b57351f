/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links for systemd-networkd (systemd.network(5), systemd.netdev(5)). NICs are found by
 * their permanent address, because bonds and VLANs take on the present one.
 */
#include <stdio.h>
#include <string.h>

#include "provisioner/config/links.h"

static void
print_match(FILE *out, const struct bu_uplink *link)
{
	if (link->kind == BU_LINK_NIC)
		fprintf(out, BU_CONFIG_HEAD "[Match]\nPermanentMACAddress=%s\n",
			link->mac);
	else
		fprintf(out, BU_CONFIG_HEAD "[Match]\nName=%s\n", link->name);
}

/* The first NIC of the list is the active one as long as it can be. */
static void
print_bond_port(FILE *out, const struct bu_links *links, const struct bu_uplink *link)
{
	const struct bu_uplink *first = links->list;

	while (first->parent != link->parent)
		first++;
	fprintf(out, "Bond=%s\n", link->parent->name);
	if (first == link && link->parent->bond->bond == BU_BOND_ACTIVE_BACKUP)
		fputs("PrimarySlave=yes\n", out);
}

static void
print_addresses(FILE *out, const struct bu_uplink *link)
{
	const struct bu_desired_network *network = link->network;
	const char *rest = network->routes;
	char to[BU_ROUTE_SIZE], via[BU_ROUTE_SIZE];

	/* No lease, not even in the boot network: nodes must not lose their address
	 * when the appliance is away. It is the one that DHCP gives their firmware. */
	fprintf(out, "Address=%s/%d\n", link->address, network->cidr.prefix_len);
	if (network->gateway)
		fprintf(out, "Gateway=%s\n", network->gateway);
	while (bu_link_next_route(&rest, to, via))
		fprintf(out, "\n[Route]\nDestination=%s\nGateway=%s\n", to, via);
}

static void
print_rail(FILE *out, const struct bu_uplink *link)
{
	const char *rest = link->network ? link->network->routes : NULL;
	char cidr[BU_ROUTE_SIZE], to[BU_ROUTE_SIZE], via[BU_ROUTE_SIZE];

	if (!link->rail_table)
		return;
	bu_link_cidr(link, cidr);
	fprintf(out,
		"\n[Route]\nDestination=%s\nScope=link\nTable=%d\n"
		"\n[Route]\nGateway=%s\nTable=%d\n",
		cidr, link->rail_table, link->network->rail_gateway, link->rail_table);
	while (bu_link_next_route(&rest, to, via))
		fprintf(out, "\n[Route]\nDestination=%s\nGateway=%s\nTable=%d\n", to,
			via, link->rail_table);
	fprintf(out, "\n[RoutingPolicyRule]\nFrom=%s\nTable=%d\nPriority=%d\n",
		link->address, link->rail_table, link->rail_table);
}

static void
print_network(FILE *out, const struct bu_links *links, const struct bu_uplink *link)
{
	print_match(out, link);
	fprintf(out, "\n[Link]\nRequiredForOnline=%s\n", link->is_boot ? "yes" : "no");
	if (link->mtu)
		fprintf(out, "MTUBytes=%d\n", link->mtu);
	fputs("\n[Network]\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n", out);
	for (size_t i = 0; i < links->count; i++)
		if (links->list[i].kind == BU_LINK_VLAN &&
		    links->list[i].parent == link)
			fprintf(out, "VLAN=%s\n", links->list[i].name);
	if (link->kind == BU_LINK_NIC && link->parent)
		print_bond_port(out, links, link);
	if (link->network) {
		print_addresses(out, link);
		print_rail(out, link);
	}
}

static void
print_bond(FILE *out, const struct bu_uplink *link)
{
	const struct bu_desired_network *bond = link->bond;

	fprintf(out, "Kind=bond\nMACAddress=%s\n", link->mac);
	if (link->mtu)
		fprintf(out, "MTUBytes=%d\n", link->mtu);
	fprintf(out, "\n[Bond]\nMode=%s\nMIIMonitorSec=%lldms\n",
		bu_bond_names[bond->bond], (long long)bond->bond_miimon_ms);
	if (bond->bond == BU_BOND_LACP)
		fprintf(out, "TransmitHashPolicy=%s\nLACPTransmitRate=%s\n",
			bond->bond_hash, bond->bond_lacp_rate);
}

static void
print_netdev(FILE *out, const struct bu_uplink *link)
{
	fprintf(out, BU_CONFIG_HEAD "[NetDev]\nName=%s\n", link->name);
	if (link->kind == BU_LINK_BOND)
		print_bond(out, link);
	else if (link->mtu)
		fprintf(out, "Kind=vlan\nMTUBytes=%d\n\n[VLAN]\nId=%d\n", link->mtu,
			link->vlan);
	else
		fprintf(out, "Kind=vlan\n\n[VLAN]\nId=%d\n", link->vlan);
}

static void
add_file(struct bu_config *config, const struct bu_links *links,
	 const struct bu_uplink *link, int is_netdev)
{
	bu_autofree char *text = NULL;
	bu_autofree char *path =
		bu_xasprintf("/etc/systemd/network/10-bringup-%s.%s", link->id,
			     is_netdev ? "netdev" : "network");
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	if (is_netdev)
		print_netdev(out, link);
	else
		print_network(out, links, link);
	fclose(out);
	bu_config_add(config, path, 0644, "network", "%s", text);
}

void
bu_links_networkd(const struct bu_links *links, struct bu_config *config)
{
	for (size_t i = 0; i < links->count; i++) {
		if (links->list[i].kind != BU_LINK_NIC)
			add_file(config, links, &links->list[i], 1);
		add_file(config, links, &links->list[i], 0);
	}
}
