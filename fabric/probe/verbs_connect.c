/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes one end of a probe's RDMA connection and connects it to the other. Called
 * by pair_open.c. Invariant: the connection uses the smaller MTU, the smaller window
 * and the fewer reads of both ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fabric/probe/neighbour.h"
#include "fabric/probe/port.h"
#include "fabric/probe/verbs_impl.h"

/* ACK_TIMEOUT: 4.096 us * 2^17 = 0.54 s before a retransmission. The time is raised to
 * what a link at 1/SLOWER of its least rate needs for all that is under way: with less,
 * a slow link would retransmit without end and seem dead. ACK_TIMEOUT_MAX: 2.1 s, so
 * that a lost first word is retransmitted before REACH_MS is over. RETRY_COUNT: 7 would
 * be infinite on rxe, and the reads of the other end wait in one queue. RNR_RETRY: 7 is
 * infinite by the standard. The scheduler may delay a receiver, and every wait has its
 * own deadline. READ_...: soft-RoCE notices lost read answers by the timer alone. Reads
 * on a single queue pair have 67 ms and endless retransmission: no other queue's
 * answers are before theirs. */
enum {
	ACK_TIMEOUT = 17,
	ACK_TIMEOUT_MAX = 19,
	SLOWER = 16,
	RETRY_COUNT = 6,
	READ_ACK_TIMEOUT = 14,
	READ_RETRY_COUNT = 7,
	RNR_RETRY = 7,
	MIN_RNR_TIMER = 12,
	HOPS = 64,
	READS = 16,
	MEMBER = 0x8000
};
void
bu_verbs_describe(const struct bu_verbs *verbs, struct bu_pair_end *ret)
{
	static const enum bu_gid_type types[] = {
		[IBV_GID_TYPE_IB] = BU_GID_IB,
		[IBV_GID_TYPE_ROCE_V1] = BU_GID_ROCE_V1,
		[IBV_GID_TYPE_ROCE_V2] = BU_GID_ROCE_V2};
	const struct bu_device *device = &verbs->device;

	snprintf(ret->device, sizeof(ret->device), "%s", device->name);
	inet_ntop(AF_INET6, device->gid.raw, ret->gid, sizeof(ret->gid));
	ret->gid_index = device->gid_index;
	ret->gid_type = device->gid_type < BU_LEN(types) ? types[device->gid_type]
							 : BU_GID_UNKNOWN;
	ret->infiniband = bu_device_is_infiniband(device);
	ret->rate_gbps = device->rate_gbps;
	ret->port = device->port;
	ret->mtu = bu_mtu_bytes(device->attr.active_mtu);
	ret->numa = bu_port_numa(verbs->root, device->name);
	ret->cpu = verbs->cpu;
	ret->memory = bu_verbs_window(verbs)->memory;
	ret->memory_found = verbs->memory_found;
	ret->window_bytes = (int64_t)(verbs->slots * verbs->message_bytes);
	memcpy(ret->rail, verbs->opts.rail.rail, sizeof(ret->rail));
	ret->lid = device->attr.lid;
	ret->pkey = device->pkey;
	ret->sl = verbs->opts.rail.sl;
	ret->traffic_class = verbs->opts.rail.traffic_class;
}

/* This end's path MTU: its port's, at most the rail's. */
static int
own_mtu(const struct bu_verbs *verbs)
{
	int mtu = bu_mtu_bytes(verbs->device.attr.active_mtu);
	int most = verbs->opts.rail.mtu;

	return most && most < mtu ? most : mtu;
}

/* 0xc000 and 14 bits of the kernel's hash_32() of the own queue pair number. */
static uint16_t
hashed_sport(uint32_t qpn)
{
	return (uint16_t)(0xc000 + ((qpn * UINT32_C(0x61c88647)) >> 18));
}

/* 0 = unknown. */
static uint16_t
sport_of(enum bu_sport from, const struct bu_verbs *verbs, int i)
{
	switch (from) {
	case BU_SPORT_LABEL:
		return ibv_flow_label_to_udp_sport(verbs->flow_label[i]);
	case BU_SPORT_QPN:
		return hashed_sport(verbs->qp[i]->qp_num);
	default:
		return 0;
	}
}

void
bu_verbs_paths(const struct bu_verbs *verbs, struct bu_pair_dir *ret)
{
	enum bu_sport from = bu_device_is_infiniband(&verbs->device)
				     ? BU_SPORT_UNKNOWN
				     : bu_port_sport(verbs->root, verbs->device.name);

	ret->qps = verbs->qps;
	for (int i = 0; i < verbs->qps; i++) {
		ret->flow_label[i] = verbs->flow_label[i];
		ret->sport[i] = sport_of(from, verbs, i);
	}
}

