/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timed part of a probe: runs of writes, reads and sends. Called by pair_phase.c.
 * Invariant: no wait is longer than its deadline, whatever adapter and peer do. Only
 * acknowledged payload is timed, never posted payload.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>

#include "base/clock.h"
#include "fabric/probe/verbs_impl.h"

/* SPINS: empty polls before a thread with a CPU of its own sleeps. */
enum { REAPED = 16, BATCH_MAX = 16, SPINS = 4096 };

/* The state of one run. Message first + q + k * qps is the k-th of queue pair q. */
struct flow {
	struct bu_verbs *verbs;
	struct bu_verbs_run *run;
	uint64_t first, each; /* messages per queue pair */
	uint64_t posted[BU_QPS_MAX], acked[BU_QPS_MAX];
	uint64_t to_ack, all_acked, to_take, all_taken;
	uint64_t warm, timed_from; /* messages before the clock starts; message at which
				      it did */
	int64_t start_ns;
};

static const char *const what_names[] = {[BU_OP_WRITE] = "RDMA write",
					 [BU_OP_READ] = "RDMA read",
					 [BU_OP_SEND] = "RDMA send"};

int
bu_verbs_failed(struct bu_verbs *verbs, struct bu_err *err)
{
	struct ibv_async_event event;
	struct ibv_port_attr attr;
	int gone = 0, down = 0;

	while (ibv_get_async_event(verbs->device.context, &event) == 0) {
		gone |= event.event_type == IBV_EVENT_DEVICE_FATAL;
		down |= event.event_type == IBV_EVENT_PORT_ERR &&
			event.element.port_num == verbs->device.port;
		ibv_ack_async_event(&event);
	}
	if (gone ||
	    ibv_query_port(verbs->device.context, verbs->device.port, &attr) != 0)
		return bu_err_set(err, BU_ERR_IO, 0,
				  "RDMA device %s vanished in the middle of the probe",
				  verbs->device.name);
	if (down || attr.state != IBV_PORT_ACTIVE)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "RDMA device %s: port %d went down in the middle of "
				  "the probe",
				  verbs->device.name, verbs->device.port);
	return -1;
}

static int
completion_failed(struct bu_verbs *verbs, const struct ibv_wc *wc, const char *what,
		  struct bu_err *err)
{
	if (wc->status == IBV_WC_RETRY_EXC_ERR)
		bu_err_set(err, BU_ERR_REMOTE, 0,
			   "%s %" PRIu64 ": lost, no acknowledgement after all "
			   "retries: link, cable or switch",
			   what, wc->wr_id & ~wr_receive);
	else
		bu_err_set(err, BU_ERR_IO, 0, "%s %" PRIu64 ": %s", what,
			   wc->wr_id & ~wr_receive, ibv_wc_status_str(wc->status));
	return bu_verbs_failed(verbs, err);
}

int
bu_verbs_reap(struct bu_verbs *verbs, struct ibv_wc *ret, int count, const char *what,
	      struct bu_err *err)
{
	int got = ibv_poll_cq(verbs->cq, count, ret);

	if (got < 0) {
		bu_err_set(err, BU_ERR_IO, 0, "%s: poll completion queue",
			   verbs->device.name);
		return bu_verbs_failed(verbs, err);
	}
	for (int i = 0; i < got; i++) {
		if (ret[i].status != IBV_WC_SUCCESS)
			return completion_failed(verbs, &ret[i], what, err);
	}
	return got;
}

int
bu_verbs_idle(struct bu_verbs *verbs, struct bu_wait *wait, const char *what,
	      struct bu_err *err)
{
	struct pollfd fds[2] = {
		{.fd = verbs->channel->fd, .events = POLLIN},
		{.fd = verbs->device.context->async_fd, .events = POLLIN}};
	struct ibv_cq *cq;
	void *context;
	int rc;

