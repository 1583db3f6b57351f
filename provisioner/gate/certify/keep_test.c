/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps a node out besides its links, and what is kept of it: checks, outside
 * words, lemons, soak, evidence, certificates, runs. */
#include "base/text.h"
#include "fabric/judge/fabcert.h"
#include "provisioner/gate/certify/certify.h"
#include "provisioner/gate/gate.h"
#include "tests/support/baddisk.h"
#include "tests/support/gate.h"

/* What the check says is why the node is out, with what to do and the evidence. */
START_TEST(a_failing_check_quarantines_with_its_words)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err err = {0};
	bu_autojson json_t *shown = NULL;

	begin(&rig, 2);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(
		check(&rig, 1, "nic-mtu", BU_VERDICT_FAIL, "MTU 1500, 9000 is wanted"),
		1);
	rig_pass(&rig, 10);
	ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
	rig_reason_has(node->reason,
		       "check nic-mtu (eth1): MTU 1500, 9000 is wanted; set it");
	shown = bu_gate_show(rig.gate, node, &err);
	ck_assert_msg(shown != NULL, "%s", err.text);
	ck_assert_str_eq(bu_json_str(shown, "hint", ""), "set it");
	ck_assert_uint_eq(json_array_size(json_object_get(
				  json_object_get(shown, "checks"), "checks")),
			  1);
	ck_assert_uint_gt(json_array_size(json_object_get(shown, "events")), 3);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_EVIDENCE), 1);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->checks.is.verdict, BU_VERDICT_FAIL);
	ck_assert_uint_eq(strlen(node->evidence), 64);
	rig_end(&rig);
}
END_TEST

/* The log is not asked to quarantine what it could not keep the evidence of. */
START_TEST(without_evidence_nobody_is_quarantined)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_reason reason = {0};
	const struct bu_charge charge = {&reason, "swap it", NULL};
	int64_t appended;

	bad_disk_install();
	begin(&rig, 2);
	node = rig_node(&rig, 1);
	rig_pass(&rig, 10);
	BU_REASON_SET(&reason, CHECKS_ACCUSED, .text = {"hot"});
	appended = bu_store_appended(rig.store);
	bad_disk.full = 1;
	bu_gate_accuse(rig.gate, node, &charge, NULL, 0);
	ck_assert_int_eq(bu_store_appended(rig.store), appended);
	ck_assert_ptr_nonnull(bu_store_down(rig.store));
	bad_disk.full = 0;
	rig_pass(&rig, 3000);
	rig_pass(&rig, 10);
	ck_assert_ptr_null(bu_store_down(rig.store));
	bu_gate_accuse(rig.gate, node, &charge, NULL, 0);
	rig_pass(&rig, 10);
	ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
	ck_assert_uint_eq(strlen(node->evidence), 64);
	rig_end(&rig);
}
END_TEST

START_TEST(a_site_check_holds_back_with_its_own_words)
{
	struct rig rig;

	begin(&rig, 2);
	check(&rig, 1, "site:nhc", BU_VERDICT_FAIL,
	      "ERROR:  nhc:  /scratch not mounted");
	rig_pass(&rig, 10);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_QUARANTINED);
	rig_reason_has(rig_node(&rig, 1)->reason, "ERROR:  nhc:  /scratch not mounted");
	rig_end(&rig);
}
END_TEST

/* Nobody is measured who gave no report of this boot. */
static void
tell_cable(struct rig *rig, int number, const char *seen, const char *expected)
{
	struct bu_node *node = rig_node(rig, number);
	bu_autojson json_t *item = bu_gate_work(rig->gate, node), *report = NULL;
	struct bu_checks checks;
	struct bu_check *row;

	bu_checks_init(&checks);
	bu_text_copy(checks.boot_id, sizeof(checks.boot_id), node->boot_id);
	row = bu_checks_add(&checks, "audit", "cabling", BU_VERDICT_FAIL, "eth1");
	BU_CHECK_SET(row->text, "eth1 is cabled to %s", seen);
	BU_CHECK_SET(row->seen, "%s", seen);
	BU_CHECK_SET(row->expected, "%s", expected);
	report = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), report, NULL);
	rig_pass(rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
}

