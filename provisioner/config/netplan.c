/* SPDX-License-Identifier: Apache-2.0 */
/* Links for netplan, in one file (netplan(5)), run by networkd. */
#include <stdio.h>
#include <string.h>

#include "provisioner/config/links.h"

static const char *const groups[] = {
	[BU_LINK_NIC] = "ethernets",
	[BU_LINK_BOND] = "bonds",
	[BU_LINK_VLAN] = "vlans",
};

/* What netplan calls a link: its name in the kernel, where we give it one. */
static const char *
id_of(const struct bu_uplink *link)
{
	return link->name[0] ? link->name : link->id;
}

static void
print_bond(FILE *out, const struct bu_links *links, const struct bu_uplink *link)
{
	const struct bu_desired_network *bond = link->bond;
	const char *separator = "", *primary = NULL;

	fprintf(out, "      macaddress: %s\n      interfaces: [", link->mac);
	for (size_t i = 0; i < links->count; i++) {
		if (links->list[i].parent != link || links->list[i].kind != BU_LINK_NIC)
			continue;
		primary = primary ? primary : id_of(&links->list[i]);
		fprintf(out, "%s%s", separator, id_of(&links->list[i]));
		separator = ", ";
	}
	fprintf(out,
		"]\n      parameters:\n        mode: %s\n"
		"        mii-monitor-interval: %lld\n",
		bu_bond_names[bond->bond], (long long)bond->bond_miimon_ms);
	if (bond->bond == BU_BOND_LACP)
		fprintf(out,
			"        transmit-hash-policy: %s\n        lacp-rate: %s\n",
			bond->bond_hash, bond->bond_lacp_rate);
	else if (primary)
		fprintf(out, "        primary: %s\n", primary);
}

static void
print_rail(FILE *out, const struct bu_uplink *link)
{
	const char *rest = link->network->routes;
	char cidr[BU_ROUTE_SIZE], to[BU_ROUTE_SIZE], via[BU_ROUTE_SIZE];

	bu_link_cidr(link, cidr);
	fprintf(out,
		"        - to: %s\n          scope: link\n          table: %d\n"
		"        - to: default\n          via: %s\n          table: %d\n",
		cidr, link->rail_table, link->network->rail_gateway, link->rail_table);
	while (bu_link_next_route(&rest, to, via))
		fprintf(out,
			"        - to: %s\n          via: %s\n          table: %d\n",
			to, via, link->rail_table);
	fprintf(out,
		"      routing-policy:\n        - from: %s\n          table: %d\n"
		"          priority: %d\n",
		link->address, link->rail_table, link->rail_table);
}

static void
print_routes(FILE *out, const struct bu_uplink *link)
{
	const struct bu_desired_network *network = link->network;
	const char *rest = network->routes;
	char to[BU_ROUTE_SIZE], via[BU_ROUTE_SIZE];

	if (network->gateway || network->routes || link->rail_table)
		fputs("      routes:\n", out);
	if (network->gateway)
		fprintf(out, "        - to: default\n          via: %s\n",
			network->gateway);
	while (bu_link_next_route(&rest, to, via))
		fprintf(out, "        - to: %s\n          via: %s\n", to, via);
	if (link->rail_table)
		print_rail(out, link);
}

static void
print_addresses(FILE *out, const struct bu_uplink *link)
{
	fprintf(out, "      addresses: [%s/%d]\n", link->address,
		link->network->cidr.prefix_len);
	print_routes(out, link);
}

static void
print_link(FILE *out, const struct bu_links *links, const struct bu_uplink *link)
{
	fprintf(out, "    %s:\n", id_of(link));
	if (link->kind == BU_LINK_NIC)
		fprintf(out, "      match: {macaddress: \"%s\"}\n", link->mac);
	if (link->kind == BU_LINK_BOND)
		print_bond(out, links, link);
	if (link->kind == BU_LINK_VLAN)
		fprintf(out, "      id: %d\n      link: %s\n", link->vlan,
			id_of(link->parent));
	if (link->mtu)
		fprintf(out, "      mtu: %d\n", link->mtu);
	fputs("      link-local: []\n      accept-ra: false\n", out);
	/* Only the boot network is waited for. */
	if (!link->is_boot)
		fputs("      optional: true\n", out);
	if (link->network)
		print_addresses(out, link);
}

void
bu_links_netplan(const struct bu_links *links, struct bu_config *config)
{
	bu_autofree char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	fputs(BU_CONFIG_HEAD "network:\n  version: 2\n  renderer: networkd\n", out);
	for (size_t i = 0; i < links->count; i++) {
		const struct bu_uplink *link = &links->list[i];

		if (i == 0 || link[-1].kind != link->kind)
			fprintf(out, "  %s:\n", groups[link->kind]);
		print_link(out, links, link);
	}
	fclose(out);
	bu_config_add(config, "/etc/netplan/90-bringup.yaml", 0600, "network", "%s",
		      text);
}
