/* SPDX-License-Identifier: Apache-2.0 */
/* A node with two roots gets another image: it comes up, or the one before does. */
#include "provisioner/node/fallback.h"

#include <string.h>

#include "provisioner/node/verbs.h"
#include "tests/support/roots.h"
#include "tests/support/unit.h"

static int
may(struct rig *rig, enum bu_trigger trigger)
{
	enum bu_state to;

	return bu_reconcile_can(rig->rec, rig_node(rig, 1),
				&(struct bu_move){.on = trigger}, &to,
				&(struct bu_err){0}) == 0;
}

/* The first system says hello where that of the order is waited for. */
static void
falls_back(struct rig *rig, const char *boot_id)
{
	ck_assert_int_eq(says_hello(rig, first_step, boot_id, NULL), 0);
	rig_until(rig, rig_node(rig, 1), BU_STATE_FAILED);
}

static void
breaks_off(struct rig *rig)
{
	rig_fire(rig, rig_node(rig, 1), BU_TRIGGER_FAULT);
	rig_until(rig, rig_node(rig, 1), BU_STATE_FAILED);
}

START_TEST(the_system_of_before_answers)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");
	bu_autofree char *ramdisk = bu_xstrdup(node->agent_cert);
	char events[4096];
	int boots;

	writes(&rig, "b", 1);
	rig_why_says(&rig, node,
		     "its system in slot b has not come up yet; its loader tries it "
		     "once, and then starts image debian12 again");
	ck_assert(may_speak(&rig, first_cert) && may_speak(&rig, ramdisk));
	falls_back(&rig, "boot-2");
	rig_reason_is(node->reason, FELL_BACK);
	rig_reason_has(node->reason, "did not come up in slot b; its loader went back");
	ck_assert_int_eq(node->order->failed, 1);
	rig_events_after(&rig, 0, events);
	ck_assert_ptr_nonnull(strstr(events, "fellback "));
	has_first(&rig);
	ck_assert(!may_speak(&rig, ramdisk));
	/* No loop: it is left as it is, for as long as it takes. */
	boots = rig_count(&rig, "boot disk node001");
	rig_pass(&rig, 3600 * 1000);
	ck_assert_int_eq(node->state, BU_STATE_FAILED);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), boots);
	ck_assert(may(&rig, BU_TRIGGER_VALIDATE));
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	rig_reason_is(node->reason, FELL_BACK);
	has_first(&rig);
	ck_assert_int_eq(says_hello(&rig, first_step, "boot-3", NULL), 0);
	ck_assert_str_eq(node->boot_id, "boot-3");
	is_written_again(&rig);
	rig_end(&rig);
}
END_TEST

START_TEST(it_came_up_and_the_one_before_can_come_back)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");
	struct bu_err err = {0};

	writes(&rig, "b", 1);
	rig_come_up(&rig, 1, "boot-2");
	ck_assert_str_eq(node->slot, "b");
	ck_assert_str_eq(node->other->digest, "d1");
	ck_assert(may_speak(&rig, first_cert));
	asks_for_work(&rig);
	ck_assert(!may_speak(&rig, first_cert));
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert(!may_speak(&rig, first_cert));
	ck_assert(may_speak(&rig, node->agent_cert));
	/* In service the other one is nobody that was waited for. */
	ck_assert_int_eq(says_hello(&rig, first_step, "boot-3", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_str_eq(node->installed_digest, "d2");
	rig_fire(&rig, node, BU_TRIGGER_PARK);
	rig_until(&rig, node, BU_STATE_PARKED);
	/* Written anew is what somebody wants of the image that runs. */
	rig_apply(&rig, 1, BU_CLASS_REIMAGE, "d2", NULL, NULL);
	ck_assert_int_eq(bu_fallback_reuses(node), 0);
	rig_apply(&rig, 1, BU_CLASS_REIMAGE, "d3", NULL, NULL);
	ck_assert_int_eq(bu_fallback_reuses(node), 0);
	rig_apply(&rig, 1, BU_CLASS_REIMAGE, "d1", NULL, NULL);
	ck_assert_int_eq(bu_fallback_reuses(node), 1);
	/* Files of other facets would stay in it. */
	strcpy(bu_node_order(node)->facets, "f-other");
	ck_assert_int_eq(bu_fallback_reuses(node), 0);
	strcpy(bu_node_order(node)->facets, "f-d1");
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	writes(&rig, "a", 1);
	rig_come_up(&rig, 1, "boot-4");
	ck_assert_str_eq(node->slot, "a");
	ck_assert_str_eq(node->other->digest, "d2");
	rig_end(&rig);
}
END_TEST

/* It hangs: its deadline has it power-cycled, and that is all that is needed. */
START_TEST(what_hangs_is_reset_and_the_other_one_answers)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");

	writes(&rig, "b", 1);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
	rig_pass(&rig, 301 * 1000);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 3);
	falls_back(&rig, "boot-2");
	rig_reason_is(node->reason, FELL_BACK);
	rig_reason_has(node->reason,
		       "did not come up in slot b: it was not heard within 300 s, and "
		       "bringup power-cycled it; its loader went back");
	has_first(&rig);
	rig_end(&rig);
}
END_TEST

