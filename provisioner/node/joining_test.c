/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster that is away, or that has lost what it knew, loses no join. */
#include <string.h>

#include "base/crypto.h"
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

static struct bu_node *
joining_with_job(void)
{
	struct bu_node *node = rig_up_to(&rig, RIG_JOINING);

	rig_revise(&rig, 1, "fabric = fabric\n",
		   "fabric = fabric\nacceptance = reduce\nacceptance_min = 4\n");
	rig_write(&rig, "sinfo", "drained\n");
	rig_answer(&rig, node, NULL);
	return node;
}

/* It has ended; the node is drained unless it was good. */
static void
job_says(const struct rig *with, const struct bu_node *node, const char *said)
{
	char hex[BU_DIGEST_SIZE];
	bu_autofree char *text = NULL;

	bu_sha256_hex(node->step.id, strlen(node->step.id), hex);
	text = bu_xasprintf("bringup|12|COMPLETED|1|node001|None|bringup %.8s; %s\n",
			    hex, said);
	rig_write(with, "squeue", text);
	rig_write(with, "sinfo", strstr(said, "4.5") ? "idle\n" : "drained\n");
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

/* What Slurm would say; the driver's own tests have the whole way. */
START_TEST(a_node_takes_work_once_its_job_was_good)
{
	static const struct {
		const char *said;
		int good;
	} rows[] = {{"exit 0; all-reduce 4.5", 1},
		    {"exit 0; all-reduce 3.5", 0},
		    {"exit 1; no fabric", 0}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_node *node = joining_with_job();

		job_says(&rig, node, rows[i].said);
		for (int at = 0; at < 60 && node->state == BU_STATE_JOINING; at++)
			pass(1, 1000);
		ck_assert_int_eq(node->state,
				 rows[i].good ? BU_STATE_READY : BU_STATE_JOINING);
		ck_assert_int_eq(node->hold->owner,
				 rows[i].good ? BU_OWNER_NONE : BU_OWNER_BRINGUP);
		if (!rows[i].good)
			rig_why_says(&rig, node, "acceptance: job 12 on node001: ");
		rig_end(&rig);
	}
}
END_TEST

RIG_UNIT("joining", a_join_waits_for_its_cluster_for_hours,
	 a_cluster_that_answers_and_does_not_take_the_node_is_late,
	 a_cluster_that_has_lost_the_node_is_told_again,
	 a_node_takes_work_once_its_job_was_good)
