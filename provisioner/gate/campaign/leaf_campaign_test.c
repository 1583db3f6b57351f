/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs across the rails of one switch fabric: what is asked for, what its ends are
 * told, what stands accused, and whom it delays. */
#include "fabric/judge/fabcert.h"
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "tests/support/leaf_campaign.h"

/* The log has what was measured, and nothing else across: the network of each end in
 * the order of the nodes. */
static void
check_log(const struct rig *rig, const struct paths *paths)
{
	size_t logs = 0, asked = 0;
	const char *key;
	json_t *times;

	json_object_foreach (paths->asked, key, times) {
		char a[64], b[64], own[64], other[64];
		bu_autofree char *rail = NULL;

		if (sscanf(key, "%63s %63s %63s %63s", a, own, b, other) != 4)
			continue;
		rail = bu_xasprintf("%s/%s", own, other);
		ck_assert_msg(bu_measurements_find(rig->fleet, a, b, rail) >= 0, "%s",
			      key);
		asked++;
	}
	for (size_t i = 0; i < rig->fleet->measurements.count; i++)
		logs += strchr(rig->fleet->measurements.logs[i].rail, '/') != NULL;
	ck_assert_uint_eq(logs, asked);
}

/* Each two rails, each leaf four times at least, and few of them in all. */
START_TEST(each_two_leaves_of_a_group_meet)
{
	static const char *const names[RAILS] = {"fabric", "rail1", "rail2", "rail3"};
	struct paths paths = {.slow = 0};
	int of_leaf[RAILS] = {0};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_fabric(&rig, 6, RAILS, same);
	pass(&rig, &paths, 6, 240);
	all_join(&rig, 6);
	for (int x = 0; x < RAILS; x++) {
		for (int y = 0; y < RAILS; y++) {
			bu_autofree char *key =
				bu_xasprintf("%s %s", names[x], names[y]);
			bu_autofree char *turned =
				bu_xasprintf("%s %s", names[y], names[x]);
			int met = (int)(bu_json_int(paths.asked, key, 0) +
					bu_json_int(paths.asked, turned, 0));

			ck_assert_msg(x == y || met > 0, "%s", key);
			of_leaf[x] += x == y ? 0 : met;
		}
		ck_assert_int_ge(of_leaf[x], 4);
	}
	ck_assert_int_le(paths.across, 40);
	check_log(&rig, &paths);
	warnings = warnings_of(&rig);
	ck_assert_ptr_null(strstr(warnings, "switch fabric"));
	end_fabric(&rig, &paths);
}
END_TEST

START_TEST(networks_are_apart_unless_the_profile_says_so)
{
	struct paths paths = {.slow = 1};
	struct rig rig;

	begin_fabric(&rig, 6, RAILS, NULL);
	pass(&rig, &paths, 6, 60);
	all_join(&rig, 6);
	ck_assert_int_eq(paths.across, 0);
	for (size_t i = 0; i < rig.fleet->measurements.count; i++)
		ck_assert_ptr_null(strchr(rig.fleet->measurements.logs[i].rail, '/'));
	end_fabric(&rig, &paths);
}
END_TEST

/* Two of them are of one fabric, the others are none of it. */
START_TEST(only_rails_of_the_same_fabric_meet)
{
	static const char *const more[RAILS] = {"", SAME, "", SAME};
	struct paths paths = {.slow = 0};
	struct rig rig;

	begin_fabric(&rig, 4, RAILS, more);
	pass(&rig, &paths, 4, 240);
	all_join(&rig, 4);
	ck_assert_int_gt(paths.across, 0);
	ck_assert_int_eq(bu_json_int(paths.asked, "rail1 rail3", 0) +
				 bu_json_int(paths.asked, "rail3 rail1", 0),
			 paths.across);
	end_fabric(&rig, &paths);
}
END_TEST

