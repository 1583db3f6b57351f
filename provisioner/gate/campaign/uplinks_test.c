/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of one rail from leaf to leaf: inside its leaf each node is good, and
 * certified; what is asked for besides, what stands accused, and that it delays nobody.
 */
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "tests/support/leaf_campaign.h"

enum { LEAVES = 3, EACH = 2, NODES = LEAVES * EACH };

/* So many nodes at each leaf, as the profile says. */
static void
cable(struct rig *rig, struct paths *paths, int each)
{
	struct bu_desired *desired = rig->fleet->desired;

	for (int i = 1; i <= NODES; i++) {
		int leaf = (i - 1) / each + 1;

		paths->leaf[i] = leaf;
		free(desired->nodes[i - 1].switch_ports);
		desired->nodes[i - 1].switch_ports = bu_xasprintf(
			"fabric=leaf0%d:p%d,rail1=leaf1%d:p%d", leaf, i, leaf, i);
	}
}

static void
begin_leaves(struct rig *rig, struct paths *paths, int rails, int each)
{
	begin_fabric(rig, NODES, rails, NULL);
	cable(rig, paths, each);
}

/* One rail, over which all of them have joined after so many seconds. */
static void
begin_joined(struct rig *rig, struct paths *paths, int seconds)
{
	begin_leaves(rig, paths, 1, EACH);
	pass(rig, paths, NODES, seconds);
	all_join(rig, NODES);
}

/* No other pair of them uses an uplink: each leaf is tested with each other one. */
START_TEST(leaves_of_a_rail_are_tested_with_each_other)
{
	struct paths paths = {.slow = 0};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_joined(&rig, &paths, 60);
	ck_assert_int_ge(paths.between, LEAVES);
	ck_assert_int_le(paths.between, 2 * LEAVES);
	ck_assert_int_eq(paths.across, 0);
	ck_assert_int_eq(bu_leaf_campaign_goes_on(rig.gate),
			 0); /* not for its whole time */
	warnings = warnings_of(&rig);
	ck_assert_str_eq(warnings, "");
	end_fabric(&rig, &paths);
}
END_TEST

START_TEST(one_leaf_has_no_such_tests)
{
	struct paths paths = {.slow = 0};
	struct rig rig;

	begin_leaves(&rig, &paths, 1, NODES);
	pass(&rig, &paths, NODES, 30);
	all_join(&rig, NODES);
	ck_assert_int_eq(paths.between, 0);
	end_fabric(&rig, &paths);
}
END_TEST

/* The slow uplinks of one of three leaves: nobody stays out for them. */
START_TEST(slow_uplinks_are_named_and_no_node)
{
	for (int rails = 1; rails <= 2; rails++) {
		struct paths paths = {.uplink = 2};
		bu_autofree char *warnings = NULL, *again = NULL;
		bu_autojson json_t *own = NULL, *others = NULL;
		struct rig rig;

		begin_leaves(&rig, &paths, rails, EACH);
		pass(&rig, &paths, NODES, 240);
		all_join(&rig, NODES);
		ck_assert_int_eq(events_of(&rig, BU_EVENT_EVIDENCE), 0);
		warnings = warnings_of(&rig);
		says(warnings, "rail fabric: pairs between its leaves accuse the "
			       "uplinks of leaf02 (rail fabric): slow");
		says(warnings, "5.00 Mbit/s");
		ck_assert_ptr_null(strstr(warnings, "leaf01"));
		ck_assert_ptr_null(strstr(warnings, "leaf03"));
		if (rails == 2)
			says(warnings, "the uplinks of leaf12 (rail rail1)");
		own = bu_gate_remarks(rig.gate, rig_node(&rig, EACH + 1));
		ck_assert_uint_eq(json_array_size(own), (size_t)rails);
		others = bu_gate_remarks(rig.gate, rig_node(&rig, 1));
		ck_assert_uint_eq(json_array_size(others), 0);
		/* The log is its only memory. */
		rig_restart(&rig);
		cable(&rig, &paths, EACH);
		rig_pass(&rig, 5000);
		again = warnings_of(&rig);
		says(again, "accuse the uplinks of ");
		end_fabric(&rig, &paths);
	}
}
END_TEST

/* bringup fabric run, when what was bad is mended. */
static void
run_all(struct rig *rig, struct paths *paths)
{
	struct bu_node *nodes[NODES];

	for (int i = 0; i < NODES; i++)
		nodes[i] = rig_node(rig, i + 1);
	ck_assert_ptr_nonnull(bu_gate_run(rig->gate, nodes, NODES, NULL));
	pass(rig, paths, NODES, 120);
}

