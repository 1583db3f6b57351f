/* SPDX-License-Identifier: Apache-2.0 */
/* Until when a node may take, to the ms; what is done when it is late, and what stops
 * that. */
#include <string.h>

#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

enum { S = 1000, NOW_MS = 90000 * S };

static struct rig rig;
static struct bu_node *node, *fresh;
static struct bu_desired_node *want; /* of node */
static struct bu_desired_pool *pool;
static char *power, *bmc_reset; /* as the profile has them */

/* One node, as it comes from the profile; rest() makes it so again. */
static void
begin(void)
{
	rig_begin(&rig, 1);
	/* Just before that moment all is at rest, and no tick is due at it. */
	rig_pass(&rig, NOW_MS - bu_mono_ms(&rig.clock) - 20);
	bu_clock_advance(&rig.clock, NOW_MS - bu_mono_ms(&rig.clock));
	node = rig_node(&rig, 1);
	fresh = bu_xmalloc(sizeof(*fresh));
	*fresh = *node;
	bu_node_parts_copy(fresh);
	bu_node_order(fresh)->open = 0;
	rig.fleet->desired->hardware[0].post_ms = 240 * S;
	want = &rig.fleet->desired->nodes[0];
	pool = &rig.fleet->desired->pools[0];
	power = want->power;
	bmc_reset = pool->bmc_reset;
}

static void
end(void)
{
	bu_node_parts_fini(node);
	*node = *fresh;
	free(fresh);
	want->power = power;
	pool->bmc_reset = bmc_reset;
	rig_end(&rig);
}

static void
rest(enum bu_state state)
{
	bu_node_parts_fini(node);
	*node = *fresh;
	bu_node_parts_copy(node);
	node->state = state;
	rig.rec->life_ms = 0;
	node->live.clock_ms = bu_mono_ms(&rig.clock);
}

static void
step(enum bu_action action, enum bu_step_status status)
{
	node->step.action = action;
	node->step.status = status;
	node->step.attempt = 1;
	strcpy(node->step.id, "s1");
}

static void order(enum bu_class class)
{
	bu_node_order(node)->class = class;
	bu_node_order(node)->open = bu_node_order(node)->begun = 1;
	BU_TEXT_COPY(bu_node_order(node)->revision, rig.fleet->revision);
}

/* What is on its way to the log, and nothing of what follows from it. */
static void
write_rows(void)
{
	rig.rec->stopped = 1;
	bu_clock_advance(&rig.clock, 1);
	while (bu_loop_step(rig.loop, 0))
		;
	rig.rec->stopped = 0;
}

START_TEST(each_state_has_its_time)
{
	static const struct {
		enum bu_state state;
		enum bu_action action;
		int kexecs, fails;
		int limit_s;
	} cases[] = {
		{BU_STATE_IMAGING, BU_ACTION_INSTALL, 0, 0, 900},
		{BU_STATE_IMAGING, BU_ACTION_NONE, 0, 0, 900},
		{BU_STATE_VALIDATING, BU_ACTION_NONE, 0, 0, 600},
		/* what its firmware takes comes on top of what it is switched on for */
		{BU_STATE_INSPECTING, BU_ACTION_NETBOOT, 0, 0, 300 + 240 + 33},
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 0, 0, 300 + 240 + 33},
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 1, 0, 300},
		{BU_STATE_BOOTING, BU_ACTION_NONE, 0, 0, 300},
		/* and what its BMC takes to restart, in the last try */
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 0, 1, 300 + 240 + 33},
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 0, 2, 300 + 240 + 33 + 500},
		/* a step of its own time; else as its pool says */
		{BU_STATE_DRAINING, BU_ACTION_CONFIGURE, 0, 0, 900},
		{BU_STATE_DRAINING, BU_ACTION_LEAVE, 0, 0, 7200},
		{BU_STATE_READY, BU_ACTION_RELABEL, 0, 0, 900},
		{BU_STATE_READY, BU_ACTION_NONE, 0, 0, 0},
		{BU_STATE_PARKED, BU_ACTION_NONE, 0, 0, 0},
	};
	begin();
	rig.fleet->desired->hardware[0].disk_wait_ms = 33 * S;
	pool->drain_deadline_ms = 7200 * S;
	pool->bmc_reset = (char *)"last-try";
	want->power = (char *)"redfish";
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		rest(cases[i].state);
		step(cases[i].action, BU_STEP_OPEN);
		node->kexecs = cases[i].kexecs;
		node->power_fails = cases[i].fails;
		ck_assert_msg(bu_reconcile_limit_ms(rig.rec, node) ==
				      cases[i].limit_s * INT64_C(1000),
			      "case %zu", i);
	}
	/* as bringupd was told, whatever the step is */
	rest(BU_STATE_IMAGING);
	rig.rec->limit_s[BU_STATE_IMAGING] = 7;
	step(BU_ACTION_INSTALL, BU_STEP_OPEN);
	ck_assert_int_eq(bu_reconcile_limit_ms(rig.rec, node), 7 * S);
	/* of one that is no node's any more nothing is known */
	strcpy(node->name, "gone");
	step(BU_ACTION_NETBOOT, BU_STEP_OPEN);
	ck_assert_int_eq(bu_reconcile_limit_ms(rig.rec, node), 7 * S);
	node->state = BU_STATE_DRAINING;
	step(BU_ACTION_LEAVE, BU_STEP_OPEN);
	ck_assert_int_eq(bu_reconcile_limit_ms(rig.rec, node), 0);
	end();
}
END_TEST

