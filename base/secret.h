/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets: a profile only says where one lies. The form is checked with the profile,
 * the secret itself is read where it is used and nowhere else: it never becomes part of
 * a revision, a plan, a log or an error text.
 *
 *	file:/path        a plain file that only its owner can read, beneath secrets_dir
 *	env:NAME          an environment variable, for tests and CI
 *	credential:NAME   a file below $CREDENTIALS_DIRECTORY (systemd: LoadCredential=)
 *	exec:/path        a program beneath secrets_dir; its output is the secret
 */
#ifndef BU_BASE_SECRET_H
#define BU_BASE_SECRET_H

#include <stddef.h>

#include "base/err.h"

enum { BU_SECRET_MAX = 64 * 1024, BU_SECRET_EXEC_MS = 20 * 1000 };

int bu_secret_form_ok(const char *reference);
/* The secret, NUL-terminated, may hold other NULs; owned: hand it to bu_secret_free().
 * BU_ERR_DENIED: a file or credential that group or others may read, that is a link or
 * no plain file or belongs to another user than root, this process or a system account
 * (munge has its own key). exec: blocks for at most BU_SECRET_EXEC_MS: for a child or
 * the command line, never for the daemon's loop; the program's file must be safe in the
 * same way against being written. */
char *bu_secret_resolve(const char *reference, size_t *ret_size, struct bu_err *err);

/* For what must not block: the program of an exec: reference, whose file is safe;
 * owned.
 */
int bu_secret_is_exec(const char *reference);
char *bu_secret_program(const char *reference, struct bu_err *err);
/* The secret in what the program printed, without its last line end. Owned. */
char *bu_secret_of_output(const char *reference, const char *out, size_t out_size,
			  size_t *ret_size, struct bu_err *err);
/* Overwrites it first. */
void bu_secret_free(char *secret, size_t size);

#endif
