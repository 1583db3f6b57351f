/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds across rails: who meets whom, over which spine, and how often. */
#include "base/err.h"
#include "fabric/stages.h"
#include "tests/support/unit.h"

/* Check writes to its parent at each assertion: in loops a mistake is kept instead. */
#define MUST(cond) (wrong += !(cond))

/* Leaves of one rail each: `groups` of them a rail, with `size` nodes each; of the last
 * one some nodes lack their last rail. */
static struct bu_order
rails_of_groups(int rails, int groups, int size, int spines, int *leaf_of)
{
	int ports = rails * groups * size;
	bu_autofree unsigned char *there = bu_xcalloc((size_t)ports + 1, 1);
	struct bu_order order = {
		.leaves = rails * groups, .rails = rails, .spines = spines};

	for (int port = 0; port < ports; port++) {
		int node = port / rails, rail = port % rails;

		leaf_of[port] = node / size * rails + rail;
		there[port] = rail < rails - 1 || node / size < groups - 1 || node % 3;
	}
	bu_order_init(&order, leaf_of, ports, there);
	return order;
}

/* A round: no port and no link twice, two rails, two nodes. */
static int
check_across_round(const struct bu_order *order, const int *leaf_of,
		   const struct bu_cross *pairs, int count)
{
	int wrong = 0;

	for (int i = 0; i < count; i++) {
		const struct bu_cross *one = &pairs[i];

		MUST(one->a / order->rails != one->b / order->rails);
		MUST(one->a % order->rails != one->b % order->rails);
		MUST(leaf_of[one->a] != leaf_of[one->b]);
		MUST(one->spine >= 0 && one->spine < order->spines);
		for (int k = 0; k < i; k++) {
			const struct bu_cross *other = &pairs[k];
			int ends[2] = {other->a, other->b};

			for (int e = 0; e < 2; e++) {
				MUST(one->a != ends[e] && one->b != ends[e]);
				MUST(one->spine != other->spine ||
				     (leaf_of[one->a] != leaf_of[ends[e]] &&
				      leaf_of[one->b] != leaf_of[ends[e]]));
			}
		}
	}
	return wrong;
}

/* Each two leaves of different rails meet, and each leaf four times at least over each
 * of its spines. */
static void
check_across(int rails, int groups, int size, int spines)
{
	enum { LEAVES = 40, SPINES = 8 };
	int leaf_of[512], met[LEAVES][LEAVES] = {0}, used[LEAVES][SPINES] = {0};
	struct bu_order order = rails_of_groups(rails, groups, size, spines, leaf_of);
	struct bu_cross pairs[512];
	int wrong = 0, rounds = bu_stage_across_rounds(&order, LEAVES);

	for (int round = 0; round < rounds; round++) {
		int count = bu_stage_across_round(&order, 5, round, pairs);

		wrong += check_across_round(&order, leaf_of, pairs, count);
		for (int i = 0; i < count; i++) {
			int x = leaf_of[pairs[i].a], y = leaf_of[pairs[i].b];

			met[x][y]++, met[y][x]++;
			used[x][pairs[i].spine]++, used[y][pairs[i].spine]++;
		}
	}
	for (int x = 0; x < order.leaves; x++) {
		for (int y = 0; y < order.leaves; y++)
			MUST((met[x][y] > 0) == (x % rails != y % rails));
		for (int spine = 0; spine < spines; spine++)
			MUST(used[x][spine] >= BU_STAGE_ACROSS_LEAST);
	}
	ck_assert_msg(wrong == 0, "rails %d, groups %d, size %d, spines %d: %d", rails,
		      groups, size, spines, wrong);
	bu_order_fini(&order);
}

START_TEST(leaves_of_different_rails_meet_across)
{
	for (int rails = 2; rails <= 8; rails += 3)
		for (int groups = 1; groups <= 4; groups++)
			for (int size = 4; size <= 9; size += 5)
				for (int spines = 1; spines <= 8; spines *= 2)
					check_across(rails, groups, size, spines);
}
END_TEST

