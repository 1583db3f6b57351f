/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a probe's RDMA connection: RC writes for bandwidth, a write ping-pong for
 * latency. Blocking, with a deadline on every wait. One thread uses one object.
 *
 *	create -> local -> (exchange) -> connect -> write | check | ping ... -> destroy
 *
 * After a failed transfer the connection is of no further use.
 */
#ifndef BU_FABRIC_MEASURE_VERBS_H
#define BU_FABRIC_MEASURE_VERBS_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "fabric/measure/wait.h"
#include "model/result.h"

enum { BU_VERBS_WINDOW = 4, BU_VERBS_MESSAGE_MAX = 4 * 1024 * 1024 };

struct bu_verbs_opts {
	const char *device;     /* NULL = by local_ip */
	const char *local_ip;   /* NULL = by device */
	uint32_t message_bytes; /* multiple of 8, 64 to BU_VERBS_MESSAGE_MAX */
};

/* What the other end must know. JSON {"gid","lid","qpn","psn","mtu","addr","rkey"};
 * addr is hexadecimal text. */
struct bu_verbs_peer {
	char gid[48];
	int lid;
	int mtu;
	uint32_t qpn, psn, rkey;
	uint64_t addr;
};
json_t *bu_verbs_peer_to_json(const struct bu_verbs_peer *peer);
int bu_verbs_peer_from_json(const json_t *value, struct bu_verbs_peer *ret,
			    struct bu_err *err);

struct bu_verbs;
struct bu_verbs *bu_verbs_create(const struct bu_verbs_opts *opts, struct bu_err *err);
void bu_verbs_destroy(struct bu_verbs *verbs);
void bu_verbs_local(const struct bu_verbs *verbs, struct bu_verbs_peer *ret);
/* Device, GID, port, MTU; the node's name is left alone. */
void bu_verbs_describe(const struct bu_verbs *verbs, struct bu_pair_end *ret);
/* Path MTU: the smaller of both ports'. A peer with our own GID is refused: a loop
 * inside the adapter would say nothing about cable and switch. */
int bu_verbs_connect(struct bu_verbs *verbs, const struct bu_verbs_peer *peer,
		     int *ret_mtu, struct bu_err *err);

/* Messages of a run that times `bytes`: BU_VERBS_WINDOW to warm up, then the bytes. */
uint64_t bu_verbs_messages(uint64_t bytes, uint32_t message_bytes);
/* Writes a run into the peer's memory. stamp: what the payload is made from, another
 * one for each run. Timed from the end of the warm-up to the last acknowledgement.
 * BU_ERR_REMOTE when the path lost it for good. */
int bu_verbs_write(struct bu_verbs *verbs, uint64_t stamp, uint64_t bytes,
		   struct bu_wait *wait, double *ret_gbps, struct bu_err *err);
/* The receiver's check of a run that has ended: every slot holds the last message that
 * was written to it. BU_ERR_VERIFY names the first wrong byte. */
int bu_verbs_check(const struct bu_verbs *verbs, uint64_t stamp, uint64_t bytes,
		   struct bu_err *err);
/* Write ping-pong of 8 bytes; one end starts, the other answers. samples_us (starter's,
 * may be NULL for the other): half of each round trip. Once per connection. */
int bu_verbs_ping(struct bu_verbs *verbs, int starts, int iterations,
		  struct bu_wait *wait, double *samples_us, struct bu_err *err);

#endif
