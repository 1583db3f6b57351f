/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/err.h"
#include "tests/support/unit.h"

#define MARK "\xef\xbf\xbd"

START_TEST(texts_are_utf8_whatever_they_were)
{
	static const struct {
		const char *bytes, *clean;
	} rows[] = {
		{"", ""},
		{"plain", "plain"},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		 "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"caf\xc3", "caf"}, /* cut off */
		{"a\xe2\x82", "a"},
		{"a\xf0\x9f\x98", "a"},
		{"caf\xe9 au", "caf\xef\xbf\xbd au"}, /* Latin-1 */
		{"\xff\xfe", MARK MARK},
		{"a\xc0\xaf", "a" MARK MARK},          /* spelled too long */
		{"\xed\xa0\x80z", MARK MARK MARK "z"}, /* half of a surrogate pair */
		{"\xf4\x90\x80\x80", MARK MARK MARK MARK}, /* over the last character */
		{"\x80", MARK},
	};
	char text[16];
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_text_copy(text, sizeof(text), rows[i].bytes);
		ck_assert_str_eq(text, rows[i].clean);
	}
	bu_text_copy(text, 4, "ab\xc3\xa9");
	ck_assert_str_eq(text, "ab");
	bu_err_set(&err, BU_ERR_IO, 0, "it said \xe9!");
	ck_assert_str_eq(err.text, "it said " MARK "!");
}
END_TEST

START_TEST(a_part_is_cut_at_both_sizes)
{
	char text[4];

	bu_text_copy_part(text, sizeof(text), "abcdef", 2);
	ck_assert_str_eq(text, "ab");
	bu_text_copy_part(text, sizeof(text), "ab\xc3\xa9", 4);
	ck_assert_str_eq(text, "ab");
}
END_TEST

START_TEST(numbers_are_whole_texts_in_range)
{
	static const struct {
		const char *text;
		int64_t min, max;
		int rc;
		int64_t value;
	} rows[] = {
		{"0", 0, 9, 0, 0},
		{"007", 0, 9, 0, 7},
		{"-5", -5, 9, 0, -5},
		{"9223372036854775807", 0, INT64_MAX, 0, INT64_MAX},
		{"-9223372036854775808", INT64_MIN, 0, 0, INT64_MIN},
		{"9223372036854775808", INT64_MIN, INT64_MAX, -1, 0},
		{"-9223372036854775809", INT64_MIN, INT64_MAX, -1, 0},
		{"10", 0, 9, -1, 0},
		{"-1", 0, 9, -1, 0},
		{"", 0, 9, -1, 0},
		{"-", -9, 9, -1, 0},
		{"--1", -9, 9, -1, 0},
		{"+1", 0, 9, -1, 0},
		{" 1", 0, 9, -1, 0},
		{"1 ", 0, 9, -1, 0},
		{"1s", 0, 9, -1, 0},
		{"0x1", 0, 9, -1, 0},
		{"1.0", 0, 9, -1, 0},
		{"1\n", 0, 9, -1, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		int64_t value = 77;

		ck_assert_msg(bu_text_int(rows[i].text, rows[i].min, rows[i].max,
					  &value) == rows[i].rc,
			      "'%s'", rows[i].text);
		ck_assert_int_eq(value, rows[i].rc ? 77 : rows[i].value);
	}
}
END_TEST

START_TEST(blanks_around_go)
{
	static const struct {
		const char *text, *trimmed, *last;
	} rows[] = {
		{"", "", ""},
		{" \t\r\n", "", ""},
		{" a b\t\n", "a b", "a b"},
		{"one\ntwo\n\n", "one\ntwo", "two"},
		{"one\n two", "one\n two", " two"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *one = bu_xstrdup(rows[i].text);
		bu_autofree char *two = bu_xstrdup(rows[i].text);

		ck_assert_str_eq(bu_text_trim(one), rows[i].trimmed);
		ck_assert_str_eq(bu_text_last_line(two), rows[i].last);
	}
}
END_TEST

START_TEST(bytes_are_of_a_kind)
{
	ck_assert_int_eq(bu_text_is("abba", "ab"), 1);
	ck_assert_int_eq(bu_text_is("abc", "ab"), 0);
	ck_assert_int_eq(bu_text_is("", "ab"), 0);
	ck_assert_int_eq(bu_text_is_ascii(" ~"), 1);
	ck_assert_int_eq(bu_text_is_ascii(""), 1);
	ck_assert_int_eq(bu_text_is_ascii("a\x1f"), 0);
	ck_assert_int_eq(bu_text_is_ascii("a\x7f"), 0);
	ck_assert_int_eq(bu_text_is_ascii("\xc3\xa9"), 0);
}
END_TEST

START_TEST(nothing_is_the_same_as_nothing_alone)
{
	ck_assert_int_eq(bu_text_same(NULL, NULL), 1);
	ck_assert_int_eq(bu_text_same("", NULL), 0);
	ck_assert_int_eq(bu_text_same(NULL, ""), 0);
	ck_assert_int_eq(bu_text_same("ab", "ab"), 1);
	ck_assert_int_eq(bu_text_same("ab", "a"), 0);
	ck_assert_int_eq(bu_text_same("ab", "aB"), 0);
}
END_TEST

START_TEST(a_list_has_separators_between)
{
	bu_autofree char *list = NULL;

	bu_text_add(&list, ", ", "%s", "a");
	ck_assert_str_eq(list, "a");
	bu_text_add(&list, ", ", "%d", 7);
	bu_text_add(&list, " ", "c");
	ck_assert_str_eq(list, "a, 7 c");
}
END_TEST

START_TEST(grub_takes_words_for_words)
{
	bu_autofree char *text = bu_text_grub("a=1,b:/c d$e;f'g\\");

	ck_assert_str_eq(text, "a=1,b:/c d\\$e\\;f\\'g\\\\");
}
END_TEST

BU_UNIT("text", texts_are_utf8_whatever_they_were, a_part_is_cut_at_both_sizes,
	numbers_are_whole_texts_in_range, blanks_around_go, bytes_are_of_a_kind,
	nothing_is_the_same_as_nothing_alone, a_list_has_separators_between,
	grub_takes_words_for_words)