START_TEST(a_run_clears_what_was_mended)
{
	struct paths paths = {.uplink = 2};
	bu_autofree char *before = NULL, *after = NULL;
	struct rig rig;

	begin_joined(&rig, &paths, 240);
	before = warnings_of(&rig);
	says(before, "accuse the uplinks of leaf02 (rail fabric): slow");
	paths.uplink = 0;
	run_all(&rig, &paths);
	after = warnings_of(&rig);
	ck_assert_str_eq(after, "");
	end_fabric(&rig, &paths);
}
END_TEST

/* All restart when their uplinks are mended: what was bad before asks for nothing more.
 */
START_TEST(results_of_earlier_boots_do_not_count)
{
	struct paths paths = {.uplink = 2};
	bu_autofree char *after = NULL;
	struct rig rig;
	int before;

	begin_leaves(&rig, &paths, 1, EACH);
	pass(&rig, &paths, NODES, 240);
	for (int i = 1; i <= NODES; i++) {
		bu_autofree char *boot = bu_xasprintf("again-%d", i);

		rig_come_up(&rig, i, boot);
	}
	paths.uplink = 0;
	before = paths.between;
	pass(&rig, &paths, NODES, 240);
	all_join(&rig, NODES);
	after = warnings_of(&rig);
	ck_assert_str_eq(after, "");
	ck_assert_int_ge(paths.between - before, LEAVES);
	ck_assert_int_le(paths.between - before, 2 * LEAVES);
	end_fabric(&rig, &paths);
}
END_TEST

/* Its uplinks or the port of the only node that answers: either way it is said. */
START_TEST(a_bad_leaf_of_one_node_is_named)
{
	struct paths paths = {.uplink = 2, .mute_node = "node003"};
	bu_autofree char *warnings = NULL, *after = NULL;
	struct rig rig;

	begin_leaves(&rig, &paths, 1, EACH);
	pass(&rig, &paths, NODES, 400);
	warnings = warnings_of(&rig);
	says(warnings, "rail fabric: no pair of leaf leaf02 (rail fabric) with another "
		       "leaf was good: ");
	ck_assert_ptr_null(strstr(warnings, "leaf01"));
	paths.uplink = 0;
	paths.mute_node = NULL;
	run_all(&rig, &paths);
	after = warnings_of(&rig);
	ck_assert_str_eq(after, "");
	end_fabric(&rig, &paths);
}
END_TEST

/* Alone at its leaf: its port or its uplinks, and either way no other node is meant. */
START_TEST(a_node_that_is_bad_alone_at_its_leaf_is_quarantined)
{
	struct paths paths = {.uplink = 2};
	struct rig rig;

	begin_leaves(&rig, &paths, 1, NODES - 1);
	pass(&rig, &paths, NODES, 400);
	ck_assert_str_eq(bu_state_name(rig_node(&rig, NODES)->state), "quarantined");
	for (int i = 1; i < NODES; i++)
		ck_assert_str_eq(bu_state_name(rig_node(&rig, i)->state), "joining");
	end_fabric(&rig, &paths);
}
END_TEST

/* One flow takes one cable, and may be slower than its port: several are one test. */
START_TEST(several_queue_pairs_fill_a_bundle_of_cables)
{
	struct paths paths = {.thin = 1};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_joined(&rig, &paths, 120);
	ck_assert_int_ge(paths.between, LEAVES);
	warnings = warnings_of(&rig);
	ck_assert_str_eq(warnings, "");
	end_fabric(&rig, &paths);
}
END_TEST

/* Switches choose cables by these: what is tested again goes over others. */
START_TEST(each_test_of_a_pair_has_source_ports_of_its_own)
{
	struct paths paths = {.uplink = 2};
	const char *key, *last;
	json_t *probes;
	struct rig rig;
	int again = 0;

	begin_leaves(&rig, &paths, 1, EACH);
	/* Also one that gave nothing, before the others. */
	paths.mute = 1;
	pass(&rig, &paths, NODES, 40);
	paths.mute = 0;
	pass(&rig, &paths, NODES, 240);
	all_join(&rig, NODES);
	json_object_foreach (paths.sports, key, probes) {
		ck_assert_msg(json_object_size(probes) == 1, "%s", key);
		last = strrchr(key, ' ');
		again += strcmp(last, " 49152") != 0;
	}
	ck_assert_int_gt(again, 0);
	end_fabric(&rig, &paths);
}
END_TEST

