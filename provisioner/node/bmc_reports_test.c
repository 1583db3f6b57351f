/* SPDX-License-Identifier: Apache-2.0 */
/* What BMCs say: as evidence of a failure, once a day, and who may restart one. */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

/* Of a machine with a BMC. */
static void
give_bmc(struct rig *rig)
{
	rig_revise(rig, 1, "power = libvirt", "power = redfish");
	for (int i = 0; i < 5; i++)
		rig_pass(rig, 100);
	ck_assert_str_eq(bu_fleet_desired(rig->fleet, rig_node(rig, 1))->power,
			 "redfish");
}

static struct bu_node *
until_failed(struct rig *rig)
{
	struct bu_node *node;

	rig_begin(rig, 1);
	give_bmc(rig);
	node = rig_node(rig, 1);
	rig_fire(rig, node, BU_TRIGGER_START);
	for (int i = 0; i < 60 && node->state != BU_STATE_FAILED; i++)
		rig_pass(rig, 120000);
	ck_assert_int_eq(node->state, BU_STATE_FAILED);
	for (int i = 0; i < 5; i++)
		rig_pass(rig, 1100);
	return node;
}

static size_t
asked(const struct rig *rig, const char *what)
{
	bu_autofree char *log = rig_read(rig, "power.log");
	size_t count = 0;

	for (const char *at = log; (at = strstr(at, what)); at++)
		count++;
	return count;
}

static void
evidence_says(const struct rig *rig, const char *part, int wanted)
{
	json_t *lines = json_array();
	bu_autofree char *why = NULL;

	bu_reconcile_symptoms(rig->rec, rig_node(rig, 1), lines);
	why = rig_lines(lines);
	ck_assert_msg((strstr(why, part) != NULL) == wanted, "%s", why);
}

/* Since its last try began, asked once, in the log, and there after a restart. */
START_TEST(a_bmc_that_does_not_answer_is_asked_once_for_evidence)
{
	struct rig rig;
	struct bu_node *node;
	bu_autofree char *log = NULL;
	const char *since;
	long long since_ms;

	/* one whose BMC does not answer says so */
	node = until_failed(&rig);
	evidence_says(&rig, "its BMC is not known: no route to the BMC", 1);
	ck_assert_uint_eq(asked(&rig, "events since"), 1);
	log = rig_read(&rig, "power.log");
	since = strstr(log, "events since ");
	ck_assert_ptr_nonnull(since);
	since_ms = atoll(since + strlen("events since "));
	ck_assert_int_gt(since_ms, 0);
	ck_assert_int_lt(since_ms, node->since_ms);
	rig_restart(&rig);
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 1100);
	ck_assert_uint_eq(asked(&rig, "events since"), 1);
	evidence_says(&rig, "its BMC is not known: no route to the BMC", 1);
	rig_end(&rig);
}
END_TEST

START_TEST(the_event_log_is_evidence_of_a_failure)
{
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 1);
	rig_write(&rig, "events.node001", "Uncorrectable error, DIMM A3");
	give_bmc(&rig);
	node = rig_node(&rig, 1);
	rig_fire(&rig, node, BU_TRIGGER_START);
	for (int i = 0; i < 60 && node->state != BU_STATE_FAILED; i++)
		rig_pass(&rig, 120000);
	/* the process ends between the failure and the answer */
	rig_restart(&rig);
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 1100);
	evidence_says(&rig, "critical: Uncorrectable error, DIMM A3", 1);
	rig_restart(&rig);
	evidence_says(&rig, "critical: Uncorrectable error, DIMM A3", 1);
	/* a failure that is over has no evidence */
	node = rig_node(&rig, 1);
	node->state = BU_STATE_READY;
	evidence_says(&rig, "DIMM A3", 0);
	node->state = BU_STATE_FAILED;
	rig_end(&rig);
}
END_TEST

/* A log that cannot be read for a while costs no evidence. */
START_TEST(evidence_that_could_not_be_read_is_looked_at_again)
{
	static const char text[] = "{\"since_ms\":1700000000000}";
	struct rig rig;
	struct bu_node *node = until_failed(&rig);
	char digest[BU_DIGEST_SIZE];

	ck_assert_uint_eq(asked(&rig, "events since"), 1);
	bu_sha256_hex(text, strlen(text), digest);
	bu_node_set_evidence(node, digest);
	rig_pass(&rig, 1100);
	rig_pass(&rig, 1100);
	ck_assert_uint_eq(asked(&rig, "events since"), 1);
	ck_assert_int_eq(bu_store_put_blob(rig.store, text, digest, NULL), 0);
	ck_assert_str_eq(digest, node->evidence);
	rig_pass(&rig, 1100);
	rig_pass(&rig, 1100);
	ck_assert_uint_eq(asked(&rig, "events since 1700000000000"), 1);
	rig_end(&rig);
}
END_TEST

