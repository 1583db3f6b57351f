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
#include "base/json.h"
#include "fabric/measure/verbs_impl.h"

/* timeout: 4.096 us * 2^18 = 1.07 s before a retransmit, because a window of 4 x 64 KiB
 * alone takes 0.42 s on a link of 5 Mbit/s. retry_cnt: 7 would be infinite on rxe. */
enum {
	ACK_TIMEOUT = 18,
	RETRY_COUNT = 6,
	RNR_RETRY = 6,
	MIN_RNR_TIMER = 12,
	HOPS = 64
};

static size_t
region_bytes(const struct bu_verbs *verbs)
{
	return HEAD_BYTES + 2 * (size_t)SLOTS * verbs->message_bytes;
}

void
bu_verbs_destroy(struct bu_verbs *verbs)
{
	if (!verbs)
		return;
	if (verbs->qp)
		ibv_destroy_qp(verbs->qp);
	if (verbs->mr)
		ibv_dereg_mr(verbs->mr);
	if (verbs->cq)
		ibv_destroy_cq(verbs->cq);
	if (verbs->channel)
		ibv_destroy_comp_channel(verbs->channel);
	if (verbs->pd)
		ibv_dealloc_pd(verbs->pd);
	if (verbs->device.context)
		ibv_close_device(verbs->device.context);
	free(verbs->memory);
	free(verbs);
}

static int
create_memory(struct bu_verbs *verbs, struct bu_err *err)
{
	size_t size = region_bytes(verbs);
	void *memory = NULL;

	if (posix_memalign(&memory, HEAD_BYTES, size))
		return bu_err_set(err, BU_ERR_IO, ENOMEM, "probe buffer of %zu bytes",
				  size);
	memset(memory, 0, size);
	verbs->memory = memory;
	verbs->mr = ibv_reg_mr(verbs->pd, memory, size,
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!verbs->mr)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "%s: register %zu bytes (memlock limit?)",
				  verbs->device.name, size);
	return 0;
}

static int
create_queues(struct bu_verbs *verbs, struct bu_err *err)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC};
	int flags;

	verbs->channel = ibv_create_comp_channel(verbs->device.context);
	if (!verbs->channel)
		return bu_err_set(err, BU_ERR_IO, errno, "%s: completion channel",
				  verbs->device.name);
	/* ibv_get_cq_event() would block for ever on a lost peer. */
	flags = fcntl(verbs->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(verbs->channel->fd, F_SETFL, flags | O_NONBLOCK))
		return bu_err_set(err, BU_ERR_IO, errno, "%s: completion channel",
				  verbs->device.name);
	verbs->cq = ibv_create_cq(verbs->device.context, 2 * BU_VERBS_WINDOW, NULL,
				  verbs->channel, 0);
	if (!verbs->cq)
		return bu_err_set(err, BU_ERR_IO, errno, "%s: completion queue",
				  verbs->device.name);
	init.send_cq = init.recv_cq = verbs->cq;
	init.cap.max_send_wr = 2 * BU_VERBS_WINDOW;
	init.cap.max_recv_wr = 1;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	verbs->qp = ibv_create_qp(verbs->pd, &init);
	if (!verbs->qp)
		return bu_err_set(err, BU_ERR_IO, errno, "%s: queue pair",
				  verbs->device.name);
	return 0;
}

static int
modify(struct bu_verbs *verbs, struct ibv_qp_attr *attr, int mask, const char *state,
       struct bu_err *err)
{
	int rc = ibv_modify_qp(verbs->qp, attr, IBV_QP_STATE | mask);

	if (rc)
		return bu_err_set(err, BU_ERR_IO, rc, "%s: queue pair to %s",
				  verbs->device.name, state);
	return 0;
}

static int
open_objects(struct bu_verbs *verbs, const struct bu_verbs_opts *opts,
	     struct bu_err *err)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

	if (bu_device_open(opts->device, opts->local_ip, &verbs->device, err))
		return -1;
	verbs->pd = ibv_alloc_pd(verbs->device.context);
	if (!verbs->pd)
		return bu_err_set(err, BU_ERR_IO, errno, "%s: protection domain",
				  verbs->device.name);
	if (create_memory(verbs, err) || create_queues(verbs, err))
		return -1;
	bu_random(&verbs->psn, sizeof(verbs->psn));
	verbs->psn &= 0xffffff;
	init.port_num = verbs->device.port;
	return modify(verbs, &init,
		      IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT",
		      err);
}

struct bu_verbs *
bu_verbs_create(const struct bu_verbs_opts *opts, struct bu_err *err)
{
	struct bu_verbs *verbs;

	if (opts->message_bytes < 64 || opts->message_bytes > BU_VERBS_MESSAGE_MAX ||
	    opts->message_bytes % 8) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "message_bytes %" PRIu32 ": a multiple of 8 from 64 to %d",
			   opts->message_bytes, BU_VERBS_MESSAGE_MAX);
		return NULL;
	}
	verbs = bu_xcalloc(1, sizeof(*verbs));
	verbs->message_bytes = opts->message_bytes;
	if (open_objects(verbs, opts, err)) {
		bu_verbs_destroy(verbs);
		return NULL;
	}
	return verbs;
}

