/* SPDX-License-Identifier: Apache-2.0 */
/* The gate over fake nodes: what their links carry is a table of the test. */
#include "provisioner/gate/gate.h"
#include "tests/support/gate.h"
#include "tests/support/probes.h"
#include "tests/support/quoted.h"

START_TEST(two_good_nodes_prove_each_other)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 2);
	measure(&rig, &links, 2, 10);
	for (int i = 1; i <= 2; i++) {
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
		ck_assert_int_eq(bu_fleet_certified(rig.fleet, rig_node(&rig, i), NULL),
				 0);
		ck_assert_int_eq(links.probed[i], 1);
	}
	ck_assert_int_eq(events_of(&rig, BU_EVENT_PAIR), 1);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_LEASE), 0);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_CERTIFICATE), 4);
	rig_end(&rig);
}
END_TEST

static const char *
fabric_address(const json_t *item)
{
	return bu_json_str(json_array_get(json_object_get(item, "rails"), 0), "address",
			   "");
}

/* All that the item of one end says: role, its node, its address, the other's. */
static void
check_item(json_t *item, const char *const says[4], const json_t *other)
{
	json_t *rail = json_array_get(json_object_get(item, "rails"), 0);
	const char *id = bu_json_str(other, "id", "");
	bu_autofree char *text = bu_xasprintf(
		"{'role':'%s','node':'%s','peer':'%s','kind':"
		"'probe','id':'%s','probe':'%s','secret':'%s','attempt':1,'a':'node001',"
		"'b':'node002','addr':'10.77.0.12','port':18515,'bytes':2097152,'runs':5,"
		"'message_bytes':65536,'deadline_ms':30971,'sport':49152,'rails':[{'rail':'fabric',"
		"'address':'%s'}]}",
		says[0], says[1], says[3], id, id, bu_json_str(other, "secret", ""),
		says[2]);
	bu_autojson json_t *want = quoted(text);
	bu_autofree char *is = NULL, *should = NULL;

	ck_assert_double_eq_tol(bu_json_real(item, "min_gbps", 0), 0.016, 1e-9);
	ck_assert_double_eq_tol(bu_json_real(rail, "min_gbps", 0), 0.016, 1e-9);
	json_object_del(item, "min_gbps");
	json_object_del(rail, "min_gbps");
	is = bu_json_canonical(item);
	should = bu_json_canonical(want);
	ck_assert_str_eq(is, should);
}

START_TEST(a_work_item_is_complete)
{
	static const char *const says[2][4] = {
		{"connect", "node001", "10.78.0.11", "10.77.0.12"},
		{"listen", "node002", "10.78.0.12", "10.77.0.11"}};
	struct rig rig;
	bu_autojson json_t *a = NULL, *b = NULL;

	begin(&rig, 2);
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	a = bu_gate_work(rig.gate, rig_node(&rig, 1));
	b = bu_gate_work(rig.gate, rig_node(&rig, 2));
	ck_assert_uint_eq(strlen(bu_json_str(a, "secret", "")), 64);
	check_item(a, says[0], b);
	check_item(b, says[1], a);
	rig_end(&rig);
}
END_TEST

/* A question of an agent that is still in an earlier probe takes none. */
START_TEST(a_question_takes_no_probe)
{
	struct rig rig;
	bu_autojson json_t *item = NULL;
	char id[BU_NAME_SIZE];

	begin(&rig, 2);
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	ck_assert_ptr_nonnull(newest_probe(rig.gate));
	strcpy(id, newest_probe(rig.gate)->task.id);
	ck_assert_int_eq(bu_gate_wants(rig.gate, rig_node(&rig, 1), "p-before"), 0);
	ck_assert_int_eq(bu_gate_wants(rig.gate, rig_node(&rig, 1), id), 1);
	ck_assert_int_eq(
		newest_probe(rig.gate)->took[0] + newest_probe(rig.gate)->took[1], 0);
	ck_assert_int_eq(newest_probe(rig.gate)->both_ms, 0);
	item = bu_gate_work(rig.gate, rig_node(&rig, 1));
	ck_assert_str_eq(bu_json_str(item, "id", ""), id);
	ck_assert_int_eq(bu_gate_wants(rig.gate, rig_node(&rig, 1), id), 1);
	rig_end(&rig);
}
END_TEST