/* What a BMC without a clock says may be of last year. */
START_TEST(what_has_no_time_is_not_told_as_of_this_try)
{
	struct rig rig;

	rig_begin(&rig, 1);
	rig_write(&rig, "events.node001", "no time: DIMM A3");
	give_bmc(&rig);
	rig_fire(&rig, rig_node(&rig, 1), BU_TRIGGER_START);
	for (int i = 0; i < 60 && rig_node(&rig, 1)->state != BU_STATE_FAILED; i++)
		rig_pass(&rig, 120000);
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 1100);
	evidence_says(&rig, "DIMM A3", 1);
	evidence_says(&rig, "without a time, perhaps long before", 1);
	evidence_says(&rig, "since that try began", 0);
	rig_end(&rig);
}
END_TEST

/* Of a machine that is known, and not again and again. */
START_TEST(firmware_is_asked_for_once_a_day)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);
	bu_autofree char *reads = NULL;
	const json_t *report;

	ck_assert_ptr_null(node->live.reports[BU_BMC_FIRMWARE].report);
	give_bmc(&rig);
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 1100);
	report = node->live.reports[BU_BMC_FIRMWARE].report;
	ck_assert_ptr_nonnull(report);
	ck_assert_str_eq(
		bu_json_str(json_array_get(json_object_get(report, "firmware"), 0),
			    "version", ""),
		"2.1");
	for (int hours = 0; hours < 23; hours++)
		rig_pass(&rig, 3600 * 1000);
	reads = rig_read(&rig, "reads.log");
	ck_assert_str_eq(reads, "firmware node001\n");
	rig_end(&rig);
}
END_TEST

/* Before the third try and no other, and only where the profile allows it; a machine
 * that only does not call is no fault of its BMC. */
START_TEST(the_last_try_may_restart_the_bmc)
{
	static const struct {
		const char *power;
		int refuses;
		size_t resets;
	} rows[] = {
		{"power = redfish\nbmc_reset = last-try", 1, 1},
		{"power = redfish", 1, 0},
		{"power = libvirt\nbmc_reset = last-try", 1, 0},
		{"power = redfish\nbmc_reset = last-try", 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct bu_node *node;
		bu_autofree char *log = NULL;
		const char *reset;

		rig_begin(&rig, 1);
		rig_revise(&rig, 1, "power = libvirt", rows[i].power);
		if (rows[i].refuses)
			rig_write(&rig, "power.refuse", "the BMC hangs");
		node = rig_node(&rig, 1);
		rig_fire(&rig, node, BU_TRIGGER_START);
		for (int k = 0; k < 60 && node->state != BU_STATE_FAILED; k++)
			rig_pass(&rig, 120000);
		ck_assert_int_eq(node->state, BU_STATE_FAILED);
		ck_assert_uint_eq(asked(&rig, "bmc-reset node001"), rows[i].resets);
		log = rig_read(&rig, "power.log");
		reset = strstr(log, "bmc-reset");
		if (reset)
			ck_assert_ptr_null(strstr(strchr(reset + 30, '\n'), "boot"));
		rig_end(&rig);
	}
}
END_TEST

/* Its BMC refuses two tries of a start, and answers nothing from then on. */
static struct bu_node *
begin_last_try(struct rig *rig)
{
	struct bu_node *node;

	rig_begin(rig, 1);
	rig_revise(rig, 1, "power = libvirt", "power = redfish\nbmc_reset = last-try");
	rig_write(rig, "power.refuse", "the BMC hangs");
	node = rig_node(rig, 1);
	rig_fire(rig, node, BU_TRIGGER_START);
	for (int i = 0; i < 400 && node->repeats < 1; i++)
		rig_pass(rig, 1000);
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_FAILED);
	rig_write(rig, "power.hang", "");
	for (int i = 0; i < 400 && node->repeats < 2; i++)
		rig_pass(rig, 1000);
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	return node;
}

/* The restart of a BMC takes longer than a machine's start may. */
START_TEST(the_last_try_has_time_for_the_restart_of_its_bmc)
{
	struct rig rig;
	struct bu_node *node = begin_last_try(&rig);

	ck_assert_uint_eq(asked(&rig, "bmc-reset node001"), 1);
	for (int i = 0; i < 120; i++) {
		rig_pass(&rig, 10000);
		ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
		ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	}
	/* nor is it waited for without an end */
	for (int i = 0; i < 20 && node->state != BU_STATE_FAILED; i++)
		rig_pass(&rig, 10000);
	ck_assert_int_eq(node->state, BU_STATE_FAILED);
	rig_end(&rig);
}
END_TEST

/* What an agent could not do is no fault of the BMC. */
START_TEST(an_install_that_fails_restarts_no_bmc)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	struct bu_err bad;

	rig_revise(&rig, 1, "power = libvirt", "power = redfish\nbmc_reset = last-try");
	rig_start(&rig, 1);
	bu_err_set(&bad, BU_ERR_IO, 0, "disk gone");
	for (int i = 0; i < 2; i++) {
		rig_inspect(&rig, 1);
		rig_until_step(&rig, node, BU_ACTION_INSTALL, BU_STEP_OPEN);
		rig_answer(&rig, node, &bad);
		rig_until_step(&rig, node, BU_ACTION_INSTALL, BU_STEP_FAILED);
		rig_pass(&rig, 5001);
		rig_until(&rig, node, BU_STATE_INSPECTING);
		rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	}
	ck_assert_int_eq(node->repeats, 2);
	ck_assert_uint_eq(asked(&rig, "boot network node001"), 3);
	ck_assert_uint_eq(asked(&rig, "bmc-reset"), 0);
	rig_end(&rig);
}
END_TEST

