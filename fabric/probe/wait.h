/* SPDX-License-Identifier: Apache-2.0 */
/* The deadline and the stop of every wait of a probe. */
#ifndef BU_FABRIC_PROBE_WAIT_H
#define BU_FABRIC_PROBE_WAIT_H

#include <stdint.h>

#include "base/err.h"

enum { BU_WAIT_SLICE_MS = 50 };

/* A wait ends at the deadline, or within BU_WAIT_SLICE_MS of stop() returning -1 with
 * err set. */
struct bu_wait {
	int64_t deadline_ns;                        /* by bu_raw_ns() */
	int (*stop)(void *arg, struct bu_err *err); /* may be NULL */
	void *arg;
	int64_t next_stop_ns; /* bu_wait_check()'s own */
};
/* 0: wait on; -1: BU_ERR_TIMEOUT "what: ...", or stop()'s error. */
bu_must int bu_wait_check(struct bu_wait *wait, const char *what, struct bu_err *err);
/* Waits until fd has one of `events` (poll's); same errors. */
bu_must int bu_wait_fd(struct bu_wait *wait, int fd, short events, const char *what,
		       struct bu_err *err);

#endif
