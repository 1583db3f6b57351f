/* SPDX-License-Identifier: Apache-2.0 */
/* Round trips of a made-up fabric: 32 nodes at 4 leaves, noise that is seeded. */
#include "fabric/judge/rtt.h"

#include <math.h>
#include <stdint.h>

#include "base/err.h"
#include "tests/support/unit.h"

enum { NODES = 32, LEAF = 8, PAIRS = NODES * 6 };

static uint64_t seed;

static double
chance(void)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (double)(seed >> 33) / (double)(UINT64_C(1) << 31);
}

/* real: where the cables lead. Each node to three neighbours and three others. */
static void
measure(const int *real, double spine_us, double noise_us, struct bu_rtt *ret)
{
	for (int i = 0; i < PAIRS; i++) {
		int a = i / 6, step = i % 6;
		int b = step < 3 ? a / LEAF * LEAF + (a + 1 + step) % LEAF
				 : (a + LEAF + (step - 3) * 5 + 1) % NODES;

		ret[i] = (struct bu_rtt){a, b,
					 2 + (real[a] == real[b] ? 0 : spine_us) +
						 noise_us * chance()};
	}
}

static void
declare(int *leaf_of)
{
	for (int i = 0; i < NODES; i++)
		leaf_of[i] = i / LEAF;
}

START_TEST(a_true_tree_agrees)
{
	int leaf_of[NODES];
	struct bu_rtt pairs[PAIRS];
	char wrong[NODES];

	declare(leaf_of);
	for (seed = 1; seed < 200; seed++) {
		struct bu_rtt_result result;
		uint64_t kept = seed;

		measure(leaf_of, 1.2, 0.3, pairs);
		seed = kept;
		result = bu_rtt_judge(pairs, PAIRS, leaf_of, NODES, wrong);
		ck_assert_int_eq(result.verdict, BU_RTT_AGREES);
		ck_assert_double_lt(result.near_us, result.far_us);
		for (int i = 0; i < NODES; i++)
			ck_assert_int_eq(wrong[i], 0);
	}
}
END_TEST

START_TEST(two_swapped_nodes_are_named_and_nobody_else)
{
	int leaf_of[NODES], real[NODES];
	struct bu_rtt pairs[PAIRS];
	char wrong[NODES];

	for (int i = 0; i < 100; i++) {
		int x = i % NODES, y = (i * 7 + LEAF) % NODES;
		struct bu_rtt_result result;

		declare(leaf_of);
		declare(real);
		if (real[x] == real[y])
			continue;
		real[x] = leaf_of[y];
		real[y] = leaf_of[x];
		seed = (uint64_t)i + 1;
		measure(real, 1.2, 0.3, pairs);
		result = bu_rtt_judge(pairs, PAIRS, leaf_of, NODES, wrong);
		ck_assert_int_eq(result.verdict, BU_RTT_DISAGREES);
		for (int k = 0; k < NODES; k++)
			ck_assert_msg(wrong[k] == (k == x || k == y), "%d %d: %d", x, y,
				      k);
	}
}
END_TEST

START_TEST(what_cannot_be_told_apart_is_not_judged)
{
	int leaf_of[NODES], one_leaf[NODES] = {0};
	struct bu_rtt pairs[PAIRS];
	char wrong[NODES];

	declare(leaf_of);
	seed = 5;
	measure(leaf_of, 0.1, 0.5, pairs); /* noise above the difference */
	ck_assert_int_eq(bu_rtt_judge(pairs, PAIRS, leaf_of, NODES, wrong).verdict,
			 BU_RTT_UNKNOWN);
	measure(leaf_of, 1.2, 0.3, pairs);
	ck_assert_int_eq(bu_rtt_judge(pairs, PAIRS, one_leaf, NODES, wrong).verdict,
			 BU_RTT_UNKNOWN);
	ck_assert_int_eq(bu_rtt_judge(pairs, 0, leaf_of, NODES, wrong).verdict,
			 BU_RTT_UNKNOWN);
	/* Numbers that make no sense are left out. */
	for (int i = 0; i < PAIRS; i++)
		pairs[i].min_us = i % 2 ? NAN : -1;
	pairs[0].a = -3;
	pairs[1].b = NODES;
	ck_assert_int_eq(bu_rtt_judge(pairs, PAIRS, leaf_of, NODES, wrong).verdict,
			 BU_RTT_UNKNOWN);
}
END_TEST

/* Three of each kind say where the border is, two do not. */
START_TEST(three_pairs_of_each_kind_are_enough)
{
	static const struct bu_rtt pairs[] = {{0, 1, 2.0}, {8, 9, 2.1},  {16, 17, 2.0},
					      {0, 8, 3.2}, {1, 16, 3.3}, {9, 17, 3.2}};
	static const struct {
		size_t from, count;
		enum bu_rtt_verdict verdict;
	} rows[] = {
		{0, 6, BU_RTT_AGREES},
		{0, 5, BU_RTT_UNKNOWN}, /* two far ones */
		{1, 5, BU_RTT_UNKNOWN}, /* two near ones */
	};
	int leaf_of[NODES];
	char wrong[NODES];

	declare(leaf_of);
	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_int_eq(bu_rtt_judge(pairs + rows[i].from, rows[i].count,
					      leaf_of, NODES, wrong)
					 .verdict,
				 rows[i].verdict);
}
END_TEST

BU_UNIT("rtt", a_true_tree_agrees, two_swapped_nodes_are_named_and_nobody_else,
	what_cannot_be_told_apart_is_not_judged, three_pairs_of_each_kind_are_enough)
