/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the GID and the partition of a rail's packets. Called by device.c. Invariant:
 * a requested entry is taken, or an error names it; no other entry replaces it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric/probe/device.h"

int
bu_device_is_infiniband(const struct bu_device *device)
{
	return device->attr.link_layer == IBV_LINK_LAYER_INFINIBAND;
}

enum { GIDS_MAX = 1024, MEMBER = 0x8000, LISTED = 8 };

int
bu_device_gid_of(const char *address, union ibv_gid *ret)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	memcpy(ret->raw, mapped, sizeof(mapped));
	return inet_pton(AF_INET, address, ret->raw + sizeof(mapped)) == 1 ||
	       inet_pton(AF_INET6, address, ret->raw) == 1;
}

static int
is_mapped(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)gid->raw);
}

static int
is_link_local(const union ibv_gid *gid)
{
	return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

/* family 6: global addresses alone; each port has a link-local one. */
static int
is_of_family(const union ibv_gid *gid, int family)
{
	return !family ||
	       (family == 4 ? is_mapped(gid) : !is_mapped(gid) && !is_link_local(gid));
}

/* Rank of an entry for a rail that names none; 0 = unfit. */
static int
worth(const struct bu_device *device, const struct ibv_gid_entry *entry)
{
	if (bu_device_is_infiniband(device))
		return entry->gid_index == 0;
	if (entry->gid_type != IBV_GID_TYPE_ROCE_V2)
		return 0;
	return is_mapped(&entry->gid) ? 3 : is_link_local(&entry->gid) ? 1 : 2;
}

int
bu_device_takes_address(const struct bu_work_rail *rail)
{
	return rail->address[0] &&
	       (!rail->gid_family ||
		rail->gid_family == (strchr(rail->address, ':') ? 6 : 4));
}

static int
fits(const struct bu_device *device, const struct bu_work_rail *rail,
     const struct ibv_gid_entry *entry)
{
	union ibv_gid wanted;

	if (entry->port_num != device->port || entry->gid_index > UINT8_MAX)
		return 0;
	if (rail->gid_index >= 0)
		return entry->gid_index == (uint32_t)rail->gid_index;
	/* an IPoIB address has no GID */
	if (bu_device_is_infiniband(device))
		return worth(device, entry);
	if (!bu_device_takes_address(rail))
		return is_of_family(&entry->gid, rail->gid_family) &&
		       worth(device, entry);
	return entry->gid_type == IBV_GID_TYPE_ROCE_V2 &&
	       bu_device_gid_of(rail->address, &wanted) &&
	       memcmp(&wanted, &entry->gid, sizeof(wanted)) == 0;
}

static int
read_table(const struct bu_device *device, struct ibv_gid_entry **ret)
{
	ssize_t count;

	*ret = bu_xcalloc(GIDS_MAX, sizeof(**ret));
	count = ibv_query_gid_table(device->context, *ret, GIDS_MAX, 0);
	return count < 0 ? 0 : (int)count;
}

int
bu_device_has_address(const struct bu_device *device, const struct bu_work_rail *rail)
{
	bu_autofree struct ibv_gid_entry *gids = NULL;
	struct bu_work_rail by_address = *rail;
	int count = read_table(device, &gids);

	by_address.gid_index = -1;
	by_address.gid_family = 0;
	for (int i = 0; i < count; i++)
		if (fits(device, &by_address, &gids[i]))
			return 1;
	return 0;
}

static void
list_gids(const struct bu_device *device, const struct ibv_gid_entry *gids, int count,
	  char *ret, size_t size)
{
	size_t at = 0;

	*ret = '\0';
	for (int i = 0, listed = 0; i < count && listed < LISTED; i++) {
		char text[INET6_ADDRSTRLEN];

		if (gids[i].port_num != device->port)
			continue;
		inet_ntop(AF_INET6, gids[i].gid.raw, text, sizeof(text));
		at += (size_t)snprintf(
			ret + at, size - at, "%s%u: %s%s", listed ? ", " : "",
			gids[i].gid_index, text,
			gids[i].gid_type == IBV_GID_TYPE_ROCE_V1 ? " (v1)" : "");
		if (at >= size)
			return;
		listed++;
	}
}

static int
no_gid(const struct bu_device *device, const struct bu_work_rail *rail,
       const struct ibv_gid_entry *gids, int count, struct bu_err *err)
{
	char there[160], index[16];

	list_gids(device, gids, count, there, sizeof(there));
	snprintf(index, sizeof(index), "%d", rail->gid_index);
	return bu_err_set(err, BU_ERR_NOTFOUND, 0,
			  "RDMA port %s/%d has no %s%s; it has %s", device->name,
			  device->port,
			  rail->gid_index >= 0 ? "GID " : "RoCE v2 GID of ",
			  rail->gid_index >= 0            ? index
			  : bu_device_takes_address(rail) ? rail->address
			  : rail->gid_family == 6         ? "a global IPv6 address"
			  : rail->gid_family == 4         ? "an IPv4 address"
							  : "an address",
			  there[0] ? there : "none");
}

/* The interface with the rail's address, where the GID is of another family: a VLAN of
 * the port has GIDs, too. 0 = any. */
static uint32_t
netdev_of(const struct bu_device *device, const struct bu_work_rail *rail,
	  const struct ibv_gid_entry *gids, int count)
{
	struct bu_work_rail by_address = *rail;

	by_address.gid_family = 0;
	if (rail->gid_index >= 0 || !rail->address[0] || bu_device_takes_address(rail))
		return 0;
	for (int i = 0; i < count; i++)
		if (fits(device, &by_address, &gids[i]))
			return gids[i].ndev_ifindex;
	return 0;
}

int
bu_device_choose_gid(struct bu_device *device, const struct bu_work_rail *rail,
		     struct bu_err *err)
{
	bu_autofree struct ibv_gid_entry *gids = NULL;
	int count = read_table(device, &gids);
	uint32_t netdev = netdev_of(device, rail, gids, count);
	const struct ibv_gid_entry *best = NULL;

	for (int i = 0; i < count; i++) {
		if (fits(device, rail, &gids[i]) &&
		    (!netdev || gids[i].ndev_ifindex == netdev) &&
		    (!best || worth(device, &gids[i]) > worth(device, best)))
			best = &gids[i];
	}
	if (!best)
		return no_gid(device, rail, gids, count, err);
	device->gid_index = (uint8_t)best->gid_index;
	device->gid = best->gid;
	device->gid_type = best->gid_type;
	return 0;
}

/* The error of a missing partition lists the port's partitions. */
static int
no_pkey(const struct bu_device *device, int pkey, struct bu_err *err)
{
	char there[80] = "";
	size_t at = 0;

	for (int i = 0; i < device->attr.pkey_tbl_len && at < sizeof(there); i++) {
		__be16 value;

		if (ibv_query_pkey(device->context, device->port, i, &value) == 0 &&
		    value)
			at += (size_t)snprintf(there + at, sizeof(there) - at,
					       "%s0x%04x", at ? ", " : "",
					       ntohs(value));
	}
	return bu_err_set(err, BU_ERR_NOTFOUND, 0,
			  "RDMA port %s/%d is not in partition 0x%04x; it is in %s",
			  device->name, device->port, (unsigned int)pkey,
			  at ? there : "none");
}

int
bu_device_choose_pkey(struct bu_device *device, const struct bu_work_rail *rail,
		      struct bu_err *err)
{
	int found = -1;
	__be16 value;

	for (int i = 0; i < device->attr.pkey_tbl_len; i++) {
		int pkey;

		if (ibv_query_pkey(device->context, device->port, i, &value))
			continue;
		pkey = ntohs(value);
		if (rail->pkey < 0 ? i > 0 : (pkey ^ rail->pkey) & ~MEMBER)
			continue;
		/* a full member's entry goes before a limited one's */
		if (found >= 0 && !(pkey & MEMBER))
			continue;
		found = i;
		device->pkey = (uint16_t)pkey;
		device->pkey_index = (uint16_t)i;
		if (pkey & MEMBER)
			break;
	}
	return found < 0 && rail->pkey >= 0 ? no_pkey(device, rail->pkey, err) : 0;
}
