/* SPDX-License-Identifier: Apache-2.0 */
/* Spines between the leaves of one rail: each flow takes one by its ports, agents trace
 * it, and what is slow is named as the link that it is. Nobody stays out for it. */
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "provisioner/gate/task/probe.h"
#include "tests/support/leaf_campaign.h"
#include "tests/support/probes.h"

enum { LEAVES = 3, EACH = 2, NODES = LEAVES * EACH };

/* Addresses of two spines to three leaves, as the profile names them. */
static const char two_spines[] = "s1=10.9.1.1 10.9.1.2 10.9.1.3,"
				 "s2=10.9.2.1 10.9.2.2 10.9.2.3";
static const char three_spines[] = "s1=10.9.1.1 10.9.1.2 10.9.1.3,"
				   "s2=10.9.2.1 10.9.2.2 10.9.2.3,"
				   "s3=10.9.3.1 10.9.3.2 10.9.3.3";

/* So many nodes at each leaf; spines: their addresses, NULL = the profile has none. */
static void
cable(struct rig *rig, struct paths *paths, int each, const char *spines)
{
	struct bu_desired *desired = rig->fleet->desired;

	for (int i = 1; i <= NODES; i++) {
		int leaf = (i - 1) / each + 1;

		paths->leaf[i] = leaf;
		free(desired->nodes[i - 1].switch_ports);
		desired->nodes[i - 1].switch_ports =
			bu_xasprintf("fabric=leaf0%d:p%d", leaf, i);
	}
	for (size_t i = 0; i < desired->networks_count; i++) {
		struct bu_desired_network *network = &desired->networks[i];

		free(network->spine_addresses);
		network->spine_addresses = spines && network->role == BU_ROLE_FABRIC
						   ? bu_xstrdup(spines)
						   : NULL;
	}
}

static char *
after(struct rig *rig, struct paths *paths, const char *spines, int seconds)
{
	begin_fabric(rig, NODES, 1, NULL);
	cable(rig, paths, EACH, spines);
	pass(rig, paths, NODES, seconds);
	all_join(rig, NODES);
	ck_assert_int_eq(events_of(rig, BU_EVENT_EVIDENCE), 0);
	return warnings_of(rig);
}

