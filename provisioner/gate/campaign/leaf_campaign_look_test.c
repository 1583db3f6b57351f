/* SPDX-License-Identifier: Apache-2.0 */
/* Campaigns between leaves as the gate looks at them: which rails and nodes they have,
 * who waits for them, and for how long. */
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "provisioner/gate/campaign/leaf_campaign_impl.h"
#include "provisioner/gate/task/asks.h"
#include "tests/support/between.h"

/* Two nodes at each of three leaves. */
enum { NODES = 6, EACH = 2, HOLD_MS = 180000, LATE_MS = 900000 };
#define SAME "switch_fabric = c\n"
static const char *const same[3] = {SAME, SAME, SAME};

START_TEST(a_fabric_is_looked_at_with_its_first_network)
{
	static const struct {
		const char *fabric[4];
		int is_fabric[4], first[4];
	} rows[] = {
		{{"c", "c", "d", "c"}, {1, 1, 1, 1}, {1, 0, 1, 0}},
		{{NULL, "c", NULL, "c"}, {1, 1, 1, 1}, {0, 1, 0, 0}},
		{{"c", "c", "d", "d"}, {0, 1, 0, 0}, {1, 1, 1, 1}},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_desired_network networks[4] = {{.index = 0}};
		const struct bu_desired desired = {.networks = networks,
						   .networks_count = 4};

		for (int k = 0; k < 4; k++) {
			networks[k].switch_fabric =
				(char *)(uintptr_t)rows[i].fabric[k];
			networks[k].role =
				rows[i].is_fabric[k] ? BU_ROLE_FABRIC : BU_ROLE_BOOT;
		}
		for (size_t k = 0; k < 4; k++)
			ck_assert_msg(bu_leaf_campaign_is_first(&desired, k) ==
					      rows[i].first[k],
				      "row %zu, network %zu", i, k);
	}
}
END_TEST

/* "fabric rail2 limit 2: node001 0 1 | node002 - 2 |": leaves, - = no port. Owned. */
static char *
shape_of(const struct bu_leaf_campaign *campaign)
{
	const struct bu_topology *t = &campaign->topology;
	char *text = bu_xstrdup("");

	for (int i = 0; i < t->rails; i++)
		bu_text_add(&text, "", "%s ", campaign->rail[i]->name);
	bu_text_add(&text, "", "limit %g:", t->limit_gbps);
	for (int node = 0; node < t->nodes; node++) {
		bu_text_add(&text, "", " %s",
			    json_string_value(
				    json_array_get(t->node_ids.list, (size_t)node)));
		for (int rail = 0; rail < t->rails; rail++)
			if (campaign->no_port[node * t->rails + rail])
				bu_text_add(&text, "", " -");
			else
				bu_text_add(&text, "", " %d",
					    t->leaf_of[node * t->rails + rail]);
		bu_text_add(&text, "", " |");
	}
	return text;
}

