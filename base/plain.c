/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes texts of machines harmless; called where such a text comes in, by
 * record_read.c, the agents' listener, the drivers of BMCs and the log. Invariant: what
 * comes out is UTF-8, each of its characters is seen, and one that was clean is what it
 * was.
 */
#include "base/plain.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

#define MARK "\xef\xbf\xbd" /* U+FFFD */

/* First and last; sorted. */
static const uint32_t unseen[][2] = {
	{0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
	{0x61c, 0x61c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
	{0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
	{0xfe00, 0xfe0f}, {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
	{0xfffe, 0xffff}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static int
is_seen(uint32_t code, int lines)
{
	if (lines && (code == '\n' || code == '\t'))
		return 1;
	for (size_t i = 0; i < BU_LEN(unseen) && unseen[i][0] <= code; i++)
		if (code <= unseen[i][1])
			return 0;
	return 1;
}

/* How many bytes the character at the start has, by its first; 0 = that begins none. */
static size_t
size_of(unsigned char lead)
{
	return lead < 0x80   ? 1
	       : lead < 0xc2 ? 0
	       : lead < 0xe0 ? 2
	       : lead < 0xf0 ? 3
	       : lead < 0xf5 ? 4
			     : 0;
}

/* Bytes that belong together, 0 at the end and where the text was cut within a
 * character. *ret_seen: it is a character that may stay. */
static size_t
next(const char *text, size_t length, int lines, int *ret_seen)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *at = (const unsigned char *)text;
	size_t size = length && *at ? size_of(*at) : 0, have = 1;
	uint32_t code;

	*ret_seen = 0;
	if (!length || !*at)
		return 0;
	if (!size)
		return 1;
	code = size == 1 ? *at : *at & (0x7fU >> size);
	while (have < size && have < length && (at[have] & 0xc0) == 0x80)
		code = code << 6 | (at[have++] & 0x3f);
	if (have < size)
		return have == length || !at[have] ? 0 : 1;
	if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 1;
	*ret_seen = is_seen(code, lines);
	return size;
}

int
bu_plain_is(const char *text, int lines)
{
	size_t size;
	int seen;

	while ((size = next(text, SIZE_MAX, lines, &seen)) && seen)
		text += size;
	return !*text;
}

void
bu_plain_copy(char *ret, size_t size, const char *text, size_t length, int lines)
{
	size_t used = 0, part;
	int seen;

	while ((part = next(text, length, lines, &seen))) {
		size_t out = seen ? part : sizeof(MARK) - 1;

		if (used + out >= size)
			break;
		memcpy(ret + used, seen ? text : MARK, out);
		used += out;
		text += part;
		length -= part;
	}
	if (size)
		ret[used] = '\0';
}

char *
bu_plain(const char *text, int lines)
{
	size_t size = (sizeof(MARK) - 1) * strlen(text) + 1;
	char *plain = bu_xmalloc(size);

	bu_plain_copy(plain, size, text, SIZE_MAX, lines);
	return plain;
}

static void
plain_keys(json_t *object)
{
	void *following;
	const char *key;
	json_t *value;

	json_object_foreach_safe(object, following, key, value)
	{
		bu_autofree char *plain = NULL;

		bu_plain_json(value);
		if (bu_plain_is(key, 0))
			continue;
		plain = bu_plain(key, 0);
		json_incref(value);
		json_object_del(object, key);
		json_object_set_new(object, plain, value);
	}
}

void
bu_plain_json(json_t *value)
{
	json_t *member;
	size_t i;

	if (json_is_object(value))
		plain_keys(value);
	json_array_foreach (value, i, member)
		bu_plain_json(member);
	if (json_is_string(value) && !bu_plain_is(json_string_value(value), 1)) {
		bu_autofree char *plain = bu_plain(json_string_value(value), 1);

		json_string_set(value, plain);
	}
}
