/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the RDMA port of a rail and opens it. Used by verbs.c and pair_open.c. */
#ifndef BU_FABRIC_PROBE_DEVICE_H
#define BU_FABRIC_PROBE_DEVICE_H

#include <infiniband/verbs.h>

#include "base/err.h"
#include "model/work.h"

struct bu_device {
	struct ibv_context *context; /* the caller closes it: ibv_close_device() */
	char name[64];
	uint8_t port;
	uint8_t gid_index;
	uint32_t gid_type; /* enum ibv_gid_type */
	union ibv_gid gid;
	uint16_t pkey_index, pkey;
	double rate_gbps; /* speed times width of the port; 0 = unknown */
	struct ibv_port_attr attr;
	struct ibv_device_attr limits;
};

/* Opens exactly the port that the rail names. root: of sysfs, NULL = the system's. A
 * gid_index is taken without a check; the judge checks the GID. BU_ERR_NOTFOUND names
 * the missing port, address, GID or partition, and those that exist. BU_ERR_STATE: the
 * port is not active. */
bu_must int bu_device_open(const struct bu_work_rail *rail, const char *root,
			   struct bu_device *ret, struct bu_err *err);
/* Reads the port's state again; same errors. */
bu_must int bu_device_refresh(struct bu_device *device, struct bu_err *err);
int bu_device_is_infiniband(const struct bu_device *device);
/* Bytes of an MTU enum, and back; 0 = none. */
int bu_mtu_bytes(enum ibv_mtu mtu);
enum ibv_mtu bu_mtu_enum(int bytes);

/* device_gid.c. Choose the GID and the partition that the rail asks for. */
bu_must int bu_device_choose_gid(struct bu_device *device,
				 const struct bu_work_rail *rail, struct bu_err *err);
bu_must int bu_device_choose_pkey(struct bu_device *device,
				  const struct bu_work_rail *rail, struct bu_err *err);
/* The GID of an address; IPv4 becomes ::ffff:a.b.c.d. 0: no address. */
int bu_device_gid_of(const char *address, union ibv_gid *ret);
/* 1: the rail's GID must be that of its address. */
int bu_device_takes_address(const struct bu_work_rail *rail);
/* 1: the port has the rail's address. */
int bu_device_has_address(const struct bu_device *device,
			  const struct bu_work_rail *rail);

#endif
