/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what hangs where, for the rehearsal of a fabric. Pure. Invariant: in what comes
 * out each port hangs on a leaf that exists.
 */
#include "model/topology.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/plain.h"

enum { ID_TEXT = 80 };

static int
id_text(const json_t *id, char ret[ID_TEXT])
{
	if (json_is_integer(id))
		snprintf(ret, ID_TEXT, "%" JSON_INTEGER_FORMAT, json_integer_value(id));
	else if (json_is_string(id) && json_string_length(id) > 0 &&
		 json_string_length(id) < ID_TEXT)
		bu_plain_copy(ret, ID_TEXT, json_string_value(id), SIZE_MAX, 0);
	else
		return -1;
	return 0;
}

int
bu_ids_find(const struct bu_ids *ids, const json_t *id)
{
	char text[ID_TEXT];
	const json_t *place;

	if (!id || id_text(id, text) != 0)
		return -1;
	place = json_object_get(ids->index, text);
	return place ? (int)json_integer_value(place) : -1;
}

int
bu_ids_place(struct bu_ids *ids, const char *name)
{
	json_t *known = json_object_get(ids->index, name);
	size_t count = json_array_size(ids->list);

	if (known)
		return (int)json_integer_value(known);
	json_array_append_new(ids->list, json_string(name));
	json_object_set_new(ids->index, name, json_integer((json_int_t)count));
	return (int)count;
}

json_t *
bu_ids_get(const struct bu_ids *ids, int place)
{
	return json_incref(json_array_get(ids->list, (size_t)place));
}

void
bu_ids_text(const struct bu_ids *ids, int place, char *ret, size_t size)
{
	char text[ID_TEXT] = "?";

	id_text(json_array_get(ids->list, (size_t)place), text);
	snprintf(ret, size, "%s", text);
}

static int
add_id(struct bu_ids *ids, const json_t *id, const char *what, struct bu_err *err)
{
	char text[ID_TEXT];

	if (!id || id_text(id, text) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': a name is a text of 1 to %d bytes or an "
				  "integer",
				  what, ID_TEXT - 1);
	if (json_object_get(ids->index, text))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': '%s' is there twice", what, text);
	json_object_set_new(ids->index, text,
			    json_integer((json_int_t)json_array_size(ids->list)));
	json_array_append(ids->list, (json_t *)(uintptr_t)id);
	return 0;
}

/* The name of an entry: itself, or its member `what`, "name" or "id". */
static const json_t *
name_of(const json_t *entry, const char *what)
{
	const json_t *name;

	if (!json_is_object(entry))
		return entry;
	name = json_object_get(entry, what);
	name = name ? name : json_object_get(entry, "name");
	return name ? name : json_object_get(entry, "id");
}

static int
read_count(struct bu_ids *ids, const json_t *value, const char *field,
	   struct bu_err *err)
{
	json_int_t count = json_integer_value(value);

	if (count < 0 || count > BU_TOPOLOGY_NODES_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': 0 to %d are allowed", field,
				  BU_TOPOLOGY_NODES_MAX);
	for (json_int_t i = 0; i < count; i++) {
		bu_autojson json_t *id = json_integer(i);

		add_id(ids, id, field, NULL);
	}
	return 0;
}

static int
read_ids(struct bu_ids *ids, const json_t *plan, const char *field, const char *what,
	 struct bu_err *err)
{
	json_t *value = json_object_get(plan, field), *entry;
	const char *key;
	size_t i;

	ids->list = json_array();
	ids->index = json_object();
	if (json_is_integer(value))
		return read_count(ids, value, field, err);
	if (json_is_object(value)) {
		json_object_foreach (value, key, entry) {
			bu_autojson json_t *id = json_string(key);

			if (add_id(ids, id, field, err) != 0)
				return -1;
		}
		return 0;
	}
	if (!json_is_array(value) || json_array_size(value) > BU_TOPOLOGY_NODES_MAX)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"field '%s': expected a count or a list of at most %d", field,
			BU_TOPOLOGY_NODES_MAX);
	json_array_foreach (value, i, entry) {
		bu_autojson json_t *place = json_integer((json_int_t)i);
		const json_t *id = json_is_array(entry) ? place : name_of(entry, what);

		if (add_id(ids, id, field, err) != 0)
			return -1;
	}
	return 0;
}

/* rail < 0: all rails of the node. */
static int
hang(struct bu_topology *t, int node, int rail, int leaf, const char *field,
     struct bu_err *err)
{
	if (node < 0 || leaf < 0 || rail >= t->rails)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"field '%s': names a node, rail or leaf that the plan "
			"does not have",
			field);
	for (int r = 0; r < t->rails; r++) {
		if (rail < 0 || rail == r)
			t->leaf_of[node * t->rails + r] = leaf;
	}
	return 0;
}

