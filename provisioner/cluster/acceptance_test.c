/* SPDX-License-Identifier: Apache-2.0 */
/* The figure of an acceptance is the last number, and nothing that looks like one. */
#include "provisioner/cluster/acceptance.h"

#include "base/mem.h"
#include "tests/support/unit.h"

START_TEST(the_last_number_is_the_figure)
{
	static const struct {
		const char *text;
		double figure; /* -1 = none */
	} rows[] = {
		{"", -1},
		{"no number", -1},
		{"node001 v2 x86_64", -1},
		{"4", 4},
		{"# Avg bus bandwidth    : 345.2 \n#\n", 345.2},
		{"1048576  87.5 us", 87.5},
		{"ranks 2, MB/s 3.25", 3.25},
		{"1e3", 1000},
		{"9 of node002", 9},
		{"-7", -1},
		{"nan inf 1e999", -1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		double figure = -1;
		int found = bu_acceptance_figure(rows[i].text, &figure);

		ck_assert_msg(figure >= rows[i].figure && figure <= rows[i].figure &&
				      found == (rows[i].figure >= 0),
			      "'%s': %g", rows[i].text, figure);
	}
}
END_TEST

START_TEST(a_status_or_a_figure_below_is_not_good)
{
	char words[64];

	ck_assert_int_eq(bu_acceptance_judge(4, 0, "4", words, sizeof(words)), 1);
	ck_assert_str_eq(words, "4, at least 4");
	ck_assert_int_eq(bu_acceptance_judge(4, 0, "3.9", words, sizeof(words)), 0);
	ck_assert_int_eq(bu_acceptance_judge(4, 1, "5", words, sizeof(words)), 0);
	ck_assert_str_eq(words, "exit status 1: 5");
	ck_assert_int_eq(bu_acceptance_judge(4, 0, "fast", words, sizeof(words)), 0);
	ck_assert_int_eq(bu_acceptance_judge(0, 0, "fast", words, sizeof(words)), 1);
	ck_assert_str_eq(words, "done");
	ck_assert_int_eq(bu_acceptance_judge(0, 2, "", words, sizeof(words)), 0);
}
END_TEST

BU_UNIT("acceptance", the_last_number_is_the_figure,
	a_status_or_a_figure_below_is_not_good)
