/* SPDX-License-Identifier: Apache-2.0 */
/* Pools that become smaller and larger: whom it takes, what it leaves, whose word
 * counts. */
#include "provisioner/node/scale.h"

#include <string.h>

#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define LIMITS "max_unavailable = 50 %\nmin = 1\nmax = 3\n"

static struct rig rig;

static void
pass_s(int seconds)
{
	for (int i = 0; i < seconds; i++)
		rig_pass(&rig, 990);
}

/* Three nodes of one pool, ready; more: further lines of the pool. */
static void
begin(const char *more)
{
	bu_autofree char *lines = bu_xasprintf("%s%s", LIMITS, more);

	rig_begin(&rig, 3);
	for (int i = 1; i <= 3; i++) {
		rig_to_validating(&rig, i);
		rig_join(&rig, i);
	}
	rig_revise(&rig, 3, "max_unavailable = 50 %\n", lines);
	pass_s(15);
	for (int i = 1; i <= 3; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_READY);
}

static const struct bu_desired_pool *
pool(void)
{
	return &rig.fleet->desired->pools[0];
}

static void
scale(int count)
{
	struct bu_err err = {0};

	ck_assert_msg(bu_scale_ask(rig.rec, pool(), count, "ann", "night", &err) == 0,
		      "%s", err.text);
	pass_s(3);
}

static void
no_scale(int count, enum bu_err_kind kind, const char *says)
{
	struct bu_err err = {0};

	ck_assert_int_eq(bu_scale_ask(rig.rec, pool(), count, "ann", "", &err), -1);
	ck_assert_int_eq(err.kind, kind);
	rig_text_has(err.text, says);
}

/* "ready draining ready" */
static const char *
states(void)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s %s %s",
		 bu_state_name(rig_node(&rig, 1)->state),
		 bu_state_name(rig_node(&rig, 2)->state),
		 bu_state_name(rig_node(&rig, 3)->state));
	return text;
}

/* Its jobs have ended, and Slurm knows it no more. */
static void
let_go(int number)
{
	bu_autofree char *name = bu_xasprintf("slurm.node%03d", number);

	rig_write(&rig, name, "");
	rig_until(&rig, rig_node(&rig, number), BU_STATE_PARKED);
	pass_s(2);
}

static void
let_in(int number)
{
	bu_autofree char *name = bu_xasprintf("slurm.node%03d", number);

	rig_write(&rig, name, "idle");
}

static void
person(int number, enum bu_verb verb)
{
	const struct bu_verb_ask ask = {
		.verb = verb, .by = "eve", .reason = "mine", .grant = "", .op = ""};
	struct bu_err err = {0};
	bu_autofree char *text =
		bu_verb_run(rig.rec, rig_node(&rig, number), &ask, &err);

	ck_assert_msg(text != NULL, "%s", err.text);
	pass_s(1);
}

START_TEST(it_takes_the_idle_one_first_and_gives_it_back)
{
	bu_autofree char *before = NULL, *after = NULL;
	char step[BU_NAME_MAX];

	begin("");
	before = rig_read(&rig, "power.log");
	snprintf(step, sizeof(step), "%s", rig_node(&rig, 2)->machine);
	rig_write(&rig, "squeue", "node001|12 (alice)\nnode003|13 (bob)\n");
	rig_write(&rig, "slurm.node001", "mixed");
	rig_write(&rig, "slurm.node003", "mixed");
	pass_s(12);
	scale(2);
	ck_assert_str_eq(states(), "ready draining ready");
	rig_reason_says(&rig_node(&rig, 2)->next->reason,
			"pool train is to have 2 nodes in service, by ann: night");
	let_go(2);
	/* Nothing but that: its machine stays on, and its system is what it was. */
	after = rig_read(&rig, "power.log");
	ck_assert_str_eq(after, before);
	rig_restart(&rig);
	pass_s(30);
	ck_assert_str_eq(states(), "ready parked ready");
	ck_assert_int_eq(bu_scale_wanted(rig.fleet, pool()), 2);
	scale(3);
	ck_assert_int_ne(rig_node(&rig, 2)->state, BU_STATE_PARKED);
	ck_assert_str_eq(rig_node(&rig, 2)->machine, step);
	rig_end(&rig);
}
END_TEST

START_TEST(one_with_jobs_leaves_when_they_end_and_stays_when_it_is_wanted_again)
{
	begin("");
	rig_write(&rig, "squeue", "node[001-003]|12 (alice)\n");
	rig_write(&rig, "sinfo", "mixed\n");
	pass_s(12);
	scale(2);
	ck_assert_str_eq(states(), "ready ready draining");
	pass_s(60);
	ck_assert_str_eq(states(), "ready ready draining");
	scale(3);
	pass_s(3);
	ck_assert_int_ne(rig_node(&rig, 3)->state, BU_STATE_PARKED);
	ck_assert_int_ne(rig_node(&rig, 3)->state, BU_STATE_DRAINING);
	rig_end(&rig);
}
END_TEST