/* LEAF or [LEAF per rail] of a node. */
static int
hang_node(struct bu_topology *t, int node, const json_t *where, const char *field,
	  struct bu_err *err)
{
	size_t i;
	json_t *leaf;

	if (!json_is_array(where))
		return hang(t, node, -1, bu_ids_find(&t->leaf_ids, where), field, err);
	if (json_array_size(where) != (size_t)t->rails)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': expected a leaf for each of %d rails",
				  field, t->rails);
	json_array_foreach (where, i, leaf) {
		if (hang(t, node, (int)i, bu_ids_find(&t->leaf_ids, leaf), field,
			 err) != 0)
			return -1;
	}
	return 0;
}

static int
hang_members(struct bu_topology *t, int leaf, const json_t *members, int rail,
	     struct bu_err *err)
{
	size_t i;
	json_t *member;

	json_array_foreach (members, i, member) {
		int node = bu_ids_find(&t->node_ids, name_of(member, "node"));
		int its = (int)bu_json_int(member, "rail", rail);

		if (hang(t, node, its, leaf, "leaves", err) != 0)
			return -1;
	}
	return 0;
}

static int
read_leaves(struct bu_topology *t, const json_t *leaves, struct bu_err *err)
{
	json_t *entry;
	const char *key;
	int leaf = 0;
	size_t i;

	if (json_is_object(leaves)) {
		json_object_foreach ((json_t *)(uintptr_t)leaves, key, entry) {
			if (hang_members(t, leaf++, entry, -1, err) != 0)
				return -1;
		}
	}
	json_array_foreach (leaves, i, entry) {
		int rail = (int)bu_json_int(entry, "rail", -1);
		const json_t *members =
			json_is_array(entry) ? entry : json_object_get(entry, "nodes");

		if (hang_members(t, (int)i, members, rail, err) != 0)
			return -1;
	}
	return 0;
}

static int
read_nodes(struct bu_topology *t, const json_t *nodes, struct bu_err *err)
{
	size_t i;
	json_t *entry;

	json_array_foreach (nodes, i, entry) {
		const json_t *where = json_object_get(entry, "leaf");

		where = where ? where : json_object_get(entry, "leaves");
		if (where && hang_node(t, (int)i, where, "nodes", err) != 0)
			return -1;
	}
	return 0;
}

static int
read_leaf_of(struct bu_topology *t, const json_t *leaf_of, struct bu_err *err)
{
	size_t i;
	json_t *where;
	const char *key;

	if (json_array_size(leaf_of) > (size_t)t->nodes)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'leaf_of': more entries than nodes");
	json_array_foreach (leaf_of, i, where) {
		if (hang_node(t, (int)i, where, "leaf_of", err) != 0)
			return -1;
	}
	if (!json_is_object(leaf_of))
		return 0;
	json_object_foreach ((json_t *)(uintptr_t)leaf_of, key, where) {
		bu_autojson json_t *id = json_string(key);

		if (hang_node(t, bu_ids_find(&t->node_ids, id), where, "leaf_of",
			      err) != 0)
			return -1;
	}
	return 0;
}

static int
check_ports(const struct bu_topology *t, struct bu_err *err)
{
	char node[ID_TEXT];

	for (int port = 0; port < bu_topology_ports(t); port++) {
		if (t->leaf_of[port] >= 0)
			continue;
		bu_ids_text(&t->node_ids, port / t->rails, node, sizeof(node));
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'leaf_of': rail %d of node '%s' has no leaf",
				  port % t->rails, node);
	}
	return 0;
}

static int
read_rails(const json_t *plan, int *ret, struct bu_err *err)
{
	const json_t *rails = json_object_get(plan, "rails");
	json_int_t count = json_is_array(rails) ? (json_int_t)json_array_size(rails)
						: json_integer_value(rails);

	if (count < 1 || count > BU_TOPOLOGY_RAILS_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'rails': 1 to %d are allowed",
				  BU_TOPOLOGY_RAILS_MAX);
	*ret = (int)count;
	return 0;
}

