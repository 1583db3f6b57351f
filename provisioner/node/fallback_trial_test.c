/* SPDX-License-Identifier: Apache-2.0 */
/* A new root is tried once, and stays on trial until its agent has confirmed it. */
#include "provisioner/node/fallback.h"

#include <string.h>

#include "tests/support/roots.h"
#include "tests/support/unit.h"

/* The power is cut between its hello and its word to the loader. */
START_TEST(one_that_came_up_and_was_not_confirmed_makes_way)
{
	for (int restarts = 0; restarts < 2; restarts++) {
		struct rig rig;
		struct bu_node *node = ordered(&rig, "a");
		bu_autofree char *next = NULL;

		writes(&rig, "b", 1);
		rig_come_up(&rig, 1, "boot-2");
		next = bu_xstrdup(node->agent_cert);
		/* The other one is none that could confirm anything. */
		bu_fallback_confirm(rig.rec, node, first_cert);
		rig_pass(&rig, 1);
		if (restarts)
			rig_restart(&rig);
		node = rig_node(&rig, 1);
		ck_assert(may_speak(&rig, first_cert) && may_speak(&rig, next));
		ck_assert_int_eq(says_hello(&rig, first_step, "boot-3", NULL), 0);
		rig_until(&rig, node, BU_STATE_FAILED);
		rig_reason_is(node->reason, NOT_CONFIRMED);
		rig_reason_has(node->reason, "came up in slot b, and its machine was "
					     "reset before");
		ck_assert_int_eq(node->order->failed, 1);
		has_first(&rig);
		ck_assert(!may_speak(&rig, next));
		is_written_again(&rig);
		rig_end(&rig);
	}
}
END_TEST

/* Its agent cannot reach the loader, and gets no work: its deadline ends that. */
START_TEST(one_that_cannot_be_confirmed_is_late)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");

	writes(&rig, "b", 1);
	rig_come_up(&rig, 1, "boot-2");
	rig_why_says(&rig, node,
		     "its system in slot b is on trial until its agent "
		     "asks for work; its loader starts image debian12");
	rig_pass(&rig, 601 * 1000);
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
	ck_assert_int_eq(says_hello(&rig, first_step, "boot-3", NULL), 0);
	rig_until(&rig, node, BU_STATE_FAILED);
	rig_reason_is(node->reason, NOT_CONFIRMED);
	has_first(&rig);
	rig_end(&rig);
}
END_TEST