/* The first pair across of nodes 1 and 2, which have nothing else to do. */
static void
first_across(struct rig *rig, struct paths *paths, json_t *ret[2])
{
	paths->mute = 1;
	for (int second = 0; second < 60; second++) {
		ret[0] = bu_gate_work(rig->gate, rig_node(rig, 1));
		ret[1] = bu_gate_work(rig->gate, rig_node(rig, 2));
		if (ret[0] && ret[1] &&
		    strcmp(bu_json_str(ret[0], "kind", ""), "probe") == 0 &&
		    strcmp(bu_json_str(ret[1], "kind", ""), "probe") == 0 &&
		    is_across((const json_t *const[]){ret[0], ret[1]}))
			return;
		json_decref(ret[0]);
		json_decref(ret[1]);
		pass(rig, paths, 2, 1);
	}
	ck_abort_msg("no pair across");
}

/* Both ends: their own port with its address, GID, class and level; the same terms. */
START_TEST(each_end_is_told_its_own_port)
{
	static const char *const more[2] = {
		SAME "pkey = 0xffff\ngid_index = 3\nsl = 1\n",
		SAME "pkey = 0xffff\ngid_index = 5\nsl = 2\nlink_gbps = 0.04\n"};
	struct paths paths = {.fast = 1};
	bu_autofree char *warnings = NULL;
	json_t *items[2];
	struct rig rig;
	int seen = 0;

	begin_fabric(&rig, 2, 2, more);
	first_across(&rig, &paths, items);
	for (int i = 0; i < 2; i++) {
		const json_t *list = json_object_get(items[i], "rails");
		const json_t *rail = json_array_get(list, 0);
		int second = strcmp(rail_of(items[i], 0), "rail1") == 0;
		bu_autofree char *address =
			bu_xasprintf("10.%d.0.%d", 78 + second, 11 + i);

		ck_assert_uint_eq(json_array_size(list), 1);
		check_end(items[i], 0);
		ck_assert_str_eq(bu_json_str(rail, "address", ""), address);
		ck_assert_int_eq(bu_json_int(rail, "gid_index", -1), second ? 5 : 3);
		ck_assert_int_eq(bu_json_int(rail, "sl", -1), second ? 2 : 1);
		ck_assert_int_eq(bu_json_int(rail, "pkey", -1), 0xffff);
		/* 80 % of the slower link. */
		ck_assert_double_eq_tol(
			json_number_value(json_object_get(rail, "min_gbps")), 0.016,
			1e-9);
		seen |= 1 << second;
	}
	ck_assert_int_eq(seen, 3);
	ck_assert_str_eq(bu_json_str(items[0], "id", ""),
			 bu_json_str(items[1], "id", "?"));
	paths.mute = 0;
	pass(&rig, &paths, 2, 2);
	json_decref(items[0]);
	json_decref(items[1]);
	/* What the slower link carries is all of it. */
	pass(&rig, &paths, 2, 60);
	all_join(&rig, 2);
	warnings = warnings_of(&rig);
	ck_assert_ptr_null(strstr(warnings, "switch fabric"));
	end_fabric(&rig, &paths);
}
END_TEST

/* Inside each rail all is good: without these pairs nobody would know. */
START_TEST(a_bad_spine_is_accused_and_no_node)
{
	struct paths paths = {.slow = 1};
	bu_autofree char *warnings = NULL, *again = NULL;
	struct rig rig;

	begin_fabric(&rig, 6, RAILS, same);
	pass(&rig, &paths, 6, 300);
	all_join(&rig, 6);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_EVIDENCE), 0);
	warnings = warnings_of(&rig);
	says(warnings, "switch fabric c: pairs across its rails accuse the spines: ");
	says(warnings, "5.00 Mbit/s");
	/* The log is its only memory. */
	rig_restart(&rig);
	rig_pass(&rig, 5000);
	again = warnings_of(&rig);
	says(again, "accuse the spines: ");
	end_fabric(&rig, &paths);
}
END_TEST

