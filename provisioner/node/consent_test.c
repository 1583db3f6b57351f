/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No machine that is on is switched off without consent: whose boot it is, and what was
 * granted.
 */
#include <string.h>

#include "base/json.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

/* The order that the rig gave, once more, with a grant of a reset. */
static void
grant_reset(struct rig *rig, struct bu_node *node)
{
	struct bu_event event;

	row_init(&event, BU_EVENT_ORDER, node->name,
		 json_pack("{s:s,s:s,s:s,s:s,s:s,s:b}", "rollout", "r-1", "class",
			   "install", "image", "debian12", "digest", "d1", "facets",
			   "f-d1", "reset", 1));
	bu_reconcile_note(rig->rec, &event, 1);
	rig_pass(rig, 1);
}

static void
until_held(struct rig *rig, const struct bu_node *node)
{
	for (int i = 0; i < 500 && node->hold->reason.code != BU_REASON_IS_ON; i++)
		rig_pass(rig, 1);
	rig_reason_is(&node->hold->reason, IS_ON);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
}

START_TEST(an_install_leaves_a_machine_that_is_on_alone)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	bu_autofree char *log = NULL;

	rig_write(&rig, "power.node001", "on");
	rig_fire(&rig, node, BU_TRIGGER_START);
	until_held(&rig, node);
	rig_reason_has(&node->hold->reason, "node001 is on, and no grant allows");
	rig_reason_has(&node->hold->reason, "--grant reset:node001");
	/* No deadline, no ladder, no restart of the daemon changes that. */
	for (int i = 0; i < 3; i++) {
		rig_pass(&rig, 600 * 1000);
		rig_restart(&rig);
		node = rig_node(&rig, 1);
		rig_reason_is(&node->hold->reason, IS_ON);
		ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	}
	log = rig_read(&rig, "power.log");
	ck_assert_str_eq(log, "");
	/* A person switches it off: then it goes on. */
	rig_write(&rig, "power.node001", "off");
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "me", NULL), 0);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	rig_reason_is(&node->hold->reason, NONE);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_granted_reset_goes_on)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);

	rig_write(&rig, "power.node001", "on");
	grant_reset(&rig, node);
	ck_assert_int_eq(node->order->reset, 1);
	rig_start(&rig, 1);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

/* The name got another machine before the turn came: no name of the granted one is
 * left. With one that is left it is a correction. */
START_TEST(a_grant_is_of_the_machine_that_it_was_given_for)
{
	static const char other[] = "[node node001]\nserial = NEW-1\n"
				    "mac = 52:54:00:99:00:01\n[image debian12]\n";
	static const char corrected[] =
		"[node node001]\nserial = NEW-1\n[image debian12]\n";
	/* a number that the order's revision does not have */
	static const char added[] =
		"[node node001]\nserial = NEW-1\n"
		"uuid = 11111111-2222-3333-4444-555555555501\n[image debian12]\n";
	static const char *const applied[] = {other, corrected, added};

	for (size_t i = 0; i < BU_LEN(applied); i++) {
		int same = i > 0;
		struct rig rig;
		struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);

		rig_write(&rig, "power.refuse", "BMC is asleep");
		rig_write(&rig, "power.node001", "on");
		grant_reset(&rig, node);
		rig_fire(&rig, node, BU_TRIGGER_START);
		rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_FAILED);
		rig_revise(&rig, 1, "[image debian12]\n", applied[i]);
		rig_remove(&rig, "power.refuse");
		if (same)
			rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
		else
			until_held(&rig, node);
		ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1 + same);
		rig_end(&rig);
	}
}
END_TEST

/* The next order has to be granted anew. */
START_TEST(a_grant_ends_with_its_order)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	struct bu_err bad;

	rig_write(&rig, "power.node001", "on");
	grant_reset(&rig, node);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	bu_err_set(&bad, BU_ERR_VERIFY, 0, "the image is not what was signed");
	rig_answer(&rig, node, &bad);
	rig_until(&rig, node, BU_STATE_FAILED);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d2", NULL, NULL);
	ck_assert_int_eq(node->order->reset, 0);
	rig_fire(&rig, node, BU_TRIGGER_START);
	until_held(&rig, node);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

/* What it has switched on itself in this order it may switch off again. */
START_TEST(a_ladder_resets_the_boots_of_its_own_order)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_STARTED);

	ck_assert_int_eq(node->booted_by_us, 1);
	rig_pass(&rig, 301 * 1000);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(node->repeats, 1);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 2);
	rig_end(&rig);
}
END_TEST

/* Another machine was behind its BMC: what a person put there since may run anything.
 */
START_TEST(a_boot_before_another_machine_came_gives_no_consent)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_STARTED);
	struct bu_reason reason;
	struct bu_event event;

	ck_assert_int_eq(node->booted_by_us, 1);
	BU_REASON_SET(&reason, FOREIGN_MACHINE, .text = {"it says LAB-9", "node001"});
	bu_hold_event(&event, node->name, BU_OWNER_BRINGUP, "", &reason);
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "me", NULL), 0);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	for (int i = 0; i < 20 && !node->hold->owner; i++)
		rig_pass(&rig, 60 * 1000);
	until_held(&rig, node);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

/* Its intent is in the log and no outcome: the machine that is on may be another's. */
START_TEST(a_boot_that_nobody_saw_gives_no_consent)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);

	rig_write(&rig, "power.hang", "");
	rig_fire(&rig, node, BU_TRIGGER_START);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	for (int i = 0; i < 500 && !rig_count(&rig, "boot network node001"); i++)
		rig_pass(&rig, 1);
	rig_remove(&rig, "power.hang");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	for (int i = 0; i < 500 && node->hold->reason.code != BU_REASON_IS_ON; i++)
		rig_pass(&rig, 2000);
	rig_reason_is(&node->hold->reason, IS_ON);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

/* Since it began to join, jobs may run there, whatever is granted. */
START_TEST(what_may_run_jobs_is_never_reset)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_JOINING);
	bu_autoinventory struct bu_inventory *again = rig_inventory(1, "boot-2");
	bu_autojson json_t *stamp = NULL;
	struct bu_event event;

	ck_assert_int_eq(node->serves, 1);
	/* No edge leads there with the client running; a log of before may. */
	row_init(&event, BU_EVENT_STATE, node->name,
		 json_pack("{s:s,s:s,s:s}", "from", "joining", "to", "validating", "on",
			   "late"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_until(&rig, node, BU_STATE_VALIDATING);
	for (int i = 0; i < 500 && node->hold->reason.code != BU_REASON_IS_ON; i++)
		rig_pass(&rig, 5000);
	rig_reason_is(&node->hold->reason, IS_ON);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	/* A boot of its own ends that: its agent tells of it. */
	stamp = rig_stamp(&rig, node);
	ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED, stamp,
					    again, NULL),
			 0);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->serves, 0);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("consent", an_install_leaves_a_machine_that_is_on_alone,
	 a_granted_reset_goes_on, a_grant_ends_with_its_order,
	 a_grant_is_of_the_machine_that_it_was_given_for,
	 a_ladder_resets_the_boots_of_its_own_order,
	 a_boot_before_another_machine_came_gives_no_consent,
	 a_boot_that_nobody_saw_gives_no_consent, what_may_run_jobs_is_never_reset)
