/* SPDX-License-Identifier: Apache-2.0 */
/* The brake: when many are late together the ladders stand still. */
#include "provisioner/rollout/rollout.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/rollout.h"

static void
all_inspecting(struct rig *rig, int nodes)
{
	rig_begin(rig, nodes);
	for (int i = 1; i <= nodes; i++)
		rig_start(rig, i);
}

static int
boots(const struct rig *rig)
{
	int count = 0;

	for (int i = 1; i <= (int)rig->fleet->count; i++) {
		bu_autofree char *line = bu_xasprintf("boot network node%03d", i);

		count += rig_count(rig, line);
	}
	return count;
}

START_TEST(many_that_are_late_together_are_left_alone)
{
	struct rig rig;
	bu_autofree char *why = NULL;
	const json_t *brake;

	all_inspecting(&rig, 4);
	ck_assert_int_eq(boots(&rig), 4);
	rig_pass(&rig, 310 * 1000);
	pass_some(&rig);
	brake = json_object_get(rig.fleet->brakes, "pool train");
	ck_assert_int_eq(bu_json_int(brake, "late", 0), 4);
	ck_assert_int_eq(bu_json_int(brake, "of", 0), 4);
	for (int hours = 0; hours < 3; hours++)
		rig_pass(&rig, 3600 * 1000);
	pass_some(&rig);
	ck_assert_int_eq(boots(&rig), 4);
	ck_assert_int_eq(count_in(&rig, BU_STATE_INSPECTING), 4);
	why = rig_why(&rig, rig_node(&rig, 1));
	has(why, "the brake is on, many are late together");
	has(why, "its deadline of 300 s passed ");
	/* what is not late is not kept: two come, the brake lets go, two are cycled */
	rig_inspect(&rig, 1);
	rig_inspect(&rig, 2);
	rig_pass(&rig, 2000);
	rig_pass(&rig, 2000);
	pass_some(&rig);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 0);
	rig_until_step(&rig, rig_node(&rig, 3), BU_ACTION_NETBOOT, BU_STEP_DONE);
	rig_until_step(&rig, rig_node(&rig, 4), BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(boots(&rig), 6);
	rig_end(&rig);
}
END_TEST

START_TEST(a_frozen_node_that_is_released_gets_its_time_anew)
{
	struct rig rig;

	all_inspecting(&rig, 4);
	rig_pass(&rig, 310 * 1000);
	pass_some(&rig);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 1);
	rig_restart(
		&rig); /* the log has it; a start leaves all in peace for a minute */
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 1);
	rig_pass(&rig, 2000);
	pass_some(&rig);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 0);
	rig_pass(&rig, 310 * 1000);
	pass_some(&rig);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 1);
	for (int i = 1; i <= 2; i++)
		ck_assert_int_eq(
			bu_reconcile_release(rig.rec, rig_node(&rig, i), "me", NULL),
			0);
	rig_pass(&rig, 2000);
	rig_pass(&rig, 2000);
	pass_some(&rig);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 0);
	ck_assert_int_eq(rig_node(&rig, 1)->repeats, 0);
	ck_assert_int_eq(rig_node(&rig, 3)->repeats, 1);
	rig_end(&rig);
}
END_TEST

/* Their boots were lost with a bringupd that was killed: nobody comes by himself, and
 * all that are released are late together again. */
START_TEST(who_is_released_goes_on_once_whoever_else_is_late)
{
	struct rig rig;

	all_inspecting(&rig, 4);
	rig_pass(&rig, 310 * 1000);
	pass_some(&rig);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 1);
	for (int i = 1; i <= 4; i++)
		ck_assert_int_eq(
			bu_reconcile_release(rig.rec, rig_node(&rig, i), "me", NULL),
			0);
	rig_pass(&rig, 2000);
	pass_some(&rig);
	ck_assert_int_eq(boots(&rig), 4);
	rig_pass(&rig, 310 * 1000);
	pass_some(&rig);
	for (int i = 1; i <= 4; i++)
		rig_until_step(&rig, rig_node(&rig, i), BU_ACTION_NETBOOT,
			       BU_STEP_DONE);
	ck_assert_int_eq(boots(&rig), 8);
	/* Once. */
	for (int hours = 0; hours < 3; hours++)
		rig_pass(&rig, 3600 * 1000);
	pass_some(&rig);
	ck_assert_int_eq(boots(&rig), 8);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 1);
	rig_end(&rig);
}
END_TEST

