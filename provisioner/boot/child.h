/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the boot network that stays: started with its configuration file,
 * started again a moment after it ended on its own.
 */
#ifndef BU_BOOT_CHILD_H
#define BU_BOOT_CHILD_H

#include "base/err.h"
#include "base/loop.h"
#include "base/worker.h"

/* An operation of priv.h. */
typedef struct bu_job *(*bu_child_start_fn)(struct bu_loop *loop, const char *conf_path,
					    bu_job_fn fn, void *arg,
					    struct bu_err *err);

struct bu_child;
/* Does not start it. name: for the log. */
struct bu_child *bu_child_create(struct bu_loop *loop, const char *name,
				 const char *conf_path, bu_child_start_fn fn);
void bu_child_destroy(struct bu_child *child);
/* Ends it where it runs, and starts it; a failure is logged and tried again. */
void bu_child_restart(struct bu_child *child);
void bu_child_stop(struct bu_child *child);
/* 0 when it does not run. */
pid_t bu_child_pid(const struct bu_child *child);

/* Writes the file (0600) unless *present is its text already; *changed = 1 when it did.
 * *text is taken into *present then. */
bu_must int bu_child_put(const char *path, char **present, char **text, int *changed,
			 struct bu_err *err);

#endif
