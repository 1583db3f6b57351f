/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes with several rails: all are measured, all must be good. */
#include "fabric/judge/fabcert.h"
#include "model/shown_status.h"
#include "model/work.h"
#include "provisioner/gate/gate.h"
#include "tests/support/gate.h"
#include "tests/support/probes.h"

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
cert_of(struct rig *rig, const char *digest)
{
	bu_autofree char *text = bu_store_get_blob(rig->store, digest, NULL);
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

/* The places of a leaf are the larger part of it, and a boot needs one partner. */
START_TEST(a_certificate_says_nothing_twice)
{
	static const char *const names[] = {"fabric", "rail1", "rail2"};
	struct rig rig;
	struct links links = good_links();
	bu_autojson json_t *full = NULL, *boot = NULL;
	json_t *rails, *result;
	struct bu_err err;

	begin_rails(&rig, 6, 3);
	measure(&rig, &links, 6, 60);
	full = cert_of(&rig, rig_node(&rig, 4)->full_cert);
	boot = cert_of(&rig, rig_node(&rig, 4)->boot_cert);
	ck_assert_uint_ge(json_array_size(json_object_get(full, "results")), 6);
	ck_assert_uint_eq(json_array_size(json_object_get(boot, "results")), 3);
	rails = json_object_get(full, "rails");
	ck_assert_ptr_nonnull(json_object_get(json_array_get(rails, 0), "schedule"));
	for (size_t k = 1; k < 3; k++) {
		const json_t *rail = json_array_get(rails, k);

		ck_assert_str_eq(bu_json_str(rail, "rail", ""), names[k]);
		ck_assert_str_eq(bu_json_str(rail, "schedule_as", ""), names[0]);
		ck_assert_ptr_null(json_object_get(rail, "schedule"));
	}
	/* What such a rail is held against is still the schedule. */
	result = json_object_get(full, "results");
	result = json_array_get(result, json_array_size(result) - 1);
	ck_assert_str_eq(bu_json_str(result, "rail", ""), names[2]);
	json_object_set_new(result, "round",
			    json_integer(bu_json_int(result, "round", -1) + 1));
	ck_assert_int_eq(bu_fabcert_replay(full, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "the schedule pairs"));
	rig_end(&rig);
}
END_TEST

/* A profile without it was applied between the question and the answer. */
START_TEST(nobody_waits_for_a_rail_that_is_no_more)
{
	struct rig rig;
	struct links links = good_links();

	begin_rails(&rig, 2, 2);
	check_all(&rig, 2);
	rig_pass(&rig, 2001);
	ck_assert_int_eq(newest_probe(rig.gate)->rails, 2);
	rig_revise(&rig, 2, "", "");
	measure(&rig, &links, 2, 20);
	for (int i = 1; i <= 2; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* Whatever the first rail carries. */
START_TEST(a_fault_of_the_second_rail_alone_names_it)
{
	struct rig rig;
	struct links links = good_links();
	bu_autojson json_t *shown = NULL;
	bu_autofree char *text = NULL;
	const json_t *words;

	begin_rails(&rig, 3, 2);
	links.second[2] = SLOW;
	measure(&rig, &links, 3, 120);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 3)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_QUARANTINED);
	rig_reason_has(rig_node(&rig, 2)->reason, "rail rail1: ");
	rig_reason_has(rig_node(&rig, 2)->reason, "5.00 Mbit/s");
	ck_assert_str_eq(bu_reason_arg(rig_node(&rig, 2)->reason, "rail"), "rail1");
	shown = bu_gate_show(rig.gate, rig_node(&rig, 2), NULL);
	ck_assert_str_eq(bu_json_str(json_object_get(shown, "accusation"), "rail", ""),
			 "rail1");
	/* Both directions have room as a reason, and the log keeps all of it. */
	words = json_object_get(json_object_get(shown, "args"), "words");
	ck_assert_str_eq(bu_json_str(words, "code", "a text"), "node-accused");
	text = bu_reason_text(rig_node(&rig, 2)->reason);
	rig_text_has(text, "node002 sends: ");
	rig_text_has(text, "node002 receives: ");
	rig_restart(&rig);
	rig_reason_says(rig_node(&rig, 2)->reason, text);
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
		rig_reason_is(rig_node(&rig, i)->live.wait_reason, NO_THIRD);
		ck_assert_str_eq(
			bu_reason_arg(rig_node(&rig, i)->live.wait_reason, "rail"),
			"rail1");
	}
	why = rig_why(&rig, rig_node(&rig, 1));
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

/* Where eth1 (fabric) and eth2 (rail1) hang. */
static void
tell_ports(struct rig *rig, int number, const char *fabric, const char *rail1)
{
	const char *const ids[] = {"nic-missing", "lldp", "cabling"};
	const char *const ports[] = {fabric, rail1};
	struct bu_node *node = rig_node(rig, number);
	bu_autojson json_t *item = bu_gate_work(rig->gate, node), *report = NULL;
	struct bu_checks checks;

	bu_checks_init(&checks);
	bu_text_copy(checks.boot_id, sizeof(checks.boot_id), node->boot_id);
	for (int i = 0; i < 6; i++) {
		const char *netdev = i % 2 ? "eth2" : "eth1";
		const char *network = i % 2 ? "rail1" : "fabric";
		struct bu_check *row =
			bu_checks_add(&checks, "audit", ids[i / 2], BU_VERDICT_PASS,
				      i < 2 ? network : netdev);

		BU_CHECK_SET(row->seen, "%s", i < 2 ? netdev : ports[i % 2]);
	}
	report = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), report, NULL);
	rig_pass(rig, 1);
}

