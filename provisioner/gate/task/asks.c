/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs that the campaigns of all rails ask for: a pair of several rails is one probe
 * on these. Filled by gate.c rail by rail, started when all rails were looked at.
 * Invariants: the first ask is started first; no node is in two probes.
 */
#include <string.h>

#include "base/text.h"
#include "provisioner/gate/task/asks.h"
#include "provisioner/gate/task/probe.h"

void
bu_gate_ask_for(struct bu_gate *gate, const char *a, const char *b,
		const struct bu_rail_ends *rail)
{
	int swap = strcmp(a, b) > 0;
	struct bu_rail_ends ends = {.of = {rail->of[swap], rail->of[!swap]}};
	struct bu_ask *ask;

	gate->asks = bu_xgrow(gate->asks, &gate->asks_cap, gate->asks_count + 1,
			      sizeof(*gate->asks));
	ask = &gate->asks[gate->asks_count++];
	bu_text_copy(ask->name[0], sizeof(ask->name[0]), swap ? b : a);
	bu_text_copy(ask->name[1], sizeof(ask->name[1]), swap ? a : b);
	bu_rail_ends_text(&ends, ask->rail);
	ask->qps = rail->qps;
	ask->single = rail->single;
}

static int
by_names(const struct bu_ask *x, const struct bu_ask *y)
{
	int order = strcmp(x->name[0], y->name[0]);

	return order ? order : strcmp(x->name[1], y->name[1]);
}

static int
by_pair(const void *x, const void *y)
{
	const struct bu_ask *const *a = x, *const *b = y;
	int order = by_names(*a, *b);

	return order ? order : (*a > *b) - (*a < *b);
}

/* The place after the last ask for the pair of list[from]. */
static size_t
end_of(const struct bu_ask *const *list, size_t count, size_t from)
{
	size_t end = from + 1;

	while (end < count && by_names(list[from], list[end]) == 0)
		end++;
	return end;
}

/* The place of the first ask for the pair. */
static size_t
find(const struct bu_ask *const *list, size_t count, const struct bu_ask *ask)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (by_names(list[mid], ask) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* 1 = a port of this pair is in a probe's rail already, whatever the other end. */
static int
is_taken(const struct bu_rail_ends *rails, size_t count,
	 const struct bu_rail_ends *rail)
{
	for (size_t i = 0; i < count; i++) {
		if (rails[i].of[0] == rail->of[0] || rails[i].of[1] == rail->of[1])
			return 1;
	}
	return 0;
}

static void
start(struct bu_gate *gate, const struct bu_ask *const *list, size_t from, size_t end)
{
	struct bu_node *a = bu_fleet_node(gate->fleet, list[from]->name[0]);
	struct bu_node *b = bu_fleet_node(gate->fleet, list[from]->name[1]);
	const struct bu_desired_node *want =
		a ? bu_fleet_desired(gate->fleet, a) : NULL;
	const struct bu_desired_node *other =
		b ? bu_fleet_desired(gate->fleet, b) : NULL;
	struct bu_rail_ends rails[BU_RAILS_MAX], rail;
	size_t count = 0;

	for (size_t i = from; other && want && i < end && count < BU_RAILS_MAX; i++) {
		rail.of[0] = bu_rail_end(list[i]->rail, 0, want);
		rail.of[1] = bu_rail_end(list[i]->rail, 1, other);
		rail.qps = list[i]->qps;
		rail.single = list[i]->single;
		/* A test of one path is no test of a bundle. */
		if (rail.single != list[from]->single)
			continue;
		if (rail.of[0] && rail.of[1] && !is_taken(rails, count, &rail))
			rails[count++] = rail;
	}
	if (count && !bu_gate_rests(gate, a) && !bu_gate_rests(gate, b))
		bu_probe_start(gate, want->validation, rails, count, a, b);
}

void
bu_gate_start_asked(struct bu_gate *gate)
{
	size_t count = gate->asks_count;
	bu_autofree const struct bu_ask **list = bu_xcalloc(count, sizeof(*list));

	for (size_t i = 0; i < count; i++)
		list[i] = &gate->asks[i];
	qsort(list, count, sizeof(*list), by_pair);
	for (size_t i = 0; i < count; i++) {
		const struct bu_ask *ask = &gate->asks[i];
		size_t from = find(list, count, ask);

		if (!bu_task_is_busy(gate, ask->name[0]) &&
		    !bu_task_is_busy(gate, ask->name[1]))
			start(gate, list, from, end_of(list, count, from));
	}
	gate->asks_count = 0;
}
