// SPDX-License-Identifier: Apache-2.0
/*
 * Opens and connects one end of a probe's RDMA connection; called by pair.c. Invariant:
 * whatever fails half-way, bu_verbs_destroy() leaves no verbs object and no memory: a
 * queue pair that is left behind retransmits for ever and slows every later run.
 */
#include "fabric/measure/verbs.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "fabric/measure/port.h"
#include "fabric/measure/verbs_impl.h"

/* timeout: 4.096 us * 2^18 = 1.07 s before a retransmit, because a window of 4 x 64 KiB
 * alone takes 0.42 s on a link of 5 Mbit/s. retry_cnt: 7 would be infinite on rxe, and
 * the reads of the other end wait in one queue. rnr_retry: 7 is infinite by the
 * standard; a receiver may be late by a scheduler's whim, and every wait has its own
 * deadline. */
enum {
	ACK_TIMEOUT = 18,
	RETRY_COUNT = 6,
	RNR_RETRY = 7,
	MIN_RNR_TIMER = 12,
	HOPS = 64,
	READS = 16
};
/* 2 MiB under way fill 400 Gbit/s for 42 us; slow links get an eighth of a run. */
enum {
	DEPTH_BYTES = 2 * 1024 * 1024,
	DEPTH_MAX = 128,
	BATCH_BELOW = 8192,
	BATCH = 8,
	RECEIVES_MAX = 256
};
static const uint64_t cache_unknown = 64 * 1024 * 1024, window_max = UINT64_C(1) << 32;

void
bu_verbs_destroy(struct bu_verbs *verbs)
{
	if (!verbs)
		return;
	for (int i = 0; i < verbs->qps; i++) {
		if (verbs->qp[i])
			ibv_destroy_qp(verbs->qp[i]);
	}
	bu_buffer_destroy(&verbs->send);
	bu_buffer_destroy(&verbs->recv);
	bu_buffer_destroy(&verbs->ping);
	if (verbs->cq)
		ibv_destroy_cq(verbs->cq);
	if (verbs->channel)
		ibv_destroy_comp_channel(verbs->channel);
	if (verbs->pd)
		ibv_dealloc_pd(verbs->pd);
	if (verbs->device.context && !verbs->opts.opened)
		ibv_close_device(verbs->device.context);
	bu_cuda_close(verbs->cuda);
	if (verbs->cpu >= 0)
		sched_setaffinity(0, sizeof(verbs->before), &verbs->before);
	free(verbs->bounce);
	free(verbs->root);
	free(verbs);
}

/* How much is under way, and over how much memory it rotates. */
static void
plan_window(struct bu_verbs *verbs)
{
	const struct bu_verbs_opts *opts = &verbs->opts;
	uint64_t message = opts->message_bytes, qps = (uint64_t)opts->qps;
	uint64_t timed = (opts->bytes + message - 1) / message;
	uint64_t depth = DEPTH_BYTES / message, window = opts->window_bytes, least;

	if (depth > DEPTH_MAX)
		depth = DEPTH_MAX;
	if (depth > timed / 8)
		depth = timed / 8;
	if (message < BATCH_BELOW && depth >= 2 * BATCH * qps)
		verbs->batch = BATCH;
	depth = (depth + qps - 1) / qps;
	verbs->depth = depth < 2 ? 2 : (int)depth;
	least = 2 * qps * (uint64_t)verbs->depth;
	if (window == 0) {
		uint64_t cache = (uint64_t)bu_port_cache_bytes(verbs->root);
		uint64_t memory = (uint64_t)bu_port_memory_bytes(verbs->root) / 16;
		uint64_t all = (uint64_t)opts->runs *
			       (timed + qps * (uint64_t)verbs->depth) * message;

		window = cache ? 2 * cache : 2 * cache_unknown;
		if (memory && window > memory)
			window = memory;
		if (window > all)
			window = all;
	}
	if (window > window_max)
		window = window_max;
	verbs->slots = window / message;
	if (verbs->slots < least)
		verbs->slots = least;
	verbs->slots -= verbs->slots % qps;
}

