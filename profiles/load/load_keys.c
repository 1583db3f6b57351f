/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One key of one node: its text and where it was said. Called by load_nodes.c and
 * load_objects.c. Invariant: a text that a node shares with its pool is freed once.
 */
#include "profiles/load/load_internal.h"

void
bu_load_set_text(struct bu_desired_node *node, const struct bu_key *key, char *text)
{
	char **own = (char **)((char *)node + key->offset);
	const struct bu_key *base = bu_schema_key("pool", key->key);

	if (!base || base->offset == BU_KEY_NO_FIELD || base->type != key->type ||
	    *own != *(char *const *)((const char *)node->pool + base->offset))
		free(*own);
	*own = text;
}

void
bu_load_note_origin(struct bu_desired_node *node, const struct bu_key *key,
		    const char *file, int line)
{
	size_t cap = node->origins_count;

	node->origins = bu_xgrow(node->origins, &cap, node->origins_count + 1,
				 sizeof(*node->origins));
	node->origins[node->origins_count++] =
		(struct bu_node_origin){key, {file, line}};
}
