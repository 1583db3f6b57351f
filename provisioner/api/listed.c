/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes in long lists, as text. Called by the routes of the status and of nodes. Ten
 * thousand nodes take a third of a second to make, and few of them change: each keeps
 * its text. Invariant: a text is no older than the last mark of its node
 * (bu_fleet_mark()), but for the time at which its agent was heard, which is always
 * new.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/api/api.h"

#define SEEN "\"last_seen_ms\":"

static int
waits_for_turn(const struct bu_node *node)
{
	return node->order->open && !node->order->begun;
}

static int
is_fresh(const struct bu_fleet *fleet, const struct bu_node *node)
{
	const struct bu_listed *listed = node->live.listed;

	return listed && listed->changed == node->live.changed &&
	       listed->renewed == fleet->renewed;
}

/* No value has the mark of a key in it: quotes in values are escaped. */
static void
keep(const struct bu_fleet *fleet, struct bu_node *node, const json_t *object)
{
	bu_autofree char *json = json_dumps(object, JSON_COMPACT);
	struct bu_listed *listed;
	const char *seen;

	bu_assert(json);
	listed = bu_xcalloc(1, sizeof(*listed) + strlen(json) + 1);
	strcpy(listed->json, json);
	seen = strstr(listed->json, SEEN);
	bu_assert(seen);
	listed->seen = (size_t)(seen - listed->json) + strlen(SEEN);
	/* One that is marked already will change with the next version. */
	listed->changed = node->live.changed > fleet->version ? -1 : node->live.changed;
	listed->renewed = fleet->renewed;
	free(node->live.listed);
	node->live.listed = listed;
}

static void
make(const struct bu_api *api, struct bu_node *const *nodes, size_t count)
{
	bu_autojson json_t *list = json_array();
	size_t at = 0;

	for (size_t i = 0; i < count; i++)
		if (!is_fresh(api->fleet, nodes[i]))
			json_array_append_new(list,
					      bu_api_shown_node(api->fleet, nodes[i]));
	if (!json_array_size(list))
		return;
	bu_rollouts_tell(api->rollouts, list);
	for (size_t i = 0; i < count; i++)
		if (!is_fresh(api->fleet, nodes[i]))
			keep(api->fleet, nodes[i], json_array_get(list, at++));
}

static void
print(const struct bu_node *node, FILE *out)
{
	const struct bu_listed *listed = node->live.listed;

	fwrite(listed->json, 1, listed->seen, out);
	fprintf(out, "%lld", (long long)node->live.last_seen_ms);
	fputs(listed->json + listed->seen +
		      strspn(listed->json + listed->seen, "-0123456789"),
	      out);
}

void
bu_api_list_nodes(const struct bu_api *api, struct bu_node *const *nodes, size_t count,
		  FILE *out)
{
	make(api, nodes, count);
	fputc('[', out);
	for (size_t i = 0; i < count; i++) {
		if (i)
			fputc(',', out);
		print(nodes[i], out);
	}
	fputc(']', out);
}

void
bu_api_list_turns(struct bu_node *const *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (waits_for_turn(nodes[i]) && nodes[i]->live.listed)
			nodes[i]->live.listed->changed = -1;
}
