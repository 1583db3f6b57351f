/* SPDX-License-Identifier: Apache-2.0 */
/* Which spine traced flows took, what is known of single links by that, and which pairs
 * are asked for besides. */
#include "provisioner/gate/campaign/spines.h"
#include "tests/support/between.h"

/* Two nodes at each of three leaves. */
enum { NODES = 6, EACH = 2, LEAVES = 3, BOTH = BU_DIR_OUT | BU_DIR_IN };
#define SAME "switch_fabric = c\n"
static const char *const same[2] = {SAME, SAME};

static const char spines[] = "s1=10.9.1.1 FD00:0:0::1,s2=10.9.2.1 nonsense";
/* Ways of flows. */
#define W1 "[{'hops':['10.1.1.1','10.9.1.1','10.1.2.1']}]"
#define W2 "[{'hops':[null,'10.9.2.1']}]"

static void
traced_begin(struct between *b, int nodes, int rails, int each, const char *const *more)
{
	struct bu_desired *desired;

	between_begin(b, nodes, rails, each, more);
	desired = b->rig.fleet->desired;
	for (size_t i = 0; i < desired->networks_count; i++)
		if (desired->networks[i].role == BU_ROLE_FABRIC)
			desired->networks[i].spine_addresses = bu_xstrdup(spines);
}

static int
traced_run(struct between *b, struct bu_spines *ret)
{
	struct bu_localise_opts opts = {.seed = 1, .reject = 0.5, .retests = 32};

	opts.trusted = b->campaign.trusted;
	opts.absent = b->campaign.absent;
	opts.no_port = b->campaign.no_port;
	opts.lean = 1;
	return bu_spines_run(&b->campaign, &opts, ret);
}

static void
traced_end(struct between *b, struct bu_spines *of)
{
	bu_spines_close(of);
	between_close(b);
	between_end(b);
}

/* "0>2:s1! ": port 0 to port 2 by s1, was bad; a small letter where a newer one of the
 * same leaves and spine is there. Owned. */
static char *
crossings(const struct bu_spines *of)
{
	char *text = bu_xstrdup("");

	for (size_t i = 0; i < of->count; i++) {
		const struct bu_crossing *one = &of->list[i];
		bu_autofree char *before = text;

		ck_assert_int_eq(one->from, of->campaign->topology.leaf_of[one->src]);
		ck_assert_int_eq(one->to, of->campaign->topology.leaf_of[one->dst]);
		ck_assert_str_eq(
			json_string_value(json_array_get(of->topology.spine_ids.list,
							 (size_t)one->spine)),
			one->name);
		text = bu_xasprintf("%s%d>%d:%s%s%s ", before, one->src, one->dst,
				    one->name, one->newest ? "" : "-",
				    one->bad ? "!" : "");
	}
	return text;
}

