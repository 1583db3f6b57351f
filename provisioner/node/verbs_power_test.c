/* SPDX-License-Identifier: Apache-2.0 */
/* What people do to machines: whose jobs would die, and what a restart makes of it. */
#include <string.h>

#include "provisioner/node/verbs.h"
#include "tests/support/baddisk.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static char *
power_as(struct rig *rig, const char *op, int force, const char *reason,
	 struct bu_err *err)
{
	const struct bu_verb_ask ask = {.verb = BU_VERB_POWER,
					.by = "ann",
					.op = op,
					.force = force,
					.reason = reason};

	return bu_verb_run(rig->rec, rig_node(rig, 1), &ask, err);
}

static void
no_power(struct rig *rig, const char *op, int force, enum bu_err_kind kind,
	 const char *says)
{
	bu_autofree char *before = rig_read(rig, "power.log"), *after = NULL;
	struct bu_err err = {0};

	ck_assert_ptr_null(power_as(rig, op, force, "", &err));
	ck_assert_int_eq(err.kind, kind);
	rig_text_has(err.text, says);
	for (int i = 0; i < 5; i++)
		rig_pass(rig, 10);
	after = rig_read(rig, "power.log");
	ck_assert_str_eq(before, after);
}

static void
power(struct rig *rig, const char *op, int force)
{
	struct bu_err err = {0};
	bu_autofree char *text = NULL;

	rig_write(rig, "sinfo.next", "drained\n");
	text = power_as(rig, op, force, "smoke", &err);
	ck_assert_msg(text != NULL, "%s", err.text);
	for (int i = 0; i < 5; i++)
		rig_pass(rig, 10);
	/* Slurm is told of it first, where the node has joined it. */
	for (int i = 0; i < 4; i++)
		rig_pass(rig, 500);
}

START_TEST(power_of_a_node_in_service_needs_force_and_a_reason)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	no_power(&rig, "off", 0, BU_ERR_STATE, "its jobs would be lost");
	no_power(&rig, "cycle", 0, BU_ERR_STATE, "bringup node drain it first");
	no_power(&rig, "off", 1, BU_ERR_INVAL, "--force needs --reason");
	no_power(&rig, "explode", 0, BU_ERR_INVAL, "on, off, cycle or status");
	power(&rig, "off", 1);
	ck_assert_int_eq(rig_count(&rig, "off node001"), 1);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_DONE);
	ck_assert_str_eq(node->power->power, "off");
	rig_why_says(&rig, node, "power off by ann: done");
	power(&rig, "on", 0); /* harms nobody */
	ck_assert_int_eq(rig_count(&rig, "on node001"), 1);
	power(&rig, "status", 0);
	ck_assert_str_eq(node->live.power_seen->power, "on");
	rig_end(&rig);

	node = rig_up_to(&rig, RIG_IMAGING);
	no_power(&rig, "off", 0, BU_ERR_STATE, "bringup is working on it");
	rig_end(&rig);
}
END_TEST

/* The system on its machine is of this site, and the log does not know what it runs. */
START_TEST(power_of_what_is_not_adopted_needs_force)
{
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 1);
	node = rig_node(&rig, 1);
	bu_node_set_condition(node, BU_CONDITION_UNADOPTED, 1, 1, NULL);
	no_power(&rig, "off", 0, BU_ERR_STATE, "has not adopted");
	no_power(&rig, "cycle", 0, BU_ERR_STATE, "--force");
	power(&rig, "on", 0);
	power(&rig, "off", 1);
	ck_assert_int_eq(rig_count(&rig, "off node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(power_of_a_drained_node_is_free)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	const struct bu_verb_ask drain = {
		.verb = BU_VERB_DRAIN, .by = "ann", .reason = ""};

	rig_write(&rig, "sinfo", "");
	free(bu_verb_run(rig.rec, node, &drain, NULL));
	rig_until(&rig, node, BU_STATE_PARKED);
	power(&rig, "cycle", 0);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_DONE);
	ck_assert_int_eq(node->state, BU_STATE_PARKED);
	rig_write(&rig, "power.node001", "unknown");
	power(&rig, "status", 0);
	ck_assert_str_eq(node->live.power_seen->power,
			 "unknown"); /* which is not off */
	rig_end(&rig);
}
END_TEST

