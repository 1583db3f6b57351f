/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a model's answers to lldp and switch. Called by `bringup fabric rehearse`.
 * Pure. Invariant: null is no answer and no error.
 */
#include <string.h>

#include "base/json.h"
#include "fabric/judge/parts.h"
#include "fabric/judge/wire.h"
#include "fabric/judge/wire_impl.h"

static int
hear(const struct bu_topology *t, const json_t *entry, int node, int rail,
     int *ret_leaf_of, struct bu_err *err)
{
	const json_t *leaf =
		json_is_object(entry) ? json_object_get(entry, "leaf") : entry;
	int found = bu_ids_find(&t->leaf_ids, leaf);

	if (json_is_null(leaf))
		return 0;
	if (!leaf || node < 0 || rail >= t->rails || found < 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "answer to lldp: names a node, rail or leaf that the "
				  "plan does not have");
	for (int r = 0; r < t->rails; r++) {
		if (rail < 0 || rail == r)
			ret_leaf_of[node * t->rails + r] = found;
	}
	return 0;
}

/* The rail of an entry; `without` where it names none, t->rails where not in the
 * plan. */
static int
rail_of(const struct bu_topology *t, const json_t *entry, int without)
{
	const json_t *rail = json_object_get(entry, "rail");

	if (!rail)
		return without;
	return json_is_integer(rail) && json_integer_value(rail) >= 0 &&
			       json_integer_value(rail) < t->rails
		       ? (int)json_integer_value(rail)
		       : t->rails;
}

/* Reads one node's LEAF, [LEAF per rail] or {"leaf"}. */
static int
hear_node(const struct bu_topology *t, const json_t *entry, int node, int *ret_leaf_of,
	  struct bu_err *err)
{
	json_t *leaf;
	size_t i;

	if (!json_is_array(entry))
		return hear(t, entry, node, rail_of(t, entry, -1), ret_leaf_of, err);
	json_array_foreach (entry, i, leaf) {
		if (hear(t, leaf, node, rail_of(t, leaf, (int)i), ret_leaf_of, err) !=
		    0)
			return -1;
	}
	return 0;
}

int
bu_wire_lldp_answer(const struct bu_topology *t, const json_t *answer, int *ret_leaf_of,
		    struct bu_err *err)
{
	const json_t *list = bu_wire_list(answer);
	json_t *entry;
	const char *key;
	size_t i;

	if (!answer || json_is_null(answer))
		return 0;
	list = list ? list : answer;
	if (!json_is_array(list) && !json_is_object(list))
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"answer to lldp: expected a list of {node, rail, leaf}, or "
			"null");
	json_array_foreach (list, i, entry) {
		const json_t *name = json_object_get(entry, "node");
		int node = name                   ? bu_ids_find(&t->node_ids, name)
			   : i < (size_t)t->nodes ? (int)i
						  : -1;

		if (hear_node(t, entry, node, ret_leaf_of, err) != 0)
			return -1;
	}
	if (!json_is_object(list))
		return 0;
	json_object_foreach ((json_t *)(uintptr_t)list, key, entry) {
		bu_autojson json_t *id = json_string(key);

		if (hear_node(t, entry, bu_ids_find(&t->node_ids, id), ret_leaf_of,
			      err) != 0)
			return -1;
	}
	return 0;
}

/* Adds the errors and waits of one direction, and its rate where it is told. */
static int
add_link(const json_t *counters, struct bu_link_count *ret, struct bu_err *err)
{
	static const char *const names[] = {"leaf", "spine", "port", "dir",
					    "up",   "down",  "name"};
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)counters, key, value) {
		int is_name = 0;

		for (size_t i = 0; i < BU_LEN(names); i++)
			is_name |= strcmp(key, names[i]) == 0;
		if (is_name)
			continue;
		if (strcmp(key, "counters") == 0 && json_is_object(value)) {
			if (add_link(value, ret, err) != 0)
				return -1;
			continue;
		}
		if (!json_is_number(value) || json_number_value(value) < 0)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "counter '%s': expected a number of at "
					  "least 0",
					  key);
		if (strcasestr(key, "gbps"))
			ret->rate = (float)json_number_value(value);
		else if (bu_wire_counter(key) != BU_WIRE_IGNORED ||
			 strcasestr(key, "wait"))
			ret->bad += json_number_value(value);
	}
	return 0;
}

/* Adds the object of one direction. */
static int
add_half(const json_t *entry, const char *dir, struct bu_link_count *ret,
	 struct bu_err *err)
{
	const json_t *half = json_object_get(entry, dir);

	if (half && !json_is_object(half))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': expected an object of counters", dir);
	return add_link(half, ret, err);
}

static int
add_entry(const struct bu_topology *t, const json_t *entry, struct bu_link_count *ret,
	  struct bu_err *err)
{
	const char *dir =
		json_object_get(entry, "dir") ? bu_json_str(entry, "dir", "?") : "";
	int leaf = bu_ids_find(&t->leaf_ids, json_object_get(entry, "leaf"));
	int spine = bu_ids_find(&t->spine_ids, json_object_get(entry, "spine"));
	struct bu_link_count *link;
	const int ways[2] = {strcmp(dir, "down") != 0, strcmp(dir, "up") != 0};

	if (leaf < 0 || spine < 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "names no leaf and spine of the plan");
	link = &ret[2 * (leaf * t->spines + spine)];
	if (*dir && strcmp(dir, "up") != 0 && strcmp(dir, "down") != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'dir': up or down are allowed");
	if (add_half(entry, "up", &link[BU_LINK_UP], err) != 0 ||
	    add_half(entry, "down", &link[BU_LINK_DOWN], err) != 0)
		return -1;
	for (int way = BU_LINK_UP; way <= BU_LINK_DOWN; way++) {
		link[way].told |= ways[way];
		if (ways[way] && add_link(entry, &link[way], err) != 0)
			return -1;
	}
	return 0;
}

int
bu_wire_switch_answer(const struct bu_topology *t, const json_t *answer,
		      struct bu_link_count *ret, struct bu_err *err)
{
	const json_t *list = bu_wire_list(answer);
	json_t *entry;
	size_t i;

	for (int k = 0; k < 2 * t->leaves * t->spines; k++)
		ret[k] = (struct bu_link_count){.rate = -1};
	if (!answer || json_is_null(answer))
		return 0;
	if (!json_is_array(list))
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"answer to switch: expected a list of {leaf, spine, dir, "
			"...}, or null");
	json_array_foreach (list, i, entry) {
		if (add_entry(t, entry, ret, err) != 0)
			return bu_err_wrap(err, "answer to switch: entry %zu", i);
	}
	return 0;
}

void
bu_wire_switch_since(const struct bu_topology *t, struct bu_link_count *before,
		     struct bu_link_count *counts)
{
	for (int i = 0; i < 2 * t->leaves * t->spines; i++) {
		struct bu_link_count now = counts[i];

		if (!now.told) {
			counts[i].bad = before[i].told ? -1 : 0;
			continue;
		}
		/* A counter only grows. A smaller value means a restart from 0. */
		if (!before[i].told)
			counts[i].bad = 0;
		else if (now.bad >= before[i].bad)
			counts[i].bad = now.bad - before[i].bad;
		before[i] = now;
	}
}
