/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by pair.c (the session), pair_open.c (set-up), pair_phase.c (what is
 * measured), pair_talk.c, pair_end.c and pair_trace.c; nothing else includes it. */
#ifndef BU_FABRIC_PROBE_PAIR_IMPL_H
#define BU_FABRIC_PROBE_PAIR_IMPL_H

#include "fabric/probe/channel.h"
#include "fabric/probe/pair.h"
#include "fabric/probe/verbs.h"

struct session {
	const struct bu_pair_opts *opts;
	int fd;    /* connected already; -1 = not */
	int begun; /* of bu_channel_begin(); -1 = not */
	struct bu_channel *channel;
	struct bu_pair_result *result;
	int64_t start_ns; /* when this end had its work item */
	int64_t deadline_ns;
	int64_t grace_ns; /* how much longer than a transfer the other end waits */
	struct bu_pair_kept open; /* queue pairs and all that they need */
	struct bu_err open_err;   /* why there are none, or why they did not connect */
	int peer_opened;
	int unreached; /* nothing was acknowledged one way, so nothing can be the other
			* way */
	/* the phase */
	int source, sink;        /* what this end is */
	struct bu_verbs *verbs;  /* its set */
	struct bu_wait transfer; /* ends when the peer speaks out of turn */
	struct bu_wait talk;
	struct bu_counters before, after; /* around the runs */
	int counted;                      /* after is set */
	json_t *early;                    /* what the peer said while we were at work */
	int64_t early_ns;                 /* when it did */
	int64_t heard_ns;                 /* when the last message came */
	json_t *peer_end; /* the peer's {"end":...}, NULL until it came */
	int echo;         /* we stopped only because the peer did */
};

/* Opens what needs no peer; what failed is in open_err. */
void bu_pair_prepare(struct session *s);
/* Over the channel: both agree, and their queue pairs are connected. -1: they cannot go
 * on. */
bu_must int bu_pair_open(struct session *s, struct bu_err *err);
/* keep: for the next probe, where the options have room for that. */
void bu_pair_release(struct session *s, int keep);

struct bu_wait bu_pair_wait(struct session *s, int64_t deadline_ns);
/* stop() of a transfer (arg: the session): the peer may end it. */
bu_must int bu_pair_interrupted(void *arg, struct bu_err *err);
/* message: owned, may be NULL. */
bu_must int bu_pair_say(struct session *s, const char *step, json_t *message,
			struct bu_err *err);
/* The peer's next message, which must be this step. New reference. */
json_t *bu_pair_hear(struct session *s, const char *step, struct bu_err *err);
bu_must int bu_pair_expect(struct session *s, const char *step, struct bu_err *err);
/* A finite number that is not negative. */
bu_must int bu_pair_figure(const json_t *message, const char *key, double *ret,
			   struct bu_err *err);

/* 1: this phase moves what that end sends. */
int bu_pair_moves(const struct session *s, int direction);
/* Our clock of a direction: [0] is the sender's, [1] the receiver's. */
double *bu_pair_clock(struct session *s, int direction);
/* Says our end, hears the peer's, records the errors. own: of kind NONE when it went
 * well here. -1: the probe cannot go on. */
bu_must int bu_pair_close(struct session *s, struct bu_err *own, struct bu_err *err);

/* pair_trace.c. Both trace the ways of what they send, where that is asked for, and
 * tell each other. -1: the probe cannot go on. */
bu_must int bu_pair_trace(struct session *s, struct bu_err *err);

/* direction: the end that the payload comes from, or both at once. -1: the probe cannot
 * go on. */
enum { BU_PHASE_BOTH = 2 };
bu_must int bu_pair_phase(struct session *s, int direction, int64_t deadline_ns,
			  struct bu_err *err);

#endif
