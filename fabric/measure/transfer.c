// SPDX-License-Identifier: Apache-2.0
/*
 * The timed part of a probe: write runs, their check, the ping-pong; called by pair.c.
 * Invariant: no wait is longer than its deadline, whatever the adapter or the peer
 * does, and what is timed is acknowledged payload, never what was only posted.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "fabric/measure/verbs_impl.h"

enum { WARM_PINGS = 10, SPINS_QUIET = 1024 };

/* The payload: a word for each place of the region, another one for each run
 * (the finaliser of splitmix64). */
static uint64_t
pattern(uint64_t stamp, uint64_t offset)
{
	uint64_t x = stamp + (offset / 8 + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static size_t
receive_offset(const struct bu_verbs *verbs, uint64_t message)
{
	return HEAD_BYTES + (size_t)(message % SLOTS) * verbs->message_bytes;
}

static size_t
send_offset(const struct bu_verbs *verbs, uint64_t message)
{
	return receive_offset(verbs, message) + (size_t)SLOTS * verbs->message_bytes;
}

/* First and last word carry the message's number too, so that a pass that never arrived
 * is not taken for the one before it. */
static uint64_t
wanted_word(const struct bu_verbs *verbs, uint64_t stamp, uint64_t message,
	    size_t offset)
{
	uint64_t place = (message % SLOTS) * verbs->message_bytes + offset;
	int edge = offset == 0 || offset + 8 == verbs->message_bytes;

	return pattern(stamp, place) + (edge ? message + 1 : 0);
}

static void
stamp_edges(struct bu_verbs *verbs, uint64_t stamp, uint64_t message)
{
	uint8_t *slot = verbs->memory + send_offset(verbs, message);
	size_t last = verbs->message_bytes - 8;
	uint64_t word = wanted_word(verbs, stamp, message, 0);

	memcpy(slot, &word, 8);
	word = wanted_word(verbs, stamp, message, last);
	memcpy(slot + last, &word, 8);
}

static void
stamp_all(struct bu_verbs *verbs, uint64_t stamp)
{
	for (uint64_t message = 0; message < SLOTS; message++) {
		uint8_t *slot = verbs->memory + send_offset(verbs, message);

		for (size_t at = 0; at < verbs->message_bytes; at += 8) {
			uint64_t word = wanted_word(verbs, stamp, message, at);

			memcpy(slot + at, &word, 8);
		}
	}
}

static int
post_write(struct bu_verbs *verbs, size_t from, size_t to, uint32_t size, uint64_t id,
	   struct bu_err *err)
{
	struct ibv_sge sge = {.addr = (uintptr_t)(verbs->memory + from),
			      .length = size,
			      .lkey = verbs->mr->lkey};
	struct ibv_send_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {.remote_addr = verbs->peer_addr + to,
			    .rkey = verbs->peer_rkey},
	};
	struct ibv_send_wr *bad;
	int rc = ibv_post_send(verbs->qp, &wr, &bad);

	if (rc)
		return bu_err_set(err, BU_ERR_IO, rc, "%s: post RDMA write",
				  verbs->device.name);
	verbs->pending++;
	return 0;
}

/* 1: one write was acknowledged, 0: none yet. */
static int
reap(struct bu_verbs *verbs, struct bu_err *err)
{
	struct ibv_wc wc;
	int count = ibv_poll_cq(verbs->cq, 1, &wc);

	if (count < 0)
		return bu_err_set(err, BU_ERR_IO, 0, "%s: poll completion queue",
				  verbs->device.name);
	if (count == 0)
		return 0;
	verbs->pending--;
	if (wc.status == IBV_WC_SUCCESS)
		return 1;
	if (wc.status == IBV_WC_RETRY_EXC_ERR)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "RDMA write %" PRIu64 ": lost, no acknowledgement "
				  "after all retries: link, cable or switch",
				  wc.wr_id);
	return bu_err_set(err, BU_ERR_IO, 0, "RDMA write %" PRIu64 ": %s", wc.wr_id,
			  ibv_wc_status_str(wc.status));
}

static int
wait_event(struct bu_verbs *verbs, struct bu_err *err)
{
	struct pollfd fd = {.fd = verbs->channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, BU_WAIT_SLICE_MS) < 0 && errno != EINTR)
		return bu_err_set(err, BU_ERR_IO, errno, "%s: wait for a completion",
				  verbs->device.name);
	if (!(fd.revents & POLLIN) || ibv_get_cq_event(verbs->channel, &cq, &context))
		return 0;
	ibv_ack_cq_events(cq, 1);
	verbs->armed = 0;
	return 0;
}

static int
wait_write(struct bu_verbs *verbs, struct bu_wait *wait, struct bu_err *err)
{
	int rc;

	for (;;) {
		if (bu_wait_check(wait, "RDMA write", err))
			return -1;
		rc = reap(verbs, err);
		if (rc)
			return rc < 0 ? -1 : 0;
		if (verbs->armed) {
			if (wait_event(verbs, err))
				return -1;
			continue;
		}
		rc = ibv_req_notify_cq(verbs->cq, 0);
		if (rc)
			return bu_err_set(err, BU_ERR_IO, rc,
					  "%s: arm completion queue",
					  verbs->device.name);
		verbs->armed = 1;
	}
}

