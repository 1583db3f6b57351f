/* SPDX-License-Identifier: Apache-2.0 */
/* What stands accused between leaves, in which words, how long, and who hears of it. */
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "provisioner/gate/campaign/leaf_campaign_impl.h"
#include "tests/support/between.h"

/* Two nodes at each of three leaves. */
enum { NODES = 6, EACH = 2, LEAVES = 3, BOTH = BU_DIR_OUT | BU_DIR_IN };
#define SAME "switch_fabric = c\n"
static const char *const same[2] = {SAME, SAME};

static json_t *
list_of(const struct over *over)
{
	return json_object_get(over->b.gate->leaf_accused, over->b.campaign.fabric);
}

/* Its keys are these, with ' for ". */
static void
stands(struct over *over, const char *want)
{
	bu_autojson json_t *keys = json_array(), *should = quoted(want);
	bu_autofree char *is = NULL;
	json_t *entry;
	size_t i;

	bu_leaf_campaign_keep(&over->b.campaign, &over->spines);
	json_array_foreach (list_of(over), i, entry)
		json_array_append(keys, json_object_get(entry, "key"));
	is = json_dumps(keys, JSON_COMPACT);
	ck_assert_msg(json_equal(keys, should), "%s, not %s", is, want);
}

/* What was bad, and still is: bundles, leaves and the spines, but no port. */
START_TEST(what_is_bad_now_is_accused)
{
	static const struct {
		struct bu_accusation one;
		int bad; /* leaf */
		const char *want;
	} rows[] = {
		{{.what = BU_WHAT_LINK, .leaf = 1, .dir = BU_DIR_OUT},
		 1,
		 "[[[3,'leaf02',1]]]"},
		{{.what = BU_WHAT_LINK, .leaf = 1, .dir = BU_DIR_IN},
		 1,
		 "[[[3,'leaf02',2]]]"},
		{{.what = BU_WHAT_LINK, .leaf = 1, .dir = BOTH},
		 1,
		 "[[[3,'leaf02',0]]]"},
		{{.what = BU_WHAT_LINK, .leaf = 1, .dir = BOTH}, 0, "[]"},
		{{.what = BU_WHAT_LEAF, .leaf = 2, .dir = BOTH},
		 2,
		 "[[[1,'leaf03',0]]]"},
		{{.what = BU_WHAT_SPINE}, 2, "[[[2,'',0]]]"},
		{{.what = BU_WHAT_ENDPOINT, .leaf = 1}, 1, "[]"},
		{{.what = BU_WHAT_INCONCLUSIVE, .leaf = 1}, 1, "[]"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct over over;

		over_begin(&over, NODES, 1, EACH, NULL);
		accuse(&over, rows[i].one);
		over.b.campaign.bad[rows[i].bad] = 1;
		over.b.campaign.good[rows[i].bad] = 1;
		stands(&over, rows[i].want);
		over_end(&over);
	}
}
END_TEST

/* Of single links: with their spine; only while flows over them are bad. */
static const struct {
	struct bu_accusation one;
	int from, to;
	const char *spine;
	int bad;
	const char *want, *words;
} single_links[] = {
	{{.what = BU_WHAT_LINK, .leaf = 1, .spine = 1, .dir = BU_DIR_OUT},
	 1,
	 0,
	 "s2",
	 1,
	 "[[[3,'leaf02',1,'s2']]]",
	 "the link between leaf leaf02 (rail fabric) and spine s2, to the "
	 "spine: "},
	{{.what = BU_WHAT_LINK, .leaf = 1, .spine = 1, .dir = BU_DIR_IN},
	 0,
	 1,
	 "s2",
	 1,
	 "[[[3,'leaf02',2,'s2']]]",
	 ", from the spine: "},
	{{.what = BU_WHAT_LINK, .leaf = 1, .spine = 0, .dir = BOTH},
	 0,
	 1,
	 "s1",
	 1,
	 "[[[3,'leaf02',0,'s1']]]",
	 "spine s1: "},
	/* the flow took another way, or was good */
	{{.what = BU_WHAT_LINK, .leaf = 1, .spine = 1, .dir = BU_DIR_OUT},
	 0,
	 1,
	 "s2",
	 1,
	 "[]",
	 NULL},
	{{.what = BU_WHAT_LINK, .leaf = 1, .spine = 1, .dir = BU_DIR_OUT},
	 1,
	 0,
	 "s1",
	 1,
	 "[]",
	 NULL},
	{{.what = BU_WHAT_LINK, .leaf = 1, .spine = 1, .dir = BU_DIR_OUT},
	 1,
	 0,
	 "s2",
	 0,
	 "[]",
	 NULL},
	{{.what = BU_WHAT_SPINE, .spine = 1},
	 2,
	 0,
	 "s2",
	 1,
	 "[[[2,'',0,'s2']]]",
	 "accuse spine s2: "},
	{{.what = BU_WHAT_ENDPOINT, .leaf = 1}, 1, 0, "s1", 1, "[]", NULL},
	{{.what = BU_WHAT_INCONCLUSIVE}, 1, 0, "s1", 1, "[]", NULL},
};

START_TEST(single_links_are_accused_with_their_spine)
{
	for (size_t i = 0; i < BU_LEN(single_links); i++) {
		struct over over;
		const json_t *entry;

		over_begin(&over, NODES, 1, EACH, NULL);
		accuse_link(&over, single_links[i].one);
		cross(&over, single_links[i].from, single_links[i].to,
		      single_links[i].spine, single_links[i].bad);
		stands(&over, single_links[i].want);
		entry = json_array_get(list_of(&over), 0);
		if (single_links[i].words) {
			rig_text_has(rig_sentence(json_object_get(entry, "said")),
				     single_links[i].words);
			ck_assert(json_is_true(json_object_get(entry, "links")));
		}
		over_end(&over);
	}
}
END_TEST

/* Its bundle is not accused besides; that of another leaf is. */
START_TEST(a_link_stands_for_its_bundle)
{
	struct over over;

	over_begin(&over, NODES, 1, EACH, NULL);
	for (int leaf = 0; leaf < LEAVES; leaf++)
		over.b.campaign.bad[leaf] = 1;
	accuse_link(&over, (struct bu_accusation){
				   .what = BU_WHAT_LINK, .leaf = 1, .dir = BOTH});
	cross(&over, 1, 0, "s1", 1);
	accuse(&over,
	       (struct bu_accusation){.what = BU_WHAT_LINK, .leaf = 1, .dir = BOTH});
	accuse(&over,
	       (struct bu_accusation){.what = BU_WHAT_LINK, .leaf = 2, .dir = BOTH});
	stands(&over, "[[[3,'leaf02',0,'s1']],[[3,'leaf03',0]]]");
	/* Nor is it kept, where it stood before; the link is, once. */
	over.b.campaign.report.count = 0;
	json_array_append_new(list_of(&over),
			      quoted("{'key':[[3,'leaf02',0]],'said':'of before',"
				     "'nodes':{},'leaves':{'leaf02':true},"
				     "'links':false}"));
	stands(&over, "[[[3,'leaf02',0,'s1']],[[3,'leaf03',0]]]");
	over_end(&over);
}
END_TEST

/* Whose part was measured again and is good is gone; what nothing is known of stays. */
static const struct {
	const char *before;
	int good[LEAVES];
	int cross, bad; /* a flow from leaf02 to leaf01 over s1 */
	int stays;
} stood[] = {
	{"{'key':[[3,'leaf02',0]],'leaves':{'leaf02':true}}", {1, 0, 1}, 0, 0, 1},
	{"{'key':[[3,'leaf02',0]],'leaves':{'leaf02':true}}", {0, 1, 0}, 0, 0, 0},
	{"{'key':[[3,'gone',0]],'leaves':{'gone':true}}", {0, 0, 0}, 0, 0, 0},
	{"{'key':[[2,'',0]],'leaves':{'leaf01':true,'leaf02':true}}",
	 {1, 0, 1},
	 0,
	 0,
	 1},
	{"{'key':[[2,'',0]],'leaves':{'leaf01':true,'leaf02':true}}",
	 {1, 1, 0},
	 0,
	 0,
	 0},
	{"{'key':{'unexplained':[[1,'leaf02',0]]},'leaves':{'leaf02':true}}",
	 {0, 0, 0},
	 0,
	 0,
	 0},
	/* single links by their flows alone */
	{"{'key':[[3,'leaf02',1,'s1']],'leaves':{'leaf02':true},'links':true}",
	 {1, 1, 1},
	 0,
	 0,
	 1},
	{"{'key':[[3,'leaf02',1,'s1']],'leaves':{'leaf02':true},'links':true}",
	 {1, 1, 1},
	 1,
	 1,
	 1},
	{"{'key':[[3,'leaf02',1,'s1']],'leaves':{'leaf02':true},'links':true}",
	 {0, 0, 0},
	 1,
	 0,
	 0},
	{"{'key':[[3,'leaf02',0,'s1']],'leaves':{'leaf02':true},'links':true}",
	 {0, 0, 0},
	 1,
	 0,
	 0},
	{"{'key':[[2,'',0,'s1']],'leaves':{'leaf02':true},'links':true}",
	 {0, 0, 0},
	 1,
	 0,
	 0},
	{"{'key':[[2,'',0,'s2']],'leaves':{'leaf02':true},'links':true}",
	 {0, 0, 0},
	 1,
	 0,
	 1},
};

START_TEST(what_stood_before_goes_when_its_part_is_good)
{
	for (size_t i = 0; i < BU_LEN(stood); i++) {
		bu_autojson json_t *before = quoted(stood[i].before);
		struct over over;

		over_begin(&over, NODES, 1, EACH, NULL);
		json_object_set_new(over.b.gate->leaf_accused, "rail fabric",
				    json_pack("[O]", before));
		for (int leaf = 0; leaf < LEAVES; leaf++)
			over.b.campaign.good[leaf] = stood[i].good[leaf] != 0;
		if (stood[i].cross)
			cross(&over, 1, 0, "s1", stood[i].bad);
		bu_leaf_campaign_keep(&over.b.campaign, &over.spines);
		ck_assert_msg((json_array_size(list_of(&over)) == 1) == stood[i].stays,
			      "row %zu", i);
		over_end(&over);
	}
}
END_TEST

/* It is the same one, in the words of now. */
START_TEST(what_is_accused_again_stands_once)
{
	struct over over;

	over_begin(&over, NODES, 1, EACH, NULL);
	json_object_set_new(over.b.gate->leaf_accused, "rail fabric",
			    quoted("[{'key':[[3,'leaf02',0]],'said':'of before',"
				   "'leaves':{'leaf02':true}}]"));
	over.b.campaign.bad[1] = 1;
	accuse(&over,
	       (struct bu_accusation){.what = BU_WHAT_LINK, .leaf = 1, .dir = BOTH});
	stands(&over, "[[[3,'leaf02',0]]]");
	rig_text_has(rig_sentence(json_object_get(json_array_get(list_of(&over), 0),
						  "said")),
		     "accuse the uplinks of leaf02");
	over_end(&over);
}
END_TEST

/* Where nothing is accused, leaves with bad results and no good one are named. */
START_TEST(what_is_bad_for_no_known_reason_is_named)
{
	static const struct {
		int bad[LEAVES], good[LEAVES], accused;
		const char *want;
	} rows[] = {
		{{0, 1, 0}, {0, 0, 0}, 0, "[{'unexplained':[[1,'leaf02',0]]}]"},
		{{0, 1, 2}, {1, 1, 0}, 0, "[{'unexplained':[[1,'leaf03',0]]}]"},
		{{0, 0, 0}, {0, 0, 0}, 0, "[]"},
		{{1, 1, 1}, {0, 0, 0}, 1, "[[[3,'leaf02',0]]]"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct over over;
		const json_t *entry;

		over_begin(&over, NODES, 1, EACH, NULL);
		for (int leaf = 0; leaf < LEAVES; leaf++) {
			over.b.campaign.bad[leaf] = rows[i].bad[leaf];
			over.b.campaign.good[leaf] = rows[i].good[leaf] != 0;
		}
		if (rows[i].accused)
			accuse(&over, (struct bu_accusation){.what = BU_WHAT_LINK,
							     .leaf = 1,
							     .dir = BOTH});
		stands(&over, rows[i].want);
		entry = json_array_get(list_of(&over), 0);
		if (i == 0) {
			rig_text_has(rig_sentence(json_object_get(entry, "said")),
				     "rail fabric: no pair of leaf leaf02 (rail "
				     "fabric) with another leaf was good");
			entry_is(entry, "nodes", "{'node003':true,'node004':true}");
			entry_is(entry, "leaves", "{'leaf02':true}");
		}
		over_end(&over);
	}
}
END_TEST

/* Eight of them, however many there are; of those not tested the others are counted. */
START_TEST(long_lists_have_an_end)
{
	static const struct {
		int tested, entries; /* of twelve leaves */
		const char *last;
	} rows[] = {
		{0, 9, "switch fabric c: 4 more leaves were not tested across rails"},
		{3, 9, "switch fabric c: 1 more leaf was not tested across rails"},
		{4, 8, " was not tested across rails: no pair of it gave a result"},
		{12, 0, NULL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct over over;
		size_t count;

		over_begin(&over, 6, 2, 1, same);
		for (int leaf = 0; leaf < rows[i].tested; leaf++)
			over.b.campaign.tested[leaf] = 1;
		bu_leaf_campaign_keep(&over.b.campaign, &over.spines);
		count = json_array_size(list_of(&over));
		ck_assert_uint_eq(count, (size_t)rows[i].entries);
		if (rows[i].last)
			rig_text_has(rig_sentence(json_object_get(
					     json_array_get(list_of(&over), count - 1),
					     "said")),
				     rows[i].last);
		over_end(&over);
	}
	for (int bad = 8; bad <= 10; bad++) {
		struct over over;

		over_begin(&over, 10, 1, 1, NULL);
		for (int leaf = 0; leaf < bad; leaf++)
			over.b.campaign.bad[leaf] = 1;
		bu_leaf_campaign_keep(&over.b.campaign, &over.spines);
		ck_assert_uint_eq(json_array_size(list_of(&over)), 8);
		over_end(&over);
	}
}
END_TEST

/* A leaf that has others across, of nodes that are there. */
START_TEST(a_leaf_without_a_test_is_named)
{
	struct over over;
	const json_t *entry;

	over_begin(&over, 4, 2, 2, same);
	over.b.campaign.tested[0] = over.b.campaign.tested[2] = 1;
	stands(&over, "[{'untested':[[1,'leaf11',0]]},{'untested':[[1,'leaf12',0]]}]");
	entry = json_array_get(list_of(&over), 0);
	rig_text_has(rig_sentence(json_object_get(entry, "said")),
		     "switch fabric c: leaf leaf11 (rail rail1) was not tested");
	entry_is(entry, "nodes", "{'node001':true,'node002':true}");
	/* Those of the second leaf of each rail are not there. */
	over.b.campaign.nodes[2].there = over.b.campaign.nodes[3].there = 0;
	stands(&over, "[{'untested':[[1,'leaf11',0]]}]");
	/* There is no leaf of the other rail. */
	for (int port = 0; port < 8; port += 2)
		over.b.campaign.no_port[port] = 1;
	stands(&over, "[]");
	over_end(&over);
}
END_TEST

static json_t *
warnings_for(const struct over *over, const struct bu_node *node)
{
	json_t *list = json_array();

	bu_leaf_campaign_warnings(over->b.gate, node, list);
	return list;
}

/* All of the site, of a node what accuses its leaves; gone with the network. */
START_TEST(who_hears_of_it_and_how_long)
{
	struct over over;
	bu_autojson json_t *all = NULL, *own = NULL, *left = NULL, *none = NULL;

	over_begin(&over, NODES, 1, EACH, NULL);
	json_decref(over.b.gate->leaf_accused);
	over.b.gate->leaf_accused =
		quoted("{'rail fabric':[{'said':'A','nodes':{'node001':"
		       "true}},{'said':'B','nodes':{}}],"
		       "'rail gone':[{'said':'C','nodes':{}}],"
		       "'fabric':[{'said':'D','nodes':{'node001':true}}]"
		       "}");
	all = warnings_for(&over, NULL);
	ck_assert_uint_eq(json_array_size(all), 4);
	own = warnings_for(&over, rig_node(&over.b.rig, 1));
	ck_assert_uint_eq(json_array_size(own), 2);
	ck_assert_str_eq(json_string_value(json_array_get(own, 0)), "A");
	bu_leaf_campaign_forget_gone(over.b.gate);
	left = warnings_for(&over, NULL);
	ck_assert_uint_eq(json_array_size(left), 2);
	ck_assert_str_eq(json_string_value(json_array_get(left, 1)), "B");
	bu_leaf_campaign_forget(over.b.gate, "rail fabric");
	none = warnings_for(&over, NULL);
	ck_assert_uint_eq(json_array_size(none), 0);
	over_end(&over);
}
END_TEST

/* Of two at different leaves, one of which is accused. */
START_TEST(a_slow_pair_is_explained_by_its_leaf)
{
	static const struct {
		struct bu_pair_log log;
		const char *key, *node;
		int explains;
	} rows[] = {
		{{.name = {"node001", "node003"}, .rail = "fabric"},
		 "rail fabric",
		 "node001",
		 1},
		{{.name = {"node001", "node003"}, .rail = "fabric"},
		 "rail fabric",
		 "node003",
		 1},
		{{.name = {"node001", "node003"}, .rail = "fabric"},
		 "rail fabric",
		 "node005",
		 0},
		{{.name = {"node001", "node003"}, .rail = "fabric"},
		 "rail other",
		 "node001",
		 0},
		{{.name = {"node001", "node002"}, .rail = "fabric"},
		 "rail fabric",
		 "node001",
		 0},
		{{.name = {"node001", "node003"}, .rail = "rail1"},
		 "rail fabric",
		 "node001",
		 0},
		{{.name = {"node000", "node003"}, .rail = "fabric"},
		 "rail fabric",
		 "node003",
		 0},
		{{.name = {"node001", "node009"}, .rail = "fabric"},
		 "rail fabric",
		 "node001",
		 0},
	};
	struct over over;

	over_begin(&over, NODES, 1, EACH, NULL);
	ck_assert_int_eq(bu_leaf_campaign_explains(over.b.gate, &rows[0].log), 0);
	bu_gate_keep_shape(over.b.gate, between_network(&over.b, "fabric"),
			   &over.b.campaign.topology);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		json_decref(over.b.gate->leaf_accused);
		over.b.gate->leaf_accused =
			json_pack("{s:[{s:{}},{s:{s:b}}]}", rows[i].key, "nodes",
				  "nodes", rows[i].node, 1);
		ck_assert_msg(bu_leaf_campaign_explains(over.b.gate, &rows[i].log) ==
				      rows[i].explains,
			      "row %zu", i);
	}
	over_end(&over);
}
END_TEST

RIG_UNIT("leaf_campaign_keep", what_is_bad_now_is_accused,
	 single_links_are_accused_with_their_spine, a_link_stands_for_its_bundle,
	 what_stood_before_goes_when_its_part_is_good,
	 what_is_accused_again_stands_once, what_is_bad_for_no_known_reason_is_named,
	 long_lists_have_an_end, a_leaf_without_a_test_is_named,
	 who_hears_of_it_and_how_long, a_slow_pair_is_explained_by_its_leaf)