/* The profile says so of a node whose ports hear nothing. */
static void
name_ports(struct rig *rig, int number, const char *fabric, const char *rail1)
{
	struct bu_desired *desired = rig->fleet->desired;
	char **ports = &desired->nodes[number - 1].switch_ports;

	free(*ports);
	*ports = bu_xasprintf("fabric=%s,rail1=%s", fabric, rail1);
}

typedef void say_ports(struct rig *, int, const char *, const char *);

static void
check_leaves(say_ports *say)
{
	static const char *const neighbour[] = {"node002", "node003"};
	struct rig rig;
	struct links links = good_links();
	bu_autojson json_t *cert = NULL;

	begin_rails(&rig, 4, 2);
	say(&rig, 1, "leaf01:p1", "leaf11:p1");
	say(&rig, 2, "leaf01:p2", "leaf12:p2");
	say(&rig, 3, "leaf02:p3", "leaf11:p3");
	say(&rig, 4, "leaf02:p4", "leaf12:p4");
	measure(&rig, &links, 4, 120);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_JOINING);
	cert = cert_of(&rig, rig_node(&rig, 1)->full_cert);
	for (size_t i = 0; i < 2; i++) {
		const json_t *rail = json_array_get(json_object_get(cert, "rails"), i);
		const json_t *order =
			json_object_get(json_object_get(rail, "schedule"), "order");

		ck_assert_uint_eq(json_array_size(order), 2);
		ck_assert_str_eq(json_string_value(json_array_get(order, 0)),
				 "node001");
		ck_assert_str_eq(json_string_value(json_array_get(order, 1)),
				 neighbour[i]);
	}
	rig_end(&rig);
}

/* Each rail has switches of its own: who shares one is of that rail. */
START_TEST(a_node_hangs_at_another_leaf_on_each_rail)
{
	check_leaves(tell_ports);
	check_leaves(name_ports);
}
END_TEST

/* As a release before rails signed it. */
static void
forget_rails(struct rig *rig, const char *name, const char *kind, const char *digest)
{
	bu_autojson json_t *cert = cert_of(rig, digest), *envelope = NULL;
	bu_autofree char *canonical = NULL, *bytes = NULL, *text = NULL;
	char sig[BU_SIG_HEX_SIZE], own[BU_DIGEST_SIZE];

	json_object_del(cert, "rails");
	canonical = bu_json_canonical(cert);
	bytes = bu_xasprintf("bringup fabcert 1\n%s", canonical);
	ck_assert_int_eq(
		bu_sign(bu_trust_sign_key(rig->trust), bytes, strlen(bytes), sig, NULL),
		0);
	envelope = json_pack("{s:O,s:s}", "cert", cert, "sig", sig);
	text = bu_json_canonical(envelope);
	ck_assert_int_eq(bu_store_put_blob(rig->store, text, own, NULL), 0);
	put_event(rig, BU_EVENT_CERTIFICATE, name,
		  json_pack("{s:s,s:s}", "kind", kind, "digest", own));
}

/* The one that it measured may be any of them. */
START_TEST(a_certificate_without_rails_is_of_an_only_rail)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;
	struct bu_err err;

	begin_rails(&rig, 2, 1);
	measure(&rig, &links, 2, 30);
	node = rig_node(&rig, 1);
	forget_rails(&rig, node->name, "full", node->full_cert);
	forget_rails(&rig, node->name, "boot", node->boot_cert);
	rig_pass(&rig, 1);
	ck_assert_msg(bu_fleet_certified(rig.fleet, node, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(bu_fleet_proven_rails(rig.fleet, node), 1);
	rig_give_rails(&rig, 2, 2);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, &err), -1);
	ck_assert_uint_eq(bu_fleet_proven_rails(rig.fleet, node), 0);
	rig_end(&rig);
}
END_TEST

