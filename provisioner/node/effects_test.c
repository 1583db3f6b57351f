/* SPDX-License-Identifier: Apache-2.0 */
/* What bringup-power is asked for and when its answers count. It is a fake here, in
 * this program: a boot is answered when the test says so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/node/over.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

enum { BOOTS_MAX = 16, WAIT_OFF_MS = 30000 };
static struct {
	bu_power_fn fn;
	void *arg;
	struct bu_power_boot how;
	struct bu_machine machine; /* that is expected */
	char medium[200], media_dir[100];
} boots[BOOTS_MAX];
static int count, ejected, eject_fails;

struct bu_power *
bu_power_create(struct bu_loop *loop, const char *program,
		const struct bu_power_opts *opts, struct bu_err *err)
{
	count = 0;
	return (struct bu_power *)(void *)boots;
}

void
bu_power_destroy(struct bu_power *power)
{
}

void
bu_power_status(struct bu_power *power, const struct bu_power_bmc *bmc, bu_power_fn fn,
		void *arg)
{
	fn(&(struct bu_power_seen){.state = BU_POWER_OFF}, NULL, arg);
}

void
bu_power_boot(struct bu_power *power, const struct bu_power_bmc *bmc,
	      const struct bu_power_boot *how, bu_power_fn fn, void *arg)
{
	ck_assert_int_lt(count, BOOTS_MAX);
	boots[count].how = *how;
	boots[count].machine = *bmc->machine;
	snprintf(boots[count].medium, sizeof(boots[count].medium), "%s",
		 bmc->media ? bmc->media : "");
	snprintf(boots[count].media_dir, sizeof(boots[count].media_dir), "%s",
		 bmc->media_dir ? bmc->media_dir : "");
	boots[count].fn = fn;
	boots[count++].arg = arg;
}

void
bu_power_on(struct bu_power *power, const struct bu_power_bmc *bmc,
	    enum bu_boot_first first, bu_power_fn fn, void *arg)
{
}

void
bu_power_off(struct bu_power *power, const struct bu_power_bmc *bmc, bu_power_fn fn,
	     void *arg)
{
}

void
bu_power_console(struct bu_power *power, const struct bu_power_bmc *bmc,
		 const char *node, const char *way, bu_power_report_fn fn, void *arg)
{
}

void
bu_power_reset_bmc(struct bu_power *power, const struct bu_power_bmc *bmc,
		   bu_power_fn fn, void *arg)
{
}

void
bu_power_report(struct bu_power *power, const struct bu_power_bmc *bmc,
		enum bu_bmc_report what, int64_t since_ms, bu_power_report_fn fn,
		void *arg)
{
}

void
bu_power_eject(struct bu_power *power, const struct bu_power_bmc *bmc, bu_power_fn fn,
	       void *arg)
{
	struct bu_err err = {.kind = BU_ERR_REMOTE};

	ck_assert_str_eq(bmc->media_dir, "http://10.0.0.9:8080/boot/media/node001/");
	ejected++;
	fn(&(struct bu_power_seen){.state = BU_POWER_UNKNOWN},
	   eject_fails ? &err : NULL, arg);
}

static void
answer_as(struct rig *rig, int boot, enum bu_err_kind kind, const char *failure)
{
	struct bu_power_seen seen = {.state = failure ? BU_POWER_UNKNOWN : BU_POWER_ON};
	struct bu_err err;

	bu_err_set(&err, kind, 0, "%s", failure ? failure : "");
	boots[boot].fn(&seen, failure ? &err : NULL, boots[boot].arg);
	rig_pass(rig, 1);
}

static void
answer(struct rig *rig, int boot, const char *failure)
{
	answer_as(rig, boot, BU_ERR_REMOTE, failure);
}

static struct bu_node *
begin(struct rig *rig)
{
	struct bu_node *node = rig_up_to(rig, RIG_ENROLLED);

	rig_fire(rig, node, BU_TRIGGER_START);
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	ck_assert_int_eq(count, 1);
	return node;
}

/* Its class boots from a medium. */
static void
give_medium(struct rig *rig, struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(rig->fleet, node);
	struct bu_desired_hardware *hardware =
		(struct bu_desired_hardware *)(uintptr_t)want->hardware;

	ejected = eject_fails = 0;
	rig->rec->media_url = "http://10.0.0.9:8080";
	hardware->boot = BU_BOOT_BY_MEDIA;
}

