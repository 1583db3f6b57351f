/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about the addresses of RDMA ports: the GID of RoCE that is measured
 * with, and the GUIDs of devices. Called by audit.c. Invariant: what a port has besides
 * is not judged.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"

enum { GIDS_MAX = 512 };

struct gid {
	int index; /* -1 = none */
	int is_v2;
	int family; /* of its address: 4, 6; 0 = of its link alone, as each port has */
	char address[INET6_ADDRSTRLEN];
	char type[32];
};

/* Entry i of the port's table; 0 behind its end. An entry that holds nothing has no
 * address. */
static int
read_gid(const struct bu_audit *a, const struct bu_audit_port *port, int i,
	 struct gid *ret)
{
	char line[48], file[48];
	struct in6_addr gid;

	*ret = (struct gid){.index = i};
	snprintf(file, sizeof(file), "gids/%d", i);
	bu_audit_port_line(a, port, file, line, sizeof(line));
	if (!*line)
		return 0;
	snprintf(file, sizeof(file), "gid_attrs/types/%d", i);
	bu_audit_port_line(a, port, file, ret->type, sizeof(ret->type));
	ret->is_v2 = strcmp(ret->type, "RoCE v2") == 0;
	if (inet_pton(AF_INET6, line, &gid) != 1 || IN6_IS_ADDR_UNSPECIFIED(&gid))
		return 1;
	ret->family = IN6_IS_ADDR_V4MAPPED(&gid)    ? 4
		      : IN6_IS_ADDR_LINKLOCAL(&gid) ? 0
						    : 6;
	if (ret->family == 4)
		inet_ntop(AF_INET, gid.s6_addr + 12, ret->address,
			  sizeof(ret->address));
	else
		inet_ntop(AF_INET6, &gid, ret->address, sizeof(ret->address));
	return 1;
}

/* The first of RoCE v2 of this family and address, NULL = any. */
static struct gid
find_gid(const struct bu_audit *a, const struct bu_audit_port *port, int family,
	 const char *want, int *ret_v1_only)
{
	struct gid gid;

	*ret_v1_only = 0;
	for (int i = 0; i < GIDS_MAX && read_gid(a, port, i, &gid); i++) {
		if (gid.family != family || (want && strcmp(want, gid.address) != 0))
			continue;
		if (gid.is_v2)
			return gid;
		*ret_v1_only = 1;
	}
	return (struct gid){.index = -1};
}

static void
good_gid(struct bu_audit *a, const struct bu_audit_port *port, const struct gid *gid)
{
	struct bu_check *row = bu_audit_good(a, port->name, "%s at index %d",
					     gid->address, gid->index);

	/* Two machines must not have one address, at whatever index. */
	if (row)
		BU_CHECK_SET(row->value, "%s", gid->address);
}

/* The entry that the profile names is the one that is measured with, of IPv6 too; what
 * else the table has is nobody's matter. */
static void
judge_indexed(struct bu_audit *a, const struct bu_audit_port *port, int index,
	      const char *want)
{
	const char *network = bu_audit_network_name(port->network);
	struct gid gid, elsewhere;
	char seen[80], expected[80];
	int v1_only;

	if (!read_gid(a, port, index, &gid))
		gid.address[0] = '\0';
	if (*gid.address && gid.is_v2 && (!want || strcmp(want, gid.address) == 0)) {
		good_gid(a, port, &gid);
		return;
	}
	snprintf(seen, sizeof(seen), "%s%s%s", *gid.address ? gid.address : "none",
		 *gid.address && !gid.is_v2 ? ", " : "",
		 *gid.address && !gid.is_v2 ? gid.type : "");
	snprintf(expected, sizeof(expected), "RoCE v2%s%s at index %d", want ? " " : "",
		 want ? want : "", index);
	elsewhere = find_gid(a, port, 4, want, &v1_only);
	if (want && elsewhere.index >= 0)
		bu_audit_bad(a, port->name, seen, expected,
			     "RDMA port %s of network %s has its GID %s at index %d, "
			     "expected index %d",
			     port->name, network, want, elsewhere.index, index);
	else
		bu_audit_bad(a, port->name, seen, expected,
			     "RDMA port %s of network %s has no GID %s: there is %s",
			     port->name, network, expected, seen);
}

/* As what is measured is chosen: the address, else gid_family, else IPv4 where the port
 * has it and IPv6 where it does not. */
static void
judge_address(struct bu_audit *a, const struct bu_audit_port *port, const char *want)
{
	const char *named = bu_json_str(port->network, "gid_family", NULL);
	int family = !want && named && strcmp(named, "ipv6") == 0 ? 6 : 4, v1_only;
	struct gid gid = find_gid(a, port, family, want, &v1_only);
	char expected[64];

	if (gid.index < 0 && !v1_only && !want && !named)
		gid = find_gid(a, port, 6, NULL, &v1_only);
	if (gid.index >= 0) {
		good_gid(a, port, &gid);
		return;
	}
	snprintf(expected, sizeof(expected), "RoCE v2 %s",
		 want          ? want
		 : !named      ? "with IPv4 or global IPv6"
		 : family == 4 ? "with IPv4"
			       : "with global IPv6");
	bu_audit_bad(a, port->name, v1_only ? "RoCE v1 only" : "none", expected,
		     "RDMA port %s of network %s has no GID %s%s", port->name,
		     bu_audit_network_name(port->network), expected,
		     v1_only ? ", only RoCE v1" : "");
}

static void
judge_gid(struct bu_audit *a, const struct bu_audit_port *port)
{
	const char *want = bu_json_str(port->network, "address", NULL);
	int64_t index = bu_json_int(port->network, "gid_index", -1);

	if (port->infiniband || !bu_json_bool(port->network, "rdma", 0))
		return;
	if (index >= 0 && index < GIDS_MAX)
		judge_indexed(a, port, (int)index, want);
	else
		judge_address(a, port, want);
}

void
bu_audit_gid(struct bu_audit *a)
{
	bu_audit_each_port(a, judge_gid);
}

void
bu_audit_guid(struct bu_audit *a)
{
	bu_autojson json_t *owner = json_object();

	for (size_t i = 0; i < a->port_count; i++) {
		const struct bu_audit_port *port = &a->ports[i];
		const char *other;
		char guid[32];

		/* Software makes its own of the MAC, and a virtual function that was
		 * not given to anybody has none. */
		if (!port->network || port->software ||
		    bu_sysroot_exists(a->root, "sys/class/infiniband/%s/device/physfn",
				      port->device))
			continue;
		bu_sysroot_line(a->root, guid, sizeof(guid),
				"sys/class/infiniband/%s/node_guid", port->device);
		other = bu_json_str(owner, guid, NULL);
		if (other && strcmp(other, port->device) == 0)
			continue; /* its other port */
		if (strspn(guid, "0:") == strlen(guid))
			bu_audit_bad(a, port->device, *guid ? guid : "none", "a GUID",
				     "RDMA device %s has no node GUID", port->device);
		else if (other)
			bu_audit_bad(
				a, port->device, guid, "another GUID",
				"RDMA devices %s and %s have the same node GUID %s",
				other, port->device, guid);
		else
			bu_audit_good(a, port->device, "%s", guid);
		json_object_set_new(owner, guid, json_string(port->device));
	}
}
