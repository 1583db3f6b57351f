/* SPDX-License-Identifier: Apache-2.0 */
/* The set of nodes, sorted by name, and queries on it. */
#include "provisioner/node/fleet.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "profiles/load/disk.h"
#include "provisioner/node/issued.h"

struct bu_fleet_watcher {
	struct bu_fleet_watcher *next;
	bu_fleet_watch_fn fn;
	void *arg;
};

struct bu_fleet *
bu_fleet_create(struct bu_loop *loop, struct bu_store *store)
{
	struct bu_fleet *fleet = bu_xcalloc(1, sizeof(*fleet));

	fleet->loop = loop;
	fleet->store = store;
	fleet->version = 1000 * bu_wall_ms(bu_loop_clock(loop));
	fleet->renewed = fleet->version;
	fleet->started_ms = bu_loop_now_ms(loop);
	bu_measurements_init(&fleet->measurements);
	fleet->brakes = json_object();
	fleet->delivered = json_object();
	fleet->machines = json_object();
	fleet->revoked = json_object();
	fleet->told = json_object();
	fleet->unknown = json_object();
	return fleet;
}

void
bu_fleet_destroy(struct bu_fleet *fleet)
{
	struct bu_revision *revision;
	struct bu_fleet_watcher *watcher;

	if (!fleet)
		return;
	while ((watcher = fleet->watchers)) {
		fleet->watchers = watcher->next;
		free(watcher);
	}
	bu_store_unfollow(fleet->follower);
	for (size_t i = 0; i < fleet->count; i++)
		bu_node_destroy(fleet->nodes[i]);
	free(fleet->nodes);
	while ((revision = fleet->revisions)) {
		fleet->revisions = revision->next;
		bu_desired_destroy(revision->desired);
		free(revision);
	}
	bu_desired_destroy(fleet->desired);
	bu_desired_destroy(fleet->last);
	for (int id = 0; id < BU_CONDITION_COUNT; id++)
		json_decref(fleet->conditions[id].detail);
	for (size_t i = 0; i < fleet->rollouts_count; i++)
		json_decref(fleet->rollouts[i].body);
	bu_measurements_fini(&fleet->measurements);
	bu_issued_clear(fleet);
	bu_tokens_fini(&fleet->tokens);
	bu_scales_fini(&fleet->scales);
	json_decref(fleet->brakes);
	json_decref(fleet->delivered);
	json_decref(fleet->machines);
	json_decref(fleet->revoked);
	json_decref(fleet->learned.revoked);
	free(fleet->epochs);
	json_decref(fleet->told);
	json_decref(fleet->unknown);
	free(fleet);
}

struct bu_node *
bu_fleet_node(const struct bu_fleet *fleet, const char *name)
{
	return bu_nodes_find(fleet->nodes, fleet->count, name);
}

struct bu_node *
bu_fleet_node_of(const struct bu_fleet *fleet, const char *machine)
{
	const char *name = bu_json_str(fleet->machines, machine, NULL);

	return name ? bu_fleet_node(fleet, name) : NULL;
}

const struct bu_desired_node *
bu_fleet_desired(const struct bu_fleet *fleet, const struct bu_node *node)
{
	return fleet->desired ? bu_desired_node(fleet->desired, node->name) : NULL;
}

void
bu_fleet_watch(struct bu_fleet *fleet, bu_fleet_watch_fn fn, void *arg)
{
	struct bu_fleet_watcher **at = &fleet->watchers;

	while (*at)
		at = &(*at)->next;
	*at = bu_xcalloc(1, sizeof(**at));
	(*at)->fn = fn;
	(*at)->arg = arg;
}

void
bu_fleet_unwatch(struct bu_fleet *fleet, bu_fleet_watch_fn fn, void *arg)
{
	struct bu_fleet_watcher **at = &fleet->watchers, *watcher;

	while ((watcher = *at) && (watcher->fn != fn || watcher->arg != arg))
		at = &watcher->next;
	if (!watcher)
		return;
	*at = watcher->next;
	free(watcher);
}

void
bu_fleet_mark(const struct bu_fleet *fleet, struct bu_node *node)
{
	node->live.changed = fleet->version + 1;
}

void
bu_fleet_touch(struct bu_fleet *fleet, struct bu_node *node)
{
	if (node)
		bu_fleet_mark(fleet, node);
	fleet->version++;
	for (const struct bu_fleet_watcher *w = fleet->watchers; w; w = w->next)
		w->fn(fleet, node, w->arg);
}

json_t *
bu_fleet_inventory(const struct bu_fleet *fleet, const struct bu_node *node)
{
	bu_autofree char *text = NULL;

	if (!node->inventory[0])
		return NULL;
	text = bu_store_get_blob(fleet->store, node->inventory, NULL);
	return text ? bu_json_parse(text, strlen(text), "inventory", NULL) : NULL;
}

/* The part of an inventory that disk selectors read. */
struct seen {
	struct bu_disk *disks;
	size_t disks_count;
};

static const struct bu_field seen_fields[] = {
	BU_FIELD_MANY(LIST, struct seen, disks, BU_DISKS_MAX, bu_disk_fields,
		      .need = BU_SPARSE),
	BU_FIELD_END,
};

