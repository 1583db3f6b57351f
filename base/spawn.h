/* SPDX-License-Identifier: Apache-2.0 */
/* Making a child process: for worker.c, service.c and children in the foreground. */
#ifndef BU_BASE_SPAWN_H
#define BU_BASE_SPAWN_H

#include <sys/types.h>

#include "base/err.h"

struct bu_spawn {
	const char *const *argv;
	const char *const *env; /* added; NULL = none */
	const char *cwd;        /* NULL = as it is */
	int stdin_fd;           /* -1 = /dev/null */
	int stdout_fd;          /* -1 = as it is */
	int stderr_fd;
	int extra_fd; /* becomes descriptor 3; -1 = none */
	int outlive;  /* survives its parent */
	int group;    /* leads a process group of its own, of its pid */
};

/* *ret_pidfd (may be NULL) becomes readable when the child ends. A program that cannot
 * be executed is an error here, not an exit status. Ends an ignored SIGCHLD: exit
 * statuses would be lost. */
pid_t bu_spawn(const struct bu_spawn *how, int *ret_pidfd, struct bu_err *err);

#endif
