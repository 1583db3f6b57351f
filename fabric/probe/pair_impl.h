/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by pair.c (session), pair_open.c (set-up), pair_phase.c (measurement),
 * pair_talk.c, pair_end.c and pair_trace.c; no other file includes it. */
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
	int64_t start_ns; /* start of the work item at this end */
	int64_t deadline_ns;
	int64_t grace_ns; /* the other end's wait beyond a transfer's deadline */
	struct bu_pair_kept open; /* queue pairs with device and memory */
	struct bu_err open_err;   /* why these are not open or not connected */
	int peer_opened;
	int unreached; /* no acknowledgement in one direction, so none can come in the
			  other */
	/* the phase */
	int source, sink;        /* roles of this end */
	struct bu_verbs *verbs;  /* queue pairs of the phase */
	struct bu_wait transfer; /* also ends when the peer speaks out of turn */
	struct bu_wait talk;
	struct bu_counters before, after; /* around the runs */
	int counted;                      /* after is set */
	json_t *early;                    /* the peer's message during a transfer */
	int64_t early_ns;                 /* when it came */
	int64_t heard_ns;                 /* when the last message came */
	json_t *peer_end;                 /* the peer's {"end":...}; NULL = not yet */
	int echo;                         /* this end stopped because the peer did */
};

/* Opens everything that needs no peer; a failure goes to open_err. */
void bu_pair_prepare(struct session *s);
/* Both ends agree and connect their queue pairs. -1: the probe cannot go on. */
bu_must int bu_pair_open(struct session *s, struct bu_err *err);
/* keep: leaves the set to the next probe, where opts->kept is set. */
void bu_pair_release(struct session *s, int keep);

struct bu_wait bu_pair_wait(struct session *s, int64_t deadline_ns);
/* stop() of a transfer; arg: the session. The peer may end the transfer. */
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

/* 1: this phase moves payload from end `direction`. */
int bu_pair_moves(const struct session *s, int direction);
/* This end's clock of a direction: [0] is the sender's, [1] the receiver's. */
double *bu_pair_clock(struct session *s, int direction);
/* Exchanges {"end":...} with the peer and records the errors. own: kind NONE = success
 * at this end. -1: the probe cannot go on. */
bu_must int bu_pair_close(struct session *s, struct bu_err *own, struct bu_err *err);

/* pair_trace.c. Where the item asks for it, each end traces the paths of its own flows
 * and tells the other. -1: the probe cannot go on. */
bu_must int bu_pair_trace(struct session *s, struct bu_err *err);

/* direction: the sending end, or both at once. -1: the probe cannot go on. */
enum { BU_PHASE_BOTH = 2 };
bu_must int bu_pair_phase(struct session *s, int direction, int64_t deadline_ns,
			  struct bu_err *err);

#endif