/* What is good comes first: nobody answers for one of these, and nobody waits. */
START_TEST(no_certificate_waits_for_them)
{
	struct paths paths = {.mute = 1};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_joined(&rig, &paths, 20);
	pass(&rig, &paths, NODES, 190);
	warnings = warnings_of(&rig);
	ck_assert_str_eq(warnings, "");
	end_fabric(&rig, &paths);
}
END_TEST

/* Of certified nodes they are asked for a quarter of an hour long. */
START_TEST(what_is_bad_is_told_when_they_have_joined)
{
	struct paths paths = {.uplink = 2, .pause_s = 20};
	bu_autofree char *before = NULL, *after = NULL;
	struct rig rig;
	int asked;

	begin_joined(&rig, &paths, 20);
	before = warnings_of(&rig);
	ck_assert_str_eq(before, "");
	pass(&rig, &paths, NODES, 900);
	after = warnings_of(&rig);
	says(after, "accuse the uplinks of leaf02 (rail fabric): slow");
	asked = paths.between;
	pass(&rig, &paths, NODES, 300);
	ck_assert_int_eq(paths.between, asked);
	end_fabric(&rig, &paths);
}
END_TEST

/* One that comes later finds its leaf tested: nothing is asked for again. */
START_TEST(a_leaf_is_not_tested_again_for_one_node)
{
	struct paths paths = {.slow = 0};
	struct rig rig;
	int before;

	begin_leaves(&rig, &paths, 1, EACH);
	pass(&rig, &paths, NODES - 1, 60);
	all_join(&rig, NODES - 1);
	before = paths.between;
	ck_assert_int_gt(before, 0);
	pass(&rig, &paths, NODES, 60);
	all_join(&rig, NODES);
	ck_assert_int_le(paths.between, before + 2);
	end_fabric(&rig, &paths);
}
END_TEST

/* Of its boot before nothing counts, and what serves is not asked again for that. */
START_TEST(what_was_started_anew_is_not_asked_for)
{
	struct paths paths = {.slow = 0, .pause_s = 20};
	struct rig rig;
	int before;

	begin_joined(&rig, &paths, 20);
	ck_assert_int_eq(bu_leaf_campaign_goes_on(rig.gate), 1);
	for (int i = 1; i <= NODES; i++)
		bu_node_set_boot_id(rig_node(&rig, i), "anew");
	pass(&rig, &paths, NODES, 5);
	before = paths.between;
	pass(&rig, &paths, NODES, 120);
	ck_assert_int_eq(paths.between, before);
	end_fabric(&rig, &paths);
}
END_TEST

/* After a start a node may be proven by the log before its rail was looked at. */
START_TEST(leaves_that_are_not_known_yet_may_be_several)
{
	struct paths paths = {.slow = 0};
	struct bu_node *node;
	struct rig rig;

	begin_joined(&rig, &paths, 60);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->live.leaf_campaign.late, 0);
	bu_gate_shapes_drop(rig.gate);
	node->live.leaf_campaign.state_seq = -1;
	ck_assert_int_eq(bu_leaf_campaign_holds(rig.gate, node), 0);
	ck_assert_int_eq(node->live.leaf_campaign.late, 1);
	end_fabric(&rig, &paths);
}
END_TEST

START_TEST(a_good_result_clears_its_leaf)
{
	struct paths paths = {.slow = 0};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_joined(&rig, &paths, 60);
	give_accusation(&rig, "rail fabric", "leaf02");
	look_now(&rig);
	warnings = warnings_of(&rig);
	ck_assert_str_eq(warnings, "");
	end_fabric(&rig, &paths);
}
END_TEST

RIG_UNIT("uplinks", a_good_result_clears_its_leaf,
	 what_was_started_anew_is_not_asked_for,
	 leaves_that_are_not_known_yet_may_be_several,
	 leaves_of_a_rail_are_tested_with_each_other, one_leaf_has_no_such_tests,
	 several_queue_pairs_fill_a_bundle_of_cables,
	 each_test_of_a_pair_has_source_ports_of_its_own,
	 slow_uplinks_are_named_and_no_node, a_bad_leaf_of_one_node_is_named,
	 a_node_that_is_bad_alone_at_its_leaf_is_quarantined,
	 a_run_clears_what_was_mended, results_of_earlier_boots_do_not_count,
	 no_certificate_waits_for_them, what_is_bad_is_told_when_they_have_joined,
	 a_leaf_is_not_tested_again_for_one_node)