void
bu_verbs_describe(const struct bu_verbs *verbs, struct bu_pair_end *ret)
{
	const struct bu_device *device = &verbs->device;

	snprintf(ret->device, sizeof(ret->device), "%s", device->name);
	inet_ntop(AF_INET6, device->gid.raw, ret->gid, sizeof(ret->gid));
	ret->gid_index = device->gid_index;
	ret->port = device->port;
	ret->mtu = bu_mtu_bytes(device->attr.active_mtu);
}

void
bu_verbs_local(const struct bu_verbs *verbs, struct bu_verbs_peer *ret)
{
	memset(ret, 0, sizeof(*ret));
	inet_ntop(AF_INET6, verbs->device.gid.raw, ret->gid, sizeof(ret->gid));
	ret->lid = verbs->device.attr.lid;
	ret->mtu = bu_mtu_bytes(verbs->device.attr.active_mtu);
	ret->qpn = verbs->qp->qp_num;
	ret->psn = verbs->psn;
	ret->rkey = verbs->mr->rkey;
	ret->addr = (uintptr_t)verbs->memory;
}

static int
to_rtr(struct bu_verbs *verbs, const struct bu_verbs_peer *peer,
       const union ibv_gid *gid, int mtu, struct bu_err *err)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = bu_mtu_enum(mtu),
		.dest_qp_num = peer->qpn,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = MIN_RNR_TIMER,
		.ah_attr = {.is_global = 1,
			    .dlid = (uint16_t)peer->lid,
			    .port_num = verbs->device.port,
			    .grh = {.dgid = *gid,
				    .sgid_index = verbs->device.gid_index,
				    .hop_limit = HOPS}},
	};

	return modify(verbs, &attr,
		      IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
		      "RTR", err);
}

int
bu_verbs_connect(struct bu_verbs *verbs, const struct bu_verbs_peer *peer, int *ret_mtu,
		 struct bu_err *err)
{
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .timeout = ACK_TIMEOUT,
				  .retry_cnt = RETRY_COUNT,
				  .rnr_retry = RNR_RETRY,
				  .sq_psn = verbs->psn,
				  .max_rd_atomic = 1};
	int mtu = bu_mtu_bytes(verbs->device.attr.active_mtu);
	union ibv_gid gid;

	if (inet_pton(AF_INET6, peer->gid, gid.raw) != 1)
		return bu_err_set(err, BU_ERR_INVAL, 0, "peer's GID '%s' is none",
				  peer->gid);
	if (memcmp(gid.raw, verbs->device.gid.raw, sizeof(gid.raw)) == 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "both ends are the port %s: a loop proves no cable",
				  peer->gid);
	if (peer->mtu < mtu)
		mtu = peer->mtu;
	if (to_rtr(verbs, peer, &gid, mtu, err) ||
	    modify(verbs, &rts,
		   IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
		   "RTS", err))
		return -1;
	verbs->peer_addr = peer->addr;
	verbs->peer_rkey = peer->rkey;
	*ret_mtu = mtu;
	return 0;
}

json_t *
bu_verbs_peer_to_json(const struct bu_verbs_peer *peer)
{
	char addr[24];

	/* JSON integers are signed: an address may not fit. */
	snprintf(addr, sizeof(addr), "%" PRIx64, peer->addr);
	return json_pack("{s:s, s:i, s:i, s:I, s:I, s:I, s:s}", "gid", peer->gid, "lid",
			 peer->lid, "mtu", peer->mtu, "qpn", (json_int_t)peer->qpn,
			 "psn", (json_int_t)peer->psn, "rkey", (json_int_t)peer->rkey,
			 "addr", addr);
}

static int
get_number(const json_t *object, const char *key, int64_t max, int64_t *ret,
	   struct bu_err *err)
{
	if (bu_json_get_int(object, key, ret, err))
		return -1;
	if (*ret < 0 || *ret > max)
		return bu_err_set(err, BU_ERR_INVAL, 0, "field '%s': 0 to %" PRId64,
				  key, max);
	return 0;
}

int
bu_verbs_peer_from_json(const json_t *value, struct bu_verbs_peer *ret,
			struct bu_err *err)
{
	struct bu_verbs_peer peer = {0};
	int64_t lid, mtu, qpn, psn, rkey;
	char addr[24], *end;

	if (bu_json_copy_str(value, "gid", peer.gid, sizeof(peer.gid), err) ||
	    bu_json_copy_str(value, "addr", addr, sizeof(addr), err) ||
	    get_number(value, "lid", UINT16_MAX, &lid, err) ||
	    get_number(value, "mtu", 4096, &mtu, err) ||
	    get_number(value, "qpn", 0xffffff, &qpn, err) ||
	    get_number(value, "psn", 0xffffff, &psn, err) ||
	    get_number(value, "rkey", UINT32_MAX, &rkey, err))
		return bu_err_wrap(err, "peer's queue pair");
	if (bu_mtu_enum((int)mtu) == 0)
		return bu_err_set(err, BU_ERR_INVAL, 0, "peer's queue pair: MTU %d",
				  (int)mtu);
	errno = 0;
	peer.addr = strtoull(addr, &end, 16);
	if (errno || end == addr || *end)
		return bu_err_set(err, BU_ERR_INVAL, 0, "peer's queue pair: addr '%s'",
				  addr);
	peer.lid = (int)lid;
	peer.mtu = (int)mtu;
	peer.qpn = (uint32_t)qpn;
	peer.psn = (uint32_t)psn;
	peer.rkey = (uint32_t)rkey;
	*ret = peer;
	return 0;
}
