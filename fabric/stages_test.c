/* SPDX-License-Identifier: Apache-2.0 */
#include "fabric/stages.h"

#include <string.h>

#include "base/err.h"
#include "tests/support/unit.h"

/* Leaves of `size`, every third one smaller by one and every fifth by half. */
static int *
uneven(int nodes, int rails, int size, int per_rail, int *ret_leaves)
{
	int *leaf_of = bu_xcalloc((size_t)nodes * (size_t)rails, sizeof(*leaf_of));
	int leaf = 0, left = size, groups;

	for (int node = 0; node < nodes; node++, left--) {
		if (left == 0) {
			leaf++;
			left = leaf % 5 == 4 ? (size + 1) / 2
					     : size - (leaf % 3 == 2 && size > 1);
		}
		for (int rail = 0; rail < rails; rail++)
			leaf_of[node * rails + rail] = leaf;
	}
	groups = leaf + 1;
	for (int port = 0; per_rail && port < nodes * rails; port++)
		leaf_of[port] += groups * (port % rails);
	*ret_leaves = per_rail ? groups * rails : groups;
	return leaf_of;
}

/* Check writes to its parent at each assertion: in loops a mistake is kept instead. */
#define MUST(cond) (wrong += !(cond))

static void
check_leaf_rounds(int n, int size, int rails, int d)
{
	int leaves, ports = n * rails;
	bu_autofree int *leaf_of = uneven(n, rails, size, rails > 1, &leaves);
	bu_autofree int *met = bu_xcalloc((size_t)ports, (size_t)(d + 1) * sizeof(int));
	bu_autofree int *met_count = bu_xcalloc((size_t)ports, sizeof(int));
	bu_autofree int *busy = bu_xcalloc((size_t)ports, sizeof(int));
	bu_autofree struct bu_pair *pairs = bu_xcalloc((size_t)ports, sizeof(*pairs));
	struct bu_order order;
	int wrong = 0;

	order = (struct bu_order){.leaves = leaves, .rails = rails, .spines = 4};
	bu_order_init(&order, leaf_of, ports, NULL);
	ck_assert_int_eq(order.port_count, ports);
	for (int round = 0; round < bu_stage_leaf_rounds(&order, d); round++) {
		int count = bu_stage_leaf_round(&order, 11, round, pairs);

		for (int i = 0; i < 2 * count; i++) {
			int x = i % 2 ? pairs[i / 2].b : pairs[i / 2].a;
			int y = i % 2 ? pairs[i / 2].a : pairs[i / 2].b;
			int known = 0;

			MUST(busy[x] != round + 1);
			busy[x] = round + 1;
			MUST(x % rails == y % rails && leaf_of[x] == leaf_of[y]);
			for (int k = 0; k < met_count[x]; k++)
				known |= met[x * (d + 1) + k] == y;
			if (!known && met_count[x] <= d)
				met[x * (d + 1) + met_count[x]++] = y;
		}
	}
	for (int g = 0; g < leaves * rails; g++) {
		int members = order.start[g + 1] - order.start[g];

		for (int i = order.start[g]; i < order.start[g + 1]; i++)
			MUST(met_count[order.ports[i]] >=
			     (members - 1 < d ? members - 1 : d));
	}
	ck_assert_msg(wrong == 0, "n=%d size=%d: %d", n, size, wrong);
	bu_order_fini(&order);
}

START_TEST(d_partners_or_all_of_the_leaf)
{
	static const int sizes[] = {1, 2, 3, 8, 17, 32, 64};

	for (int n = 2; n <= 2000; n++)
		check_leaf_rounds(n, sizes[n % 7], 1, 6);
	for (int n = 2; n <= 200; n += 11)
		check_leaf_rounds(n, sizes[n % 7], 4, 7);
	check_leaf_rounds(2000, 2000, 1, 8);
	check_leaf_rounds(1999, 1999, 1, 8);
}
END_TEST

/* A round of stage B: ports and links once; counts how often each link is used. */
static int
check_cross_round(const struct bu_order *order, const int *leaf_of, int round,
		  struct bu_cross *pairs, int *busy, int *link_round, int *link_used)
{
	int count = bu_stage_cross_round(order, 3, round, pairs), wrong = 0;

	for (int i = 0; i < 2 * count; i++) {
		int port = i % 2 ? pairs[i / 2].b : pairs[i / 2].a;
		int link = leaf_of[port] * order->spines + pairs[i / 2].spine;

		MUST(pairs[i / 2].spine >= 0 && pairs[i / 2].spine < order->spines);
		MUST(busy[port] != round + 1);
		busy[port] = round + 1;
		MUST(link_round[link] != round + 1);
		link_round[link] = round + 1;
		link_used[link]++;
		MUST(leaf_of[pairs[i / 2].a] != leaf_of[pairs[i / 2].b]);
		MUST(pairs[i / 2].a % order->rails == pairs[i / 2].b % order->rails);
	}
	return wrong;
}

