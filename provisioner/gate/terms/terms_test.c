/* SPDX-License-Identifier: Apache-2.0 */
/* What all files of the gate stand on: where nodes hang, who is heard, when it looks.
 */
#include "provisioner/gate/terms/terms.h"
#include "tests/support/between.h"

/* What was heard, else what the profile says, else its rack, else its place. */
START_TEST(a_node_hangs_where_it_was_heard)
{
	static const struct {
		const char *heard, *said, *rack;
		int place;
		const char *leaf;
		int is_known;
	} rows[] = {
		{"leaf01.dc:swp3", "fabric=leaf09:swp1", "r1", 0, "leaf01.dc", 1},
		{"", "fabric=leaf09:swp1", "r1", 0, "leaf09", 1},
		{NULL, "rail1=leaf08:p1,fabric=leaf09", "r1", 0, "leaf09", 1},
		{NULL, "rail1=leaf08:p1", "r1", 0, "r1", 0},
		{NULL, NULL, "r1", 0, "r1", 0},
		{NULL, NULL, "", 0, "places 1 to 128", 0},
		{NULL, NULL, NULL, 127, "places 1 to 128", 0},
		{NULL, NULL, NULL, 128, "places 129 to 256", 0},
	};
	static const struct bu_desired_network rail = {
		.name = (char *)(uintptr_t) "fabric"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *ports = json_object();
		const struct bu_desired_node want = {
			.switch_ports = (char *)(uintptr_t)rows[i].said,
			.rack = (char *)(uintptr_t)rows[i].rack};
		char leaf[BU_GATE_LEAF_SIZE];
		static struct bu_node node;

		if (rows[i].heard)
			json_object_set_new(ports, "fabric",
					    json_string(rows[i].heard));
		node.checks.is.ports = ports;
		ck_assert_msg(bu_gate_leaf(rows[i].heard ? &node : NULL, &rail, &want,
					   rows[i].place, leaf) == rows[i].is_known,
			      "row %zu", i);
		ck_assert_str_eq(leaf, rows[i].leaf);
	}
}
END_TEST

START_TEST(who_was_heard_a_moment_ago_is_heard)
{
	struct bu_node *node;
	struct between b;

	between_begin(&b, 1, 1, 1, NULL);
	node = rig_node(&b.rig, 1);
	node->live.last_seen_ms = 0;
	ck_assert_int_eq(bu_gate_hears(b.gate, node), 0);
	node->live.last_seen_ms = b.rig.clock.fake_wall_ms - 89999;
	ck_assert_int_eq(bu_gate_hears(b.gate, node), 1);
	node->live.last_seen_ms = b.rig.clock.fake_wall_ms - 90000;
	ck_assert_int_eq(bu_gate_hears(b.gate, node), 0);
	between_end(&b);
}
END_TEST

/* The first one of those that are as slow. */
START_TEST(a_pool_has_a_slowest_rail)
{
	static const struct {
		double gbps[3];
		int slowest;
	} rows[] = {{{2, 1, 3}, 1}, {{1, 2, 3}, 0}, {{3, 2, 1}, 2}, {{2, 1, 1}, 1}};
	static const char *const names[] = {"fabric", "rail1", "rail2"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct between b;

		between_begin(&b, 1, 3, 1, NULL);
		for (int k = 0; k < 3; k++)
			between_network(&b, names[k])->link_gbps = rows[i].gbps[k];
		ck_assert_str_eq(
			bu_gate_slowest(b.rig.fleet->desired->nodes[0].pool)->name,
			names[rows[i].slowest]);
		between_end(&b);
	}
}
END_TEST

/* The earlier one; a kick waits until it has rested, and is none of its own look's. */
START_TEST(it_looks_at_the_earliest_time)
{
	struct between b;
	int64_t now_ms;

	between_begin(&b, 1, 1, 1, NULL);
	now_ms = bu_loop_now_ms(b.rig.fleet->loop);
	b.gate->due_ms = 0;
	bu_gate_wake_at(b.gate, now_ms + 500);
	ck_assert_int_eq(b.gate->due_ms, now_ms + 500);
	bu_gate_wake_at(b.gate, now_ms + 600);
	ck_assert_int_eq(b.gate->due_ms, now_ms + 500);
	bu_gate_wake_at(b.gate, now_ms + 400);
	ck_assert_int_eq(b.gate->due_ms, now_ms + 400);
	b.gate->looking = 1;
	bu_gate_kick(b.gate);
	ck_assert_int_eq(b.gate->due_ms, now_ms + 400);
	b.gate->looking = 0;
	b.gate->rested_ms = now_ms + 300;
	bu_gate_kick(b.gate);
	ck_assert_int_eq(b.gate->due_ms, now_ms + 300);
	b.gate->rested_ms = now_ms - 1;
	bu_gate_kick(b.gate);
	ck_assert_int_eq(b.gate->due_ms, now_ms);
	between_end(&b);
}
END_TEST

