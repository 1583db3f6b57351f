/* SPDX-License-Identifier: Apache-2.0 */
/* Machines of a chassis, which have one BMC: who may restart it, and who waits. */
#include <string.h>

#include "provisioner/node/effect.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static void
begin(struct rig *rig, int nodes, const char *power)
{
	rig_begin(rig, nodes);
	rig_revise(rig, nodes, "power = libvirt", power);
}

static int
asks(struct rig *rig, int number, enum bu_verb verb, const char *op, int force,
     struct bu_err *err)
{
	const struct bu_verb_ask ask = {
		.verb = verb, .by = "ann", .reason = "hangs", .op = op, .force = force};
	char *said = bu_verb_run(rig->rec, rig_node(rig, number), &ask, err);
	int ret = said ? 0 : -1;

	free(said);
	for (int i = 0; i < 5; i++)
		rig_pass(rig, 10);
	return ret;
}

enum sibling { RESTS, WORKS, HELD, SERVICED, SWITCHED, ELSEWHERE };

static void
bring(struct rig *rig, enum sibling sibling)
{
	struct bu_node *node = rig_node(rig, 2);
	struct bu_err err;

	if (sibling == WORKS || sibling == ELSEWHERE) {
		rig_fire(rig, node, BU_TRIGGER_START);
		rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	} else if (sibling == HELD) {
		ck_assert_int_eq(asks(rig, 2, BU_VERB_HOLD, "", 0, &err), 0);
	} else if (sibling == SERVICED) {
		node->state = BU_STATE_SERVICING;
	} else if (sibling == SWITCHED) {
		rig_write(rig, "power.hang", "");
		ck_assert_int_eq(asks(rig, 2, BU_VERB_POWER, "off", 1, &err), 0);
	}
}

/* what another of its machines does | with force | what comes of it */
START_TEST(a_bmc_is_not_restarted_under_another_of_its_machines)
{
	static const struct {
		enum sibling sibling;
		int force;
		enum bu_err_kind kind;
		const char *says;
	} rows[] = {
		{RESTS, 0, BU_ERR_NONE, NULL},
		{WORKS, 0, BU_ERR_STATE, "node002 has the same BMC, and is inspecting"},
		{WORKS, 1, BU_ERR_NONE, NULL},
		{HELD, 0, BU_ERR_STATE, "and held by a person"},
		{HELD, 1, BU_ERR_NONE, NULL},
		{SERVICED, 0, BU_ERR_STATE, "node002 has the same BMC, and is servic"},
		{SERVICED, 1, BU_ERR_NONE, NULL},
		{SWITCHED, 0, BU_ERR_BUSY, "is being switched on or off"},
		{SWITCHED, 1, BU_ERR_BUSY, "is being switched on or off"},
		{ELSEWHERE, 0, BU_ERR_NONE, NULL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		int apart = rows[i].sibling == ELSEWHERE;
		struct bu_err err = {0};
		struct rig rig;

		begin(&rig, 2,
		      apart ? "power = redfish" : "power = redfish\n; one_bmc");
		bring(&rig, rows[i].sibling);
		asks(&rig, 1, BU_VERB_BMC_RESET, "", rows[i].force, &err);
		ck_assert_msg(err.kind == rows[i].kind, "row %zu: %s", i, err.text);
		if (rows[i].says)
			rig_text_has(err.text, rows[i].says);
		ck_assert_int_eq(rig_count(&rig, "bmc-reset node001"), !rows[i].kind);
		rig_end(&rig);
	}
}
END_TEST

/* Neither a person nor bringup switches a machine whose BMC is away for another. */
START_TEST(a_machine_waits_while_its_bmc_restarts_for_another)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err err = {0};

	begin(&rig, 2, "power = redfish\n; one_bmc");
	node = rig_node(&rig, 2);
	rig_write(&rig, "power.hang", "");
	ck_assert_int_eq(asks(&rig, 1, BU_VERB_BMC_RESET, "", 0, &err), 0);
	ck_assert_int_eq(asks(&rig, 2, BU_VERB_POWER, "off", 1, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	rig_text_has(err.text, "node002: its BMC restarts, as node node001 has it");
	rig_fire(&rig, node, BU_TRIGGER_START);
	for (int i = 0; i < 40; i++)
		rig_pass(&rig, 10000);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(node->step.status, BU_STEP_NONE);
	rig_reason_is(node->live.wait_reason, BMC_AWAITED);
	rig_remove(&rig, "power.hang");
	for (int i = 0; i < 20 && rig_node(&rig, 1)->power->result == BU_OUTCOME_ASKED;
	     i++)
		rig_pass(&rig, 10000);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(node->repeats, 0);
	rig_end(&rig);
}
END_TEST

static void
rename_to(struct rig *rig, const struct bu_node *node, const char *to)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_RENAMED, node->name, renamed, .to = to);
	bu_reconcile_note(rig->rec, &event, 1);
	for (int i = 0; i < 20 && strcmp(node->name, to) != 0; i++)
		rig_pass(rig, 10);
	ck_assert_str_eq(node->name, to);
}