/* Three of four in a rack are late, and they are few of the pool. */
START_TEST(a_rack_that_is_late_is_left_alone_and_no_other)
{
	struct rig rig;

	rig_begin(&rig, 20);
	for (size_t i = 0; i < 20; i++)
		rig.fleet->desired->nodes[i].rack = bu_xstrdup(i < 4 ? "r1" : "r2");
	for (int i = 1; i <= 3; i++)
		rig_start(&rig, i);
	rig_pass(&rig, 310 * 1000);
	pass_some(&rig);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 1);
	ck_assert_ptr_nonnull(json_object_get(rig.fleet->brakes, "rack r1"));
	rig_pass(&rig, 3600 * 1000);
	pass_some(&rig);
	ck_assert_int_eq(boots(&rig), 3);
	watch(&rig);
	pass_some(&rig);
	waits_for(&rig, 4, "the brake is on for rack r1");
	waits_for(&rig, 4, "bringup status names them, bringup node release lets one");
	ck_assert_int_eq(rig_node(&rig, 4)->order->begun, 0);
	ck_assert_int_eq(rig_node(&rig, 5)->order->begun, 1);
	rig_end(&rig);
}
END_TEST

/* Refused power of a whole subnet of BMCs is no reason to fail its nodes. */
START_TEST(power_that_is_refused_everywhere_is_not_the_nodes)
{
	struct rig rig;

	rig_begin(&rig, 4);
	rig_write(&rig, "power.refuse", "BMC: no route");
	watch(&rig);
	bu_rollouts_kick(rig.rollouts);
	for (int i = 0; i < 20; i++) {
		pass_some(&rig);
		rig_pass(&rig, 5001);
	}
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 1);
	ck_assert_int_eq(count_in(&rig, BU_STATE_FAILED), 0);
	ck_assert_int_eq(rig_node(&rig, 1)->repeats, 0);
	rig_end(&rig);
}
END_TEST

/* Two are no crowd, nor are three of fifteen: more than a fifth, or than the policy's
 * own share. */
START_TEST(the_brake_needs_three_and_more_than_their_share)
{
	static const struct {
		int nodes, late;
		double percent; /* 0 = what it is without a word */
		int on;
	} rows[] = {{4, 2, 0, 0},   {4, 3, 0, 1},   {15, 3, 0, 0}, {15, 4, 0, 1},
		    {15, 4, 30, 0}, {10, 3, 30, 0}, {10, 4, 30, 1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_begin(&rig, rows[i].nodes);
		rig.fleet->desired->policy.brake_percent = rows[i].percent;
		for (int k = 1; k <= rows[i].late; k++)
			rig_start(&rig, k);
		rig_pass(&rig, 310 * 1000);
		pass_some(&rig);
		ck_assert_msg(json_object_size(rig.fleet->brakes) == (size_t)rows[i].on,
			      "row %zu", i);
		rig_end(&rig);
	}
}
END_TEST

/* What they share may be the network of their BMCs; those that are named are in none.
 */
START_TEST(bmcs_of_one_subnet_are_left_alone_and_no_others)
{
	struct rig rig;
	const json_t *brake;

	rig_begin(&rig, 20);
	for (int i = 1; i <= 3; i++)
		rig_start(&rig, i);
	for (int i = 0; i < 20; i++) {
		struct bu_desired_node *want = &rig.fleet->desired->nodes[i];

		free(want->bmc);
		want->bmc = i < 4   ? bu_xasprintf("https://10.1.0.%d/x", 10 + i)
			    : i < 8 ? bu_xasprintf("https://bmc%d/x", i)
				    : bu_xasprintf("https://10.1.1.%d/x", 10 + i);
	}
	rig_pass(&rig, 310 * 1000);
	pass_some(&rig);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 1);
	brake = json_object_get(rig.fleet->brakes, "BMC subnet 10.1.0.0/24");
	ck_assert_int_eq(bu_json_int(brake, "late", 0), 3);
	ck_assert_int_eq(bu_json_int(brake, "of", 0), 4);
	watch(&rig);
	pass_some(&rig);
	waits_for(&rig, 4, "the brake is on for BMC subnet 10.1.0.0/24");
	for (int i = 5; i <= 20; i++)
		ck_assert_int_eq(rig_node(&rig, i)->order->begun, 1);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("brake", many_that_are_late_together_are_left_alone,
	 a_frozen_node_that_is_released_gets_its_time_anew,
	 who_is_released_goes_on_once_whoever_else_is_late,
	 a_rack_that_is_late_is_left_alone_and_no_other,
	 power_that_is_refused_everywhere_is_not_the_nodes,
	 the_brake_needs_three_and_more_than_their_share,
	 bmcs_of_one_subnet_are_left_alone_and_no_others)
