/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do the shortest round trips of campaigns fit the leaves that the profile names
 * (switch_ports, else rack)? Asked by remarks.c for one node. Invariant: it accuses
 * no node: round trips say that a cable should be looked at, not that a node is slow.
 */
#include <string.h>

#include "base/json.h"
#include "fabric/judge/rtt.h"
#include "provisioner/gate/internal.h"

/* In a smaller fabric a few pairs would decide. */
enum { NODES_LEAST = 8, LEAVES_LEAST = 2 };

struct trips {
	const struct bu_gate *gate;
	const struct bu_desired *desired;
	const struct bu_desired_network *fabric;
	int *leaf_of; /* by place in the profile; -1 = not said */
	char *seen;   /* a pair of it was measured */
	struct bu_rtt *pairs;
	size_t count, cap;
};

/* Owned; NULL = the profile does not say. */
static char *
leaf_name(const struct trips *t, const struct bu_desired_node *want)
{
	bu_autojson json_t *ports =
		bu_gate_settings(want->switch_ports ? want->switch_ports : "");
	const char *port = bu_json_str(ports, t->fabric->name, "");

	if (*port)
		return bu_xstrndup(port, strcspn(port, ":"));
	return want->rack && *want->rack ? bu_xstrdup(want->rack) : NULL;
}

static void
find_leaves(struct trips *t)
{
	bu_autojson json_t *known = json_object();

	t->leaf_of = bu_xcalloc(t->desired->nodes_count, sizeof(*t->leaf_of));
	for (size_t i = 0; i < t->desired->nodes_count; i++) {
		const struct bu_desired_node *want = &t->desired->nodes[i];
		bu_autofree char *name = NULL;

		t->leaf_of[i] = -1;
		if (!bu_desired_has_rail(want->pool, t->fabric))
			continue;
		name = leaf_name(t, want);
		if (!name)
			continue;
		if (!json_object_get(known, name))
			json_object_set_new(
				known, name,
				json_integer((json_int_t)json_object_size(known)));
		t->leaf_of[i] = (int)bu_json_int(known, name, -1);
	}
}

/* The place of an end that is still in the boot that was measured; -1 = no such. */
static int
place_of(const struct trips *t, const struct bu_pair_log *log, int end)
{
	const struct bu_desired_node *want =
		bu_desired_node(t->desired, log->name[end]);
	const struct bu_node *node = bu_fleet_node(t->gate->fleet, log->name[end]);

	if (!want || !node || t->leaf_of[want->index] < 0 ||
	    strcmp(node->boot_id, log->boot[end]) != 0)
		return -1;
	return (int)want->index;
}

/* The shortest of all its results in both directions; 0 = none. */
static double
shortest_us(const struct bu_pair_log *log)
{
	double least_us = 0;

	for (size_t i = 0; i < log->count; i++) {
		for (int dir = 0; dir < 2; dir++) {
			const struct bu_measured_dir *d = &log->list[i].dir[dir];
			double us =
				(double)(d->lat_min_us > 0 ? d->lat_min_us : d->lat_us);

			if (!d->doubt && us > 0 && (least_us <= 0 || us < least_us))
				least_us = us;
		}
	}
	return least_us;
}

static void
collect_pairs(struct trips *t)
{
	const struct bu_measurements *measurements = &t->gate->fleet->measurements;

	t->seen = bu_xcalloc(t->desired->nodes_count, 1);
	for (size_t i = 0; i < measurements->count; i++) {
		const struct bu_pair_log *log = &measurements->logs[i];
		double us =
			strcmp(log->rail, t->fabric->name) == 0 ? shortest_us(log) : 0;
		int a = us > 0 ? place_of(t, log, 0) : -1;
		int b = a >= 0 ? place_of(t, log, 1) : -1;

		if (b < 0)
			continue;
		t->pairs = bu_xgrow(t->pairs, &t->cap, t->count + 1, sizeof(*t->pairs));
		t->pairs[t->count++] = (struct bu_rtt){a, b, us};
		t->seen[a] = t->seen[b] = 1;
	}
}

static int
is_meaningful(const struct trips *t)
{
	int nodes = 0, leaves = 0;
	bu_autofree char *used = bu_xcalloc(t->desired->nodes_count, 1);

	for (size_t i = 0; i < t->desired->nodes_count; i++) {
		if (!t->seen[i])
			continue;
		nodes++;
		leaves += !used[t->leaf_of[i]];
		used[t->leaf_of[i]] = 1;
	}
	return nodes >= NODES_LEAST && leaves >= LEAVES_LEAST;
}

static char *
judge(const struct trips *t, const struct bu_desired_node *want)
{
	bu_autofree char *wrong = bu_xcalloc(t->desired->nodes_count, 1);
	bu_autofree char *leaf = leaf_name(t, want);
	struct bu_rtt_result result = bu_rtt_judge(t->pairs, t->count, t->leaf_of,
						   (int)t->desired->nodes_count, wrong);

	if (!leaf || !wrong[want->index])
		return NULL;
	return bu_xasprintf(
		"its round trips on %s do not fit %s, where the profile has it: "
		"nodes of one leaf are %.2f us apart, others %.2f us, and "
		"it is far from most of its own; check where its cable "
		"leads, or correct switch_ports or rack",
		t->fabric->name, leaf, result.near_us, result.far_us);
}

char *
bu_gate_rtt_placement(const struct bu_gate *gate, const struct bu_node *node,
		      const struct bu_desired_network *rail)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);
	struct trips trips = {.gate = gate, .desired = gate->fleet->desired};
	char *text = NULL;

	if (!want || !want->validation)
		return NULL;
	trips.fabric = rail;
	find_leaves(&trips);
	collect_pairs(&trips);
	if (trips.seen[want->index] && is_meaningful(&trips))
		text = judge(&trips, want);
	free(trips.leaf_of);
	free(trips.seen);
	free(trips.pairs);
	return text;
}
