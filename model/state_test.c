/* SPDX-License-Identifier: Apache-2.0 */
/* The table of states by itself; its edges are tested in provisioner/node. */
#include "model/state.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(names_lead_back_and_are_different)
{
	for (int i = 0; i < BU_STATE_COUNT; i++) {
		const struct bu_state_info *info = bu_state_info((enum bu_state)i);
		enum bu_state back = BU_STATE_COUNT;

		ck_assert_int_eq(bu_state_from_name(info->name, &back, NULL), 0);
		ck_assert_int_eq(back, i);
		ck_assert_str_eq(bu_state_name((enum bu_state)i), info->name);
		ck_assert_uint_gt(strlen(info->help), 0);
	}
}
END_TEST

START_TEST(an_unknown_name_changes_nothing)
{
	enum bu_state state = BU_STATE_READY;
	struct bu_err err = {0};

	ck_assert_int_eq(bu_state_from_name("Ready", &state, &err), -1);
	ck_assert_int_eq(bu_state_from_name("", &state, &err), -1);
	ck_assert_int_eq(bu_state_from_name("asleep", &state, &err), -1);
	ck_assert_int_eq(state, BU_STATE_READY);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_str_eq(err.text, "unknown node state 'asleep'");
}
END_TEST

BU_UNIT("state", names_lead_back_and_are_different, an_unknown_name_changes_nothing)
