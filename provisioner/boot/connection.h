/* SPDX-License-Identifier: Apache-2.0 */
/* bringupd's end of a connection to bringup-boot (serve.h has its lines). */
#ifndef BU_BOOT_CONNECTION_H
#define BU_BOOT_CONNECTION_H

#include <sys/types.h>

#include "base/err.h"
#include "provisioner/boot/program.h"

struct bu_connection {
	int fd;    /* -1 = closed */
	pid_t pid; /* bringup-boot, where it is our child; else 0 */
	int pidfd;
	int warned; /* that the program runs as we do */
};

void bu_connection_init(struct bu_connection *connection);
/* To the unit at socket (NULL = that of the program, unless we are root), else to a
 * child that is made for it: as root with the program's user, else as who we are, which
 * is logged once. conf_path: the folder "written" beside it is the program's in a child
 * of ours. */
bu_must int bu_connection_open(struct bu_connection *connection,
			       const struct bu_boot_program *program,
			       const char *socket, const char *conf_path,
			       struct bu_err *err);
/* The program has ended when this returns, if it was our child's. */
void bu_connection_close(struct bu_connection *connection);
bu_must int bu_connection_say(struct bu_connection *connection, const char *line,
			      struct bu_err *err);
/* Bytes, 0 at the end, -1 when there are none yet. */
ssize_t bu_connection_read(struct bu_connection *connection, char *ret, size_t size);

#endif
