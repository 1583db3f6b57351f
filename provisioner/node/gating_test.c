/* SPDX-License-Identifier: Apache-2.0 */
/* A node's cluster gives it no work any more before bringup restarts its machine. */
#include <string.h>

#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define GATED "state=drain reason=bringup: its machine restarts"

static struct rig rig;

static void
power(struct bu_node *node, const char *op)
{
	const struct bu_verb_ask ask = {.verb = BU_VERB_POWER,
					.by = "ann",
					.op = op,
					.force = 1,
					.reason = "smoke"};
	struct bu_err err = {0};
	bu_autofree char *text = bu_verb_run(rig.rec, node, &ask, &err);

	ck_assert_msg(text != NULL, "%s", err.text);
}

static void
pass_seconds(int seconds)
{
	for (int i = 0; i < seconds; i++)
		rig_pass(&rig, 1000);
}

static int
gates(void)
{
	bu_autofree char *told = rig_read(&rig, "scontrol.log");
	int times = 0;

	for (const char *at = told; (at = strstr(at, GATED)); at++)
		times++;
	return times;
}

/* Slurm does what it is told next. */
static void
obey(void)
{
	rig_write(&rig, "sinfo.next", "drained\n");
}

/* Once the node's cluster has said what it knows of it. */
static struct bu_node *
serving(const char *word)
{
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	rig_write(&rig, "sinfo", word);
	for (int i = 0; i < 30; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert(node->live.cluster->at_ms && node->live.cluster->known);
	rig_write(&rig, "scontrol.log", "");
	return node;
}

START_TEST(each_way_to_switch_a_machine_in_service_is_gated_first)
{
	static const struct {
		const char *op, *line;
		int before;
	} rows[] = {{"cycle", "boot disk node001", 1}, {"off", "off node001", 0}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_node *node = serving("idle\n");

		rig_write(&rig, "slurm.fail", "slurmctld is away\n");
		power(node, rows[i].op);
		pass_seconds(20);
		ck_assert_int_eq(rig_count(&rig, rows[i].line), rows[i].before);
		rig_why_says(&rig, node, "slurmctld is away");
		rig_remove(&rig, "slurm.fail");
		obey();
		pass_seconds(12);
		ck_assert_int_eq(gates(), 1);
		ck_assert_int_eq(rig_count(&rig, rows[i].line), rows[i].before + 1);
		ck_assert_int_eq(node->power->result, BU_OUTCOME_DONE);
		ck_assert_str_eq(node->live.cluster_words, "");
		rig_end(&rig);
	}
}
END_TEST

/* What runs is not switched on, and stays in service. */
START_TEST(a_machine_that_runs_is_not_gated_to_be_switched_on)
{
	struct bu_node *node = serving("idle\n");

	power(node, "on");
	pass_seconds(5);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_DONE);
	ck_assert_int_eq(gates(), 0);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

/* A person has switched it off: nobody drains it, or cycles it. It comes back when it
 * is switched on. */
START_TEST(a_gated_node_that_is_off_stays_as_it_is)
{
	struct bu_node *node = serving("idle\n");

	obey();
	power(node, "off");
	pass_seconds(90);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_DONE);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert_int_eq(gates(), 1);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	rig_end(&rig);
}
END_TEST

/* The machine goes on, and its agent is there: the node joins again. */
START_TEST(a_command_that_fails_opens_the_gate_again)
{
	struct bu_node *node = serving("idle\n");

	obey();
	rig_write(&rig, "power.refuse", "no such session\n");
	power(node, "cycle");
	pass_seconds(3);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_FAILED);
	ck_assert_int_eq(gates(), 1);
	rig_until(&rig, node, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* A repair is not held up for ever by a cluster that is away, perhaps on this very
 * machine. */
START_TEST(a_node_in_service_waits_a_minute_for_a_silent_cluster)
{
	struct bu_node *node = serving("idle\n");

	rig_write(&rig, "slurm.fail", "slurmctld is away\n");
	power(node, "cycle");
	pass_seconds(58);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	pass_seconds(4);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_DONE);
	rig_end(&rig);
}
END_TEST

/* The drain is in the cluster's own books, and outlives its restart. */
START_TEST(a_drained_node_waits_for_five_seconds)
{
	struct bu_node *node = serving("IDLE+DRAIN DIMM A3\n");

	rig_write(&rig, "slurm.fail", "slurmctld is away\n");
	power(node, "cycle");
	pass_seconds(3);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	pass_seconds(4);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
	rig_end(&rig);

	node = serving("IDLE+DRAIN DIMM A3\n");
	power(node, "cycle");
	pass_seconds(2);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
	ck_assert_int_eq(gates(), 0); /* the administrator's reason stays */
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_that_has_left_waits_for_no_cluster)
{
	struct bu_node *node = serving("idle\n");
	const struct bu_verb_ask drain = {
		.verb = BU_VERB_DRAIN, .by = "ann", .reason = ""};

	rig_write(&rig, "sinfo", "");
	free(bu_verb_run(rig.rec, node, &drain, NULL));
	rig_until(&rig, node, BU_STATE_PARKED);
	rig_write(&rig, "slurm.fail", "slurmctld is away\n");
	power(node, "cycle");
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 10);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
	rig_end(&rig);
}
END_TEST

/* It had restarted by itself, and its cluster still has it: the ladder cycles it. */
START_TEST(a_rung_of_the_ladder_is_gated)
{
	struct bu_node *node = serving("idle\n");

	rig_come_up(&rig, 1, "b0075f16-5a4e-4c7c-9d6f-6a1b8f3c2d99");
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	ck_assert(node->joined->cluster[0]);
	obey();
	rig_fire(&rig, node, BU_TRIGGER_REPEAT);
	pass_seconds(3);
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	ck_assert_int_eq(gates(), 1);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
	rig_end(&rig);
}
END_TEST

/* Its boot is over as soon as the command is in the log: it leaves, and a cluster that
 * does not know it any more is gated. */
START_TEST(a_node_that_joins_is_out_of_its_cluster_first)
{
	struct bu_node *node = rig_up_to(&rig, RIG_JOINING);

	rig_write(&rig, "sinfo", "drained\n");
	rig_write(&rig, "slurm.fail", "slurmctld is away\n");
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_answer(&rig, node, NULL); /* its client runs: it would be admitted */
	power(node, "cycle");
	pass_seconds(5);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	rig_write(&rig, "scontrol.log", "");
	rig_remove(&rig, "slurm.fail");
	pass_seconds(12);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
	{
		bu_autofree char *told = rig_read(&rig, "scontrol.log");

		ck_assert_ptr_null(strstr(told, "resume"));
	}
	rig_end(&rig);
}
END_TEST

RIG_UNIT("gating", each_way_to_switch_a_machine_in_service_is_gated_first,
	 a_machine_that_runs_is_not_gated_to_be_switched_on,
	 a_gated_node_that_is_off_stays_as_it_is,
	 a_command_that_fails_opens_the_gate_again,
	 a_node_in_service_waits_a_minute_for_a_silent_cluster,
	 a_drained_node_waits_for_five_seconds,
	 a_node_that_has_left_waits_for_no_cluster, a_rung_of_the_ladder_is_gated,
	 a_node_that_joins_is_out_of_its_cluster_first)
