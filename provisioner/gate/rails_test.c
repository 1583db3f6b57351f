/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes with several rails: all are measured, all must be good. */
#include "fabric/judge/fabcert.h"
#include "tests/support/gate.h"

/* So many nodes with so many rails, ready to be measured. */
static void
begin_rails(struct rig *rig, int nodes, int rails)
{
	rig_begin(rig, nodes);
	rig_open_gate(rig);
	rig_give_rails(rig, nodes, rails);
	for (int i = 1; i <= nodes; i++)
		rig_to_validating(rig, i);
}

static json_t *
cert_of(struct rig *rig, const json_t *sealed)
{
	const char *text = bu_json_str(sealed, "text", "");
	struct bu_err err;
	json_t *cert =
		bu_fabcert_verify(text, strlen(text), rig->fleet->public_pem, &err);

	ck_assert_msg(cert != NULL, "%s", err.text);
	ck_assert_msg(bu_fabcert_replay(cert, &err) == 0, "%s", err.text);
	return cert;
}

START_TEST(a_certificate_has_the_figures_of_all_rails)
{
	static const char *const names[] = {"fabric", "rail1", "rail2"};
	struct rig rig;
	struct links links = good_links();

	begin_rails(&rig, 2, 3);
	measure(&rig, &links, 2, 30);
	for (int i = 1; i <= 2; i++) {
		bu_autojson json_t *full = cert_of(&rig, rig_node(&rig, i)->full_cert);
		bu_autojson json_t *boot = cert_of(&rig, rig_node(&rig, i)->boot_cert);
		const json_t *results = json_object_get(full, "results");

		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
		ck_assert_int_eq(links.probed[i], 1); /* all at once */
		ck_assert_uint_eq(json_array_size(results), 3);
		ck_assert_uint_eq(json_array_size(json_object_get(full, "rails")), 3);
		ck_assert_uint_eq(json_array_size(json_object_get(full, "partners")),
				  1);
		for (size_t k = 0; k < 3; k++) {
			ck_assert_str_eq(
				bu_json_str(json_array_get(results, k), "rail", ""),
				names[k]);
			ck_assert_int_eq(bu_fabcert_covers(boot, names[k], 0), 1);
		}
	}
	rig_end(&rig);
}
END_TEST

/* Whatever the first rail carries. */
START_TEST(a_fault_of_the_second_rail_alone_names_it)
{
	struct rig rig;
	struct links links = good_links();
	bu_autojson json_t *shown = NULL;

	begin_rails(&rig, 3, 2);
	links.second[2] = SLOW;
	measure(&rig, &links, 3, 120);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 3)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_QUARANTINED);
	rig_reason_has(&rig_node(&rig, 2)->reason, "rail rail1: ");
	rig_reason_has(&rig_node(&rig, 2)->reason, "5.00 Mbit/s");
	ck_assert_str_eq(bu_reason_arg(&rig_node(&rig, 2)->reason, "rail"), "rail1");
	shown = bu_gate_show(rig.gate, rig_node(&rig, 2), NULL);
	ck_assert_str_eq(bu_json_str(json_object_get(shown, "accusation"), "rail", ""),
			 "rail1");
	rig_end(&rig);
}
END_TEST

/* A slow second rail of two nodes: nobody can tell whose, and the wait says where. */
START_TEST(a_wait_says_which_rail)
{
	struct rig rig;
	struct links links = good_links();
	bu_autofree char *why = NULL;

	begin_rails(&rig, 2, 2);
	links.second[2] = SLOW;
	measure(&rig, &links, 2, 120);
	for (int i = 1; i <= 2; i++) {
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_VALIDATING);
		rig_reason_is(&rig_node(&rig, i)->live.says, NO_THIRD);
		ck_assert_str_eq(bu_reason_arg(&rig_node(&rig, i)->live.says, "rail"),
				 "rail1");
	}
	why = bu_reconcile_why(rig.rec, rig_node(&rig, 1));
	says(why, "(rail rail1)");
	ck_assert_int_eq(events_of(&rig, BU_EVENT_CERTIFICATE), 0);
	rig_end(&rig);
}
END_TEST

/* Another rail is applied: what was certified covers less than the profile gives. */
START_TEST(a_new_rail_makes_a_certificate_too_little)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_err err;

	begin_rails(&rig, 2, 2);
	measure(&rig, &links, 2, 30);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, rig_node(&rig, 1), &err), 0);
	rig_give_rails(&rig, 2, 3);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, rig_node(&rig, 1), &err), -1);
	says(err.text, "rail rail2 was not measured");
	ck_assert_int_eq(bu_fleet_is_full(rig.fleet, rig_node(&rig, 1)), 0);
	rig_give_rails(&rig, 2, 1);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, rig_node(&rig, 1), &err), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(a_run_measures_each_rail)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_err err;
	const char *id;

	begin_rails(&rig, 2, 2);
	measure(&rig, &links, 2, 30);
	struct bu_node *nodes[] = {rig_node(&rig, 1), rig_node(&rig, 2)};
	id = bu_gate_run(rig.gate, nodes, 2, &err);
	ck_assert_msg(id != NULL, "%s", err.text);
	links.second[1] = SLOW;
	measure(&rig, &links, 2, 30);
	bu_autojson json_t *run = bu_gate_run_json(rig.gate, id);
	const json_t *pairs = json_object_get(run, "pairs");

	ck_assert_int_eq(bu_json_bool(run, "done", 0), 1);
	ck_assert_uint_eq(json_array_size(pairs), 2);
	ck_assert_str_eq(bu_json_str(json_array_get(pairs, 0), "rail", ""), "fabric");
	ck_assert_str_eq(bu_json_str(json_array_get(pairs, 0), "verdict", ""), "pass");
	ck_assert_str_eq(bu_json_str(json_array_get(pairs, 1), "rail", ""), "rail1");
	ck_assert_str_eq(bu_json_str(json_array_get(pairs, 1), "verdict", ""), "fail");
	rig_end(&rig);
}
END_TEST