/* The rails of its fabric, as fast as the slowest; nodes that are measured on one. */
START_TEST(a_campaign_has_the_rails_of_its_fabric)
{
	static const char *const others[3] = {SAME, "", SAME};
	static const struct {
		const char *const *more;
		const char *of;
		int left_out; /* this node is not measured */
		int short_of; /* this node has no rail2 */
		const char *want;
		int leaves;
	} rows[] = {
		{NULL, "rail1", 0, 0, "rail1 limit 2: node001 0 | node002 1 |", 2},
		{others, "fabric", 0, 0,
		 "fabric rail2 limit 4: node001 0 1 | node002 2 3 |", 4},
		{others, "rail1", 0, 0, "rail1 limit 2: node001 0 | node002 1 |", 2},
		{same, "fabric", 0, 0,
		 "fabric rail1 rail2 limit 2: node001 0 1 2 | node002 3 4 5 |", 6},
		{same, "fabric", 1, 0, "fabric rail1 rail2 limit 2: node002 0 1 2 |",
		 3},
		{same, "fabric", 0, 2,
		 "fabric rail1 rail2 limit 2: node001 0 1 2 | node002 3 4 - |", 5},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = NULL;
		struct bu_desired_pool pool;
		struct between b;

		between_begin(&b, 2, 3, 1, rows[i].more);
		between_network(&b, "fabric")->link_gbps = 4;
		between_network(&b, "rail1")->link_gbps = 2;
		between_network(&b, "rail2")->link_gbps = 8;
		for (int k = 0; k < 2; k++) {
			struct bu_desired_node *want = &b.rig.fleet->desired->nodes[k];

			if (rows[i].left_out == k + 1)
				want->validation = NULL;
			if (rows[i].short_of != k + 1)
				continue;
			pool = *want->pool;
			pool.rails_count = 2;
			want->pool = &pool;
		}
		between_open(&b, rows[i].of);
		text = shape_of(&b.campaign);
		ck_assert_msg(strcmp(text, rows[i].want) == 0, "row %zu: %s", i, text);
		ck_assert_int_eq(b.campaign.topology.leaves, rows[i].leaves);
		ck_assert_int_eq(b.campaign.topology.spines, 1);
		ck_assert_int_eq(b.campaign.topology.across, 1);
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* Without a switch that is known, each rail has leaves of its own. */
START_TEST(leaves_that_are_not_known_are_of_their_rail)
{
	bu_autofree char *text = NULL;
	bu_autojson json_t *said = NULL;
	struct between b;

	between_begin(&b, 2, 2, 1, same);
	for (int k = 0; k < 2; k++) {
		free(b.rig.fleet->desired->nodes[k].switch_ports);
		b.rig.fleet->desired->nodes[k].switch_ports = NULL;
	}
	between_open(&b, "fabric");
	text = shape_of(&b.campaign);
	ck_assert_str_eq(text, "fabric rail1 limit 1: node001 0 1 | node002 0 1 |");
	ck_assert_uint_eq(json_object_size(b.campaign.own_leaves), 2);
	said = bu_leaf_campaign_leaf_said(&b.campaign, 1);
	rig_text_has(rig_sentence(said), " of rail rail1");
	between_close(&b);
	between_end(&b);
}
END_TEST

/* What a node is to a campaign, by what it is to the gate; node 1 of three. */
START_TEST(who_takes_part_and_who_asks)
{
	static const struct {
		int ready, certified, serves; /* of its role */
		uint64_t good;                /* rails */
		int late, since_ms;           /* 0 = long ago */
		int held, there, asks, lent, works;
	} rows[] = {
		{0, 1, 1, 3, 1, 1, 0, 1, 1, 0, 1},
		{0, 1, 1, 3, 1, LATE_MS, 0, 1, 0, 0, 1},
		{1, 0, 0, 3, 0, 0, 1, 1, 1, 1, 0},
		{1, 0, 0, 7, 0, 0, 1, 1, 1, 1, 0},
		{1, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0},
		{1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0},
		{1, 1, 0, 3, 0, 0, 0, 1, 0, 1, 0},
		{1, 1, 0, 3, 1, 1, 0, 1, 1, 1, 0},
		{1, 1, 0, 3, 0, 1, 0, 1, 0, 1, 0},
		{1, 1, 0, 3, 1, LATE_MS - 1, 0, 1, 1, 1, 0},
		{1, 1, 0, 3, 1, LATE_MS, 0, 1, 0, 1, 0},
		{0, 0, 1, 3, 1, 1, 0, 0, 0, 1, 0},
		{0, 1, 1, 3, 1, 1, 0, 1, 1, 1, 0},
		{0, 1, 0, 3, 1, 1, 0, 1, 0, 0, 0},
		{0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_leaf_campaign_node *is;
		struct bu_node *node;
		struct bu_role *role;
		struct between b;

		between_begin(&b, 3, 2, 1, same);
		b.rig.clock.fake_mono_ms += 2 * LATE_MS;
		node = rig_node(&b.rig, 1);
		role = &b.gate->roles[0];
		role->ready = rows[i].ready != 0;
		role->certified = rows[i].certified != 0;
		role->serves = rows[i].serves != 0;
		if (rows[i].works) {
			static const struct bu_desired_cluster cluster;

			b.rig.fleet->desired->nodes[0].cluster = &cluster;
			BU_TEXT_COPY(bu_node_joined(node)->cluster, "jobs");
			node->state = BU_STATE_JOINING;
		}
		node->live.rails_good = rows[i].good;
		node->live.leaf_campaign.late = rows[i].late;
		node->live.leaf_campaign.since_ms =
			bu_loop_now_ms(b.rig.fleet->loop) - rows[i].since_ms;
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		is = &b.campaign.nodes[0];
		ck_assert_msg(is->held == rows[i].held, "row %zu: held", i);
		ck_assert_msg(is->there == rows[i].there, "row %zu: there", i);
		ck_assert_msg(is->asks == rows[i].asks, "row %zu: asks", i);
		ck_assert_msg(is->lent == rows[i].lent, "row %zu: lent", i);
		/* What it asks for comes when it is lent again. */
		ck_assert_int_eq(role->waits, 0);
		bu_leaf_campaign_wait_unlent(&b.campaign);
		ck_assert_int_eq(role->waits, is->asks && !is->lent);
		ck_assert_int_eq(b.campaign.trusted[0], rows[i].there);
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* By those whom an accusation names, of any of which a run is; where it names none, by
 * all of its fabric. What they ask for has all of its time, and needs new results. */
START_TEST(a_run_asks_those_who_are_accused)
{
	static const struct {
		const char *key, *nodes; /* in braces */
		int first, count;        /* of the run */
		unsigned asked;          /* bits from node001 */
	} rows[] = {
		{"c", "'node002':true", 1, 2, 2},
		{"c", "'node002':true,'node004':true", 1, 2, 10},
		{"c", "'node002':true,'node004':true", 4, 1, 10},
		{"c", "'node002':true", 3, 2, 0},
		{"c", "", 3, 1, 15},
		{"rail fabric", "'node002':true", 1, 4, 0},
		{"d", "", 1, 4, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_xasprintf(
			"{'%s':[{'key':[],'said':'','nodes':{%s},'leaves':{}}]}",
			rows[i].key, rows[i].nodes);
		struct bu_node *nodes[4];
		struct between b;

		between_begin(&b, 4, 2, 1, same);
		json_decref(b.gate->leaf_accused);
		b.gate->leaf_accused = quoted(text);
		b.rig.clock.fake_mono_ms += 2 * LATE_MS;
		for (int k = 0; k < rows[i].count; k++)
			nodes[k] = rig_node(&b.rig, rows[i].first + k);
		bu_leaf_campaign_again(b.gate, nodes, (size_t)rows[i].count);
		for (int k = 0; k < 4; k++) {
			const struct bu_node *node = rig_node(&b.rig, k + 1);
			int asked = rows[i].asked >> k & 1;

			ck_assert_msg(node->live.leaf_campaign.late == asked, "%zu: %d",
				      i, k);
			ck_assert_int_eq(node->live.leaf_campaign.after_seq,
					 asked ? b.rig.fleet->life.row_seq : 0);
			ck_assert_int_eq(node->live.leaf_campaign.since_ms,
					 asked ? bu_loop_now_ms(b.rig.fleet->loop) : 0);
		}
		ck_assert_int_gt(b.rig.fleet->life.row_seq, 0);
		between_end(&b);
	}
}
END_TEST

/* Two that are there, and of a rail alone at two leaves. */
START_TEST(a_campaign_needs_two_nodes)
{
	static const struct {
		int there, each, is_fabric, open;
	} rows[] = {{2, 1, 0, 1}, {1, 1, 0, 0}, {0, 1, 0, 0},
		    {2, 3, 0, 0}, {2, 3, 1, 1}, {1, 3, 1, 0}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct between b;

		between_begin(&b, 3, 2, rows[i].each, rows[i].is_fabric ? same : NULL);
		for (int k = rows[i].there; k < 3; k++)
			b.gate->roles[k].ready = 0;
		ck_assert_msg(between_open(&b, "fabric") == rows[i].open, "row %zu", i);
		ck_assert_int_eq(b.campaign.validation != NULL, rows[i].there > 0);
		ck_assert_int_eq(b.campaign.alone != NULL, !rows[i].is_fabric);
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

START_TEST(ports_are_asked_for_by_their_nodes_and_rails)
{
	for (int single = 0; single < 2; single++) {
		struct bu_wanted list[] = {{0, 3}, {5, 0}};
		const struct bu_pairs pairs = {.list = list, .count = 2};
		struct between b;

		between_begin(&b, 3, 2, 1, same);
		between_open(&b, "fabric");
		bu_leaf_campaign_ask(&b.campaign, &pairs, single);
		ck_assert_uint_eq(b.gate->asks_count, 2);
		for (int i = 0; i < 2; i++) {
			const struct bu_ask *ask = &b.gate->asks[i];

			ck_assert_str_eq(ask->name[0], "node001");
			ck_assert_str_eq(ask->name[1], i ? "node003" : "node002");
			ck_assert_str_eq(ask->rail, "fabric/rail1");
			ck_assert_int_eq(ask->qps, BU_GATE_LINK_QPS);
			ck_assert_int_eq(ask->single, single);
		}
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* A node alone is looked at by nobody: what it hangs at. */
static void
keep_shape(struct between *b, const char *name)
{
	bu_ignore(between_open(b, name));
	bu_gate_keep_shape(b->gate, between_network(b, name), &b->campaign.topology);
	between_close(b);
}

/* What is good on all rails waits three minutes for a fabric; then it goes on. */
START_TEST(a_certificate_is_held_for_so_long)
{
	static const struct {
		int is_fabric, each;
		int is_anew;  /* in a state that it was not seen in */
		int since_ms; /* before */
		int over;
		int holds, late;
	} rows[] = {
		{1, 1, 1, 0, 0, 1, 0},
		{1, 1, 1, HOLD_MS, 1, 1, 0}, /* all is forgotten */
		{1, 1, 0, 1, 0, 1, 0},
		{1, 1, 0, HOLD_MS - 1, 0, 1, 0},
		{1, 1, 0, HOLD_MS, 0, 0, 1},
		{1, 1, 0, 1, 1, 0, 0},
		{0, 1, 1, 0, 0, 0, 1},
		{0, 1, 0, 1, 0, 0, 1},
		/* one leaf: nothing is tested */
		{0, 2, 1, 0, 0, 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_node *node;
		struct between b;
		int64_t now_ms;

		between_begin(&b, 2, 1 + rows[i].is_fabric, rows[i].each,
			      rows[i].is_fabric ? same : NULL);
		b.rig.clock.fake_mono_ms += 2 * LATE_MS;
		now_ms = bu_loop_now_ms(b.rig.fleet->loop);
		keep_shape(&b, "fabric");
		node = rig_node(&b.rig, 1);
		node->state_seq = 7;
		node->live.leaf_campaign.state_seq = rows[i].is_anew ? 6 : 7;
		node->live.leaf_campaign.since_ms = now_ms - rows[i].since_ms;
		node->live.leaf_campaign.over = rows[i].over;
		ck_assert_msg(bu_leaf_campaign_holds(b.gate, node) == rows[i].holds,
			      "row %zu", i);
		ck_assert_msg(node->live.leaf_campaign.late == rows[i].late, "row %zu",
			      i);
		ck_assert_int_eq(bu_leaf_campaign_goes_on(b.gate), rows[i].late);
		if (rows[i].is_anew && (rows[i].is_fabric || rows[i].each == 1)) {
			ck_assert_int_eq(node->live.leaf_campaign.state_seq, 7);
			ck_assert_int_eq(node->live.leaf_campaign.since_ms, now_ms);
			ck_assert_int_eq(node->live.leaf_campaign.over, 0);
		}
		between_end(&b);
	}
}
END_TEST

/* Leaves that were not looked at yet may be several. */
START_TEST(who_is_not_in_the_profile_is_not_held)
{
	struct bu_node *node;
	struct between b;

	between_begin(&b, 2, 1, 1, NULL);
	node = rig_node(&b.rig, 1);
	ck_assert_int_eq(bu_leaf_campaign_holds(b.gate, node), 0);
	ck_assert_int_eq(node->live.leaf_campaign.late, 1);
	node->live.leaf_campaign.late = 0;
	strcpy(node->name, "node009");
	ck_assert_int_eq(bu_leaf_campaign_holds(b.gate, node), 0);
	ck_assert_int_eq(node->live.leaf_campaign.late, 0);
	between_end(&b);
}
END_TEST

/* A rail alone: after a start, while it is accused, and for nodes that ask. */
START_TEST(a_rail_is_looked_at_when_it_is_due)
{
	static const struct {
		int seen, accused, over, one_leaf, looked;
	} rows[] = {
		{0, 0, 0, 0, 1}, {0, 0, 1, 0, 1}, {1, 0, 0, 0, 1}, {1, 0, 1, 0, 0},
		{1, 1, 1, 0, 1}, {1, 0, 0, 1, 0}, {1, 2, 1, 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct between b;

		between_begin(&b, NODES, 1, rows[i].one_leaf ? NODES : EACH, NULL);
		if (rows[i].one_leaf)
			keep_shape(&b, "fabric");
		b.gate->leaves_seen = rows[i].seen;
		if (rows[i].accused)
			json_object_set_new(b.gate->leaf_accused, "rail fabric",
					    rows[i].accused == 1
						    ? quoted("[{'key':[],'said':'A'}]")
						    : json_array());
		for (int k = 1; k <= NODES; k++)
			rig_node(&b.rig, k)->live.leaf_campaign.over = rows[i].over;
		bu_leaf_campaign_look(b.gate);
		ck_assert_msg((b.gate->asks_count > 0) == rows[i].looked, "row %zu", i);
		ck_assert_int_eq(b.gate->leaves_seen, 1);
		for (int k = 0; k < NODES; k++)
			ck_assert_int_eq(b.gate->roles[k].waits, rows[i].looked);
		between_end(&b);
	}
}
END_TEST

/* Whose leaf has had its tests waits no longer, unless some were bad. */
START_TEST(who_has_had_its_tests_goes_on)
{
	static const struct probed good[] = {{1, 3, "fabric", .gbps = {1, 1}},
					     {2, 4, "fabric", .gbps = {1, 1}},
					     {3, 5, "fabric", .gbps = {1, 1}},
					     {2, 5, "fabric", .gbps = {1, 1}}};
	static const struct {
		int tests;    /* of these */
		float last;   /* rate of one more of node 2 and 4 */
		int waits[3]; /* by leaf */
	} rows[] = {
		{0, 0, {1, 1, 1}},
		{2, 0, {0, 0, 1}},
		{4, 0, {0, 0, 0}},
		{2, 0.25, {1, 1, 1}},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct between b;

		between_begin(&b, NODES, 1, EACH, NULL);
		for (int k = 0; k < rows[i].tests; k++)
			between_log(&b, &good[k]);
		if (rows[i].last > 0)
			between_log(&b, &(struct probed){.a = 2,
							 .b = 4,
							 .rail = "fabric",
							 .gbps = {rows[i].last, 1}});
		for (int k = 1; k <= NODES; k++) {
			struct bu_node *node = rig_node(&b.rig, k);

			node->state_seq = 7;
			node->live.leaf_campaign.state_seq = k == 6 ? 6 : 7;
			node->live.leaf_campaign.late = 1;
			node->live.leaf_campaign.since_ms =
				bu_loop_now_ms(b.rig.fleet->loop);
		}
		bu_leaf_campaign_look(b.gate);
		for (int k = 0; k < NODES; k++) {
			const struct bu_node *node = rig_node(&b.rig, k + 1);
			int waits = rows[i].waits[k / EACH];

			ck_assert_msg(b.gate->roles[k].waits == waits,
				      "row %zu, node %d", i, k + 1);
			ck_assert_int_eq(node->live.leaf_campaign.late, waits);
			/* Of another state nothing is over. */
			ck_assert_int_eq(node->live.leaf_campaign.over,
					 !waits && k != 5);
		}
		between_end(&b);
	}
}
END_TEST

/* Also of a node that the profile has no more. */
START_TEST(what_is_late_has_an_end)
{
	for (int ms = LATE_MS - 1; ms <= LATE_MS; ms++) {
		struct bu_node *node;
		struct between b;

		between_begin(&b, 2, 1, 1, NULL);
		b.rig.clock.fake_mono_ms += 2 * LATE_MS;
		node = rig_node(&b.rig, 1);
		node->live.leaf_campaign.late = 1;
		node->live.leaf_campaign.since_ms =
			bu_loop_now_ms(b.rig.fleet->loop) - ms;
		b.gate->roles[0].node = NULL;
		b.gate->roles[0].ready = 0;
		bu_leaf_campaign_look(b.gate);
		ck_assert_int_eq(node->live.leaf_campaign.late, ms < LATE_MS);
		between_end(&b);
	}
}
END_TEST

RIG_UNIT("leaf_campaign_look", a_fabric_is_looked_at_with_its_first_network,
	 a_campaign_has_the_rails_of_its_fabric,
	 leaves_that_are_not_known_are_of_their_rail, who_takes_part_and_who_asks,
	 a_run_asks_those_who_are_accused, a_campaign_needs_two_nodes,
	 ports_are_asked_for_by_their_nodes_and_rails,
	 a_certificate_is_held_for_so_long, who_is_not_in_the_profile_is_not_held,
	 a_rail_is_looked_at_when_it_is_due, who_has_had_its_tests_goes_on,
	 what_is_late_has_an_end)
