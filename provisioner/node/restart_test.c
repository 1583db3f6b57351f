/* SPDX-License-Identifier: Apache-2.0 */
/* What a start of the daemon finds under way: a boot, an agent's step, a join. */
#include "provisioner/node/reconcile_impl.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

/* Up to the state whose power step is open and not answered, then a restart. */
static struct bu_node *
restart_in_boot(struct rig *rig, const char *power)
{
	struct bu_node *node;

	node = rig_up_to(rig, RIG_ENROLLED);
	rig_write(rig, "power.hang", "");
	rig_fire(rig, node, BU_TRIGGER_START);
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	ck_assert_int_eq(rig_count(rig, "boot network node001"), 1);
	rig_remove(rig, "power.hang");
	rig_write(rig, "power.node001", power);
	rig_restart(rig);
	return rig_node(rig, 1);
}

START_TEST(a_boot_that_was_not_done_is_done_after_a_restart)
{
	struct rig rig;
	struct bu_node *node = restart_in_boot(&rig, "off");

	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(a_boot_that_may_have_been_done_is_not_repeated)
{
	struct rig rig;
	struct bu_node *node = restart_in_boot(&rig, "on");

	rig_pass(&rig, 60 * 1000);
	rig_pass(&rig, 60 * 1000);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	rig_inspect(&rig, 1); /* its boot proves it */
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(one_that_goes_off_after_the_restart_is_booted)
{
	struct rig rig;
	struct bu_node *node = restart_in_boot(&rig, "on");

	rig_pass(&rig, 5001);
	rig_write(&rig, "power.node001", "off");
	for (int i = 0; i < 20 && node->step.status == BU_STEP_OPEN; i++)
		rig_pass(&rig, 1001);
	ck_assert_int_eq(node->step.status, BU_STEP_DONE);
	ck_assert_int_eq(node->repeats, 0);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(unknown_power_is_asked_for_again_and_never_taken_for_off)
{
	struct rig rig;
	struct bu_node *node = restart_in_boot(&rig, "unknown");

	for (int i = 0; i < 10; i++)
		rig_pass(&rig, 5001);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_write(&rig, "power.node001", "off");
	for (int i = 0; i < 20 && node->step.status == BU_STEP_OPEN; i++)
		rig_pass(&rig, 5001);
	ck_assert_int_eq(node->step.status, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(a_restart_leaves_the_agents_step_to_the_agent)
{
	struct rig rig;
	struct bu_node *node;

	rig_up_to(&rig, RIG_IMAGING);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	rig_pass(&rig, 899 * 1000);
	ck_assert_int_eq(node->state, BU_STATE_IMAGING);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 1);
	ck_assert_int_eq(node->step.attempt, 1);
	rig_install(&rig, 1);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_restart_in_joining_asks_the_agent_again)
{
	struct rig rig;
	struct bu_node *node;

	node = rig_up_to(&rig, RIG_JOINING);
	bu_reconcile_result(rig.rec, node, node->step.id, 1, NULL);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 0);
	rig_pass(&rig, 1);
	rig_restart(&rig); /* while sinfo is being asked */
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 1);
	rig_joins(&rig, node);
	rig_end(&rig);
}
END_TEST

/* The power goes while the image is written, of the machine alone or of the appliance,
 * too: the machine asks again and has no order to boot; it is late in the end, and gets
 * another token for the same install. */
START_TEST(a_machine_that_lost_its_power_while_it_was_written_is_written_again)
{
	for (int all = 0; all <= 1; all++) {
		struct rig rig;
		struct bu_node *node = rig_up_to(&rig, RIG_IMAGING);
		char id[112];

		strcpy(id, node->step.id);
		rig.silent = 1 << 1;
		if (all)
			rig_restart(&rig);
		node = rig_node(&rig, 1);
		ck_assert_int_eq(bu_reconcile_boots(node), 0);
		rig_pass(&rig, 890 * 1000);
		ck_assert_int_eq(node->state, BU_STATE_IMAGING);
		rig_pass(&rig, 80 * 1000);
		rig_until(&rig, node, BU_STATE_INSPECTING);
		rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
		ck_assert_int_eq(bu_reconcile_boots(node), 1);
		ck_assert_int_eq(rig_count(&rig, "boot network node001"), 2);
		rig.silent = 0;
		rig_inspect(&rig, 1);
		ck_assert_str_eq(node->step.id, id);
		ck_assert_int_eq(node->step.attempt, 2);
		rig_install(&rig, 1);
		rig_end(&rig);
	}
}
END_TEST

/* A class whose firmware takes six minutes; its node is written. */
static struct bu_node *
written(struct rig *rig)
{
	rig_begin(rig, 0);
	rig_apply(rig, 1, BU_CLASS_INSTALL, "d1", "nics = 2\n",
		  "nics = 2\npost = 6 m\n");
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	return rig_node(rig, 1);
}

static const struct bu_work_installed by_kexec = {.kexec = 1, .slot = ""};

/* The ramdisk starts what it has installed: no power action, with a restart of bringup
 * at any point between. */
START_TEST(what_is_started_by_kexec_is_not_power_cycled)
{
	for (int restarts = 0; restarts < 3; restarts++) {
		struct rig rig;
		struct bu_node *node = written(&rig);
		char id[112];

		strcpy(id, node->step.id);
		bu_reconcile_installed(rig.rec, node, "another", 1, &by_kexec);
		bu_reconcile_installed(rig.rec, node, id, 7, &by_kexec);
		rig_pass(&rig, 1);
		ck_assert_int_eq(node->state, BU_STATE_IMAGING);
		bu_reconcile_installed(rig.rec, node, id, node->step.attempt,
				       &by_kexec);
		if (restarts == 1) /* the intent may be in the log, and no more */
			bu_reconcile_stop(rig.rec);
		rig_pass(&rig, 1);
		if (restarts)
			rig_restart(&rig);
		node = rig_node(&rig, 1);
		rig_until(&rig, node, BU_STATE_BOOTING);
		rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
		rig_pass(&rig, 1000);
		if (!restarts)
			rig_why_says(&rig, node,
				     "starts the installed system by kexec");
		rig_come_up(&rig, 1, "boot-installed");
		ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 0);
		ck_assert_int_eq(node->repeats, 0);
		rig_end(&rig);
	}
}
END_TEST

/* It goes through no firmware, so nobody waits for one; the second start does. */
START_TEST(a_kexec_that_does_not_come_up_falls_back_to_a_power_cycle)
{
	struct rig rig;
	struct bu_node *node = written(&rig);

	bu_reconcile_installed(rig.rec, node, node->step.id, node->step.attempt,
			       &by_kexec);
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
	rig_pass(&rig, 298 * 1000);
	ck_assert_int_eq(node->repeats, 0);
	rig_pass(&rig, 4000);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
	ck_assert_int_eq(node->repeats, 1);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	rig_pass(&rig, (360 + 290) * 1000);
	ck_assert_int_eq(node->repeats, 1);
	rig_come_up(&rig, 1, "boot-installed");
	rig_end(&rig);
}
END_TEST

/* The log of another version. */
START_TEST(an_unknown_word_ends_no_start)
{
	struct rig rig;
	struct bu_event event;

	rig_begin(&rig, 1);
	row_init(&event, BU_EVENT_POWER, "node001",
		 quoted("{'op':'hibernate','result':'asked','by':'ann'}"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	rig_restart(&rig);
	ck_assert_int_eq(rig_node(&rig, 1)->power->op, BU_POWER_REQUEST_NONE);
	ck_assert_str_eq(rig_node(&rig, 1)->power->by, "ann");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("restart", an_unknown_word_ends_no_start,
	 a_boot_that_was_not_done_is_done_after_a_restart,
	 a_boot_that_may_have_been_done_is_not_repeated,
	 one_that_goes_off_after_the_restart_is_booted,
	 unknown_power_is_asked_for_again_and_never_taken_for_off,
	 a_restart_leaves_the_agents_step_to_the_agent,
	 a_restart_in_joining_asks_the_agent_again,
	 a_machine_that_lost_its_power_while_it_was_written_is_written_again,
	 what_is_started_by_kexec_is_not_power_cycled,
	 a_kexec_that_does_not_come_up_falls_back_to_a_power_cycle)
