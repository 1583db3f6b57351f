/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions: their names, which are in the log, and the shape that views read. */
#include "model/condition.h"

#include <string.h>

#include "base/json.h"
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

START_TEST(only_what_is_on_is_shown)
{
	struct bu_condition all[BU_CONDITION_COUNT] = {
		[BU_CONDITION_DRAINED_BY_OTHER] = {1, 5000, "DIMM A3 (root)"},
		[BU_CONDITION_NOT_IN_PROFILE] = {1, 7000, ""},
		[BU_CONDITION_UNREACHABLE] = {0, 9000, "old"},
	};
	bu_autojson json_t *json = bu_conditions_to_json(all);
	bu_autofree char *text = bu_json_canonical(json);

	ck_assert_str_eq(text, "[{\"away\":true,\"detail\":\"DIMM A3 (root)\",\"name\":"
			       "\"drained-by-other\",\"since_ms\":5000},"
			       "{\"away\":false,\"detail\":\"\",\"name\":"
			       "\"not-in-profile\",\"since_ms\":7000}]");
	ck_assert_str_eq(bu_conditions_first(all), "drained-by-other");
	all[BU_CONDITION_DRAINED_BY_OTHER].on = 0;
	ck_assert_ptr_null(bu_conditions_first(all));
}
END_TEST

BU_UNIT("condition", names_lead_back_and_each_row_says_how_it_ends,
	only_what_is_on_is_shown)
