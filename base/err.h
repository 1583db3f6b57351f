/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors: one caller-owned object, the last argument of what can fail.
 *
 * A function that fails returns -1 or NULL, fills `err` when it is not NULL and leaves
 * everything else as it was. The kinds are one table; the JSON name, the HTTP status
 * and the exit code of the command line all come from it.
 */
#ifndef BU_BASE_ERR_H
#define BU_BASE_ERR_H

#include "base/mem.h"

/* id, JSON name, HTTP status, exit code of the command line */
#define BU_ERRS(X)                                                                     \
	X(NONE, "none", 200, 0)                                                        \
	X(USAGE, "usage", 400, 1)                                                      \
	X(INVAL, "invalid", 400, 3)                                                    \
	X(NOTFOUND, "not-found", 404, 4)                                               \
	X(STATE, "wrong-state", 409, 5)                                                \
	X(DENIED, "denied", 403, 6)                                                    \
	X(TIMEOUT, "timeout", 504, 7)                                                  \
	X(REMOTE, "remote", 502, 8)                                                    \
	X(VERIFY, "verify", 422, 9)                                                    \
	X(IO, "io", 500, 10)                                                           \
	X(BUSY, "busy", 503, 11)                                                       \
	X(CANCELLED, "cancelled", 409, 12)                                             \
	X(PARTLY, "partly", 409, 13)                                                   \
	X(FOREIGN, "foreign-machine", 409, 14)

enum bu_err_kind {
#define X(id, name, http, code) BU_ERR_##id,
	BU_ERRS(X)
#undef X
};

struct bu_err {
	enum bu_err_kind kind;
	int sys_errno; /* 0 when no system call failed */
	char text[400];
};

/* Fills err (which may be NULL); always -1. A sys_errno other than 0 appends its text.
 * The text is always UTF-8, whatever the arguments hold: it ends up in JSON. */
int bu_err_set(struct bu_err *err, enum bu_err_kind kind, int sys_errno,
	       const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Puts "<fmt>: " before the text that is there; always -1. */
int bu_err_wrap(struct bu_err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

const char *bu_err_name(enum bu_err_kind kind);
/* BU_ERR_IO for a name that is not in the table. */
enum bu_err_kind bu_err_from_name(const char *name);
int bu_err_http(enum bu_err_kind kind);
int bu_err_exit_code(enum bu_err_kind kind);

#endif