static int
create_memory(struct bu_verbs *verbs, struct bu_err *err)
{
	const struct bu_verbs_opts *opts = &verbs->opts;
	size_t size = verbs->slots * verbs->message_bytes;

	if (opts->gpu >= 0) {
		verbs->cuda = bu_cuda_open(opts->cuda, opts->gpu, err);
		if (!verbs->cuda)
			return -1;
		verbs->bounce = bu_xcalloc(1, verbs->message_bytes);
	}
	if (bu_buffer_create(&verbs->send, verbs->pd,
			     opts->roles & BU_VERBS_SOURCE ? size : 0, verbs->cuda,
			     err) ||
	    bu_buffer_create(&verbs->recv, verbs->pd,
			     opts->roles & BU_VERBS_SINK ? size : 0, verbs->cuda,
			     err) ||
	    bu_buffer_create(&verbs->ping, verbs->pd, PING_BYTES, NULL, err))
		return bu_err_wrap(err, "%s", verbs->device.name);
	verbs->memory_found =
		bu_buffer_prove(verbs->send.size ? &verbs->send : &verbs->recv);
	return 0;
}

static int
create_qp(struct bu_verbs *verbs, int i, struct bu_err *err)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = verbs->cq, .recv_cq = verbs->cq};

	init.cap.max_send_wr = (uint32_t)verbs->depth + PING_WINDOW;
	init.cap.max_recv_wr = (uint32_t)verbs->receives + 1;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	verbs->qp[i] = ibv_create_qp(verbs->pd, &init);
	if (!verbs->qp[i])
		return bu_err_set(err, BU_ERR_IO, errno, "%s: queue pair %d of %d",
				  verbs->device.name, i + 1, verbs->qps);
	return 0;
}

static int
set_nonblocking(const struct bu_verbs *verbs, int fd, struct bu_err *err)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return bu_err_set(err, BU_ERR_IO, errno, "%s: its events",
				  verbs->device.name);
	return 0;
}

static int
create_queues(struct bu_verbs *verbs, struct bu_err *err)
{
	int entries;

	/* Sends: enough ahead that a late receiver stops nobody, each in its own slot.
	 */
	verbs->receives = verbs->opts.lat_op == BU_OP_SEND ? PING_RECVS / 2 : 0;
	if (verbs->opts.op == BU_OP_SEND && verbs->opts.roles & BU_VERBS_SINK) {
		uint64_t most = verbs->slots / (uint64_t)verbs->qps;

		verbs->receives = most < RECEIVES_MAX ? (int)most : RECEIVES_MAX;
	}
	verbs->channel = ibv_create_comp_channel(verbs->device.context);
	if (!verbs->channel)
		return bu_err_set(err, BU_ERR_IO, errno, "%s: completion channel",
				  verbs->device.name);
	/* ibv_get_cq_event() would block for ever on a lost peer. */
	if (set_nonblocking(verbs, verbs->channel->fd, err) ||
	    set_nonblocking(verbs, verbs->device.context->async_fd, err))
		return -1;
	entries = verbs->qps * (verbs->depth + verbs->receives) + 2 * PING_WINDOW;
	verbs->cq =
		ibv_create_cq(verbs->device.context, entries, NULL, verbs->channel, 0);
	if (!verbs->cq)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "%s: completion queue of %d entries",
				  verbs->device.name, entries);
	for (int i = 0; i < verbs->qps; i++) {
		if (create_qp(verbs, i, err))
			return -1;
	}
	return 0;
}

static int
modify(struct bu_verbs *verbs, int i, struct ibv_qp_attr *attr, int mask,
       const char *state, struct bu_err *err)
{
	int rc = ibv_modify_qp(verbs->qp[i], attr, IBV_QP_STATE | mask);

	if (rc)
		return bu_err_set(err, BU_ERR_IO, rc, "%s: queue pair to %s",
				  verbs->device.name, state);
	return 0;
}

