/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a probe's RDMA connection: RC writes, reads or sends over several queue
 * pairs for bandwidth, a ping-pong of writes or sends for latency. Calls block, with a
 * deadline on every wait. One thread uses one object; it is bound to a CPU of the
 * adapter's NUMA node meanwhile.
 *
 * create -> local -> (exchange) -> connect -> {stamp, run, check | ping}... -> destroy
 *
 * Payload goes from a source to a sink. The source posts writes and sends, the sink
 * posts reads. After a failed transfer the connection is of no further use.
 */
#ifndef BU_FABRIC_PROBE_VERBS_H
#define BU_FABRIC_PROBE_VERBS_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "fabric/probe/wait.h"
#include "model/work.h"

/* Roles of an end. */
enum { BU_VERBS_SOURCE = 1, BU_VERBS_SINK = 2 };

struct bu_device;
struct bu_verbs;
struct bu_verbs_opts {
	/* The open device, closed by the caller; NULL: opened by the rail. */
	const struct bu_device *opened;
	/* Port and packets. */
	struct bu_work_rail rail;
	/* Shares the device and window of this object, which has the other role and is
	 * not at work at the same time. Its message_bytes, bytes, runs and qps are the
	 * same. It is destroyed after this one. NULL: own ones. */
	const struct bu_verbs *with;
	uint32_t message_bytes; /* multiple of 8, 64 to BU_PAIR_MESSAGE_MAX */
	uint64_t bytes;         /* timed bytes of a run */
	int runs;
	enum bu_op op, lat_op; /* lat_op: write or send */
	int qps;               /* 1 to BU_QPS_MAX */
	int sport; /* UDP source port of the first queue pair, 0xc000 to 0xffff, where
		      the adapter obeys; 0 = any */
	int roles; /* BU_VERBS_... */
	uint64_t window_bytes; /* payload memory; 0 = twice the last-level cache, less
				  where memory or runs are small */
	double min_gbps;       /* least rate of the path; 0 = not known */
	int depth; /* messages under way per queue pair; 0 = by message size */
	uint64_t warm_bytes; /* untimed bytes of a run; 0 = those under way at once */
	int gpu;             /* ordinal, -1 = host memory */
	const char *cuda;    /* library, NULL = the system's */
	const char *root;    /* of sysfs, NULL = the system's */
	int loopback;        /* the peer may be this very port */
};

/* Data for the other end. JSON {"gid","lid","pkey"?,"qpn":[],"psn","mtu","rd","slots",
 * "recv":{"addr","rkey"},"send":{...},"ping":{...}}; addr is hexadecimal text. */
struct bu_verbs_memory {
	uint64_t addr;
	uint32_t rkey;
};
struct bu_verbs_peer {
	char gid[48];
	int lid;
	int pkey; /* partition of its queue pairs; 0 = not told */
	int mtu;
	int qps, rd; /* rd: reads at once */
	uint32_t qpn[BU_QPS_MAX], psn, slots;
	struct bu_verbs_memory recv, send, ping;
};
json_t *bu_verbs_peer_to_json(const struct bu_verbs_peer *peer);
bu_must int bu_verbs_peer_from_json(const json_t *value, struct bu_verbs_peer *ret,
				    struct bu_err *err);

struct bu_verbs *bu_verbs_create(const struct bu_verbs_opts *opts, struct bu_err *err);
void bu_verbs_destroy(struct bu_verbs *verbs);
/* Destroys the queue pairs alone: a forgotten one retransmits for ever. */
void bu_verbs_disconnect(struct bu_verbs *verbs);
/* bu_verbs_rest() keeps all but the queue pairs for the next probe, and unbinds the
 * thread. bu_verbs_renew() takes it up again, after the object in opts->with. opts: the
 * same but for roles, with and sport. -1: only good to be destroyed. */
void bu_verbs_rest(struct bu_verbs *verbs);
bu_must int bu_verbs_renew(struct bu_verbs *verbs, const struct bu_verbs_opts *opts,
			   struct bu_err *err);
void bu_verbs_local(const struct bu_verbs *verbs, struct bu_verbs_peer *ret);
/* Sets device, GID, port, MTU, NUMA node, CPU and memory; leaves node and address. */
void bu_verbs_describe(const struct bu_verbs *verbs, struct bu_pair_end *ret);
/* UDP source port and flow label of this end's packets, by queue pair. */
void bu_verbs_paths(const struct bu_verbs *verbs, struct bu_pair_dir *ret);
void bu_verbs_counters(const struct bu_verbs *verbs, struct bu_counters *ret);
/* ret_mtu: path MTU, the smaller of both ports'. Without opts->loopback a peer with the
 * own GID is refused: a loop inside the adapter tests no cable and no switch. */
bu_must int bu_verbs_connect(struct bu_verbs *verbs, const struct bu_verbs_peer *peer,
			     int *ret_mtu, struct bu_err *err);

/* Messages of a run: the warm-up, then `bytes` of them. */
uint64_t bu_verbs_messages(const struct bu_verbs *verbs);

/* number: 0, 1, ... of the connection. stamp: seed of the payload, new for each run. */
struct bu_verbs_run {
	int number;
	uint64_t stamp;
	int posts;       /* this end posts writes, reads or sends */
	int takes;       /* this end receives sends */
	double ret_gbps; /* of the posting end: from the end of the warm-up to the last
			    acknowledgement */
	uint64_t ret_bytes; /* acknowledged, warm-up included */
};
/* Writes the source's payload of a run, before either end starts it. */
bu_must int bu_verbs_stamp(struct bu_verbs *verbs, const struct bu_verbs_run *run,
			   struct bu_err *err);
/* BU_ERR_REMOTE: the path lost a message for good. */
bu_must int bu_verbs_run(struct bu_verbs *verbs, struct bu_verbs_run *run,
			 struct bu_wait *wait, struct bu_err *err);
/* The sink's check after a run: each byte of each slot is of the last message into it.
 * BU_ERR_VERIFY names the first wrong byte. */
bu_must int bu_verbs_check(struct bu_verbs *verbs, const struct bu_verbs_run *run,
			   struct bu_err *err);
/* Sends one word, before any timing. BU_ERR_REMOTE: no acknowledgement within 3 s, so
 * no longer run is worth while. */
bu_must int bu_verbs_reach(struct bu_verbs *verbs, struct bu_wait *wait,
			   struct bu_err *err);
/* Ping-pong of 8 bytes; one end starts, the other answers. samples_us (starter's, may
 * be NULL for the other): half of each round trip. */
bu_must int bu_verbs_ping(struct bu_verbs *verbs, int starts, int iterations,
			  struct bu_wait *wait, double *samples_us, struct bu_err *err);

#endif
