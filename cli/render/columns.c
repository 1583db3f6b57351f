/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Widths on a terminal, for lines that are drawn again. The daemon's texts are UTF-8
 * whatever the caller's locale is, so libc is asked in a UTF-8 locale of our own.
 * Invariant: a width is never counted too small, for a line that wraps by itself breaks
 * the screen; where libc does not know a character it counts as two.
 */
#include "cli/render/columns.h"

#include <limits.h>
#include <locale.h>
#include <string.h>
#include <wchar.h>

#include "base/err.h"

enum { UNKNOWN_WIDTH = 2 };

/* The character at the text: its bytes, and *ret_width columns. */
static size_t
step(const char *text, int *ret_width)
{
	mbstate_t state = {0};
	wchar_t character;
	size_t size = mbrtowc(&character, text, strlen(text), &state);
	int width;

	*ret_width = (unsigned char)*text < 0x80 ? 1 : UNKNOWN_WIDTH;
	if (size == 0 || size > MB_LEN_MAX)
		return 1;
	width = wcwidth(character);
	if (width >= 0)
		*ret_width = width;
	return size;
}

/* Bytes that fit into the columns, and how many of those they take. */
static size_t
fit(const char *text, int width, int *ret_columns)
{
	static locale_t utf8;
	const char *p = text;
	locale_t old;

	if (!utf8)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	old = utf8 ? uselocale(utf8) : (locale_t)0;
	*ret_columns = 0;
	while (*p) {
		int columns;
		size_t size = step(p, &columns);

		if (columns > width - *ret_columns)
			break;
		*ret_columns += columns;
		p += size;
	}
	if (old)
		uselocale(old);
	return (size_t)(p - text);
}

int
bu_columns(const char *text)
{
	int columns;

	fit(text, INT_MAX, &columns);
	return columns;
}

void
bu_columns_cut(char *text, int width)
{
	int columns;

	text[fit(text, width > 0 ? width : 0, &columns)] = '\0';
}

/* Bytes of the next line: up to the last space that fits. */
static size_t
line_size(const char *text, int width)
{
	int columns;
	size_t size = fit(text, width, &columns), word = size;

	if (!text[size])
		return size;
	while (word > 0 && text[word] != ' ')
		word--;
	while (word > 0 && text[word - 1] == ' ')
		word--;
	if (word > 0)
		return word;
	return size > 0 ? size : 1; /* narrower than one character */
}

/* What is left on the last line, marked as cut when it is. */
static char *
last_line(const char *text, int width)
{
	int columns;
	size_t size = fit(text, width, &columns);

	if (!text[size])
		return bu_xstrdup(text);
	size = width > 3 ? line_size(text, width - 3) : size;
	return bu_xasprintf("%.*s%s", (int)size, text, width > 3 ? "..." : "");
}

char *
bu_columns_wrap(const char *text, int width, int indent, int rows)
{
	char *all = bu_xstrdup("");

	width = width > indent ? width - indent : 1;
	for (int row = 0; row < rows && *text; row++) {
		bu_autofree char *old = all;
		size_t size = line_size(text, width);
		bu_autofree char *line = row == rows - 1 ? last_line(text, width)
							 : bu_xstrndup(text, size);

		all = bu_xasprintf("%s%s%*s%s", old, row ? "\n" : "", indent, "", line);
		text += size;
		text += strspn(text, " ");
	}
	return all;
}
