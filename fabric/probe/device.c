/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the RDMA port of a rail. Called by pair_open.c when a probe opens its end.
 * Invariant: at most the returned device stays open, and only the named port is
 * measured.
 */
#include "fabric/probe/device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fabric/probe/port.h"
#include "model/inventory.h"

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

/* Is the GID still in its place? A removed address takes its entry along. */
static int
has_gid(const struct bu_device *device)
{
	union ibv_gid now;

	return ibv_query_gid(device->context, device->port, device->gid_index, &now) ==
		       0 &&
	       memcmp(&now, &device->gid, sizeof(now)) == 0;
}

static int
check_active(const struct bu_device *device, struct bu_err *err)
{
	if (device->attr.state == IBV_PORT_ACTIVE)
		return 0;
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "RDMA device %s: port %d is not active; check link and cable",
			  device->name, device->port);
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
	return check_active(device, err);
}

/* Rate by the verbs, which tell speeds in 8 bits: XDR (256) does not fit. The kernel
 * tells that in sysfs alone. */
static double
rate_of(const struct ibv_port_attr *attr)
{
	/* Gbit/s per lane, by bit: SDR, DDR, QDR, FDR-10, FDR, EDR, HDR, NDR. */
	static const double lanes[] = {2.5, 5, 10, 10, 14.0625, 25, 50, 100};
	static const int widths[][2] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};

	for (size_t i = 0; i < BU_LEN(lanes); i++) {
		for (size_t w = 0; w < BU_LEN(widths); w++) {
			if (attr->active_speed == 1 << i &&
			    attr->active_width == widths[w][0])
				return lanes[i] * widths[w][1];
		}
	}
	return 0;
}

static double
rate_gbps(const struct bu_device *device, const char *root)
{
	double told = bu_port_rate_gbps(root, device->name, device->port);
	double asked = rate_of(&device->attr);

	return told > asked ? told : asked;
}

/* --- the search --- */

struct search {
	const struct bu_work_rail *rail;
	const char *root;
	union ibv_gid gid;      /* GID of the rail's address */
	struct bu_device found; /* context NULL: none so far */
	int named;              /* ports with the rail's name */
	int seen;
	char *there; /* "mlx5_0/1 (ens1f0np0 at 0000:3b:00.0), ..." */
};

static void
note(struct search *search, const char *device, int port)
{
	bu_autofree char *label = bu_port_label(search->root, device, port);
	bu_autofree char *before = search->there;

	search->there =
		bu_xasprintf("%s%s%s", before ? before : "", before ? ", " : "", label);
	search->seen++;
}

/* Is this the rail's port, by its name and, on RoCE, by its address? */
static int
is_wanted(const struct search *search, const struct bu_device *device)
{
	const struct bu_work_rail *rail = search->rail;

	if (!bu_port_is_named(search->root, device->name, device->port, rail->port))
		return 0;
	if (!rail->address[0] || (rail->port[0] && bu_device_is_infiniband(device)))
		return 1;
	return !bu_device_is_infiniband(device) && bu_device_has_address(device, rail);
}

/* 1: found keeps the context. */
static int
search_context(struct search *search, struct ibv_context *context, const char *name)
{
	struct bu_device device = {.context = context};
	int taken = 0;

	snprintf(device.name, sizeof(device.name), "%s", name);
	if (ibv_query_device(context, &device.limits))
		return 0;
	for (int port = 1; port <= device.limits.phys_port_cnt; port++) {
		device.port = (uint8_t)port;
		if (ibv_query_port(context, device.port, &device.attr))
			continue;
		note(search, name, port);
		if (!is_wanted(search, &device))
			continue;
		search->named++;
		if (search->found.context)
			continue;
		search->found = device;
		taken = 1;
	}
	return taken;
}

/* May the device be the rail's, by name or else by address? Only sysfs is read: a
 * device that hangs on opening then delays its own rail alone. */
static int
may_be_it(const struct search *search, const char *device)
{
	const struct bu_work_rail *rail = search->rail;

	for (int port = 1; port <= BU_RDMA_PORTS_MAX; port++)
		if (rail->port[0]
			    ? bu_port_is_named(search->root, device, port, rail->port)
			    : bu_port_has_gid(search->root, device, port,
					      search->gid.raw))
			return 1;
	return 0;
}

/* likely: searches the devices that may be the rail's, else all others. The verbs may
 * tell more than sysfs, and an error must name all ports. */
static void
search_all(struct search *search, int likely)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	for (int i = 0; list && i < count; i++) {
		struct ibv_context *context;

		if (may_be_it(search, ibv_get_device_name(list[i])) != likely)
			continue;
		if (search->found.context && !search->rail->port[0])
			break;
		context = ibv_open_device(list[i]);
		if (context &&
		    !search_context(search, context, ibv_get_device_name(list[i])))
			ibv_close_device(context);
	}
	if (list)
		ibv_free_device_list(list);
}

static int
missing(const struct search *search, struct bu_err *err)
{
	const struct bu_work_rail *rail = search->rail;
	const char *there = search->there ? search->there : "none";

	if (rail->port[0] && rail->address[0])
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no RDMA port %s with the RoCE v2 address %s; there "
				  "are %s; is its driver loaded and its network "
				  "interface up?",
				  rail->port, rail->address, there);
	if (rail->port[0])
		return bu_err_set(
			err, BU_ERR_NOTFOUND, 0,
			"no RDMA port %s; there are %s; is its driver loaded?",
			rail->port, there);
	return bu_err_set(err, BU_ERR_NOTFOUND, 0,
			  "no RDMA device has the RoCE v2 address %s; there are %s; is "
			  "its driver loaded and its network interface up? An "
			  "InfiniBand port is named by itself",
			  rail->address, there);
}

static int
choose(struct search *search, struct bu_err *err)
{
	struct bu_device *found = &search->found;

	if (!found->context)
		return missing(search, err);
	/* an IPoIB address does not tell the ports of one function apart */
	if (search->named > 1 &&
	    (!search->rail->address[0] || bu_device_is_infiniband(found)))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "RDMA port %s: %d ports have this name; say which, "
				  "as %s/1; there are %s",
				  search->rail->port, search->named, found->name,
				  search->there);
	if (check_active(found, err) ||
	    bu_device_choose_gid(found, search->rail, err) ||
	    bu_device_choose_pkey(found, search->rail, err))
		return -1;
	found->rate_gbps = rate_gbps(found, search->root);
	return 0;
}

int
bu_device_open(const struct bu_work_rail *rail, const char *root, struct bu_device *ret,
	       struct bu_err *err)
{
	struct search search = {.rail = rail, .root = root ? root : ""};
	int rc;

	if (!rail->port[0] && !rail->address[0])
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"RDMA device: neither a name nor an address is given");
	if (rail->address[0] && !bu_device_gid_of(rail->address, &search.gid))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "fabric address '%s': expected an IPv4 or IPv6 "
				  "address",
				  rail->address);
	search_all(&search, 1);
	if (!search.found.context)
		search_all(&search, 0);
	rc = choose(&search, err);
	if (rc == 0)
		*ret = search.found;
	else if (search.found.context)
		ibv_close_device(search.found.context);
	free(search.there);
	return rc;
}
