// SPDX-License-Identifier: Apache-2.0
#include "fabric/judge/expect.h"

#include <string.h>

#include "tests/support/unit.h"

static const struct bu_expect demo = {.link_gbps = 0.02, .percent = 80};

static const struct {
	const char *what;
	double runs[4]; /* up to the first 0 */
	int lat_count;
	enum bu_err_kind error;
	enum bu_verdict verdict;
	const char *reason; /* holds this */
} rows[] = {
	{"healthy", {0.019, 0.019, 0.0189}, 200, 0, BU_VERDICT_PASS, "19.00 Mbit/s"},
	{"at the line", {0.016}, 200, 0, BU_VERDICT_PASS, "16.00 Mbit/s"},
	{"one low run", {0.019, 0.010, 0.019}, 200, 0, BU_VERDICT_WARN, "1 of 3 runs"},
	{"slow", {0.0047, 0.0048, 0.019}, 200, 0, BU_VERDICT_FAIL, "4.80 Mbit/s"},
	{"too fast",
	 {0.4, 0.4, 0.4},
	 200,
	 0,
	 BU_VERDICT_INCONCLUSIVE,
	 "more than the link"},
	{"none", {0}, 0, 0, BU_VERDICT_INCONCLUSIVE, "did not finish"},
	{"no latency", {0.019}, 0, 0, BU_VERDICT_INCONCLUSIVE, "did not finish"},
	{"lost", {0.019}, 0, BU_ERR_REMOTE, BU_VERDICT_FAIL, "boom"},
	{"stalled", {0}, 0, BU_ERR_TIMEOUT, BU_VERDICT_FAIL, "boom"},
	{"changed", {0.019, 0.019}, 0, BU_ERR_VERIFY, BU_VERDICT_FAIL, "boom"},
	{"no device", {0}, 0, BU_ERR_NOTFOUND, BU_VERDICT_INCONCLUSIVE, "boom"},
	{"broken", {0.019}, 200, BU_ERR_IO, BU_VERDICT_INCONCLUSIVE, "boom"},
};

START_TEST(judges_a_direction)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_pair_dir dir = {.lat_count = rows[i].lat_count};
		char reason[BU_REASON_SIZE];

		for (int r = 0; r < 4 && rows[i].runs[r] > 0; r++)
			bu_pair_dir_add(&dir, rows[i].runs[r]);
		dir.error.kind = rows[i].error;
		strcpy(dir.error.text, "boom");
		ck_assert_msg(bu_expect_judge(&demo, &dir, reason) == rows[i].verdict,
			      "%s: %s", rows[i].what, reason);
		ck_assert_msg(strstr(reason, rows[i].reason) != NULL, "%s: %s",
			      rows[i].what, reason);
	}
}
END_TEST

START_TEST(refuses_empty_expectations)
{
	static const struct bu_expect bad[] = {
		{0, 80, 0}, {-1, 80, 0}, {0.02, 0, 0}, {0.02, 101, 0}, {0.02, -1, 0}};
	struct bu_err err;

	ck_assert_int_eq(bu_expect_check(&demo, &err), 0);
	for (size_t i = 0; i < BU_LEN(bad); i++)
		ck_assert_int_eq(bu_expect_check(&bad[i], &err), -1);
}
END_TEST

START_TEST(the_worse_direction_counts)
{
	struct bu_pair_result r;

	bu_pair_result_init(&r);
	bu_pair_dir_add(&r.dir[0], 0.019);
	r.dir[0].lat_count = r.dir[1].lat_count = 1;
	ck_assert_int_eq(bu_expect_judge_pair(&demo, &r), BU_VERDICT_INCONCLUSIVE);
	bu_pair_dir_add(&r.dir[1], 0.019);
	ck_assert_int_eq(bu_expect_judge_pair(&demo, &r), BU_VERDICT_PASS);
	bu_pair_dir_add(&r.dir[1], 0.001);
	ck_assert_int_eq(bu_expect_judge_pair(&demo, &r), BU_VERDICT_FAIL);
}
END_TEST

START_TEST(latency_counts_where_it_is_asked_for)
{
	struct bu_expect expect = demo;
	struct bu_pair_dir dir = {.lat_count = 200, .lat_median_us = 900};
	char reason[BU_REASON_SIZE];

	bu_pair_dir_add(&dir, 0.019);
	ck_assert_int_eq(bu_expect_judge(&expect, &dir, reason), BU_VERDICT_PASS);
	expect.lat_max_us = 900;
	ck_assert_int_eq(bu_expect_judge(&expect, &dir, reason), BU_VERDICT_PASS);
	expect.lat_max_us = 899;
	ck_assert_int_eq(bu_expect_judge(&expect, &dir, reason), BU_VERDICT_FAIL);
	ck_assert_str_eq(reason, "median latency 900.0 us, at most 899.0 us wanted");
}
END_TEST

BU_UNIT("expect", judges_a_direction, refuses_empty_expectations,
	the_worse_direction_counts, latency_counts_where_it_is_asked_for)
