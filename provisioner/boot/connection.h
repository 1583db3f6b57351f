/* SPDX-License-Identifier: Apache-2.0 */
/* bringupd's end of a connection to bringup-boot (lines: serve.h). */
#ifndef BU_BOOT_CONNECTION_H
#define BU_BOOT_CONNECTION_H

#include <sys/types.h>

#include "base/err.h"
#include "provisioner/boot/program.h"

struct bu_connection {
	int fd;    /* -1 = closed */
	pid_t pid; /* bringup-boot as our child; else 0 */
	int pidfd;
	int warned; /* that the program runs as our user */
};

void bu_connection_init(struct bu_connection *connection);
/* Connects to the unit at socket (NULL = the program's, unless we are root). Else
 * starts a child: as root with the program's user, otherwise with ours, which is logged
 * once. Of a child of ours, the folder "written" beside conf_path is the program's. */
bu_must int bu_connection_open(struct bu_connection *connection,
			       const struct bu_boot_program *program,
			       const char *socket, const char *conf_path,
			       struct bu_err *err);
/* A program of our child has ended when this returns. */
void bu_connection_close(struct bu_connection *connection);
bu_must int bu_connection_say(struct bu_connection *connection, const char *line,
			      struct bu_err *err);
/* Bytes read; 0 = end; -1 = none yet. */
ssize_t bu_connection_read(struct bu_connection *connection, char *ret, size_t size);

#endif
