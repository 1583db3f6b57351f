/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines over restarts: what bringup was away for does not count, all else does. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

enum { SECOND_MS = 1000, HOUR_MS = 3600 * 1000 };

/* In steps, as time passes; returns after how many seconds it was late, -1 = it was
 * not. */
static int
late_after(struct rig *rig, int seconds)
{
	struct bu_node *node = rig_node(rig, 1);
	int repeats = node->repeats;

	for (int i = 1; i <= seconds; i++) {
		rig_pass(rig, SECOND_MS - 3);
		if (node->repeats != repeats)
			return i;
	}
	return -1;
}

static void
is_late_between(struct rig *rig, int from_s, int to_s)
{
	int after_s = late_after(rig, to_s + 1);

	ck_assert_msg(after_s >= from_s && after_s <= to_s,
		      "late after %d s, not within %d to %d", after_s, from_s, to_s);
}

/* 300 s are for booting. */
START_TEST(a_kill_in_a_loop_starts_no_deadline_anew)
{
	struct rig rig;

	rig_up_to(&rig, RIG_BOOTING);
	ck_assert_int_eq(late_after(&rig, 200), -1);
	for (int i = 0; i < 20; i++) {
		rig_away(&rig, SECOND_MS);
		ck_assert_int_eq(late_after(&rig, 2), -1);
	}
	/* 240 s of its time are over, but for what was not kept of each life. */
	is_late_between(&rig, 50, 62 + 20);
	rig_end(&rig);
}
END_TEST

START_TEST(short_lives_give_one_grace_and_not_one_each)
{
	struct rig rig;
	int alive_s = 290, late = 0;

	rig_up_to(&rig, RIG_BOOTING);
	ck_assert_int_eq(late_after(&rig, alive_s), -1);
	for (int i = 0; i < 20 && !late; i++) {
		rig_away(&rig, SECOND_MS);
		late = late_after(&rig, 30) != -1;
		alive_s += 30;
		ck_assert_int_eq(i > 0 || !late, 1); /* its agent may still call */
	}
	ck_assert_int_eq(late, 1);
	ck_assert_int_le(alive_s, 300 + 60 + 2 * 30);
	rig_end(&rig);
}
END_TEST

START_TEST(who_was_away_for_hours_cycles_nobody)
{
	struct rig rig;

	rig_begin(&rig, 2);
	rig_start(&rig, 1);
	rig_start(&rig, 2);
	ck_assert_int_eq(late_after(&rig, 290), -1);
	rig_away(&rig, 2 * HOUR_MS);
	ck_assert_int_eq(late_after(&rig, 55), -1);
	ck_assert_int_eq(rig_node(&rig, 2)->repeats, 0);
	is_late_between(&rig, 1, 8); /* and it has an end */
	rig_end(&rig);
}
END_TEST