START_TEST(a_bmc_restarts_in_the_last_try_where_the_pool_says_so)
{
	static const struct {
		int fails;
		const char *power, *reset;
		int does;
	} cases[] = {
		{2, "redfish", "last-try", 1}, {3, "redfish", "last-try", 1},
		{1, "redfish", "last-try", 0}, {2, "redfish", "never", 0},
		{2, "libvirt", "last-try", 0}, {2, "manual", "last-try", 0},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		rest(BU_STATE_BOOTING);
		want->power = (char *)cases[i].power;
		pool->bmc_reset = (char *)cases[i].reset;
		node->power_fails = cases[i].fails;
		ck_assert_int_eq(bu_reconcile_resets_bmc(node, want), cases[i].does);
		ck_assert_int_eq(bu_reconcile_resets_bmc(node, NULL), 0);
	}
	end();
}
END_TEST

/* From when it counts: the later of two times, and none of them is 0 by chance. */
START_TEST(it_counts_from_when_it_got_further)
{
	static const struct {
		int64_t clock_ms, progress_ms, since_ms;
	} cases[] = {{5, 0, 5}, {5, 4, 5},   {5, 5, 5},
		     {5, 6, 6}, {-9, 0, -9}, {-9, 3, 3}};

	begin();
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		node->live.clock_ms = cases[i].clock_ms;
		node->live.progress_ms = cases[i].progress_ms;
		ck_assert_int_eq(bu_reconcile_since_ms(node), cases[i].since_ms);
	}
	end();
}
END_TEST

START_TEST(who_is_held_and_who_may_be_cycled)
{
	static const struct {
		enum bu_state state;
		enum bu_class class; /* of an open order; NONE: it has none */
		int begun, reset;
		enum bu_trigger on;
		int holds, cycles;
	} cases[] = {
		{BU_STATE_BOOTING, BU_CLASS_NONE, 0, 0, BU_TRIGGER_IMAGED, 0, 1},
		{BU_STATE_JOINING, BU_CLASS_NONE, 0, 0, BU_TRIGGER_PROVEN, 1, 1},
		{BU_STATE_DRAINING, BU_CLASS_NONE, 0, 0, BU_TRIGGER_DRAIN, 1, 1},
		{BU_STATE_BOOTING, BU_CLASS_RESTART, 1, 0, BU_TRIGGER_IMAGED, 1, 1},
		{BU_STATE_BOOTING, BU_CLASS_RESTART, 1, 1, BU_TRIGGER_IMAGED, 0, 1},
		{BU_STATE_BOOTING, BU_CLASS_RESTART, 0, 0, BU_TRIGGER_IMAGED, 0, 1},
		{BU_STATE_BOOTING, BU_CLASS_REBOOT, 1, 0, BU_TRIGGER_IMAGED, 0, 1},
		{BU_STATE_BOOTING, BU_CLASS_NONE, 0, 0, BU_TRIGGER_BOOT, 0, 0},
		{BU_STATE_BOOTING, BU_CLASS_NONE, 0, 1, BU_TRIGGER_BOOT, 0, 1},
		{BU_STATE_VALIDATING, BU_CLASS_NONE, 0, 0, BU_TRIGGER_VALIDATE, 0, 0},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		rest(cases[i].state);
		if (cases[i].class)
			order(cases[i].class);
		bu_node_order(node)->begun = cases[i].begun;
		node->reset = cases[i].reset;
		node->on = cases[i].on;
		ck_assert_msg(bu_reconcile_holds(node) == cases[i].holds, "case %zu",
			      i);
		ck_assert_msg(bu_reconcile_cycles(node) == cases[i].cycles, "case %zu",
			      i);
		/* what was closed is no word of what it does now */
		bu_node_order(node)->open = 0;
		ck_assert_int_eq(bu_reconcile_holds(node),
				 cases[i].state == BU_STATE_JOINING ||
					 cases[i].state == BU_STATE_DRAINING);
	}
	end();
}
END_TEST

