/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binding of machines and names, as a function of the log. Called by replay.c.
 * Invariant: a machine is bound to one node at most, and world->machines says to which.
 */
#include "provisioner/node/binding.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "profiles/nodeset/nodeset.h"

void
bu_binding_set(struct bu_fleet *fleet, struct bu_node *node, const char *machine)
{
	struct bu_node *old = *machine ? bu_fleet_node_of(fleet, machine) : NULL;

	if (old && old != node)
		bu_binding_set(fleet, old, "");
	if (strcmp(bu_json_str(fleet->machines, node->machine, ""), node->name) == 0)
		json_object_del(fleet->machines, node->machine);
	bu_text_copy(node->machine, sizeof(node->machine), machine);
	if (node->machine[0])
		json_object_set_new(fleet->machines, node->machine,
				    json_string(node->name));
}

void
bu_binding_inventory(struct bu_node *node, const json_t *value)
{
	const json_t *dmi = json_object_get(value, "dmi");
	char *text = NULL;
	size_t size, i;
	json_t *nic;
	FILE *out;

	if (!value)
		return;
	bu_text_copy(node->live.firmware, sizeof(node->live.firmware),
		     bu_json_str(value, "firmware", ""));
	bu_text_copy(node->serial, sizeof(node->serial),
		     bu_json_str(dmi, "serial", ""));
	bu_text_copy(node->uuid, sizeof(node->uuid), bu_json_str(dmi, "uuid", ""));
	out = open_memstream(&text, &size);
	bu_assert(out); /* only for want of memory */
	json_array_foreach (json_object_get(value, "nics"), i, nic) {
		char mac[BU_MAC_SIZE];

		if (bu_mac_normalize(bu_json_str(nic, "mac", ""), mac) == 0)
			fprintf(out, "%s%s", ftell(out) > 0 ? " " : "", mac);
	}
	fclose(out);
	free(node->macs);
	node->macs = text;
}

static void
clear(char *text)
{
	text[0] = '\0';
}

void
bu_binding_forget(struct bu_fleet *fleet, struct bu_node *node)
{
	bu_binding_set(fleet, node, "");
	clear(node->serial);
	clear(node->uuid);
	clear(node->live.firmware);
	clear(node->inventory);
	clear(node->boot_id);
	clear(node->admitted_step);
	clear(node->admitted_request);
	clear(node->installed_image);
	clear(node->installed_digest);
	clear(node->installed_step);
	clear(node->facets);
	clear(node->agent_cert);
	clear(node->agent_cert_next);
	clear(node->commit);
	clear(node->evidence);
	clear(node->live.disk.wanted);
	free(bu_steal(&node->macs));
	json_decref(bu_steal(&node->checks));
	json_decref(bu_steal(&node->full_cert));
	json_decref(bu_steal(&node->boot_cert));
	node->boot_installed = node->disk_touched = node->writing = 0;
	node->booted_by_us = node->serves = node->entering = 0;
}

static size_t
place_of(const struct bu_fleet *fleet, const struct bu_node *node)
{
	size_t at = 0;

	while (fleet->nodes[at] != node)
		at++;
	return at;
}

/* To its place by name; all others are in order. */
static void
sort_in(struct bu_fleet *fleet, size_t at)
{
	struct bu_node *node = fleet->nodes[at];

	for (; at > 0 && strcmp(fleet->nodes[at - 1]->name, node->name) > 0; at--)
		fleet->nodes[at] = fleet->nodes[at - 1];
	for (; at + 1 < fleet->count &&
	       strcmp(fleet->nodes[at + 1]->name, node->name) < 0;
	     at++)
		fleet->nodes[at] = fleet->nodes[at + 1];
	fleet->nodes[at] = node;
}

int
bu_binding_rename(struct bu_fleet *fleet, struct bu_node *node, const char *to,
		  struct bu_err *err)
{
	struct bu_node *other = bu_fleet_node(fleet, to);
	size_t at = place_of(fleet, node);

	if (!bu_node_name_ok(to) || (other && other->machine[0]))
		return bu_err_set(err, BU_ERR_INVAL, 0, "node %s cannot become '%s'%s",
				  node->name, to,
				  other ? ", which is bound to a machine" : "");
	if (other) {
		fleet->nodes[place_of(fleet, other)] = node;
		fleet->nodes[at] = other;
		memcpy(other->name, node->name, sizeof(other->name));
	}
	if (!node->called[0])
		bu_text_copy(node->called, sizeof(node->called), node->name);
	bu_text_copy(node->name, sizeof(node->name), to);
	if (!other)
		sort_in(fleet, at);
	if (node->machine[0])
		json_object_set_new(fleet->machines, node->machine,
				    json_string(node->name));
	return 0;
}
