/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of the programs that read consoles; for console.c. */
#ifndef BU_POWER_CONSOLE_END_H
#define BU_POWER_CONSOLE_END_H

#include <sys/types.h>

#include "base/loop.h"

struct bu_console_ends;
struct bu_console_ends *bu_console_ends_create(struct bu_loop *loop);
/* Waits for all of them together, not for each; within half a second. */
void bu_console_ends_destroy(struct bu_console_ends *ends);

/* A program that was told to end by the end of its input. */
struct bu_console_end {
	const char *host; /* of its BMC */
	pid_t pid;
	int out_fd, errs_fd; /* do not block; taken */
	int logs_out;        /* it ends a session at the BMC first */
};
void bu_console_ends_add(struct bu_console_ends *ends,
			 const struct bu_console_end *program);
/* Does one of this BMC still end? */
int bu_console_ends_has(const struct bu_console_ends *ends, const char *host);

#endif
