/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster that saves power has machines switched off and on, and they stay ready. */
#include <string.h>

#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct rig rig;

static char *
ask(struct bu_node *node, const char *op, struct bu_err *err)
{
	const struct bu_verb_ask verb = {.verb = BU_VERB_POWER,
					 .by = "slurm",
					 .op = op,
					 .reason = "Slurm saves power"};

	return bu_verb_run(rig.rec, node, &verb, err);
}

static void
pass_seconds(int seconds)
{
	for (int i = 0; i < seconds; i++)
		rig_pass(&rig, 1000);
}

static void
power(struct bu_node *node, const char *op)
{
	struct bu_err err = {0};
	bu_autofree char *text = ask(node, op, &err);

	ck_assert_msg(text != NULL, "%s", err.text);
	pass_seconds(3);
}

static void
refused(struct bu_node *node, const char *op, enum bu_err_kind kind, const char *says)
{
	struct bu_err err = {0};

	ck_assert_ptr_null(ask(node, op, &err));
	ck_assert_int_eq(err.kind, kind);
	rig_text_has(err.text, says);
}

/* Once the node's cluster has said so. */
static struct bu_node *
serving(const char *word)
{
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	rig_write(&rig, "sinfo", word);
	pass_seconds(30);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_write(&rig, "scontrol.log", "");
	return node;
}

/* suspended: the one condition that it has; else it has the others. */
static void
says(const struct bu_node *node, int suspended)
{
	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert_int_eq(node->conditions[BU_CONDITION_SUSPENDED].on, suspended);
	ck_assert_int_eq(node->conditions[BU_CONDITION_UNREACHABLE].on, !suspended);
	ck_assert_int_eq(node->conditions[BU_CONDITION_NOT_IN_CLUSTER].on, !suspended);
	ck_assert_int_eq(bu_node_is_away_by_condition(node), !suspended);
}

static struct bu_node *
asleep(void)
{
	struct bu_node *node = serving("IDLE+POWERING_DOWN\n");

	power(node, "suspend");
	ck_assert_int_eq(rig_count(&rig, "off node001"), 1);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_DONE);
	rig_write(&rig, "sinfo", "IDLE+POWERED_DOWN\n");
	rig.silent = 1U << 1;
	return node;
}

/* A drain would keep the cluster from waking it. */
START_TEST(it_sleeps_without_a_drain_until_it_is_woken)
{
	struct bu_node *node = asleep();
	bu_autofree char *told = NULL;

	pass_seconds(1000);
	says(node, 1);
	rig_why_says(&rig, node, "power suspend by slurm: done");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	pass_seconds(100);
	says(node, 1);
	rig_write(&rig, "sinfo", "MIXED+NOT_RESPONDING+POWERING_UP\n");
	power(node, "wake");
	ck_assert_int_eq(rig_count(&rig, "on node001"), 1);
	pass_seconds(60);
	says(node, 1); /* its firmware takes its time */
	told = rig_read(&rig, "scontrol.log");
	ck_assert_str_eq(told, "");
	rig.silent = 0;
	rig_come_up(&rig, 1, "boot-woken");
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	pass_seconds(2);
	ck_assert_int_eq(node->conditions[BU_CONDITION_SUSPENDED].on, 0);
	rig_end(&rig);
}
END_TEST

/* The node's jobs would be lost: the cluster itself must have sent the node to sleep.
 */
START_TEST(a_node_that_may_get_work_is_not_suspended)
{
	static const char *const words[] = {"idle\n", "mixed\n",
					    "MIXED+POWERING_DOWN\n", "drained\n"};

	for (size_t i = 0; i < BU_LEN(words); i++) {
		struct bu_node *node = rig_up_to(&rig, RIG_READY);

		rig_write(&rig, "sinfo", words[i]);
		pass_seconds(12);
		refused(node, "suspend",
			node->state == BU_STATE_READY ? BU_ERR_BUSY : BU_ERR_STATE,
			node->state == BU_STATE_READY ? "does not say" : "joining");
		ck_assert_int_eq(rig_count(&rig, "off node001"), 0);
		rig_end(&rig);
	}
	refused(rig_up_to(&rig, RIG_IMAGING), "wake", BU_ERR_STATE, "is imaging");
	rig_end(&rig);
}
END_TEST

