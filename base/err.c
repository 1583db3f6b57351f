/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error object, the table of its kinds, and memory that never fails.
 * Everything in the house uses this; nothing here allocates for an error.
 */
#include "base/err.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static const struct {
	const char *name;
	int http;
	int exit_code;
} kinds[] = {
#define X(id, name, http, code) {name, http, code},
	BU_ERRS(X)
#undef X
};

int
bu_err_set(struct bu_err *err, enum bu_err_kind kind, int sys_errno, const char *fmt,
	   ...)
{
	va_list args;
	size_t used;

	if (!err)
		return -1;
	err->kind = kind;
	err->sys_errno = sys_errno;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	used = strlen(err->text);
	if (sys_errno)
		snprintf(err->text + used, sizeof(err->text) - used, ": %s",
			 strerror(sys_errno));
	bu_text_clean(err->text);
	return -1;
}

int
bu_err_wrap(struct bu_err *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list args;
	size_t used;

	if (!err)
		return -1;
	memcpy(old, err->text, sizeof(old));
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", old);
	bu_text_clean(err->text);
	return -1;
}

const char *
bu_err_name(enum bu_err_kind kind)
{
	return kinds[kind].name;
}

enum bu_err_kind
bu_err_from_name(const char *name)
{
	for (size_t i = 0; i < BU_LEN(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return (enum bu_err_kind)i;
	return BU_ERR_IO;
}

int
bu_err_http(enum bu_err_kind kind)
{
	return kinds[kind].http;
}

int
bu_err_exit_code(enum bu_err_kind kind)
{
	return kinds[kind].exit_code;
}

void
bu_assert_failed(const char *cond, const char *file, int line)
{
	fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, cond);
	abort();
}

static void *
must(void *memory)
{
	if (!memory) {
		static const char text[] = "out of memory\n";
		ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);

		(void)ignored;
		abort();
	}
	return memory;
}

void *
bu_xmalloc(size_t size)
{
	return must(malloc(size ? size : 1));
}

void *
bu_xcalloc(size_t count, size_t size)
{
	return must(calloc(count ? count : 1, size ? size : 1));
}

void *
bu_xrealloc(void *old, size_t size)
{
	return must(realloc(old, size ? size : 1));
}

void *
bu_xgrow(void *array, size_t *cap, size_t want, size_t size)
{
	size_t bigger = *cap ? *cap : 8;

	if (want <= *cap)
		return array;
	while (bigger < want)
		bigger *= 2;
	bu_assert(bigger <= SIZE_MAX / size);
	*cap = bigger;
	return bu_xrealloc(array, bigger * size);
}

char *
bu_xstrdup(const char *text)
{
	return must(strdup(text));
}

char *
bu_xstrndup(const char *text, size_t max)
{
	return must(strndup(text, max));
}

char *
bu_xvasprintf(const char *fmt, va_list args)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	return must(text);
}

char *
bu_xasprintf(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	return text;
}

void
bu_cleanup_free(void *pointer_to_pointer)
{
	void *pointer;

	memcpy(&pointer, pointer_to_pointer, sizeof(pointer));
	free(pointer);
}

void
bu_cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