/* An answer that comes late is of no other pair, nor can one pair read another's. */
START_TEST(each_pair_has_a_name_and_a_secret_of_its_own)
{
	struct rig rig;
	bu_autojson json_t *ids = json_object(), *secrets = json_object();

	begin(&rig, 4);
	check_all(&rig, 4);
	rig_pass(&rig, 2001);
	for (int i = 1; i <= 4; i++) {
		bu_autojson json_t *item = bu_gate_work(rig.gate, rig_node(&rig, i));

		ck_assert_str_eq(bu_json_str(item, "kind", ""), "probe");
		bu_json_count_up(ids, bu_json_str(item, "probe", ""));
		bu_json_count_up(secrets, bu_json_str(item, "secret", ""));
	}
	ck_assert_uint_eq(json_object_size(ids), 2);
	ck_assert_uint_eq(json_object_size(secrets), 2);
	rig_end(&rig);
}
END_TEST

/* Another address and MTU were applied: these nodes have neither. */
START_TEST(who_is_under_way_is_measured_as_it_was_ordered)
{
	struct rig rig;
	bu_autojson json_t *checks = NULL, *a = NULL, *b = NULL;
	const json_t *networks;
	json_t *network;
	size_t i;
	int found = 0;

	begin(&rig, 2);
	rig_revise(&rig, 2, "addresses = 10.78.0.[11-18]\n",
		   "addresses = 10.78.0.[21-28]\nmtu = 9000\n");
	checks = bu_gate_work(rig.gate, rig_node(&rig, 1));
	ck_assert_str_eq(bu_json_str(checks, "kind", ""), "checks");
	networks = json_object_get(json_object_get(checks, "expect"), "networks");
	json_array_foreach (networks, i, network) {
		if (strcmp(bu_json_str(network, "name", ""), "fabric") != 0)
			continue;
		found++;
		ck_assert_str_eq(bu_json_str(network, "address", ""), "10.78.0.11");
		ck_assert_ptr_null(json_object_get(network, "mtu"));
		ck_assert_str_eq(bu_json_str(network, "mac", ""), "52:54:00:78:00:01");
	}
	ck_assert_int_eq(found, 1);
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	a = bu_gate_work(rig.gate, rig_node(&rig, 1));
	b = bu_gate_work(rig.gate, rig_node(&rig, 2));
	ck_assert_str_eq(fabric_address(a), "10.78.0.11");
	ck_assert_str_eq(fabric_address(b), "10.78.0.12");
	rig_end(&rig);
}
END_TEST

#define WORST "median 5.00 Mbit/s, at least 16.00 Mbit/s wanted; 5 of 5 runs under it"

START_TEST(a_slow_pair_waits_and_says_so)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 2);
	links.sends[2] = links.receives[2] = SLOW;
	measure(&rig, &links, 2, 1000); /* longer than validating may last */
	for (int i = 1; i <= 2; i++) {
		struct bu_node *node = rig_node(&rig, i);
		bu_autofree char *why = rig_why(&rig, node);

		ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
		ck_assert_int_eq(node->repeats, 0);
		rig_reason_is(node->live.wait_reason, NO_THIRD);
		rig_reason_has(node->live.wait_reason,
			       i == 1 ? "slow pair with node002 (node001 sends: "
					"node001 to node002: " WORST "); no third "
				      : "slow pair with node001 (node002 sends: "
					"node002 to node001: " WORST "); no third ");
		says(why, "waits: slow pair with");
		says(why, "it ends when another node of its fabric is validating or "
			  "certified");
		says(why, "it is looked at again every 2 s");
		ck_assert_int_eq(links.probed[i], 4); /* once, and three times again */
	}
	ck_assert_int_eq(events_of(&rig, BU_EVENT_HELD), 0);
	bu_clock_advance(&rig.clock, 24 * 3600 * 1000);
	measure(&rig, &links, 2, 5);
	for (int i = 1; i <= 2; i++) {
		rig_reason_has(&rig_node(&rig, i)->hold->reason,
			       "slow pair with node00");
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_VALIDATING);
	}
	ck_assert_int_eq(events_of(&rig, BU_EVENT_HELD), 2);
	rig_end(&rig);
}
END_TEST

