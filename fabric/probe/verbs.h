/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a probe's RDMA connection: RC writes, reads or sends for bandwidth over
 * several queue pairs, a ping-pong of writes or sends for latency. Blocking, with a
 * deadline on every wait. One thread uses one object, which is bound to a CPU of the
 * adapter's NUMA node meanwhile.
 *
 *	create -> local -> (exchange) -> connect -> stamp, run, check | ping ... ->
 *destroy
 *
 * Payload has a source and a sink. Write and send are posted by the source, a read by
 * the sink. After a failed transfer the connection is of no further use.
 */
#ifndef BU_FABRIC_PROBE_VERBS_H
#define BU_FABRIC_PROBE_VERBS_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "fabric/probe/wait.h"
#include "model/work.h"

/* What an end is for. */
enum { BU_VERBS_SOURCE = 1, BU_VERBS_SINK = 2 };

struct bu_device;
struct bu_verbs;
struct bu_verbs_opts {
	/* Found by bu_device_open() before, and closed by the caller afterwards; NULL:
	 * the rail says which it is. */
	const struct bu_device *opened;
	/* Which port, and how packets go. */
	struct bu_work_rail rail;
	/* Shares this one's device and window instead, with the other role: they are
	 * not at work at the same time. It has the same message_bytes, bytes, runs and
	 * qps, and is destroyed after this one. NULL: has its own. */
	const struct bu_verbs *with;
	uint32_t message_bytes; /* multiple of 8, 64 to BU_PAIR_MESSAGE_MAX */
	uint64_t bytes;         /* timed in a run */
	int runs;
	enum bu_op op, lat_op; /* lat_op: write or send */
	int qps;               /* 1 to BU_QPS_MAX */
	int sport;             /* UDP source port of the first queue pair, 0xc000 to
				  0xffff, as far as the adapter lets one choose; 0 = any */
	int roles;             /* BU_VERBS_... */
	uint64_t
		window_bytes; /* that the payload rotates over; 0 = twice the last-level
				 cache, as far as memory and the runs' bytes go */
	double min_gbps;      /* that its path must carry; 0 = not known */
	int depth;            /* messages under way per queue pair; 0 = by their size */
	uint64_t warm_bytes;  /* that a run sends before it is timed; 0 = what is under
				 way */
	int gpu;              /* ordinal, -1 = host memory */
	const char *cuda;     /* library, NULL = the system's */
	const char *root;     /* of sysfs, NULL = the system's */
	int loopback;         /* the peer may be this very port */
};

/* What the other end must know. JSON
 * {"gid","lid","pkey"?,"qpn":[],"psn","mtu","rd","slots",
 * "recv":{"addr","rkey"},"send":{...},"ping":{...}}; addr is hexadecimal text. */
struct bu_verbs_memory {
	uint64_t addr;
	uint32_t rkey;
};
struct bu_verbs_peer {
	char gid[48];
	int lid;
	int pkey; /* of its queue pairs; 0 = not told */
	int mtu;
	int qps, rd; /* reads at once */
	uint32_t qpn[BU_QPS_MAX], psn, slots;
	struct bu_verbs_memory recv, send, ping;
};
json_t *bu_verbs_peer_to_json(const struct bu_verbs_peer *peer);
bu_must int bu_verbs_peer_from_json(const json_t *value, struct bu_verbs_peer *ret,
				    struct bu_err *err);

struct bu_verbs *bu_verbs_create(const struct bu_verbs_opts *opts, struct bu_err *err);
void bu_verbs_destroy(struct bu_verbs *verbs);
/* Its queue pairs alone: one that is left behind retransmits for ever. */
void bu_verbs_disconnect(struct bu_verbs *verbs);
/* Between two probes the rest may be kept, its thread bound to no CPU; what others
 * share of it is renewed first. opts: the same but for roles, with and sport. -1: only
 * good to be destroyed. */
void bu_verbs_rest(struct bu_verbs *verbs);
bu_must int bu_verbs_renew(struct bu_verbs *verbs, const struct bu_verbs_opts *opts,
			   struct bu_err *err);
void bu_verbs_local(const struct bu_verbs *verbs, struct bu_verbs_peer *ret);
/* Device, GID, port, MTU, NUMA node, CPU, memory; node and address are left alone. */
void bu_verbs_describe(const struct bu_verbs *verbs, struct bu_pair_end *ret);
/* UDP source port and flow label of what this end sends, by queue pair. */
void bu_verbs_paths(const struct bu_verbs *verbs, struct bu_pair_dir *ret);
void bu_verbs_counters(const struct bu_verbs *verbs, struct bu_counters *ret);
/* Path MTU: the smaller of both ports'. Unless loopback was asked for, a peer with our
 * own GID is refused: a loop inside the adapter says nothing about cable and switch. */
bu_must int bu_verbs_connect(struct bu_verbs *verbs, const struct bu_verbs_peer *peer,
			     int *ret_mtu, struct bu_err *err);

/* Messages of a run: those under way at once, to warm up, then `bytes` of them. */
uint64_t bu_verbs_messages(const struct bu_verbs *verbs);

/* number: 0, 1, ... of the connection. stamp: what the payload is made from, another
 * one for each run. */
struct bu_verbs_run {
	int number;
	uint64_t stamp;
	int posts;          /* this end posts writes, reads or sends */
	int takes;          /* this end receives sends */
	double ret_gbps;    /* when it posts: from the end of the warm-up to the last
			       acknowledgement */
	uint64_t ret_bytes; /* acknowledged, warm-up included */
};
/* The source's payload of a run; before either end starts it. */
bu_must int bu_verbs_stamp(struct bu_verbs *verbs, const struct bu_verbs_run *run,
			   struct bu_err *err);
/* BU_ERR_REMOTE when the path lost it for good. */
bu_must int bu_verbs_run(struct bu_verbs *verbs, struct bu_verbs_run *run,
			 struct bu_wait *wait, struct bu_err *err);
/* The sink's check of a run that has ended: every slot holds the last message that came
 * into it, every byte of it. BU_ERR_VERIFY names the first wrong one. */
bu_must int bu_verbs_check(struct bu_verbs *verbs, const struct bu_verbs_run *run,
			   struct bu_err *err);
/* One word to the peer, before anything is timed. BU_ERR_REMOTE when nothing said that
 * it came, within 3 s: no long run will find more. */
bu_must int bu_verbs_reach(struct bu_verbs *verbs, struct bu_wait *wait,
			   struct bu_err *err);
/* Ping-pong of 8 bytes; one end starts, the other answers. samples_us (starter's, may
 * be NULL for the other): half of each round trip. */
bu_must int bu_verbs_ping(struct bu_verbs *verbs, int starts, int iterations,
			  struct bu_wait *wait, double *samples_us, struct bu_err *err);

#endif
