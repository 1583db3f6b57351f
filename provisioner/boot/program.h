/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The programs that read what strangers send in the boot network, and the users that
 * they run as: not bringupd's own, whose files are keys and passwords.
 */
#ifndef BU_BOOT_PROGRAM_H
#define BU_BOOT_PROGRAM_H

#include <pwd.h>
#include <stdint.h>

struct bu_boot_program {
	const char *name; /* "dnsmasq" */
	const char
		*path; /* where Debian has it: an ordinary PATH does not look there */
	const char *users[2]; /* that of packaging/, and that of Debian's package */
	const char *socket;   /* of its unit in packaging/ */
	uint64_t caps;        /* all that it keeps; a bit is 1 << CAP_... */
};

/* NULL: there is no such program. */
const struct bu_boot_program *bu_boot_program(const char *name);
/* Its path, or its name, which is looked up in PATH. */
const char *bu_boot_path(const struct bu_boot_program *program);
/* The first of its users that this machine has, as getpwnam() returns it; NULL = none.
 */
const struct passwd *bu_boot_user(const struct bu_boot_program *program);

#endif