/* Of a rail that was looked at, in the profile of now. */
START_TEST(shapes_are_of_the_applied_profile)
{
	const struct bu_desired_network *rail;
	struct between b;

	between_begin(&b, 2, 2, 1, NULL);
	rail = between_network(&b, "fabric");
	ck_assert_ptr_null(bu_gate_shape(b.gate, rail));
	between_open(&b, "fabric");
	bu_gate_keep_shape(b.gate, rail, &b.campaign.topology);
	ck_assert_int_eq(b.campaign.topology.nodes, 0);
	between_close(&b);
	ck_assert_int_eq(bu_gate_shape(b.gate, rail)->nodes, 2);
	ck_assert_ptr_null(bu_gate_shape(b.gate, between_network(&b, "rail1")));
	between_open(&b, "rail1");
	bu_gate_keep_shape(b.gate, between_network(&b, "rail1"), &b.campaign.topology);
	between_close(&b);
	ck_assert_ptr_nonnull(bu_gate_shape(b.gate, rail));
	ck_assert_ptr_nonnull(bu_gate_shape(b.gate, between_network(&b, "rail1")));
	strcpy(b.gate->shapes_of, "another");
	ck_assert_ptr_null(bu_gate_shape(b.gate, rail));
	between_open(&b, "fabric");
	bu_gate_keep_shape(b.gate, rail, &b.campaign.topology);
	between_close(&b);
	ck_assert_ptr_nonnull(bu_gate_shape(b.gate, rail));
	ck_assert_ptr_null(bu_gate_shape(b.gate, between_network(&b, "rail1")));
	between_end(&b);
}
END_TEST

/* Nodes that are lent, those that work, and those that rest from a probe. */
START_TEST(a_node_with_jobs_is_lent_as_its_pool_says)
{
	static const struct {
		const char *partners;
		int joined, in_cluster, serves;
		int lends, works;
	} rows[] = {
		{"idle", 0, 1, 1, 1, 0}, {"idle", 1, 0, 1, 1, 0},
		{"idle", 1, 1, 0, 1, 0}, {"idle", 1, 1, 1, 0, 1},
		{"any", 1, 1, 1, 1, 1},  {"none", 1, 1, 1, 0, 1},
		{"none", 1, 1, 0, 0, 0}, {"none", 0, 1, 1, 1, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_desired_node *want;
		struct bu_desired_pool pool;
		struct bu_node *node;
		struct between b;
		int64_t now_ms;

		between_begin(&b, 1, 1, 1, NULL);
		b.rig.clock.fake_mono_ms += 100000;
		now_ms = bu_loop_now_ms(b.rig.fleet->loop);
		node = rig_node(&b.rig, 1);
		want = &b.rig.fleet->desired->nodes[0];
		pool = *want->pool;
		pool.partners = (char *)(uintptr_t)rows[i].partners;
		want->pool = &pool;
		if (!rows[i].in_cluster)
			want->cluster = NULL;
		BU_TEXT_COPY(bu_node_joined(node)->cluster,
			     rows[i].joined ? "hpc" : "");
		node->state = rows[i].serves ? BU_STATE_READY : BU_STATE_VALIDATING;
		bu_node_cluster(node)->jobs = 1;
		ck_assert_msg(bu_gate_works(b.gate, node, want) == rows[i].works,
			      "row %zu", i);
		ck_assert_msg(bu_gate_lends(b.gate, node, want) == rows[i].lends,
			      "row %zu", i);
		node->live.disturbed_ms = now_ms - 59999;
		ck_assert_int_eq(bu_gate_rests(b.gate, node), rows[i].works);
		node->live.disturbed_ms = now_ms - 60000;
		ck_assert_int_eq(bu_gate_rests(b.gate, node), 0);
		node->live.disturbed_ms = 0;
		ck_assert_int_eq(bu_gate_rests(b.gate, node), 0);
		between_end(&b);
	}
}
END_TEST

RIG_UNIT("parts", a_node_hangs_where_it_was_heard, who_was_heard_a_moment_ago_is_heard,
	 a_pool_has_a_slowest_rail, it_looks_at_the_earliest_time,
	 shapes_are_of_the_applied_profile, a_node_with_jobs_is_lent_as_its_pool_says)
