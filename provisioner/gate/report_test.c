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

BU_UNIT("report", three_are_named_and_the_others_counted)
