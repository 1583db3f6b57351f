/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps what machines write to their serial consoles: one program for each (ipmitool,
 * or this one on a libvirt domain), whose output goes into its file. Lives in the child
 * of bringup-power that has the credentials; perform_console.c feeds it. Read-only:
 * nothing is ever sent to a machine.
 */
#ifndef BU_POWER_CONSOLE_H
#define BU_POWER_CONSOLE_H

#include "provisioner/power/driver.h"

struct bu_consoles;
struct bu_consoles *bu_consoles_create(struct bu_loop *loop, const char *dir);
/* All programs begin to end, at once; destroy() comes next. */
void bu_consoles_end(struct bu_consoles *consoles);
/* Within half a second, however many there are. */
void bu_consoles_destroy(struct bu_consoles *consoles);

enum bu_console_state {
	BU_CONSOLE_OPEN,
	BU_CONSOLE_DUE,   /* it is not read, and may be opened now */
	BU_CONSOLE_WAITS, /* it is opened again later; words say why */
	BU_CONSOLE_TAKEN, /* another node's console comes from this BMC; words say whose
			   */
};
/* It is wanted until keep_ms from now. Credentials that it was refused with
 * (their digest, "" = none) are not tried again. words: borrowed until the next call.
 */
enum bu_console_state bu_consoles_keep(struct bu_consoles *consoles, const char *node,
				       const char *bmc, int64_t keep_ms,
				       const char **ret_words);
/* Opens it: due, and kept. */
void bu_consoles_open(struct bu_consoles *consoles, const char *node,
		      const struct bu_power_target *target,
		      const struct bu_power_console *console, const char *digest);
/* It cannot be opened now: it is due again after a while. */
void bu_consoles_put_off(struct bu_consoles *consoles, const char *node,
			 const char *words);
/* A machine was switched on: a line with the time; what is closed is due at once,
 * unless its credentials were refused. */
void bu_consoles_mark(struct bu_consoles *consoles, const char *bmc, const char *words);

#endif