/* Each row: what the wall clock does, and when. */
START_TEST(a_jump_of_the_wall_clock_makes_nobody_late)
{
	static const struct {
		int64_t alive_ms, away_ms; /* jumps while bringup is alive, is away */
	} rows[] = {
		{0, 10 * (int64_t)HOUR_MS},
		{0, -10 * (int64_t)HOUR_MS},
		{10 * (int64_t)HOUR_MS, 0},
		{-10 * (int64_t)HOUR_MS, 0},
		{10 * (int64_t)HOUR_MS, -20 * (int64_t)HOUR_MS},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_begin(&rig, 2);
		rig_start(&rig, 1);
		ck_assert_int_eq(late_after(&rig, 100), -1);
		rig.clock.fake_wall_ms += rows[i].alive_ms;
		rig_start(&rig, 2); /* rows after it */
		ck_assert_int_eq(late_after(&rig, 100), -1);
		rig.clock.fake_wall_ms += rows[i].away_ms;
		rig_away(&rig, SECOND_MS);
		ck_assert_int_eq(late_after(&rig, 60), -1);
		rig_away(&rig, SECOND_MS);
		/* the first had 260 s; the second may have lost what was before */
		is_late_between(&rig, 30, 62);
		ck_assert_msg(rig_node(&rig, 2)->repeats == 0, "row %zu", i);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_log_without_its_mark_gives_time_and_not_for_ever)
{
	struct rig rig;

	rig_up_to(&rig, RIG_STARTED);
	ck_assert_int_eq(late_after(&rig, 290), -1);
	rig_remove(&rig, "log.db.lock");
	rig_away(&rig, HOUR_MS);
	ck_assert_int_eq(late_after(&rig, 70), -1);
	is_late_between(&rig, 200, 232);
	rig_end(&rig);
}
END_TEST

/* As after a loss of power. */
START_TEST(a_mark_that_is_too_old_puts_no_clock_into_the_future)
{
	struct rig rig;

	rig_begin(&rig, 1);
	rig_pass(&rig, 200 * 1000);
	rig_start(&rig, 1);
	rig_write(&rig, "log.db.lock", "1 5\n");
	rig_away(&rig, SECOND_MS);
	ck_assert_int_eq(late_after(&rig, 295), -1);
	is_late_between(&rig, 1, 10);
	rig_end(&rig);
}
END_TEST

START_TEST(the_mark_of_another_log_is_not_believed)
{
	struct rig rig;

	rig_up_to(&rig, RIG_STARTED);
	ck_assert_int_eq(late_after(&rig, 100), -1);
	rig_write(&rig, "log.db.lock", "4711 99999999\n");
	rig_away(&rig, SECOND_MS);
	ck_assert_int_eq(late_after(&rig, 250), -1);
	rig_end(&rig);
}
END_TEST

/* A step of a ready node, and a node that was released: clocks of their own. */
START_TEST(the_clock_of_a_release_goes_on_over_a_restart)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_JOINING);

	rig_pass(&rig, 302 * 1000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
	rig_pass(&rig, 10 * HOUR_MS);
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "me", NULL), 0);
	rig_pass(&rig, 1);
	rig_pass(&rig, 200 * 1000);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	rig_pass(&rig, 90 * 1000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	rig_pass(&rig, 15 * 1000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
	rig_reason_has(&node->hold->reason, "within 300 s");
	rig_end(&rig);
}
END_TEST

/* Seconds pass while it waits, or does not. */
static void
wait_for(struct rig *rig, enum bu_reason_code what, int seconds)
{
	struct bu_node *node = rig_node(rig, 1);

	/* As the gate does it. */
	if (node->live.wait_reason->code && !what)
		node->live.clock_ms = bu_loop_now_ms(rig->loop);
	bu_reason_set(bu_node_wait_reason(node), what, NULL);
	ck_assert_int_eq(late_after(rig, seconds), -1);
}

START_TEST(what_it_waited_for_does_not_count_after_a_restart)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_VALIDATING);
	char kinds[4096];

	wait_for(&rig, BU_REASON_NO_PARTNER, 20);
	wait_for(&rig, BU_REASON_NONE, 2); /* too short for a row */
	rig_events_after(&rig, node->state_seq, kinds);
	ck_assert_str_eq(kinds, "");
	wait_for(&rig, BU_REASON_NO_PARTNER, 3000);
	wait_for(&rig, BU_REASON_NONE, 2);
	rig_events_after(&rig, node->state_seq, kinds);
	ck_assert_str_eq(kinds, "waits waits ");
	rig_restart(&rig);
	wait_for(&rig, BU_REASON_NONE, 500);
	is_late_between(&rig, 90, 105);
	rig_end(&rig);
}
END_TEST

/* Many short ones add up. */
START_TEST(short_waits_do_not_count_after_a_restart_either)
{
	struct rig rig;

	rig_up_to(&rig, RIG_VALIDATING);
	for (int i = 0; i < 40; i++) {
		wait_for(&rig, BU_REASON_NO_PARTNER, 20);
		wait_for(&rig, BU_REASON_NONE, 2);
	}
	rig_restart(&rig);
	wait_for(&rig, BU_REASON_NONE, 500);
	is_late_between(&rig, 60, 105);
	rig_end(&rig);
}
END_TEST

