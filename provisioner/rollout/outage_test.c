/* SPDX-License-Identifier: Apache-2.0 */
/* What a rollout and the brake told a log that did not take it is told again. */
#include "tests/support/baddisk.h"
#include "tests/support/rollout.h"

static void
room(struct rig *rig)
{
	bad_disk_install();
	rig_pass(rig, 2001);
	rig_pass(rig, 1001);
	ck_assert_ptr_null(bu_store_down(rig->store));
}

/* Between the failure and the stop that follows from it. */
static void
fill_at_failure(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	if (node && node->state == BU_STATE_FAILED)
		bad_disk.full = 1;
	bu_rollouts_kick(arg);
}

START_TEST(a_stop_that_the_log_did_not_take_is_told_again)
{
	struct rig rig;

	bad_disk_install();
	begin(&rig, 4, "failure_budget = 3\n");
	apply(&rig, 4, "reboot");
	bu_fleet_unwatch(rig.fleet, on_change, rig.rollouts);
	bu_fleet_watch(rig.fleet, fill_at_failure, rig.rollouts);
	move(&rig, 1, "failed", "late", "no boot");
	pass_some(&rig);
	ck_assert_ptr_nonnull(bu_store_down(rig.store));
	is_state(&rig, BU_ROLLOUT_RUNNING);
	watch(&rig);
	room(&rig);
	for (int i = 0; i < 40; i++)
		rig_pass(&rig, 1000);
	is_state(&rig, BU_ROLLOUT_STOPPED);
	ck_assert_int_eq(count_begun(&rig), 1);
	rig_end(&rig);
}
END_TEST

static int
on_stop(const struct bu_event *event, void *arg)
{
	int *stops = arg;
	union bu_body body;

	if (event->kind != BU_EVENT_ROLLOUT)
		return 0;
	ck_assert_int_eq(bu_event_read(event, &body, NULL), 0);
	*stops += strcmp(body.rollout.to, "stopped") == 0;
	return 0;
}

/* However often it is looked at, and while the process was busy for long: the log has
 * it before the next look. */
START_TEST(a_stop_is_noted_once)
{
	struct rig rig;
	int stops = 0;

	begin(&rig, 4, "failure_budget = 3\n");
	apply(&rig, 4, "reboot");
	move(&rig, 1, "failed", "late", "no boot");
	for (int i = 0; i < 100; i++) {
		bu_rollouts_kick(rig.rollouts);
		rig_pass(&rig, i % 7 ? 1 : 500);
	}
	is_state(&rig, BU_ROLLOUT_STOPPED);
	ck_assert_int_eq(bu_store_read(rig.store, 0, 10000, on_stop, &stops, NULL), 0);
	ck_assert_int_eq(stops, 1);
	rig_end(&rig);
}
END_TEST

/* Each time that a person lets it go on. It is the only rollout there is. */
START_TEST(a_rollout_stops_as_often_as_a_canary_fails)
{
	struct rig rig;

	rig_begin(&rig, 0);
	rig_revise(&rig, 4, "max_unavailable = 50 %\n",
		   "max_unavailable = 50 %\nfailure_budget = 3\n");
	for (int i = 1; i <= 4; i++) {
		move(&rig, i, "inspecting", "start", "");
		come_back(&rig, i);
	}
	watch(&rig);
	apply(&rig, 4, "reboot");
	ck_assert_uint_eq(rig.fleet->rollouts_count, 1);
	for (int i = 1; i <= 2; i++) {
		move(&rig, i, "failed", "late", "no boot");
		pass_some(&rig);
		is_state(&rig, BU_ROLLOUT_STOPPED);
		ck_assert_int_eq(
			bu_rollouts_resume(rig.rollouts, last(&rig)->id, "me", NULL),
			0);
		pass_some(&rig);
		is_state(&rig, BU_ROLLOUT_RUNNING);
	}
	rig_end(&rig);
}
END_TEST

static const struct bu_reason *
of_person(struct bu_reason *reason)
{
	BU_REASON_SET(reason, PERSON, .text = {"I look at it"});
	return reason;
}

/* Two canaries, of which the first one is taken out of its turn: what that showed is
 * neither good nor bad. */
START_TEST(a_turn_that_is_withdrawn_is_no_outcome)
{
	struct rig rig;
	struct bu_event hold;
	struct bu_reason why;

	begin(&rig, 6, "failure_budget = 1\ncanary = 2\n");
	apply(&rig, 6, "reboot");
	ck_assert_int_eq(count_begun(&rig), 2);
	waits_for(&rig, 3, "0 of 2 done; node002 (draining) has its turn");
	bu_hold_event(&hold, "node001", BU_OWNER_PERSON, "ann", of_person(&why));
	bu_reconcile_note(rig.rec, &hold, 1);
	pass_some(&rig);
	ck_assert_int_eq(count_begun(&rig), 2);
	ck_assert_int_eq(bu_reconcile_release(rig.rec, rig_node(&rig, 1), "ann", NULL),
			 0);
	move(&rig, 1, "booting", "abort-boot", "");
	pass_some(&rig);
	ck_assert_int_eq(rig_node(&rig, 1)->order->withdrawn, 1);
	ck_assert_int_eq(count_begun(&rig), 2); /* it is under way back */
	waits_for(&rig, 3,
		  "the turn of node001 (booting) was withdrawn, which is neither a "
		  "success nor a failure: another node is the canary when that one is "
		  "back or at rest");
	is_state(&rig, BU_ROLLOUT_RUNNING);
	move(&rig, 1, "ready", "joined", "");
	pass_some(&rig);
	ck_assert_int_eq(rig_node(&rig, 3)->order->begun, 1);
	ck_assert_int_eq(count_begun(&rig), 3);
	waits_for(&rig, 4,
		  "0 of 2 done; node003 (draining) has its turn now; the "
		  "turn of node001 (ready) was withdrawn, which is neither a "
		  "success nor a failure: another node is the canary");
	come_back(&rig, 2);
	pass_some(&rig);
	ck_assert_int_eq(count_begun(&rig), 3); /* 1 of 2 */
	come_back(&rig, 3);
	pass_some(&rig);
	ck_assert_int_gt(count_begun(&rig), 3);
	is_state(&rig, BU_ROLLOUT_RUNNING);
	rig_end(&rig);
}
END_TEST

