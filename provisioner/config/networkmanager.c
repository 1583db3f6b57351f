/* SPDX-License-Identifier: Apache-2.0 */
/* Links for NetworkManager: a keyfile each (nm-settings-keyfile(5)). */
#include <stdio.h>
#include <string.h>

#include "provisioner/config/links.h"

static const char *const types[] = {
	[BU_LINK_NIC] = "ethernet",
	[BU_LINK_BOND] = "bond",
	[BU_LINK_VLAN] = "vlan",
};

static void
print_connection(FILE *out, const struct bu_uplink *link)
{
	fprintf(out, BU_CONFIG_HEAD "[connection]\nid=bringup-%s\nuuid=%s\ntype=%s\n",
		link->id, link->uuid, types[link->kind]);
	if (link->name[0])
		fprintf(out, "interface-name=%s\n", link->name);
	if (link->kind == BU_LINK_NIC && link->parent)
		fprintf(out, "master=%s\nslave-type=bond\n", link->parent->uuid);
	/* A bond comes up with its NICs, they with it. */
	fprintf(out, "autoconnect=true\nautoconnect-priority=100\n%s",
		link->kind == BU_LINK_BOND ? "autoconnect-slaves=1\n" : "");
}

static void
print_kind(FILE *out, const struct bu_uplink *link)
{
	const struct bu_desired_network *bond = link->bond;

	fputs("\n[ethernet]\n", out);
	if (link->kind == BU_LINK_NIC)
		fprintf(out, "mac-address=%s\n", link->mac);
	if (link->kind == BU_LINK_BOND)
		fprintf(out, "cloned-mac-address=%s\n", link->mac);
	if (link->mtu)
		fprintf(out, "mtu=%d\n", link->mtu);
	if (link->kind == BU_LINK_VLAN)
		fprintf(out, "\n[vlan]\nid=%d\nparent=%s\n", link->vlan,
			link->parent->uuid);
	if (link->kind != BU_LINK_BOND)
		return;
	fprintf(out, "\n[bond]\nmode=%s\nmiimon=%lld\n", bu_bond_names[bond->bond],
		(long long)bond->bond_miimon_ms);
	if (bond->bond == BU_BOND_LACP)
		fprintf(out, "xmit_hash_policy=%s\nlacp_rate=%s\n", bond->bond_hash,
			bond->bond_lacp_rate);
}

/* never-default=true is about the main table. */
static void
print_rail(FILE *out, const struct bu_uplink *link, int number)
{
	const char *rest = link->network->routes;
	char cidr[BU_ROUTE_SIZE], to[BU_ROUTE_SIZE], via[BU_ROUTE_SIZE];
	int table = link->rail_table;

	bu_link_cidr(link, cidr);
	fprintf(out,
		"route%d=%s\nroute%d_options=table=%d\n"
		"route%d=0.0.0.0/0,%s\nroute%d_options=table=%d\n",
		number, cidr, number, table, number + 1, link->network->rail_gateway,
		number + 1, table);
	for (number += 2; bu_link_next_route(&rest, to, via); number++)
		fprintf(out, "route%d=%s,%s\nroute%d_options=table=%d\n", number, to,
			via, number, table);
	fprintf(out, "routing-rule1=priority %d from %s table %d\n", table,
		link->address, table);
}

static void
print_addresses(FILE *out, const struct bu_uplink *link)
{
	const struct bu_desired_network *network = link->network;
	const char *rest = network->routes;
	char to[BU_ROUTE_SIZE], via[BU_ROUTE_SIZE];
	int number = 1;

	fprintf(out, "method=manual\naddress1=%s/%d%s%s\n", link->address,
		network->cidr.prefix_len, network->gateway ? "," : "",
		network->gateway ? network->gateway : "");
	if (!network->gateway)
		fputs("never-default=true\n", out);
	while (bu_link_next_route(&rest, to, via))
		fprintf(out, "route%d=%s,%s\n", number++, to, via);
	if (link->rail_table)
		print_rail(out, link, number);
}

static void
add_file(struct bu_config *config, const struct bu_uplink *link)
{
	bu_autofree char *text = NULL;
	bu_autofree char *path =
		bu_xasprintf("/etc/NetworkManager/system-connections/bringup-%s"
			     ".nmconnection",
			     link->id);
	int is_port = link->kind == BU_LINK_NIC && link->parent;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	print_connection(out, link);
	print_kind(out, link);
	if (!is_port) {
		fputs("\n[ipv4]\n", out);
		if (link->network)
			print_addresses(out, link);
		else
			fputs("method=disabled\n", out);
		fputs("\n[ipv6]\nmethod=disabled\n", out);
	}
	fclose(out);
	/* NetworkManager takes no file that others may read. */
	bu_config_add(config, path, 0600, "network", "%s", text);
}

void
bu_links_networkmanager(const struct bu_links *links, struct bu_config *config)
{
	/* resolv.conf and the NICs are ours; it makes no connections of its own. */
	bu_config_add(config, "/etc/NetworkManager/conf.d/bringup.conf", 0644,
		      "network",
		      BU_CONFIG_HEAD "[main]\ndns=none\nno-auto-default=*\n");
	for (size_t i = 0; i < links->count; i++)
		add_file(config, &links->list[i]);
}
