/* SPDX-License-Identifier: Apache-2.0 */
/* A document of a machine in which each text, one after the other, is what it must not
 * be. */
#ifndef BU_TESTS_SUPPORT_UNSEEN_H
#define BU_TESTS_SUPPORT_UNSEEN_H

#include "base/json.h"
#include "base/plain.h"
#include "tests/support/unit.h"

/* C0, C1, direction, no width, the ends of lines and paragraphs. */
static const char *const unseen_parts[] = {
	"\x1b[2J",      "\r",           "\xc2\x9b",     "\xc2\x85",     "\x7f",
	"\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\x8f", "\xd8\x9c",     "\xe2\x80\x8b",
	"\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf", "\xe2\x81\xa9",
};

/* Each text of the value is plain. */
static inline int
all_is_plain(json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;

	json_object_foreach (value, key, member)
		if (!bu_plain_is(key, 0) || !all_is_plain(member))
			return 0;
	json_array_foreach (value, i, member)
		if (!all_is_plain(member))
			return 0;
	return !json_is_string(value) || bu_plain_is(json_string_value(value), 0);
}

/* Reads the document and writes it again; NULL = it was refused. */
typedef json_t *(*unseen_fn)(const json_t *document);
struct unseen {
	json_t *document; /* the whole, which is good */
	unseen_fn again;
	int texts, taken; /* how many it has, and how many were let in with it */
};

static inline void
unseen_text(struct unseen *test, json_t *text)
{
	bu_autofree char *old = bu_xstrdup(json_string_value(text));

	for (size_t i = 0; i < BU_LEN(unseen_parts); i++) {
		bu_autofree char *said = bu_xasprintf("a%sb", unseen_parts[i]);
		bu_autojson json_t *read = NULL;

		json_string_set(text, said);
		read = test->again(test->document);
		ck_assert_msg(!read || all_is_plain(read), "'%s' became '%s'", old,
			      said);
		test->taken += read != NULL;
	}
	test->texts++;
	json_string_set(text, old);
}

static inline void
unseen_walk(struct unseen *test, json_t *value)
{
	const char *key;
	json_t *member;
	size_t i;

	if (json_is_string(value))
		unseen_text(test, value);
	json_object_foreach (value, key, member)
		unseen_walk(test, member);
	json_array_foreach (value, i, member)
		unseen_walk(test, member);
}

/* least: so many of its texts are those of a machine, which is let in with any. */
static inline void
unseen_everywhere(json_t *document, unseen_fn again, int least)
{
	struct unseen test = {document, again, 0, 0};
	bu_autojson json_t *good = again(document);

	ck_assert_ptr_nonnull(good);
	unseen_walk(&test, document);
	ck_assert_int_ge(test.taken, least * (int)BU_LEN(unseen_parts));
}

#endif