static void
check_cross(int n, int size, int rails, int spines, int d, int per_rail)
{
	int leaves, ports = n * rails;
	bu_autofree int *leaf_of = uneven(n, rails, size, per_rail, &leaves);
	bu_autofree int *busy = bu_xcalloc((size_t)ports, sizeof(int));
	bu_autofree int *link_round =
		bu_xcalloc((size_t)(leaves * spines), sizeof(int));
	bu_autofree int *link_used = bu_xcalloc((size_t)(leaves * spines), sizeof(int));
	bu_autofree struct bu_cross *pairs =
		bu_xcalloc((size_t)ports + 1, sizeof(*pairs));
	struct bu_order order;
	int wrong = 0, peers;

	order = (struct bu_order){.leaves = leaves, .rails = rails, .spines = spines};
	bu_order_init(&order, leaf_of, ports, NULL);
	for (int round = 0; round < bu_stage_cross_rounds(&order, d); round++)
		ck_assert_int_eq(check_cross_round(&order, leaf_of, round, pairs, busy,
						   link_round, link_used),
				 0);
	peers = (per_rail ? leaves / rails : leaves) - 1;
	for (int link = 0; link < leaves * spines; link++)
		MUST(link_used[link] >= (peers < d ? peers : d));
	ck_assert_msg(wrong == 0, "n=%d size=%d rails=%d spines=%d: %d", n, size, rails,
		      spines, wrong);
	bu_order_fini(&order);
}

START_TEST(each_link_d_times)
{
	static const int sizes[] = {3, 8, 17, 32}, spines[] = {1, 2, 4, 8, 16};

	for (int n = 2; n <= 2000; n += n < 100 ? 1 : 37)
		check_cross(n, sizes[n % 4], 1, spines[n % 5], 4, 0);
	for (int n = 2; n <= 100; n += 7)
		for (int per_rail = 0; per_rail < 2; per_rail++)
			check_cross(n, sizes[n % 4], 4, spines[n % 5], 3, per_rail);
}
END_TEST

START_TEST(the_smallest_leaf_uses_each_spine)
{
	enum { PORTS = 9, LEAVES = 3, SPINES = 4 };
	static const int leaf_of[PORTS] = {0, 1, 1, 1, 1, 2, 2, 2, 2};
	struct bu_order order = {.leaves = LEAVES, .rails = 1, .spines = SPINES};
	int busy[PORTS] = {0}, link_round[LEAVES * SPINES] = {0};
	int link_used[LEAVES * SPINES] = {0};
	struct bu_cross pairs[PORTS];

	bu_order_init(&order, leaf_of, PORTS, NULL);
	for (int round = 0; round < bu_stage_cross_rounds(&order, 2); round++)
		ck_assert_int_eq(check_cross_round(&order, leaf_of, round, pairs, busy,
						   link_round, link_used),
				 0);
	for (int link = 0; link < LEAVES * SPINES; link++)
		ck_assert_int_ge(link_used[link], 2);
	bu_order_fini(&order);
}
END_TEST

/* Of all ways that four leaves can have three rails: those with a rail in common meet,
 * whoever else stands between them. */
START_TEST(leaves_of_one_rail_meet)
{
	enum { LEAVES = 4, RAILS = 3, PORTS = LEAVES * RAILS };
	int leaf_of[PORTS], wrong = 0;

	for (int port = 0; port < PORTS; port++)
		leaf_of[port] = port / RAILS;
	for (unsigned ways = 0; ways < 1U << PORTS; ways++) {
		struct bu_order order = {.leaves = LEAVES, .rails = RAILS, .spines = 1};
		int met[LEAVES][LEAVES] = {{0}};
		unsigned char usable[PORTS];
		struct bu_cross pairs[PORTS];

		for (int port = 0; port < PORTS; port++)
			usable[port] = ways >> port & 1;
		bu_order_init(&order, leaf_of, PORTS, usable);
		for (int round = 0; round < bu_stage_cross_rounds(&order, LEAVES);
		     round++) {
			int count = bu_stage_cross_round(&order, 5, round, pairs);

			for (int i = 0; i < count; i++) {
				int x = leaf_of[pairs[i].a], y = leaf_of[pairs[i].b];

				met[x][y] = met[y][x] = 1;
			}
		}
		for (int x = 0; x < LEAVES; x++) {
			for (int y = 0; y < x; y++) {
				unsigned common = (ways >> x * RAILS) &
						  (ways >> y * RAILS) &
						  ((1U << RAILS) - 1);

				MUST(met[x][y] == (common != 0));
			}
		}
		bu_order_fini(&order);
	}
	ck_assert_int_eq(wrong, 0);
}
END_TEST