/* Nobody waited any more when it came. */
START_TEST(one_that_comes_late_is_known_all_the_same)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");

	writes(&rig, "b", 1);
	for (int i = 0; i < 20 && node->state == BU_STATE_BOOTING; i++)
		rig_pass(&rig, 301 * 1000);
	ck_assert_int_eq(node->state, BU_STATE_FAILED);
	rig_reason_is(node->reason, LATE);
	ck_assert_int_eq(says_hello(&rig, first_step, "boot-2", NULL), 0);
	ck_assert_int_eq(node->state, BU_STATE_FAILED);
	has_first(&rig);
	ck_assert(may(&rig, BU_TRIGGER_VALIDATE));
	rig_end(&rig);
}
END_TEST

/* What never came up is no image that is there; and it is written into its own slot. */
START_TEST(a_second_try_is_written_anew)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");

	writes(&rig, "b", 1);
	falls_back(&rig, "boot-2");
	rig_apply(&rig, 1, BU_CLASS_REIMAGE, "d2", NULL, NULL);
	ck_assert_int_eq(bu_fallback_reuses(node), 0);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	ck_assert(may_speak(&rig, first_cert));
	writes(&rig, "b", 1);
	ck_assert_str_eq(node->other->digest, "d1");
	falls_back(&rig, "boot-3");
	has_first(&rig);
	rig_end(&rig);
}
END_TEST

/* Cut off while it is written: the root that is not written is a system. */
START_TEST(an_install_that_failed_leaves_the_system)
{
	for (int two = 0; two < 2; two++) {
		struct rig rig;

		ordered(&rig, two ? "a" : NULL);
		breaks_off(&rig);
		ck_assert_int_eq(may(&rig, BU_TRIGGER_VALIDATE), two);
		ck_assert_int_eq(may_speak(&rig, first_cert), two);
		if (two) {
			ck_assert_int_eq(says_hello(&rig, first_step, "boot-2", NULL),
					 0);
			has_first(&rig);
			is_written_again(&rig);
		}
		rig_end(&rig);
	}
}
END_TEST

/* The order's own system is there: it only has to boot. */
START_TEST(what_is_written_and_did_not_answer_is_booted)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");
	const struct bu_verb_ask ask = {
		.verb = BU_VERB_RETRY, .by = "ann", .reason = ""};
	bu_autofree char *says = NULL;

	writes(&rig, "b", 1);
	breaks_off(&rig);
	says = bu_verb_run(rig.rec, node, &ask, &(struct bu_err){0});
	ck_assert_ptr_nonnull(says);
	rig_text_has(says, "nothing is written");
	rig_end(&rig);
}
END_TEST

/* Another system is none of the two; with one root there is none to go back to. */
START_TEST(no_other_system_is_taken_for_it)
{
	for (int two = 0; two < 2; two++) {
		struct rig rig;
		struct bu_node *node = ordered(&rig, two ? "a" : NULL);
		struct bu_err err = {0};

		writes(&rig, two ? "b" : NULL, two);
		ck_assert_int_eq(may_speak(&rig, first_cert), two);
		ck_assert_int_eq(
			says_hello(&rig, two ? "s-other" : first_step, "boot-2", &err),
			-1);
		rig_until(&rig, node, BU_STATE_FAILED);
		rig_reason_is(node->reason, OTHER_SYSTEM);
		ck_assert_str_eq(node->installed_digest, "d2");
		rig_end(&rig);
	}
}
END_TEST

/* From its first write on there is no other root, also when it breaks off. */
START_TEST(a_wipe_that_broke_off_leaves_nothing_either)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");

	writes(&rig, "b", 1);
	falls_back(&rig, "boot-2");
	rig_apply(&rig, 1, BU_CLASS_REIMAGE, "d2", NULL, NULL);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	writes(&rig, "b", 1);
	breaks_off(&rig);
	ck_assert_str_eq(node->other->digest, "d1");
	ck_assert(may_speak(&rig, first_cert));
	rig_apply(&rig, 1, BU_CLASS_WIPE, "d1", NULL, NULL);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	breaks_off(&rig);
	ck_assert_int_eq(node->writing, 1);
	ck_assert_str_eq(node->other->digest, "");
	ck_assert(!may_speak(&rig, first_cert));
	ck_assert(!may(&rig, BU_TRIGGER_VALIDATE));
	rig_end(&rig);
}
END_TEST

/* Nothing is left of what a wipe has taken, and of a machine that went. */
START_TEST(a_wipe_leaves_nothing_to_go_back_to)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");

	writes(&rig, "a", 0);
	ck_assert_str_eq(node->other->step, "");
	ck_assert(!may_speak(&rig, first_cert));
	ck_assert_int_eq(says_hello(&rig, first_step, "boot-2", &(struct bu_err){0}),
			 -1);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("fallback", the_system_of_before_answers,
	 it_came_up_and_the_one_before_can_come_back,
	 what_hangs_is_reset_and_the_other_one_answers,
	 one_that_comes_late_is_known_all_the_same, a_second_try_is_written_anew,
	 an_install_that_failed_leaves_the_system,
	 what_is_written_and_did_not_answer_is_booted, no_other_system_is_taken_for_it,
	 a_wipe_leaves_nothing_to_go_back_to,
	 a_wipe_that_broke_off_leaves_nothing_either)
