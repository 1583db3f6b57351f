// SPDX-License-Identifier: Apache-2.0
/*
 * What one end of a probe's RDMA connection is made of: device, memory, queues; called
 * by pair_open.c. Invariant: whatever fails half-way, bu_verbs_destroy() leaves no
 * verbs object and no memory: a queue pair that is left behind retransmits for ever and
 * slows every later run.
 */
#include "fabric/measure/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/crypto.h"
#include "fabric/measure/port.h"
#include "fabric/measure/verbs_impl.h"

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
bu_verbs_disconnect(struct bu_verbs *verbs)
{
	for (int i = 0; i < verbs->qps; i++) {
		if (verbs->qp[i])
			ibv_destroy_qp(verbs->qp[i]);
		verbs->qp[i] = NULL;
	}
}

/* What another connection may share. */
static void
destroy_shared(struct bu_verbs *verbs)
{
	bu_buffer_destroy(&verbs->send);
	bu_buffer_destroy(&verbs->recv);
	if (verbs->pd)
		ibv_dealloc_pd(verbs->pd);
	if (verbs->device.context && !verbs->opts.opened)
		ibv_close_device(verbs->device.context);
	bu_cuda_close(verbs->cuda);
	if (verbs->cpu >= 0)
		sched_setaffinity(0, sizeof(verbs->before), &verbs->before);
}

void
bu_verbs_destroy(struct bu_verbs *verbs)
{
	if (!verbs)
		return;
	bu_verbs_disconnect(verbs);
	bu_buffer_destroy(&verbs->ping);
	if (verbs->cq)
		ibv_destroy_cq(verbs->cq);
	if (verbs->channel)
		ibv_destroy_comp_channel(verbs->channel);
	if (!verbs->opts.with)
		destroy_shared(verbs);
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
	}
	if (bu_buffer_create(&verbs->send, verbs->pd,
			     opts->roles & BU_VERBS_SOURCE ? size : 0, verbs->cuda,
			     err) ||
	    bu_buffer_create(&verbs->recv, verbs->pd,
			     opts->roles & BU_VERBS_SINK ? size : 0, verbs->cuda, err))
		return bu_err_wrap(err, "%s", verbs->device.name);
	verbs->memory_found = bu_buffer_prove(bu_verbs_window(verbs));
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
open_own(struct bu_verbs *verbs, struct bu_err *err)
{
	if (open_device(verbs, err))
		return -1;
	bind_cpu(verbs);
	plan_window(verbs);
	verbs->pd = ibv_alloc_pd(verbs->device.context);
	if (!verbs->pd)
		return bu_err_set(err, BU_ERR_IO, errno, "%s: protection domain",
				  verbs->device.name);
	return create_memory(verbs, err);
}

/* The other one moves its payload at another time, so that one window does for both. */
static void
share(struct bu_verbs *verbs, const struct bu_verbs *with)
{
	const struct bu_buffer *window = bu_verbs_window(with);

	verbs->device = with->device;
	verbs->pd = with->pd;
	verbs->cuda = with->cuda;
	verbs->cpu = with->cpu;
	verbs->depth = with->depth;
	verbs->batch = with->batch;
	verbs->slots = with->slots;
	verbs->memory_found = with->memory_found;
	if (verbs->opts.roles & BU_VERBS_SOURCE)
		verbs->send = *window;
	else
		verbs->recv = *window;
}

static int
open_objects(struct bu_verbs *verbs, struct bu_err *err)
{
	const struct bu_verbs_opts *opts = &verbs->opts;
	uint16_t sport = (uint16_t)opts->sport;

	if (opts->with)
		share(verbs, opts->with);
	else if (open_own(verbs, err))
		return -1;
	if (opts->gpu >= 0)
		verbs->bounce = bu_xcalloc(1, verbs->message_bytes);
	if (bu_buffer_create(&verbs->ping, verbs->pd, PING_BYTES, NULL, err))
		return bu_err_wrap(err, "%s", verbs->device.name);
	if (create_queues(verbs, err))
		return -1;
	bu_random(&verbs->psn, sizeof(verbs->psn));
	if (!sport)
		sport = (uint16_t)(verbs->psn >> 16);
	verbs->psn &= 0xffffff;
	for (int i = 0; i < verbs->qps; i++)
		verbs->flow_label[i] = label_of((uint16_t)(sport + i));
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