/* In service, and in a boot of its own, it is confirmed. */
START_TEST(one_that_was_confirmed_makes_way_for_nobody)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");
	struct bu_err err = {0};

	writes(&rig, "b", 1);
	rig_come_up(&rig, 1, "boot-2");
	asks_for_work(&rig);
	ck_assert_ptr_null(bu_fallback_trial(node));
	ck_assert_int_eq(says_hello(&rig, first_step, "boot-3", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_end(&rig);
}
END_TEST

/* The loader may have its word, and nobody heard so: either may come up when the next
 * order is called back, and what that writes is the one that is gone. */
START_TEST(whose_confirmation_was_not_heard_may_be_either)
{
	for (int a = 0; a < 2; a++) {
		struct rig rig;
		struct bu_node *node = ordered(&rig, "a");
		bu_autofree char *second_step = NULL, *second_cert = NULL;

		writes(&rig, "b", 1);
		rig_come_up(&rig, 1, "boot-2");
		second_step = bu_xstrdup(node->installed_step);
		second_cert = bu_xstrdup(node->agent_cert);
		rig_fire(&rig, node, BU_TRIGGER_PARK);
		rig_until(&rig, node, BU_STATE_PARKED);
		rig_apply(&rig, 1, BU_CLASS_REIMAGE, "d3", NULL, NULL);
		rig_start(&rig, 1);
		rig_inspect(&rig, 1);
		ck_assert(may_speak(&rig, first_cert) && may_speak(&rig, second_cert));
		writes(&rig, a ? "a" : "b", 1);
		ck_assert_int_eq(may_speak(&rig, first_cert), !a);
		ck_assert_int_eq(may_speak(&rig, second_cert), a);
		ck_assert_int_eq(
			says_hello(&rig, a ? second_step : first_step, "boot-3", NULL),
			0);
		rig_until(&rig, node, BU_STATE_FAILED);
		rig_reason_is(node->reason, FELL_BACK);
		ck_assert_str_eq(node->agent_cert, a ? second_cert : first_cert);
		ck_assert_str_eq(node->installed_digest, a ? "d2" : "d1");
		rig_end(&rig);
	}
}
END_TEST

/* Which of both its agent has is not known: it was asked for, and not used yet. */
START_TEST(a_renewal_under_way_goes_with_the_system)
{
	for (int used = 0; used < 2; used++) {
		struct rig rig;
		struct bu_node *node = rig_up_to(&rig, RIG_IMAGING);
		bu_autofree char *renewed = NULL, *cert = NULL;
		int64_t until_ms;

		run_first(&rig, "a");
		cert = bu_reconcile_renew(rig.rec, node, rig_request(1), NULL);
		ck_assert_ptr_nonnull(cert);
		rig_pass(&rig, 1);
		renewed = bu_xstrdup(node->agent_cert_next);
		until_ms = node->agent_cert_next_until_ms;
		ck_assert_uint_eq(strlen(renewed), 64);
		order_second(&rig, NULL, NULL);
		ck_assert_str_eq(node->agent_cert_next, "");
		writes(&rig, "b", 1);
		ck_assert(may_speak(&rig, first_cert) && may_speak(&rig, renewed));
		ck_assert_int_eq(says_hello(&rig, first_step, "boot-2", NULL), 0);
		rig_until(&rig, node, BU_STATE_FAILED);
		ck_assert_str_eq(node->agent_cert, first_cert);
		ck_assert_str_eq(node->agent_cert_next, renewed);
		ck_assert_int_eq(node->agent_cert_next_until_ms, until_ms);
		ck_assert(may_speak(&rig, used ? renewed : first_cert));
		rig_pass(&rig, 1);
		ck_assert_int_eq(may_speak(&rig, first_cert), !used);
		ck_assert(may_speak(&rig, renewed));
		rig_end(&rig);
	}
}
END_TEST

/* The system that is not written speaks: that is proof of it, and no reason to wait for
 * the deadline. */
START_TEST(a_reset_in_the_middle_is_told_by_the_system_of_before)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");
	struct bu_err err = {0};

	rig.silent = 1U << 1;
	ck_assert_int_eq(says_hello(&rig, "s-other", "boot-2", &err), -1);
	for (int s = 0; s < 62; s++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_IMAGING);
	ck_assert_int_eq(says_hello(&rig, first_step, "boot-2", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	for (int s = 0; s < 62; s++)
		rig_pass(&rig, 1000);
	rig_until(&rig, node, BU_STATE_INSPECTING);
	rig_reason_is(node->reason, BEGAN_AGAIN);
	rig_end(&rig);
}
END_TEST

/* A power action that failed may have started it: it is not reset in its one try. */
START_TEST(what_may_be_tried_is_not_reset)
{
	static const char *const seen[] = {"on", "off", "unknown"};

	for (size_t i = 0; i < BU_LEN(seen); i++) {
		struct rig rig;
		struct bu_node *node = ordered(&rig, "a");
		const struct bu_work_installed as = {.slot = "b", .tried = 1};
		int off = strcmp(seen[i], "off") == 0;

		rig_write(&rig, "power.refuse", "the BMC is busy");
		bu_reconcile_installed(rig.rec, node, node->step.id, node->step.attempt,
				       &as);
		rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_FAILED);
		ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
		rig_remove(&rig, "power.refuse");
		rig_write(&rig, "power.node001", seen[i]);
		for (int s = 0; s < 200; s++)
			rig_pass(&rig, 1000);
		ck_assert_int_eq(node->state, BU_STATE_BOOTING);
		ck_assert_int_eq(node->repeats, 1);
		ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2 + off);
		/* It comes up, or it hangs and is reset when it is late. */
		if (i == 0) {
			rig_come_up(&rig, 1, "boot-2");
			ck_assert_str_eq(node->installed_digest, "d2");
		} else if (!off) {
			rig_write(&rig, "power.node001", "on");
			for (int s = 0; s < 200; s++)
				rig_pass(&rig, 1000);
			ck_assert_int_eq(node->repeats, 2);
			ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 3);
		}
		rig_end(&rig);
	}
}
END_TEST

static void
verb(struct rig *rig, enum bu_verb verb)
{
	const struct bu_verb_ask ask = {.verb = verb, .by = "ann", .reason = "looks"};
	bu_autofree char *says =
		bu_verb_run(rig->rec, rig_node(rig, 1), &ask, &(struct bu_err){0});

	ck_assert_ptr_nonnull(says);
	rig_pass(rig, 1);
}

/* Nor by the release of one that was held after the action had failed. */
START_TEST(a_release_does_not_reset_it_either)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");
	const struct bu_work_installed as = {.slot = "b", .tried = 1};

	rig_write(&rig, "power.refuse", "the BMC is busy");
	bu_reconcile_installed(rig.rec, node, node->step.id, node->step.attempt, &as);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_FAILED);
	verb(&rig, BU_VERB_HOLD);
	rig_remove(&rig, "power.refuse");
	rig_write(&rig, "power.node001", "on");
	verb(&rig, BU_VERB_RELEASE);
	for (int s = 0; s < 100; s++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
	rig_come_up(&rig, 1, "boot-2");
	rig_end(&rig);
}
END_TEST

