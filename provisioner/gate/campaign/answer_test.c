/* SPDX-License-Identifier: Apache-2.0 */
/* What a campaign inside a rail is answered from the log: results, questions, and pairs
 * that are asked seldom because they gave nothing so often. */
#include "provisioner/gate/campaign/campaign.h"
#include "tests/support/between.h"

enum { NODES = 6 };

struct asked {
	struct between b;
	struct bu_campaign_state campaign;
};

/* trusted: bits of nodes, from 1; the campaign has asked for nothing yet. */
static void
asked_open(struct asked *a, unsigned trusted)
{
	ck_assert_int_gt(bu_campaign_state_open(a->b.gate,
						between_network(&a->b, "fabric"),
						&a->campaign),
			 0);
	a->campaign.wanted.count = a->campaign.tired.count = 0;
	for (int i = 0; i < NODES; i++) {
		a->campaign.trusted[i] = trusted >> (i + 1) & 1;
		a->campaign.tired_of[i] = 0;
		a->campaign.tired_doubt[i] = 0;
	}
	for (size_t i = 0; i < a->campaign.index_count; i++) {
		a->campaign.index[i].taken[0] = a->campaign.index[i].taken[1] = 0;
		a->campaign.index[i].is_tired = 0;
	}
	a->campaign.found = (struct bu_found){.a = -1};
}

static void
asked_close(struct asked *a)
{
	bu_campaign_state_close(&a->campaign);
	between_end(&a->b);
}

/* By numbers of nodes. */
static struct bu_flow
ask(struct asked *a, int src, int dst, int *ret_missing)
{
	struct bu_flow flow = {.src = src - 1, .dst = dst - 1, .via = -1};

	*ret_missing = bu_gate_answer(&a->campaign, &flow, 1, NULL);
	return flow;
}

static enum bu_known
known(struct asked *a, int src, int dst)
{
	const struct bu_flow flow = {.src = src - 1, .dst = dst - 1};

	return bu_gate_known(&a->campaign, &flow);
}

/* Each once, in its direction, from either end; those in doubt are passed over. */
START_TEST(results_are_given_in_their_order)
{
	static const struct probed log[] = {
		{1, 2, "fabric", .gbps = {0.5, 0.25}, .lost = {1, 2}},
		{1, 2, "fabric", .gbps = {9, 0.75}, .doubt = {1, 0}},
		{1, 2, "fabric", .gbps = {1, 9}, .doubt = {0, 1}},
	};
	static const struct {
		int src, dst;
		float gbps, lost, lat_us;
	} rows[] = {{1, 2, 0.5, 1, 3},
		    {2, 1, 0.25, 2, 4},
		    {2, 1, 0.75, 0, 4},
		    {1, 2, 1, 0, 3}};
	struct asked a;
	int missing;

	between_begin(&a.b, NODES, 1, NODES, NULL);
	for (size_t i = 0; i < BU_LEN(log); i++)
		between_log(&a.b, &log[i]);
	asked_open(&a, 0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_flow flow;

		ck_assert_int_eq(known(&a, rows[i].src, rows[i].dst), BU_KNOWN_RESULT);
		flow = ask(&a, rows[i].src, rows[i].dst, &missing);
		ck_assert_int_eq(missing, 0);
		ck_assert_int_eq(flow.doubt, 0);
		ck_assert_int_eq(flow.path, BU_PATH_UNKNOWN);
		ck_assert_float_eq(flow.rate_gbps, rows[i].gbps);
		ck_assert_float_eq(flow.lost, rows[i].lost);
		ck_assert_float_eq(flow.lat_us, rows[i].lat_us);
		ck_assert_float_eq(flow.lat99_us, rows[i].lat_us + 2);
	}
	/* The last one says something in one direction only: that is a failure. */
	ck_assert_int_eq(known(&a, 1, 2), BU_KNOWN_FAILED);
	ck_assert_int_eq(ask(&a, 1, 2, &missing).doubt, BU_DOUBT_NONE | BU_DOUBT_ASKED);
	ck_assert_int_eq(missing, 1);
	ask(&a, 2, 1, &missing);
	ck_assert_uint_eq(a.campaign.wanted.count, 1);
	ask(&a, 2, 3, &missing);
	ask(&a, 1, 2, &missing);
	ck_assert_uint_eq(a.campaign.wanted.count, 3);
	/* A loopback is none of them. */
	ck_assert_int_eq(known(&a, 1, 1), BU_KNOWN_NOT);
	asked_close(&a);
}
END_TEST