/* Its intent is in the log and no outcome: it is looked at, not done again. */
START_TEST(a_power_action_is_not_repeated_after_a_restart)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	rig_write(&rig, "power.hang", "");
	power(&rig, "off", 1);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_ASKED);
	no_power(&rig, "on", 0, BU_ERR_BUSY, "power off by ann is under way");
	rig_remove(&rig, "power.hang");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	for (int i = 0; i < 20 && node->power->result == BU_OUTCOME_ASKED; i++)
		rig_pass(&rig, 100);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_UNKNOWN);
	ck_assert_str_eq(node->power->power, "off");
	ck_assert_int_eq(rig_count(&rig, "off node001"), 1);
	rig_end(&rig);
}
END_TEST

/* The disk becomes full while the BMC is asked. */
static void
fill_at_request(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	if (node && node->power->result == BU_OUTCOME_ASKED)
		bad_disk.full = 1;
}

START_TEST(an_outcome_that_the_log_did_not_take_is_looked_for)
{
	struct rig rig;
	struct bu_node *node;

	bad_disk_install();
	node = rig_up_to(&rig, RIG_READY);
	bu_fleet_watch(rig.fleet, fill_at_request, NULL);
	power(&rig, "off", 1);
	bu_fleet_unwatch(rig.fleet, fill_at_request, NULL);
	ck_assert_ptr_nonnull(bu_store_down(rig.store));
	ck_assert_int_eq(node->power->result, BU_OUTCOME_ASKED);
	bad_disk_install();
	for (int i = 0; i < 10 && node->power->result == BU_OUTCOME_ASKED; i++)
		rig_pass(&rig, 1001);
	ck_assert_ptr_null(bu_store_down(rig.store));
	ck_assert_int_eq(node->power->result, BU_OUTCOME_UNKNOWN);
	ck_assert_str_eq(node->power->power, "off");
	ck_assert_int_eq(rig_count(&rig, "off node001"), 1);
	power(&rig, "on", 0); /* nothing is under way */
	ck_assert_int_eq(node->power->result, BU_OUTCOME_DONE);
	rig_end(&rig);
}
END_TEST

/* What bringup waits for there is what boots: from its empty disk it would wait for
 * ever. */
START_TEST(a_node_that_is_being_installed_is_cycled_into_the_ramdisk)
{
	struct rig rig;

	rig_up_to(&rig, RIG_STARTED);
	power(&rig, "cycle", 1);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 2);
	power(&rig, "off", 1);
	power(&rig, "on", 1);
	ck_assert_int_eq(rig_count(&rig, "on network node001"), 1);
	rig_end(&rig);

	rig_up_to(&rig, RIG_READY);
	power(&rig, "cycle", 1);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
	rig_end(&rig);
}
END_TEST

/* From now on a person switches it: its BMC is not even asked. It is when the profile
 * says so again. */
START_TEST(what_was_asked_rests_while_a_person_switches_the_machine)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	rig_write(&rig, "power.hang", "");
	power(&rig, "off", 1);
	rig_remove(&rig, "power.hang");
	rig_revise(&rig, 1, "power = libvirt\n", "power = manual\n");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	for (int i = 0; i < 20; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_ASKED);
	ck_assert_int_eq(rig_count(&rig, "off node001"), 1);
	rig_revise(&rig, 1, NULL, NULL);
	for (int i = 0; i < 20 && node->power->result == BU_OUTCOME_ASKED; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_UNKNOWN);
	ck_assert_int_eq(rig_count(&rig, "off node001"), 1);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("verbs power", a_node_that_is_being_installed_is_cycled_into_the_ramdisk,
	 power_of_a_node_in_service_needs_force_and_a_reason,
	 power_of_what_is_not_adopted_needs_force, power_of_a_drained_node_is_free,
	 a_power_action_is_not_repeated_after_a_restart,
	 an_outcome_that_the_log_did_not_take_is_looked_for,
	 what_was_asked_rests_while_a_person_switches_the_machine)
