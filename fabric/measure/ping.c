// SPDX-License-Identifier: Apache-2.0
/*
 * Latency: a ping-pong of 8 bytes on the first queue pair, called by pair.c. Invariant:
 * each sample is one round trip of its own, in nanoseconds of the monotonic clock;
 * nothing is averaged and nothing thrown away but the warm-up.
 */
#include <sched.h>

#include "base/clock.h"
#include "fabric/measure/verbs_impl.h"

enum { WARM_PINGS = 10, SPINS_QUIET = 1024 };

static const char what[] = "RDMA ping";

/* Takes what is there: counts own pings that were acknowledged, returns pings that came
 * by send; -1: failed. */
static int
collect(struct bu_verbs *verbs, struct bu_err *err)
{
	struct ibv_wc wcs[4];
	int came = 0;
	int count = bu_verbs_reap(verbs, wcs, BU_LEN(wcs), what, err);

	for (int i = 0; i < count; i++) {
		if (!(wcs[i].wr_id & wr_receive)) {
			verbs->pending--;
			continue;
		}
		came++;
		if (bu_verbs_receive(verbs, (int)(wcs[i].wr_id & ~wr_receive), err))
			return -1;
	}
	return count < 0 ? -1 : came;
}

/* Polls, as the standard method does; gives the CPU away only after a while, so that a
 * machine with one core can work on the very message that is waited for. */
static int
wait_ping(struct bu_verbs *verbs, uint64_t number, struct bu_wait *wait,
	  struct bu_err *err)
{
	const uint64_t *cell = (const uint64_t *)(verbs->ping.host + PING_IN);
	int sends = verbs->opts.lat_op == BU_OP_SEND;

	for (unsigned spins = 1;; spins++) {
		int came;

		if (!sends && __atomic_load_n(cell, __ATOMIC_ACQUIRE) == number)
			return 0;
		if (!sends && spins % 64 != 0)
			continue;
		came = collect(verbs, err);
		if (came < 0)
			return -1;
		if (sends && came > 0)
			return 0;
		if (spins % 64 == 0 && bu_wait_check(wait, what, err))
			return bu_verbs_failed(verbs, err);
		if (spins >= SPINS_QUIET)
			sched_yield();
	}
}

static int
send_ping(struct bu_verbs *verbs, uint64_t number, struct bu_wait *wait,
	  struct bu_err *err)
{
	struct ibv_sge sge = {.addr = verbs->ping.addr + PING_OUT,
			      .length = 8,
			      .lkey = verbs->ping.mr->lkey};
	struct ibv_send_wr wr = {.wr_id = number,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_send_wr *bad;
	int rc;

	while (verbs->pending >= PING_WINDOW) {
		if (collect(verbs, err) < 0)
			return -1;
		if (verbs->pending >= PING_WINDOW &&
		    bu_verbs_idle(verbs, wait, what, err))
			return -1;
	}
	if (verbs->opts.lat_op == BU_OP_SEND) {
		wr.opcode = IBV_WR_SEND;
	} else {
		wr.wr.rdma.remote_addr = verbs->peer.ping.addr + PING_IN;
		wr.wr.rdma.rkey = verbs->peer.ping.rkey;
	}
	__atomic_store_n((uint64_t *)(verbs->ping.host + PING_OUT), number,
			 __ATOMIC_RELEASE);
	rc = ibv_post_send(verbs->qp[0], &wr, &bad);
	if (rc) {
		bu_err_set(err, BU_ERR_IO, rc, "%s: post RDMA ping",
			   verbs->device.name);
		return bu_verbs_failed(verbs, err);
	}
	verbs->pending++;
	return 0;
}

int
bu_verbs_ping(struct bu_verbs *verbs, int starts, int iterations, struct bu_wait *wait,
	      double *samples_us, struct bu_err *err)
{
	for (int i = 0; i < WARM_PINGS + iterations; i++) {
		uint64_t number = verbs->pinged + (uint64_t)i + 1;
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
	verbs->pinged += (uint64_t)(WARM_PINGS + iterations);
	while (verbs->pending > 0) {
		if (collect(verbs, err) < 0)
			return -1;
		if (verbs->pending > 0 && bu_verbs_idle(verbs, wait, what, err))
			return -1;
	}
	return 0;
}
