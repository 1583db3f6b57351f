/* SPDX-License-Identifier: Apache-2.0 */
/* Actions and classes: their names are in the log for good. */
#include "model/step.h"

#include "model/class.h"

#include "tests/support/unit.h"

START_TEST(actions_are_written_and_done_so)
{
	static const struct {
		enum bu_action action;
		const char *name;
		enum bu_actor actor;
	} rows[] = {
		{BU_ACTION_NONE, "none", BU_ACTOR_NOBODY},
		{BU_ACTION_NETBOOT, "boot-network", BU_ACTOR_POWER},
		{BU_ACTION_INSTALL, "install", BU_ACTOR_AGENT},
		{BU_ACTION_DISKBOOT, "boot-disk", BU_ACTOR_POWER},
		{BU_ACTION_JOIN, "join", BU_ACTOR_CLUSTER},
		{BU_ACTION_LEAVE, "leave", BU_ACTOR_CLUSTER},
		{BU_ACTION_RELABEL, "relabel", BU_ACTOR_CLUSTER},
		{BU_ACTION_CONFIGURE, "configure", BU_ACTOR_AGENT},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_str_eq(bu_action_name(rows[i].action), rows[i].name);
		ck_assert_int_eq(bu_action_from_name(rows[i].name), rows[i].action);
		ck_assert_int_eq(bu_action_info(rows[i].action)->actor, rows[i].actor);
	}
	ck_assert_int_eq(bu_action_from_name("explode"), BU_ACTION_NONE);
	ck_assert_int_eq(bu_action_from_name(""), BU_ACTION_NONE);
}
END_TEST

START_TEST(what_destroys_needs_a_grant)
{
	static const struct {
		enum bu_class class;
		const char *name;
		int grant;
	} rows[] = {
		{BU_CLASS_NONE, "none", 0},
		{BU_CLASS_RELABEL, "relabel", 0},
		{BU_CLASS_RECONFIGURE, "reconfigure", 0},
		{BU_CLASS_RESTART, "restart", 0},
		{BU_CLASS_REBOOT, "reboot", 0},
		{BU_CLASS_INSTALL, "install", 0},
		{BU_CLASS_REIMAGE, "reimage", 1},
		{BU_CLASS_WIPE, "wipe", 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_str_eq(bu_class_name(rows[i].class), rows[i].name);
		ck_assert_int_eq(bu_class_from_name(rows[i].name), rows[i].class);
		ck_assert_int_eq(bu_class_needs_grant(rows[i].class), rows[i].grant);
	}
	ck_assert_int_eq(bu_class_from_name("Wipe"), BU_CLASS_NONE);
	for (size_t i = 1; i < BU_LEN(rows); i++) /* the most severe is the greatest */
		ck_assert_int_gt(rows[i].class, rows[i - 1].class);
}
END_TEST

BU_UNIT("step", actions_are_written_and_done_so, what_destroys_needs_a_grant)
