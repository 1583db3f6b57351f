/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of stage B across rails. Called by the campaign. Pure. Invariants: no port is
 * in two pairs of a round, no two pairs of a leaf take the same spine, and no pair is
 * of one node or one rail.
 */
#include "base/err.h"
#include "fabric/stages_impl.h"
#include "model/topology.h"

/* Leaves with the same rails; there are far fewer kinds than leaves. */
struct kind {
	uint64_t rails;
	int leaves, others; /* others: leaves that one of them could meet */
};

static uint64_t
rails_of(const struct bu_order *order, int leaf)
{
	const int *start = order->start + leaf * order->rails;
	uint64_t rails = 0;

	for (int rail = 0; rail < order->rails; rail++)
		if (start[rail + 1] > start[rail])
			rails |= UINT64_C(1) << rail;
	return rails;
}

/* Pairs of two such leaves are always across rails. */
static int
have_none_in_common(uint64_t rails, uint64_t others)
{
	return rails && others && !(rails & others);
}

static int
kind_of(struct kind *kinds, int *count, uint64_t rails)
{
	for (int i = 0; i < *count; i++)
		if (kinds[i].rails == rails)
			return i;
	kinds[*count].rails = rails;
	return (*count)++;
}

static void
count_others(struct kind *kinds, int count)
{
	for (int i = 0; i < count; i++)
		for (int k = 0; k < count; k++)
			if (have_none_in_common(kinds[i].rails, kinds[k].rails))
				kinds[i].others += kinds[k].leaves;
}

/* Lists the leaves that could meet another one across; returns how many. ret_fewest:
 * the fewest others that one of them could meet. */
static int
leaves_across(const struct bu_order *order, int *ret, int *ret_fewest)
{
	size_t room = (size_t)order->leaves + 1;
	bu_autofree struct kind *kinds = bu_xcalloc(room, sizeof(*kinds));
	bu_autofree int *of = bu_xcalloc(room, sizeof(*of));
	int kinds_count = 0, count = 0;

	bu_assert(order->rails <= BU_TOPOLOGY_RAILS_MAX);
	*ret_fewest = order->leaves;
	for (int leaf = 0; leaf < order->leaves; leaf++) {
		of[leaf] = kind_of(kinds, &kinds_count, rails_of(order, leaf));
		kinds[of[leaf]].leaves++;
	}
	count_others(kinds, kinds_count);
	for (int leaf = 0; leaf < order->leaves; leaf++) {
		int others = kinds[of[leaf]].others;

		if (!others)
			continue;
		ret[count++] = leaf;
		*ret_fewest = others < *ret_fewest ? others : *ret_fewest;
	}
	return count;
}

int
bu_stage_across_rounds(const struct bu_order *order, int d)
{
	bu_autofree int *leaves = bu_xcalloc((size_t)order->leaves, sizeof(int));
	int each, n = leaves_across(order, leaves, &each), meetings;

	if (n < 2)
		return 0;
	meetings = bu_stage_group_rounds(n, d);
	/* d of the n - 1 rounds meet the same share of the other leaves */
	each = meetings < bu_schedule_rounds(n) ? each * d / (n - 1) : each;
	each = each > 0 ? each : 1;
	return meetings * ((BU_STAGE_ACROSS_LEAST + each - 1) / each) *
	       bu_order_blocks(order);
}

/* A free port in `to` from place `first` on, not of the node of port `one`; -1 =
 * none. */
static int
find_partner(const struct bu_order *order, const int *to, int count, int first, int one,
	     const unsigned char *taken)
{
	for (int i = 0; i < count; i++) {
		int at = (first + i) % count;

		if (!taken[at] && to[at] / order->rails != one / order->rails)
			return at;
	}
	return -1;
}

/* At most as many pairs as spines. Each meeting moves on to other ports, each block to
 * other spines. Where only ports of one node are left, the first pair swaps
 * partners. */
static int
leaf_meets_across(const struct bu_order *order, int x, int y, int meeting, int block,
		  struct bu_cross *ret)
{
	int a = bu_order_leaf_size(order, x), b = bu_order_leaf_size(order, y),
	    count = 0;
	int spines = bu_order_spines(order), wide = a < b ? a : b;
	const int *from = order->ports + order->start[x * order->rails];
	const int *to = order->ports + order->start[y * order->rails];
	bu_autofree unsigned char *taken = bu_xcalloc((size_t)b, 1);

	wide = wide < spines ? wide : spines;
	if (!have_none_in_common(rails_of(order, x), rails_of(order, y)) ||
	    block * wide >= spines + wide)
		return 0;
	for (int slot = 0; slot < wide; slot++) {
		int turn = slot + meeting * wide, one = from[turn % a];
		int at = find_partner(order, to, b, turn + turn / a + 1, one, taken);
		int spine = (slot + block * wide + meeting) % spines, other;

		if (at < 0 && count > 0) {
			at = find_partner(order, to, b, 0, ret[0].a, taken);
			other = ret[0].b;
			if (at < 0 || other / order->rails == one / order->rails)
				continue;
			ret[0].b = to[at];
		} else if (at >= 0) {
			other = to[at];
		} else {
			continue;
		}
		taken[at] = 1;
		ret[count++] = (struct bu_cross){one, other, spine};
	}
	return count;
}

int
bu_stage_across_round(const struct bu_order *order, uint64_t seed, int round,
		      struct bu_cross *ret)
{
	bu_autofree int *leaves = bu_xcalloc((size_t)order->leaves, sizeof(int));
	bu_autofree struct bu_pair *pairs =
		bu_xcalloc((size_t)order->leaves, sizeof(*pairs));
	int blocks = bu_order_blocks(order), meeting = round / blocks, total = 0, count;
	int fewest, n = leaves_across(order, leaves, &fewest);

	if (n < 2)
		return 0;
	count = bu_schedule_round(n, bu_stage_mix(seed, UINT64_C(0xac05)),
				  meeting % bu_schedule_rounds(n), pairs);
	for (int i = 0; i < count; i++)
		total +=
			leaf_meets_across(order, leaves[pairs[i].a], leaves[pairs[i].b],
					  meeting, round % blocks, ret + total);
	return total;
}
