/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by verbs.c (what it is made of), verbs_queues.c, verbs_connect.c, payload.c
 * (stamp, check), transfer.c (runs) and ping.c; nothing else includes it. */
#ifndef BU_FABRIC_PROBE_VERBS_IMPL_H
#define BU_FABRIC_PROBE_VERBS_IMPL_H

#include <sched.h>

#include "fabric/probe/buffer.h"
#include "fabric/probe/device.h"
#include "fabric/probe/verbs.h"

/* The ping cells: what comes in, what goes out, and a ring for pings by sends. */
enum {
	PING_IN = 0,
	PING_OUT = 64,
	PING_RING = 128,
	PING_RECVS = 8,
	PING_WINDOW = 4,
	PING_BYTES = 4096
};
/* wr_id of a receive: this bit and the queue pair; of what is posted: the number of the
 * message. */
static const uint64_t wr_receive = UINT64_C(1) << 63;

struct bu_verbs {
	struct bu_device device;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp[BU_QPS_MAX];
	struct bu_cuda *cuda;
	struct bu_buffer send, recv; /* payload that leaves and that comes */
	struct bu_buffer ping;
	uint8_t *bounce; /* one message, for memory that cannot be touched; or NULL */
	struct bu_verbs_opts opts;
	char *root;
	int qps, depth, batch; /* depth: messages under way per queue pair; batch: of
				  them posted at once with one completion */
	uint64_t warm;         /* messages before a run is timed; a multiple of qps,
				  the same at both ends */
	uint32_t inline_bytes; /* that a post may carry itself */
	int receives;          /* posted ahead per queue pair, for sends */
	uint32_t message_bytes;
	uint64_t own_slots;
	uint64_t slots; /* of each payload window; a multiple of qps, common to both
			   ends after connect */
	uint32_t psn;
	uint32_t flow_label[BU_QPS_MAX];
	struct bu_verbs_peer peer;
	uint64_t taken[BU_QPS_MAX]; /* receives posted so far */
	int bound;                  /* to one CPU, or to those of its node */
	int cpu;                    /* -1 = not bound to one */
	cpu_set_t before;
	enum bu_memory memory_found;
	int armed;   /* the CQ will raise an event */
	int pending; /* pings without a completion */
	uint64_t pinged;
};

/* The memory that the payload rotates over; the one that leaves where there are two. */
static inline const struct bu_buffer *
bu_verbs_window(const struct bu_verbs *verbs)
{
	return verbs->send.size ? &verbs->send : &verbs->recv;
}
/* Payload so small that a post carries it; a GPU's cannot be read by the program. */
static inline int
bu_verbs_inlines(const struct bu_verbs *verbs)
{
	return verbs->opts.op != BU_OP_READ && verbs->send.host &&
	       verbs->message_bytes <= verbs->inline_bytes;
}
bu_must int bu_verbs_create_cq(struct bu_verbs *verbs, struct bu_err *err);
/* With what the peer must know of them. */
bu_must int bu_verbs_create_qps(struct bu_verbs *verbs, struct bu_err *err);
/* What came and was told in an earlier probe. */
void bu_verbs_forget(struct bu_verbs *verbs);
/* Number of a run's first message; its slot is the number modulo slots, its queue pair
 * the number modulo qps. */
uint64_t bu_verbs_first(const struct bu_verbs *verbs, const struct bu_verbs_run *run);
size_t bu_verbs_slot(const struct bu_verbs *verbs, uint64_t message);
/* First and last word of a message carry its number; kept up while it is posted. */
void bu_verbs_stamp_edges(struct bu_verbs *verbs, uint64_t stamp, uint64_t message);
/* What a read must overwrite. */
void bu_verbs_spoil_edges(struct bu_verbs *verbs, uint64_t message);

/* How many completions, at most count; -1: err says what the adapter lost. */
bu_must int bu_verbs_reap(struct bu_verbs *verbs, struct ibv_wc *ret, int count,
			  const char *what, struct bu_err *err);
/* Sleeps until there may be a completion, a slice at most; errors of the adapter and
 * the deadline come out here. */
bu_must int bu_verbs_idle(struct bu_verbs *verbs, struct bu_wait *wait,
			  const char *what, struct bu_err *err);
/* Names a device that has vanished or whose port went down, else leaves err alone.
 * Returns -1. */
int bu_verbs_failed(struct bu_verbs *verbs, struct bu_err *err);
/* Posts the next receive of a queue pair. */
bu_must int bu_verbs_receive(struct bu_verbs *verbs, int qp, struct bu_err *err);

#endif
