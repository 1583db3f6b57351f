/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by verbs.c (objects), verbs_queues.c, verbs_connect.c, payload.c (stamp,
 * check), transfer.c (runs) and ping.c; no other file includes it. */
#ifndef BU_FABRIC_PROBE_VERBS_IMPL_H
#define BU_FABRIC_PROBE_VERBS_IMPL_H

#include <sched.h>

#include "fabric/probe/buffer.h"
#include "fabric/probe/device.h"
#include "fabric/probe/verbs.h"

/* Offsets in the ping memory: word in, word out, ring for pings by send. */
enum {
	PING_IN = 0,
	PING_OUT = 64,
	PING_RING = 128,
	PING_RECVS = 8,
	PING_WINDOW = 4,
	PING_BYTES = 4096
};
/* wr_id of a receive: this bit and the queue pair; of a posted message: its number. */
static const uint64_t wr_receive = UINT64_C(1) << 63;

struct bu_verbs {
	struct bu_device device;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp[BU_QPS_MAX];
	struct bu_cuda *cuda;
	struct bu_buffer send, recv; /* outgoing and incoming payload */
	struct bu_buffer ping;
	uint8_t *bounce; /* one message, for GPU memory; NULL = none */
	struct bu_verbs_opts opts;
	char *root;
	int qps, depth, batch; /* depth: messages under way per queue pair; batch: of
				  them posted at once with one completion */
	uint64_t warm;         /* messages before a run is timed; a multiple of qps,
				  the same at both ends */
	uint32_t inline_bytes; /* most payload inside a post */
	int receives;          /* receives posted ahead per queue pair, for sends */
	uint32_t message_bytes;
	uint64_t own_slots;
	uint64_t slots; /* of each payload window; a multiple of qps, the same at both
			   ends after connect */
	uint32_t psn;
	uint32_t flow_label[BU_QPS_MAX];
	struct bu_verbs_peer peer;
	uint64_t taken[BU_QPS_MAX]; /* receives posted so far */
	int bound;                  /* to one CPU, or to the node's */
	int cpu;                    /* -1 = not bound to one */
	cpu_set_t before;
	enum bu_memory memory_found;
	int armed;   /* the CQ will raise an event */
	int pending; /* pings without a completion */
	uint64_t pinged;
};

/* The memory that payload rotates over; of two, the outgoing one. */
static inline const struct bu_buffer *
bu_verbs_window(const struct bu_verbs *verbs)
{
	return verbs->send.size ? &verbs->send : &verbs->recv;
}
/* Does the post itself carry the payload? Not of a GPU: the program cannot read
 * that. */
static inline int
bu_verbs_inlines(const struct bu_verbs *verbs)
{
	return verbs->opts.op != BU_OP_READ && verbs->send.host &&
	       verbs->message_bytes <= verbs->inline_bytes;
}
bu_must int bu_verbs_create_cq(struct bu_verbs *verbs, struct bu_err *err);
/* Also sets psn, flow_label and receives. */
bu_must int bu_verbs_create_qps(struct bu_verbs *verbs, struct bu_err *err);
/* Drops the completions, events and peer data of an earlier probe. */
void bu_verbs_forget(struct bu_verbs *verbs);
/* A run's first message. Slot: number modulo slots; queue pair: number modulo qps. */
uint64_t bu_verbs_first(const struct bu_verbs *verbs, const struct bu_verbs_run *run);
size_t bu_verbs_slot(const struct bu_verbs *verbs, uint64_t message);
/* Puts the number of a posted message into its first and last word. */
void bu_verbs_stamp_edges(struct bu_verbs *verbs, uint64_t stamp, uint64_t message);
/* Zeroes the words that a read must overwrite. */
void bu_verbs_spoil_edges(struct bu_verbs *verbs, uint64_t message);

/* Reaps at most `count` completions; returns how many. -1: err has the failed one. */
bu_must int bu_verbs_reap(struct bu_verbs *verbs, struct ibv_wc *ret, int count,
			  const char *what, struct bu_err *err);
/* Sleeps until a completion may be there, one slice at most. Reports the adapter's
 * errors and the deadline. */
bu_must int bu_verbs_idle(struct bu_verbs *verbs, struct bu_wait *wait,
			  const char *what, struct bu_err *err);
/* Sets err where the device has vanished or its port is down, else leaves it. Returns
 * -1. */
int bu_verbs_failed(struct bu_verbs *verbs, struct bu_err *err);
/* Posts the next receive of a queue pair. */
bu_must int bu_verbs_receive(struct bu_verbs *verbs, int qp, struct bu_err *err);

#endif