/* Each of them has the other's name when the BMC answers, or one has a new one. */
START_TEST(a_restart_of_a_bmc_ends_under_another_name)
{
	for (int swapped = 0; swapped < 2; swapped++) {
		struct rig rig;
		struct bu_node *node, *other;
		struct bu_err err = {0};

		begin(&rig, 2, "power = redfish\n; one_bmc");
		node = rig_node(&rig, 1);
		other = rig_node(&rig, 2);
		rig_write(&rig, "power.hang", "");
		ck_assert_int_eq(asks(&rig, 1, BU_VERB_BMC_RESET, "", 0, &err), 0);
		rename_to(&rig, node, swapped ? "node003" : "node009");
		if (swapped) {
			rename_to(&rig, other, "node001");
			rename_to(&rig, node, "node002");
		}
		ck_assert_int_eq(bu_effects_restart(rig.rec, node), 1);
		rig_remove(&rig, "power.hang");
		/* its answer got lost: the end of its time is one, too */
		for (int i = 0; i < 60 && node->power->result == BU_OUTCOME_ASKED; i++)
			rig_pass(&rig, 10000);
		ck_assert_int_eq(node->power->result, BU_OUTCOME_FAILED);
		ck_assert_int_eq(other->power->result, BU_OUTCOME_NONE);
		ck_assert_int_eq(bu_effects_restart(rig.rec, node), 0);
		ck_assert_ptr_null(bu_sibling_restarts(rig.rec, other));
		rig_end(&rig);
	}
}
END_TEST

/* A person's command goes to the BMC of the profile that is applied, and not to that of
 * the order that is carried out. */
START_TEST(machines_have_one_bmc_by_a_profile_that_came_after_the_order)
{
	for (int turned = 0; turned < 2; turned++) {
		struct rig rig;
		struct bu_err err = {0};

		begin(&rig, 2, "power = redfish");
		rig_fire(&rig, rig_node(&rig, 1 + turned), BU_TRIGGER_START);
		rig_until_step(&rig, rig_node(&rig, 1 + turned), BU_ACTION_NETBOOT,
			       BU_STEP_DONE);
		rig_revise(&rig, 2, "power = libvirt", "power = redfish\n; one_bmc");
		rig_write(&rig, "power.hang", "");
		ck_assert_int_eq(asks(&rig, 2, BU_VERB_POWER, "off", 1, &err), 0);
		ck_assert_int_eq(asks(&rig, 1, BU_VERB_BMC_RESET, "", 1, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_BUSY);
		rig_text_has(err.text, "node node002 has the same BMC");
		ck_assert_int_eq(rig_count(&rig, "bmc-reset node001"), 0);
		rig_end(&rig);
	}
}
END_TEST

static void
until_all_failed(struct rig *rig, int nodes)
{
	for (int i = 0; i < 200; i++) {
		int failed = 0;

		for (int number = 1; number <= nodes; number++)
			failed += rig_node(rig, number)->state == BU_STATE_FAILED;
		if (failed == nodes)
			return;
		rig_pass(rig, 20000);
	}
	ck_abort_msg("they do not fail");
}

#define LAST_TRY "power = redfish\nbmc_reset = last-try\n; one_bmc"

/* Machines of a BMC that hangs fail together: it is restarted once for all of them. */
START_TEST(the_last_tries_of_a_chassis_restart_its_bmc_once)
{
	struct rig rig;

	begin(&rig, 8, LAST_TRY);
	rig_write(&rig, "power.refuse", "the BMC hangs");
	rig_fire(&rig, rig_node(&rig, 1), BU_TRIGGER_START);
	rig_fire(&rig, rig_node(&rig, 2), BU_TRIGGER_START);
	until_all_failed(&rig, 2);
	ck_assert_int_eq(rig_count(&rig, "bmc-reset node001") +
				 rig_count(&rig, "bmc-reset node002"),
			 1);
	/* and no try was lost for that */
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 3);
	ck_assert_int_eq(rig_count(&rig, "boot network node002"), 3);
	rig_end(&rig);
}
END_TEST

/* Nor after a person had it restarted, be it in another life of bringup. */
START_TEST(no_last_try_restarts_a_bmc_that_a_person_restarted_lately)
{
	for (int later = 0; later < 2; later++) {
		struct rig rig;
		struct bu_err err = {0};

		begin(&rig, 2, LAST_TRY);
		ck_assert_int_eq(asks(&rig, 2, BU_VERB_BMC_RESET, "", 0, &err), 0);
		rig_away(&rig, later ? 15 * 60 * 1000 : 1000);
		rig_write(&rig, "power.refuse", "the BMC hangs");
		rig_fire(&rig, rig_node(&rig, 1), BU_TRIGGER_START);
		until_all_failed(&rig, 1);
		ck_assert_int_eq(rig_count(&rig, "bmc-reset node001"), later);
		rig_end(&rig);
	}
}
END_TEST

static void
pass_seconds(struct rig *rig, int seconds)
{
	for (int i = 0; i < seconds; i++)
		rig_pass(rig, 1000);
}