/* The first of the two is in quarantine before the second one reports. */
START_TEST(of_swapped_cables_the_second_names_both)
{
	struct rig rig;

	begin(&rig, 2);
	tell_cable(&rig, 1, "leaf02:p2", "leaf01:p1");
	tell_cable(&rig, 2, "leaf01:p1", "leaf02:p2");
	rig_reason_has(rig_node(&rig, 1)->reason, "eth1 is cabled to leaf02:p2");
	rig_reason_has(rig_node(&rig, 2)->reason,
		       "the cables of node002 eth1 and node001 eth1 are swapped");
	rig_end(&rig);
}
END_TEST

START_TEST(without_a_report_nobody_is_measured)
{
	struct rig rig;
	struct bu_err failure = {.kind = BU_ERR_IO};

	begin(&rig, 2);
	strcpy(failure.text, "no /sys");
	for (int i = 0; i < 5; i++) {
		struct bu_node *node = rig_node(&rig, 1);
		bu_autojson json_t *item = bu_gate_work(rig.gate, node);
		bu_autojson json_t *other =
			report_of(rig_node(&rig, 2), "nic-mtu", BU_VERDICT_PASS, "");

		node->live.last_seen_ms = rig.clock.fake_wall_ms;
		json_object_set_new(other, "boot_id", json_string("another"));
		if (item)
			bu_gate_result(rig.gate, node, bu_json_str(item, "id", ""),
				       i ? other : NULL, i ? NULL : &failure);
		ck_assert_int_eq(item != NULL, i < 3);
		rig_pass(&rig, 2001);
	}
	/* A good one ends the count of those that did not come. */
	rig_node(&rig, 2)->live.checks_errors = 2;
	check(&rig, 2, "nic-mtu", BU_VERDICT_PASS, "");
	ck_assert_int_eq(rig_node(&rig, 2)->live.checks_errors, 0);
	rig_pass(&rig, 2001);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_CHECKS), 1);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_PAIR), 0);
	rig_reason_is(rig_node(&rig, 1)->live.wait_reason, CHECKS_SILENT);
	rig_reason_has(rig_node(&rig, 1)->live.wait_reason,
		       "gave no report, 3 times: the report is of boot");
	rig_end(&rig);
}
END_TEST

START_TEST(an_outside_system_can_quarantine_and_never_certify)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;
	struct bu_err err = {0};
	int64_t until_ms;

	begin(&rig, 3);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(bu_gate_external(rig.gate, node,
					  &(struct bu_external){"dcgm", "good", "", 0},
					  &err),
			 -1);
	ck_assert_int_eq(bu_gate_external(rig.gate, node,
					  &(struct bu_external){"dcgm", "pass", "", 0},
					  NULL),
			 0);
	rig_pass(&rig, 2001);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	ck_assert_int_eq(bu_gate_external(rig.gate, node,
					  &(struct bu_external){"dcgm", "fail",
								"Xid 79 on GPU 3", 0},
					  NULL),
			 0);
	rig_pass(&rig, 2001);
	rig_pass(&rig, 2001);
	ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
	rig_reason_has(node->reason, "dcgm says: Xid 79 on GPU 3");
	measure(&rig, &links, 3, 30);
	node = rig_node(&rig, 2);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	until_ms = rig.clock.fake_wall_ms + 10000;
	ck_assert_int_eq(
		bu_gate_external(rig.gate, node,
				 &(struct bu_external){"dcgm", "fail", "hot", until_ms},
				 NULL),
		0);
	rig_pass(&rig, 2001);
	rig_pass(&rig, 2001);
	rig_reason_has(&node->hold->reason,
		       "dcgm says: hot"); /* in service: held, and seen */
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_pass(&rig, 10000);
	rig_pass(&rig, 2001);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE); /* it expired */
	rig_end(&rig);
}
END_TEST

/* Ordered anew, and up in a boot of its own. */
static void
again_to_validating(struct rig *rig, int nodes, int number, const char *boot_id)
{
	rig_apply(rig, nodes, BU_CLASS_REIMAGE, "d1", NULL, NULL);
	rig_start(rig, number);
	rig_inspect(rig, number);
	rig_install(rig, number);
	rig_come_up(rig, number, boot_id);
}

