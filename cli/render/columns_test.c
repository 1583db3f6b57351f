/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of a terminal, whatever the locale is. */
#include "cli/render/columns.h"

#include <string.h>

#include "base/err.h"
#include "tests/support/unit.h"

#define DIMM "\xe5\x86\x85\xe5\xad\x98" /* two characters of two columns each */
#define ACCENT "e\xcc\x81"              /* e and a combining acute */

START_TEST(columns_are_those_of_a_terminal)
{
	static const struct {
		const char *text;
		int want;
	} rows[] = {
		{"", 0},
		{"abc", 3},
		{"\xc3\xa9", 1},
		{DIMM, 4},
		{ACCENT, 1},
		{"a" DIMM "b", 6},
		{"\xff", 2}, /* nothing that UTF-8 has */
		{"\xf0\x9f\x94\xa5", 2},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(bu_columns(rows[i].text) == rows[i].want, "%s: %d",
			      rows[i].text, bu_columns(rows[i].text));
}
END_TEST

START_TEST(a_cut_never_exceeds_the_width)
{
	static const struct {
		int width;
		const char *want;
	} rows[] = {
		{-1, ""},
		{0, ""},
		{1, "a"},
		{2, "a"},
		{3, "a\xe5\x86\x85"},
		{5, "a" DIMM},
		{6, "a" DIMM ACCENT},
		{99, "a" DIMM ACCENT "z"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_xstrdup("a" DIMM ACCENT "z");

		bu_columns_cut(text, rows[i].width);
		ck_assert_str_eq(text, rows[i].want);
	}
}
END_TEST

START_TEST(long_texts_are_wrapped_between_words)
{
	static const struct {
		const char *text;
		int width, indent, rows;
		const char *want;
	} rows[] = {
		{"one two three", 8, 0, 3, "one two\nthree"},
		{"one two three", 10, 2, 3, "  one two\n  three"},
		{"one two three", 7, 0, 1, "one..."},
		{"one two three four", 8, 0, 2, "one two\nthree..."},
		{"one two", 7, 0, 1, "one two"},
		{"abcdefghij", 4, 0, 9, "abcd\nefgh\nij"},
		{DIMM DIMM, 5, 0, 9, DIMM "\n" DIMM},
		{DIMM, 1, 0, 1, ""},
		{"", 5, 2, 3, ""},
		{"ab", 1, 4, 9, "    a\n    b"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_columns_wrap(rows[i].text, rows[i].width,
							 rows[i].indent, rows[i].rows);

		ck_assert_msg(strcmp(text, rows[i].want) == 0, "row %zu: '%s'", i,
			      text);
	}
}
END_TEST

BU_UNIT("columns", columns_are_those_of_a_terminal, a_cut_never_exceeds_the_width,
	long_texts_are_wrapped_between_words)