void
bu_verbs_counters(const struct bu_verbs *verbs, struct bu_counters *ret)
{
	bu_port_counters(verbs->root, verbs->device.name, verbs->device.port,
			 verbs->device.gid_index, ret);
}

static struct bu_verbs_memory
memory_of(const struct bu_buffer *buffer)
{
	return (struct bu_verbs_memory){buffer->addr,
					buffer->mr ? buffer->mr->rkey : 0};
}

void
bu_verbs_local(const struct bu_verbs *verbs, struct bu_verbs_peer *ret)
{
	const struct ibv_device_attr *limits = &verbs->device.limits;

	memset(ret, 0, sizeof(*ret));
	inet_ntop(AF_INET6, verbs->device.gid.raw, ret->gid, sizeof(ret->gid));
	ret->lid = verbs->device.attr.lid;
	ret->pkey = verbs->device.pkey;
	ret->mtu = own_mtu(verbs);
	ret->qps = verbs->qps;
	for (int i = 0; i < verbs->qps; i++)
		ret->qpn[i] = verbs->qp[i]->qp_num;
	ret->rd = limits->max_qp_rd_atom < limits->max_qp_init_rd_atom
			  ? limits->max_qp_rd_atom
			  : limits->max_qp_init_rd_atom;
	if (ret->rd > READS)
		ret->rd = READS;
	ret->psn = verbs->psn;
	ret->slots = (uint32_t)verbs->slots;
	ret->recv = memory_of(&verbs->recv);
	ret->send = memory_of(&verbs->send);
	ret->ping = memory_of(&verbs->ping);
}

/* For RTR the kernel resolves the peer's link address: a failure is of the path, not of
 * this adapter. */
static int
is_nobody_there(int rc)
{
	return rc == ETIMEDOUT || rc == EHOSTUNREACH || rc == ENETUNREACH;
}

static int
modify(struct bu_verbs *verbs, int i, struct ibv_qp_attr *attr, int mask,
       const char *state, struct bu_err *err)
{
	int rc = ibv_modify_qp(verbs->qp[i], attr, IBV_QP_STATE | mask);

	if (is_nobody_there(rc))
		return bu_err_set(err, BU_ERR_REMOTE, rc,
				  "%s: nothing answers at %s: link, cable or switch",
				  verbs->device.name, verbs->peer.gid);
	if (rc)
		return bu_err_set(err, BU_ERR_IO, rc, "%s: queue pair to %s",
				  verbs->device.name, state);
	return 0;
}

static int
to_init(struct bu_verbs *verbs, int i, struct bu_err *err)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .pkey_index = verbs->device.pkey_index,
				   .port_num = verbs->device.port,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
						      IBV_ACCESS_REMOTE_READ};

	return modify(verbs, i, &attr,
		      IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT",
		      err);
}

/* RoCE always needs a GRH. InfiniBand needs it for a peer of another subnet, or where
 * the rail asks for it. */
static int
needs_grh(const struct bu_verbs *verbs, const union ibv_gid *gid)
{
	return !bu_device_is_infiniband(&verbs->device) || verbs->opts.rail.grh ||
	       gid->global.subnet_prefix != verbs->device.gid.global.subnet_prefix;
}

static struct ibv_ah_attr
route_of(const struct bu_verbs *verbs, int i, const union ibv_gid *gid)
{
	const struct bu_work_rail *rail = &verbs->opts.rail;
	struct ibv_ah_attr route = {.dlid = (uint16_t)verbs->peer.lid,
				    .sl = (uint8_t)rail->sl,
				    .port_num = verbs->device.port};

	if (!needs_grh(verbs, gid))
		return route;
	route.is_global = 1;
	route.grh = (struct ibv_global_route){.dgid = *gid,
					      .flow_label = verbs->flow_label[i],
					      .sgid_index = verbs->device.gid_index,
					      .hop_limit = HOPS,
					      .traffic_class =
						      (uint8_t)rail->traffic_class};
	return route;
}

static int
to_rtr(struct bu_verbs *verbs, int i, const union ibv_gid *gid, int mtu, int reads,
       struct bu_err *err)
{
	const struct bu_verbs_peer *peer = &verbs->peer;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = bu_mtu_enum(mtu),
		.dest_qp_num = peer->qpn[i],
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = (uint8_t)reads,
		.min_rnr_timer = MIN_RNR_TIMER,
		.ah_attr = route_of(verbs, i, gid),
	};

	return modify(verbs, i, &attr,
		      IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		      "RTR", err);
}

