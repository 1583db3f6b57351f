/* SPDX-License-Identifier: Apache-2.0 */
/* Cells that a spreadsheet opens, and the loader reads. */
#include "base/csv.h"

#include "base/mem.h"

#include "tests/support/unit.h"

START_TEST(no_cell_is_a_formula)
{
	static const struct {
		const char *text, *cell;
	} rows[] = {
		{"", ""},
		{"SER-0001", "SER-0001"},
		{"=1+1", "'=1+1"},
		{"=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""},
		{"+SUM(A1)", "'+SUM(A1)"},
		{"-2+3", "'-2+3"},
		{"-A1", "'-A1"},
		{"@SUM(1;2)", "\"'@SUM(1;2)\""},
		{"=\"a\"", "\"'=\"\"a\"\"\""},
		{"\xef\xbc\x9d"
		 "1",
		 "'\xef\xbc\x9d"
		 "1"},
		/* harmed by nothing */
		{"-12.5", "-12.5"},
		{"-1", "-1"},
		{"+3", "+3"},
		{"-1e5", "-1e5"},
		{"-inf", "'-inf"},
		{"52:54:00:77:00:01", "52:54:00:77:00:01"},
		{"a-b=c", "a-b=c"},
		{"'tis", "'tis"},
		{"a, b", "\"a, b\""},
		/* what a machine says is plain */
		{"\t=1+1", "\xef\xbf\xbd=1+1"},
		{"\r=1+1", "\xef\xbf\xbd=1+1"},
		{"a\n=1+1", "a\xef\xbf\xbd=1+1"},
		{"\xe2\x80\x8b=1", "\xef\xbf\xbd=1"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *cell = bu_csv_cell(rows[i].text);

		ck_assert_str_eq(cell, rows[i].cell);
	}
}
END_TEST

/* The apostrophe is the spreadsheet's, and no part of a serial number. */
START_TEST(what_was_written_is_read_as_it_was)
{
	static const struct {
		const char *cell, *value;
	} rows[] = {
		{"'=1+1", "=1+1"}, {"'-A1", "-A1"}, {"'@x", "@x"}, {"'tis", "'tis"},
		{"'-1", "'-1"},    {"-1", "-1"},    {"'", "'"},    {"", ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_str_eq(bu_csv_value(rows[i].cell), rows[i].value);
}
END_TEST

BU_UNIT("csv", no_cell_is_a_formula, what_was_written_is_read_as_it_was)