START_TEST(only_within_its_limits_and_only_where_it_has_them)
{
	begin("");
	no_scale(0, BU_ERR_INVAL, "has 1 to 3 nodes by its min and max, not 0");
	no_scale(4, BU_ERR_INVAL, "not 4");
	rig_revise(&rig, 3, "max_unavailable = 50 %\n", "max_unavailable = 50 %\n");
	pass_s(3);
	no_scale(2, BU_ERR_STATE, "has no max in the profile");
	ck_assert_str_eq(states(), "ready ready ready");
	rig_end(&rig);
}
END_TEST

START_TEST(what_a_person_holds_or_has_parked_is_left_alone)
{
	begin("");
	person(1, BU_VERB_HOLD);
	person(2, BU_VERB_DRAIN);
	let_go(2);
	scale(1);
	ck_assert_str_eq(states(), "ready parked draining");
	let_go(3);
	scale(3);
	/* The spare comes, what eve has parked does not. */
	ck_assert_int_ne(rig_node(&rig, 3)->state, BU_STATE_PARKED);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_PARKED);
	pass_s(60);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_PARKED);
	rig_end(&rig);
}
END_TEST

START_TEST(nobody_leaves_while_the_cluster_does_not_answer)
{
	begin("");
	rig_write(&rig, "slurm.fail", "no slurmctld\n");
	pass_s(40);
	scale(1);
	pass_s(60);
	ck_assert_str_eq(states(), "ready ready ready");
	rig_remove(&rig, "slurm.fail");
	pass_s(30);
	ck_assert_str_eq(states(), "ready draining draining");
	rig_end(&rig);
}
END_TEST

START_TEST(a_revision_with_another_count_ends_the_word)
{
	begin("");
	scale(2);
	ck_assert_int_eq(bu_scale_wanted(rig.fleet, pool()), 2);
	/* One that says nothing of it does not. */
	rig_revise(&rig, 3, "max_unavailable = 50 %\n", LIMITS "kargs = quiet\n");
	pass_s(2);
	ck_assert_int_eq(bu_scale_wanted(rig.fleet, pool()), 2);
	rig_revise(&rig, 3, "max_unavailable = 50 %\n", LIMITS "count = 1\n");
	pass_s(2);
	ck_assert_int_eq(bu_scale_wanted(rig.fleet, pool()), 1);
	scale(3);
	ck_assert_int_eq(bu_scale_wanted(rig.fleet, pool()), 3);
	/* And the limits of the newest revision hold for an older word. */
	rig_revise(&rig, 3, "max_unavailable = 50 %\n",
		   "max_unavailable = 50 %\nmax = 2\ncount = 1\n");
	pass_s(2);
	ck_assert_int_eq(bu_scale_wanted(rig.fleet, pool()), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_that_a_rollout_has_is_not_taken)
{
	begin("");
	rig_apply(&rig, 3, BU_CLASS_REBOOT, "d-new", "max_unavailable = 50 %\n",
		  LIMITS);
	pass_s(1);
	scale(1);
	pass_s(5);
	/* The rollout's own drain is not one of the scale. */
	for (int i = 1; i <= 3; i++)
		ck_assert(rig_node(&rig, i)->state != BU_STATE_DRAINING ||
			  rig_node(&rig, i)->next->state != BU_STATE_PARKED);
	rig_end(&rig);
}
END_TEST

START_TEST(idle_machines_are_switched_off_down_to_min_and_come_when_wanted)
{
	begin("idle_off = 30 m\n");
	rig_write(&rig, "squeue", "node001|12 (alice)\n");
	rig_write(&rig, "slurm.node001", "mixed");
	pass_s(25 * 60);
	ck_assert_str_eq(states(), "ready ready ready");
	pass_s(6 * 60);
	ck_assert_str_eq(states(), "ready draining draining");
	rig_reason_says(&rig_node(&rig, 2)->next->reason,
			"pool train is to have 1 node in service, by idle_off");
	let_go(2);
	let_go(3);
	pass_s(5);
	ck_assert_int_eq(rig_count(&rig, "off node002"), 1);
	ck_assert_int_eq(rig_count(&rig, "off node003"), 1);
	ck_assert_int_eq(rig_count(&rig, "off node001"), 0);
	/* min. And what is off is not switched off again. */
	rig_write(&rig, "squeue", "");
	rig_write(&rig, "slurm.node001", "idle");
	pass_s(65 * 60);
	ck_assert_str_eq(states(), "ready parked parked");
	ck_assert_int_eq(rig_count(&rig, "off node002"), 1);
	scale(2);
	pass_s(5);
	ck_assert_str_eq(states(), "ready booting parked");
	let_in(2);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("scale", it_takes_the_idle_one_first_and_gives_it_back,
	 one_with_jobs_leaves_when_they_end_and_stays_when_it_is_wanted_again,
	 only_within_its_limits_and_only_where_it_has_them,
	 what_a_person_holds_or_has_parked_is_left_alone,
	 nobody_leaves_while_the_cluster_does_not_answer,
	 a_revision_with_another_count_ends_the_word,
	 a_node_that_a_rollout_has_is_not_taken,
	 idle_machines_are_switched_off_down_to_min_and_come_when_wanted)
