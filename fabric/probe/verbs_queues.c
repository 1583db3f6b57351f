/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queues of one end of a probe's RDMA connection. Called by verbs.c. Invariant:
 * each queue pair serves one probe, and no completion of a probe shows up in the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/crypto.h"
#include "fabric/probe/verbs_impl.h"

enum { RECEIVES_MAX = 256, INLINE_BYTES = 64, LABEL_MASK = 0xfffff };

/* Receives posted ahead, each in its own slot: a late receiver stops no sender. */
static int
receives_of(const struct bu_verbs *verbs, int roles)
{
	const struct ibv_device_attr *limits = &verbs->device.limits;
	uint64_t most = verbs->slots / (uint64_t)verbs->qps;
	int queue = limits->max_qp_wr - 1;
	int share = (limits->max_cqe - 2 * PING_WINDOW) / verbs->qps - verbs->depth;

	if (queue > RECEIVES_MAX)
		queue = RECEIVES_MAX;
	if (queue > share)
		queue = share;
	if (verbs->opts.op == BU_OP_SEND && roles & BU_VERBS_SINK)
		return most < (uint64_t)queue ? (int)most : queue;
	return verbs->opts.lat_op == BU_OP_SEND ? PING_RECVS / 2 : 0;
}

static int
create_qp(struct bu_verbs *verbs, int i, struct bu_err *err)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = verbs->cq, .recv_cq = verbs->cq};

	init.cap.max_send_wr = (uint32_t)verbs->depth + PING_WINDOW;
	init.cap.max_recv_wr = (uint32_t)verbs->receives + 1;
	init.cap.max_send_sge = init.cap.max_recv_sge = 1;
	init.cap.max_inline_data = INLINE_BYTES;
	verbs->qp[i] = ibv_create_qp(verbs->pd, &init);
	if (!verbs->qp[i]) {
		init.cap.max_inline_data = 0; /* some adapters cannot inline */
		verbs->qp[i] = ibv_create_qp(verbs->pd, &init);
	}
	verbs->inline_bytes = init.cap.max_inline_data;
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

int
bu_verbs_create_cq(struct bu_verbs *verbs, struct bu_err *err)
{
	/* room for either role: the queue may be kept */
	int receives = receives_of(verbs, BU_VERBS_SINK);
	int entries = verbs->qps * (verbs->depth + receives) + 2 * PING_WINDOW;

	verbs->channel = ibv_create_comp_channel(verbs->device.context);
	if (!verbs->channel)
		return bu_err_set(err, BU_ERR_IO, errno, "%s: completion channel",
				  verbs->device.name);
	/* ibv_get_cq_event() would block for ever on a lost peer. */
	if (set_nonblocking(verbs, verbs->channel->fd, err) ||
	    set_nonblocking(verbs, verbs->device.context->async_fd, err))
		return -1;
	verbs->cq =
		ibv_create_cq(verbs->device.context, entries, NULL, verbs->channel, 0);
	if (!verbs->cq)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "%s: completion queue of %d entries",
				  verbs->device.name, entries);
	return 0;
}

/* Flow label that gives this source port, where the adapter derives one from the other
 * (ibv_flow_label_to_udp_sport()): its low 14 bits are the port's. */
static uint32_t
label_of(uint16_t sport)
{
	uint32_t low = sport & 0x3fff;

	return low ? low : 1 << 14 | 1; /* 0 means no label */
}

int
bu_verbs_create_qps(struct bu_verbs *verbs, struct bu_err *err)
{
	uint16_t sport = (uint16_t)verbs->opts.sport;
	int given = verbs->opts.rail.flow_label;

	verbs->receives = receives_of(verbs, verbs->opts.roles);
	bu_random(&verbs->psn, sizeof(verbs->psn));
	if (!sport)
		sport = (uint16_t)(verbs->psn >> 16);
	verbs->psn &= 0xffffff;
	for (int i = 0; i < verbs->qps; i++) {
		verbs->flow_label[i] = given < 0 ? label_of((uint16_t)(sport + i))
						 : (uint32_t)(given + i) & LABEL_MASK;
		if (create_qp(verbs, i, err))
			return -1;
	}
	return 0;
}

void
bu_verbs_disconnect(struct bu_verbs *verbs)
{
	for (int i = 0; i < verbs->qps; i++) {
		if (verbs->qp[i])
			ibv_destroy_qp(verbs->qp[i]);
		verbs->qp[i] = NULL;
	}
}

void
bu_verbs_forget(struct bu_verbs *verbs)
{
	struct ibv_async_event event;
	struct ibv_wc wc;

	while (ibv_poll_cq(verbs->cq, 1, &wc) > 0)
		;
	while (ibv_get_async_event(verbs->device.context, &event) == 0)
		ibv_ack_async_event(&event);
	memset(&verbs->peer, 0, sizeof(verbs->peer));
	memset(verbs->taken, 0, sizeof(verbs->taken));
	memset(verbs->ping.host, 0, PING_BYTES);
	verbs->pending = 0;
	verbs->pinged = 0;
	verbs->slots = verbs->own_slots;
}
