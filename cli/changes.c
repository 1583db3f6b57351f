/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges what changed into a status document. Called by `bringup status --watch`.
 * Invariant: afterwards the document is what a whole answer of that version would be.
 */
#include "cli/changes.h"

#include <string.h>

#include "base/json.h"

/* Places of the nodes in the list, by name. New reference. */
static json_t *
index_of(const json_t *nodes)
{
	json_t *places = json_object(), *node;
	size_t i;

	json_array_foreach (nodes, i, node)
		json_object_set_new(places, bu_json_str(node, "name", ""),
				    json_integer((json_int_t)i));
	return places;
}

static void
put_nodes(json_t *nodes, const json_t *changed)
{
	bu_autojson json_t *places = index_of(nodes);
	json_t *node;
	size_t i;

	json_array_foreach (changed, i, node) {
		const char *name = bu_json_str(node, "name", "");
		json_int_t place = bu_json_int(places, name, -1);

		if (place >= 0)
			json_array_set(nodes, (size_t)place, node);
		else
			json_array_append(nodes, node);
	}
}

static int
has_name(const json_t *names, const char *name)
{
	json_t *one;
	size_t i;

	json_array_foreach (names, i, one)
		if (json_is_string(one) && strcmp(json_string_value(one), name) == 0)
			return 1;
	return 0;
}

static void
drop_nodes(json_t *nodes, const json_t *gone)
{
	for (size_t i = json_array_size(gone) ? json_array_size(nodes) : 0; i-- > 0;)
		if (has_name(gone, bu_json_str(json_array_get(nodes, i), "name", "")))
			json_array_remove(nodes, i);
}

void
bu_changes_take(json_t **status, json_t *answer)
{
	json_t *nodes = json_incref(json_object_get(*status, "nodes"));

	if (bu_json_int(answer, "since", 0) && nodes) {
		put_nodes(nodes, json_object_get(answer, "nodes"));
		drop_nodes(nodes, json_object_get(answer, "gone"));
		json_object_update(*status, answer);
		json_object_set(*status, "nodes", nodes);
		json_object_del(*status, "since");
		json_object_del(*status, "gone");
	} else {
		json_decref(*status);
		*status = json_incref(answer);
	}
	json_decref(nodes);
}