/* The address is of this attempt alone, and the drive is emptied once the machine is
 * admitted: it has all that was on the medium. */
START_TEST(a_medium_is_in_until_its_machine_is_admitted)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	char first[200];

	give_medium(&rig, node);
	rig_fire(&rig, node, BU_TRIGGER_START);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	rig_text_has(boots[0].medium, "http://10.0.0.9:8080/boot/media/node001/");
	strcpy(first, boots[0].medium);
	answer(&rig, 0, NULL);
	rig_pass(&rig, 302 * 1000);
	ck_assert_int_eq(count, 2);
	rig_text_has(boots[1].medium, "http://10.0.0.9:8080/boot/media/node001/");
	ck_assert_str_ne(boots[1].medium, first);
	ck_assert_int_eq(ejected, 0);
	answer(&rig, 1, NULL);
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), inventory, NULL), 0);
	rig_pass(&rig, 2000);
	ck_assert_int_eq(ejected, 1);
	rig_pass(&rig, 20 * 1000); /* and not again */
	ck_assert_int_eq(ejected, 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_medium_that_is_left_is_taken_out_after_a_failure)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);

	give_medium(&rig, node);
	rig_fire(&rig, node, BU_TRIGGER_START);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	answer(&rig, 0, NULL);
	eject_fails = 1;
	rig_fire(&rig, node, BU_TRIGGER_FAULT);
	rig_until(&rig, node, BU_STATE_FAILED);
	rig_pass(&rig, 2000);
	ck_assert_int_eq(ejected, 1);
	/* Nobody touches what a person services. */
	node->state = BU_STATE_SERVICING;
	rig_pass(&rig, 302 * 1000);
	ck_assert_int_eq(ejected, 1);
	node->state = BU_STATE_FAILED;
	eject_fails = 0;
	rig_pass(&rig, 302 * 1000); /* tried again, until it is out */
	ck_assert_int_eq(ejected, 2);
	rig_pass(&rig, 302 * 1000);
	ck_assert_int_eq(ejected, 2);
	rig_end(&rig);
}
END_TEST

START_TEST(a_drive_that_does_not_open_is_tried_thrice)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);

	give_medium(&rig, node);
	eject_fails = 1;
	rig_fire(&rig, node, BU_TRIGGER_START);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	answer(&rig, 0, NULL);
	rig_fire(&rig, node, BU_TRIGGER_FAULT);
	rig_until(&rig, node, BU_STATE_FAILED);
	for (int i = 0; i < 6; i++)
		rig_pass(&rig, 302 * 1000);
	ck_assert_int_eq(ejected, 3);
	rig_end(&rig);
}
END_TEST

/* The power cycle after it is under way; both steps have one name but for the state. */
START_TEST(an_answer_of_an_older_attempt_is_none)
{
	struct rig rig;
	struct bu_node *node = begin(&rig);

	rig_pass(&rig, 302 * 1000);
	ck_assert_int_eq(node->repeats, 1);
	ck_assert_int_eq(count, 2);
	ck_assert_int_eq(node->step.attempt, 2);
	answer(&rig, 0, "BMC: no session");
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	answer(&rig, 1, NULL);
	ck_assert_int_eq(node->step.status, BU_STEP_DONE);
	rig_end(&rig);
}
END_TEST

/* A release makes another attempt at the same step of the same state. */
START_TEST(an_answer_of_the_same_step_counts_for_its_attempt)
{
	struct rig rig;
	struct bu_node *node = begin(&rig);
	char step[sizeof(node->step.id)];
	struct bu_event event;

	strcpy(step, node->step.id);
	row_init(&event, BU_EVENT_INTENT, node->name,
		 json_pack("{s:s,s:i,s:s}", "step", step, "attempt", 2, "action",
			   bu_action_name(BU_ACTION_NETBOOT)));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_str_eq(node->step.id, step);
	ck_assert_int_eq(node->step.attempt, 2);
	ck_assert_int_eq(count, 2);
	answer(&rig, 0, "BMC: no session");
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	answer(&rig, 1, NULL);
	ck_assert_int_eq(node->step.status, BU_STEP_DONE);
	rig_end(&rig);
}
END_TEST