static const struct {
	struct probed log;
	const char *want;
	int spines, tests, seen; /* of leaf01 */
} flows[] = {
	{{1, 3, "fabric", .gbps = {1, 1}, .paths = {W1, W2}},
	 "0>2:s1 2>0:s2 ",
	 2,
	 0,
	 1},
	{{1, 3, "fabric", .gbps = {1, 1}, .paths = {W1, W2}, .single = 1},
	 "0>2:s1 2>0:s2 ",
	 2,
	 1,
	 1},
	{{1, 3, "fabric", .gbps = {1, 1}, .paths = {W1}}, "0>2:s1 ", 1, 0, 1},
	{{1, 3, "fabric", .gbps = {1, 1}, .paths = {NULL, W2}}, "2>0:s2 ", 1, 0, 1},
	{{1, 3, "fabric", .gbps = {1, 1}, .paths = {"[{'hops':['fd00::1']}]"}},
	 "0>2:s1 ",
	 1,
	 0,
	 1},
	/* half of what it must carry, or less, or with losses */
	{{1, 3, "fabric", .gbps = {0.5, 0.375}, .paths = {W1, W1}},
	 "0>2:s1 2>0:s1! ",
	 1,
	 0,
	 1},
	{{1, 3, "fabric", .gbps = {1, 1}, .lost = {1, 0}, .paths = {W1, W1}},
	 "0>2:s1! 2>0:s1 ",
	 1,
	 0,
	 1},
	/* an instrument in doubt */
	{{1, 3, "fabric", .gbps = {1, 1}, .doubt = {1, 0}, .paths = {W1, W2}},
	 "2>0:s2 ",
	 2,
	 0,
	 1},
	/* several queue pairs, several ways */
	{{1, 3, "fabric", .gbps = {1, 1},
	  .paths = {"[{'hops':['10.9.1.1']},{'hops':['10.9.2.1']}]",
		    "[{'hops':['10.9.1.1']},{'hops':['10.9.1.1']}]"}},
	 "2>0:s1 ",
	 2,
	 0,
	 1},
	{{1, 3, "fabric", .gbps = {1, 1},
	  .paths = {"[{'hops':['10.9.1.1']},{'hops':['10.7.7.7']}]",
		    "[{'hops':['10.7.7.7']},{'hops':['10.9.1.1']}]"}},
	 "",
	 1,
	 0,
	 1},
	/* one way past two spines, and past one of them twice */
	{{1, 3, "fabric", .gbps = {1, 1},
	  .paths = {"[{'hops':['10.9.1.1','10.9.2.1']}]",
		    "[{'hops':['10.9.1.1','fd00::1']}]"}},
	 "2>0:s1 ",
	 1,
	 0,
	 1},
	{{1, 3, "fabric", .gbps = {1, 1}, .paths = {"[]", "[{}]"}}, "", 0, 0, 0},
	/* inside a leaf, of another boot, of a node that is not there */
	{{1, 2, "fabric", .gbps = {1, 1}, .paths = {W1, W2}}, "", 0, 0, 0},
	{{1, 3, "fabric", .gbps = {1, 1}, .paths = {W1, W2}, .boot = {"old"}},
	 "",
	 0,
	 0,
	 0},
	{{1, 3, "fabric", .gbps = {1, 1}, .paths = {W1, W2}, .boot = {NULL, "old"}},
	 "",
	 0,
	 0,
	 0},
	{{1, 6, "fabric", .gbps = {1, 1}, .paths = {W1, W2}}, "", 0, 0, 0},
	{{1, 3, "rail1", .gbps = {1, 1}, .paths = {W1, W2}}, "", 0, 0, 0},
};

START_TEST(a_flow_is_of_the_one_spine_that_all_its_ways_took)
{
	for (size_t i = 0; i < BU_LEN(flows); i++) {
		bu_autofree char *text = NULL;
		struct bu_spines of;
		struct between b;

		traced_begin(&b, NODES, 2, EACH, NULL);
		b.gate->roles[NODES - 1].ready = 0;
		between_log(&b, &flows[i].log);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		traced_run(&b, &of);
		text = crossings(&of);
		ck_assert_msg(strcmp(text, flows[i].want) == 0, "row %zu: %s", i, text);
		ck_assert_msg(of.topology.spines == flows[i].spines, "row %zu", i);
		ck_assert_msg(of.bad == (strchr(text, '!') != NULL), "row %zu", i);
		for (int leaf = 0; leaf < LEAVES; leaf++) {
			ck_assert_int_eq(of.tests[leaf], leaf < 2 ? flows[i].tests : 0);
			ck_assert_int_eq(of.seen[leaf], leaf < 2 ? flows[i].seen : 0);
		}
		traced_end(&b, &of);
	}
}
END_TEST

/* Oldest first, whichever pair it is of; the last one of two leaves, a direction and a
 * spine is what counts. */
START_TEST(the_newest_flow_of_a_link_is_known)
{
	static const struct probed log[] = {
		{2, 4, "fabric", .gbps = {0.25, 1}, .paths = {W1, W1}},
		{1, 3, "fabric", .gbps = {1, 1}, .paths = {W1, W2}},
		{1, 5, "fabric", .gbps = {1, 1}, .paths = {W1, NULL}},
		{2, 4, "fabric", .gbps = {1, 0.25}, .paths = {W2, W2}},
	};
	bu_autofree char *text = NULL;
	struct bu_spines of;
	struct between b;

	traced_begin(&b, NODES, 1, EACH, NULL);
	for (size_t i = 0; i < BU_LEN(log); i++)
		between_log(&b, &log[i]);
	ck_assert_int_eq(between_open(&b, "fabric"), 1);
	traced_run(&b, &of);
	text = crossings(&of);
	ck_assert_str_eq(text, "1>3:s1-! 3>1:s1 0>2:s1 2>0:s2- 0>4:s1 1>3:s2 3>1:s2! ");
	ck_assert_int_eq(of.bad, 1);
	for (size_t i = 0; i < of.count; i++)
		ck_assert_int_eq(of.list[i].dir, of.list[i].src > of.list[i].dst);
	traced_end(&b, &of);
}
END_TEST

