/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits with a deadline, for channel.c, transfer.c and audit_lock.c. Invariant: no call
 * here sleeps longer than BU_WAIT_SLICE_MS without looking at the deadline and at
 * stop().
 */
#include "fabric/probe/wait.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"

int
bu_wait_check(struct bu_wait *wait, const char *what, struct bu_err *err)
{
	int64_t now_ns = bu_raw_ns();

	if (now_ns >= wait->deadline_ns)
		return bu_err_set(err, BU_ERR_TIMEOUT, 0,
				  "%s: it did not end within the deadline", what);
	if (!wait->stop || now_ns < wait->next_stop_ns)
		return 0;
	wait->next_stop_ns = now_ns + BU_WAIT_SLICE_MS * INT64_C(1000000);
	return wait->stop(wait->arg, err);
}

int
bu_wait_fd(struct bu_wait *wait, int fd, short events, const char *what,
	   struct bu_err *err)
{
	struct pollfd pollfd = {.fd = fd, .events = events};

	for (;;) {
		if (bu_wait_check(wait, what, err))
			return -1;
		if (poll(&pollfd, 1, BU_WAIT_SLICE_MS) > 0)
			return 0;
	}
}
