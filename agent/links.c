/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads back what the network really is, for the inventory: sysfs for links and bonds,
 * /proc/net for VLANs and routes, the kernel's list of addresses. Invariant: it tells
 * what the kernel has, never what a file asks for.
 */
#include "agent/links.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/sysroot.h"
#include "base/text.h"

enum { ARPHRD_ETHERNET = 1, ARPHRD_IB = 32, RTF_GATEWAY = 2 };

#define NET "sys/class/net/"

static struct bu_net_link *
find(struct bu_inventory *inventory, const char *name)
{
	for (size_t i = 0; i < inventory->links_count; i++)
		if (strcmp(inventory->links[i].name, name) == 0)
			return &inventory->links[i];
	return NULL;
}

static void add_word(char words[][BU_NET_WORD_SIZE], size_t *count, const char *fmt,
		     ...) __attribute__((format(printf, 3, 4)));
static void
add_word(char words[][BU_NET_WORD_SIZE], size_t *count, const char *fmt, ...)
{
	va_list args;

	if (*count == BU_NET_WORDS_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(words[(*count)++], BU_NET_WORD_SIZE, fmt, args);
	va_end(args);
}

/* Six or twenty bytes; what is neither, or nothing but zeros, is no address. */
static void
read_mac(const char *root, char *ret, size_t size, const char *name, const char *file)
{
	char text[64];
	size_t length;

	bu_sysroot_line(root, text, sizeof(text), NET "%s/%s", name, file);
	length = strlen(text);
	ret[0] = '\0';
	if ((length == 3 * 6 - 1 || length == 3 * 20 - 1) && length < size &&
	    strspn(text, "0:") != length && strspn(text, "0123456789abcdef:") == length)
		bu_text_copy(ret, size, text);
}

/* "802.3ad 4": the name alone. */
static void
read_word(const char *root, char *ret, size_t size, const char *name, const char *file)
{
	char text[64];

	bu_sysroot_line(root, text, sizeof(text), NET "%s/%s", name, file);
	text[strcspn(text, " ")] = '\0';
	bu_text_copy(ret, size, text);
}

static const char *
kind_of(const char *root, const char *name)
{
	int64_t type = bu_sysroot_number(root, 0xffff, 0, NET "%s/type", name);

	if (bu_sysroot_exists(root, NET "%s/bonding", name))
		return "bond";
	if (bu_sysroot_exists(root, NET "%s/bridge", name))
		return "bridge";
	if (type == ARPHRD_IB)
		return "infiniband";
	return type == ARPHRD_ETHERNET && bu_sysroot_exists(root, NET "%s/device", name)
		       ? "ethernet"
		       : "other";
}

static void
read_bond(const char *root, struct bu_net_link *link)
{
	const char *name = link->name;

	read_word(root, link->bond_mode, sizeof(link->bond_mode), name, "bonding/mode");
	read_word(root, link->bond_hash, sizeof(link->bond_hash), name,
		  "bonding/xmit_hash_policy");
	read_word(root, link->bond_active, sizeof(link->bond_active), name,
		  "bonding/active_slave");
	read_mac(root, link->bond_partner, sizeof(link->bond_partner), name,
		 "bonding/ad_partner_mac");
	link->bond_miimon_ms =
		(int)bu_sysroot_number(root, INT_MAX, 0, NET "%s/bonding/miimon", name);
	link->bond_aggregator = (int)bu_sysroot_number(
		root, INT_MAX, 0, NET "%s/bonding/ad_aggregator", name);
}

static void
read_link(const char *root, const char *name, struct bu_net_link *link)
{
	memset(link, 0, sizeof(*link));
	bu_text_copy(link->name, sizeof(link->name), name);
	bu_text_copy(link->kind, sizeof(link->kind), kind_of(root, name));
	read_mac(root, link->mac, sizeof(link->mac), name, "address");
	link->mtu = (int)bu_sysroot_number(root, INT_MAX, 0, NET "%s/mtu", name);
	bu_sysroot_line(root, link->operstate, sizeof(link->operstate),
			NET "%s/operstate", name);
	bu_sysroot_link(root, link->master, sizeof(link->master), NET "%s/master",
			name);
	if (strcmp(link->kind, "bond") == 0)
		read_bond(root, link);
	else
		link->bond_aggregator = (int)bu_sysroot_number(
			root, INT_MAX, 0, NET "%s/bonding_slave/ad_aggregator_id",
			name);
}

/* "bond0.100      | 100  | bond0", after two lines of headings. */
static void
read_vlans(const char *root, struct bu_inventory *inventory)
{
	bu_autofree char *path = bu_xasprintf("%s/proc/net/vlan/config", root);
	bu_autofree char *text = bu_file_read(path, 0, NULL, NULL);
	char *rest = text, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		char name[16], parent[16];
		struct bu_net_link *link;
		int id;

		if (sscanf(line, "%15s | %d | %15s", name, &id, parent) != 3 ||
		    !(link = find(inventory, name)))
			continue;
		strcpy(link->kind, "vlan");
		link->vlan = id;
		strcpy(link->parent, parent);
	}
}