static char *
reset_bmc(struct rig *rig, int force, int dry_run, struct bu_err *err)
{
	const struct bu_verb_ask ask = {.verb = BU_VERB_BMC_RESET,
					.by = "ann",
					.reason = force ? "hangs" : "",
					.op = "",
					.force = force,
					.dry_run = dry_run};

	return bu_verb_run(rig->rec, rig_node(rig, 1), &ask, err);
}

static void
no_reset(struct rig *rig, int force, enum bu_err_kind kind, const char *says)
{
	struct bu_err err = {0};

	ck_assert_ptr_null(reset_bmc(rig, force, 0, &err));
	ck_assert_int_eq(err.kind, kind);
	rig_text_has(err.text, says);
	ck_assert_uint_eq(asked(rig, "bmc-reset"), 0);
}

/* A node in service keeps its jobs: its machine goes on. */
START_TEST(a_bmc_is_restarted_by_a_person_and_it_is_in_the_log)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);
	struct bu_err err = {0};
	char *text;

	no_reset(&rig, 0, BU_ERR_STATE, "power = libvirt: there is no BMC to restart");
	give_bmc(&rig);
	text = reset_bmc(&rig, 0, 1, &err);
	ck_assert_msg(text != NULL, "%s", err.text);
	free(text);
	ck_assert_uint_eq(asked(&rig, "bmc-reset"), 0);
	text = reset_bmc(&rig, 0, 0, &err);
	ck_assert_msg(text != NULL, "%s", err.text);
	free(text);
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 100);
	ck_assert_uint_eq(asked(&rig, "bmc-reset node001"), 1);
	ck_assert_int_eq(node->power->op, BU_POWER_REQUEST_BMC_RESET);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_DONE);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_why_says(&rig, node, "power bmc-reset by ann: done");
	rig_end(&rig);
}
END_TEST

/* Not while bringup works on it without force, and never while it is being switched. */
START_TEST(a_bmc_is_not_restarted_in_the_midst_of_a_power_action)
{
	struct rig rig;
	struct bu_verb_ask off = {.verb = BU_VERB_POWER,
				  .by = "ann",
				  .op = "off",
				  .reason = "smoke",
				  .force = 1};
	struct bu_err err = {0};

	rig_up_to(&rig, RIG_IMAGING);
	give_bmc(&rig);
	no_reset(&rig, 0, BU_ERR_STATE, "bringup is working on it");
	rig_write(&rig, "power.hang", "");
	free(bu_verb_run(rig.rec, rig_node(&rig, 1), &off, &err));
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 10);
	no_reset(&rig, 1, BU_ERR_BUSY, "is being switched on or off");
	/* nor by the verb of power */
	off.op = "bmc-reset";
	ck_assert_ptr_null(bu_verb_run(rig.rec, rig_node(&rig, 1), &off, &err));
	rig_text_has(err.text, "expected on, off, cycle or status");
	rig_end(&rig);
}
END_TEST

/* A try that would only wait for the BMC is none. */
START_TEST(a_start_waits_until_a_person_has_restarted_its_bmc)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	struct bu_err err = {0};
	char *text;

	give_bmc(&rig);
	rig_write(&rig, "power.hang", "");
	text = reset_bmc(&rig, 0, 0, &err);
	ck_assert_msg(text != NULL, "%s", err.text);
	free(text);
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 10);
	rig_fire(&rig, node, BU_TRIGGER_START);
	for (int i = 0; i < 40; i++)
		rig_pass(&rig, 10000);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(node->repeats, 0);
	ck_assert_int_eq(node->step.status, BU_STEP_NONE);
	rig_reason_is(node->live.wait_reason, BMC_AWAITED);
	rig_remove(&rig, "power.hang");
	for (int i = 0; i < 20 && node->power->result == BU_OUTCOME_ASKED; i++)
		rig_pass(&rig, 10000);
	ck_assert_int_eq(node->power->result, BU_OUTCOME_FAILED);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(node->live.wait_reason->code, BU_REASON_NONE);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("what BMCs say", a_bmc_that_does_not_answer_is_asked_once_for_evidence,
	 the_event_log_is_evidence_of_a_failure,
	 evidence_that_could_not_be_read_is_looked_at_again,
	 what_has_no_time_is_not_told_as_of_this_try, firmware_is_asked_for_once_a_day,
	 the_last_try_may_restart_the_bmc,
	 the_last_try_has_time_for_the_restart_of_its_bmc,
	 an_install_that_fails_restarts_no_bmc,
	 a_bmc_is_restarted_by_a_person_and_it_is_in_the_log,
	 a_bmc_is_not_restarted_in_the_midst_of_a_power_action,
	 a_start_waits_until_a_person_has_restarted_its_bmc)
