/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of failed checks, and of many of them. */
#include "base/json.h"
#include "provisioner/gate/internal.h"
#include "tests/support/unit.h"

static json_t *
row(const char *id, const char *verdict, const char *hint)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s}", "id", id, "verdict", verdict,
			 "subject", "eth1", "text", "is wrong", "hint", hint);
}

START_TEST(three_are_named_and_the_others_counted)
{
	static const char *const wants[] = {
		"",
		"check a (eth1): is wrong; swap a",
		"check a (eth1): is wrong; swap a; check b (eth1): is wrong",
		"check a (eth1): is wrong; swap a; check b (eth1): is wrong; "
		"check c (eth1): is wrong; swap c",
		"check a (eth1): is wrong; swap a; check b (eth1): is wrong; "
		"check c (eth1): is wrong; swap c; and 1 more",
		"check a (eth1): is wrong; swap a; check b (eth1): is wrong; "
		"check c (eth1): is wrong; swap c; and 2 more",
	};
	static const char *const ids[] = {"a", "b", "c", "d", "e"};
	static const char *const hints[] = {"swap a", "", "swap c", "swap d", ""};
	bu_autojson json_t *rows = json_pack("[o]", row("w", "warn", "look"));

	for (size_t i = 0; i < BU_LEN(wants); i++) {
		const char *hint = NULL;
		bu_autofree char *text = bu_report_words(rows, &hint);

		ck_assert_str_eq(text, wants[i]);
		ck_assert_str_eq(hint, i ? "swap a" : "");
		if (i < BU_LEN(ids))
			json_array_append_new(rows, row(ids[i], "fail", hints[i]));
		json_array_append_new(rows, row("p", "pass", ""));
	}
}
END_TEST

/* Of a slice counts what was soaked, or its length, and nothing when it ended badly. */
START_TEST(a_slice_counts_when_it_ended_well)
{
	static const struct {
		enum bu_verdict verdict;
		const char *soaked; /* seconds; NULL: no such row */
		int64_t slice_ms, ms;
	} rows[] = {
		{BU_VERDICT_PASS, NULL, 5000, 5000},
		{BU_VERDICT_PASS, "4 s", 5000, 4000},
		{BU_VERDICT_WARN, "4 s", 5000, 4000},
		{BU_VERDICT_FAIL, "4 s", 5000, 0},
		{BU_VERDICT_FAIL, NULL, 5000, 0},
		{BU_VERDICT_INCONCLUSIVE, NULL, 5000, 0},
		{BU_VERDICT_FAIL, "4 s", BU_UNSAID_INT, -1},
		{BU_VERDICT_PASS, NULL, BU_UNSAID_INT, -1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *body = NULL;
		struct bu_checks report;

		bu_checks_init(&report);
		bu_checks_add(&report, "soak", "soak-cpu", rows[i].verdict, "");
		if (rows[i].soaked)
			BU_CHECK_SET(bu_checks_add(&report, "soak", "soak-time",
						   BU_VERDICT_PASS, "")
					     ->seen,
				     "%s", rows[i].soaked);
		body = bu_report_body(&report, "d1", rows[i].slice_ms, "");
		ck_assert_msg(bu_json_int(body, "ms", -1) == rows[i].ms,
			      "row %zu: %lld", i,
			      (long long)bu_json_int(body, "ms", -1));
		ck_assert_int_eq(bu_json_int(body, "soak_ms", -1),
				 rows[i].soaked ? 4000 : -1);
		bu_checks_fini(&report);
	}
}
END_TEST

BU_UNIT("report", a_slice_counts_when_it_ended_well,
	three_are_named_and_the_others_counted)
