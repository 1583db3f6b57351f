/* SPDX-License-Identifier: Apache-2.0 */
/* Texts from machines before and after they are made plain. */
#include "base/plain.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "tests/support/unit.h"

#define MARK "\xef\xbf\xbd"

START_TEST(what_is_not_seen_becomes_a_mark)
{
	static const struct {
		const char *said, *plain;
	} rows[] = {
		{"", ""},
		{"PowerEdge XE9680", "PowerEdge XE9680"},
		{"\xc3\xa9\xe2\x82\xac\xe4\xb8\xad\xf0\x9f\x98\x80",
		 "\xc3\xa9\xe2\x82\xac\xe4\xb8\xad\xf0\x9f\x98\x80"},
		{"\x1b[2Jx", MARK "[2Jx"},
		{"a\rb\nc\td\x7f", "a" MARK "b" MARK "c" MARK "d" MARK},
		{"\xc2\x9b"
		 "2J",
		 MARK "2J"},
		{"\xc2\x80\xc2\x9f\xc2\xa0", MARK MARK "\xc2\xa0"},
		{"x\xe2\x80\xae"
		 "gpj.exe",
		 "x" MARK "gpj.exe"},
		{"\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9", MARK MARK MARK},
		{"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", MARK MARK MARK},
		{"a\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbf\xc2\xad"
		 "b",
		 "a" MARK MARK MARK MARK "b"},
		{"\xe2\x80\xa8\xe2\x80\xa9", MARK MARK},
		{"\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf"},
		{"\xf3\xa0\x81\x81", MARK}, /* a letter that only programs see */
		{"\xef\xbf\xbf", MARK},
		{"caf\xe9 au", "caf" MARK " au"},
		{"\xff\xfe", MARK MARK},
		{"\xc0\xaf", MARK MARK},
		{"\xed\xa0\x80z", MARK MARK MARK "z"},
		{"\xf4\x90\x80\x80", MARK MARK MARK MARK},
		{"a\xe2\x82", "a"}, /* cut off */
		{MARK, MARK},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *plain = bu_plain(rows[i].said, 0);

		ck_assert_msg(strcmp(plain, rows[i].plain) == 0, "row %zu: %s", i,
			      plain);
		ck_assert_int_eq(bu_plain_is(plain, 0), 1);
		ck_assert_int_eq(bu_plain_is(rows[i].said, 0),
				 strcmp(rows[i].said, rows[i].plain) == 0);
	}
}
END_TEST

/* Each character of Unicode that is in a list of those that must not pass. */
START_TEST(no_control_and_no_mark_of_direction_passes)
{
	static const unsigned ranges[][2] = {
		{0x01, 0x1f},     {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200b, 0x200f},
		{0x2028, 0x202e}, {0x2060, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb},
	};

	for (size_t i = 0; i < BU_LEN(ranges); i++)
		for (unsigned code = ranges[i][0]; code <= ranges[i][1]; code++) {
			bu_autofree char *json = bu_xasprintf("[\"a\\u%04xb\"]", code);
			bu_autojson json_t *value = json_loads(json, 0, NULL);
			json_t *text = json_array_get(value, 0);

			ck_assert_int_eq(bu_plain_is(json_string_value(text), 0), 0);
			bu_plain_json(value);
			if (code != '\n' && code != '\t')
				ck_assert_str_eq(json_string_value(text), "a" MARK "b");
		}
}
END_TEST

START_TEST(lines_stay_where_they_may)
{
	bu_autofree char *plain = bu_plain("a\n\tb\rc", 1);

	ck_assert_str_eq(plain, "a\n\tb" MARK "c");
	ck_assert_int_eq(bu_plain_is("a\n\tb", 1), 1);
	ck_assert_int_eq(bu_plain_is("a\n\tb", 0), 0);
}
END_TEST

START_TEST(a_field_ends_with_a_whole_character)
{
	char text[8];

	bu_plain_copy(text, sizeof(text), "\x01\x01\x01", SIZE_MAX, 0);
	ck_assert_str_eq(text, MARK MARK);
	bu_plain_copy(text, sizeof(text), "abcdef\xc3\xa9", SIZE_MAX, 0);
	ck_assert_str_eq(text, "abcdef");
	bu_plain_copy(text, sizeof(text), "ab\xc3\xa9", 3, 0);
	ck_assert_str_eq(text, "ab");
	bu_plain_copy(text, sizeof(text), "abcdef", 2, 0);
	ck_assert_str_eq(text, "ab");
	bu_plain_copy(text, 1, "abc", SIZE_MAX, 0);
	ck_assert_str_eq(text, "");
	BU_TEXT_COPY(text, "a\xc2\x9b\n");
	ck_assert_str_eq(text, "a" MARK "\n");
}
END_TEST

START_TEST(each_text_and_each_key_of_a_value_is_made_plain)
{
	bu_autojson json_t *value =
		json_loads("{\"a\\u001b\":[\"x\\u009b\",{\"b\":\"\\u202e\"},7,null],"
			   "\"\\u200b\":true,\"c\":\"d\"}",
			   0, NULL);
	bu_autofree char *text = NULL;

	bu_plain_json(value);
	text = json_dumps(value, JSON_SORT_KEYS | JSON_COMPACT);
	ck_assert_str_eq(text, "{\"a" MARK "\":[\"x" MARK "\",{\"b\":\"" MARK
			       "\"},7,null],\"c\":\"d\",\"" MARK "\":true}");
	bu_plain_json(NULL);
}
END_TEST

BU_UNIT("plain", what_is_not_seen_becomes_a_mark,
	no_control_and_no_mark_of_direction_passes, lines_stay_where_they_may,
	a_field_ends_with_a_whole_character,
	each_text_and_each_key_of_a_value_is_made_plain)