static int
ack_timeout(const struct bu_verbs *verbs)
{
	double bits = 8.0 * verbs->qps * verbs->depth * verbs->message_bytes;
	int timeout = ACK_TIMEOUT;

	while (timeout < ACK_TIMEOUT_MAX && verbs->opts.min_gbps > 0 &&
	       4.096e-6 * (1 << timeout) < SLOWER * bits / (verbs->opts.min_gbps * 1e9))
		timeout++;
	return timeout;
}

static int
to_rts(struct bu_verbs *verbs, int i, int reads, struct bu_err *err)
{
	int lone = verbs->opts.op == BU_OP_READ && verbs->qps == 1;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.timeout = (uint8_t)(lone ? READ_ACK_TIMEOUT : ack_timeout(verbs)),
		.retry_cnt = lone ? READ_RETRY_COUNT : RETRY_COUNT,
		.rnr_retry = RNR_RETRY,
		.sq_psn = verbs->psn,
		.max_rd_atomic = (uint8_t)reads};

	return modify(verbs, i, &attr,
		      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
		      "RTS", err);
}

/* Both must be in one partition, and one of them a full member. */
static int
check_partition(const struct bu_verbs *verbs, const struct bu_verbs_peer *peer,
		struct bu_err *err)
{
	int own = verbs->device.pkey;

	if (!own || !peer->pkey ||
	    (((own ^ peer->pkey) & ~MEMBER) == 0 && (own | peer->pkey) & MEMBER))
		return 0;
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "%s is in partition 0x%04x, the peer in 0x%04x: they cannot "
			  "talk",
			  verbs->device.name, (unsigned int)own,
			  (unsigned int)peer->pkey);
}

static int
check_peer(const struct bu_verbs *verbs, const struct bu_verbs_peer *peer,
	   union ibv_gid *ret_gid, struct bu_err *err)
{
	if (inet_pton(AF_INET6, peer->gid, ret_gid->raw) != 1)
		return bu_err_set(err, BU_ERR_INVAL, 0, "peer's GID '%s' is not valid",
				  peer->gid);
	if (!verbs->opts.loopback &&
	    memcmp(ret_gid->raw, verbs->device.gid.raw, sizeof(ret_gid->raw)) == 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "both ends are the port %s: a loop proves no cable",
				  peer->gid);
	if (check_partition(verbs, peer, err))
		return -1;
	if (peer->qps != verbs->qps)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the peer has %d queue pairs, this end has %d",
				  peer->qps, verbs->qps);
	if (peer->slots < (uint32_t)(2 * verbs->qps * verbs->depth))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the peer's window of %" PRIu32
				  " messages is too small",
				  peer->slots);
	return 0;
}

/* RoCE over IPv4: the address is the last four bytes of a GID. */
static void
learn_neighbour(const struct bu_verbs *verbs, const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	const uint8_t *own = verbs->device.gid.raw;
	struct in_addr local, peer;

	if (memcmp(own, mapped, sizeof(mapped)) != 0 ||
	    memcmp(gid->raw, mapped, sizeof(mapped)) != 0)
		return;
	memcpy(&local, own + sizeof(mapped), sizeof(local));
	memcpy(&peer, gid->raw + sizeof(mapped), sizeof(peer));
	bu_neighbour_learn(verbs->root, local, peer);
}

int
bu_verbs_connect(struct bu_verbs *verbs, const struct bu_verbs_peer *peer, int *ret_mtu,
		 struct bu_err *err)
{
	int mtu = own_mtu(verbs);
	struct bu_verbs_peer local;
	union ibv_gid gid;

	if (check_peer(verbs, peer, &gid, err))
		return -1;
	if (!verbs->opts.with)
		learn_neighbour(verbs, &gid);
	bu_verbs_local(verbs, &local);
	verbs->peer = *peer;
	if (peer->slots < verbs->slots)
		verbs->slots = peer->slots - peer->slots % (uint32_t)verbs->qps;
	if (verbs->receives > (int)(verbs->slots / (uint64_t)verbs->qps))
		verbs->receives = (int)(verbs->slots / (uint64_t)verbs->qps);
	if (peer->mtu < mtu)
		mtu = peer->mtu;
	for (int i = 0; i < verbs->qps; i++) {
		int reads = peer->rd < local.rd ? peer->rd : local.rd;

		if (to_init(verbs, i, err))
			return -1;
		for (int k = 0; k < verbs->receives; k++) {
			if (bu_verbs_receive(verbs, i, err))
				return -1;
		}
		if (to_rtr(verbs, i, &gid, mtu, reads, err) ||
		    to_rts(verbs, i, reads, err))
			return -1;
	}
	*ret_mtu = mtu;
	return 0;
}