/* The links of one leaf one way; its nodes hear of it, and are certified. */
START_TEST(uplinks_are_named_with_leaf_and_rail)
{
	struct paths paths = {.up = "rail2"};
	bu_autofree char *warnings = NULL;
	bu_autojson json_t *remarks = NULL;
	struct rig rig;

	begin_fabric(&rig, 6, RAILS, same);
	pass(&rig, &paths, 6, 300);
	all_join(&rig, 6);
	warnings = warnings_of(&rig);
	says(warnings, "accuse the uplinks of ");
	says(warnings, " of rail rail2, to the spines: slow");
	ck_assert_ptr_null(strstr(warnings, "rail1"));
	ck_assert_ptr_null(strstr(warnings, "fabric)"));
	remarks = bu_gate_remarks(rig.gate, rig_node(&rig, 3));
	ck_assert_uint_eq(json_array_size(remarks), 1);
	says(rig_sentence(json_array_get(remarks, 0)), "of rail rail2");
	end_fabric(&rig, &paths);
}
END_TEST

/* No routes between the rails: all is certified, and it says where to look. */
START_TEST(where_nothing_arrives_routes_are_the_first_hint)
{
	struct paths paths = {.dead = 1};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_fabric(&rig, 6, RAILS, same);
	pass(&rig, &paths, 6, 300);
	all_join(&rig, 6);
	warnings = warnings_of(&rig);
	says(warnings, "accuse the spines: nothing arrives");
	says(warnings, "look first whether the rails are routed to each other");
	end_fabric(&rig, &paths);
}
END_TEST

/* What gives no result, and who does not answer for it, delays nobody for long. */
START_TEST(no_certificate_depends_on_them)
{
	for (int mute = 0; mute < 2; mute++) {
		struct paths paths = {.broken = !mute, .mute = mute};
		bu_autofree char *warnings = NULL;
		struct rig rig;

		begin_fabric(&rig, 4, 2, same);
		pass(&rig, &paths, 4, 30);
		if (mute) {
			ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_VALIDATING);
			rig_reason_is(rig_node(&rig, 1)->live.wait_reason,
				      TESTED_ACROSS);
		}
		pass(&rig, &paths, 4, 190);
		all_join(&rig, 4);
		for (size_t i = 0; i < rig.fleet->measurements.count; i++)
			ck_assert_int_le(rig.fleet->measurements.logs[i].errors, 3);
		warnings = warnings_of(&rig);
		ck_assert_ptr_null(strstr(warnings, "accuse"));
		says(warnings, "of rail fabric was not tested across rails");
		says(warnings, "of rail rail1 was not tested across rails");
		end_fabric(&rig, &paths);
	}
}
END_TEST

/* Two nodes of which each pair takes long: they join, and what is bad is named later.
 */
START_TEST(what_takes_long_is_told_when_they_have_joined)
{
	struct paths paths = {.down = "rail2", .pause_s = 40};
	bu_autofree char *before = NULL, *after = NULL;
	struct rig rig;
	int asked;

	begin_fabric(&rig, 2, 3, same);
	pass(&rig, &paths, 2, 230);
	all_join(&rig, 2);
	before = warnings_of(&rig);
	ck_assert_ptr_null(strstr(before, "switch fabric"));
	pass(&rig, &paths, 2, 600);
	after = warnings_of(&rig);
	says(after, "accuse the uplinks of ");
	says(after, " of rail rail2, from the spines: slow");
	asked = paths.across;
	pass(&rig, &paths, 2, 300);
	ck_assert_int_eq(paths.across, asked);
	end_fabric(&rig, &paths);
}
END_TEST

/* Also where its fabric is gone, and nobody ends it. */
START_TEST(what_is_late_is_looked_at_for_a_quarter_of_an_hour)
{
	struct paths paths = {.slow = 0};
	struct bu_node *node;
	struct rig rig;

	begin_fabric(&rig, 2, 2, NULL);
	pass(&rig, &paths, 2, 60);
	all_join(&rig, 2);
	node = rig_node(&rig, 1);
	node->live.leaf_campaign.late = 1;
	node->live.leaf_campaign.since_ms = bu_loop_now_ms(rig.fleet->loop);
	pass(&rig, &paths, 2, 880);
	ck_assert_int_eq(bu_leaf_campaign_goes_on(rig.gate), 1);
	pass(&rig, &paths, 2, 40);
	ck_assert_int_eq(bu_leaf_campaign_goes_on(rig.gate), 0);
	end_fabric(&rig, &paths);
}
END_TEST