START_TEST(a_bad_flow_that_is_not_the_newest_is_over)
{
	static const struct probed log[] = {
		{1, 3, "fabric", .gbps = {0.25, 1}, .paths = {W1, W1}},
		{2, 4, "fabric", .gbps = {1, 1}, .paths = {W1, W1}}};
	struct bu_spines of;
	struct between b;

	traced_begin(&b, NODES, 1, EACH, NULL);
	for (size_t i = 0; i < BU_LEN(log); i++)
		between_log(&b, &log[i]);
	ck_assert_int_eq(between_open(&b, "fabric"), 1);
	traced_run(&b, &of);
	ck_assert_int_eq(of.bad, 0);
	traced_end(&b, &of);
}
END_TEST

/* Each end by the rail of its name. */
START_TEST(flows_across_rails_are_of_both)
{
	static const struct {
		const char *rail, *want;
	} rows[] = {{"fabric/rail1", "0>3:s1 3>0:s2 "},
		    {"rail1/fabric", "1>2:s1 2>1:s2 "},
		    {"fabric", ""}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct probed log = {1, 2, rows[i].rail, .gbps = {1, 1},
					   .paths = {W1, W2}};
		bu_autofree char *text = NULL;
		struct bu_spines of;
		struct between b;

		traced_begin(&b, 2, 2, 2, same);
		between_log(&b, &log);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		traced_run(&b, &of);
		text = crossings(&of);
		ck_assert_str_eq(text, rows[i].want);
		traced_end(&b, &of);
	}
}
END_TEST

/* A quarter of four tests or more must be good, else one queue pair is too slow. */
START_TEST(tests_of_one_way_say_nothing_where_few_are_good)
{
	static const struct {
		int bad, good, one, spines; /* one: in one direction alone */
		int single;
	} rows[] = {
		{2, 0, 0, 0, 1}, /* 4 of 4 */
		{1, 0, 1, 1, 1}, /* 3 of 3 */
		{1, 0, 2, 0, 1}, /* 4 of 4 */
		{3, 1, 0, 1, 1}, /* 6 of 8 */
		{4, 1, 0, 0, 1}, /* 8 of 10 */
		{4, 0, 0, 1, 0}, /* of several queue pairs */
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct probed bad = {1, 3, "fabric", .gbps = {0.25, 0.25},
				     .paths = {W1, W1}};
		struct probed good = {1, 5, "fabric", .gbps = {1, 1},
				      .paths = {W1, W1}};
		struct probed one = {3, 5, "fabric", .gbps = {0.25, 0.25},
				     .paths = {W1, NULL}};
		struct bu_spines of;
		struct between b;

		bad.single = good.single = one.single = rows[i].single;
		traced_begin(&b, NODES, 1, EACH, NULL);
		for (int k = 0; k < rows[i].bad; k++)
			between_log(&b, &bad);
		for (int k = 0; k < rows[i].good; k++)
			between_log(&b, &good);
		for (int k = 0; k < rows[i].one; k++)
			between_log(&b, &one);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		traced_run(&b, &of);
		ck_assert_msg(of.topology.spines == rows[i].spines, "row %zu", i);
		ck_assert_msg((of.count > 0) == rows[i].spines, "row %zu", i);
		traced_end(&b, &of);
	}
}
END_TEST

START_TEST(so_many_spines_are_no_spines)
{
	for (int count = 256; count <= 257; count++) {
		bu_autofree char *names = NULL, *paths = NULL;
		struct probed log = {1, 3, "fabric", .gbps = {1, 1}};
		struct bu_spines of;
		struct between b;

		traced_begin(&b, NODES, 1, EACH, NULL);
		for (int i = 0; i < count; i++) {
			bu_text_add(&names, ",", "s%d=10.8.%d.%d", i, i / 128, i % 128);
			bu_text_add(&paths, "", "%s{'hops':['10.8.%d.%d']}",
				    i ? "," : "[", i / 128, i % 128);
		}
		bu_text_add(&paths, "", "]");
		log.paths[0] = paths;
		between_log(&b, &log);
		free(between_network(&b, "fabric")->spine_addresses);
		between_network(&b, "fabric")->spine_addresses = bu_steal(&names);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		traced_run(&b, &of);
		ck_assert_int_eq(of.topology.spines, count > 256 ? 0 : count);
		traced_end(&b, &of);
	}
}
END_TEST

/* A leaf of which something is known crosses each spine both ways, or has had its
 * tests. */
