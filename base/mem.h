/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, cleanup of locals, assertions: what every file stands on. */
#ifndef BU_BASE_MEM_H
#define BU_BASE_MEM_H

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

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
/* A result that is looked at, or thrown away in so many words. */
#define bu_must __attribute__((warn_unused_result))
static inline void
bu_ignore(int rc)
{
	(void)rc;
}
#define BU_LEN(array) (sizeof(array) / sizeof((array)[0]))

#endif