/* Who has a deadline; and early in a life of bringup it is later. */
START_TEST(a_deadline_is_of_one_that_could_go_on)
{
	/* imaging has 900 s; limit_s, where it is not 0, stands for them */
	static const struct {
		int64_t life_ms;
		int limit_s;
		int64_t deadline_ms;
	} lives[] = {
		{0, 0, NOW_MS + 900 * S},
		{NOW_MS + 840 * S, 0, NOW_MS + 900 * S},
		{NOW_MS + 840 * S + 1, 0, NOW_MS + 900 * S + 1},
		{NOW_MS + 899 * S, 0, NOW_MS + 959 * S},
		{NOW_MS + 900 * S, 0, NOW_MS + 960 * S},
		{NOW_MS + 999 * S, 0, NOW_MS + 960 * S},
		{NOW_MS + 999 * S, 60, NOW_MS + 120 * S},
		{NOW_MS + 999 * S, 59, NOW_MS + 118 * S},
		{NOW_MS + 999 * S, 61, NOW_MS + 121 * S},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(lives); i++) {
		rest(BU_STATE_IMAGING);
		rig.rec->life_ms = lives[i].life_ms;
		rig.rec->limit_s[BU_STATE_IMAGING] = lives[i].limit_s;
		ck_assert_msg(bu_reconcile_deadline(rig.rec, node) ==
				      lives[i].deadline_ms,
			      "case %zu", i);
	}
	rig.rec->limit_s[BU_STATE_IMAGING] = 0;
	rest(BU_STATE_IMAGING);
	bu_node_hold(node)->owner = BU_OWNER_PERSON;
	ck_assert_int_eq(bu_reconcile_deadline(rig.rec, node), 0);
	rest(BU_STATE_IMAGING);
	node->live.in_profile = 0;
	ck_assert_int_eq(bu_reconcile_deadline(rig.rec, node), 0);
	rest(BU_STATE_IMAGING);
	bu_node_wait_reason(node)->code = BU_REASON_NO_PARTNER; /* stops it */
	ck_assert_int_eq(bu_reconcile_deadline(rig.rec, node), 0);
	bu_node_wait_reason(node)->code = BU_REASON_NOT_CALLED; /* does not */
	ck_assert_int_eq(bu_reconcile_deadline(rig.rec, node), NOW_MS + 900 * S);
	/* of one at rest only a step of its order has one */
	rest(BU_STATE_READY);
	step(BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	ck_assert_int_eq(bu_reconcile_deadline(rig.rec, node), 0);
	order(BU_CLASS_RECONFIGURE);
	ck_assert_int_eq(bu_reconcile_deadline(rig.rec, node), NOW_MS + 900 * S);
	node->step.status = BU_STEP_DONE;
	ck_assert_int_eq(bu_reconcile_deadline(rig.rec, node), 0);
	end();
}
END_TEST

START_TEST(late_is_remembered_for_a_while)
{
	begin();
	rest(BU_STATE_IMAGING);
	ck_assert_int_eq(bu_reconcile_is_late(rig.rec, node), 0);
	node->live.late_ms = NOW_MS - BU_LATE_MEMORY_MS + 1;
	ck_assert_int_eq(bu_reconcile_is_late(rig.rec, node), 1);
	node->live.late_ms--;
	ck_assert_int_eq(bu_reconcile_is_late(rig.rec, node), 0);
	end();
}
END_TEST

/* Noted as late: past its deadline, stuck at a step, or gone from its ramdisk; by a
 * state whose ladder the brake may freeze. */
START_TEST(what_is_noted_as_late)
{
	static const struct {
		enum bu_state state;
		int past_ms; /* its deadline */
		int retry_ms;
		enum bu_step_status status;
		int held, late;
	} cases[] = {
		{BU_STATE_IMAGING, 0, 0, BU_STEP_OPEN, 0, 0},
		{BU_STATE_IMAGING, 1, 0, BU_STEP_OPEN, 0, 1},
		{BU_STATE_IMAGING, -900, NOW_MS, BU_STEP_FAILED, 0, 1},
		{BU_STATE_IMAGING, -900, NOW_MS + 1, BU_STEP_FAILED, 0, 0},
		{BU_STATE_IMAGING, -900, NOW_MS, BU_STEP_OPEN, 0, 0},
		{BU_STATE_IMAGING, -900, NOW_MS, BU_STEP_FAILED, 1, 0},
		{BU_STATE_IMAGING, -900, 0, BU_STEP_FAILED, 0, 0},
		{BU_STATE_JOINING, 1, 0, BU_STEP_OPEN, 0, 0},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		rest(cases[i].state);
		step(BU_ACTION_INSTALL, cases[i].status);
		node->live.clock_ms -= cases[i].past_ms +
				       bu_reconcile_deadline(rig.rec, node) - NOW_MS;
		node->live.retry_ms = cases[i].retry_ms;
		bu_node_hold(node)->owner =
			cases[i].held ? BU_OWNER_PERSON : BU_OWNER_NONE;
		bu_late_note(rig.rec, node);
		ck_assert_msg(node->live.late_ms == (cases[i].late ? NOW_MS : 0),
			      "case %zu", i);
	}
	end();
}
END_TEST

/* After which pause what failed is done again, and what is said meanwhile. */
START_TEST(what_failed_is_done_again)
{
	static const struct {
		enum bu_state state;
		enum bu_action action;
		int repeats;
		enum bu_trigger on;
		int retry_ms; /* before */
		int pause_ms;
		const char *says;
	} cases[] = {
		{BU_STATE_IMAGING, BU_ACTION_INSTALL, 0, BU_TRIGGER_INSPECTED, 0, 5000,
		 ""},
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 0, BU_TRIGGER_IMAGED, 0, 60000,
		 "1 of 3"},
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 1, BU_TRIGGER_IMAGED, 0, 240000,
		 "2 of 3"},
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 2, BU_TRIGGER_IMAGED, 0, 5000,
		 ""},
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 0, BU_TRIGGER_BOOT, 0, 5000, ""},
		{BU_STATE_DRAINING, BU_ACTION_DISKBOOT, 0, BU_TRIGGER_DRAIN, 0, 5000,
		 ""},
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 0, BU_TRIGGER_IMAGED, 7,
		 7 - NOW_MS, ""},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		rest(cases[i].state);
		step(cases[i].action, BU_STEP_FAILED);
		bu_node_set_step_error(node, "no route");
		node->repeats = cases[i].repeats;
		node->on = cases[i].on;
		node->live.retry_ms = cases[i].retry_ms;
		bu_node_wait_reason(node)->code = BU_REASON_NONE;
		bu_late_retry(rig.rec, node);
		ck_assert_msg(node->live.retry_ms == NOW_MS + cases[i].pause_ms,
			      "case %zu: %lld", i, (long long)node->live.retry_ms);
		if (cases[i].says[0]) {
			char time[24];

			bu_time_iso(bu_wall_ms(&rig.clock) + cases[i].pause_ms, time);
			rig_reason_is(node->live.wait_reason, BMC_REFUSES);
			rig_reason_has(node->live.wait_reason, "no route");
			rig_reason_has(node->live.wait_reason, time);
			rig_reason_has(node->live.wait_reason, cases[i].says);
		} else {
			rig_reason_is(node->live.wait_reason, NONE);
		}
	}
	end();
}
END_TEST

