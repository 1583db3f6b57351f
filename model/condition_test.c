/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions: their names, which are in the log, and the shape that views read. */
#include "model/condition.h"

#include <string.h>

#include "base/json.h"
#include "model/sentence.h"
#include "tests/support/unit.h"

START_TEST(names_lead_back_and_each_row_says_how_it_ends)
{
	for (int id = 0; id < BU_CONDITION_COUNT; id++) {
		const struct bu_condition_info *info = bu_condition_info(id);

		ck_assert_int_eq(bu_condition_from_name(info->name), id);
		ck_assert_uint_gt(strlen(info->set), 0);
		ck_assert_uint_gt(strlen(info->cleared), 0);
		ck_assert_uint_gt(strlen(info->words), 0);
		/* A site is never away. */
		ck_assert(info->of == BU_CONDITION_OF_NODE || !info->away);
	}
	ck_assert_int_eq(bu_condition_from_name("lost"), BU_CONDITION_COUNT);
}
END_TEST

static json_t *
drained(void)
{
	return BU_SAID(DRAINED_WITH, BU_ARG("words", "DIMM A3"), BU_ARG("by", "root"),
		       BU_ARG_NUMBER("unknown", 0));
}

START_TEST(only_what_is_on_is_shown)
{
	struct bu_condition all[BU_CONDITION_COUNT] = {
		[BU_CONDITION_DRAINED_BY_OTHER] = {1, 5000, drained()},
		[BU_CONDITION_NOT_IN_PROFILE] = {1, 7000, NULL},
		[BU_CONDITION_UNREACHABLE] = {0, 9000, NULL},
	};
	bu_autojson json_t *json = bu_conditions_to_json(all);
	bu_autofree char *text = bu_json_canonical(json);

	ck_assert_str_eq(
		text,
		"[{\"away\":true,\"detail\":{\"args\":{\"by\":\"root\",\"unknown\":0,"
		"\"words\":\"DIMM A3\"},\"code\":\"drained-with\"},\"name\":"
		"\"drained-by-other\",\"since_ms\":5000},"
		"{\"away\":false,\"name\":\"not-in-profile\",\"since_ms\":7000}]");
	ck_assert_str_eq(bu_conditions_first(all), "drained-by-other");
	bu_condition_set(&all[BU_CONDITION_DRAINED_BY_OTHER], 0, 0, NULL);
	ck_assert_ptr_null(bu_conditions_first(all));
}
END_TEST

static void
is_set(const struct bu_condition *condition, int on, int64_t since_ms,
       const char *detail)
{
	bu_autofree char *text = bu_said_text(condition->detail);

	ck_assert_int_eq(condition->on, on);
	ck_assert_int_eq(condition->since_ms, since_ms);
	ck_assert_str_eq(text, detail);
}

START_TEST(it_lasts_since_it_was_set_first_and_has_the_last_detail)
{
	struct bu_condition one = {0};

	bu_condition_set(&one, 1, 5, json_string("old"));
	is_set(&one, 1, 5, "old");
	bu_condition_set(&one, 1, 6, drained());
	is_set(&one, 1, 5, "DIMM A3 (root)");
	bu_condition_set(&one, 1, 7, json_string(""));
	is_set(&one, 1, 5, "");
	ck_assert_ptr_null(one.detail);
	bu_condition_set(&one, 0, 8, drained());
	ck_assert_ptr_null(one.detail);
	bu_condition_set(&one, 1, 9, NULL);
	is_set(&one, 1, 9, "");
}
END_TEST

BU_UNIT("condition", names_lead_back_and_each_row_says_how_it_ends,
	only_what_is_on_is_shown,
	it_lasts_since_it_was_set_first_and_has_the_last_detail)
