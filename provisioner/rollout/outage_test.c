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
	rig.fleet->on_change = fill_at_failure;
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
	 a_rollout_stops_as_often_as_a_canary_fails, nobody_has_a_turn_on_a_full_disk,
	 a_brake_that_the_log_did_not_take_is_told_again)
