/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that read input from unknown hosts in the boot network, and their users.
 * They do not run as bringupd's user, whose files are keys and passwords.
 */
#ifndef BU_BOOT_PROGRAM_H
#define BU_BOOT_PROGRAM_H

#include <pwd.h>
#include <stdint.h>

struct bu_boot_program {
	const char *name;     /* "dnsmasq" */
	const char *path;     /* on Debian; an ordinary PATH does not have it */
	const char *users[2]; /* of packaging/, and of Debian's package */
	const char *socket;   /* of its unit in packaging/ */
	uint64_t caps;        /* capabilities that it keeps; bits 1 << CAP_... */
};

/* NULL = unknown name. */
const struct bu_boot_program *bu_boot_program(const char *name);
/* The program's path if it exists, else its name, for PATH. */
const char *bu_boot_path(const struct bu_boot_program *program);
/* The first of its users that exists here, by getpwnam(); NULL = none. */
const struct passwd *bu_boot_user(const struct bu_boot_program *program);

#endif