static void
until_repeats(struct rig *rig, int repeats)
{
	for (int i = 0; i < 400 && (rig_node(rig, 1)->repeats < repeats ||
				    rig_node(rig, 2)->repeats < repeats);
	     i++)
		pass_seconds(rig, 1);
	ck_assert_int_eq(rig_node(rig, 1)->repeats, repeats);
	ck_assert_int_eq(rig_node(rig, 2)->repeats, repeats);
}

/* They come at the same moment, and are looked at together when bringup starts anew:
 * one restarts it, and the other waits for that. */
START_TEST(last_tries_wait_for_the_one_that_restarts_the_bmc)
{
	for (int anew = 0; anew < 2; anew++) {
		struct rig rig;
		int restarts;

		begin(&rig, 2, LAST_TRY);
		rig_write(&rig, "power.refuse", "the BMC hangs");
		rig_fire(&rig, rig_node(&rig, 1), BU_TRIGGER_START);
		rig_fire(&rig, rig_node(&rig, 2), BU_TRIGGER_START);
		until_repeats(&rig, 1);
		for (int i = 1; i <= 2; i++)
			rig_until_step(&rig, rig_node(&rig, i), BU_ACTION_NETBOOT,
				       BU_STEP_FAILED);
		rig_remove(&rig, "power.refuse");
		rig_write(&rig, "power.hang", "");
		until_repeats(&rig, 2);
		rig_write(&rig, "power.node001", "off");
		if (anew)
			rig_restart(&rig);
		pass_seconds(&rig, 5);
		restarts = bu_effects_restart(rig.rec, rig_node(&rig, 1)) ? 1 : 2;
		ck_assert(bu_effects_restart(rig.rec, rig_node(&rig, restarts)));
		ck_assert(!bu_effect_switches(rig.rec, rig_node(&rig, 3 - restarts)));
		rig_reason_is(rig_node(&rig, 3 - restarts)->live.wait_reason,
			      BMC_AWAITED);
		rig_remove(&rig, "power.hang");
		for (int i = 0;
		     i < 2000 && rig_node(&rig, 3 - restarts)->live.wait_reason->code;
		     i++)
			pass_seconds(&rig, 1);
		rig_until_step(&rig, rig_node(&rig, 3 - restarts), BU_ACTION_NETBOOT,
			       BU_STEP_DONE);
		rig_end(&rig);
	}
}
END_TEST

/* Firmware may be on its way through it. */
START_TEST(no_last_try_restarts_a_bmc_that_a_person_works_at)
{
	for (int held = 0; held < 2; held++) {
		struct rig rig;

		begin(&rig, 2, LAST_TRY);
		bring(&rig, held ? HELD : SERVICED);
		rig_write(&rig, "power.refuse", "the BMC hangs");
		rig_fire(&rig, rig_node(&rig, 1), BU_TRIGGER_START);
		until_all_failed(&rig, 1);
		ck_assert_int_eq(rig_count(&rig, "bmc-reset node001"), 0);
		ck_assert_int_eq(rig_count(&rig, "boot network node001"), 3);
		rig_end(&rig);
	}
}
END_TEST

/* And it is no try to wait for another machine to be off or on. */
START_TEST(a_last_try_waits_until_the_others_are_switched)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err err = {0};

	begin(&rig, 2, LAST_TRY);
	rig_write(&rig, "power.refuse", "the BMC hangs");
	node = rig_node(&rig, 1);
	rig_fire(&rig, node, BU_TRIGGER_START);
	for (int i = 0; i < 400 && node->repeats < 1; i++)
		rig_pass(&rig, 1000);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_FAILED);
	rig_write(&rig, "power.hang", "");
	for (int i = 0; i < 230; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(asks(&rig, 2, BU_VERB_POWER, "off", 1, &err), 0);
	for (int i = 0; i < 60; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->repeats, 2);
	ck_assert_int_eq(node->step.status, BU_STEP_NONE);
	rig_reason_is(node->live.wait_reason, BMC_AWAITED);
	ck_assert_int_eq(rig_count(&rig, "bmc-reset node001"), 0);
	rig_remove(&rig, "power.hang");
	for (int i = 0; i < 60 && node->state != BU_STATE_FAILED; i++)
		rig_pass(&rig, 20000);
	ck_assert_int_eq(rig_count(&rig, "bmc-reset node001"), 1);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("machines of one BMC", a_bmc_is_not_restarted_under_another_of_its_machines,
	 a_machine_waits_while_its_bmc_restarts_for_another,
	 machines_have_one_bmc_by_a_profile_that_came_after_the_order,
	 a_restart_of_a_bmc_ends_under_another_name,
	 the_last_tries_of_a_chassis_restart_its_bmc_once,
	 last_tries_wait_for_the_one_that_restarts_the_bmc,
	 no_last_try_restarts_a_bmc_that_a_person_works_at,
	 no_last_try_restarts_a_bmc_that_a_person_restarted_lately,
	 a_last_try_waits_until_the_others_are_switched)
