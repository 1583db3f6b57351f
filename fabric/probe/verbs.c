/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens device, memory and queues of one end of a probe's RDMA connection. Called by
 * pair_open.c. Invariant: after any failure bu_verbs_destroy() frees every verbs object
 * and all memory: a forgotten queue pair retransmits for ever and slows every later
 * run.
 */
#include "fabric/probe/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/crypto.h"
#include "fabric/probe/port.h"
#include "fabric/probe/verbs_impl.h"

/* 2 MiB under way fill 400 Gbit/s for 42 us; at most an eighth of a run is under
 * way. */
enum { DEPTH_BYTES = 2 * 1024 * 1024, DEPTH_MAX = 128, BATCH_BELOW = 8192, BATCH = 8 };
static const uint64_t cache_unknown = 64 * 1024 * 1024, window_max = UINT64_C(1) << 32;

/* Binds the thread before memory is allocated, so that it comes from the adapter's
 * node. A loopback has a thread for each end: both may use the whole node. */
static void
bind_cpu(struct bu_verbs *verbs)
{
	int loop = verbs->opts.loopback;
	int cpu = loop ? -1 : bu_port_cpu(verbs->root, verbs->device.name);
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	if (loop)
		bu_port_cpus(verbs->root, verbs->device.name, &cpus);
	else if (cpu >= 0)
		CPU_SET((size_t)cpu, &cpus);
	if (!CPU_COUNT(&cpus) ||
	    sched_getaffinity(0, sizeof(verbs->before), &verbs->before))
		return;
	verbs->bound = sched_setaffinity(0, sizeof(cpus), &cpus) == 0;
	verbs->cpu = verbs->bound ? cpu : -1;
}

static void
unbind_cpu(struct bu_verbs *verbs)
{
	if (verbs->bound)
		sched_setaffinity(0, sizeof(verbs->before), &verbs->before);
	verbs->bound = 0;
	verbs->cpu = -1;
}

/* Frees the objects that another connection may share. */
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
	unbind_cpu(verbs);
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

/* Counted from the options alone: an adapter's limit at one end must not change the
 * count of messages. */
static void
plan_warm(struct bu_verbs *verbs)
{
	uint64_t qps = (uint64_t)verbs->qps, message = verbs->message_bytes;
	uint64_t warm = (verbs->opts.warm_bytes + message - 1) / message;

	if (warm < qps * (uint64_t)verbs->depth)
		warm = qps * (uint64_t)verbs->depth;
	verbs->warm = (warm + qps - 1) / qps * qps;
}

/* Limits depth and batch to the adapter's queues. */
static void
keep_to_limits(struct bu_verbs *verbs)
{
	const struct ibv_device_attr *limits = &verbs->device.limits;
	int most = limits->max_qp_wr - PING_WINDOW;
	int share = (limits->max_cqe - 2 * PING_WINDOW) / verbs->qps / 2;

	if (verbs->depth > most)
		verbs->depth = most;
	if (verbs->depth > share)
		verbs->depth = share;
	if (verbs->depth < 2)
		verbs->depth = 2;
	if (verbs->batch > verbs->depth / 2)
		verbs->batch = verbs->depth / 2;
}

/* Plans the messages under way and the memory that they rotate over. */
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
	if (opts->depth) {
		verbs->depth = opts->depth;
		verbs->batch = opts->depth / 8 > BATCH ? BATCH : opts->depth / 8;
	}
	if (verbs->batch < 1)
		verbs->batch = 1;
	plan_warm(verbs);
	least = 2 * qps * (uint64_t)verbs->depth;
	if (window == 0) {
		uint64_t cache = (uint64_t)bu_port_cache_bytes(verbs->root);
		uint64_t memory = (uint64_t)bu_port_memory_bytes(verbs->root) / 16;
		uint64_t all = (uint64_t)opts->runs * (timed + verbs->warm) * message;

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
	keep_to_limits(verbs);
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
open_device(struct bu_verbs *verbs, struct bu_err *err)
{
	const struct bu_verbs_opts *opts = &verbs->opts;

	if (!opts->opened)
		return bu_device_open(&opts->rail, verbs->root, &verbs->device, err);
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

/* Sets the window as outgoing or incoming; with both roles each has its own. */
static void
take_role(struct bu_verbs *verbs, struct bu_buffer window)
{
	static const struct bu_buffer none;
	int source = verbs->opts.roles & BU_VERBS_SOURCE;

	if (verbs->opts.roles == (BU_VERBS_SOURCE | BU_VERBS_SINK))
		return;
	verbs->send = source ? window : none;
	verbs->recv = source ? none : window;
}

static void
share(struct bu_verbs *verbs, const struct bu_verbs *with)
{
	verbs->device = with->device;
	verbs->pd = with->pd;
	verbs->cuda = with->cuda;
	verbs->cpu = with->cpu;
	verbs->depth = with->depth;
	verbs->batch = with->batch;
	verbs->warm = with->warm;
	verbs->slots = with->own_slots;
	verbs->memory_found = with->memory_found;
	take_role(verbs, *bu_verbs_window(with));
}

static int
open_objects(struct bu_verbs *verbs, struct bu_err *err)
{
	const struct bu_verbs_opts *opts = &verbs->opts;

	if (opts->with)
		share(verbs, opts->with);
	else if (open_own(verbs, err))
		return -1;
	verbs->own_slots = verbs->slots;
	if (opts->gpu >= 0)
		verbs->bounce = bu_xcalloc(1, verbs->message_bytes);
	if (bu_buffer_create(&verbs->ping, verbs->pd, PING_BYTES, NULL, err))
		return bu_err_wrap(err, "%s", verbs->device.name);
	return bu_verbs_create_cq(verbs, err) || bu_verbs_create_qps(verbs, err) ? -1
										 : 0;
}

void
bu_verbs_rest(struct bu_verbs *verbs)
{
	bu_verbs_disconnect(verbs);
	if (!verbs->opts.with)
		unbind_cpu(verbs);
}

int
bu_verbs_renew(struct bu_verbs *verbs, const struct bu_verbs_opts *opts,
	       struct bu_err *err)
{
	const struct bu_buffer window = *bu_verbs_window(verbs);

	verbs->opts = *opts;
	if (opts->with) {
		share(verbs, opts->with);
	} else {
		if (bu_device_refresh(&verbs->device, err))
			return -1;
		bind_cpu(verbs);
		take_role(verbs, window);
	}
	bu_verbs_forget(verbs);
	return bu_verbs_create_qps(verbs, err);
}

static int
check_opts(const struct bu_verbs_opts *opts, struct bu_err *err)
{
	if (opts->message_bytes < 64 || opts->message_bytes > BU_PAIR_MESSAGE_MAX ||
	    opts->message_bytes % 8)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "message_bytes %" PRIu32
				  ": a multiple of 8 from 64 to %d",
				  opts->message_bytes, BU_PAIR_MESSAGE_MAX);
	if (opts->qps < 1 || opts->qps > BU_QPS_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0, "queue pairs: expected 1 to %d",
				  BU_QPS_MAX);
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