START_TEST(a_leaf_lacks_what_it_did_not_cross)
{
	static const struct probed all[] = {
		{1, 3, "fabric", .gbps = {1, 1}, .paths = {W1, W1}},
		{3, 5, "fabric", .gbps = {1, 1}, .paths = {W1, W1}},
		{1, 3, "fabric", .gbps = {1, 1}, .paths = {W2, W2}},
		{3, 5, "fabric", .gbps = {1, 1}, .paths = {W2, W2}},
	};
	static const struct {
		int count;          /* of these */
		struct probed last; /* as often as `times` */
		int times, lacks[LEAVES];
	} rows[] = {
		{4, {1, 3, .rail = NULL}, 0, {0, 0, 0}},
		{3,
		 {3, 5, "fabric", .gbps = {1, 1}, .paths = {W2, NULL}},
		 1,
		 {0, 0, 1}},
		{3,
		 {3, 5, "fabric", .gbps = {1, 1}, .paths = {NULL, W2}},
		 1,
		 {0, 0, 1}},
		{3,
		 {3, 5, "fabric", .gbps = {1, 1}, .paths = {W1, NULL}, .single = 1},
		 11,
		 {0, 0, 1}},
		{3,
		 {3, 5, "fabric", .gbps = {1, 1}, .paths = {W1, NULL}, .single = 1},
		 12,
		 {0, 0, 0}},
		/* of the third leaf nothing is known */
		{1,
		 {1, 3, "fabric", .gbps = {1, 1}, .paths = {W2, NULL}},
		 1,
		 {1, 1, 0}},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		int lacks = 0, over;
		struct bu_spines of;
		struct between b;

		traced_begin(&b, NODES, 1, EACH, NULL);
		for (int k = 0; k < rows[i].count; k++)
			between_log(&b, &all[k]);
		for (int k = 0; k < rows[i].times; k++)
			between_log(&b, &rows[i].last);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		b.campaign.nodes[1].asks = 0;
		over = traced_run(&b, &of);
		for (int leaf = 0; leaf < LEAVES; leaf++) {
			ck_assert_msg(of.lacks[leaf] == rows[i].lacks[leaf],
				      "row %zu, leaf %d", i, leaf);
			lacks += of.lacks[leaf];
		}
		ck_assert_int_eq(over, !lacks);
		ck_assert_int_eq(of.wanted.count > 0, lacks > 0);
		/* Who asks waits, if its leaf lacks something. */
		for (int node = 0; node < NODES; node++)
			ck_assert_int_eq(bu_spines_wait(&of, node),
					 node != 1 && of.lacks[node / EACH]);
		of.bad = 1;
		for (int node = 0; node < NODES; node++)
			ck_assert_int_eq(bu_spines_wait(&of, node), node != 1);
		traced_end(&b, &of);
	}
}
END_TEST

/* Each leaf is in one pair of those that are wanted. */
START_TEST(a_leaf_is_wanted_once)
{
	static const struct probed log[] = {
		{1, 3, "fabric", .gbps = {1, 1}, .paths = {W1, NULL}},
		{5, 7, "fabric", .gbps = {1, 1}, .paths = {W2, NULL}},
		{1, 5, "fabric", .gbps = {1, 1}, .paths = {W2, NULL}},
	};
	struct bu_spines of;
	struct between b;
	int wanted[4] = {0};

	traced_begin(&b, 8, 1, EACH, NULL);
	for (size_t i = 0; i < BU_LEN(log); i++)
		between_log(&b, &log[i]);
	ck_assert_int_eq(between_open(&b, "fabric"), 1);
	ck_assert_int_eq(traced_run(&b, &of), 0);
	ck_assert_uint_gt(of.wanted.count, 0);
	for (size_t i = 0; i < of.wanted.count; i++) {
		wanted[b.campaign.topology.leaf_of[of.wanted.list[i].a]]++;
		wanted[b.campaign.topology.leaf_of[of.wanted.list[i].b]]++;
	}
	for (int leaf = 0; leaf < 4; leaf++) {
		ck_assert_int_le(wanted[leaf], 1);
		ck_assert_int_eq(of.asked[leaf], wanted[leaf]);
	}
	traced_end(&b, &of);
}
END_TEST

