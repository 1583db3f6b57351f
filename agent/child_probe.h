/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A child process of the agent that answers what it is asked, one line of JSON each:
 * for calls that may hang in a driver. What is asked travels over a socket that no
 * other process has, never in an argument or a file. The child may keep something open
 * from one answer to the next.
 */
#ifndef BU_AGENT_CHILD_PROBE_H
#define BU_AGENT_CHILD_PROBE_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* In the child. *kept: zeroed at first, the child's own. ask NULL: let go of it; the
 * answer is not read. New reference. */
typedef json_t *(*bu_child_probe_fn)(const json_t *ask, void **kept);

/* Zeroed at first: there is none yet. */
struct bu_child_probe {
	pid_t pid;
	int fd;
	char *text; /* what was read and is no whole line yet */
	size_t size;
};

/* Starts it where there is none, and asks. Never blocks. -1: there is none now. */
bu_must int bu_child_probe_ask(struct bu_child_probe *child, bu_child_probe_fn fn,
			       const json_t *ask, struct bu_err *err);
/* What there is to read of fd. NULL: no answer yet, or with an error, the child has
 * died; then there is none. New reference. */
json_t *bu_child_probe_take(struct bu_child_probe *child, struct bu_err *err);
/* Asks a child that is there for this alone, and waits for its answer: BU_ERR_TIMEOUT
 * after limit_ms. New reference. */
json_t *bu_child_probe_once(bu_child_probe_fn fn, const json_t *ask, int64_t limit_ms,
			    struct bu_err *err);
/* No more will be asked: it lets go of what it keeps and ends. */
void bu_child_probe_finish(struct bu_child_probe *child);
/* Waits for the end of those that were told to finish, wait_ms long, and then kills
 * them; 0 kills them at once. Afterwards there are none. ret_left (may be NULL): which
 * do not die, because they sleep in a driver, and are left behind. It takes no longer
 * for several than for one. */
void bu_child_probe_end(struct bu_child_probe *const *list, size_t count,
			int64_t wait_ms, unsigned char *ret_left);

#endif