/* Before any memory is touched, so that it comes from the adapter's own node. */
static void
bind_cpu(struct bu_verbs *verbs)
{
	int cpu = bu_port_cpu(verbs->root, verbs->device.name);
	cpu_set_t one;

	/* Both ends of a loop are here, each with a thread. */
	if (cpu < 0 || verbs->opts.loopback ||
	    sched_getaffinity(0, sizeof(verbs->before), &verbs->before))
		return;
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) == 0)
		verbs->cpu = cpu;
}

/* A label that gives the wanted source port where the adapter makes one from the
 * other (ibv_flow_label_to_udp_sport()): 14 bits of it are the port's. */
static uint32_t
label_of(uint16_t sport)
{
	uint32_t low = sport & 0x3fff;

	return low ? low : 1 << 14 | 1; /* 0 would mean none */
}

static int
open_device(struct bu_verbs *verbs, struct bu_err *err)
{
	const struct bu_verbs_opts *opts = &verbs->opts;

	if (!opts->opened)
		return bu_device_open(opts->device, opts->local_ip, opts->gid_index,
				      &verbs->device, err);
	verbs->device = *opts->opened;
	return bu_device_refresh(&verbs->device, err);
}

static int
open_objects(struct bu_verbs *verbs, struct bu_err *err)
{
	const struct bu_verbs_opts *opts = &verbs->opts;
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
						      IBV_ACCESS_REMOTE_READ};
	uint16_t sport = (uint16_t)opts->sport;

	if (open_device(verbs, err))
		return -1;
	bind_cpu(verbs);
	plan_window(verbs);
	verbs->pd = ibv_alloc_pd(verbs->device.context);
	if (!verbs->pd)
		return bu_err_set(err, BU_ERR_IO, errno, "%s: protection domain",
				  verbs->device.name);
	if (create_memory(verbs, err) || create_queues(verbs, err))
		return -1;
	bu_random(&verbs->psn, sizeof(verbs->psn));
	if (!sport)
		sport = (uint16_t)(verbs->psn >> 16);
	verbs->psn &= 0xffffff;
	init.port_num = verbs->device.port;
	for (int i = 0; i < verbs->qps; i++) {
		verbs->flow_label[i] = label_of((uint16_t)(sport + i));
		if (modify(verbs, i, &init,
			   IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
			   "INIT", err))
			return -1;
	}
	return 0;
}

static int
check_opts(const struct bu_verbs_opts *opts, struct bu_err *err)
{
	if (opts->message_bytes < 64 || opts->message_bytes > BU_VERBS_MESSAGE_MAX ||
	    opts->message_bytes % 8)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "message_bytes %" PRIu32
				  ": a multiple of 8 from 64 to %d",
				  opts->message_bytes, BU_VERBS_MESSAGE_MAX);
	if (opts->qps < 1 || opts->qps > BU_QPS_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "queue pairs: 1 to %d are wanted", BU_QPS_MAX);
	if (opts->bytes == 0 || opts->bytes > INT64_MAX / 2)
		return bu_err_set(err, BU_ERR_INVAL, 0, "a run of %" PRIu64 " bytes",
				  opts->bytes);
	return 0;
}

struct bu_verbs *
bu_verbs_create(const struct bu_verbs_opts *opts, struct bu_err *err)
{
	struct bu_verbs *verbs;

	if (check_opts(opts, err))
		return NULL;
	verbs = bu_xcalloc(1, sizeof(*verbs));
	verbs->opts = *opts;
	verbs->root = bu_xstrdup(opts->root ? opts->root : "");
	verbs->message_bytes = opts->message_bytes;
	verbs->qps = opts->qps;
	verbs->batch = 1;
	verbs->cpu = -1;
	if (open_objects(verbs, err)) {
		bu_verbs_destroy(verbs);
		return NULL;
	}
	return verbs;
}

