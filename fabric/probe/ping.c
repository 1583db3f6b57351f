/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single words on the first queue pair: the first word that shows a live path, and a
 * ping-pong for latency. Called by pair_phase.c. Invariant: each sample is one round
 * trip, in nanoseconds of the raw clock; nothing is averaged, and only the warm-up is
 * dropped.
 */
#include <sched.h>
#include <time.h>

#include "base/clock.h"
#include "fabric/probe/verbs_impl.h"

/* REACH_MS: within it the adapter retransmits a lost word several times
 * (ACK_TIMEOUT). */
enum { WARM_PINGS = 10, SPINS_QUIET = 1024, NAP_PART = 128, REACH_MS = 3000 };
static const int64_t late_ns = 1000000, nap_max_ns = 1000000;

static const char what[] = "RDMA ping";

/* Reaps completions: takes acknowledged pings off `pending`, returns the pings received
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

/* Lets other processes run: on one core the awaited message needs them, and an emulated
 * machine needs its timers. A nap is 1/NAP_PART of the elapsed time, which bounds the
 * error of a sample. */
static void
give_way(int64_t since_ns)
{
	int64_t gone_ns = bu_raw_ns() - since_ns, nap_ns = gone_ns / NAP_PART;
	struct timespec nap = {
		.tv_nsec = (long)(nap_ns < nap_max_ns ? nap_ns : nap_max_ns)};

	if (gone_ns < late_ns)
		sched_yield();
	else
		nanosleep(&nap, NULL);
}

/* Polls at first, as the standard method does. A thread with a CPU of its own gives way
 * only after late_ns, when the time to wake up no longer matters. */
static int
may_give_way(const struct bu_verbs *verbs, unsigned spins, int64_t since_ns)
{
	if (verbs->cpu < 0)
		return spins >= SPINS_QUIET;
	return spins % SPINS_QUIET == 0 && bu_raw_ns() - since_ns >= late_ns;
}

static int
wait_ping(struct bu_verbs *verbs, uint64_t number, struct bu_wait *wait,
	  struct bu_err *err)
{
	const uint64_t *cell = (const uint64_t *)(verbs->ping.host + PING_IN);
	int sends = verbs->opts.lat_op == BU_OP_SEND;
	int64_t start_ns = bu_raw_ns();

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
		if (may_give_way(verbs, spins, start_ns))
			give_way(start_ns);
	}
}

static int
post_word(struct bu_verbs *verbs, uint64_t number, enum bu_op op, struct bu_err *err)
{
	struct ibv_sge sge = {.addr = verbs->ping.addr + PING_OUT,
			      .length = 8,
			      .lkey = verbs->ping.mr->lkey};
	struct ibv_send_wr wr = {.wr_id = number,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED};
	/* inlined: the adapter need not fetch the word from memory */
	const unsigned int inlined =
		verbs->inline_bytes >= sge.length ? IBV_SEND_INLINE : 0;
	struct ibv_send_wr *bad;
	int rc;

	wr.send_flags |= inlined;
	if (op == BU_OP_SEND) {
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

static int
send_ping(struct bu_verbs *verbs, uint64_t number, struct bu_wait *wait,
	  struct bu_err *err)
{
	while (verbs->pending >= PING_WINDOW) {
		if (collect(verbs, err) < 0)
			return -1;
		if (verbs->pending >= PING_WINDOW &&
		    bu_verbs_idle(verbs, wait, what, err))
			return -1;
	}
	return post_word(verbs, number, verbs->opts.lat_op, err);
}

static int
wait_pending(struct bu_verbs *verbs, struct bu_wait *wait, struct bu_err *err)
{
	while (verbs->pending > 0) {
		if (collect(verbs, err) < 0)
			return -1;
		if (verbs->pending > 0 && bu_verbs_idle(verbs, wait, what, err))
			return -1;
	}
	return 0;
}

/* Writes number 0, which no ping has. */
int
bu_verbs_reach(struct bu_verbs *verbs, struct bu_wait *wait, struct bu_err *err)
{
	int64_t until_ns = bu_raw_ns() + REACH_MS * INT64_C(1000000);
	struct bu_wait first = *wait;

	if (until_ns < first.deadline_ns)
		first.deadline_ns = until_ns;
	if (post_word(verbs, 0, BU_OP_WRITE, err))
		return -1;
	if (wait_pending(verbs, &first, err) == 0)
		return 0;
	if (err->kind == BU_ERR_TIMEOUT)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "RDMA write: the first word was lost, no "
				  "acknowledgement in %d s: link, cable or switch",
				  REACH_MS / 1000);
	return -1;
}

int
bu_verbs_ping(struct bu_verbs *verbs, int starts, int iterations, struct bu_wait *wait,
	      double *samples_us, struct bu_err *err)
{
	for (int i = 0; i < WARM_PINGS + iterations; i++) {
		uint64_t number = verbs->pinged + (uint64_t)i + 1;
		int64_t start_ns = bu_raw_ns();

		if (starts && send_ping(verbs, number, wait, err))
			return -1;
		if (wait_ping(verbs, number, wait, err))
			return -1;
		if (starts && i >= WARM_PINGS)
			samples_us[i - WARM_PINGS] =
				(double)(bu_raw_ns() - start_ns) / 2000;
		if (!starts && send_ping(verbs, number, wait, err))
			return -1;
	}
	verbs->pinged += (uint64_t)(WARM_PINGS + iterations);
	return wait_pending(verbs, wait, err);
}
