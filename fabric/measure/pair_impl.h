/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by pair.c (the session) and pair_phase.c (what is measured); nobody else
 * includes it. */
#ifndef BU_FABRIC_MEASURE_PAIR_IMPL_H
#define BU_FABRIC_MEASURE_PAIR_IMPL_H

#include "fabric/measure/channel.h"
#include "fabric/measure/device.h"
#include "fabric/measure/pair.h"
#include "fabric/measure/verbs.h"

struct session {
	const struct bu_pair_opts *opts;
	int fd; /* connected already; -1 = not */
	struct bu_channel *channel;
	struct bu_pair_result *result;
	int64_t deadline_ns;
	int64_t grace_ns; /* how much longer than a transfer the other end waits */
	struct bu_device device; /* context NULL: why not is in device_err */
	struct bu_err device_err;
	/* the phase */
	int source, sink; /* what this end is */
	struct bu_verbs *verbs;
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

struct bu_wait bu_pair_wait(struct session *s, int64_t deadline_ns);
/* direction: the end that the payload comes from, or both at once. -1: the probe cannot
 * go on. */
enum { BU_PHASE_BOTH = 2 };
int bu_pair_phase(struct session *s, int direction, int64_t deadline_ns,
		  struct bu_err *err);

#endif
