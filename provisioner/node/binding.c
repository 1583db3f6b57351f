/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binding of machines and names, as a function of the log. Called by replay.c.
 * Invariant: a machine is bound to one node at most, which fleet->machines names.
 */
#include "provisioner/node/binding.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/machine.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/node/found.h"
#include "provisioner/node/identity_index.h"
#include "provisioner/node/revisions.h"

void
bu_binding_set(struct bu_fleet *fleet, struct bu_node *node, const char *machine)
{
	struct bu_node *old = *machine ? bu_fleet_node_of(fleet, machine) : NULL;

	if (old && old != node)
		bu_binding_set(fleet, old, "");
	if (strcmp(node->machine, machine) != 0) {
		bu_identity_index_forget(fleet, node);
		if (node->known->id[0])
			bu_node_known(node)->id[0] =
				'\0'; /* until its inventory arrives */
	}
	if (strcmp(bu_json_str(fleet->machines, node->machine, ""), node->name) == 0) {
		json_object_del(fleet->machines, node->machine);
		json_object_set_new(fleet->revoked, node->machine,
				    json_string(node->name));
		fleet->revoked_version++;
	}
	bu_node_set_machine(node, machine);
	bu_fleet_mark(fleet, node);
	if (node->machine[0]) {
		json_object_set_new(fleet->machines, node->machine,
				    json_string(node->name));
		if (json_object_del(fleet->revoked, node->machine) == 0)
			fleet->revoked_version++;
	}
}

static void
expect(struct bu_node *node)
{
	struct bu_known_machine *known = bu_node_known(node);

	BU_TEXT_COPY(known->id, node->machine);
	BU_TEXT_COPY(known->serial, node->serial);
	BU_TEXT_COPY(known->uuid, node->uuid);
	free(known->macs);
	known->macs = node->macs ? bu_xstrdup(node->macs) : NULL;
	known->again = 0;
}

/* A NIC more or less sets a condition; the machine is still the same. */
static void
note_changes(struct bu_node *node, int64_t time_ms)
{
	struct bu_machine known, seen;
	bu_autofree char *text = NULL;

	if (strcmp(node->known->id, node->machine) != 0 || node->known->again)
		expect(node);
	bu_machine_of(node->known->serial, node->known->uuid, node->known->macs,
		      &known);
	bu_node_machine(node, &seen);
	text = bu_machine_changes(&known, &seen);
	bu_node_set_condition(node, BU_CONDITION_HARDWARE_CHANGED, text != NULL,
			      time_ms, text ? json_string(text) : NULL);
}

static char *
macs_text(const struct bu_machine *machine)
{
	char *text = NULL;

	for (size_t i = 0; i < machine->macs_count; i++)
		bu_text_add(&text, " ", "%s", machine->macs[i]);
	return text;
}

static int
is_same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* 1 = the node's machine tells what it told before: the index has it. */
static int
is_known(const struct bu_node *node, const struct bu_machine *machine, const char *macs,
	 const char *numbers)
{
	return strcmp(node->known->id, node->machine) == 0 &&
	       is_same(node->serial, machine->serial) &&
	       is_same(node->uuid, machine->uuid) && is_same(node->macs, macs) &&
	       is_same(node->numbers, numbers);
}

void
bu_binding_told(struct bu_fleet *fleet, struct bu_node *node,
		const struct bu_machine *machine, int64_t time_ms)
{
	bu_autofree char *macs = macs_text(machine);
	bu_autofree char *numbers = bu_machine_numbers(machine);

	if (!is_known(node, machine, macs, numbers)) {
		bu_identity_index_forget(fleet, node);
		bu_node_set_serial(node, machine->serial);
		bu_node_set_uuid(node, machine->uuid);
		free(node->macs);
		node->macs = bu_steal(&macs);
		free(node->numbers);
		node->numbers = bu_steal(&numbers);
		bu_identity_index_learn(fleet, node, time_ms);
	}
	note_changes(node, time_ms);
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
	bu_revisions_install(fleet, node, "");
	if (node->known->id[0])
		clear(bu_node_known(node)->id);
	bu_node_set_condition(node, BU_CONDITION_HARDWARE_CHANGED, 0, 0, NULL);
	bu_node_set_condition(node, BU_CONDITION_BMC_DIFFERS, 0, 0, NULL);
	node->live.bmc_said = 0;
	bu_node_set_bmc_differs(node, "");
	bu_node_set_serial(node, "");
	bu_node_set_uuid(node, "");
	clear(node->live.firmware);
	bu_node_set_inventory(node, "");
	bu_node_set_boot_id(node, "");
	bu_node_drop_over(node);
	bu_node_set_admitted_step(node, "");
	bu_node_set_admitted_request(node, "");
	bu_node_set_installed_image(node, "");
	bu_node_set_installed_digest(node, "");
	bu_node_set_installed_step(node, "");
	bu_node_set_facets(node, "");
	bu_found_forget(node);
	clear(node->slot);
	bu_node_drop_other(node);
	bu_node_drop_kept_certs(node);
	node->proven = 0;
	bu_node_set_agent_cert(node, "");
	bu_node_set_agent_cert_next(node, "");
	bu_node_set_agent_cert_renewed(node, "");
	bu_node_set_condition(node, BU_CONDITION_CREDENTIAL_COPIED, 0, 0, NULL);
	bu_node_set_commit(node, "");
	bu_node_set_evidence(node, "");
	bu_node_drop_disk(node);
	free(bu_steal(&node->macs));
	free(bu_steal(&node->numbers));
	BU_DROP(&node->checks);
	bu_node_set_full_cert(node, "");
	bu_node_set_boot_cert(node, "");
	node->boot_installed = node->disk_touched = node->writing = 0;
	node->ram = node->raw = 0;
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

/* Moves the node at `at` to its place by name; all others are in order. */
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

/* Answers of bringup-power come under the old name, for no node or another one. They
 * are asked for again. */
static void
forget_asked(struct bu_node *node)
{
	bu_node_console(node)->asking = 0;
	bu_node_console(node)->next_ms = 0;
	node->live.medium_asked = 0;
	for (int i = 0; i < BU_REPORTS; i++)
		bu_node_reports(node)[i].asking = 0;
	bu_node_set_symptoms(node, "");
}

int
bu_binding_rename(struct bu_fleet *fleet, struct bu_node *node, const char *to,
		  int64_t time_ms, struct bu_err *err)
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
		forget_asked(other);
	}
	forget_asked(node);
	bu_identity_index_forget(fleet, node);
	if (!node->called[0])
		bu_node_set_called(node, node->name);
	BU_TEXT_COPY(node->name, to);
	if (!other)
		sort_in(fleet, at);
	if (node->machine[0]) {
		json_object_set_new(fleet->machines, node->machine,
				    json_string(node->name));
		bu_identity_index_learn(fleet, node, time_ms);
	}
	return 0;
}