/* What is kept of node002 is about no other. */
static void
check_evidence(struct rig *rig)
{
	bu_autojson json_t *shown = bu_gate_show(rig->gate, rig_node(rig, 2), NULL);
	const json_t *events = json_object_get(shown, "events");
	const json_t *results = json_object_get(shown, "results");
	size_t i;
	json_t *row;

	ck_assert_uint_gt(json_array_size(events), 3);
	json_array_foreach ((json_t *)events, i, row)
		ck_assert_str_eq(bu_json_str(row, "node", ""), "node002");
	ck_assert_uint_gt(json_array_size(results), 1);
	json_array_foreach ((json_t *)results, i, row) {
		const char *a = bu_json_str(json_object_get(row, "a"), "node", "");
		const char *b = bu_json_str(json_object_get(row, "b"), "node", "");

		ck_assert(strcmp(a, "node002") == 0 || strcmp(b, "node002") == 0);
	}
}

START_TEST(of_three_the_slow_one_is_named)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 3);
	links.sends[2] = links.receives[2] = SLOW;
	measure(&rig, &links, 3, 90);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 3)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_QUARANTINED);
	rig_reason_says(rig_node(&rig, 2)->reason,
			"node002 sends: node002 to node001: " WORST
			"; node002 receives: node001 to node002: " WORST
			" (seen by proven node001, node003); slow: 3 of 3 tests again, "
			"at best 5.00 Mbit/s of 19.00 Mbit/s; swap the cable first, "
			"then try another port of the switch, then the NIC");
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, rig_node(&rig, 2), NULL), -1);
	check_evidence(&rig);
	rig_end(&rig);
}
END_TEST

/* Whichever node is SLOW, and in whichever direction. */
START_TEST(one_slow_half_accuses_its_node_and_no_other)
{
	for (int bad = 1; bad <= 3; bad++) {
		for (int half = 0; half < 2; half++) {
			struct rig rig;
			struct links links = good_links();

			begin(&rig, 3);
			*(half ? &links.receives[bad] : &links.sends[bad]) = SLOW;
			measure(&rig, &links, 3, 90);
			for (int i = 1; i <= 3; i++)
				ck_assert_msg(rig_node(&rig, i)->state ==
						      (i == bad ? BU_STATE_QUARANTINED
								: BU_STATE_JOINING),
					      "node %d, slow %d, half %d: %s", i, bad,
					      half,
					      bu_state_name(rig_node(&rig, i)->state));
			rig_reason_has(rig_node(&rig, bad)->reason,
				       half ? "receives" : "sends");
			rig_end(&rig);
		}
	}
}
END_TEST

START_TEST(a_late_node_borrows_a_certified_partner)
{
	struct rig rig;
	struct links links = good_links();
	int certificates, leases, before;

	rig_begin(&rig, 3);
	rig_open_gate(&rig);
	rig_to_validating(&rig, 1);
	rig_to_validating(&rig, 2);
	measure(&rig, &links, 2, 10);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_LEASE), 0);
	certificates = events_of(&rig, BU_EVENT_CERTIFICATE);
	rig_to_validating(&rig, 3);
	before = links.probed[3];
	links.sends[3] = links.receives[3] = SLOW;
	measure(&rig, &links, 3, 90);
	leases = events_of(&rig, BU_EVENT_LEASE);
	ck_assert_int_eq(leases, links.probed[3] - before);
	ck_assert_int_gt(links.probed[1], 1); /* both were asked */
	ck_assert_int_gt(links.probed[2], 1);
	ck_assert_int_eq(rig_node(&rig, 3)->state, BU_STATE_QUARANTINED);
	/* and the certified ones were not judged by it */
	for (int i = 1; i <= 2; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_CERTIFICATE), certificates);
	rig_end(&rig);
}
END_TEST

