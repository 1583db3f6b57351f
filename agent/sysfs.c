/* SPDX-License-Identifier: Apache-2.0 */
/* Reading what the kernel tells; for inventory.c and links.c. */
#include "agent/sysfs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

void
bu_sysfs_clean(char *text)
{
	size_t size = strlen(text);
	size_t skip = strspn(text, " \t");

	while (size > skip && (text[size - 1] == ' ' || text[size - 1] == '\t'))
		size--;
	memmove(text, text + skip, size - skip);
	text[size - skip] = '\0';
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
			*text = '?';
}

static char *path_below(const char *root, const char *fmt, va_list args)
	__attribute__((format(printf, 2, 0)));
static char *
path_below(const char *root, const char *fmt, va_list args)
{
	bu_autofree char *below = bu_xvasprintf(fmt, args);

	return bu_xasprintf("%s/%s", root, below);
}

void
bu_sysfs_line(const char *root, char *ret, size_t size, const char *fmt, ...)
{
	bu_autofree char *path = NULL;
	va_list args;

	va_start(args, fmt);
	path = path_below(root, fmt, args);
	va_end(args);
	bu_file_line(path, ret, size);
	bu_sysfs_clean(ret);
}

int64_t
bu_sysfs_number(const char *root, int64_t max, int64_t fallback, const char *fmt, ...)
{
	bu_autofree char *path = NULL;
	char text[32];
	long long number;
	char *end;
	va_list args;

	va_start(args, fmt);
	path = path_below(root, fmt, args);
	va_end(args);
	bu_file_line(path, text, sizeof(text));
	bu_sysfs_clean(text);
	errno = 0;
	number = strtoll(text, &end, 10);
	return errno || end == text || *end || number < 0 || number > max ? fallback
									  : number;
}

void
bu_sysfs_target(const char *root, char *ret, size_t size, const char *fmt, ...)
{
	bu_autofree char *path = NULL;
	char target[PATH_MAX];
	const char *slash;
	ssize_t got;
	va_list args;

	va_start(args, fmt);
	path = path_below(root, fmt, args);
	va_end(args);
	got = readlink(path, target, sizeof(target) - 1);
	target[got < 0 ? 0 : got] = '\0';
	slash = strrchr(target, '/');
	bu_text_copy(ret, size, slash ? slash + 1 : target);
	bu_sysfs_clean(ret);
}
