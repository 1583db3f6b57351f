/* SPDX-License-Identifier: Apache-2.0 */
/* A power action, ordered or seen, ends what was known of the boot before it. */
#include "provisioner/node/over.h"

#include <string.h>

#include "base/text.h"
#include "tests/support/verbs.h"

static void
power(struct rig *rig, const char *op)
{
	const struct bu_verb_ask ask = {.verb = BU_VERB_POWER,
					.by = "ann",
					.op = op,
					.force = 1,
					.reason = "fan 3"};
	struct bu_err err = {0};
	bu_autofree char *text = bu_verb_run(rig->rec, rig_node(rig, 1), &ask, &err);

	ck_assert_msg(text != NULL, "%s", err.text);
	for (int i = 0; i < 5; i++)
		rig_pass(rig, 10);
}

static struct bu_node *
servicing(struct rig *rig)
{
	ready(rig);
	ask(rig, BU_VERB_SERVICE, "ready -> draining, then servicing");
	return goes_to(rig, BU_STATE_SERVICING, NULL);
}

/* The daemon's part alone; what its agent said a moment ago stands. */
static void
pass_seconds(struct rig *rig, int seconds)
{
	for (int i = 0; i < seconds; i++)
		rig_pass(rig, 1000);
}

static void
hellos(struct rig *rig, const char *boot_id, int taken)
{
	struct bu_node *node = rig_node(rig, 1);
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, boot_id);
	bu_autojson json_t *stamp = rig_stamp(rig, node);
	struct bu_err err = {0};
	int rc = bu_reconcile_hello(rig->rec, node, BU_WHERE_INSTALLED, stamp,
				    inventory, &err);

	ck_assert_msg((rc == 0) == taken, "%s: %s", boot_id, err.text);
	if (!taken)
		rig_text_has(err.text, "a later one is waited for");
	rig_pass(rig, 10);
}

/* Nothing of the boot before counts, and the hello of a later one does. */
static void
waits_for_a_later_boot(struct rig *rig, const char *how)
{
	struct bu_node *node = rig_node(rig, 1);

	ck_assert(bu_over_is(node));
	ck_assert_str_eq(node->boot_id, "");
	ck_assert_int_eq(node->boot_installed, 0);
	ck_assert_int_eq(bu_fleet_certified(rig->fleet, node, NULL), -1);
	rig_why_says(rig, node, how);
	rig_why_says(rig, node, "its agent counts again when it says hello in a later");
	hellos(rig, node->over->boot_id, 0);
	ck_assert(bu_over_is(node));
}

START_TEST(who_is_released_in_its_firmware_waits_for_its_hello)
{
	struct rig rig;
	struct bu_node *node = servicing(&rig);

	power(&rig, "off");
	waits_for_a_later_boot(&rig, "its last boot has ended (power off by ann, ");
	power(&rig, "on");
	pass_seconds(&rig, 10);
	ask(&rig, BU_VERB_RELEASE, "servicing -> booting");
	pass_seconds(&rig, 20);
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	waits_for_a_later_boot(&rig, "power off by ann");
	hellos(&rig, "boot-later", 1);
	rig_until(&rig, node, BU_STATE_VALIDATING);
	ck_assert(!bu_over_is(node));
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), -1);
	pass_seconds(&rig, 20);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	hellos(&rig, "boot-1", 0); /* a very late one */
	ck_assert_str_eq(node->boot_id, "boot-later");
	rig_end(&rig);
}
END_TEST

/* Its order is in the log, and what became of it is not. */
START_TEST(what_was_ordered_before_a_crash_is_known_after_it)
{
	static const char *const ops[] = {"off", "cycle"};

	for (size_t i = 0; i < BU_LEN(ops); i++) {
		struct rig rig;
		struct bu_node *node = servicing(&rig);

		rig_write(&rig, "power.hang", "");
		power(&rig, ops[i]);
		ck_assert_int_eq(node->power->result, BU_OUTCOME_ASKED);
		rig_restart(&rig);
		node = rig_node(&rig, 1);
		node->live.last_seen_ms = bu_wall_ms(&rig.clock);
		waits_for_a_later_boot(&rig, "by ann, ");
		ask(&rig, BU_VERB_RELEASE, "servicing -> booting");
		rig_end(&rig);
	}
}
END_TEST

START_TEST(drained_and_resumed_in_its_reboot_it_is_not_there)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);

	ask(&rig, BU_VERB_REBOOT, "ready -> draining, then booting");
	rig_write(&rig, "sinfo", "");
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
	waits_for_a_later_boot(&rig, "(boot-disk while it was booting, ");
	ask(&rig, BU_VERB_DRAIN, "booting -> parked");
	rig_until(&rig, node, BU_STATE_PARKED);
	ask(&rig, BU_VERB_RESUME, "parked -> booting");
	pass_seconds(&rig, 20);
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	hellos(&rig, "boot-later", 1);
	rig_until(&rig, node, BU_STATE_VALIDATING);
	rig_end(&rig);
}
END_TEST

/* Nobody ordered it: it lost its power. */
START_TEST(a_machine_that_is_seen_off_is_not_there)
{
	struct rig rig;
	struct bu_node *node = servicing(&rig);

	rig_write(&rig, "power.node001", "on");
	power(&rig, "status");
	ck_assert(!bu_over_is(node));
	rig_write(&rig, "power.node001", "off");
	power(&rig, "status");
	waits_for_a_later_boot(&rig, "its machine was seen off");
	ck_assert_int_eq(node->booted_by_us, 0);
	rig_restart(&rig);
	waits_for_a_later_boot(&rig, "its machine was seen off");
	ask(&rig, BU_VERB_RELEASE, "servicing -> booting");
	rig_end(&rig);
}
END_TEST

/* It is there as before, once it says something. */
START_TEST(what_failed_ends_no_boot)
{
	struct rig rig;
	struct bu_node *node = servicing(&rig);

	rig_write(&rig, "power.refuse", "no right to do that");
	power(&rig, "cycle");
	ck_assert_int_eq(node->power->result, BU_OUTCOME_FAILED);
	ck_assert(!bu_over_is(node));
	ck_assert_str_eq(node->boot_id, "boot-1");
	ck_assert_int_eq(node->boot_installed, 1);
	ck_assert_int_eq(node->live.last_seen_ms, 0);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), 0);
	ask(&rig, BU_VERB_RELEASE, "servicing -> booting");
	rig_write(&rig, "power.node001", "on");
	pass_seconds(&rig, 10);
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	rig_why_says(&rig, node, "not heard since its machine was last switched");
	node->live.last_seen_ms = bu_wall_ms(&rig.clock);
	pass_seconds(&rig, 2);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_end(&rig);
}
END_TEST

/* Nothing told of it: the word of a moment ago is none of now. */
START_TEST(who_is_released_says_a_word_before_it_joins)
{
	struct rig rig;
	struct bu_node *node = servicing(&rig);

	node->live.last_seen_ms = bu_wall_ms(&rig.clock);
	pass_seconds(&rig, 10);
	ask(&rig, BU_VERB_RELEASE, "servicing -> validating");
	pass_seconds(&rig, 20);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	node->live.last_seen_ms = bu_wall_ms(&rig.clock);
	pass_seconds(&rig, 2);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("over", who_is_released_in_its_firmware_waits_for_its_hello,
	 what_was_ordered_before_a_crash_is_known_after_it,
	 drained_and_resumed_in_its_reboot_it_is_not_there,
	 a_machine_that_is_seen_off_is_not_there, what_failed_ends_no_boot,
	 who_is_released_says_a_word_before_it_joins)
