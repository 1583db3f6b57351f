/* SPDX-License-Identifier: Apache-2.0 */
/* What a campaign between leaves is answered from the log: which result a flow gets,
 * which pairs are asked for, who is left out and when a leaf has had its tests. */
#include "provisioner/gate/campaign/leaf_campaign_impl.h"
#include "tests/support/between.h"

/* Two nodes at each of three leaves. */
enum { NODES = 6, EACH = 2 };
#define SAME "switch_fabric = c\n"
static const char *const same[2] = {SAME, SAME};

struct answered {
	struct bu_flow flow;
	int missing, asked; /* pairs that are wanted */
};

/* Ports of nodes by their numbers; with several rails, of this place. */
static struct answered
answer(struct between *b, int src, int src_rail, int dst, int dst_rail)
{
	int rails = b->campaign.topology.rails;
	struct answered ret = {.flow = {.src = (src - 1) * rails + src_rail,
					.dst = (dst - 1) * rails + dst_rail,
					.via = -1}};
	size_t before = b->campaign.wanted.count;

	ret.missing = bu_leaf_campaign_answer(&b->campaign, &ret.flow, 1, NULL);
	ret.asked = (int)(b->campaign.wanted.count - before);
	ck_assert_int_eq(ret.flow.path, BU_PATH_UNKNOWN);
	ck_assert_int_eq(ret.flow.qps, BU_GATE_LINK_QPS);
	return ret;
}

static void
is_asked(const struct answered *one, int want)
{
	ck_assert_int_eq(one->missing, want);
	ck_assert_int_eq(one->asked, want);
	ck_assert_int_eq(one->flow.doubt,
			 want ? BU_DOUBT_NONE | BU_DOUBT_ASKED : BU_DOUBT_NONE);
}

/* Each result once, in its direction, and then the pair is asked for. */
START_TEST(results_are_given_in_their_order_and_direction)
{
	static const struct probed log[] = {
		{1, 3, "fabric", .gbps = {0.75, 0.875}, .lost = {0, 2}},
		{1, 3, "fabric", .gbps = {9, 9},
		 .doubt = {BU_DOUBT_CLOCK, BU_DOUBT_CLOCK}},
		{1, 3, "fabric", .gbps = {0.625, 0.9375}},
	};
	static const struct {
		int src, dst;
		float gbps, lost, lat_us;
	} rows[] = {{1, 3, 0.75, 0, 3},
		    {3, 1, 0.875, 2, 4},
		    {1, 3, 0.625, 0, 3},
		    {3, 1, 0.9375, 0, 4}};
	struct answered none;
	struct between b;

	between_begin(&b, NODES, 1, EACH, NULL);
	for (size_t i = 0; i < BU_LEN(log); i++)
		between_log(&b, &log[i]);
	ck_assert_int_eq(between_open(&b, "fabric"), 1);
	b.campaign.links_wanted[0] = 1;
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct answered one = answer(&b, rows[i].src, 0, rows[i].dst, 0);

		ck_assert_int_eq(one.missing, 0);
		ck_assert_int_eq(one.asked, 0);
		ck_assert_int_eq(one.flow.doubt, 0);
		ck_assert_float_eq(one.flow.rate_gbps, rows[i].gbps);
		ck_assert_float_eq(one.flow.lost, rows[i].lost);
		ck_assert_float_eq(one.flow.lat_us, rows[i].lat_us);
		ck_assert_float_eq(one.flow.lat99_us, rows[i].lat_us + 2);
	}
	for (int turn = 0; turn < 2; turn++) {
		none = answer(&b, turn ? 3 : 1, 0, turn ? 1 : 3, 0);
		ck_assert_int_eq(none.missing, 1);
		ck_assert_int_eq(none.flow.doubt, BU_DOUBT_NONE | BU_DOUBT_ASKED);
	}
	/* The same pair once, in either order. */
	ck_assert_uint_eq(b.campaign.wanted.count, 1);
	ck_assert_int_eq(b.campaign.wanted.list[0].a, 0);
	ck_assert_int_eq(b.campaign.wanted.list[0].b, 2);
	between_close(&b);
	between_end(&b);
}
END_TEST