/* Empty without an inventory. The caller frees the disks. */
static struct seen
read_raw(const json_t *inventory)
{
	struct seen seen = {0};
	struct bu_err err;

	if (inventory &&
	    bu_record_from_json(seen_fields, inventory, &seen, &err) != 0) {
		bu_error("node", "an inventory in the log cannot be read: %s",
			 err.text);
		return (struct seen){0};
	}
	return seen;
}

/* Without numbers that do not identify one disk. */
static struct seen
read_disks(const json_t *inventory)
{
	struct seen seen = read_raw(inventory);

	bu_disks_own(seen.disks, seen.disks_count);
	return seen;
}

void
bu_fleet_tell_disk(const struct bu_disk *disk, const char *wanted,
		   struct bu_seen_disk *ret)
{
	*ret = (struct bu_seen_disk){.size_bytes = disk->size_bytes,
				     .written = disk->signature};
	BU_TEXT_COPY(ret->wanted, wanted);
	BU_TEXT_COPY(ret->path, disk->path);
	BU_TEXT_COPY(ret->serial, disk->serial);
	BU_TEXT_COPY(ret->wwn, disk->wwn);
	BU_TEXT_COPY(ret->holds, disk->holds);
}

int
bu_fleet_disk_in(const json_t *inventory, const char *wanted, struct bu_seen_disk *ret)
{
	struct seen seen = read_disks(inventory);
	bu_autofree struct bu_disk *disks = seen.disks;
	const struct bu_disk *disk;

	if (bu_disk_choose(wanted, disks, seen.disks_count, &disk) != 1)
		return -1;
	bu_fleet_tell_disk(disk, wanted, ret);
	return 0;
}

int
bu_fleet_disk(const struct bu_fleet *fleet, const struct bu_node *node,
	      const char *wanted, struct bu_seen_disk *ret)
{
	bu_autojson json_t *inventory = NULL;

	/* Called for thousands of nodes at once. */
	if (strcmp(node->live.disk->wanted, wanted) == 0) {
		*ret = *node->live.disk;
		return 0;
	}
	inventory = bu_fleet_inventory(fleet, node);
	return bu_fleet_disk_in(inventory, wanted, ret);
}

struct bu_disk *
bu_fleet_disks(const struct bu_fleet *fleet, const struct bu_node *node, int own,
	       size_t *ret_count)
{
	bu_autojson json_t *inventory = bu_fleet_inventory(fleet, node);
	struct seen seen = own ? read_disks(inventory) : read_raw(inventory);

	*ret_count = seen.disks_count;
	return seen.disks;
}

static json_t *
disk_json(const struct bu_disk *disk)
{
	return json_pack("{s:s,s:s,s:s,s:I,s:s,s:b}", "path", disk->path, "serial",
			 disk->serial, "wwn", disk->wwn, "size_bytes",
			 (json_int_t)disk->size_bytes, "holds", disk->holds, "written",
			 disk->signature);
}

json_t *
bu_fleet_mirror(const struct bu_fleet *fleet, const struct bu_node *node,
		const struct bu_desired_hardware *class, const char *wanted)
{
	bu_autojson json_t *inventory = bu_fleet_inventory(fleet, node);
	struct seen seen = read_disks(inventory);
	bu_autofree struct bu_disk *disks = seen.disks;
	const struct bu_disk *first, *second;

	if (bu_disk_choose(class->disk, disks, seen.disks_count, &first) != 1 ||
	    bu_disk_choose_other(wanted, disks, seen.disks_count, first, &second) != 1)
		return NULL;
	return disk_json(second);
}

json_t *
bu_fleet_scratch(const struct bu_fleet *fleet, const struct bu_node *node,
		 const struct bu_desired_hardware *class, const char *wanted)
{
	bu_autojson json_t *inventory = bu_fleet_inventory(fleet, node);
	struct seen seen = read_disks(inventory);
	bu_autofree struct bu_disk *disks = seen.disks;
	size_t count = seen.disks_count, found = 0;
	bu_autofree const struct bu_disk **chosen =
		bu_xcalloc(count + 1, sizeof(struct bu_disk *));
	const char *mirror = class->disks ? class->disks->mirror : NULL;
	const struct bu_disk *system[2] = {NULL, NULL};
	json_t *list = json_array();

	if (bu_disk_choose(class->disk, disks, count, &system[0]) == 1 &&
	    (!mirror ||
	     bu_disk_choose_other(mirror, disks, count, system[0], &system[1]) == 1))
		found = bu_disk_choose_all(wanted, disks, count, system, chosen);
	for (size_t i = 0; i < found; i++)
		json_array_append_new(list, disk_json(chosen[i]));
	return list;
}

json_t *
bu_fleet_hardware(const struct bu_fleet *fleet, const struct bu_node *node)
{
	bu_autojson json_t *inventory = bu_fleet_inventory(fleet, node);
	json_t *hardware = json_pack("{s:s}", "machine", node->machine);
	size_t i;
	json_t *device;

	json_array_foreach (json_object_get(inventory, "rdma"), i, device)
		json_object_set(hardware, bu_json_str(device, "name", "?"),
				json_object_get(device, "node_guid"));
	return hardware;
}

int
bu_fleet_rail_place(const struct bu_fleet *fleet, const struct bu_node *node,
		    const char *rail)
{
	const struct bu_desired_node *want = bu_fleet_desired(fleet, node);

	for (size_t i = 0; want && i < want->pool->rails_count; i++) {
		if (strcmp(want->pool->rails[i]->name, rail) == 0)
			return (int)i;
	}
	return -1;
}