/* Who waits is told what to type, and that it helps. */
START_TEST(a_new_rail_of_a_pool_in_service_says_how_to_begin)
{
	struct rig rig;
	struct links links = good_links();

	begin_rails(&rig, 3, 1);
	links.silent[3] = 1;
	measure(&rig, &links, 2, 30);
	links.silent[3] = 0;
	rig_give_rails(&rig, 3, 2);
	measure(&rig, &links, 3, 10);
	ck_assert_int_eq(rig_node(&rig, 3)->state, BU_STATE_VALIDATING);
	rig_reason_is(rig_node(&rig, 3)->live.wait_reason, RAIL_UNPROVEN);
	ck_assert_str_eq(bu_reason_arg(rig_node(&rig, 3)->live.wait_reason, "rail"),
			 "rail1");
	rig_reason_has(rig_node(&rig, 3)->live.wait_reason, "no partner: 2 nodes");
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
	struct bu_shown_pairs shown; /* as the command line reads it */

	ck_assert_int_eq(bu_json_bool(run, "done", 0), 1);
	ck_assert_msg(bu_record_from_json(bu_shown_pairs_fields, run, &shown, &err) ==
			      0,
		      "%s", err.text);
	ck_assert_uint_eq(shown.pairs_count, 2);
	ck_assert_str_eq(shown.pairs[0].rail, "fabric");
	ck_assert_str_eq(shown.pairs[0].verdict, "pass");
	ck_assert_str_eq(shown.pairs[1].rail, "rail1");
	ck_assert_str_eq(shown.pairs[1].verdict, "fail");
	bu_record_fini(bu_shown_pairs_fields, &shown);
	rig_end(&rig);
}
END_TEST

/* Both give a result without a figure of the second rail; at: "b", NULL = unknown. */
static void
answer_without_second(struct rig *rig, const struct links *links, const char *at)
{
	check_all(rig, 2);
	rig_pass(rig, 2001);
	for (int i = 1; i <= 2; i++) {
		bu_autojson json_t *item = bu_gate_work(rig->gate, rig_node(rig, i));
		bu_autojson json_t *result = result_of(links, item);
		json_t *second = json_array_get(json_object_get(result, "rails"), 1);

		ck_assert_uint_eq(json_array_size(json_object_get(item, "rails")), 2);
		for (int dir = 0; dir < 2; dir++)
			json_object_set_new(
				json_object_get(second, dir ? "b_to_a" : "a_to_b"),
				"bw_gbps", json_array());
		json_object_set_new(second, "error",
				    json_pack("{s:s,s:s,s:s*}", "kind", "io", "text",
					      "no port", "at", at));
		bu_gate_result(rig->gate, rig_node(rig, i), bu_json_str(item, "id", ""),
			       result, NULL);
	}
	rig_pass(rig, 100);
}

/* One rail of two says nothing, at one end or at one that nobody knows: the other
 * rail's figures count, and the error names the end that is known. */
START_TEST(a_rail_that_fails_costs_the_other_nothing)
{
	static const struct {
		const char *at, *says;
	} rows[] = {{"b", "node002: no port"}, {NULL, "no port"}};
	struct links links = good_links();

	for (size_t row = 0; row < BU_LEN(rows); row++) {
		struct rig rig;

		begin_rails(&rig, 2, 2);
		answer_without_second(&rig, &links, rows[row].at);
		int first =
			bu_measurements_find(rig.fleet, "node001", "node002", "fabric");
		int second =
			bu_measurements_find(rig.fleet, "node001", "node002", "rail1");

		ck_assert_int_ge(first, 0);
		ck_assert_int_ge(second, 0);
		ck_assert_uint_eq(rig.fleet->measurements.logs[first].count, 1);
		ck_assert_int_eq(rig.fleet->measurements.logs[first].errors, 0);
		ck_assert_uint_eq(rig.fleet->measurements.logs[second].count, 0);
		ck_assert_int_eq(rig.fleet->measurements.logs[second].errors, 1);
		ck_assert_str_eq(rig.fleet->measurements.logs[second].last.error,
				 rows[row].says);
		rig_end(&rig);
	}
}
END_TEST