/* Whether it still waits nobody knows: it has its limit, and not at each start. */
START_TEST(who_waited_at_the_end_begins_anew_once)
{
	struct rig rig;

	rig_up_to(&rig, RIG_VALIDATING);
	wait_for(&rig, BU_REASON_NO_PARTNER, 3000);
	rig_restart(&rig);
	wait_for(&rig, BU_REASON_NONE, 300);
	rig_restart(&rig);
	wait_for(&rig, BU_REASON_NONE, 200);
	is_late_between(&rig, 85, 105);
	rig_end(&rig);
}
END_TEST

/* What a process was killed over was given back, and is told once. */
START_TEST(a_life_is_in_the_log_once)
{
	struct rig rig;
	char kinds[4096];

	rig_up_to(&rig, RIG_ENROLLED);
	rig_pass(&rig, 50 * 1000);
	rig_restart(&rig);
	rig_restart(&rig); /* before its first row */
	rig_pass(&rig, 1);
	rig_events_after(&rig, 2, kinds);
	ck_assert_str_eq(kinds, "- - ");
	ck_assert_int_ge(rig.fleet->life.lasted_ms, 0);
	ck_assert_int_le(rig.fleet->life.lasted_ms, 5);
	rig_end(&rig);
}
END_TEST

/* No sentence decides: what a node says stops its deadline by the table's column. */
START_TEST(the_table_alone_says_which_wait_stops_a_deadline)
{
	int stopped = 0;
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_VALIDATING);

	for (int code = 0; code < BU_REASON_COUNT; code++) {
		bu_reason_set(bu_node_wait_reason(node), (enum bu_reason_code)code,
			      &(struct bu_reason_args){.text = {"no partner"}});
		ck_assert_msg((bu_reconcile_deadline(rig.rec, node) == 0) ==
				      bu_reason_info(node->live.wait_reason->code)
					      ->stops_deadline,
			      "%s", bu_reason_info(node->live.wait_reason->code)->name);
		stopped += bu_reconcile_deadline(rig.rec, node) == 0;
	}
	ck_assert_int_gt(stopped, 0);
	ck_assert_int_lt(stopped, BU_REASON_COUNT / 2);
	rig_end(&rig);
}
END_TEST

static int
is_braked(void *arg, const struct bu_node *node)
{
	(void)node;
	return *(int *)arg;
}

static void
look(void *arg)
{
	(void)arg;
}

/* Not even one whose time is over; when the brake is off it goes on where it was. */
START_TEST(a_braked_node_is_not_cycled)
{
	struct rig rig;
	int braked = 1;
	const struct bu_freezer freezer = {look, is_braked, &braked};
	struct bu_node *node;

	node = rig_up_to(&rig, RIG_STARTED);
	bu_reconcile_set_freezer(rig.rec, &freezer);
	for (int i = 0; i < 20; i++)
		rig_pass(&rig, 60 * 1000);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(node->repeats, 0);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	braked = 0;
	for (int i = 0; i < 10 && node->repeats < 1; i++)
		rig_pass(&rig, 60 * 1000);
	ck_assert_int_eq(node->repeats, 1);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("life", a_braked_node_is_not_cycled,
	 the_table_alone_says_which_wait_stops_a_deadline,
	 a_kill_in_a_loop_starts_no_deadline_anew,
	 short_lives_give_one_grace_and_not_one_each,
	 who_was_away_for_hours_cycles_nobody,
	 a_jump_of_the_wall_clock_makes_nobody_late,
	 a_log_without_its_mark_gives_time_and_not_for_ever,
	 a_mark_that_is_too_old_puts_no_clock_into_the_future,
	 the_mark_of_another_log_is_not_believed,
	 the_clock_of_a_release_goes_on_over_a_restart,
	 what_it_waited_for_does_not_count_after_a_restart,
	 short_waits_do_not_count_after_a_restart_either,
	 who_waited_at_the_end_begins_anew_once, a_life_is_in_the_log_once)
