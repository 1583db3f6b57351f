/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of the boot network that stays: started with its configuration file by
 * bringup-boot, started again a moment after it ended on its own. The unit of
 * bringup-boot runs it where bringupd is not root, else a child of bringupd does.
 */
#ifndef BU_BOOT_CHILD_H
#define BU_BOOT_CHILD_H

#include <sys/types.h>

#include "base/err.h"
#include "base/loop.h"

/* The answer to bu_child_widen(): "widened", "busy" (ask again), "failed"; words of
 * the latter, else "". */
typedef void (*bu_child_answer_fn)(const char *answer, const char *words, void *arg);

struct bu_child_opts {
	const char *name;      /* of program.h: "dnsmasq" */
	const char *conf_path; /* a plain file that we own and nobody else writes */
	const char *socket;    /* of the unit; NULL = that of program.h, if not root */
	bu_child_answer_fn fn; /* may be NULL */
	void *arg;
};

struct bu_child;
/* Does not start it. The texts are copied. */
struct bu_child *bu_child_create(struct bu_loop *loop,
				 const struct bu_child_opts *opts);
void bu_child_destroy(struct bu_child *child);
/* Ends it where it runs, and starts it; a failure is logged and tried again. */
void bu_child_restart(struct bu_child *child);
void bu_child_stop(struct bu_child *child);
/* The number of its present start, from 1 on; 0 when it does not run. */
unsigned int bu_child_run(const struct bu_child *child);
/* Makes it read its hosts again. BU_ERR_STATE: it does not run. */
bu_must int bu_child_reload(struct bu_child *child, struct bu_err *err);
/* Asks for room for a storm in the queue of its DHCP socket; opts.fn gets the answer.
 */
bu_must int bu_child_widen(struct bu_child *child, struct bu_err *err);

/* A folder that its user may read and other users of this machine may not; what is
 * written in it may therefore be 0644. */
bu_must int bu_child_folder(const char *name, const char *path, struct bu_err *err);
/* Writes the file unless *present is its text already; *changed = 1 when it did. *text
 * is taken into *present then. */
bu_must int bu_child_put(const char *path, mode_t mode, char **present, char **text,
			 int *changed, struct bu_err *err);

#endif
