/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canonical form of JSON, byte by byte what json_dumps(JSON_SORT_KEYS |
 * JSON_COMPACT) writes: the log, certificates and the agents' channel write it for
 * whatever they keep or sign, so it is written here with one buffer and no copies of
 * keys. Invariant: a text that was signed is written the same again.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

struct text {
	char *at;
	size_t size, cap;
};

static char *
grow(struct text *text, size_t more)
{
	text->at = bu_xgrow(text->at, &text->cap, text->size + more, 1);
	return text->at + text->size;
}

static void
put(struct text *text, const char *bytes, size_t size)
{
	memcpy(grow(text, size), bytes, size);
	text->size += size;
}

static void
put_char(struct text *text, char c)
{
	*grow(text, 1) = c;
	text->size++;
}

/* Mostly quotes: a signed text inside another one is full of them. */
static void
put_escaped(struct text *text, unsigned char c)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt",
			  hex[] = "0123456789ABCDEF";
	const char *found = c ? strchr(plain, c) : NULL;

	if (found)
		put(text, (char[]){'\\', letters[found - plain]}, 2);
	else
		put(text, (char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
}

static void
put_string(struct text *text, const char *string, size_t size)
{
	size_t from = 0;

	put_char(text, '"');
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)string[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		put(text, string + from, i - from);
		put_escaped(text, c);
		from = i + 1;
	}
	put(text, string + from, size - from);
	put_char(text, '"');
}

struct member {
	const char *key;
	const json_t *value;
};

static int
by_key(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static void put_value(struct text *text, const json_t *value);

static void
put_object(struct text *text, const json_t *object)
{
	enum { FEW = 32 };
	size_t count = json_object_size(object), n = 0;
	struct member few[FEW], *members = few;
	const char *key;
	json_t *value;

	if (count > FEW)
		members = bu_xcalloc(count, sizeof(*members));
	json_object_foreach ((json_t *)(uintptr_t)object, key, value)
		members[n++] = (struct member){key, value};
	qsort(members, n, sizeof(*members), by_key);
	put_char(text, '{');
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			put_char(text, ',');
		put_string(text, members[i].key, strlen(members[i].key));
		put_char(text, ':');
		put_value(text, members[i].value);
	}
	put_char(text, '}');
	if (members != few)
		free(members);
}

static void
put_array(struct text *text, const json_t *array)
{
	size_t i;
	json_t *value;

	put_char(text, '[');
	json_array_foreach (array, i, value) {
		if (i > 0)
			put_char(text, ',');
		put_value(text, value);
	}
	put_char(text, ']');
}

static void
put_integer(struct text *text, json_int_t integer)
{
	char digits[24];
	size_t at = sizeof(digits);
	unsigned long long rest = integer < 0 ? 0 - (unsigned long long)integer
					      : (unsigned long long)integer;

	do
		digits[--at] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (integer < 0)
		digits[--at] = '-';
	put(text, digits + at, sizeof(digits) - at);
}

/* As the library writes it: that has its own mind about digits. Whole numbers, of which
 * nothing but the sign of a zero can be lost, are most of them. */
static void
put_real(struct text *text, const json_t *real)
{
	char digits[64];
	double value = json_real_value(real);
	size_t size;

	if (value > -1e15 && value < 1e15 && !signbit(value) &&
	    value == (double)(json_int_t)value) {
		put_integer(text, (json_int_t)value);
		put(text, ".0", 2);
		return;
	}
	size = json_dumpb(real, digits, sizeof(digits), JSON_ENCODE_ANY);
	bu_assert(size > 0 && size <= sizeof(digits));
	put(text, digits, size);
}

static void
put_value(struct text *text, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		put_object(text, value);
		break;
	case JSON_ARRAY:
		put_array(text, value);
		break;
	case JSON_STRING:
		put_string(text, json_string_value(value), json_string_length(value));
		break;
	case JSON_INTEGER:
		put_integer(text, json_integer_value(value));
		break;
	case JSON_REAL:
		put_real(text, value);
		break;
	case JSON_TRUE:
		put(text, "true", 4);
		break;
	case JSON_FALSE:
		put(text, "false", 5);
		break;
	case JSON_NULL:
		put(text, "null", 4);
		break;
	}
}

char *
bu_json_canonical(const json_t *value)
{
	struct text text = {0};

	bu_assert(value != NULL);
	put_value(&text, value);
	put_char(&text, '\0');
	return text.at;
}
