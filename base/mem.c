/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that never fails, and what ends a process that must not go on. */
#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