START_TEST(who_waited_for_a_partner_is_not_late_when_one_comes)
{
	struct rig rig;
	struct links links = good_links();

	rig_begin(&rig, 2);
	rig_open_gate(&rig);
	rig_to_validating(&rig, 1);
	measure(&rig, &links, 1, 2000);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_VALIDATING);
	rig_reason_is(rig_node(&rig, 1)->live.wait_reason, NO_PARTNER);
	ck_assert_int_eq(bu_reconcile_deadline(rig.rec, rig_node(&rig, 1)), 0);
	rig_to_validating(&rig, 2);
	rig_node(&rig, 1)->live.last_seen_ms = rig.clock.fake_wall_ms;
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	rig_reason_is(rig_node(&rig, 1)->live.wait_reason, NONE); /* being probed */
	rig_pass(&rig, 2001);
	measure(&rig, &links, 2, 10);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(probes_without_a_result_end_with_their_reason)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;
	bu_autofree char *why = NULL;

	begin(&rig, 2);
	links.broken = 1;
	measure(&rig, &links, 2, 40);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(links.probed[1], 3); /* from now on one a minute */
	ck_assert_int_eq(events_of(&rig, BU_EVENT_PAIR), 3);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_reason_is(node->live.wait_reason, PROBES_SILENT);
	ck_assert_int_gt(bu_reconcile_deadline(rig.rec, node), 0);
	why = rig_why(&rig, node);
	says(why, "3 probes node001 <-> node002 gave no result");
	says(why, "no device rxe0");
	measure(&rig, &links, 2, 565);
	rig_until(&rig, node, BU_STATE_BOOTING); /* the ladder */
	ck_assert_int_le(links.probed[1], 13);
	rig_reason_has(node->reason, "the fabric was not measured within 600 s: 1");
	rig_reason_has(node->reason,
		       "probes node001 <-> node002 gave no result: node001: no ");
	rig_end(&rig);
}
END_TEST

START_TEST(a_silent_end_is_named_in_time)
{
	struct rig rig;
	struct links links = good_links();
	const struct bu_pair_brief *pair;

	begin(&rig, 2);
	check_all(&rig, 2);
	links.silent[2] = 1;
	links.broken = 0;
	measure(&rig, &links, 1, 2);
	rig_node(&rig, 2)->live.last_seen_ms = rig.clock.fake_wall_ms;
	for (int i = 0; i < 300 && !events_of(&rig, BU_EVENT_PAIR); i++)
		measure(&rig, &links, 1, 1);
	ck_assert_uint_gt(rig.fleet->measurements.count, 0);
	pair = &rig.fleet->measurements.logs[0].last;
	/* one end told a result: it counts, though the other end is silent */
	ck_assert_int_eq(pair->verdict, BU_VERDICT_PASS);
	rig_end(&rig);
}
END_TEST

