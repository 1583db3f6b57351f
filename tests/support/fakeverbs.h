/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libibverbs, linked instead of it: devices fake0 (RoCE v2 GID
 * ::ffff:127.0.0.1 at index 1) to fake3 (::ffff:127.0.0.4), whose RC queue pairs carry
 * writes, reads and sends over TCP on loopback, between threads. Index 2 is the same
 * address as RoCE v1. Other ports can be had with fakeverbs_device(). Faults belong to
 * a device and hit what it posts.
 */
#ifndef BU_TESTS_SUPPORT_FAKEVERBS_H
#define BU_TESTS_SUPPORT_FAKEVERBS_H

#include <stdint.h>

/* "from": what is posted from this one on; 1 = the first, 0 = never. */
struct fakeverbs_faults {
	double rate_gbps; /* cap of all that it posts; 0 = none */
	int below;        /* devices with one number share one cap; 0 = it is its own */
	int delay_us;     /* each one is that much later */
	long lose_from;   /* RETRY_EXC_ERR, as for a peer that is lost */
	long fail_at;     /* this one alone: REM_OP_ERR, and the queue is dead */
	long hang_from;   /* never completes */
	long corrupt_from; /* arrives with one bit changed */
	long corrupt_byte; /* in which byte of the message; 0 = the middle */
	long vanish_from;  /* the device is gone, and an event says so */
	long quiet_from;   /* the device is gone, nothing says so */
	long unplug_from;  /* its port goes down, and an event says so */
	int port_down;
	int locks;     /* registering locks the memory, as adapters do */
	int rtr_errno; /* what the way to RTR fails with; 0 = nothing */
	int mtu;       /* active MTU in bytes; 0 = 1024 */
};
enum {
	FAKEVERBS_DEVICES = 4,
	FAKEVERBS_GIDS = 8,
	FAKEVERBS_PKEYS = 4,
	FAKEVERBS_INLINE = 64
};
/* A port. gid: as IPv6 text, "v1 ..." of RoCE v1; NULL is a hole of the table. */
struct fakeverbs_port {
	int lid; /* InfiniBand; 0 = Ethernet */
	const char *gid[FAKEVERBS_GIDS];
	uint32_t netdev[FAKEVERBS_GIDS]; /* index of its interface; 0 = not told */
	int pkey[FAKEVERBS_PKEYS];       /* 0 = empty */
	int speed;                       /* a lane's, as the verbs tell it; 0 = EDR */
	int width;                       /* likewise, the lanes; 0 = four */
};
struct fakeverbs_device {
	int ports; /* 1 or 2 */
	struct fakeverbs_port port[2];
	int max_qp_wr, max_cqe; /* 0 = plenty */
	int no_inline;
};
/* NULL: as usual. Set while it is not in use. */
void fakeverbs_device(int device, const struct fakeverbs_device *value);
/* How the last queue pair of the device was told to send. */
struct fakeverbs_route {
	int infiniband, port, grh, dlid, sl, sgid_index, traffic_class, flow_label,
		pkey, mtu;
	int timeout; /* as in struct ibv_qp_attr */
};
struct fakeverbs_route fakeverbs_route(int device);

/* A rail with this address, for the engine's options. */
#define FAKEVERBS_RAIL(its_address, its_gid)                                           \
	{                                                                              \
		.address = its_address, .gid_index = its_gid, .pkey = -1,              \
		.flow_label = -1, .gpu = -1                                            \
	}

/* device from 0. Set while it is not in use; counts of posts start again. */
void fakeverbs_set(int device, const struct fakeverbs_faults *faults);
/* Posts that carried their payload themselves. */
long fakeverbs_inlined(int device);
/* Verbs objects that are not destroyed yet; device lists and contexts too. */
int fakeverbs_objects(void);
/* How often the device was opened so far. */
long fakeverbs_opened(int device);
/* Protection domains made so far. */
int fakeverbs_domains(void);

#endif
