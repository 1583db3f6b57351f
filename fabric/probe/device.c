/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks for the RDMA port that carries a fabric address, called by verbs.c when a probe
 * opens its end. Invariant: at most the returned device stays open.
 */
#include "fabric/probe/device.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { GIDS_MAX = 512 };

struct wanted {
	const char *device;
	int any_ip;
	int gid_index; /* -1 = by address */
	struct in_addr ip;
};

int
bu_mtu_bytes(enum ibv_mtu mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? 128 << mtu : 0;
}

enum ibv_mtu
bu_mtu_enum(int bytes)
{
	for (enum ibv_mtu mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
		if (bu_mtu_bytes(mtu) == bytes)
			return mtu;
	}
	return 0;
}

static int
gid_matches(const struct ibv_gid_entry *entry, const struct wanted *wanted)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (entry->gid_type == IBV_GID_TYPE_IB)
		return wanted->any_ip;
	if (entry->gid_type != IBV_GID_TYPE_ROCE_V2 ||
	    memcmp(entry->gid.raw, mapped, sizeof(mapped)) != 0)
		return 0;
	return wanted->any_ip || memcmp(entry->gid.raw + 12, &wanted->ip, 4) == 0;
}

static void
take(const struct ibv_gid_entry *entry, struct bu_device *ret)
{
	ret->port = (uint8_t)entry->port_num;
	ret->gid_index = (uint8_t)entry->gid_index;
	ret->gid = entry->gid;
	ret->gid_type = entry->gid_type;
}

/* The port by its address; then, where one was asked for, another entry of its table.
 * 1 found, 0 not here. */
static int
search_context(struct ibv_context *context, const struct wanted *wanted,
	       struct bu_device *ret)
{
	bu_autofree struct ibv_gid_entry *gids = bu_xcalloc(GIDS_MAX, sizeof(*gids));
	ssize_t count = ibv_query_gid_table(context, gids, GIDS_MAX, 0);
	ssize_t at = 0;

	while (at < count &&
	       (!gid_matches(&gids[at], wanted) || gids[at].gid_index > UINT8_MAX))
		at++;
	if (at >= count)
		return 0;
	take(&gids[at], ret);
	if (wanted->gid_index < 0)
		return 1;
	for (ssize_t i = 0; i < count; i++) {
		if (gids[i].port_num != ret->port ||
		    gids[i].gid_index != (uint32_t)wanted->gid_index)
			continue;
		take(&gids[i], ret);
		return 1;
	}
	return 0;
}

static int
search_list(struct ibv_device **list, int count, const struct wanted *wanted,
	    struct bu_device *ret)
{
	for (int i = 0; i < count; i++) {
		const char *name = ibv_get_device_name(list[i]);
		struct ibv_context *context;

		if (wanted->device && strcmp(wanted->device, name) != 0)
			continue;
		context = ibv_open_device(list[i]);
		if (!context)
			continue;
		if (search_context(context, wanted, ret)) {
			snprintf(ret->name, sizeof(ret->name), "%s", name);
			ret->context = context;
			return 1;
		}
		ibv_close_device(context);
	}
	return 0;
}

/* An address that went takes its entry with it. */
static int
has_gid(const struct bu_device *device)
{
	bu_autofree struct ibv_gid_entry *gids = bu_xcalloc(GIDS_MAX, sizeof(*gids));
	ssize_t count = ibv_query_gid_table(device->context, gids, GIDS_MAX, 0);

	for (ssize_t i = 0; i < count; i++) {
		if (gids[i].port_num == device->port &&
		    gids[i].gid_index == device->gid_index)
			return memcmp(&gids[i].gid, &device->gid,
				      sizeof(device->gid)) == 0;
	}
	return 0;
}

int
bu_device_refresh(struct bu_device *device, struct bu_err *err)
{
	int rc = ibv_query_port(device->context, device->port, &device->attr);

	if (rc == 0)
		rc = ibv_query_device(device->context, &device->limits);
	if (rc)
		return bu_err_set(err, BU_ERR_IO, rc, "RDMA device %s: query port %d",
				  device->name, device->port);
	if (!has_gid(device))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "RDMA device %s: GID %d has changed", device->name,
				  device->gid_index);
	if (device->attr.state != IBV_PORT_ACTIVE)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "RDMA device %s: port %d is not active; check link "
				  "and cable",
				  device->name, device->port);
	return 0;
}

int
bu_device_open(const char *device, const char *local_ip, int gid_index,
	       struct bu_device *ret, struct bu_err *err)
{
	struct wanted wanted = {
		.device = device, .any_ip = local_ip == NULL, .gid_index = gid_index};
	struct bu_device found = {0};
	struct ibv_device **list;
	int count = 0, hit = 0;

	if (!device && !local_ip)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"RDMA device: neither a name nor an address is given");
	if (local_ip && inet_pton(AF_INET, local_ip, &wanted.ip) != 1)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "fabric address '%s': expected an IPv4 address",
				  local_ip);
	list = ibv_get_device_list(&count);
	if (list) {
		hit = search_list(list, count, &wanted, &found);
		ibv_free_device_list(list);
	}
	if (!hit)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no RDMA device%s%s has the RoCE v2 address %s "
				  "(%d devices seen); is its driver loaded and its "
				  "network interface up?",
				  device ? " " : "", device ? device : "",
				  local_ip ? local_ip : "(any)", list ? count : 0);
	if (bu_device_refresh(&found, err)) {
		ibv_close_device(found.context);
		return -1;
	}
	*ret = found;
	return 0;
}

double
bu_device_rate_gbps(const struct bu_device *device)
{
	/* Per lane, by the bits of the standard: SDR, DDR, QDR, FDR-10, FDR, EDR, HDR,
	 * NDR. */
	static const double lanes[] = {2.5, 5, 10, 10, 14.0625, 25, 50, 100};
	static const int widths[][2] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};

	for (size_t i = 0; i < BU_LEN(lanes); i++) {
		for (size_t w = 0; w < BU_LEN(widths); w++) {
			if (device->attr.active_speed == 1 << i &&
			    device->attr.active_width == widths[w][0])
				return lanes[i] * widths[w][1];
		}
	}
	return 0;
}