void
bu_verbs_describe(const struct bu_verbs *verbs, struct bu_pair_end *ret)
{
	static const enum bu_gid_type types[] = {
		[IBV_GID_TYPE_IB] = BU_GID_IB,
		[IBV_GID_TYPE_ROCE_V1] = BU_GID_ROCE_V1,
		[IBV_GID_TYPE_ROCE_V2] = BU_GID_ROCE_V2};
	const struct bu_device *device = &verbs->device;
	const struct bu_buffer *payload =
		verbs->send.size ? &verbs->send : &verbs->recv;

	snprintf(ret->device, sizeof(ret->device), "%s", device->name);
	inet_ntop(AF_INET6, device->gid.raw, ret->gid, sizeof(ret->gid));
	ret->gid_index = device->gid_index;
	ret->gid_type = device->gid_type < BU_LEN(types) ? types[device->gid_type]
							 : BU_GID_UNKNOWN;
	ret->infiniband = device->attr.link_layer == IBV_LINK_LAYER_INFINIBAND;
	ret->rate_gbps = bu_device_rate_gbps(device);
	ret->port = device->port;
	ret->mtu = bu_mtu_bytes(device->attr.active_mtu);
	ret->numa = bu_port_numa(verbs->root, device->name);
	ret->cpu = verbs->cpu;
	ret->memory = payload->memory;
	ret->memory_found = verbs->memory_found;
	ret->window_bytes = (int64_t)(verbs->slots * verbs->message_bytes);
}

/* Soft-RoCE: 0xc000 and 14 bits of the kernel's hash_32() of the own queue pair. */
static uint16_t
rxe_sport(uint32_t qpn)
{
	return (uint16_t)(0xc000 + ((qpn * UINT32_C(0x61c88647)) >> 18));
}

void
bu_verbs_paths(const struct bu_verbs *verbs, struct bu_pair_dir *ret)
{
	int rxe = bu_port_is_rxe(verbs->root, verbs->device.name);
	int ib = verbs->device.attr.link_layer == IBV_LINK_LAYER_INFINIBAND;

	ret->qps = verbs->qps;
	for (int i = 0; i < verbs->qps; i++) {
		uint32_t label = verbs->flow_label[i];

		ret->flow_label[i] = label;
		ret->sport[i] = ib    ? 0
				: rxe ? rxe_sport(verbs->qp[i]->qp_num)
				      : ibv_flow_label_to_udp_sport(label);
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
	ret->mtu = bu_mtu_bytes(verbs->device.attr.active_mtu);
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
		.ah_attr = {.is_global = 1,
			    .dlid = (uint16_t)peer->lid,
			    .port_num = verbs->device.port,
			    .grh = {.dgid = *gid,
				    .flow_label = verbs->flow_label[i],
				    .sgid_index = verbs->device.gid_index,
				    .hop_limit = HOPS}},
	};

	return modify(verbs, i, &attr,
		      IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		      "RTR", err);
}

static int
to_rts(struct bu_verbs *verbs, int i, int reads, struct bu_err *err)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .timeout = ACK_TIMEOUT,
				   .retry_cnt = RETRY_COUNT,
				   .rnr_retry = RNR_RETRY,
				   .sq_psn = verbs->psn,
				   .max_rd_atomic = (uint8_t)reads};

	return modify(verbs, i, &attr,
		      IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
		      "RTS", err);
}

static int
check_peer(const struct bu_verbs *verbs, const struct bu_verbs_peer *peer,
	   union ibv_gid *ret_gid, struct bu_err *err)
{
	if (inet_pton(AF_INET6, peer->gid, ret_gid->raw) != 1)
		return bu_err_set(err, BU_ERR_INVAL, 0, "peer's GID '%s' is none",
				  peer->gid);
	if (!verbs->opts.loopback &&
	    memcmp(ret_gid->raw, verbs->device.gid.raw, sizeof(ret_gid->raw)) == 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "both ends are the port %s: a loop proves no cable",
				  peer->gid);
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

int
bu_verbs_connect(struct bu_verbs *verbs, const struct bu_verbs_peer *peer, int *ret_mtu,
		 struct bu_err *err)
{
	int mtu = bu_mtu_bytes(verbs->device.attr.active_mtu);
	struct bu_verbs_peer local;
	union ibv_gid gid;

	if (check_peer(verbs, peer, &gid, err))
		return -1;
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