/* A program of slurm.conf asks again for a minute: meanwhile jobs may have come. */
START_TEST(what_the_cluster_has_said_before_suspends_no_node)
{
	struct bu_node *node = serving("IDLE+POWERING_DOWN\n");

	rig_write(&rig, "slurm.fail", "no slurmctld\n");
	pass_seconds(40);
	ck_assert(node->live.cluster->sleeps);
	refused(node, "suspend", BU_ERR_BUSY, "does not say");
	rig_remove(&rig, "slurm.fail");
	pass_seconds(60);
	power(node, "wake");
	refused(node, "suspend", BU_ERR_BUSY, "does not say");
	ck_assert_int_eq(rig_count(&rig, "off node001"), 0);
	pass_seconds(30);
	power(node, "suspend"); /* it has been asked since */
	ck_assert_int_eq(rig_count(&rig, "off node001"), 1);
	rig_end(&rig);
}
END_TEST

/* An answer of before the last boot counts no more, as young as it is. */
START_TEST(a_boot_outdates_what_the_cluster_has_said)
{
	struct bu_node *node = serving("IDLE+POWERING_DOWN\n");

	node->since_ms = bu_wall_ms(bu_loop_clock(rig.loop));
	refused(node, "suspend", BU_ERR_BUSY, "does not say");
	rig_end(&rig);
}
END_TEST

/* scontrol reboot. */
START_TEST(a_cluster_restarts_a_ready_node_that_nobody_holds)
{
	struct bu_node *node = serving("MIXED+REBOOT_REQUESTED\n");

	refused(node, "cycle", BU_ERR_STATE, "its jobs would be lost");
	rig_write(&rig, "sinfo", "DOWN+REBOOT_ISSUED reboot issued\n");
	pass_seconds(30);
	refused(node, "off", BU_ERR_STATE, "its jobs would be lost");
	bu_node_hold(node)->owner = BU_OWNER_PERSON;
	refused(node, "cycle", BU_ERR_STATE, "is held");
	bu_node_hold(node)->owner = BU_OWNER_NONE;
	power(node, "cycle");
	ck_assert_int_eq(node->power->result, BU_OUTCOME_DONE);
	rig.silent = 1U << 1;
	refused(node, "cycle", BU_ERR_STATE, "is ready"); /* asked twice */
	rig_end(&rig);
	refused(rig_up_to(&rig, RIG_IMAGING), "cycle", BU_ERR_STATE, "is imaging");
	rig_end(&rig);
}
END_TEST

START_TEST(a_machine_that_does_not_wake_is_said_to_be_away)
{
	struct bu_node *node = asleep();

	power(node, "wake");
	pass_seconds(200);
	says(node, 1);
	power(node, "wake-failed"); /* as the cluster says it */
	ck_assert_int_eq(node->power->result, BU_OUTCOME_FAILED);
	rig_why_says(&rig, node, "power wake-failed by slurm: failed");
	pass_seconds(30);
	says(node, 0);
	ck_assert_int_eq(rig_count(&rig, "on node001"), 1);
	rig_end(&rig);

	node = asleep(); /* nobody says it */
	power(node, "wake");
	pass_seconds(3000);
	says(node, 0);
	rig_end(&rig);
}
END_TEST

static void
reset_bmc(struct bu_node *node)
{
	const struct bu_verb_ask verb = {
		.verb = BU_VERB_BMC_RESET, .by = "ann", .op = "", .reason = ""};
	struct bu_err err = {0};
	bu_autofree char *text = bu_verb_run(rig.rec, node, &verb, &err);

	ck_assert_msg(text != NULL, "%s", err.text);
	pass_seconds(3);
}

/* Only its next boot, or another suspend, ends what the wake has come to. */
START_TEST(what_a_person_tries_does_not_hide_that_it_did_not_wake)
{
	struct bu_node *node = asleep();

	rig_revise(&rig, 1, "power = libvirt", "power = redfish");
	reset_bmc(node);
	pass_seconds(30);
	says(node, 1); /* nobody has woken it */
	power(node, "wake");
	power(node, "wake-failed");
	pass_seconds(30);
	says(node, 0);
	reset_bmc(node);
	pass_seconds(30);
	says(node, 0);
	power(node, "on");
	pass_seconds(30);
	says(node, 0);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	pass_seconds(100);
	says(node, 0);
	power(node, "suspend"); /* its cluster has given up waiting, and means to */
	pass_seconds(30);
	says(node, 1);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("suspend", it_sleeps_without_a_drain_until_it_is_woken,
	 a_node_that_may_get_work_is_not_suspended,
	 what_the_cluster_has_said_before_suspends_no_node,
	 a_boot_outdates_what_the_cluster_has_said,
	 a_cluster_restarts_a_ready_node_that_nobody_holds,
	 a_machine_that_does_not_wake_is_said_to_be_away,
	 what_a_person_tries_does_not_hide_that_it_did_not_wake)
