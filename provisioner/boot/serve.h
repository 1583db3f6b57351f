/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection from bringupd to bringup-boot: lines over a Unix stream socket.
 *
 * bringupd sends "start PATH" (the configuration) once, then "reload" (the program
 * reads its hosts again) and "widen" (its DHCP socket gets room for a storm).
 * bringup-boot answers "widen" with "widened", "busy" (no such socket yet) or "failed
 * WORDS". Its last line is "ended WORDS". The program ends with the connection.
 */
#ifndef BU_BOOT_SERVE_H
#define BU_BOOT_SERVE_H

#include <sys/types.h>

#include "base/err.h"
#include "provisioner/boot/program.h"

struct bu_serve {
	const struct bu_boot_program *program;
	const char *folder; /* writable for the program: leases, its pid file */
	int fd;             /* the connection; taken */
	uid_t owner;        /* the user at the other end, who owns the configuration */
};
/* Returns when the program has ended. */
void bu_serve(const struct bu_serve *how);

/* Gives the DHCP sockets a queue for 5,000 requests. BU_ERR_BUSY: no socket yet. */
bu_must int bu_serve_widen(pid_t pid, struct bu_err *err);

#endif
