/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control connection of a probe: JSON messages over TCP between two ends with the
 * same secret. Both prove the secret (HMAC-SHA-256 over both nonces) before any other
 * line is read. Each later line has a MAC over its number and text. Nothing is
 * encrypted.
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
	int64_t come_ms;    /* connecting end: time until the other end listens; 0 = the
			       whole wait */
	const char *peer;   /* listener: the only IPv4 admitted; NULL = any */
	const char *probe;  /* id; both ends must have the same */
	const char *secret; /* of this probe alone */
};

struct bu_channel;
/* Starts to listen or to connect, before the peer is needed: this end can prepare other
 * things meanwhile. A socket for bu_channel_open(), or -1. */
int bu_channel_begin(const struct bu_channel_opts *opts);
/* begun: a socket of bu_channel_begin(), which the channel owns from now on; -1 = none.
 * Until the deadline the listener goes on after a stranger without the secret, and the
 * other end repeats a refused connection. BU_ERR_DENIED: the listener does not know the
 * secret. */
struct bu_channel *bu_channel_open(const struct bu_channel_opts *opts, int begun,
				   struct bu_wait *wait, struct bu_err *err);
/* Over a connected socket, which is the channel's even on failure. */
struct bu_channel *bu_channel_over(int fd, const struct bu_channel_opts *opts,
				   struct bu_wait *wait, struct bu_err *err);
void bu_channel_destroy(struct bu_channel *channel);
bu_must int bu_channel_send(struct bu_channel *channel, const json_t *message,
			    struct bu_wait *wait, struct bu_err *err);
/* New reference. BU_ERR_REMOTE: the peer closed. BU_ERR_DENIED: wrong MAC. */
json_t *bu_channel_receive(struct bu_channel *channel, struct bu_wait *wait,
			   struct bu_err *err);
/* 1: the peer sent something or closed. */
int bu_channel_has_input(const struct bu_channel *channel);

#endif
