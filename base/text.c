/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small things done to text. Called everywhere. Invariant: what is written into a field
 * ends in it and is UTF-8, each character of which is seen.
 */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plain.h"

#define BLANKS " \t\r\n"

/* Bytes of the character at the start of text, 0 when it is none. */
static size_t
character(const unsigned char *text)
{
	static const struct {
		unsigned char mask, lead;
		uint32_t least; /* smaller ones are spelled too long */
	} sizes[] = {{0x80, 0x00, 0},
		     {0xe0, 0xc0, 0x80},
		     {0xf0, 0xe0, 0x800},
		     {0xf8, 0xf0, 0x10000}};

	for (size_t size = 1; size <= BU_LEN(sizes); size++) {
		uint32_t code = text[0] & (unsigned char)~sizes[size - 1].mask;

		if ((text[0] & sizes[size - 1].mask) != sizes[size - 1].lead)
			continue;
		for (size_t i = 1; i < size; i++) {
			if ((text[i] & 0xc0) != 0x80)
				return 0;
			code = code << 6 | (text[i] & 0x3f);
		}
		if (code < sizes[size - 1].least || code > 0x10ffff ||
		    (code >= 0xd800 && code < 0xe000))
			return 0;
		return size;
	}
	return 0;
}

/* Is this the beginning of a character whose rest is missing? */
static int
cut_off(const unsigned char *text)
{
	size_t rest = strlen((const char *)text);

	if (rest > 3 || text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < rest; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return 1;
}

void
bu_text_clean(char *text)
{
	unsigned char *at = (unsigned char *)text;

	while (*at) {
		size_t size = character(at);

		if (size) {
			at += size;
		} else if (cut_off(at)) {
			*at = '\0';
		} else {
			*at++ = '?';
		}
	}
}

void
bu_text_copy(char *ret, size_t size, const char *text)
{
	bu_plain_copy(ret, size, text, SIZE_MAX, 1);
}

void
bu_text_copy_part(char *ret, size_t size, const char *text, size_t length)
{
	bu_plain_copy(ret, size, text, length, 1);
}

int
bu_text_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

int
bu_text_is(const char *text, const char *bytes)
{
	return *text && text[strspn(text, bytes)] == '\0';
}

int
bu_text_is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
			return 0;
	return 1;
}

char *
bu_text_trim(char *text)
{
	size_t size;

	text += strspn(text, BLANKS);
	for (size = strlen(text); size && strchr(BLANKS, text[size - 1]); size--)
		text[size - 1] = '\0';
	return text;
}

char *
bu_text_grub(const char *words)
{
	char *text = bu_xcalloc(2 * strlen(words) + 1, 1), *to = text;

	for (const char *p = words; *p; p++) {
		if (!isalnum((unsigned char)*p) && !strchr(" =,.:_/+%@-", *p))
			*to++ = '\\';
		*to++ = *p;
	}
	return text;
}

char *
bu_text_last_line(char *text)
{
	char *trimmed = bu_text_trim(text), *end = strrchr(trimmed, '\n');

	return end ? end + 1 : trimmed;
}

int
bu_text_int(const char *text, int64_t min, int64_t max, int64_t *ret)
{
	const char *digits = text + (*text == '-');
	long long value;

	errno = 0;
	value = strtoll(text, NULL, 10);
	if (!bu_text_is(digits, "0123456789") || errno || value < min || value > max)
		return -1;
	*ret = value;
	return 0;
}

void
bu_text_add(char **list, const char *separator, const char *fmt, ...)
{
	bu_autofree char *old = *list, *added = NULL;
	va_list args;

	va_start(args, fmt);
	added = bu_xvasprintf(fmt, args);
	va_end(args);
	*list = bu_xasprintf("%s%s%s", old ? old : "", old && *old ? separator : "",
			     added);
}