uint64_t
bu_verbs_messages(uint64_t bytes, uint32_t message_bytes)
{
	return BU_VERBS_WINDOW + (bytes + message_bytes - 1) / message_bytes;
}

int
bu_verbs_write(struct bu_verbs *verbs, uint64_t stamp, uint64_t bytes,
	       struct bu_wait *wait, double *ret_gbps, struct bu_err *err)
{
	uint64_t total = bu_verbs_messages(bytes, verbs->message_bytes);
	uint64_t posted = 0, acked = 0;
	int64_t start_ns = 0;
	double timed_bits;

	if (bytes == 0)
		return bu_err_set(err, BU_ERR_INVAL, 0, "a run of 0 bytes");
	stamp_all(verbs, stamp);
	while (acked < total) {
		while (posted < total && posted - acked < BU_VERBS_WINDOW) {
			stamp_edges(verbs, stamp, posted);
			if (post_write(verbs, send_offset(verbs, posted),
				       receive_offset(verbs, posted),
				       verbs->message_bytes, posted, err))
				return -1;
			posted++;
		}
		if (wait_write(verbs, wait, err))
			return -1;
		if (++acked == BU_VERBS_WINDOW)
			start_ns = bu_mono_ns();
	}
	timed_bits = (double)(total - BU_VERBS_WINDOW) * verbs->message_bytes * 8;
	*ret_gbps = timed_bits / (double)(bu_mono_ns() - start_ns);
	return 0;
}

static int
check_slot(const struct bu_verbs *verbs, uint64_t stamp, uint64_t message,
	   struct bu_err *err)
{
	const uint8_t *slot = verbs->memory + receive_offset(verbs, message);

	for (size_t at = 0; at < verbs->message_bytes; at += 8) {
		uint64_t wanted = wanted_word(verbs, stamp, message, at), got;
		size_t byte = at;

		memcpy(&got, slot + at, 8);
		if (got == wanted)
			continue;
		for (uint64_t diff = got ^ wanted; (diff & 0xff) == 0; diff >>= 8)
			byte++;
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "message %" PRIu64 ": byte %zu is not what was sent",
				  message, byte);
	}
	return 0;
}

int
bu_verbs_check(const struct bu_verbs *verbs, uint64_t stamp, uint64_t bytes,
	       struct bu_err *err)
{
	uint64_t total = bu_verbs_messages(bytes, verbs->message_bytes);

	for (uint64_t i = total > SLOTS ? total - SLOTS : 0; i < total; i++) {
		if (check_slot(verbs, stamp, i, err))
			return -1;
	}
	return 0;
}

/* Polls memory, as the standard method does; gives the CPU away only after a while, so
 * that a machine with one core can work on the very message that is waited for. */
static int
wait_ping(struct bu_verbs *verbs, uint64_t number, struct bu_wait *wait,
	  struct bu_err *err)
{
	const uint64_t *cell = (const uint64_t *)(verbs->memory + PING_IN);

	for (unsigned spins = 1;; spins++) {
		if (__atomic_load_n(cell, __ATOMIC_ACQUIRE) == number)
			return 0;
		if (spins % 64 != 0)
			continue;
		if (reap(verbs, err) < 0 || bu_wait_check(wait, "RDMA ping", err))
			return -1;
		if (spins >= SPINS_QUIET)
			sched_yield();
	}
}

static int
send_ping(struct bu_verbs *verbs, uint64_t number, struct bu_wait *wait,
	  struct bu_err *err)
{
	while (verbs->pending >= BU_VERBS_WINDOW) {
		if (wait_write(verbs, wait, err))
			return -1;
	}
	__atomic_store_n((uint64_t *)(verbs->memory + PING_OUT), number,
			 __ATOMIC_RELEASE);
	return post_write(verbs, PING_OUT, PING_IN, 8, number, err);
}

int
bu_verbs_ping(struct bu_verbs *verbs, int starts, int iterations, struct bu_wait *wait,
	      double *samples_us, struct bu_err *err)
{
	for (int i = 0; i < WARM_PINGS + iterations; i++) {
		uint64_t number = (uint64_t)i + 1;
		int64_t start_ns = bu_mono_ns();

		if (starts && send_ping(verbs, number, wait, err))
			return -1;
		if (wait_ping(verbs, number, wait, err))
			return -1;
		if (starts && i >= WARM_PINGS)
			samples_us[i - WARM_PINGS] =
				(double)(bu_mono_ns() - start_ns) / 2000;
		if (!starts && send_ping(verbs, number, wait, err))
			return -1;
	}
	while (verbs->pending > 0) {
		if (wait_write(verbs, wait, err))
			return -1;
	}
	return 0;
}