/* The same machine twice in 30 days, whatever it was installed with between. */
START_TEST(a_lemon_is_held_until_a_person_looked)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	begin(&rig, 2);
	for (int time = 1; time <= 2; time++) {
		node = rig_node(&rig, 1);
		check(&rig, 1, "nic-mtu", BU_VERDICT_FAIL, "MTU 1500");
		rig_pass(&rig, 10);
		ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
		ck_assert_int_eq(bu_measurements_incidents(rig.fleet, node->machine,
							   rig.clock.fake_wall_ms),
				 time);
		again_to_validating(&rig, 2, 1, time == 1 ? "boot-b" : "boot-c");
	}
	measure(&rig, &links, 2, 10);
	rig_reason_has(&node->hold->reason,
		       "lemon: this machine was quarantined 2 times in 30 days");
	rig_reason_has(&node->hold->reason, "MTU 1500");
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "ann", NULL), 0);
	measure(&rig, &links, 2, 30);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* Its certificates became invalid so often in this boot: a third time is for a person.
 */
START_TEST(a_node_that_changes_under_its_certificates_is_held)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 2);
	rig_node(&rig, 1)->outdated = 2;
	rig_node(&rig, 2)->outdated = 3;
	measure(&rig, &links, 2, 10);
	ck_assert_int_eq(rig_node(&rig, 1)->hold->owner, BU_OWNER_NONE);
	ck_assert_int_eq(rig_node(&rig, 2)->hold->owner, BU_OWNER_BRINGUP);
	ck_assert(rig_node(&rig, 2)->hold->reason.code == BU_REASON_OUTDATED_OFTEN);
	ck_assert_int_eq(rig_node(&rig, 2)->hold->reason.number[0], 3);
	rig_end(&rig);
}
END_TEST

/* Who was quarantined lately meets twice as many. */
START_TEST(readmission_needs_twice_the_rounds)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 2);
	check(&rig, 1, "nic-mtu", BU_VERDICT_FAIL, "MTU 1500");
	rig_pass(&rig, 10);
	again_to_validating(&rig, 2, 1, "boot-b");
	measure(&rig, &links, 2, 40);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_JOINING);
	ck_assert_int_eq(links.probed[1], 2);
	rig_end(&rig);
}
END_TEST

/* The slices are added up over restarts; a fault in one quarantines. */
START_TEST(the_soak_goes_on_after_a_restart)
{
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 0);
	rig_apply(&rig, 2, BU_CLASS_INSTALL, "d1", "fabric = fabric\n",
		  "fabric = fabric\nsoak = 25 m\n");
	rig_open_gate(&rig);
	rig_to_validating(&rig, 1);
	for (int slice = 0; slice < 3; slice++) {
		bu_autojson json_t *item = NULL, *report = NULL;

		if (slice == 0)
			check(&rig, 1, "nic-mtu", BU_VERDICT_PASS, "");
		node = rig_node(&rig, 1);
		node->live.last_seen_ms = rig.clock.fake_wall_ms;
		rig_pass(&rig, 2001);
		rig_reason_is(node->live.wait_reason, SOAKS);
		ck_assert_int_eq(node->live.wait_reason->number[0], slice * 10);
		ck_assert_int_eq(node->live.wait_reason->number[1], 25);
		item = bu_gate_work(rig.gate, node);
		ck_assert_ptr_nonnull(item);
		ck_assert_int_eq(
			bu_json_int(json_object_get(json_object_get(item, "expect"),
						    "soak"),
				    "slice_ms", 0),
			slice < 2 ? 600000 : 300000);
		report = report_of(node, "edac", BU_VERDICT_PASS, "");
		bu_gate_result(rig.gate, node, bu_json_str(item, "id", ""), report,
			       NULL);
		rig_pass(&rig, 1);
		if (slice == 0)
			rig_restart(&rig);
	}
	node->live.last_seen_ms = rig.clock.fake_wall_ms;
	rig_pass(&rig, 2001);
	rig_reason_is(node->live.wait_reason, NO_PARTNER); /* measured from now on */
	ck_assert_int_eq(events_of(&rig, BU_EVENT_SOAK), 3);
	rig_end(&rig);
}
END_TEST