/* Which rows a wait has; one of less than 30 s has none. */
START_TEST(long_waits_are_in_the_log)
{
	static const struct {
		int waits;
		int waiting_ms; /* since so long; 0 = since now */
		int logged, moved_ms, appending;
		int told; /* -1 = no row, else what it says */
	} cases[] = {
		{1, 29999, 0, 0, 0, -1}, {1, 30000, 0, 0, 0, 1},
		{1, 30000, 1, 0, 0, -1}, {1, 30000, 0, 0, 1, -1},
		{1, 0, 0, 0, 0, -1},     {0, 0, 0, 29999, 0, -1},
		{0, 0, 0, 30000, 0, 0},  {0, 0, 1, 0, 0, 0},
		{0, 99999, 0, 0, 0, -1},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		char kinds[4096];
		int64_t seq = rig.fleet->life.row_seq;
		int64_t now_ms = bu_mono_ms(&rig.clock);

		rest(BU_STATE_VALIDATING);
		bu_node_hold(node)->owner = BU_OWNER_PERSON; /* nothing else moves it */
		bu_node_wait_reason(node)->code =
			cases[i].waits ? BU_REASON_NO_PARTNER : BU_REASON_NONE;
		if (cases[i].waiting_ms)
			node->live.waiting_ms = now_ms - cases[i].waiting_ms;
		node->live.wait_logged = cases[i].logged;
		node->live.log_clock_ms = node->live.clock_ms - cases[i].moved_ms;
		node->live.appending = cases[i].appending;
		bu_late_waits(rig.rec, node);
		ck_assert_int_eq(node->live.waiting_ms,
				 cases[i].waits ? now_ms - cases[i].waiting_ms : 0);
		write_rows();
		rig_events_after(&rig, seq, kinds);
		ck_assert_msg(strcmp(kinds, cases[i].told < 0 ? "" : "waits ") == 0,
			      "case %zu: %s", i, kinds);
		if (cases[i].told >= 0)
			ck_assert_int_eq(node->live.wait_logged, cases[i].told);
		node->live.appending = 0;
	}
	end();
}
END_TEST

