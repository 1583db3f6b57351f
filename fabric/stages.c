/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rounds of a whole fabric. Called by the campaign and fabcert.c. Pure. Invariants:
 * no port is in two pairs of a round, and in a round of stage B no two pairs of a leaf
 * take the same spine.
 */
#include "fabric/stages.h"

#include <math.h>
#include <string.h>

#include "base/err.h"
#include "fabric/stages_impl.h"

void
bu_order_init(struct bu_order *order, const int *leaf_of, int ports,
	      const unsigned char *usable)
{
	int rails = order->rails, groups = order->leaves * rails;

	order->port_count = 0;
	order->start = bu_xcalloc((size_t)groups + 2, sizeof(*order->start));
	order->ports = bu_xcalloc((size_t)ports, sizeof(*order->ports));
	for (int i = 0; i < ports; i++) {
		if (usable && !usable[i])
			continue;
		order->start[leaf_of[i] * rails + i % rails + 2]++;
		order->port_count++;
	}
	for (int g = 2; g < groups + 2; g++)
		order->start[g] += order->start[g - 1];
	/* start[g + 1]: place of the next port of group g; at the end, g's end */
	for (int i = 0; i < ports; i++) {
		if (!usable || usable[i])
			order->ports[order->start[leaf_of[i] * rails + i % rails +
						  1]++] = i;
	}
}

void
bu_order_fini(struct bu_order *order)
{
	free(order->start);
	free(order->ports);
	free(order->circle);
	free(order->place);
	free(order->group);
	*order = (struct bu_order){0};
}

static int
group_size(const struct bu_order *order, int leaf, int rail)
{
	int group = leaf * order->rails + rail;

	return order->start[group + 1] - order->start[group];
}

int
bu_order_leaf_size(const struct bu_order *order, int leaf)
{
	return order->start[(leaf + 1) * order->rails] -
	       order->start[leaf * order->rails];
}