/* Of two nodes, one at each leaf: the first one lacks the way from the second spine. */
START_TEST(who_may_be_asked_for_a_way)
{
	static const struct {
		int asks[2], lent[2], failed, wanted;
	} rows[] = {
		{{1, 1}, {1, 1}, 0, 1}, {{1, 0}, {1, 1}, 0, 1}, {{0, 1}, {1, 1}, 0, 1},
		{{0, 0}, {1, 1}, 0, 0}, {{1, 1}, {0, 1}, 0, 0}, {{1, 1}, {1, 0}, 0, 0},
		{{1, 1}, {1, 1}, 2, 1}, {{1, 1}, {1, 1}, 3, 0},
	};
	static const struct probed log[] = {
		{1, 2, "fabric", .gbps = {1, 1}, .paths = {W1, W1}},
		{1, 2, "fabric", .gbps = {1, 1}, .paths = {W2, NULL}}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		static const struct probed failed = {1, 2, "fabric", .failed = 1};
		struct bu_spines of;
		struct between b;
		int over;

		traced_begin(&b, 2, 1, 1, NULL);
		for (size_t k = 0; k < BU_LEN(log); k++)
			between_log(&b, &log[k]);
		for (int k = 0; k < rows[i].failed; k++)
			between_log(&b, &failed);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		for (int k = 0; k < 2; k++) {
			b.campaign.nodes[k].asks = rows[i].asks[k] != 0;
			b.campaign.nodes[k].lent = rows[i].lent[k] != 0;
		}
		over = traced_run(&b, &of);
		ck_assert_msg(of.wanted.count == (size_t)rows[i].wanted, "row %zu", i);
		ck_assert_int_eq(over, !rows[i].wanted);
		traced_end(&b, &of);
	}
}
END_TEST

/* All rails must have names for their spines. */
START_TEST(a_rail_without_names_has_no_spines)
{
	static const struct probed log = {1, 2, "fabric/rail1", .gbps = {1, 1},
					  .paths = {W1, W2}};

	for (int named = 0; named < 3; named++) {
		struct bu_spines of;
		struct between b;

		traced_begin(&b, 2, 2, 2, same);
		between_log(&b, &log);
		for (int rail = 0; rail < 2; rail++) {
			struct bu_desired_network *network =
				between_network(&b, rail ? "rail1" : "fabric");

			if (named == rail) {
				free(network->spine_addresses);
				network->spine_addresses = NULL;
			}
		}
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		traced_run(&b, &of);
		ck_assert_uint_eq(of.count, named == 2 ? 2 : 0);
		traced_end(&b, &of);
	}
}
END_TEST

/* By leaf and direction, of the newest flows alone. */
START_TEST(the_state_of_a_link_is_that_of_its_newest_flows)
{
	static const struct {
		const char *leaf, *spine;
		int dir;
		enum bu_link_state state;
	} rows[] = {
		{"leaf01", "s1", BU_DIR_OUT, BU_LINK_BAD},
		{"leaf01", "s1", BU_DIR_IN, BU_LINK_UNKNOWN},
		{"leaf01", "s1", BOTH, BU_LINK_BAD},
		{"leaf02", "s1", BU_DIR_OUT, BU_LINK_GOOD},
		{"leaf02", "s1", BU_DIR_IN, BU_LINK_BAD},
		{"leaf03", "s1", BU_DIR_IN, BU_LINK_GOOD},
		{"leaf03", "s1", BOTH, BU_LINK_GOOD},
		{"leaf01", "s2", BOTH, BU_LINK_UNKNOWN},
		{"leaf04", "s1", BOTH, BU_LINK_UNKNOWN},
		{NULL, "s1", BOTH, BU_LINK_BAD},
		{NULL, "s3", BOTH, BU_LINK_GOOD},
		{NULL, "s2", BOTH, BU_LINK_UNKNOWN},
	};
	struct over over;

	over_begin(&over, NODES, 1, EACH, NULL);
	cross(&over, 0, 1, "s2", 1);
	over.crossings[0].newest = 0;
	cross(&over, 1, 2, "s1", 0);
	cross(&over, 0, 1, "s1", 1);
	cross(&over, 2, 1, "s3", 0);
	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(bu_spines_state(&over.spines, rows[i].leaf, rows[i].spine,
					      rows[i].dir) == rows[i].state,
			      "row %zu", i);
	over_end(&over);
}
END_TEST

RIG_UNIT("paths", a_flow_is_of_the_one_spine_that_all_its_ways_took,
	 the_newest_flow_of_a_link_is_known, a_bad_flow_that_is_not_the_newest_is_over,
	 flows_across_rails_are_of_both,
	 tests_of_one_way_say_nothing_where_few_are_good, so_many_spines_are_no_spines,
	 a_leaf_lacks_what_it_did_not_cross, a_leaf_is_wanted_once,
	 who_may_be_asked_for_a_way, a_rail_without_names_has_no_spines,
	 the_state_of_a_link_is_that_of_its_newest_flows)