/* An agent that reports something else than it was asked. */
START_TEST(a_result_of_other_nodes_proves_nothing)
{
	static const char *const spoil[][2] = {
		{"probe", "p-other"}, {"a", "node009"}, {"b", "node001"}};

	for (size_t i = 0; i < BU_LEN(spoil); i++) {
		struct rig rig;
		const struct bu_pair_brief *pair;

		begin(&rig, 2);
		check_all(&rig, 2);
		rig_pass(&rig, 2001);
		for (int k = 1; k <= 2; k++) {
			struct links links = good_links();
			bu_autojson json_t *item =
				bu_gate_work(rig.gate, rig_node(&rig, k));
			bu_autojson json_t *result = NULL;
			json_t *one;

			ck_assert_ptr_nonnull(item);
			result = result_of(&links, item);
			one = json_array_get(json_object_get(result, "rails"), 0);
			if (i == 0)
				json_object_set_new(one, "probe",
						    json_string(spoil[i][1]));
			else
				json_object_set_new(json_object_get(one, spoil[i][0]),
						    "node", json_string(spoil[i][1]));
			bu_gate_result(rig.gate, rig_node(&rig, k),
				       bu_json_str(item, "id", ""), result, NULL);
		}
		rig_pass(&rig, 1);
		ck_assert_uint_gt(rig.fleet->measurements.count, 0);
		pair = &rig.fleet->measurements.logs[0].last;
		ck_assert_int_eq(pair->verdict, BU_VERDICT_INCONCLUSIVE);
		says(pair->error, "not of this one");
		rig_pass(&rig, 10);
		ck_assert_int_eq(events_of(&rig, BU_EVENT_CERTIFICATE), 0);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(an_error_in_any_alphabet_is_journaled)
{
	struct rig rig;
	struct bu_err failure = {.kind = BU_ERR_IO};
	const struct bu_pair_brief *pair;

	begin(&rig, 2);
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	for (size_t i = 0; i + 2 < sizeof(failure.text); i += 2)
		memcpy(failure.text + i, "\xc3\xa9", 2);
	for (int k = 1; k <= 2; k++) {
		bu_autojson json_t *item = bu_gate_work(rig.gate, rig_node(&rig, k));

		bu_gate_result(rig.gate, rig_node(&rig, k), bu_json_str(item, "id", ""),
			       NULL, &failure);
	}
	rig_pass(&rig, 1);
	ck_assert_uint_gt(rig.fleet->measurements.count, 0);
	pair = &rig.fleet->measurements.logs[0].last;
	says(pair->error, "\xc3\xa9\xc3\xa9");
	rig_end(&rig);
}
END_TEST

START_TEST(results_and_words_outlive_a_restart)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 2);
	links.sends[2] = links.receives[2] = SLOW;
	measure(&rig, &links, 2, 10);
	rig_restart(&rig);
	links.probes = 0;
	measure(&rig, &links, 2, 10);
	ck_assert_int_eq(links.probes, 0); /* it is in the log */
	rig_reason_has(rig_node(&rig, 1)->live.wait_reason, "slow pair with node002");
	rig_come_up(&rig, 2, "boot-new"); /* a new boot is a new machine */
	measure(&rig, &links, 2, 10);
	ck_assert_int_eq(links.probes, 8);
	rig_end(&rig);
}
END_TEST

START_TEST(without_a_validation_nobody_joins)
{
	struct rig rig;

	rig_begin(&rig, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1",
		  "cluster = hpc\nvalidation = pairs\n", "");
	rig_open_gate(&rig);
	rig_to_validating(&rig, 1);
	rig_pass(&rig, 2001);
	rig_reason_is(rig_node(&rig, 1)->live.wait_reason, NO_VALIDATION);
	bu_clock_advance(&rig.clock, 24 * 3600 * 1000);
	rig_pass(&rig, 2001);
	rig_pass(&rig, 2001);
	rig_reason_has(&rig_node(&rig, 1)->hold->reason, "names no validation");
	rig_end(&rig);
}
END_TEST

/* They are nobody's. */
START_TEST(more_rails_than_were_asked_for_are_left_out)
{
	struct rig rig;

	begin(&rig, 2);
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	for (int k = 1; k <= 2; k++) {
		struct links links = good_links();
		bu_autojson json_t *item = bu_gate_work(rig.gate, rig_node(&rig, k));
		bu_autojson json_t *result = result_of(&links, item);
		json_t *list = json_object_get(result, "rails");

		while (json_array_size(list) <= BU_RAILS_MAX)
			json_array_append(list, json_array_get(list, 0));
		bu_gate_result(rig.gate, rig_node(&rig, k), bu_json_str(item, "id", ""),
			       result, NULL);
	}
	rig_pass(&rig, 1);
	ck_assert_uint_eq(rig.fleet->measurements.count, 1);
	ck_assert_int_eq(rig.fleet->measurements.logs[0].last.verdict, BU_VERDICT_PASS);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("gate", more_rails_than_were_asked_for_are_left_out,
	 two_good_nodes_prove_each_other, a_work_item_is_complete,
	 a_question_takes_no_probe, each_pair_has_a_name_and_a_secret_of_its_own,
	 who_is_under_way_is_measured_as_it_was_ordered, a_slow_pair_waits_and_says_so,
	 of_three_the_slow_one_is_named, one_slow_half_accuses_its_node_and_no_other,
	 a_late_node_borrows_a_certified_partner,
	 who_waited_for_a_partner_is_not_late_when_one_comes,
	 probes_without_a_result_end_with_their_reason, a_silent_end_is_named_in_time,
	 a_result_of_other_nodes_proves_nothing, an_error_in_any_alphabet_is_journaled,
	 results_and_words_outlive_a_restart, without_a_validation_nobody_joins)