/* What a certificate says follows from its seed and its figures. */
START_TEST(certificates_replay)
{
	struct rig rig;
	struct links links = good_links();
	bu_autofree char *text = NULL;
	bu_autojson json_t *cert = NULL, *moved = NULL, *slower = NULL;
	json_t *result;
	struct bu_err err = {0};

	begin(&rig, 3);
	measure(&rig, &links, 3, 40);
	text = bu_fleet_certificate(rig.fleet, rig_node(&rig, 2), BU_FABCERT_FULL,
				    &err);
	cert = bu_fabcert_verify(text, strlen(text), rig.fleet->public_pem, &err);
	ck_assert_msg(cert != NULL, "%s", err.text);
	ck_assert_uint_eq(json_array_size(json_object_get(cert, "results")), 2);
	ck_assert_str_eq(bu_json_str(json_object_get(cert, "checks"), "verdict", ""),
			 "pass");
	ck_assert_msg(bu_fabcert_replay(cert, &err) == 0, "%s", err.text);
	moved = json_deep_copy(cert);
	result = json_array_get(json_object_get(moved, "results"), 0);
	json_object_set_new(result, "round",
			    json_integer(bu_json_int(result, "round", 0) + 1));
	ck_assert_int_eq(bu_fabcert_replay(moved, &err), -1);
	says(err.text, "the schedule pairs");
	slower = json_deep_copy(cert);
	result = json_object_get(json_array_get(json_object_get(slower, "results"), 0),
				 "a_to_b");
	for (size_t i = 0; i < 5; i++)
		json_array_set_new(json_object_get(result, "bw_gbps"), i,
				   json_real(SLOW));
	ck_assert_int_eq(bu_fabcert_replay(slower, &err), -1);
	says(err.text, "its figures give fail");
	rig_end(&rig);
}
END_TEST

/* Too slow for the profile of then, good enough for that of now: signed is what the
 * present one makes of the figures. */
START_TEST(a_certificate_judges_by_the_profile_that_it_names)
{
	static const char plain[] = "[validation pairs]\nfabric = fabric\n";
	static const char strict[] =
		"[validation pairs]\nfabric = fabric\nbw_min = 97 %\n";
	struct rig rig;
	struct links links = good_links();
	bu_autofree char *text = NULL;
	bu_autojson json_t *cert = NULL;
	const json_t *result;
	struct bu_err err = {0};

	begin(&rig, 3);
	rig_revise(&rig, 3, plain, strict);
	measure(&rig, &links, 3, 60);
	for (int i = 1; i <= 3; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_VALIDATING);
	rig_revise(&rig, 3, "", "");
	measure(&rig, &links, 3, 60);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_JOINING);
	text = bu_fleet_certificate(rig.fleet, rig_node(&rig, 2), BU_FABCERT_FULL,
				    &err);
	cert = bu_fabcert_verify(text, strlen(text), rig.fleet->public_pem, &err);
	ck_assert_msg(cert != NULL, "%s", err.text);
	result = json_array_get(json_object_get(cert, "results"), 0);
	ck_assert_str_eq(bu_json_str(result, "verdict", ""), "pass");
	ck_assert_msg(bu_fabcert_replay(cert, &err) == 0, "%s", err.text);
	rig_end(&rig);
}
END_TEST

/* The third machine is gone since; what it measured in an earlier boot is no proof. */
START_TEST(a_certificate_lists_what_this_boot_measured)
{
	struct rig rig;
	struct links links = good_links();
	bu_autofree char *text = NULL;
	bu_autojson json_t *cert = NULL, *partners = NULL;
	struct bu_err err = {0};

	begin(&rig, 3);
	rig.fleet->epoch = 7;
	measure(&rig, &links, 3, 40);
	links.silent[3] = 1;
	measure(&rig, &links, 2, 120);
	rig_come_up(&rig, 2, "boot-new");
	measure(&rig, &links, 2, 40);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_JOINING);
	text = bu_fleet_certificate(rig.fleet, rig_node(&rig, 2), BU_FABCERT_FULL,
				    &err);
	cert = bu_fabcert_verify(text, strlen(text), rig.fleet->public_pem, &err);
	ck_assert_msg(cert != NULL, "%s", err.text);
	ck_assert_str_eq(bu_json_str(cert, "boot_id", ""), "boot-new");
	ck_assert_int_eq(bu_json_int(cert, "epoch", 0), 7);
	partners = json_pack("[s]", "node001");
	ck_assert_int_eq(json_equal(json_object_get(cert, "partners"), partners), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(cert, "results")), 1);
	rig_end(&rig);
}
END_TEST