/* The agent came while the BMC had not answered yet. */
START_TEST(an_answer_of_another_step_is_none)
{
	struct rig rig;
	struct bu_node *node = begin(&rig);

	rig_inspect(&rig, 1);
	ck_assert_int_eq(node->step.action, BU_ACTION_INSTALL);
	ck_assert_int_eq(node->step.attempt, 1);
	answer(&rig, 0, "BMC: no session");
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	ck_assert_int_eq(node->state, BU_STATE_IMAGING);
	rig_end(&rig);
}
END_TEST

/* The agent switches its machine off when the disk is written: nobody does it before.
 */
START_TEST(only_who_switches_itself_off_is_waited_for)
{
	struct rig rig;
	struct bu_node *node = begin(&rig);

	ck_assert_int_eq(boots[0].how.first, BU_BOOT_NETWORK);
	ck_assert_int_eq(boots[0].how.wait_off_ms, 0);
	answer(&rig, 0, NULL);
	rig_inspect(&rig, 1);
	rig_answer(&rig, node, NULL);
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_OPEN);
	ck_assert_int_eq(count, 2);
	ck_assert_int_eq(boots[1].how.first, BU_BOOT_DISK);
	ck_assert_int_eq(boots[1].how.wait_off_ms, WAIT_OFF_MS);
	answer(&rig, 1, NULL);
	rig_pass(&rig, 302 * 1000);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_OPEN);
	ck_assert_int_eq(count, 3);
	ck_assert_int_eq(boots[2].how.wait_off_ms, 0);
	rig_end(&rig);
}
END_TEST

/* A BMC that hangs switches the machine off half a minute after it was told to: until
 * it has answered no job is let in. */
START_TEST(a_node_joins_once_its_bmc_has_answered)
{
	struct rig rig;
	struct bu_node *node = begin(&rig);

	answer(&rig, 0, NULL);
	rig_inspect(&rig, 1);
	rig_answer(&rig, node, NULL);
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_OPEN);
	ck_assert_int_eq(count, 2);
	rig_come_up(&rig, 1, "boot-1");
	rig_certify(&rig, 1);
	rig_fire(&rig, node, BU_TRIGGER_PROVEN);
	rig_until(&rig, node, BU_STATE_JOINING);
	rig_pass(&rig, 60 * 1000);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	ck_assert_int_ne(node->step.action, BU_ACTION_JOIN);
	ck_assert_int_eq(node->serves, 0);
	rig_reason_is(node->live.wait_reason, BMC_AWAITED);
	answer(&rig, 1, "BMC: no session");
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	ck_assert_int_eq(node->live.wait_reason->code, BU_REASON_NONE);
	rig_end(&rig);
}
END_TEST

/* Somebody pressed its button while the BMC was slow: what said hello was the boot that
 * the power action, when it came to that, ended. One that it began counts. */
START_TEST(a_boot_before_the_switch_has_ended)
{
	static const struct {
		int64_t started_ms;
		const char *boot;
	} rows[] = {{0, "boot-1"}, {1, ""}, {59000, ""}, {61000, "boot-1"}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_power_seen seen = {.state = BU_POWER_ON,
					     .started_ms = rows[i].started_ms};
		struct rig rig;
		struct bu_node *node = begin(&rig);

		answer(&rig, 0, NULL);
		rig_inspect(&rig, 1);
		rig_answer(&rig, node, NULL);
		rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_OPEN);
		rig_come_up(&rig, 1, "boot-1");
		rig_pass(&rig, 60 * 1000);
		ck_assert_str_eq(node->boot_id, "boot-1");
		boots[1].fn(&seen, NULL, boots[1].arg);
		rig_pass(&rig, 1);
		ck_assert_str_eq(node->boot_id, rows[i].boot);
		ck_assert_int_eq(bu_over_ended(node, "boot-1"), !rows[i].boot[0]);
		rig_end(&rig);
	}
}
END_TEST

/* It may come up meanwhile and go on to serve: a reset that comes late hits its jobs.
 */