START_TEST(only_the_usable_take_part)
{
	static const int leaf_of[6] = {0, 0, 0, 1, 1, 1};
	static const unsigned char usable[6] = {1, 0, 1, 1, 1, 0};
	struct bu_pair pairs[6];
	struct bu_order order;

	order = (struct bu_order){.leaves = 2, .rails = 1, .spines = 2};
	bu_order_init(&order, leaf_of, 6, usable);
	ck_assert_int_eq(order.port_count, 4);
	ck_assert_int_eq(bu_stage_leaf_rounds(&order, 6), 1);
	ck_assert_int_eq(bu_stage_leaf_round(&order, 1, 0, pairs), 2);
	for (int i = 0; i < 2; i++)
		ck_assert(usable[pairs[i].a] && usable[pairs[i].b]);
	bu_order_fini(&order);
}
END_TEST

/* Who keeps the circles has the same rounds, of their own seed. */
START_TEST(kept_circles_give_the_same_rounds)
{
	enum { PORTS = 45, LEAVES = 3 };
	int leaf_of[PORTS];
	struct bu_order order = {.leaves = LEAVES, .rails = 2, .spines = 2};

	for (int i = 0; i < PORTS; i++)
		leaf_of[i] = i / 17;
	bu_order_init(&order, leaf_of, PORTS, NULL);
	for (int round = 0; round < 20; round++) {
		for (uint64_t seed = 1; seed < 3; seed++) {
			struct bu_pair plain[PORTS], kept[PORTS];
			struct bu_order bare = order;
			int count;

			bu_order_seed(&order, 1);
			bare.circle = NULL;
			count = bu_stage_leaf_round(&bare, seed, round, plain);
			ck_assert_int_eq(bu_stage_leaf_round(&order, seed, round, kept),
					 count);
			ck_assert_int_eq(
				memcmp(plain, kept, (size_t)count * sizeof(plain[0])),
				0);
		}
	}
	bu_order_fini(&order);
}
END_TEST

/* Of one port alone, and of one pair: the same as of all, over the end of the circle.
 */
START_TEST(a_port_knows_its_partners)
{
	enum { SIZE = 12, PORTS = 60 };
	int leaves, wrong = 0, met = 0, every;
	bu_autofree int *leaf_of = uneven(PORTS, 1, SIZE, 0, &leaves);
	struct bu_order order = {.leaves = leaves, .rails = 1, .spines = 1};
	struct bu_pair pairs[PORTS];
	unsigned char usable[PORTS];

	memset(usable, 1, sizeof(usable));
	usable[3] = 0;
	bu_order_init(&order, leaf_of, PORTS, usable);
	bu_order_seed(&order, 5);
	for (int port = 0; port < PORTS; port++) {
		struct bu_partners partners;

		bu_partners_begin(&order, port, &partners);
		for (int round = 0; round < 3 * SIZE; round++) {
			int count = bu_stage_leaf_round(&order, 5, round, pairs);
			int partner = -1, first;

			for (int i = 0; i < count; i++)
				if (pairs[i].a == port || pairs[i].b == port)
					partner = pairs[i].a == port ? pairs[i].b
								     : pairs[i].a;
			MUST(bu_partners_next(&partners) == partner);
			if (partner < 0)
				continue;
			first = bu_stage_leaf_round_of(&order, port, partner, &every);
			MUST(first >= 0 && every > 0 && round % every == first);
			met++;
		}
	}
	ck_assert_int_eq(wrong, 0);
	ck_assert_int_gt(met, 0);
	ck_assert_int_eq(bu_stage_leaf_round_of(&order, 3, 4, &every), -1);
	ck_assert_int_eq(bu_stage_leaf_round_of(&order, 4, 4, &every), -1);
	ck_assert_int_eq(bu_stage_leaf_round_of(&order, 0, PORTS - 1, &every), -1);
	bu_order_fini(&order);
}
END_TEST

START_TEST(the_formula_for_d)
{
	ck_assert_int_eq(bu_stage_partners(128, 0.1, 0.01), 5);
	ck_assert_int_eq(bu_stage_partners(8, 0.1, 0.01), 4);
	ck_assert_int_eq(bu_stage_partners(128 * 8, 0.1, 0.01), 6);
	ck_assert_int_eq(bu_stage_partners(16384 * 8, 0.1, 0.01), 8);
}
END_TEST

BU_UNIT("stages", d_partners_or_all_of_the_leaf, each_link_d_times,
	the_smallest_leaf_uses_each_spine, leaves_of_one_rail_meet,
	only_the_usable_take_part, a_port_knows_its_partners,
	kept_circles_give_the_same_rounds, the_formula_for_d)
