/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people see of a start: its plan, the one that runs, and a node's place in it.
 * Called by the API and why.c. Invariant: nothing is decided here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "model/sentence.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/starting.h"

/* The row of the node's pool; rows stand in the order of tiers, then of names. */
static json_t *
row_of(json_t *rows, int tier, const char *pool)
{
	size_t at;
	json_t *row;

	json_array_foreach (rows, at, row) {
		int64_t other = bu_json_int(row, "tier", 0);
		int order = strcmp(bu_json_str(row, "pool", ""), pool);

		if (other == tier && order == 0)
			return row;
		if (other > tier || (other == tier && order > 0))
			break;
	}
	row = json_pack("{s:i,s:s,s:[],s:[]}", "tier", tier, "pool", pool, "nodes",
			"up");
	json_array_insert_new(rows, at, row);
	return row;
}

/* The row of this reason, which is taken. */
static json_t *
left_row(json_t *left, json_t *why)
{
	size_t at;
	json_t *row;

	json_array_foreach (left, at, row)
		if (json_equal(json_object_get(row, "why"), why)) {
			json_decref(why);
			return row;
		}
	row = json_pack("{s:o,s:[]}", "why", why, "nodes");
	json_array_append_new(left, row);
	return row;
}

static void
add_node(const struct bu_reconcile *rec, const struct bu_node *node, json_t *rows,
	 json_t *left)
{
	json_t *why = bu_starting_left(rec, node), *row;

	if (why) {
		row = left_row(left, why);
		json_array_append_new(json_object_get(row, "nodes"),
				      json_string(node->name));
		return;
	}
	row = row_of(rows, bu_starting_tier(rec, node),
		     bu_fleet_desired(rec->fleet, node)->pool->name);
	json_array_append_new(json_object_get(row, "nodes"), json_string(node->name));
	if (bu_starting_place(rec, node) == BU_START_UP)
		json_array_append_new(json_object_get(row, "up"),
				      json_string(node->name));
}

json_t *
bu_starting_json(const struct bu_reconcile *rec)
{
	const struct bu_fleet *fleet = rec->fleet;
	json_t *rows = json_array(), *left = json_array(), *running = json_null();

	for (size_t i = 0; fleet->desired && i < fleet->count; i++)
		if (fleet->nodes[i]->live.in_profile)
			add_node(rec, fleet->nodes[i], rows, left);
	if (fleet->start.seq)
		running = json_pack("{s:s,s:I,s:I}", "by", fleet->start.by, "since_ms",
				    (json_int_t)fleet->start.since_ms, "tier",
				    (json_int_t)fleet->start.tier);
	return json_pack("{s:o,s:i,s:o,s:o}", "running", running, "per_rack",
			 bu_starting_per_rack(rec), "pools", rows, "left", left);
}

json_t *
bu_starting_said(const struct bu_reconcile *rec)
{
	const struct bu_fleet *fleet = rec->fleet;
	bu_autofree const char **names = NULL;
	bu_autofree char *nodes = NULL;
	size_t count = 0, of = 0;

	if (!fleet->start.seq || !fleet->desired)
		return NULL;
	names = bu_xcalloc(fleet->count + 1, sizeof(*names));
	for (size_t i = 0; i < fleet->count; i++) {
		enum bu_start_place place = bu_starting_place(rec, fleet->nodes[i]);

		if (place == BU_START_LEFT ||
		    (bu_starting_tier(rec, fleet->nodes[i]) != fleet->start.tier &&
		     !bu_starting_holds(rec, fleet->nodes[i])))
			continue;
		of++;
		if (place != BU_START_UP)
			names[count++] = fleet->nodes[i]->name;
	}
	nodes = bu_nodeset_fold(names, count);
	return BU_SAID(START_RUNS, BU_ARG("by", fleet->start.by),
		       BU_ARG_NUMBER("s", (bu_wall_ms(bu_loop_clock(fleet->loop)) -
					   fleet->start.since_ms) /
						  1000),
		       BU_ARG_NUMBER("tier", fleet->start.tier),
		       BU_ARG_NUMBER("up", of - count), BU_ARG_NUMBER("of", of),
		       BU_ARG("nodes", nodes));
}

/* Its machine is off, and may not be switched on yet. */
static json_t *
off_said(const struct bu_reconcile *rec, const struct bu_node *node)
{
	if (rec->freezer.frozen && rec->freezer.frozen(rec->freezer.arg, node))
		return BU_SAID_ALONE(START_BRAKE);
	return BU_SAID(START_RACK, BU_ARG_NUMBER("limit", bu_starting_per_rack(rec)));
}

static json_t *
skipped_said(const struct bu_node *node)
{
	int off =
		node->live.start->tries >= BU_START_TRIES && !node->live.start->mute_ms;

	return BU_SAID(START_SKIPPED, BU_ARG_NUMBER("mute", !off),
		       BU_ARG_NUMBER("off", off),
		       BU_ARG_NUMBER("tries", node->live.start->tries),
		       BU_ARG("words", node->live.power_seen->error));
}

json_t *
bu_starting_why(const struct bu_reconcile *rec, const struct bu_node *node)
{
	if (!rec->fleet->start.seq || !rec->fleet->desired || !node->live.in_profile)
		return NULL;
	switch (bu_starting_place(rec, node)) {
	case BU_START_TURN:
		return BU_SAID(START_TURN,
			       BU_ARG_NUMBER("tier", rec->fleet->start.tier),
			       BU_ARG_NUMBER("own", bu_starting_tier(rec, node)));
	case BU_START_SKIPPED:
		return skipped_said(node);
	case BU_START_CALLS:
		return BU_SAID_ALONE(START_CALLS);
	case BU_START_OFF:
		return off_said(rec, node);
	case BU_START_ASKED:
		return BU_SAID(START_ASKED,
			       BU_ARG("words", node->live.power_seen->error));
	case BU_START_LATER:
		return BU_SAID_ALONE(START_LATER);
	case BU_START_LEFT:
	case BU_START_UP:
		break;
	}
	return NULL;
}
