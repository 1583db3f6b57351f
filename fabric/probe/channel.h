/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control connection of a probe: JSON messages over TCP between two ends that know
 * the same secret. Both prove it (HMAC-SHA-256 over both nonces) before anything else
 * is read; every later line carries a MAC with its number. Nothing is encrypted.
 */
#ifndef BU_FABRIC_PROBE_CHANNEL_H
#define BU_FABRIC_PROBE_CHANNEL_H

#include <jansson.h>

#include "base/err.h"
#include "fabric/probe/wait.h"

enum { BU_CHANNEL_LINE_MAX = 32 * 1024 };

struct bu_channel_opts {
	int listens;
	const char *addr; /* IPv4 to bind, or to connect to */
	int port;
	int64_t come_ms;    /* connecting end: so long until the other one listens;
			       0 = as long as the wait lasts */
	const char *peer;   /* listener: only this IPv4 is let in; NULL = any */
	const char *probe;  /* both ends must name the same one */
	const char *secret; /* of this probe alone */
};

struct bu_channel;
/* What needs no word from the peer, for an end that has other work to do before it
 * opens the channel: the listener listens already, the other end's connection is under
 * way. A socket for bu_channel_open(), or -1. */
int bu_channel_begin(const struct bu_channel_opts *opts);
/* begun: becomes the channel's; -1 = not begun. The listener goes on listening after a
 * stranger failed to prove the secret; the other end repeats a refused connection; both
 * until the deadline. BU_ERR_DENIED when the listener does not know the secret. */
struct bu_channel *bu_channel_open(const struct bu_channel_opts *opts, int begun,
				   struct bu_wait *wait, struct bu_err *err);
/* Over a connected socket, which becomes the channel's; also when this fails. */
struct bu_channel *bu_channel_over(int fd, const struct bu_channel_opts *opts,
				   struct bu_wait *wait, struct bu_err *err);
void bu_channel_destroy(struct bu_channel *channel);
bu_must int bu_channel_send(struct bu_channel *channel, const json_t *message,
			    struct bu_wait *wait, struct bu_err *err);
/* New reference. BU_ERR_REMOTE when the peer closed, BU_ERR_DENIED for a wrong MAC. */
json_t *bu_channel_receive(struct bu_channel *channel, struct bu_wait *wait,
			   struct bu_err *err);
/* 1 when the peer has said something, or gone. */
int bu_channel_has_input(const struct bu_channel *channel);

#endif
