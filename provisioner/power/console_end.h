/* SPDX-License-Identifier: Apache-2.0 */
/* Console programs that are ending; for console.c. */
#ifndef BU_POWER_CONSOLE_END_H
#define BU_POWER_CONSOLE_END_H

#include <sys/types.h>

#include "base/loop.h"

struct bu_console_ends;
struct bu_console_ends *bu_console_ends_create(struct bu_loop *loop);
/* Waits for all programs together, at most 500 ms. */
void bu_console_ends_destroy(struct bu_console_ends *ends);

/* A program whose input was closed so that it ends. */
struct bu_console_end {
	const char *host; /* of its BMC */
	pid_t pid;
	int out_fd, errs_fd; /* non-blocking; taken */
	int logs_out;        /* the program ends its session at the BMC first */
};
void bu_console_ends_add(struct bu_console_ends *ends,
			 const struct bu_console_end *program);
/* 1 = a program of this BMC is still ending. */
int bu_console_ends_has(const struct bu_console_ends *ends, const char *host);

#endif