uint64_t
bu_stage_mix(uint64_t seed, uint64_t value)
{
	uint64_t x = seed ^ (value + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ (x >> 29);
}

int
bu_stage_partners(int ports, double spoiled, double budget)
{
	double d = ceil(log(budget / (2.0 * ports)) / log(spoiled));

	return d < 1 ? 1 : (int)d;
}

int
bu_stage_group_rounds(int n, int d)
{
	int all = bu_schedule_rounds(n), wanted = d + n % 2; /* odd: one port pauses */

	return wanted < all ? wanted : all;
}

int
bu_stage_leaf_rounds(const struct bu_order *order, int d)
{
	int most = 0;

	for (int g = 0; g < order->leaves * order->rails; g++) {
		int n = order->start[g + 1] - order->start[g];
		int rounds = bu_stage_group_rounds(n, d);

		most = rounds > most ? rounds : most;
	}
	return most;
}

/* Pairs of one round inside a group of n: places, not ports. */
static int
circle_round(int n, uint64_t seed, int group, int round, struct bu_pair *ret)
{
	return n < 2 ? 0
		     : bu_schedule_round(n, bu_stage_mix(seed, (uint64_t)group),
					 round % bu_schedule_rounds(n), ret);
}

int
bu_stage_group_round_of(int n, uint64_t seed, int group, int a, int b)
{
	return bu_schedule_round_of(n, bu_stage_mix(seed, (uint64_t)group), a, b);
}

/* Notes the group and the place of each port. */
static void
note_places(struct bu_order *order)
{
	int groups = order->leaves * order->rails, top = 0;

	for (int i = 0; i < order->port_count; i++)
		top = order->ports[i] > top ? order->ports[i] : top;
	free(order->place);
	free(order->group);
	order->top = top;
	order->place = bu_xcalloc((size_t)top + 1, sizeof(*order->place));
	order->group = bu_xcalloc((size_t)top + 1, sizeof(*order->group));
	for (int i = 0; i <= top; i++)
		order->place[i] = -1;
	for (int g = 0; g < groups; g++) {
		const int *circle = order->circle + order->start[g] + g;
		const int *ports = order->ports + order->start[g];

		for (int i = 0; i < order->start[g + 1] - order->start[g]; i++) {
			order->place[ports[circle[i]]] = i;
			order->group[ports[circle[i]]] = g;
		}
	}
}

void
bu_order_seed(struct bu_order *order, uint64_t seed)
{
	int groups = order->leaves * order->rails;

	order->seed = seed;
	free(order->circle);
	order->circle = bu_xcalloc((size_t)(order->port_count + groups),
				   sizeof(*order->circle));
	for (int g = 0; g < groups; g++)
		bu_schedule_order(order->start[g + 1] - order->start[g],
				  bu_stage_mix(seed, (uint64_t)g),
				  order->circle + order->start[g] + g);
	note_places(order);
}

static int
has_place(const struct bu_order *order, int port)
{
	return port <= order->top && order->place[port] >= 0;
}

/* Two places meet in the round that is half their sum: the partner's place is twice the
 * round minus the own place. */
void
bu_partners_begin(const struct bu_order *order, int port, struct bu_partners *ret)
{
	int group, n;

	*ret = (struct bu_partners){.turning = 0};
	if (!has_place(order, port))
		return;
	group = order->group[port];
	n = order->start[group + 1] - order->start[group];
	if (n < 2)
		return;
	ret->ports = order->ports + order->start[group];
	ret->circle = order->circle + order->start[group] + group;
	ret->turning = n + n % 2 - 1;
	ret->place = order->place[port];
	ret->step = ret->place == ret->turning ? 1 : 2 % ret->turning;
	ret->at = ret->place == ret->turning || !ret->place ? 0
							    : ret->turning - ret->place;
}

int
bu_partners_next(struct bu_partners *partners)
{
	int at = partners->at, place;

	if (!partners->turning)
		return -1;
	partners->at += partners->step;
	if (partners->at >= partners->turning)
		partners->at -= partners->turning;
	place = partners->circle[at == partners->place ? partners->turning : at];
	return place < 0 ? -1 : partners->ports[place];
}

int
bu_stage_leaf_round_of(const struct bu_order *order, int a, int b, int *ret_every)
{
	int group, n;

	if (a == b || !has_place(order, a) || !has_place(order, b) ||
	    order->group[a] != order->group[b])
		return -1;
	group = order->group[a];
	n = order->start[group + 1] - order->start[group];
	*ret_every = bu_schedule_rounds(n);
	return bu_schedule_meet(n, order->place[a], order->place[b]);
}

static int
group_round(const struct bu_order *order, uint64_t seed, int group, int round,
	    struct bu_pair *ret)
{
	int n = order->start[group + 1] - order->start[group];

	if (n < 2 || !order->circle || order->seed != seed)
		return circle_round(n, seed, group, round, ret);
	return bu_schedule_pairs(order->circle + order->start[group] + group, n,
				 round % bu_schedule_rounds(n), ret);
}

int
bu_stage_leaf_round(const struct bu_order *order, uint64_t seed, int round,
		    struct bu_pair *ret)
{
	int total = 0;

	for (int g = 0; g < order->leaves * order->rails; g++) {
		const int *ports = order->ports + order->start[g];
		int count = group_round(order, seed, g, round, ret + total);

		for (int i = total; i < total + count; i++) {
			ret[i].a = ports[ret[i].a];
			ret[i].b = ports[ret[i].b];
		}
		total += count;
	}
	return total;
}

/* Pairs that two leaves can have at once: on each rail the smaller number of ports. */
static int
common_slots(const struct bu_order *order, int x, int y)
{
	int slots = 0;

	for (int rail = 0; rail < order->rails; rail++) {
		int a = group_size(order, x, rail), b = group_size(order, y, rail);

		slots += a < b ? a : b;
	}
	return slots;
}

int
bu_order_spines(const struct bu_order *order)
{
	return order->spines > 0 ? order->spines : 1;
}

int
bu_order_blocks(const struct bu_order *order)
{
	int spines = bu_order_spines(order), least = spines;

	if (order->sprayed)
		return 1;
	for (int leaf = 0; leaf < order->leaves; leaf++) {
		int size = bu_order_leaf_size(order, leaf);

		if (size > 0 && size < least)
			least = size;
	}
	return (spines + least - 1) / least;
}

/* Classes of leaves that can meet: they have a rail in common, directly or through
 * others. Sorts the leaves by class; ret_start has one entry more than classes. */
static int
leaf_classes(const struct bu_order *order, int *ret_leaves, int *ret_start)
{
	bu_autofree int *class_of = bu_xcalloc((size_t)order->leaves, sizeof(int));
	bu_autofree int *rail_class = bu_xcalloc((size_t)order->rails, sizeof(int));
	int classes = 0, count = 0;

	for (int rail = 0; rail < order->rails; rail++)
		rail_class[rail] = rail;
	for (int leaf = 0; leaf < order->leaves; leaf++) {
		int first = -1;

		for (int rail = 0; rail < order->rails; rail++) {
			int old = rail_class[rail];

			if (group_size(order, leaf, rail) == 0)
				continue;
			first = first < 0 ? old : first;
			for (int r = 0; r < order->rails; r++)
				rail_class[r] =
					rail_class[r] == old ? first : rail_class[r];
		}
		class_of[leaf] = -1;
	}
	for (int leaf = 0; leaf < order->leaves; leaf++) {
		for (int rail = 0; rail < order->rails; rail++) {
			if (group_size(order, leaf, rail) > 0)
				class_of[leaf] = rail_class[rail];
		}
	}
	for (int class = 0; class < order->rails; class ++) {
		ret_start[classes] = count;
		for (int leaf = 0; leaf < order->leaves; leaf++) {
			if (class_of[leaf] == class)
				ret_leaves[count++] = leaf;
		}
		classes += count > ret_start[classes];
	}
	ret_start[classes] = count;
	return classes;
}

int
bu_stage_cross_rounds(const struct bu_order *order, int d)
{
	bu_autofree int *leaves = bu_xcalloc((size_t)order->leaves, sizeof(int));
	bu_autofree int *start = bu_xcalloc((size_t)order->rails + 2, sizeof(int));
	int classes = leaf_classes(order, leaves, start), most = 0;

	for (int i = 0; i < classes; i++) {
		int rounds = bu_stage_group_rounds(start[i + 1] - start[i], d);

		most = rounds > most ? rounds : most;
	}
	return most * bu_order_blocks(order);
}

/* Pairs of two leaves, at most as many as spines. Each meeting moves on to other ports,
 * each block to other spines. */
static int
leaf_meets_leaf(const struct bu_order *order, int x, int y, int meeting, int block,
		struct bu_cross *ret)
{
	int total = common_slots(order, x, y), spines = bu_order_spines(order),
	    count = 0;
	int wide = total < spines ? total : spines, slot = 0;

	if (total == 0 || block * wide >= spines + wide)
		return 0;
	for (int rail = 0; rail < order->rails; rail++) {
		int a = group_size(order, x, rail), b = group_size(order, y, rail);
		const int *from = order->ports + order->start[x * order->rails + rail];
		const int *to = order->ports + order->start[y * order->rails + rail];

		for (int i = 0; i < (a < b ? a : b); i++, slot++) {
			int turn = (slot + meeting * wide) % total;

			if (turn >= wide)
				continue;
			ret[count++] = (struct bu_cross){
				from[(i + meeting) % a], to[(i + 2 * meeting) % b],
				(turn + block * wide + meeting) % spines};
		}
	}
	return count;
}

int
bu_stage_cross_round(const struct bu_order *order, uint64_t seed, int round,
		     struct bu_cross *ret)
{
	bu_autofree int *leaves = bu_xcalloc((size_t)order->leaves, sizeof(int));
	bu_autofree int *start = bu_xcalloc((size_t)order->rails + 2, sizeof(int));
	bu_autofree struct bu_pair *pairs =
		bu_xcalloc((size_t)order->leaves, sizeof(*pairs));
	int blocks = bu_order_blocks(order), meeting = round / blocks, total = 0;
	int classes = leaf_classes(order, leaves, start);

	for (int i = 0; i < classes; i++) {
		int n = start[i + 1] - start[i], count;

		if (n < 2)
			continue;
		count = bu_schedule_round(
			n, bu_stage_mix(seed, UINT64_C(0x1eaf) + (uint64_t)i),
			meeting % bu_schedule_rounds(n), pairs);
		for (int k = 0; k < count; k++)
			total += leaf_meets_leaf(order, leaves[start[i] + pairs[k].a],
						 leaves[start[i] + pairs[k].b], meeting,
						 round % blocks, ret + total);
	}
	return total;
}