/* One rung: again, the end with its reason, or a hold. */
START_TEST(a_rung_of_the_ladder)
{
	static const struct {
		enum bu_state state;
		enum bu_action action;
		int repeats;
		enum bu_trigger on;
		enum bu_state to;
		const char *reason, *held;
		int repeats_then;
	} cases[] = {
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 0, BU_TRIGGER_IMAGED,
		 BU_STATE_BOOTING, "no route", "", 1},
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 1, BU_TRIGGER_IMAGED,
		 BU_STATE_BOOTING, "no route", "", 2},
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 2, BU_TRIGGER_IMAGED,
		 BU_STATE_FAILED, "no route; tried 3 times", "", 0},
		{BU_STATE_IMAGING, BU_ACTION_INSTALL, 2, BU_TRIGGER_INSPECTED,
		 BU_STATE_FAILED, "no route; 2 power cycles did not help", "", 0},
		{BU_STATE_BOOTING, BU_ACTION_DISKBOOT, 0, BU_TRIGGER_BOOT,
		 BU_STATE_FAILED, "", "", 0},
		{BU_STATE_JOINING, BU_ACTION_JOIN, 0, BU_TRIGGER_PROVEN,
		 BU_STATE_JOINING, "", "no route", 0},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct bu_reason reason;

		rest(cases[i].state);
		step(cases[i].action, BU_STEP_FAILED);
		bu_node_set_step_error(node, "no route");
		bu_node_set_installed_digest(node, "d1");
		node->repeats = cases[i].repeats;
		node->on = cases[i].on;
		bu_step_failure(node, &reason);
		bu_reconcile_climb(rig.rec, node, BU_TRIGGER_FAULT, &reason);
		write_rows();
		ck_assert_msg(node->state == cases[i].to, "case %zu", i);
		ck_assert_int_eq(node->repeats, cases[i].repeats_then);
		if (i == 4)
			rig_reason_has(node->reason,
				       "bringup node reboot node001 power-cycles it");
		else
			rig_reason_says(node->reason, cases[i].reason);
		rig_reason_says(&node->hold->reason, cases[i].held);
	}
	end();
}
END_TEST

RIG_UNIT("deadline", each_state_has_its_time,
	 a_bmc_restarts_in_the_last_try_where_the_pool_says_so,
	 it_counts_from_when_it_got_further, who_is_held_and_who_may_be_cycled,
	 a_deadline_is_of_one_that_could_go_on, late_is_remembered_for_a_while,
	 what_is_noted_as_late, what_failed_is_done_again, long_waits_are_in_the_log,
	 a_rung_of_the_ladder)
