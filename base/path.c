/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks of paths. Called wherever a path comes from a profile, from the network or
 * from a command line. Invariant: what passes cannot leave the folder that it is put
 * behind, as far as its text goes.
 */
#include "base/path.h"

#include <limits.h>
#include <string.h>

#include "base/mem.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-"

/* Parts with a '/' between them and perhaps one at the end. */
static int
has_clean_parts(const char *text)
{
	if (strlen(text) >= PATH_MAX)
		return 0;
	do {
		size_t size = strcspn(text, "/");

		if (size == 0 || size > NAME_MAX ||
		    (size <= 2 && strspn(text, ".") >= size))
			return 0;
		for (size_t i = 0; i < size; i++)
			if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
				return 0;
		text += size + (text[size] == '/');
	} while (*text);
	return 1;
}

int
bu_path_is_name(const char *text)
{
	return *text && *text != '.' && *text != '-' && strlen(text) <= NAME_MAX &&
	       text[strspn(text, NAME_CHARS)] == '\0';
}

int
bu_path_is_relative(const char *text)
{
	return has_clean_parts(text);
}

int
bu_path_is_absolute(const char *text)
{
	return *text == '/' && has_clean_parts(text + 1);
}

int
bu_path_is_file(const char *text)
{
	return bu_path_is_absolute(text) && text[strlen(text) - 1] != '/';
}

int
bu_path_is_below(const char *text, const char *folder)
{
	size_t size = strlen(folder);

	return bu_path_is_file(text) && strncmp(text, folder, size) == 0 &&
	       text[size] == '/';
}

int
bu_path_is_plain(const char *text)
{
	return *text == '/' && text[strspn(text, NAME_CHARS "/")] == '\0';
}

const char *
bu_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *
bu_path_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? bu_xstrdup("/")
	       : slash       ? bu_xstrndup(path, (size_t)(slash - path))
			     : bu_xstrdup(".");
}
