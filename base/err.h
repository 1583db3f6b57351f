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

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

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
	X(PARTLY, "partly", 409, 13)

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

/* Our own bugs only: nothing that comes from a network, a BMC or a file may reach one.
 */
#define bu_assert(cond)                                                                \
	do {                                                                           \
		if (__builtin_expect(!(cond), 0))                                      \
			bu_assert_failed(#cond, __FILE__, __LINE__);                   \
	} while (0)
_Noreturn void bu_assert_failed(const char *cond, const char *file, int line);

/* Memory: out of memory aborts (the state is on disk). */
void *bu_xmalloc(size_t size);
void *bu_xcalloc(size_t count, size_t size);
void *bu_xrealloc(void *old, size_t size);
/* Grows an array of `size`-byte members to hold at least `want`; *cap is updated. */
void *bu_xgrow(void *array, size_t *cap, size_t want, size_t size);
char *bu_xstrdup(const char *text);
char *bu_xstrndup(const char *text, size_t max);
char *bu_xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *bu_xvasprintf(const char *fmt, va_list args)
	__attribute__((format(printf, 1, 0)));

/* Scope cleanup for locals. */
void bu_cleanup_free(void *pointer_to_pointer);
void bu_cleanup_close(int *fd);
#define bu_autofree __attribute__((cleanup(bu_cleanup_free)))
#define bu_autoclose __attribute__((cleanup(bu_cleanup_close)))
/* Gives a pointer away: yields its value and leaves NULL behind. */
#define bu_steal(pp)                                                                   \
	({                                                                             \
		__typeof__(pp) bu_pp = (pp);                                           \
		__typeof__(*bu_pp) bu_p = *bu_pp;                                      \
		*bu_pp = NULL;                                                         \
		bu_p;                                                                  \
	})
#define bu_must __attribute__((warn_unused_result))
#define BU_LEN(array) (sizeof(array) / sizeof((array)[0]))

#endif