	if (bu_wait_check(wait, what, err))
		return bu_verbs_failed(verbs, err);
	if (!verbs->armed) {
		rc = ibv_req_notify_cq(verbs->cq, 0);
		if (rc) {
			bu_err_set(err, BU_ERR_IO, rc, "%s: arm completion queue",
				   verbs->device.name);
			return bu_verbs_failed(verbs, err);
		}
		verbs->armed = 1;
		return 0; /* a completion may have come in between */
	}
	if (poll(fds, 2, BU_WAIT_SLICE_MS) < 0 && errno != EINTR)
		return bu_err_set(err, BU_ERR_IO, errno, "%s: wait for a completion",
				  verbs->device.name);
	if (fds[1].revents) {
		struct bu_err failure = {.kind = BU_ERR_NONE};

		bu_verbs_failed(verbs, &failure);
		if (failure.kind != BU_ERR_NONE)
			return bu_err_set(err, failure.kind, 0, "%s", failure.text);
	}
	if ((fds[0].revents & POLLIN) &&
	    ibv_get_cq_event(verbs->channel, &cq, &context) == 0) {
		ibv_ack_cq_events(cq, 1);
		verbs->armed = 0;
	}
	return 0;
}

int
bu_verbs_receive(struct bu_verbs *verbs, int qp, struct bu_err *err)
{
	uint64_t k = verbs->taken[qp];
	struct ibv_sge sge = {.length = verbs->message_bytes};
	struct ibv_recv_wr wr = {
		.wr_id = wr_receive | (uint64_t)qp, .sg_list = &sge, .num_sge = 1};
	struct ibv_recv_wr *bad;
	int rc;

	if (verbs->opts.op == BU_OP_SEND && verbs->recv.mr) {
		sge.addr =
			verbs->recv.addr +
			bu_verbs_slot(verbs, (uint64_t)qp + k * (uint64_t)verbs->qps);
		sge.lkey = verbs->recv.mr->lkey;
	} else {
		sge.addr = verbs->ping.addr + PING_RING + k % PING_RECVS * 64;
		sge.lkey = verbs->ping.mr->lkey;
		sge.length = 64;
	}
	rc = ibv_post_recv(verbs->qp[qp], &wr, &bad);
	if (rc) {
		bu_err_set(err, BU_ERR_IO, rc, "%s: post receive", verbs->device.name);
		return bu_verbs_failed(verbs, err);
	}
	verbs->taken[qp]++;
	return 0;
}

static void
fill_request(struct flow *flow, int qp, uint64_t k, struct ibv_send_wr *wr,
	     struct ibv_sge *sge)
{
	static const enum ibv_wr_opcode opcodes[] = {[BU_OP_WRITE] = IBV_WR_RDMA_WRITE,
						     [BU_OP_READ] = IBV_WR_RDMA_READ,
						     [BU_OP_SEND] = IBV_WR_SEND};
	struct bu_verbs *verbs = flow->verbs;
	int reads = verbs->opts.op == BU_OP_READ;
	uint64_t message = flow->first + (uint64_t)qp + k * (uint64_t)verbs->qps;
	size_t slot = bu_verbs_slot(verbs, message);
	const struct bu_buffer *buffer = reads ? &verbs->recv : &verbs->send;
	const struct bu_verbs_memory *there =
		reads ? &verbs->peer.send : &verbs->peer.recv;

	if (reads)
		bu_verbs_spoil_edges(verbs, message);
	else
		bu_verbs_stamp_edges(verbs, flow->run->stamp, message);
	*sge = (struct ibv_sge){.addr = buffer->addr + slot,
				.length = verbs->message_bytes,
				.lkey = buffer->mr->lkey};
	*wr = (struct ibv_send_wr){
		.wr_id = message,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = opcodes[verbs->opts.op],
		.send_flags = bu_verbs_inlines(verbs) ? IBV_SEND_INLINE : 0};
	if (verbs->opts.op != BU_OP_SEND) {
		wr->wr.rdma.remote_addr = there->addr + slot;
		wr->wr.rdma.rkey = there->rkey;
	}
}

