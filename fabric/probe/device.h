/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the RDMA port of a rail and opens it. Used by verbs.c and pair_open.c. */
#ifndef BU_FABRIC_PROBE_DEVICE_H
#define BU_FABRIC_PROBE_DEVICE_H

#include <infiniband/verbs.h>

#include "base/err.h"
#include "model/work.h"

struct bu_device {
	struct ibv_context *context; /* closed by the caller: ibv_close_device() */
	char name[64];
	uint8_t port;
	uint8_t gid_index;
	uint32_t gid_type; /* enum ibv_gid_type */
	union ibv_gid gid;
	uint16_t pkey_index, pkey;
	double rate_gbps; /* by the port's speed and width; 0 = unknown */
	struct ibv_port_attr attr;
	struct ibv_device_attr limits;
};

/* Exactly what the rail names, of sysfs below root (NULL = the system's). A gid_index
 * is taken whatever stands there: the judge says whether it was right. BU_ERR_NOTFOUND
 * names what is not there (port, address, GID, partition) and what is; BU_ERR_STATE:
 * the port is not active. */
bu_must int bu_device_open(const struct bu_work_rail *rail, const char *root,
			   struct bu_device *ret, struct bu_err *err);
/* Asks the port again; the same errors. */
bu_must int bu_device_refresh(struct bu_device *device, struct bu_err *err);
int bu_device_is_infiniband(const struct bu_device *device);
/* Bytes of an MTU enum and back (0 when there is none). */
int bu_mtu_bytes(enum ibv_mtu mtu);
enum ibv_mtu bu_mtu_enum(int bytes);

/* The entry of the port's table that the rail asks for, and its partition. Of
 * device_gid.c. */
bu_must int bu_device_choose_gid(struct bu_device *device,
				 const struct bu_work_rail *rail, struct bu_err *err);
bu_must int bu_device_choose_pkey(struct bu_device *device,
				  const struct bu_work_rail *rail, struct bu_err *err);
/* IPv4 as a table has it, ::ffff:a.b.c.d; 0: it is no address. */
int bu_device_gid_of(const char *address, union ibv_gid *ret);
/* 1: the rail's GID is that of its address. */
int bu_device_takes_address(const struct bu_work_rail *rail);
/* 1: the port has the rail's address. */
int bu_device_has_address(const struct bu_device *device,
			  const struct bu_work_rail *rail);

#endif