static const char *const taken_out[][3] = {
	{"parked", "park", "resume"},
	{"servicing", "service", "release"},
};

/* The canary has left its cluster and boots as ordered, and a person takes it out: that
 * it is at rest tells nothing of the boot, which the next one would do likewise. */
static void
take_out_in_its_boot(const char *const *row)
{
	bu_autofree char *words = bu_xasprintf(
		"node001 was taken out (%s) in the middle of its turn, and what "
		"that did to it is not known: bringup node %s node001 lets it go on",
		row[0], row[2]);
	struct rig rig;

	begin(&rig, 4, NULL);
	apply(&rig, 4, "reboot");
	ck_assert_int_eq(count_begun(&rig), 1);
	move(&rig, 1, "booting", "left-reboot", "");
	move(&rig, 1, row[0], row[1], "by ann");
	ck_assert_int_eq(rig_node(&rig, 1)->order->withdrawn, 1);
	for (int i = 0; i < 3; i++) {
		rig_pass(&rig, 30 * 1000);
		pass_some(&rig);
	}
	ck_assert_int_eq(count_begun(&rig), 1);
	waits_for(&rig, 2, words);
	is_state(&rig, BU_ROLLOUT_RUNNING);
	/* back in service it has told what there is to tell */
	move(&rig, 1, "booting", "boot", "");
	pass_some(&rig);
	ck_assert_int_eq(count_begun(&rig), 1);
	move(&rig, 1, "ready", "joined", "");
	pass_some(&rig);
	ck_assert_int_eq(count_begun(&rig), 2);
	rig_end(&rig);
}

START_TEST(a_canary_that_is_taken_out_in_its_boot_is_waited_for)
{
	for (size_t i = 0; i < BU_LEN(taken_out); i++)
		take_out_in_its_boot(taken_out[i]);
}
END_TEST

/* Held in the middle of it, it is no more at rest. */
START_TEST(a_canary_that_is_held_on_its_way_back_is_waited_for)
{
	struct rig rig;
	struct bu_event hold;
	struct bu_reason why;

	begin(&rig, 4, NULL);
	apply(&rig, 4, "reboot");
	move(&rig, 1, "booting", "abort-boot", "");
	bu_hold_event(&hold, "node001", BU_OWNER_PERSON, "ann", of_person(&why));
	bu_reconcile_note(rig.rec, &hold, 1);
	rig_pass(&rig, 30 * 1000);
	pass_some(&rig);
	ck_assert_int_eq(rig_node(&rig, 1)->order->withdrawn, 1);
	ck_assert_int_eq(count_begun(&rig), 1);
	rig_end(&rig);
}
END_TEST

/* Nothing was done to it: it is at rest with what it had. */
START_TEST(a_canary_that_is_parked_before_its_boot_is_not_waited_for)
{
	struct rig rig;

	begin(&rig, 4, NULL);
	apply(&rig, 4, "reboot");
	ck_assert_int_eq(count_begun(&rig), 1);
	move(&rig, 1, "parked", "park", "by ann");
	pass_some(&rig);
	ck_assert_int_eq(rig_node(&rig, 1)->order->withdrawn, 1);
	ck_assert_int_eq(count_begun(&rig), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(nobody_has_a_turn_on_a_full_disk)
{
	struct rig rig;

	bad_disk_install();
	begin(&rig, 4, NULL);
	apply(&rig, 4, "reboot");
	ck_assert_int_eq(count_begun(&rig), 1);
	bad_disk.full = 1;
	come_back(&rig, 1);
	for (int i = 0; i < 40; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(count_begun(&rig), 1);
	ck_assert_int_eq(count_in(&rig, BU_STATE_READY), 3);
	room(&rig);
	come_back(&rig, 1);
	pass_some(&rig);
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(a_brake_that_the_log_did_not_take_is_told_again)
{
	struct rig rig;

	bad_disk_install();
	rig_begin(&rig, 4);
	for (int i = 1; i <= 4; i++)
		rig_start(&rig, i);
	rig_pass(&rig, 290 * 1000);
	bad_disk.full = 1;
	rig_pass(&rig, 20 * 1000);
	ck_assert_ptr_nonnull(bu_store_down(rig.store));
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 0);
	room(&rig);
	for (int i = 0; i < 70; i++)
		rig_pass(&rig, 1000);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 1);
	for (int i = 1; i <= 4; i++)
		ck_assert_int_eq(rig_node(&rig, i)->repeats, 0);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("rollout-outage", a_stop_is_noted_once,
	 a_stop_that_the_log_did_not_take_is_told_again,
	 a_rollout_stops_as_often_as_a_canary_fails,
	 a_turn_that_is_withdrawn_is_no_outcome,
	 a_canary_that_is_taken_out_in_its_boot_is_waited_for,
	 a_canary_that_is_held_on_its_way_back_is_waited_for,
	 a_canary_that_is_parked_before_its_boot_is_not_waited_for,
	 nobody_has_a_turn_on_a_full_disk,
	 a_brake_that_the_log_did_not_take_is_told_again)