/* One that answers for none of its pairs across: all leaves are tested by the others.
 */
START_TEST(a_mute_partner_keeps_no_leaf_from_its_tests)
{
	struct paths paths = {.mute_node = "node003", .up = "rail2"};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_fabric(&rig, 6, RAILS, same);
	pass(&rig, &paths, 6, 400);
	all_join(&rig, 6);
	warnings = warnings_of(&rig);
	says(warnings, " of rail rail2, to the spines: slow");
	ck_assert_ptr_null(strstr(warnings, "not tested"));
	end_fabric(&rig, &paths);
}
END_TEST

/* Each rail at the switch that the profile names. */
static void
cable(const struct rig *rig, const char *ports)
{
	struct bu_desired *desired = rig->fleet->desired;

	for (size_t i = 0; i < desired->nodes_count; i++) {
		free(desired->nodes[i].switch_ports);
		desired->nodes[i].switch_ports = bu_xstrdup(ports);
	}
}

static void
rename_fabric(struct rig *rig, const char *name)
{
	struct bu_desired *desired = rig->fleet->desired;

	for (size_t i = 0; i < desired->networks_count; i++) {
		free(desired->networks[i].switch_fabric);
		desired->networks[i].switch_fabric = bu_xstrdup(name);
	}
}

/* It goes with its fabric, and with a good result for its part. */
START_TEST(an_accusation_goes_when_it_is_over)
{
	struct paths paths = {.slow = 0};
	struct rig rig;
	bu_autofree char *cleared = NULL, *kept = NULL, *gone = NULL;

	begin_fabric(&rig, 4, 2, same);
	cable(&rig, "fabric=leaf01:p1,rail1=leaf11:p1");
	pass(&rig, &paths, 4, 200);
	all_join(&rig, 4);
	give_accusation(&rig, "c", "leaf01");
	give_accusation(&rig, "left", "leaf01");
	look_now(&rig);
	cleared = warnings_of(&rig);
	ck_assert_ptr_null(strstr(cleared, "of before"));
	/* Nothing is known of these boots, and nobody may be asked. */
	for (size_t i = 0; i < rig.fleet->measurements.count; i++)
		rig.fleet->measurements.logs[i].count = 0;
	give_accusation(&rig, "c", "leaf01");
	look_now(&rig);
	kept = warnings_of(&rig);
	says(kept, "of before");
	rename_fabric(&rig, "d");
	bu_gate_kick(rig.gate);
	rig_pass(&rig, 2000);
	gone = warnings_of(&rig);
	ck_assert_ptr_null(strstr(gone, "of before"));
	end_fabric(&rig, &paths);
}
END_TEST

/* What it accuses tells them apart, not how that is said. */
START_TEST(an_accusation_in_other_words_is_the_same)
{
	struct paths paths = {.slow = 1};
	bu_autofree char *warnings = NULL;
	json_t *entry;
	struct rig rig;

	begin_fabric(&rig, 4, 2, same);
	cable(&rig, "fabric=leaf01:p1,rail1=leaf11:p1");
	pass(&rig, &paths, 4, 300);
	all_join(&rig, 4);
	entry = json_array_get(json_object_get(rig.gate->leaf_accused, "c"), 0);
	json_object_set_new(entry, "part", json_string("in other words"));
	json_object_set_new(entry, "said", json_string("in other words"));
	look_now(&rig);
	warnings = warnings_of(&rig);
	says(warnings, "accuse the uplinks of leaf01 ");
	ck_assert_ptr_null(strstr(warnings, "in other words"));
	end_fabric(&rig, &paths);
}
END_TEST