static int
read_scalars(struct bu_topology *t, const json_t *plan, struct bu_err *err)
{
	const json_t *limit = json_object_get(plan, "limit_gbps");
	const json_t *named = json_object_get(plan, "routing");
	const json_t *across = json_object_get(plan, "across");
	const char *routing = bu_json_str(plan, "routing", "static");

	t->limit_gbps = json_number_value(limit);
	if (!(t->limit_gbps > 0))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'limit_gbps': expected a rate above 0");
	t->sprayed = bu_json_bool(plan, "sprayed", strncmp(routing, "spray", 5) == 0);
	if (named && strcmp(routing, "static") != 0 &&
	    strncmp(routing, "spray", 5) != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'routing': static or sprayed are allowed");
	if (across && !json_is_boolean(across))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'across': true or false are allowed");
	t->across = json_is_true(across);
	t->has_lldp = bu_json_bool(plan, "lldp", 0);
	t->has_switch =
		bu_json_bool(plan, "switch", bu_json_bool(plan, "switch_counters", 0));
	return 0;
}

/* Adds the leaf, or the leaves, of one node to the set. */
static void
collect(json_t *leaves, json_t *seen, json_t *where)
{
	char text[ID_TEXT];
	json_t *leaf;
	size_t i;

	json_array_foreach (where, i, leaf) {
		collect(leaves, seen, leaf);
	}
	if (id_text(where, text) != 0 || json_object_get(seen, text))
		return;
	json_object_set_new(seen, text, json_true());
	json_array_append(leaves, where);
}

/* Plans that name no leaves but where nodes hang, or give `leaves` as the leaf of each
 * node: brought into the form with both. New reference. */
static json_t *
with_leaves(const json_t *plan)
{
	json_t *ret = json_copy((json_t *)(uintptr_t)plan), *entry;
	json_t *leaves = json_object_get(plan, "leaves"), *nodes, *leaf_of;
	bu_autojson json_t *found = json_array(), *seen = json_object();
	char text[ID_TEXT];
	size_t i, count;

	nodes = json_object_get(plan, "nodes");
	leaf_of = json_object_get(plan, "leaf_of");
	count = json_is_array(nodes) ? json_array_size(nodes)
				     : (size_t)json_integer_value(nodes);
	if (!leaf_of && json_is_array(leaves) && json_array_size(leaves) == count &&
	    id_text(json_array_get(leaves, 0), text) == 0)
		leaf_of = leaves;
	else if (leaves)
		return ret;
	json_array_foreach (leaf_of, i, entry) {
		collect(found, seen, entry);
	}
	if (leaf_of && leaf_of == leaves && json_array_size(found) == count)
		return ret; /* each once: a list of names after all */
	json_array_foreach (nodes, i, entry) {
		collect(found, seen, json_object_get(entry, "leaf"));
		collect(found, seen, json_object_get(entry, "leaves"));
	}
	if (leaf_of)
		json_object_set(ret, "leaf_of", leaf_of);
	json_object_set(ret, "leaves", found);
	return ret;
}

static int
read_plan(struct bu_topology *t, const json_t *told, struct bu_err *err)
{
	bu_autojson json_t *plan = json_is_object(told) ? with_leaves(told) : NULL;

	if (!plan)
		return bu_err_set(err, BU_ERR_INVAL, 0, "expected an object");
	if (!json_object_get(plan, "spines"))
		json_object_set_new(plan, "spines", json_integer(0));
	if (read_rails(plan, &t->rails, err) != 0 ||
	    read_ids(&t->node_ids, plan, "nodes", "node", err) != 0 ||
	    read_ids(&t->leaf_ids, plan, "leaves", "leaf", err) != 0 ||
	    read_ids(&t->spine_ids, plan, "spines", "spine", err) != 0 ||
	    read_scalars(t, plan, err) != 0)
		return -1;
	t->nodes = (int)json_array_size(t->node_ids.list);
	t->leaves = (int)json_array_size(t->leaf_ids.list);
	t->spines = (int)json_array_size(t->spine_ids.list);
	if (t->spines > 0 && t->leaves > BU_TOPOLOGY_LINKS_MAX / t->spines)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'spines': at most %d links are allowed",
				  BU_TOPOLOGY_LINKS_MAX);
	t->leaf_of = bu_xcalloc((size_t)bu_topology_ports(t) + 1, sizeof(*t->leaf_of));
	for (int port = 0; port < bu_topology_ports(t); port++)
		t->leaf_of[port] = -1;
	if (read_leaves(t, json_object_get(plan, "leaves"), err) != 0 ||
	    read_nodes(t, json_object_get(plan, "nodes"), err) != 0 ||
	    read_leaf_of(t, json_object_get(plan, "leaf_of"), err) != 0)
		return -1;
	return check_ports(t, err);
}

int
bu_topology_from_json(const json_t *value, struct bu_topology *ret, struct bu_err *err)
{
	struct bu_topology topology = {0};

	if (read_plan(&topology, value, err) != 0) {
		bu_topology_fini(&topology);
		return bu_err_wrap(err, "topology");
	}
	*ret = topology;
	return 0;
}

static void
ids_fini(struct bu_ids *ids)
{
	json_decref(ids->list);
	json_decref(ids->index);
}

void
bu_topology_fini(struct bu_topology *topology)
{
	ids_fini(&topology->node_ids);
	ids_fini(&topology->leaf_ids);
	ids_fini(&topology->spine_ids);
	free(topology->leaf_of);
	*topology = (struct bu_topology){0};
}