/* What the link wants is sent. */
START_TEST(agents_are_told_the_depth)
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

/* The item of the first probe that node 1 is given. */
static json_t *
first_probe(struct rig *rig, struct links *links)
{
	check_all(rig, 2);
	for (int second = 0; second < 10; second++) {
		json_t *item = bu_gate_work(rig->gate, rig_node(rig, 1));

		if (strcmp(bu_json_str(item, "kind", ""), "probe") == 0)
			return item;
		json_decref(item);
		measure(rig, links, 0, 1);
	}
	ck_abort_msg("node 1 was given no probe");
	return NULL;
}

/* Partition and service level of the profile are those of the agent's item; without
 * them it has the port's first partition. */
START_TEST(a_probe_goes_in_the_profiles_partition)
{
	static const struct {
		const char *lines;
		int pkey, sl;
	} rows[] = {
		{"rdma = hardware\npkey = 0x8011\nsl = 3\n", 0x8011, 3},
		{"rdma = hardware\npkeys = 0xffff, 0x8011\npkey = 0x0011\n", 0x11, 0},
		{"rdma = rxe\npkey = 0xffff\nsl = 1\n", 0xffff, 1},
		{"rdma = rxe\n", -1, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct links links = good_links();
		struct bu_work_probe work;
		struct bu_err err;

		rig_begin(&rig, 2);
		rig_open_gate(&rig);
		rig_apply(&rig, 2, BU_CLASS_INSTALL, "d-port", "rdma = rxe\n",
			  rows[i].lines);
		for (int k = 1; k <= 2; k++)
			rig_to_validating(&rig, k);
		bu_autojson json_t *item = first_probe(&rig, &links);

		ck_assert_msg(bu_work_probe_from_json(item, &work, &err) == 0, "%s",
			      err.text);
		ck_assert_int_eq(work.rails[0].pkey, rows[i].pkey);
		ck_assert_int_eq(work.rails[0].sl, rows[i].sl);
		rig_end(&rig);
	}
}
END_TEST

/* A port is told by the name that the profile gives it, with an address where it has
 * one; InfiniBand has none. */
START_TEST(a_port_is_told_by_its_name)
{
	static const char from[] = "cidr = 10.78.0.0/24\n"
				   "addresses = 10.78.0.[11-18]\n"
				   "nic = 1\nrdma = rxe\n";
	static const struct {
		const char *lines, *port, *address;
	} rows[] = {
		{"port = mlx5_3/1\nrdma = hardware\n", "mlx5_3/1", ""},
		{"port = ib0\nrdma = hardware\n", "ib0", ""},
		{"port = 0000:18:00.0\nrdma = hardware\ncidr = 10.78.0.0/24\n"
		 "addresses = 10.78.0.[11-18]\n",
		 "0000:18:00.0", "10.78.0.11"},
		{"pci = 0000:18:00.0\nrdma = hardware\ncidr = 10.78.0.0/24\n"
		 "addresses = 10.78.0.[11-18]\n",
		 "0000:18:00.0", "10.78.0.11"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct links links = good_links();
		struct bu_work_probe work;
		struct bu_err err;

		rig_begin(&rig, 2);
		rig_open_gate(&rig);
		rig_apply(&rig, 2, BU_CLASS_INSTALL, "d-port", from, rows[i].lines);
		for (int k = 1; k <= 2; k++)
			rig_to_validating(&rig, k);
		bu_autojson json_t *item = first_probe(&rig, &links);

		ck_assert_msg(bu_work_probe_from_json(item, &work, &err) == 0, "%s",
			      err.text);
		ck_assert_str_eq(work.rails[0].port, rows[i].port);
		ck_assert_str_eq(work.rails[0].address, rows[i].address);
		rig_end(&rig);
	}
}
END_TEST

RIG_UNIT("rails", a_port_is_told_by_its_name, nobody_waits_for_a_rail_that_is_no_more,
	 a_probe_goes_in_the_profiles_partition, agents_are_told_the_depth,
	 a_new_rail_of_a_pool_in_service_says_how_to_begin,
	 a_node_hangs_at_another_leaf_on_each_rail,
	 a_certificate_without_rails_is_of_an_only_rail,
	 a_rail_that_fails_costs_the_other_nothing,
	 a_certificate_has_the_figures_of_all_rails, a_certificate_says_nothing_twice,
	 a_fault_of_the_second_rail_alone_names_it, a_wait_says_which_rail,
	 a_new_rail_makes_a_certificate_too_little, a_run_measures_each_rail)