/* "eth0 0000000A 0100000A 0003 0 0 0 000000FF ...": addresses in network order. */
static void
read_routes(const char *root, struct bu_inventory *inventory)
{
	bu_autofree char *path = bu_xasprintf("%s/proc/net/route", root);
	bu_autofree char *text = bu_file_read(path, 0, NULL, NULL);
	char *rest = text, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		char name[16], to[INET_ADDRSTRLEN], via[INET_ADDRSTRLEN];
		unsigned int to_net, via_net, flags, mask;
		struct bu_net_link *link;

		if (sscanf(line, "%15s %x %x %x %*d %*d %*d %x", name, &to_net,
			   &via_net, &flags, &mask) != 5 ||
		    !(flags & RTF_GATEWAY) || !(link = find(inventory, name)))
			continue;
		inet_ntop(AF_INET, &to_net, to, sizeof(to));
		inet_ntop(AF_INET, &via_net, via, sizeof(via));
		add_word(link->routes, &link->routes_count, "%s/%d via %s", to,
			 __builtin_popcount(mask), via);
	}
}

static int
prefix_of(const struct sockaddr *mask, int family)
{
	const uint8_t *bytes;
	int size, bits = 0;

	if (!mask)
		return 0;
	bytes = family == AF_INET
			? (const void *)&((const struct sockaddr_in *)mask)->sin_addr
			: (const void *)&((const struct sockaddr_in6 *)mask)->sin6_addr;
	size = family == AF_INET ? 4 : 16;
	for (int i = 0; i < size; i++)
		bits += __builtin_popcount(bytes[i]);
	return bits;
}

static void
read_address(const struct ifaddrs *entry, struct bu_inventory *inventory)
{
	struct bu_net_link *link = find(inventory, entry->ifa_name);
	int family = entry->ifa_addr ? entry->ifa_addr->sa_family : AF_UNSPEC;
	char text[INET6_ADDRSTRLEN];

	if (!link || (family != AF_INET && family != AF_INET6))
		return;
	if (family == AF_INET) {
		const struct sockaddr_in *in = (const void *)entry->ifa_addr;

		inet_ntop(family, &in->sin_addr, text, sizeof(text));
	} else {
		const struct sockaddr_in6 *in6 = (const void *)entry->ifa_addr;

		if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
			return;
		inet_ntop(family, &in6->sin6_addr, text, sizeof(text));
	}
	/* An IPv6 address may be too long with its prefix; 39 + 4 fit. */
	if (strlen(text) + 4 < BU_NET_WORD_SIZE)
		add_word(link->addresses, &link->addresses_count, "%.40s/%d", text,
			 prefix_of(entry->ifa_netmask, family));
}

static void
read_addresses(const char *root, struct bu_inventory *inventory)
{
	struct ifaddrs *list = NULL;

	if (*root || getifaddrs(&list) != 0)
		return;
	for (const struct ifaddrs *entry = list; entry; entry = entry->ifa_next)
		read_address(entry, inventory);
	freeifaddrs(list);
}

static int
not_dots(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "lo") != 0;
}

void
bu_links_collect(const char *root, struct bu_inventory *inventory)
{
	bu_autofree char *folder = bu_xasprintf("%s/sys/class/net", root);
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, not_dots, versionsort);

	free(inventory->links);
	inventory->links = bu_xcalloc(BU_NET_LINKS_MAX, sizeof(*inventory->links));
	inventory->links_count = 0;
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;

		/* Files like bonding_masters stand among the links. */
		if (bu_sysroot_exists(root, NET "%s/mtu", name) &&
		    strlen(name) < IFNAMSIZ &&
		    inventory->links_count < BU_NET_LINKS_MAX)
			read_link(root, name,
				  &inventory->links[inventory->links_count++]);
		free(entries[i]);
	}
	free(entries);
	read_vlans(root, inventory);
	read_routes(root, inventory);
	read_addresses(root, inventory);
}
