/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the path of a test from other people's models. Called by wire.c. Pure.
 * Invariant: a hop that is not in the plan is an error, not an unknown path.
 */
#include "fabric/judge/wire_impl.h"

/* Finds the spine in a path. An integer may name a leaf and a spine: of three hops the
 * middle one is the spine. */
static int
path_of(const struct bu_topology *t, const json_t *path, int from, int to)
{
	int found = BU_PATH_UNKNOWN;
	size_t i;
	json_t *hop;

	if (json_is_object(path)) {
		const json_t *inner = json_object_get(path, "spine");

		inner = inner ? inner : json_object_get(path, "spines");
		return path_of(t, inner, from, to);
	}
	if (!json_is_array(path))
		return bu_ids_find(&t->spine_ids, path);
	if (json_array_size(path) == 3 &&
	    bu_ids_find(&t->leaf_ids, json_array_get(path, 0)) == from &&
	    bu_ids_find(&t->leaf_ids, json_array_get(path, 2)) == to)
		return bu_ids_find(&t->spine_ids, json_array_get(path, 1));
	json_array_foreach (path, i, hop) {
		int spine = json_is_array(hop) || json_is_object(hop)
				    ? path_of(t, hop, from, to)
				    : bu_ids_find(&t->spine_ids, hop);

		/* a leaf's own number is no spine */
		if (spine < 0 || (json_array_size(path) == 1 && from == to &&
				  bu_ids_find(&t->leaf_ids, hop) == from))
			continue;
		if (found >= 0 && found != spine)
			return BU_PATH_SEVERAL;
		found = spine;
	}
	return found;
}

static int
is_known(const struct bu_topology *t, const json_t *hop)
{
	return bu_ids_find(&t->spine_ids, hop) >= 0 ||
	       bu_ids_find(&t->leaf_ids, hop) >= 0 ||
	       bu_ids_find(&t->node_ids, hop) >= 0;
}

/* inside: leaves and nodes are allowed, too. */
static int
check(const struct bu_topology *t, const json_t *path, int inside, struct bu_err *err)
{
	const json_t *inner = json_object_get(path, "spine");
	size_t i;
	json_t *hop;

	inner = inner ? inner : json_object_get(path, "spines");
	if (!path || json_is_null(path))
		return 0;
	if (json_is_object(path) && inner)
		return check(t, inner, 0, err);
	json_array_foreach (path, i, hop) {
		if (check(t, hop, 1, err) != 0)
			return -1;
	}
	if (json_is_array(path) ||
	    (inside ? is_known(t, path) : bu_ids_find(&t->spine_ids, path) >= 0))
		return 0;
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "field 'path': expected a spine of the plan, a list of hops, "
			  "or null");
}

int
bu_wire_path(const struct bu_topology *t, const json_t *path,
	     const struct bu_flow *flow, int *ret, struct bu_err *err)
{
	int from = t->leaf_of[flow->src], to = t->leaf_of[flow->dst];

	/* A path inside a leaf may name the leaf alone. */
	if (check(t, path, from == to, err) != 0)
		return -1;
	*ret = path_of(t, path, from, to);
	return 0;
}
