/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group of checks in a process of its own: libraries and devices that hang or crash
 * take nobody along. Called by the runner of checks and by probes that use GPU memory.
 */
#ifndef BU_CHECKS_CHILD_CHECK_H
#define BU_CHECKS_CHILD_CHECK_H

#include <sys/types.h>

#include "checks/checks.h"

enum {
	BU_CHILD_CHECK_GRACE_MS = 5000, /* over ctx.deadline_ms */
	BU_CHILD_CHECK_BROKEN = -2,
};

/* Runs fn in a child and appends its rows, also those that it had before it failed. A
 * child that stays in one of its steps for longer than the step's limit
 * (bu_checks_doing) is killed, and so is one that is cancelled or late; one that dies
 * is told. Both are rows in the name of the step; without one it is
 * BU_CHILD_CHECK_BROKEN and err says it. -1: fn itself says that it cannot run, or it
 * was cancelled. */
bu_must int bu_child_check_run(const struct bu_checks_ctx *ctx, const char *group,
			       bu_checks_fn fn, struct bu_checks *out,
			       struct bu_err *err);

/* Waits so long for children (0 is none) to end, and then kills them and their groups;
 * for several no longer than for one. ret_left: which sleep in a driver, and are left
 * behind. */
void bu_child_check_end_all(const pid_t *pids, size_t count, int64_t wait_ms,
			    unsigned char *ret_left);

#endif
