/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures the serial consoles of machines: one program per machine (ipmitool, or this
 * program on a libvirt domain), whose output goes into the machine's file. Runs in the
 * child of bringup-power that has the credentials; perform_console.c calls it.
 * Read-only: nothing is ever sent to a machine.
 */
#ifndef BU_POWER_CONSOLE_H
#define BU_POWER_CONSOLE_H

#include "provisioner/power/driver.h"

struct bu_consoles;
struct bu_consoles *bu_consoles_create(struct bu_loop *loop, const char *dir);
/* Tells all programs to end, at once. bu_consoles_destroy() comes next. */
void bu_consoles_end(struct bu_consoles *consoles);
/* Takes at most 500 ms, for any number of programs. */
void bu_consoles_destroy(struct bu_consoles *consoles);

enum bu_console_state {
	BU_CONSOLE_OPEN,
	BU_CONSOLE_DUE,   /* closed; may be opened now */
	BU_CONSOLE_WAITS, /* opened again later; words have the reason */
	BU_CONSOLE_TAKEN, /* another node's console is read from this BMC; words name
			     the node */
};
/* Keeps the console open for keep_ms from now. Credentials that the BMC refused (their
 * digest; "" = none) are not tried again. words: borrowed until the next call. */
enum bu_console_state bu_consoles_keep(struct bu_consoles *consoles, const char *node,
				       const char *bmc, int64_t keep_ms,
				       const char **ret_words);
/* Opens a console that is kept and due. */
void bu_consoles_open(struct bu_consoles *consoles, const char *node,
		      const struct bu_power_target *target,
		      const struct bu_power_console *console, const char *digest);
/* Opening is not possible now; the console is due again later. */
void bu_consoles_put_off(struct bu_consoles *consoles, const char *node,
			 const char *words);
/* A machine was switched on: writes a line with the time. Closed consoles of the BMC
 * are due at once, unless their credentials were refused. */
void bu_consoles_mark(struct bu_consoles *consoles, const char *bmc, const char *words);

#endif
