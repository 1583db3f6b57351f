/* SPDX-License-Identifier: Apache-2.0 */
/* The set of nodes, kept sorted by name, and questions about it. */
#include "provisioner/node/world.h"

#include <string.h>

#include "base/json.h"

struct bu_world *
bu_world_create(struct bu_loop *loop, struct bu_store *store)
{
	struct bu_world *world = bu_xcalloc(1, sizeof(*world));

	world->loop = loop;
	world->store = store;
	world->version = 1;
	world->started_ms = bu_wall_ms(bu_loop_clock(loop));
	world->pairs = json_array();
	return world;
}

void
bu_world_destroy(struct bu_world *world)
{
	if (!world)
		return;
	for (size_t i = 0; i < world->count; i++)
		bu_node_destroy(world->nodes[i]);
	free(world->nodes);
	bu_desired_destroy(world->desired);
	json_decref(world->pairs);
	free(world);
}

struct bu_node *
bu_world_node(const struct bu_world *world, const char *name)
{
	size_t low = 0, high = world->count;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = strcmp(name, world->nodes[mid]->name);

		if (order == 0)
			return world->nodes[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

struct bu_node *
bu_world_node_of(const struct bu_world *world, const char *machine)
{
	for (size_t i = 0; i < world->count; i++)
		if (*machine && strcmp(world->nodes[i]->machine, machine) == 0)
			return world->nodes[i];
	return NULL;
}

const struct bu_desired_node *
bu_world_desired(const struct bu_world *world, const struct bu_node *node)
{
	return world->desired ? bu_desired_node(world->desired, node->name) : NULL;
}

void
bu_world_touch(struct bu_world *world, struct bu_node *node)
{
	world->version++;
	if (world->on_change)
		world->on_change(world, node, world->on_change_arg);
}

/* The certificate's text is our own, signed when it was issued. */
static int
cert_says(const json_t *cert, const char *key, const char *want)
{
	const char *text = bu_json_str(cert, "text", "");
	bu_autojson json_t *body = bu_json_parse(text, strlen(text), "certificate", NULL);

	return body && *want && strcmp(bu_json_str(body, key, ""), want) == 0;
}

int
bu_world_certified(const struct bu_node *node)
{
	return node->full_cert && node->boot_cert &&
	       cert_says(node->full_cert, "machine", node->machine) &&
	       cert_says(node->boot_cert, "machine", node->machine) &&
	       cert_says(node->boot_cert, "boot_id", node->boot_id);
}