static size_t
lines_of(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* Good links: each leaf crosses each spine both ways, and then nothing is asked. */
START_TEST(each_leaf_crosses_each_spine)
{
	struct paths paths = {.spines = 2};
	unsigned char crossed[LEAVES + 1][3] = {{0}};
	bu_autofree char *warnings = NULL;
	struct rig rig;
	int before;

	warnings = after(&rig, &paths, two_spines, 240);
	ck_assert_str_eq(warnings, "");
	ck_assert_int_gt(paths.traced, 0);
	for (size_t i = 0; i < rig.fleet->measurements.count; i++) {
		const struct bu_pair_log *log = &rig.fleet->measurements.logs[i];

		for (size_t k = 0; k < log->paths_count; k++)
			for (int dir = 0; dir < 2 && log->paths[k].single; dir++) {
				int src = number_of(log->name[dir]);
				int dst = number_of(log->name[!dir]);
				const json_t *hops = json_object_get(
					json_array_get(log->paths[k].paths[dir], 0),
					"hops");
				int spine =
					json_string_value(json_array_get(hops, 1))[5] -
					'0';

				crossed[paths.leaf[src]][spine] |= BU_DIR_OUT;
				crossed[paths.leaf[dst]][spine] |= BU_DIR_IN;
			}
	}
	for (int leaf = 1; leaf <= LEAVES; leaf++)
		for (int spine = 1; spine <= 2; spine++)
			ck_assert_msg(crossed[leaf][spine] == (BU_DIR_OUT | BU_DIR_IN),
				      "leaf %d spine %d", leaf, spine);
	ck_assert_int_le(paths.singles, 4 * 3 * LEAVES / 2);
	ck_assert_int_eq(bu_leaf_campaign_goes_on(rig.gate), 0);
	before = paths.between;
	pass(&rig, &paths, NODES, 120);
	ck_assert_int_eq(paths.between, before);
	end_fabric(&rig, &paths);
}
END_TEST

/* Each direction of a link of each leaf, by its name, and nothing else. */
START_TEST(a_slow_link_is_named_with_leaf_spine_and_direction)
{
	static const char *const dirs[] = {
		"", ", to the spine: ", ", from the spine: ", ": "};

	for (int dir = BU_DIR_OUT; dir <= (BU_DIR_OUT | BU_DIR_IN); dir++) {
		struct paths paths = {.spines = 2,
				      .bad_leaf = dir,
				      .bad_spine = 1 + dir % 2,
				      .bad_dir = dir};
		bu_autofree char *warnings = NULL, *again = NULL, *want = NULL;
		bu_autojson json_t *own = NULL, *others = NULL;
		struct rig rig;

		warnings = after(&rig, &paths, two_spines, 600);
		want = bu_xasprintf("rail fabric: pairs between its leaves accuse the "
				    "link between leaf leaf0%d (rail fabric) and spine "
				    "s%d%s",
				    dir, 1 + dir % 2, dirs[dir]);
		says(warnings, want);
		ck_assert_msg(lines_of(warnings) == 1, "%s", warnings);
		own = bu_gate_remarks(rig.gate, rig_node(&rig, EACH * dir));
		ck_assert_uint_eq(json_array_size(own), 1);
		others =
			bu_gate_remarks(rig.gate, rig_node(&rig, 1 + EACH * (dir % 3)));
		ck_assert_uint_eq(json_array_size(others), 0);
		/* The log is its only memory. */
		rig_restart(&rig);
		cable(&rig, &paths, EACH, two_spines);
		rig_pass(&rig, 5000);
		again = warnings_of(&rig);
		says(again, want);
		end_fabric(&rig, &paths);
	}
}
END_TEST

START_TEST(a_slow_spine_is_named)
{
	struct paths paths = {.spines = 3, .bad_spine = 2, .names = 1};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	warnings = after(&rig, &paths, "s1=10.9.1.0,s2=10.9.2.0,s3=10.9.3.0", 900);
	says(warnings, "accuse spine s2: ");
	ck_assert_msg(lines_of(warnings) == 1, "%s", warnings);
	end_fabric(&rig, &paths);
}
END_TEST

/* Two at once would share a link of it, and both be slow. */
START_TEST(a_leaf_is_in_one_test_of_a_way_at_a_time)
{
	struct paths paths = {
		.spines = 3, .bad_spine = 2, .bad_leaf = 1, .bad_dir = BU_DIR_OUT};
	struct rig rig;
	int seen = 0;

	begin_fabric(&rig, NODES, 1, NULL);
	cable(&rig, &paths, EACH, three_spines);
	for (int second = 0; second < 200; second++) {
		unsigned char taken[LEAVES + 1] = {0};

		pass(&rig, &paths, NODES, 1);
		for (const struct bu_probe *one = newest_probe(rig.gate); one;
		     one = next_probe(one))
			for (int end = 0; end < 2 && one->single; end++) {
				int leaf = paths.leaf[number_of(one->task.name[end])];

				ck_assert_msg(!taken[leaf]++, "second %d, leaf %d",
					      second, leaf);
				seen++;
			}
	}
	ck_assert_int_gt(seen, 0);
	end_fabric(&rig, &paths);
}
END_TEST

/* Whatever keeps the spines from being known, the leaf's bundle may be named as before,
 * but no spine is. */
START_TEST(what_is_not_known_names_no_spine)
{
	static const struct {
		struct paths paths;
		const char *spines;
	} rows[] = {
		{{.silent = -1}, two_spines},  /* no answers */
		{{.names = 0}, NULL},          /* none is named */
		{{.names = 0}, "s1=10.7.7.7"}, /* none of its addresses */
		{{.thin_one = 1}, two_spines}, /* one queue pair is too slow */
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct paths paths = rows[i].paths;
		bu_autofree char *warnings = NULL;
		struct rig rig;

		paths.spines = 2;
		paths.bad_leaf = 2;
		paths.bad_spine = 1;
		paths.bad_dir = BU_DIR_OUT;
		warnings = after(&rig, &paths, rows[i].spines, 600);
		ck_assert_msg(!strstr(warnings, "spine "), "%zu: %s", i, warnings);
		ck_assert_msg(strstr(warnings, "the uplinks of leaf02") != NULL ||
				      strstr(warnings, "leaf02") == NULL,
			      "%zu: %s", i, warnings);
		ck_assert_msg(paths.thin_one || !paths.singles, "%zu", i);
		ck_assert_msg(rows[i].spines || !paths.traced, "%zu", i);
		end_fabric(&rig, &paths);
	}
}
END_TEST

/* The bad link is of the spine that answers; of the silent one nothing is said. */
START_TEST(a_silent_spine_hides_no_other)
{
	struct paths paths = {.spines = 2,
			      .bad_leaf = 2,
			      .bad_spine = 1,
			      .bad_dir = BU_DIR_OUT,
			      .silent = 2};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	warnings = after(&rig, &paths, two_spines, 600);
	says(warnings,
	     "the link between leaf leaf02 (rail fabric) and spine s1, to the "
	     "spine: ");
	ck_assert_ptr_null(strstr(warnings, "s2"));
	end_fabric(&rig, &paths);
}
END_TEST

/* Two leaves alone do not tell which end of the way it is: both are named, no other. */
START_TEST(two_leaves_are_named_together)
{
	struct paths paths = {
		.spines = 2, .bad_leaf = 2, .bad_spine = 1, .bad_dir = BU_DIR_OUT};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_fabric(&rig, NODES, 1, NULL);
	cable(&rig, &paths, NODES / 2, two_spines);
	pass(&rig, &paths, NODES, 600);
	all_join(&rig, NODES);
	warnings = warnings_of(&rig);
	says(warnings, "the link between leaf leaf02 (rail fabric) and spine s1");
	says(warnings, "the link between leaf leaf01 (rail fabric) and spine s1");
	ck_assert_ptr_null(strstr(warnings, "s2"));
	end_fabric(&rig, &paths);
}
END_TEST

/* All nodes restart after the repair. */
START_TEST(a_link_that_was_mended_is_cleared)
{
	struct paths paths = {
		.spines = 2, .bad_leaf = 2, .bad_spine = 1, .bad_dir = BU_DIR_IN};
	bu_autofree char *before = NULL, *still = NULL, *after_it = NULL;
	struct rig rig;

	before = after(&rig, &paths, two_spines, 240);
	says(before, "the link between leaf leaf02");
	pass(&rig, &paths, NODES, 20);
	still = warnings_of(&rig);
	ck_assert_str_eq(still, before);
	paths.bad_spine = 0;
	for (int i = 1; i <= NODES; i++) {
		bu_autofree char *boot = bu_xasprintf("again-%d", i);

		rig_come_up(&rig, i, boot);
	}
	pass(&rig, &paths, NODES, 300);
	all_join(&rig, NODES);
	after_it = warnings_of(&rig);
	ck_assert_str_eq(after_it, "");
	end_fabric(&rig, &paths);
}
END_TEST

static void
run_of(struct rig *rig, int first, int last)
{
	struct bu_node *nodes[NODES];

	for (int i = first; i <= last; i++)
		nodes[i - first] = rig_node(rig, i);
	ck_assert_ptr_nonnull(
		bu_gate_run(rig->gate, nodes, (size_t)(last - first + 1), NULL));
}

/* Into the cluster, to which agents of paper do not come. */
static void
make_ready(struct rig *rig, int nodes)
{
	for (int i = 1; i <= nodes; i++) {
		const char *name = rig_node(rig, i)->name;

		put_event(rig, BU_EVENT_RELEASED, name,
			  json_pack("{s:s}", "by", "test"));
		put_event(rig, BU_EVENT_STATE, name,
			  json_pack("{s:s,s:s}", "to", "ready", "on", "joined"));
	}
}

/* bringup fabric run over nodes that it names, or over all: nobody leaves service, and
 * what is not mended stays named meanwhile. */
START_TEST(a_run_tests_what_is_accused_anew)
{
	static const struct {
		int bad_leaf; /* 0 = of the spine, all */
		int first, last;
	} rows[] = {{2, 2, 3}, {2, 3, 4}, {2, 1, NODES}, {0, 1, 3}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct paths paths = {.spines = 2,
				      .bad_leaf = rows[i].bad_leaf,
				      .bad_spine = 1,
				      .bad_dir = BU_DIR_IN};
		bu_autofree char *before = NULL, *mended = NULL;
		int singles;
		struct rig rig;

		before = after(&rig, &paths, two_spines, 400);
		says(before,
		     rows[i].bad_leaf ? "the link between leaf leaf02" : "spine s1");
		make_ready(&rig, NODES);
		singles = paths.singles;
		run_of(&rig, rows[i].first, rows[i].last);
		for (int k = 0; k < 300; k++) {
			bu_autofree char *now = NULL;

			pass(&rig, &paths, NODES, 1);
			now = warnings_of(&rig);
			ck_assert_ptr_nonnull(strstr(now, "spine s1"));
		}
		ck_assert_int_gt(paths.singles, singles);
		paths.bad_spine = 0;
		run_of(&rig, rows[i].first, rows[i].last);
		pass(&rig, &paths, NODES, 300);
		mended = warnings_of(&rig);
		ck_assert_str_eq(mended, "");
		ck_assert_int_eq(bu_leaf_campaign_goes_on(rig.gate), 0);
		end_fabric(&rig, &paths);
	}
}
END_TEST

/* A run itself measures no pair across rails. */
START_TEST(a_run_tests_rails_of_one_fabric_anew)
{
	struct paths paths = {.up = "rail1"};
	bu_autofree char *before = NULL, *still = NULL, *mended = NULL;
	struct rig rig;
	int across;

	begin_fabric(&rig, 4, 3, same);
	pass(&rig, &paths, 4, 240);
	all_join(&rig, 4);
	before = warnings_of(&rig);
	says(before, " of rail rail1, to the spines");
	make_ready(&rig, 4);
	pass(&rig, &paths, 4, 60);
	across = paths.across;
	run_of(&rig, 1, 2);
	pass(&rig, &paths, 4, 240);
	still = warnings_of(&rig);
	says(still, " of rail rail1, to the spines");
	ck_assert_int_gt(paths.across, across);
	paths.up = NULL;
	run_of(&rig, 1, 2);
	pass(&rig, &paths, 4, 240);
	mended = warnings_of(&rig);
	ck_assert_str_eq(mended, "");
	end_fabric(&rig, &paths);
}
END_TEST

/* One queue pair that is too slow is no test of the bundle: that stays good. */
START_TEST(tests_of_one_way_judge_no_bundle)
{
	struct paths paths = {.spines = 2, .thin_one = 1};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	warnings = after(&rig, &paths, two_spines, 400);
	ck_assert_str_eq(warnings, "");
	ck_assert_int_gt(paths.singles, 0);
	end_fabric(&rig, &paths);
}
END_TEST

/* Rails of one switch fabric: each has a leaf of its own. */
START_TEST(links_are_named_across_rails)
{
	struct paths paths = {
		.spines = 2, .bad_leaf = 2, .bad_spine = 2, .bad_dir = BU_DIR_IN};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_fabric(&rig, 4, 3, same);
	for (size_t i = 0; i < rig.fleet->desired->networks_count; i++) {
		struct bu_desired_network *network = &rig.fleet->desired->networks[i];

		if (network->switch_fabric)
			network->spine_addresses = bu_xstrdup(two_spines);
	}
	pass(&rig, &paths, 4, 600);
	all_join(&rig, 4);
	warnings = warnings_of(&rig);
	says(warnings,
	     "switch fabric c: pairs across its rails accuse the link between "
	     "leaf ");
	says(warnings, " of rail rail1 and spine s2, from the spine: ");
	ck_assert_msg(lines_of(warnings) == 1, "%s", warnings);
	end_fabric(&rig, &paths);
}
END_TEST

RIG_UNIT("spines", each_leaf_crosses_each_spine,
	 a_slow_link_is_named_with_leaf_spine_and_direction, a_slow_spine_is_named,
	 a_leaf_is_in_one_test_of_a_way_at_a_time, what_is_not_known_names_no_spine,
	 a_silent_spine_hides_no_other, two_leaves_are_named_together,
	 a_link_that_was_mended_is_cleared, a_run_tests_what_is_accused_anew,
	 a_run_tests_rails_of_one_fabric_anew, links_are_named_across_rails,
	 tests_of_one_way_judge_no_bundle)