/* All flows of a round are answered, and one that is missing is told. */
START_TEST(a_round_is_missing_what_one_of_it_is)
{
	static const struct probed log = {1, 3, "fabric", .gbps = {0.75, 0.75}};
	struct bu_flow flows[3] = {
		{.src = 0, .dst = 4}, {.src = 2, .dst = 5}, {.src = 0, .dst = 2}};
	struct between b;

	between_begin(&b, NODES, 1, EACH, NULL);
	between_log(&b, &log);
	ck_assert_int_eq(between_open(&b, "fabric"), 1);
	b.campaign.links_wanted[2] = 1;
	ck_assert_int_eq(bu_leaf_campaign_answer(&b.campaign, flows, 3, NULL), 1);
	ck_assert_uint_eq(b.campaign.wanted.count, 2);
	ck_assert_float_eq(flows[2].rate_gbps, 0.75);
	between_close(&b);
	between_end(&b);
}
END_TEST

/* Of a rail: from leaf to leaf, as long as one of both lacks tests or some were bad. */
START_TEST(of_a_rail_no_more_is_asked_than_its_leaves_need)
{
	static const struct {
		int a, b, lacks[3], bad, asked;
	} rows[] = {
		{1, 3, {1, 1, 1}, 0, 1}, {1, 3, {1, 0, 0}, 0, 1},
		{1, 3, {0, 1, 0}, 0, 1}, {1, 3, {0, 0, 1}, 0, 0},
		{1, 3, {0, 0, 0}, 0, 0}, {1, 3, {0, 0, 0}, 1, 1},
		{1, 2, {1, 1, 1}, 0, 0}, {1, 2, {1, 1, 1}, 1, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct answered one;
		struct between b;

		between_begin(&b, NODES, 1, EACH, NULL);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		for (int leaf = 0; leaf < 3; leaf++) {
			b.campaign.links[leaf] = 2;
			b.campaign.links_wanted[leaf] = 2 + rows[i].lacks[leaf];
		}
		b.campaign.links_bad = rows[i].bad;
		one = answer(&b, rows[i].a, 0, rows[i].b, 0);
		is_asked(&one, rows[i].asked);
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* One end asks, both may be probed, and the pair did not fail too often. */
START_TEST(who_may_be_asked)
{
	static const struct {
		int asks[2], lent[2], failed, missing, asked;
	} rows[] = {
		{{1, 1}, {1, 1}, 0, 1, 1},
		{{1, 0}, {1, 1}, 0, 1, 1},
		{{0, 1}, {1, 1}, 0, 1, 1},
		{{0, 0}, {1, 1}, 0, 0, 0},
		{{1, 1}, {0, 1}, 0, 0, 0},
		{{1, 1}, {1, 0}, 0, 0, 0},
		/* It is asked again while the others go on. */
		{{1, 1}, {1, 1}, 1, 0, 1},
		{{1, 1}, {1, 1}, 2, 0, 1},
		{{1, 1}, {1, 1}, 3, 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		static const struct probed failed = {1, 3, "fabric", .failed = 1};
		struct answered one;
		struct between b;

		between_begin(&b, NODES, 1, EACH, NULL);
		for (int k = 0; k < rows[i].failed; k++)
			between_log(&b, &failed);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		b.campaign.links_wanted[0] = 1;
		for (int end = 0; end < 2; end++) {
			b.campaign.nodes[2 * end].asks = rows[i].asks[end] != 0;
			b.campaign.nodes[2 * end].lent = rows[i].lent[end] != 0;
		}
		one = answer(&b, 1, 0, 3, 0);
		ck_assert_msg(one.missing == rows[i].missing, "row %zu", i);
		ck_assert_msg(one.asked == rows[i].asked, "row %zu", i);
		ck_assert_int_eq(one.flow.doubt,
				 BU_DOUBT_NONE |
					 (rows[i].missing ? BU_DOUBT_ASKED : 0));
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* What counts is the newest result that says something; what was ever good is noted. */
START_TEST(leaves_are_noted_by_what_is_newest)
{
	static const struct {
		struct probed log[3];
		int good, bad;
	} rows[] = {
		{{{1, 3, "fabric", .gbps = {0.75, 0.75}}}, 1, 0},
		{{{1, 3, "fabric", .gbps = {0.5, 0.5}}}, 1, 0},
		{{{1, 3, "fabric", .gbps = {0.25, 0.75}}}, 0, 1},
		{{{1, 3, "fabric", .gbps = {0.75, 0.25}}},
		 1,
		 0}, /* the other direction */
		{{{1, 3, "fabric", .gbps = {0.75, 0.75}, .lost = {1, 0}}}, 0, 1},
		/* mended */
		{{{1, 3, "fabric", .gbps = {0.25, 0.25}},
		  {1, 3, "fabric", .gbps = {0.75, 0.75}}},
		 1,
		 0},
		{{{1, 3, "fabric", .gbps = {0.75, 0.75}},
		  {1, 3, "fabric", .gbps = {0.25, 0.25}}},
		 1,
		 1},
		/* no word about it */
		{{{1, 3, "fabric", .gbps = {0.25, 0.25}},
		  {1, 3, "fabric", .gbps = {0.75, 0.75}, .doubt = {1, 1}}},
		 0,
		 1},
		{{{1, 3, "fabric", .gbps = {0.25, 0.25}},
		  {1, 3, "fabric", .gbps = {0.75, 0.75}},
		  {1, 3, "fabric", .gbps = {0.25, 0.25}, .doubt = {1, 1}}},
		 1,
		 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct between b;

		between_begin(&b, NODES, 1, EACH, NULL);
		for (size_t k = 0; k < 3 && rows[i].log[k].rail; k++)
			between_log(&b, &rows[i].log[k]);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		ck_assert_int_eq(answer(&b, 1, 0, 3, 0).missing, 0);
		for (int leaf = 0; leaf < 3; leaf++) {
			int in = leaf < 2;

			ck_assert_msg(b.campaign.good[leaf] == (in && rows[i].good),
				      "row %zu, leaf %d", i, leaf);
			ck_assert_msg(b.campaign.bad[leaf] == (in ? rows[i].bad : 0),
				      "row %zu, leaf %d", i, leaf);
			ck_assert_int_eq(b.campaign.tested[leaf], 0);
		}
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* What is inside a leaf is compared with only when something between leaves was bad,
 * and is no word about either. */
START_TEST(pairs_inside_a_leaf_are_beside_it)
{
	static const struct probed log = {1, 2, "fabric", .gbps = {0.25, 0.25}};

	for (int bad = 0; bad < 2; bad++) {
		struct answered one;
		struct between b;

		between_begin(&b, NODES, 1, EACH, NULL);
		between_log(&b, &log);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		b.campaign.links_bad = bad;
		one = answer(&b, 1, 0, 2, 0);
		ck_assert_int_eq(one.missing, 0);
		ck_assert_int_eq(one.flow.doubt, bad ? 0 : BU_DOUBT_NONE);
		ck_assert_float_eq(one.flow.rate_gbps, bad ? 0.25 : 0);
		ck_assert_int_eq(b.campaign.good[0], 0);
		ck_assert_int_eq(b.campaign.bad[0], 0);
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* The text of the log has the networks in the order of the names, whoever sends. */
START_TEST(across_rails_the_log_is_found_from_both_ends)
{
	static const struct probed log = {1, 2, "fabric/rail1", .gbps = {0.75, 0.875}};
	struct answered there, back, other, within;
	struct between b;

	between_begin(&b, 2, 2, 2, same);
	between_log(&b, &log);
	ck_assert_int_eq(between_open(&b, "fabric"), 1);
	there = answer(&b, 1, 0, 2, 1);
	back = answer(&b, 2, 1, 1, 0);
	ck_assert_float_eq(there.flow.rate_gbps, 0.75);
	ck_assert_float_eq(back.flow.rate_gbps, 0.875);
	for (int leaf = 0; leaf < 2; leaf++) {
		ck_assert_int_eq(b.campaign.tested[leaf], 1);
		ck_assert_int_eq(b.campaign.good[leaf], 1);
		ck_assert_int_eq(b.campaign.bad[leaf], 0);
	}
	other = answer(&b, 1, 1, 2, 0);
	is_asked(&other, 1);
	/* Inside its leaf it is its rail's campaign to ask. */
	within = answer(&b, 1, 1, 2, 1);
	is_asked(&within, 0);
	between_close(&b);
	between_end(&b);
}
END_TEST

/* As a share of the slower link, in terms of the slowest of the fabric. */
START_TEST(rates_of_unlike_links_are_compared)
{
	static const struct probed log[] = {
		{1, 2, "fabric/rail1", .gbps = {0.75, 0.25}},
		{1, 2, "rail1/rail2", .gbps = {2, 2}},
		{1, 2, "rail2/rail1", .gbps = {0.5, 4}}};
	static const char *const more[3] = {SAME, SAME, SAME};
	struct between b;

	between_begin(&b, 2, 3, 2, more);
	for (size_t i = 0; i < BU_LEN(log); i++)
		between_log(&b, &log[i]);
	between_network(&b, "rail1")->link_gbps = 4;
	between_network(&b, "rail2")->link_gbps = 8;
	ck_assert_int_eq(between_open(&b, "fabric"), 1);
	ck_assert_double_eq(b.campaign.topology.limit_gbps, 1);
	ck_assert_float_eq(answer(&b, 1, 0, 2, 1).flow.rate_gbps, 0.75);
	ck_assert_float_eq(answer(&b, 1, 1, 2, 2).flow.rate_gbps, 0.5);
	ck_assert_int_eq(b.campaign.bad[2], 0);
	ck_assert_float_eq(answer(&b, 1, 2, 2, 1).flow.rate_gbps, 0.125);
	ck_assert_int_eq(b.campaign.bad[2], 1);
	ck_assert_float_eq(answer(&b, 2, 1, 1, 2).flow.rate_gbps, 1);
	between_close(&b);
	between_end(&b);
}
END_TEST

/* One test for each other leaf, four at most; what is there of it counts. */
START_TEST(a_leaf_wants_a_test_for_each_other_one)
{
	static const struct {
		int nodes, away, wanted[7]; /* one of them is not there */
	} rows[] = {
		{2, 0, {1, 1}},
		{3, 0, {2, 2, 2}},
		{3, 2, {1, 0, 1}},
		{5, 0, {4, 4, 4, 4, 4}},
		{7, 0, {4, 4, 4, 4, 4, 4, 4}},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct between b;

		between_begin(&b, rows[i].nodes, 1, 1, NULL);
		if (rows[i].away)
			b.gate->roles[rows[i].away - 1].ready = 0;
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		bu_leaf_campaign_count_links(&b.campaign);
		for (int leaf = 0; leaf < rows[i].nodes; leaf++) {
			ck_assert_int_eq(b.campaign.links_wanted[leaf],
					 rows[i].wanted[leaf]);
			ck_assert_int_eq(
				bu_leaf_campaign_leaf_is_done(&b.campaign, leaf),
				rows[i].wanted[leaf] == 0);
		}
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* Of a switch fabric only leaves of the same rail are tested so. */
START_TEST(leaves_of_other_rails_are_no_others_of_it)
{
	struct between b;

	between_begin(&b, 3, 2, 2, same);
	ck_assert_int_eq(between_open(&b, "fabric"), 1);
	ck_assert_int_eq(b.campaign.topology.leaves, 4);
	bu_leaf_campaign_count_links(&b.campaign);
	for (int leaf = 0; leaf < 4; leaf++)
		ck_assert_int_eq(b.campaign.links_wanted[leaf], 1);
	between_close(&b);
	between_end(&b);
}
END_TEST

/* What of the log is a test between leaves, and was it bad? Node 6 is not there. */
START_TEST(tests_between_leaves_are_counted)
{
	static const struct {
		struct probed log;
		int links[3], bad;
	} rows[] = {
		{{1, 3, "fabric", .gbps = {0.75, 0.75}}, {1, 1, 0}, 0},
		{{2, 5, "fabric", .gbps = {0.5, 0.5}}, {1, 0, 1}, 0},
		{{1, 3, "fabric", .gbps = {0.375, 0.75}}, {1, 1, 0}, 1},
		{{1, 3, "fabric", .gbps = {0.75, 0.375}}, {1, 1, 0}, 1},
		{{1, 3, "fabric", .gbps = {0.75, 0.75}, .lost = {1, 0}}, {1, 1, 0}, 1},
		{{1, 3, "fabric", .gbps = {0.75, 0.75}, .lost = {0, 1}}, {1, 1, 0}, 1},
		{{1, 2, "fabric", .gbps = {0.25, 0.25}}, {0, 0, 0}, 0},
		{{1, 3, "rail1", .gbps = {0.25, 0.25}}, {0, 0, 0}, 0},
		{{1, 3, "fabric", .gbps = {0.25, 0.25}, .doubt = {1, 0}}, {0, 0, 0}, 0},
		{{1, 3, "fabric", .gbps = {0.25, 0.25}, .doubt = {0, 1}}, {0, 0, 0}, 0},
		{{1, 3, "fabric", .gbps = {0.25, 0.25}, .boot = {"old"}}, {0, 0, 0}, 0},
		{{1, 3, "fabric", .gbps = {0.25, 0.25}, .boot = {NULL, "old"}},
		 {0, 0, 0},
		 0},
		{{1, 3, "fabric", .gbps = {0.25, 0.25}, .single = 1}, {0, 0, 0}, 0},
		{{1, 6, "fabric", .gbps = {0.25, 0.25}}, {0, 0, 0}, 0},
		{{1, 3, "fabric", .failed = 1}, {0, 0, 0}, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct between b;

		between_begin(&b, NODES, 2, EACH, NULL);
		b.gate->roles[NODES - 1].ready = 0;
		between_log(&b, &rows[i].log);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		bu_leaf_campaign_count_links(&b.campaign);
		for (int leaf = 0; leaf < 3; leaf++)
			ck_assert_msg(b.campaign.links[leaf] == rows[i].links[leaf],
				      "row %zu, leaf %d: %d", i, leaf,
				      b.campaign.links[leaf]);
		ck_assert_msg(b.campaign.links_bad == rows[i].bad, "row %zu", i);
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* By the rate of its own link, not of the slowest one. */
START_TEST(a_test_is_bad_by_its_own_link)
{
	for (int bad = 0; bad < 2; bad++) {
		const struct probed log = {1, 2, "rail1",
					   .gbps = {bad ? 1.75f : 2, bad ? 1.75f : 2}};
		struct between b;

		between_begin(&b, 2, 2, 1, same);
		between_network(&b, "rail1")->link_gbps = 4;
		between_log(&b, &log);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		bu_leaf_campaign_count_links(&b.campaign);
		ck_assert_int_eq(b.campaign.links_bad, bad);
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* Two partners or more that it gave nothing, and fewer that it gave a result. Pairs
 * inside a leaf are no word about it, nor those of another boot. */
START_TEST(who_gives_nothing_is_left_out)
{
	static const struct probed gave[] = {{1, 3, "fabric", .gbps = {0.75, 0.75}},
					     {1, 5, "fabric", .gbps = {0.75, 0.75}},
					     {1, 6, "fabric", .gbps = {0.75, 0.75}}};
	static const struct {
		struct probed failed[3];
		int gave, trusted; /* gave: first ones of these */
	} rows[] = {
		{{{1, 4, "fabric", .failed = 1}}, 0, 1},
		{{{1, 4, "fabric", .failed = 1}, {1, 6, "fabric", .failed = 1}}, 0, 0},
		{{{1, 4, "fabric", .failed = 1}, {1, 6, "fabric", .failed = 1}}, 1, 0},
		{{{1, 4, "fabric", .failed = 1}, {1, 6, "fabric", .failed = 1}}, 2, 1},
		{{{1, 4, "fabric", .failed = 1}, {1, 4, "fabric", .failed = 1}}, 0, 1},
		{{{1, 4, "fabric", .failed = 1}, {1, 2, "fabric", .failed = 1}}, 0, 1},
		{{{1, 4, "fabric", .failed = 1}, {1, 6, "rail1", .failed = 1}}, 0, 1},
		{{{1, 4, "fabric", .failed = 1},
		  {1, 6, "fabric", .failed = 1, .boot = {"old"}}},
		 0,
		 1},
		{{{1, 4, "fabric", .failed = 1},
		  {1, 6, "fabric", .failed = 1, .boot = {NULL, "old"}}},
		 0,
		 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct between b;

		between_begin(&b, NODES, 2, EACH, NULL);
		for (int k = 0; k < rows[i].gave; k++)
			between_log(&b, &gave[k]);
		for (int k = 0; k < 3 && rows[i].failed[k].rail; k++)
			between_log(&b, &rows[i].failed[k]);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		ck_assert_msg(b.campaign.trusted[0] == rows[i].trusted, "row %zu", i);
		ck_assert_int_eq(b.campaign.absent[0], !rows[i].trusted);
		for (int node = 1; node < NODES; node++) {
			ck_assert_int_eq(b.campaign.trusted[node], 1);
			ck_assert_int_eq(b.campaign.absent[node], 0);
		}
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* Of rails of one fabric, what is across counts as well, in the present boots of nodes
 * that are there. */
START_TEST(who_gives_nothing_across_is_left_out)
{
	static const struct {
		int of_one, gone; /* gone: the third node */
		struct probed second;
		int trusted;
	} rows[] = {
		{0, 0, {1, 3, "fabric/rail1", .failed = 1}, 1},
		{1, 0, {1, 3, "fabric/rail1", .failed = 1}, 0},
		{1, 0, {1, 3, "fabric/rail1", .failed = 1, .boot = {"old"}}, 1},
		{1, 0, {1, 3, "fabric/rail1", .failed = 1, .boot = {NULL, "old"}}, 1},
		{1, 1, {1, 3, "fabric/rail1", .failed = 1}, 1},
	};
	static const struct probed first = {1, 2, "fabric/rail1", .failed = 1};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		int of_one = rows[i].of_one;
		struct between b;

		between_begin(&b, 4, 2, of_one ? 2 : 4, of_one ? same : NULL);
		between_log(&b, &first);
		between_log(&b, &rows[i].second);
		if (rows[i].gone)
			b.gate->roles[2] =
				(struct bu_role){.want = b.gate->roles[2].want};
		between_open(&b, "fabric");
		ck_assert_msg(b.campaign.trusted[0] == rows[i].trusted, "row %zu", i);
		ck_assert_int_eq(b.campaign.trusted[1], 1);
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

/* Pairs that the campaign of another rail has seen are passed over, in this profile. */
START_TEST(pairs_of_another_rail_are_passed_over)
{
	static const struct {
		int own, is_of_now, counted;
	} rows[] = {{1, 1, 1}, {0, 1, 0}, {0, 0, 1}};
	static const struct probed log = {1, 3, "fabric", .gbps = {0.75, 0.75}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct between b;
		struct bu_gate_pair *pair;

		between_begin(&b, NODES, 1, EACH, NULL);
		between_log(&b, &log);
		ck_assert_int_eq(between_open(&b, "fabric"), 1);
		pair = b.gate->pairs = bu_xcalloc(1, sizeof(*b.gate->pairs));
		pair->network = rows[i].own ? (int)b.campaign.alone->index : 99;
		b.gate->pairs_count = 1;
		BU_TEXT_COPY(b.gate->pairs_of, rows[i].is_of_now
						       ? b.rig.fleet->desired->digest
						       : "another");
		bu_leaf_campaign_count_links(&b.campaign);
		ck_assert_int_eq(b.campaign.links[0], rows[i].counted);
		between_close(&b);
		between_end(&b);
	}
}
END_TEST

RIG_UNIT("leaf_campaign_answer", results_are_given_in_their_order_and_direction,
	 a_round_is_missing_what_one_of_it_is,
	 of_a_rail_no_more_is_asked_than_its_leaves_need, who_may_be_asked,
	 leaves_are_noted_by_what_is_newest, pairs_inside_a_leaf_are_beside_it,
	 across_rails_the_log_is_found_from_both_ends,
	 rates_of_unlike_links_are_compared, a_leaf_wants_a_test_for_each_other_one,
	 leaves_of_other_rails_are_no_others_of_it, tests_between_leaves_are_counted,
	 a_test_is_bad_by_its_own_link, who_gives_nothing_is_left_out,
	 who_gives_nothing_across_is_left_out, pairs_of_another_rail_are_passed_over)
