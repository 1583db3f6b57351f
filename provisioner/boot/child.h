/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A permanent program of the boot network, started by bringup-boot with its
 * configuration file, and restarted when it ends on its own. Where bringupd is not
 * root, the unit of bringup-boot runs it, else a child of bringupd.
 */
#ifndef BU_BOOT_CHILD_H
#define BU_BOOT_CHILD_H

#include <sys/types.h>

#include "base/err.h"
#include "base/loop.h"

/* Answer to bu_child_widen(): "widened", "busy" (ask again) or "failed". words: of
 * "failed", else "". */
typedef void (*bu_child_answer_fn)(const char *answer, const char *words, void *arg);

struct bu_child_opts {
	const char *name;      /* in program.h: "dnsmasq" */
	const char *conf_path; /* a regular file that we own and only we write */
	const char *socket;    /* of the unit; NULL = by program.h, unless root */
	bu_child_answer_fn fn; /* may be NULL */
	void *arg;
};

struct bu_child;
/* Does not start the program. Texts are copied. */
struct bu_child *bu_child_create(struct bu_loop *loop,
				 const struct bu_child_opts *opts);
void bu_child_destroy(struct bu_child *child);
/* Ends a running program and starts it. A failure is logged and tried again. */
void bu_child_restart(struct bu_child *child);
void bu_child_stop(struct bu_child *child);
/* Number of the present start, from 1; 0 = not running. */
unsigned int bu_child_run(const struct bu_child *child);
/* Tells the program to read its hosts again. BU_ERR_STATE: not running. */
bu_must int bu_child_reload(struct bu_child *child, struct bu_err *err);
/* Asks for a longer queue of the DHCP socket, for a storm of requests; opts.fn gets the
 * answer. */
bu_must int bu_child_widen(struct bu_child *child, struct bu_err *err);

/* Makes a folder that the program's user may read and other users may not; files in it
 * may be 0644. */
bu_must int bu_child_folder(const char *name, const char *path, struct bu_err *err);
/* Writes the file, unless its text is *present; *changed = 1 = written. *present takes
 * *text then. */
bu_must int bu_child_put(const char *path, mode_t mode, char **present, char **text,
			 int *changed, struct bu_err *err);

#endif