START_TEST(who_reboots_without_an_order_is_not_waited_for)
{
	const struct bu_verb_ask ask = {.verb = BU_VERB_REBOOT,
					.by = "alice",
					.reason = "",
					.grant = "",
					.op = ""};
	struct rig rig;
	struct bu_node *node = begin(&rig);
	bu_autofree char *said = NULL;
	struct bu_event event;

	answer(&rig, 0, NULL);
	rig_inspect(&rig, 1);
	rig_answer(&rig, node, NULL);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_OPEN);
	answer(&rig, 1, NULL);
	rig_come_up(&rig, 1, "boot-1");
	/* another one is planned, and has not begun */
	row_init(&event, BU_EVENT_ORDER, node->name,
		 json_pack("{s:s,s:s}", "rollout", "r-2", "class", "reconfigure"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert(node->order->open && !node->order->begun);
	said = bu_verb_run(rig.rec, node, &ask, NULL);
	ck_assert_ptr_nonnull(said);
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_OPEN);
	ck_assert_int_eq(count, 3);
	ck_assert_int_eq(boots[2].how.reset, 1);
	ck_assert_int_eq(boots[2].how.wait_off_ms, 0);
	rig_end(&rig);
}
END_TEST

/* The machine that is bound, as it told of itself; before one is, what the profile says
 * of it. */
START_TEST(the_bmc_is_asked_for_the_nodes_own_machine)
{
	struct rig rig;
	struct bu_node *node = begin(&rig);

	ck_assert_str_eq(boots[0].machine.serial, "LAB-001");
	ck_assert_str_eq(boots[0].machine.uuid, "");
	ck_assert_int_eq(boots[0].machine.macs_count, 1);
	ck_assert_str_eq(boots[0].machine.macs[0], "52:54:00:77:00:01");
	answer(&rig, 0, NULL);
	rig_inspect(&rig, 1);
	rig_answer(&rig, node, NULL);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_OPEN);
	ck_assert_int_eq(count, 2);
	ck_assert_str_eq(boots[1].machine.serial, "LAB-001");
	ck_assert_str_eq(boots[1].machine.uuid, node->uuid);
	ck_assert_str_ne(boots[1].machine.uuid, "");
	ck_assert_int_ge(boots[1].machine.macs_count, 1);
	rig_end(&rig);
}
END_TEST

/* Another machine is behind its BMC: no ladder, no second try, until a person says so.
 */
START_TEST(a_foreign_machine_holds_the_node)
{
	struct rig rig;
	struct bu_node *node = begin(&rig);

	answer_as(&rig, 0, BU_ERR_FOREIGN, "qemu:///system#node001 is another's");
	rig_reason_is(&node->hold->reason, FOREIGN_MACHINE);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
	rig_why_says(
		&rig, node,
		"qemu:///system#node001 is another's; nothing was switched; "
		"correct what the profile says of its bmc, serial, uuid or mac and "
		"apply it, or put its machine back and run bringup node release "
		"node001; if this is its new machine, run bringup node replace "
		"node001");
	rig_pass(&rig, 3600 * 1000);
	ck_assert_int_eq(count, 1);
	ck_assert_int_eq(node->repeats, 0);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "ann", NULL), 0);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	ck_assert_int_eq(count, 2);
	answer(&rig, 1, NULL);
	ck_assert_int_eq(node->step.status, BU_STEP_DONE);
	rig_end(&rig);
}
END_TEST

static int
on_row(const struct bu_event *event, void *arg)
{
	const char *detail = bu_json_str(event->body, "detail", "");

	if (event->kind == BU_EVENT_OUTCOME &&
	    strcmp(detail, "on; its BMC reports no serial number, UUID or MAC") == 0)
		++*(int *)arg;
	return 0;
}

/* It is in the log that nobody could tell. */
START_TEST(a_bmc_that_cannot_say_whose_it_is_is_said)
{
	struct rig rig;
	struct bu_node *node = begin(&rig);
	int said = 0;

	boots[0].fn(&(struct bu_power_seen){.state = BU_POWER_ON, .unsaid = 1}, NULL,
		    boots[0].arg);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->step.status, BU_STEP_DONE);
	bu_ignore(bu_store_read(rig.store, 0, 0, on_row, &said, NULL));
	ck_assert_int_eq(said, 1);
	rig_end(&rig);
}
END_TEST