/* Each failed look is a failed action: the ladder goes on to its last try. */
START_TEST(a_bmc_that_stays_away_ends_the_ladder)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_IMAGING);
	const struct bu_work_installed as = {.slot = "b", .tried = 1};

	run_first(&rig, "a");
	order_second(&rig, "power = libvirt", "power = redfish\nbmc_reset = last-try");
	rig_write(&rig, "power.refuse", "the BMC is away");
	rig_write(&rig, "power.away", "the BMC is away");
	bu_reconcile_installed(rig.rec, node, node->step.id, node->step.attempt, &as);
	for (int s = 0; s < 900 && node->state != BU_STATE_FAILED; s++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_FAILED);
	rig_reason_is(node->reason, STEP_FAILED);
	rig_reason_has(node->reason, "tried 3 times");
	ck_assert_int_eq(rig_count(&rig, "bmc-reset node001"), 1);
	rig_end(&rig);
}
END_TEST

/* Not the new system's fault, and it is said so. */
START_TEST(who_was_switched_off_by_a_person_is_said_so)
{
	struct rig rig;
	struct bu_node *node = ordered(&rig, "a");
	const struct bu_verb_ask ask = {.verb = BU_VERB_POWER,
					.op = "cycle",
					.by = "ann",
					.reason = "smoke",
					.force = 1};
	bu_autofree char *says = NULL;

	writes(&rig, "b", 1);
	says = bu_verb_run(rig.rec, node, &ask, &(struct bu_err){0});
	ck_assert_ptr_nonnull(says);
	rig_pass(&rig, 1000);
	ck_assert_int_eq(says_hello(&rig, first_step, "boot-2", NULL), 0);
	rig_until(&rig, node, BU_STATE_FAILED);
	rig_reason_is(node->reason, FELL_BACK);
	rig_reason_has(node->reason, "a person switched its machine off meanwhile");
	rig_end(&rig);
}
END_TEST

/* Nothing is written yet: the system that the machine was to lose may come back. */
START_TEST(an_order_that_has_written_nothing_takes_no_certificate)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_VALIDATING);
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(1, "boot-ramdisk");

	strcpy(first_cert, node->agent_cert);
	strcpy(first_step, node->installed_step);
	rig_fire(&rig, node, BU_TRIGGER_PARK);
	rig_until(&rig, node, BU_STATE_PARKED);
	rig_apply(&rig, 1, BU_CLASS_WIPE, "d2", NULL, NULL);
	rig_start(&rig, 1);
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(1), inventory, NULL), 0);
	rig_pass(&rig, 1);
	inventory->nics_count = 1;
	ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_RAMDISK, NULL,
					    inventory, NULL),
			 0);
	rig_until(&rig, node, BU_STATE_QUARANTINED);
	ck_assert(may_speak(&rig, first_cert));
	asks_for_work(&rig);
	ck_assert_int_eq(says_hello(&rig, first_step, "boot-2", NULL), 0);
	ck_assert_str_eq(node->agent_cert, first_cert);
	ck_assert(may_speak(&rig, first_cert));
	rig_end(&rig);
}
END_TEST

/* With one root: neither what was written over nor the ramdisk that did so comes back.
 */
START_TEST(a_system_that_was_written_over_has_no_certificate)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_IMAGING);
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-3");
	bu_autofree char *ramdisk = NULL;

	run_first(&rig, NULL);
	order_second(&rig, NULL, NULL);
	ck_assert(!may_speak(&rig, first_cert));
	ramdisk = bu_xstrdup(node->agent_cert);
	rig_fire(&rig, node, BU_TRIGGER_FAULT);
	rig_until(&rig, node, BU_STATE_FAILED);
	rig_apply(&rig, 1, BU_CLASS_REIMAGE, "d2", NULL, NULL);
	rig_start(&rig, 1);
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(1), inventory, NULL), 0);
	rig_pass(&rig, 1);
	ck_assert(!may_speak(&rig, first_cert) && !may_speak(&rig, ramdisk));
	rig_end(&rig);
}
END_TEST

RIG_UNIT("fallback_trial", one_that_came_up_and_was_not_confirmed_makes_way,
	 one_that_cannot_be_confirmed_is_late,
	 one_that_was_confirmed_makes_way_for_nobody,
	 whose_confirmation_was_not_heard_may_be_either,
	 a_renewal_under_way_goes_with_the_system, what_may_be_tried_is_not_reset,
	 a_release_does_not_reset_it_either,
	 a_reset_in_the_middle_is_told_by_the_system_of_before,
	 a_bmc_that_stays_away_ends_the_ladder,
	 who_was_switched_off_by_a_person_is_said_so,
	 an_order_that_has_written_nothing_takes_no_certificate,
	 a_system_that_was_written_over_has_no_certificate)
