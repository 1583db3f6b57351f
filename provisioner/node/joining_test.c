/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster that is away, or that has lost what it knew, loses no join. */
#include <string.h>

#include "provisioner/node/reconcile_impl.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct rig rig;

static void
pass(int times, int ms)
{
	for (int i = 0; i < times; i++)
		rig_pass(&rig, ms);
}

/* The node's client runs. */
static struct bu_node *
joining(void)
{
	struct bu_node *node = rig_up_to(&rig, RIG_JOINING);

	rig_answer(&rig, node, NULL);
	return node;
}

START_TEST(a_join_waits_for_its_cluster_for_hours)
{
	struct bu_node *node;

	node = joining();
	rig_write(&rig, "slurm.fail", "slurmctld is away\n");
	pass(120, 1000);
	rig_reason_is(node->live.wait_reason, CLUSTER_AWAITED);
	rig_why_says(&rig, node, "does not answer: Slurm: ");
	pass(1000, 5000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	ck_assert_int_eq(node->step.attempt, 1); /* slurmd need not start anew */
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	rig_answer(&rig, node, NULL);
	pass(400, 1000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	rig_remove(&rig, "slurm.fail");
	rig_write(&rig, "sinfo", "idle\n");
	pass(30, 1000);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

/* The deadline stood still, and counts on. */
START_TEST(a_cluster_that_answers_and_does_not_take_the_node_is_late)
{
	struct bu_node *node = joining();

	rig_write(&rig, "slurm.fail", "slurmctld is away\n");
	pass(1000, 1000);
	rig_remove(&rig, "slurm.fail");
	rig_write(&rig, "sinfo", "inval\n");
	pass(20, 1000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
	rig_end(&rig);

	node = joining();
	rig_write(&rig, "slurm.fail", "slurmctld is away\n");
	pass(1000, 1000);
	rig_remove(&rig, "slurm.fail");
	rig_write(&rig, "sinfo", "down*\n");
	pass(20, 1000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	ck_assert_int_eq(bu_node_stands_still(node), 0);
	for (int i = 0; i < 400 && !node->hold->owner; i++) {
		pass(1, 1000);
		if (bu_reconcile_wants_agent(node))
			rig_answer(&rig, node, NULL);
	}
	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
	ck_assert_int_eq(node->step.attempt, 3);
	rig_end(&rig);
}
END_TEST

/* slurmctld was started without its state: only slurmd's next start tells it. */
START_TEST(a_cluster_that_has_lost_the_node_is_told_again)
{
	struct bu_node *node = joining();

	rig_write(&rig, "sinfo", "");
	pass(90, 1000);
	ck_assert_int_eq(node->step.attempt, 1);
	pass(15, 1000);
	ck_assert_int_eq(node->step.attempt, 2);
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 1);
	rig_answer(&rig, node, NULL);
	rig_write(&rig, "sinfo", "idle\n");
	pass(15, 1000);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("joining", a_join_waits_for_its_cluster_for_hours,
	 a_cluster_that_answers_and_does_not_take_the_node_is_late,
	 a_cluster_that_has_lost_the_node_is_told_again)