/* Over the rounds the turn goes to each port. */
START_TEST(each_port_has_its_turn_across)
{
	enum { RAILS = 8, SIZE = 4, PORTS = RAILS * SIZE };
	int leaf_of[PORTS], turns[PORTS] = {0};
	struct bu_order order = {.leaves = RAILS, .rails = RAILS, .spines = 1};
	struct bu_cross pairs[PORTS];

	for (int port = 0; port < PORTS; port++)
		leaf_of[port] = port % RAILS;
	bu_order_init(&order, leaf_of, PORTS, NULL);
	for (int round = 0; round < bu_stage_across_rounds(&order, 16); round++) {
		int count = bu_stage_across_round(&order, 9, round, pairs);

		ck_assert_int_eq(count, RAILS / 2);
		for (int i = 0; i < count; i++)
			turns[pairs[i].a]++, turns[pairs[i].b]++;
	}
	for (int port = 0; port < PORTS; port++)
		ck_assert_int_ge(turns[port], 1);
	bu_order_fini(&order);
}
END_TEST

/* One rail, leaves that all rails share, one node: there is nothing across. */
START_TEST(nothing_is_across_where_leaves_share_a_rail)
{
	static const int shared[8] = {0, 0, 0, 0, 1, 1, 1, 1};
	static const int apart[2] = {0, 1};
	struct bu_cross pairs[8];

	for (int rails = 1; rails <= 2; rails++) {
		struct bu_order order = {.leaves = 2, .rails = rails, .spines = 2};

		bu_order_init(&order, shared, 8, NULL);
		ck_assert_int_eq(bu_stage_across_rounds(&order, 16), 0);
		ck_assert_int_eq(bu_stage_across_round(&order, 1, 0, pairs), 0);
		bu_order_fini(&order);
	}
	struct bu_order order = {.leaves = 2, .rails = 2, .spines = 2};

	bu_order_init(&order, apart, 2, NULL);
	for (int round = 0; round < bu_stage_across_rounds(&order, 16); round++)
		ck_assert_int_eq(bu_stage_across_round(&order, 1, round, pairs), 0);
	bu_order_fini(&order);
}
END_TEST

/* Leaves of one rail and of several: who has none in common, and only who has somebody.
 */
START_TEST(leaves_of_several_rails_meet_what_they_lack)
{
	enum { RAILS = 4, LEAVES = 6, PORTS = 32 };
	/* A node's ports: one leaf of rails 0 and 1, and one of rail 2 and one of rail
	 * 3; then one of rails 0 to 2, and one of rail 3; then one of all of them. */
	static const int leaves[][RAILS] = {{0, 0, 1, 2}, {3, 3, 3, 4}, {5, 5, 5, 5}};
	static const unsigned rails[LEAVES] = {3, 4, 8, 7, 8, 15};
	struct bu_order order = {.leaves = LEAVES, .rails = RAILS, .spines = 1};
	int leaf_of[PORTS], met[LEAVES][LEAVES] = {0};
	struct bu_cross pairs[PORTS];

	for (int port = 0; port < PORTS; port++)
		leaf_of[port] = leaves[port / RAILS % 3][port % RAILS];
	bu_order_init(&order, leaf_of, PORTS, NULL);
	for (int round = 0; round < bu_stage_across_rounds(&order, 16); round++) {
		int count = bu_stage_across_round(&order, 3, round, pairs);

		for (int i = 0; i < count; i++) {
			met[leaf_of[pairs[i].a]][leaf_of[pairs[i].b]] = 1;
			met[leaf_of[pairs[i].b]][leaf_of[pairs[i].a]] = 1;
		}
	}
	for (int x = 0; x < LEAVES; x++)
		for (int y = 0; y < LEAVES; y++)
			ck_assert_int_eq(met[x][y], !(rails[x] & rails[y]));
	bu_order_fini(&order);
}
END_TEST

BU_UNIT("stages across", leaves_of_different_rails_meet_across,
	each_port_has_its_turn_across, nothing_is_across_where_leaves_share_a_rail,
	leaves_of_several_rails_meet_what_they_lack)