/* Posts as many as there is room for, by batches: one doorbell, one completion each. */
static int
post(struct flow *flow, int qp, struct bu_err *err)
{
	struct bu_verbs *verbs = flow->verbs;
	struct ibv_send_wr wrs[BATCH_MAX], *bad;
	struct ibv_sge sges[BATCH_MAX];

	while (flow->posted[qp] < flow->each) {
		uint64_t left = flow->each - flow->posted[qp];
		uint64_t room =
			(uint64_t)verbs->depth - (flow->posted[qp] - flow->acked[qp]);
		int count = left < (uint64_t)verbs->batch ? (int)left : verbs->batch;
		int rc;

		if (room < (uint64_t)count)
			return 0;
		for (int i = 0; i < count; i++) {
			fill_request(flow, qp, flow->posted[qp] + (uint64_t)i, &wrs[i],
				     &sges[i]);
			wrs[i].next = i + 1 < count ? &wrs[i + 1] : NULL;
		}
		wrs[count - 1].send_flags |= IBV_SEND_SIGNALED;
		rc = ibv_post_send(verbs->qp[qp], wrs, &bad);
		if (rc) {
			bu_err_set(err, BU_ERR_IO, rc, "%s: post %s",
				   verbs->device.name, what_names[verbs->opts.op]);
			return bu_verbs_failed(verbs, err);
		}
		flow->posted[qp] += (uint64_t)count;
	}
	return 0;
}

static int
completed(struct flow *flow, const struct ibv_wc *wc, struct bu_err *err)
{
	struct bu_verbs *verbs = flow->verbs;
	uint64_t qps = (uint64_t)verbs->qps, number, acked;
	int qp;

	if (wc->wr_id & wr_receive) {
		flow->all_taken++;
		return bu_verbs_receive(verbs, (int)(wc->wr_id & ~wr_receive), err);
	}
	number = wc->wr_id - flow->first;
	qp = (int)(number % qps);
	acked = number / qps + 1;
	flow->all_acked += acked - flow->acked[qp];
	flow->acked[qp] = acked;
	if (!flow->start_ns && flow->all_acked >= flow->warm) {
		flow->start_ns = bu_raw_ns();
		flow->timed_from = flow->all_acked;
	}
	return 0;
}

static int
work(struct flow *flow, struct bu_wait *wait, struct bu_err *err)
{
	struct bu_verbs *verbs = flow->verbs;
	const char *what = what_names[verbs->opts.op];
	struct ibv_wc wcs[REAPED];
	int empty = 0;

	while (flow->all_acked < flow->to_ack || flow->all_taken < flow->to_take) {
		int count;

		for (int qp = 0; flow->to_ack && qp < verbs->qps; qp++) {
			if (post(flow, qp, err))
				return -1;
		}
		count = bu_verbs_reap(verbs, wcs, REAPED, what, err);
		if (count < 0)
			return -1;
		for (int i = 0; i < count; i++) {
			if (completed(flow, &wcs[i], err))
				return -1;
		}
		empty = count > 0 ? 0 : empty + 1;
		if (empty > (verbs->cpu >= 0 ? SPINS : 0) &&
		    bu_verbs_idle(verbs, wait, what, err))
			return -1;
	}
	return 0;
}

int
bu_verbs_run(struct bu_verbs *verbs, struct bu_verbs_run *run, struct bu_wait *wait,
	     struct bu_err *err)
{
	uint64_t total = bu_verbs_messages(verbs);
	struct flow flow = {
		.verbs = verbs,
		.run = run,
		.first = bu_verbs_first(verbs, run),
		.each = total / (uint64_t)verbs->qps,
		.to_ack = run->posts ? total : 0,
		.to_take = run->takes ? total : 0,
		.warm = verbs->warm,
	};

	if (work(&flow, wait, err))
		return -1;
	if (!run->posts)
		return 0;
	run->ret_bytes = total * verbs->message_bytes;
	run->ret_gbps = (double)(total - flow.timed_from) * verbs->message_bytes * 8 /
			(double)(bu_raw_ns() - flow.start_ns);
	return 0;
}