static json_t *
results_of(const struct rig *rig, int number, enum bu_fabcert_kind kind)
{
	struct bu_err err = {0};
	bu_autofree char *text =
		bu_fleet_certificate(rig->fleet, rig_node(rig, number), kind, &err);
	bu_autojson json_t *cert =
		bu_fabcert_verify(text, strlen(text), rig->fleet->public_pem, &err);

	ck_assert_msg(cert != NULL, "%s", err.text);
	ck_assert_msg(bu_fabcert_replay(cert, &err) == 0, "%s", err.text);
	return json_incref(json_object_get(cert, "results"));
}

/* Whichever of the partners is slow and was met first: a full certificate hides it not,
 * and that of the boot has the good one alone. */
START_TEST(a_certificate_lists_what_passed_before_what_did_not)
{
	for (int slow = 1; slow <= 3; slow++) {
		struct rig rig;
		struct links links = good_links();
		int good = slow == 1 ? 2 : 1;

		begin(&rig, 3);
		links.sends[slow] = links.receives[slow] = SLOW;
		measure(&rig, &links, 3, 120);
		ck_assert_int_eq(rig_node(&rig, good)->state, BU_STATE_JOINING);
		bu_autojson json_t *full = results_of(&rig, good, BU_FABCERT_FULL);
		bu_autojson json_t *boot = results_of(&rig, good, BU_FABCERT_BOOT);

		ck_assert_uint_eq(json_array_size(full), 2);
		ck_assert_str_eq(bu_json_str(json_array_get(full, 0), "verdict", ""),
				 "pass");
		ck_assert_str_eq(bu_json_str(json_array_get(full, 1), "verdict", ""),
				 "fail");
		ck_assert_uint_eq(json_array_size(boot), 1);
		ck_assert_int_eq(
			json_equal(json_array_get(boot, 0), json_array_get(full, 0)),
			1);
		rig_end(&rig);
	}
}
END_TEST

/* Measured again in service: lent, judged by nobody, moved by nobody. */
START_TEST(a_run_moves_nobody)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *nodes[3];
	struct bu_err err = {0};
	const char *id;
	bu_autojson json_t *run = NULL;

	begin(&rig, 3);
	measure(&rig, &links, 3, 40);
	for (int i = 0; i < 3; i++)
		nodes[i] = rig_node(&rig, i + 1);
	ck_assert_ptr_null(bu_gate_run(rig.gate, nodes, 1, &err));
	links.sends[2] = SLOW;
	id = bu_gate_run(rig.gate, nodes, 3, &err);
	ck_assert_msg(id != NULL, "%s", err.text);
	measure(&rig, &links, 3, 30);
	run = bu_gate_run_json(rig.gate, id);
	ck_assert_int_eq(bu_json_bool(run, "done", 0), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(run, "pairs")), 3);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(nodes[i]->state, BU_STATE_JOINING);
	ck_assert_ptr_null(bu_gate_run_json(rig.gate, "run-none"));
	rig_end(&rig);
}
END_TEST

RIG_UNIT("keep", of_swapped_cables_the_second_names_both,
	 a_failing_check_quarantines_with_its_words,
	 without_evidence_nobody_is_quarantined,
	 a_site_check_holds_back_with_its_own_words,
	 without_a_report_nobody_is_measured,
	 an_outside_system_can_quarantine_and_never_certify,
	 a_lemon_is_held_until_a_person_looked,
	 a_node_that_changes_under_its_certificates_is_held,
	 readmission_needs_twice_the_rounds, the_soak_goes_on_after_a_restart,
	 certificates_replay, a_certificate_judges_by_the_profile_that_it_names,
	 a_certificate_lists_what_this_boot_measured,
	 a_certificate_lists_what_passed_before_what_did_not, a_run_moves_nobody)