/* One rail of two says nothing at one end: the other rail's figures count, the error
 * names the end. */
START_TEST(a_rail_that_fails_costs_the_other_nothing)
{
	struct rig rig;
	struct links links = good_links();

	begin_rails(&rig, 2, 2);
	for (int i = 1; i <= 2; i++)
		rig_node(&rig, i)->live.agent.protocol = BU_AGENT_PROTOCOL;
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	for (int i = 1; i <= 2; i++) {
		bu_autojson json_t *item = bu_gate_work(rig.gate, rig_node(&rig, i));
		bu_autojson json_t *result = result_of(&links, item);
		json_t *second = json_array_get(json_object_get(result, "rails"), 1);

		ck_assert_uint_eq(json_array_size(json_object_get(item, "rails")), 2);
		for (int dir = 0; dir < 2; dir++)
			json_object_set_new(
				json_object_get(second, dir ? "b_to_a" : "a_to_b"),
				"bw_gbps", json_array());
		json_object_set_new(second, "error",
				    json_pack("{s:s,s:s,s:s}", "kind", "io", "text",
					      "no port", "at", "b"));
		bu_gate_result(rig.gate, rig_node(&rig, i), bu_json_str(item, "id", ""),
			       result, NULL);
	}
	rig_pass(&rig, 100);
	int first = bu_measurements_find(rig.fleet, "node001", "node002", "fabric");
	int second = bu_measurements_find(rig.fleet, "node001", "node002", "rail1");

	ck_assert_int_ge(first, 0);
	ck_assert_int_ge(second, 0);
	ck_assert_uint_eq(rig.fleet->measurements.logs[first].count, 1);
	ck_assert_int_eq(rig.fleet->measurements.logs[first].errors, 0);
	ck_assert_uint_eq(rig.fleet->measurements.logs[second].count, 0);
	ck_assert_int_eq(rig.fleet->measurements.logs[second].errors, 1);
	ck_assert_str_eq(
		bu_json_str(rig.fleet->measurements.logs[second].brief, "error", ""),
		"node002: no port");
	rig_end(&rig);
}
END_TEST

/* An upgrade: the canary's agent is new, its partner's is of the release before, which
 * says nothing of depth and measures one port. */
START_TEST(an_older_agent_measures_one_rail_at_a_time)
{
	struct rig rig;
	struct links links = good_links();

	begin_rails(&rig, 2, 2);
	links.older[2] = 1;
	for (size_t i = 0; i < rig.fleet->desired->networks_count; i++)
		rig.fleet->desired->networks[i].link_gbps = 1;
	for (int i = 0; i <= RIG_NODES_MAX; i++)
		links.sends[i] = links.receives[i] = 0.95;
	for (int second = 0; second < 60; second++) {
		bu_autojson json_t *item = bu_gate_work(rig.gate, rig_node(&rig, 1));

		measure(&rig, &links, 2, 1);
		if (strcmp(bu_json_str(item, "kind", ""), "probe") != 0)
			continue;
		ck_assert_uint_eq(json_array_size(json_object_get(item, "rails")), 1);
		ck_assert_int_eq(bu_json_int(item, "depth", 0), 0);
		ck_assert_int_eq(bu_json_int(item, "warm_bytes", 0), 0);
	}
	ck_assert_int_eq(links.probed[1], 2);
	for (size_t i = 0; i < rig.fleet->measurements.count; i++) {
		ck_assert_int_eq(rig.fleet->measurements.logs[i].errors, 0);
		ck_assert_uint_eq(rig.fleet->measurements.logs[i].count, 1);
	}
	ck_assert_uint_eq(rig.fleet->measurements.count, 2);
	for (int i = 1; i <= 2; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* Both are new: what the link wants is sent. */
START_TEST(two_new_agents_are_told_the_depth)
{
	struct rig rig;
	struct links links = good_links();
	int told = 0;

	begin_rails(&rig, 2, 2);
	for (size_t i = 0; i < rig.fleet->desired->networks_count; i++)
		rig.fleet->desired->networks[i].link_gbps = 1;
	for (int second = 0; second < 10; second++) {
		bu_autojson json_t *item = bu_gate_work(rig.gate, rig_node(&rig, 1));

		measure(&rig, &links, 2, 1);
		told += bu_json_int(item, "depth", 0) == 32 &&
			bu_json_int(item, "warm_bytes", 0) > 0 &&
			json_array_size(json_object_get(item, "rails")) == 2;
	}
	ck_assert_int_ge(told, 1);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("rails", an_older_agent_measures_one_rail_at_a_time,
	 two_new_agents_are_told_the_depth, a_rail_that_fails_costs_the_other_nothing,
	 a_certificate_has_the_figures_of_all_rails,
	 a_fault_of_the_second_rail_alone_names_it, a_wait_says_which_rail,
	 a_new_rail_makes_a_certificate_too_little, a_run_measures_each_rail)