/* The serial number of another part, beside the same MAC: the node goes on, and who
 * looks at it reads why. */
START_TEST(a_bmc_that_calls_its_machine_otherwise_is_said_and_holds_nothing)
{
	const struct bu_power_seen seen = {
		.state = BU_POWER_ON, .differs = "serial number 'A', expected is 'B'"};
	struct rig rig;
	struct bu_node *node = begin(&rig);

	boots[0].fn(&seen, NULL, boots[0].arg);
	rig_pass(&rig, 2000);
	ck_assert_int_eq(node->step.status, BU_STEP_DONE);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	ck_assert_int_eq(node->conditions[BU_CONDITION_BMC_DIFFERS].on, 1);
	ck_assert_str_eq(
		rig_sentence(node->conditions[BU_CONDITION_BMC_DIFFERS].detail),
		seen.differs);
	rig_why_says(&rig, node, "serial number 'A', expected is 'B'");
	/* that is in the log, and ends when its BMC says the same */
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	rig_pass(&rig, 2000);
	ck_assert_int_eq(node->conditions[BU_CONDITION_BMC_DIFFERS].on, 1);
	bu_node_bmc_says(node, &(struct bu_power_seen){.differs = NULL});
	rig_pass(&rig, 2000);
	ck_assert_int_eq(node->conditions[BU_CONDITION_BMC_DIFFERS].on, 1);
	bu_node_bmc_says(node, &(struct bu_power_seen){.differs = ""});
	rig_pass(&rig, 2000);
	ck_assert_int_eq(node->conditions[BU_CONDITION_BMC_DIFFERS].on, 0);
	rig_end(&rig);
}
END_TEST

/* A site whose BMCs nobody reaches: no power action, no deadline, no ladder; the
 * machine itself ends the wait, also after a restart of bringupd. */
START_TEST(a_machine_that_a_person_switches_is_waited_for)
{
	const struct bu_verb_ask ask = {.verb = BU_VERB_POWER,
					.by = "ann",
					.reason = "",
					.grant = "",
					.op = "cycle"};
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	struct bu_err err = {0};

	rig_revise(&rig, 1, "power = libvirt", "power = manual");
	rig_fire(&rig, node, BU_TRIGGER_START);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	rig_pass(&rig, 24 * 3600 * 1000);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(node->repeats, 0);
	rig_why_says(
		&rig, node,
		"power = manual: switch the machine of node001 off and on by hand, so "
		"that it boots from the network; bringup continues when its agent connects");
	ck_assert_ptr_null(bu_verb_run(rig.rec, node, &ask, &err));
	ck_assert_str_eq(err.text,
			 "node node001 has power = manual: switch its machine "
			 "by hand");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	rig_pass(&rig, 3600 * 1000);
	rig_reason_is(node->live.wait_reason, BY_HAND);
	rig_inspect(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_IMAGING);
	rig_pass(&rig, 1000);
	ck_assert_int_eq(node->live.wait_reason->code, BU_REASON_NONE);
	rig_answer(&rig, node, NULL);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_OPEN);
	rig_pass(&rig, 3600 * 1000);
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	rig_why_says(&rig, node, "so that it boots from its disk");
	rig_come_up(&rig, 1, "boot-1");
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	ck_assert_int_eq(count, 0);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("effects", a_medium_is_in_until_its_machine_is_admitted,
	 a_medium_that_is_left_is_taken_out_after_a_failure,
	 a_drive_that_does_not_open_is_tried_thrice,
	 a_machine_that_a_person_switches_is_waited_for,
	 the_bmc_is_asked_for_the_nodes_own_machine, a_foreign_machine_holds_the_node,
	 a_bmc_that_cannot_say_whose_it_is_is_said,
	 a_bmc_that_calls_its_machine_otherwise_is_said_and_holds_nothing,
	 an_answer_of_an_older_attempt_is_none,
	 an_answer_of_the_same_step_counts_for_its_attempt,
	 an_answer_of_another_step_is_none, only_who_switches_itself_off_is_waited_for,
	 a_node_joins_once_its_bmc_has_answered, a_boot_before_the_switch_has_ended,
	 who_reboots_without_an_order_is_not_waited_for)
