/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection of bringupd to bringup-boot: lines over a Unix stream socket.
 *
 * bringupd says "start PATH" (the configuration) once, then "reload" (the program reads
 * its hosts again) and "widen" (its DHCP socket gets room for a storm). The answers to
 * "widen" are "widened", "busy" (there is no such socket yet) and "failed WORDS";
 * "ended WORDS" is the last line. The program runs no longer than the connection.
 */
#ifndef BU_BOOT_SERVE_H
#define BU_BOOT_SERVE_H

#include <sys/types.h>

#include "base/err.h"
#include "provisioner/boot/program.h"

struct bu_serve {
	const struct bu_boot_program *program;
	const char *folder; /* where the program may write: leases, its pid file */
	int fd;             /* the connection; taken */
	uid_t owner;        /* of the configuration: the user at the other end */
};
/* Returns when the program has ended. */
void bu_serve(const struct bu_serve *how);

/* Gives its DHCP sockets a queue for 5,000 requests. BU_ERR_BUSY: it has none yet. */
bu_must int bu_serve_widen(pid_t pid, struct bu_err *err);

#endif
