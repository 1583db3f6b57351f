/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the RDMA port of a fabric address. Used by verbs.c. */
#ifndef BU_FABRIC_PROBE_DEVICE_H
#define BU_FABRIC_PROBE_DEVICE_H

#include <infiniband/verbs.h>

#include "base/err.h"

struct bu_device {
	struct ibv_context *context; /* closed by the caller: ibv_close_device() */
	char name[64];
	uint8_t port;
	uint8_t gid_index;
	uint32_t gid_type; /* enum ibv_gid_type */
	union ibv_gid gid;
	struct ibv_port_attr attr;
	struct ibv_device_attr limits;
};

/* gid_index: -1; or this entry of that port's table, whatever it is: the judge says
 * whether it was right.
 * local_ip: IPv4, the port is the one with the RoCE v2 GID ::ffff:local_ip; NULL: the
 * device's first RoCE v2 GID of an IPv4 address, or GID 0 of an InfiniBand port.
 * device: its name; NULL: any. One of the two is wanted. BU_ERR_NOTFOUND when there is
 * none, BU_ERR_STATE when its port is not active. */
bu_must int bu_device_open(const char *device, const char *local_ip, int gid_index,
			   struct bu_device *ret, struct bu_err *err);
/* Asks the port again; the same errors. */
bu_must int bu_device_refresh(struct bu_device *device, struct bu_err *err);
/* 10^9 bit/s by the port's speed and width; 0 = unknown. */
double bu_device_rate_gbps(const struct bu_device *device);
/* Bytes of an MTU enum and back (0 when there is none). */
int bu_mtu_bytes(enum ibv_mtu mtu);
enum ibv_mtu bu_mtu_enum(int bytes);

#endif