/* It has the results of its rails alone, and is judged again by these. */
START_TEST(a_certificate_has_none_of_them)
{
	struct paths paths = {.slow = 1};
	struct rig rig;

	begin_fabric(&rig, 4, 2, same);
	pass(&rig, &paths, 4, 300);
	all_join(&rig, 4);
	for (int i = 1; i <= 4; i++) {
		struct bu_err err;
		bu_autofree char *text = bu_fleet_certificate(
			rig.fleet, rig_node(&rig, i), BU_FABCERT_FULL, &err);
		bu_autojson json_t *cert = bu_fabcert_verify(
			text, strlen(text), rig.fleet->public_pem, &err);

		ck_assert_msg(cert != NULL, "%s", err.text);
		ck_assert_msg(bu_fabcert_replay(cert, &err) == 0, "%s", err.text);
		ck_assert_ptr_null(strstr(text, "fabric/rail1"));
		ck_assert_ptr_null(strstr(text, "rail1/fabric"));
	}
	end_fabric(&rig, &paths);
}
END_TEST

/* What is bad on its own rail is no partner across, and blames no uplink. */
START_TEST(a_bad_port_is_none_of_them)
{
	struct paths paths = {.sick = "node002 rail1"};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_fabric(&rig, 6, 2, same);
	pass(&rig, &paths, 6, 300);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_QUARANTINED);
	for (int i = 1; i <= 6; i++)
		ck_assert(i == 2 || rig_node(&rig, i)->state == BU_STATE_JOINING);
	ck_assert_int_gt(paths.across, 0);
	for (size_t i = 0; i < rig.fleet->measurements.count; i++) {
		const struct bu_pair_log *log = &rig.fleet->measurements.logs[i];

		ck_assert(!bu_rail_is_across(log->rail) ||
			  (strcmp(log->name[0], "node002") != 0 &&
			   strcmp(log->name[1], "node002") != 0));
	}
	warnings = warnings_of(&rig);
	ck_assert_ptr_null(strstr(warnings, "switch fabric"));
	end_fabric(&rig, &paths);
}
END_TEST

START_TEST(a_leaf_is_the_switch_that_is_known)
{
	struct paths paths = {.slow = 1};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_fabric(&rig, 4, 2, same);
	cable(&rig, "fabric=leaf01:p1,rail1=leaf11:p1");
	pass(&rig, &paths, 4, 300);
	all_join(&rig, 4);
	warnings = warnings_of(&rig);
	says(warnings, "the uplinks of leaf01 (rail fabric) or the uplinks of leaf11 "
		       "(rail rail1) or the spines: ");
	end_fabric(&rig, &paths);
}
END_TEST

/* One leaf for all rails: no spine is between them, and there is nothing to test. */
START_TEST(rails_of_one_leaf_are_not_tested_across)
{
	struct paths paths = {.slow = 1};
	struct rig rig;

	begin_fabric(&rig, 4, 2, same);
	cable(&rig, "fabric=leaf01:p1,rail1=leaf01:p2");
	pass(&rig, &paths, 4, 60);
	all_join(&rig, 4);
	ck_assert_int_eq(paths.across, 0);
	end_fabric(&rig, &paths);
}
END_TEST

RIG_UNIT("leaf_campaign", a_bad_port_is_none_of_them,
	 a_leaf_is_the_switch_that_is_known, rails_of_one_leaf_are_not_tested_across,
	 each_two_leaves_of_a_group_meet, networks_are_apart_unless_the_profile_says_so,
	 only_rails_of_the_same_fabric_meet, each_end_is_told_its_own_port,
	 a_bad_spine_is_accused_and_no_node, uplinks_are_named_with_leaf_and_rail,
	 where_nothing_arrives_routes_are_the_first_hint,
	 no_certificate_depends_on_them, what_takes_long_is_told_when_they_have_joined,
	 what_is_late_is_looked_at_for_a_quarter_of_an_hour,
	 a_mute_partner_keeps_no_leaf_from_its_tests,
	 an_accusation_goes_when_it_is_over, an_accusation_in_other_words_is_the_same,
	 a_certificate_has_none_of_them)