/* Of two that are proven no more is asked. */
START_TEST(what_is_not_there_is_asked_for)
{
	static const struct {
		unsigned trusted;
		int asked;
	} rows[] = {{0, 1}, {1 << 1, 1}, {1 << 2, 1}, {1 << 1 | 1 << 2, 0}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_flow flow;
		struct asked a;
		int missing;

		between_begin(&a.b, NODES, 1, NODES, NULL);
		asked_open(&a, rows[i].trusted);
		ck_assert_int_eq(known(&a, 1, 2), BU_KNOWN_NOT);
		flow = ask(&a, 1, 2, &missing);
		ck_assert_int_eq(missing, rows[i].asked);
		ck_assert_uint_eq(a.campaign.wanted.count, (size_t)rows[i].asked);
		ck_assert_int_eq(flow.doubt,
				 BU_DOUBT_NONE | (missing ? BU_DOUBT_ASKED : 0));
		asked_close(&a);
	}
}
END_TEST

/* Three times nothing, one after the other; what says nothing counts as well. */
START_TEST(a_pair_that_gave_nothing_so_often_is_tired)
{
	static const struct probed failed = {1, 2, "fabric", .failed = 1},
				   doubtful = {1, 2, "fabric", .gbps = {1, 1},
					       .doubt = {BU_DOUBT_CLOCK, 0}},
				   good = {1, 2, "fabric", .gbps = {1, 1}};
	static const struct {
		int good, doubtful, failed;
		enum bu_known known;
		int doubt;
	} rows[] = {
		{0, 0, 1, BU_KNOWN_FAILED, 0},
		{0, 0, 2, BU_KNOWN_FAILED, 0},
		{0, 0, 3, BU_KNOWN_TIRED, 0},
		{0, 1, 2, BU_KNOWN_TIRED, BU_DOUBT_CLOCK},
		{1, 1, 1, BU_KNOWN_FAILED, 0},
		{0, 3, 0, BU_KNOWN_TIRED, BU_DOUBT_CLOCK},
		{1, 0, 3, BU_KNOWN_TIRED, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		int missing, tired = rows[i].known == BU_KNOWN_TIRED;
		struct asked a;

		between_begin(&a.b, NODES, 1, NODES, NULL);
		for (int k = 0; k < rows[i].good; k++)
			between_log(&a.b, &good);
		for (int k = 0; k < rows[i].doubtful; k++)
			between_log(&a.b, &doubtful);
		for (int k = 0; k < rows[i].failed; k++)
			between_log(&a.b, &failed);
		ck_assert_int_eq(bu_gate_failures(&a.b.rig.fleet->measurements.logs[0]),
				 rows[i].doubtful + rows[i].failed);
		asked_open(&a, 0);
		if (rows[i].good)
			ask(&a, 1, 2, &missing);
		ck_assert_msg(known(&a, 1, 2) == rows[i].known, "row %zu", i);
		for (int turn = 0; turn < 2; turn++) {
			struct bu_flow flow = ask(&a, 1, 2, &missing);

			ck_assert_int_eq(missing, !tired);
			ck_assert_msg(flow.doubt == (BU_DOUBT_NONE |
						     (tired ? rows[i].doubt
							    : BU_DOUBT_ASKED)),
				      "row %zu: %d", i, flow.doubt);
		}
		/* Once, however often it is asked for. */
		ck_assert_uint_eq(a.campaign.tired.count, (size_t)tired);
		ck_assert_uint_eq(a.campaign.wanted.count, (size_t)!tired);
		for (int k = 0; k < 2; k++) {
			ck_assert_int_eq(a.campaign.tired_of[k], tired);
			ck_assert_int_eq(a.campaign.tired_doubt[k],
					 tired ? rows[i].doubt : 0);
		}
		ck_assert_int_eq(a.campaign.tired_of[2], 0);
		asked_close(&a);
	}
}
END_TEST

/* Of a node with three such partners another one is asked by turns only. */
START_TEST(a_node_that_tired_three_is_asked_by_turns)
{
	static const struct {
		int tired_of[2];
		unsigned trusted;
		enum bu_turn turn;
		int asked, doubt;
	} rows[] = {
		{{2, 2}, 0, BU_TURN_NONE, 1, 0},
		{{3, 0}, 0, BU_TURN_NONE, 0, BU_DOUBT_CLOCK},
		{{0, 3}, 0, BU_TURN_NONE, 0, BU_DOUBT_LIMIT},
		{{3, 3}, 0, BU_TURN_TIRED, 0, BU_DOUBT_CLOCK},
		{{3, 3}, 0, BU_TURN_OTHERS, 1, 0},
		{{3, 0}, 1 << 1, BU_TURN_NONE, 1, 0},
		{{3, 0}, 1 << 2, BU_TURN_NONE, 0, BU_DOUBT_CLOCK},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_flow flow;
		struct asked a;
		int missing;

		between_begin(&a.b, NODES, 1, NODES, NULL);
		asked_open(&a, rows[i].trusted);
		for (int k = 0; k < 2; k++)
			a.campaign.tired_of[k] = rows[i].tired_of[k];
		a.campaign.tired_doubt[0] = BU_DOUBT_CLOCK;
		a.campaign.tired_doubt[1] = BU_DOUBT_LIMIT;
		a.b.gate->slow_turn = rows[i].turn;
		ck_assert_msg(known(&a, 1, 2) ==
				      (rows[i].asked ? BU_KNOWN_NOT : BU_KNOWN_TIRED),
			      "row %zu", i);
		flow = ask(&a, 1, 2, &missing);
		ck_assert_int_eq(missing, rows[i].asked);
		ck_assert_int_eq(flow.doubt, BU_DOUBT_NONE | (missing ? BU_DOUBT_ASKED
								      : rows[i].doubt));
		asked_close(&a);
	}
}
END_TEST

/* Two partners that it gave nothing, no answer, or two slow probes. */
START_TEST(who_holds_others_up_comes_last)
{
	static const struct {
		int failed, unanswered, slow, last, is_slow;
	} rows[] = {{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {2, 0, 0, 1, 0},
		    {0, 1, 0, 1, 0}, {0, 0, 1, 0, 1}, {0, 0, 2, 1, 1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_node *node;
		struct asked a;

		between_begin(&a.b, NODES, 1, NODES, NULL);
		for (int k = 0; k < rows[i].failed; k++)
			between_log(&a.b,
				    &(struct probed){1, 2 + k, "fabric", .failed = 1});
		node = rig_node(&a.b.rig, 1);
		node->live.unanswered = rows[i].unanswered;
		node->live.slow_probe = rows[i].slow;
		asked_open(&a, 0);
		ck_assert_msg(a.campaign.last[0] == rows[i].last, "row %zu", i);
		ck_assert_int_eq(a.campaign.slow_probe[0], rows[i].is_slow);
		ck_assert_int_eq(a.campaign.failed_of[0], rows[i].failed);
		ck_assert_int_eq(a.campaign.last[5], 0);
		asked_close(&a);
	}
}
END_TEST

/* Of these boots, this rail, and nodes that the profile has. */
START_TEST(who_met_is_known_by_places)
{
	static const struct probed log[] = {
		{1, 3, "fabric", .gbps = {1, 1}},
		{2, 3, "fabric", .gbps = {1, 1}},
		{3, 5, "fabric", .gbps = {1, 1}},
		{1, 2, "rail1", .gbps = {1, 1}},
		{1, 4, "fabric", .gbps = {1, 1}, .boot = {"old"}},
		{1, 5, "fabric", .gbps = {1, 1}, .boot = {NULL, "old"}},
		{1, 77, "fabric", .gbps = {1, 1}},
	};
	const struct bu_pair *pairs;
	struct asked a;

	between_begin(&a.b, NODES, 2, NODES, NULL);
	for (size_t i = 0; i < BU_LEN(log); i++)
		between_log(&a.b, &log[i]);
	asked_open(&a, 0);
	for (int x = 1; x <= NODES; x++) {
		for (int y = 1; y <= NODES; y++) {
			int dir = -1;
			const struct bu_indexed_pair *indexed =
				bu_pair_index_find(&a.campaign, x - 1, y - 1, &dir);
			int low = x < y ? x : y, high = x < y ? y : x;
			int has = (low == 1 && high == 3) || (low == 2 && high == 3) ||
				  (low == 3 && high == 5);

			ck_assert_msg((indexed != NULL) == has, "%d %d", x, y);
			ck_assert_int_eq(dir, has ? x > y : -1);
			if (indexed)
				ck_assert_int_eq(
					(int)strtol(indexed->log->name[dir] + 4, NULL,
						    10),
					x);
		}
	}
	ck_assert_uint_eq(bu_pair_index_pairs(&a.campaign, &pairs), 3);
	ck_assert_int_eq(pairs[2].a, 2);
	ck_assert_int_eq(pairs[2].b, 4);
	asked_close(&a);
}
END_TEST

START_TEST(a_node_has_its_place_by_name)
{
	struct asked a;

	between_begin(&a.b, NODES, 1, NODES, NULL);
	asked_open(&a, 0);
	for (int i = 1; i <= NODES; i++)
		ck_assert_int_eq(bu_gate_place(&a.campaign.topology,
					       rig_node(&a.b.rig, i)->name),
				 i - 1);
	ck_assert_int_eq(bu_gate_place(&a.campaign.topology, "node000"), -1);
	ck_assert_int_eq(bu_gate_place(&a.campaign.topology, "node0035"), -1);
	ck_assert_int_eq(bu_gate_place(&a.campaign.topology, "node999"), -1);
	asked_close(&a);
}
END_TEST

/* Those that failed least are first; all that a node met are asked again. */
START_TEST(what_is_tired_has_an_order)
{
	struct asked a;

	between_begin(&a.b, NODES, 1, NODES, NULL);
	for (int partner = 2; partner <= 4; partner++)
		for (int k = 0; k < 6 - partner; k++)
			between_log(&a.b, &(struct probed){1, partner, "fabric",
							   .failed = 1});
	asked_open(&a, 0);
	a.campaign.absent[2] = 1;
	bu_gate_tire(&a.campaign, 0);
	ck_assert_uint_eq(a.campaign.tired.count, 2);
	ck_assert_int_eq(a.campaign.tired.list[0].b, 1);
	bu_pairs_add(&a.campaign.tired, 4, 5);
	bu_gate_order_tired(&a.campaign);
	ck_assert_uint_eq(a.campaign.tired.count, 3);
	ck_assert_int_eq(a.campaign.tired.list[0].b, 5);
	ck_assert_int_eq(a.campaign.tired.list[1].b, 3);
	ck_assert_int_eq(a.campaign.tired.list[2].b, 1);
	asked_close(&a);
}
END_TEST

RIG_UNIT("answer", results_are_given_in_their_order, what_is_not_there_is_asked_for,
	 a_pair_that_gave_nothing_so_often_is_tired,
	 a_node_that_tired_three_is_asked_by_turns, who_holds_others_up_comes_last,
	 who_met_is_known_by_places, a_node_has_its_place_by_name,
	 what_is_tired_has_an_order)
