/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index of the identities that machines tell: "serial X", "uuid Y", "mac Z", and
 * "number N" of boards and chassis, each with the names of the nodes whose machines
 * tell it. Filled by binding.c; asked by bmc.c, enroll.c, proof.c and reach.c.
 * Invariant: a node is in the index by its present serial, uuid and macs, or not at
 * all. Each list of two names is in the condition of both, except for the number of a
 * chassis or a board.
 */
#include "provisioner/node/identity_index.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/machine.h"
#include "model/sentence.h"
#include "provisioner/node/binding.h"

static const struct {
	const char *key, *words;
} kinds[] = {
	{"serial", "serial number"}, {"uuid", "UUID"}, {"mac", "MAC"}, {"number", ""}};

enum { SERIAL, UUID, MAC, NUMBER };
enum { SHARED_MAX = 5 };

/* The argument of each key_fn below. */
struct walk {
	const struct bu_fleet *fleet;
	struct bu_node *node; /* whose keys are walked */
	const struct bu_machine *machine;
	int64_t time_ms;
	json_t *shared; /* reasons TWIN; NULL = none is looked for */
	struct bu_node *found;
	int met; /* another node tells one of the keys, too */
};

typedef void (*key_fn)(struct walk *walk, int kind, const char *value);

static char *
key_of(int kind, const char *value)
{
	return bu_xasprintf("%s %s", kinds[kind].key, value);
}

static void
each_key(struct walk *walk, key_fn fn)
{
	const struct bu_machine *machine = walk->machine;
	char key[BU_MACHINE_TEXT_SIZE];

	bu_machine_key(machine->serial, key);
	if (*key)
		fn(walk, SERIAL, key);
	bu_machine_uuid_key(machine->uuid, key);
	if (*key)
		fn(walk, UUID, key);
	for (size_t i = 0; i < machine->macs_count; i++)
		fn(walk, MAC, machine->macs[i]);
	for (size_t i = 0; i < machine->numbers_count; i++) {
		bu_machine_key(machine->numbers[i].text, key);
		fn(walk, NUMBER, key);
	}
}

static json_t *
names_of(const struct bu_fleet *fleet, int kind, const char *value)
{
	bu_autofree char *key = key_of(kind, value);

	return json_object_get(fleet->told, key);
}

static void
add_twin(struct walk *walk, int kind, const char *value)
{
	char own[BU_MACHINE_TEXT_SIZE];
	json_t *name;
	size_t i;

	if (kind == NUMBER) /* a chassis has several machines */
		return;
	bu_machine_text(walk->machine->uuid, own); /* in the byte order that it tells */
	json_array_foreach (names_of(walk->fleet, kind, value), i, name) {
		/* Hundreds may tell the same. */
		if (json_array_size(walk->shared) >= SHARED_MAX)
			return;
		if (strcmp(json_string_value(name), walk->node->name) != 0)
			json_array_append_new(
				walk->shared,
				BU_SAID(TWIN, BU_ARG("what", kinds[kind].words),
					BU_ARG("value", kind == UUID ? own : value),
					BU_ARG("node", json_string_value(name))));
	}
}

static void
look(const struct bu_fleet *fleet, struct bu_node *node, int64_t time_ms)
{
	struct bu_machine machine;
	bu_autojson json_t *shared = json_array();
	struct walk walk = {
		.fleet = fleet, .node = node, .machine = &machine, .shared = shared};

	bu_fleet_mark(fleet, node);
	bu_node_machine(node, &machine);
	each_key(&walk, add_twin);
	bu_node_set_condition(node, BU_CONDITION_SHARED_IDENTITY,
			      json_array_size(shared) > 0, time_ms,
			      BU_SAID(TWINS, BU_ARG_SAID("all", json_incref(shared))));
}

/* Other nodes whose machines tell this value. */
static void
look_at_others(struct walk *walk, int kind, const char *value)
{
	json_t *name;
	size_t i;

	json_array_foreach (names_of(walk->fleet, kind, value), i, name) {
		struct bu_node *other =
			bu_fleet_node(walk->fleet, json_string_value(name));

		if (other && other != walk->node)
			look(walk->fleet, other, walk->time_ms);
	}
}

static void
drop_key(struct walk *walk, int kind, const char *value)
{
	bu_autofree char *key = key_of(kind, value);
	json_t *names = json_object_get(walk->fleet->told, key);

	for (size_t i = json_array_size(names); i-- > 0;)
		if (strcmp(json_string_value(json_array_get(names, i)),
			   walk->node->name) == 0)
			json_array_remove(names, i);
	if (json_array_size(names) == 0)
		json_object_del(walk->fleet->told, key);
}

static int
has_name(const json_t *names, const char *name)
{
	json_t *one;
	size_t i;

	json_array_foreach (names, i, one)
		if (strcmp(json_string_value(one), name) == 0)
			return 1;
	return 0;
}

static void
add_key(struct walk *walk, int kind, const char *value)
{
	bu_autofree char *key = key_of(kind, value);
	json_t *names = json_object_get(walk->fleet->told, key);

	if (!names) {
		names = json_array();
		json_object_set_new(walk->fleet->told, key, names);
	}
	/* A NIC may be listed twice. */
	if (!has_name(names, walk->node->name))
		json_array_append_new(names, json_string(walk->node->name));
	walk->met |= json_array_size(names) > 1;
}

void
bu_identity_index_forget(struct bu_fleet *fleet, struct bu_node *node)
{
	struct bu_machine machine;
	struct walk walk = {.fleet = fleet, .node = node, .machine = &machine};

	bu_node_machine(node, &machine);
	each_key(&walk, drop_key);
	each_key(&walk, look_at_others);
	bu_node_set_condition(node, BU_CONDITION_SHARED_IDENTITY, 0, 0, NULL);
}

void
bu_identity_index_learn(struct bu_fleet *fleet, struct bu_node *node, int64_t time_ms)
{
	struct bu_machine machine;
	struct walk walk = {
		.fleet = fleet, .node = node, .machine = &machine, .time_ms = time_ms};

	bu_node_machine(node, &machine);
	each_key(&walk, add_key);
	bu_fleet_mark(fleet, node);
	if (!walk.met && !node->conditions[BU_CONDITION_SHARED_IDENTITY].on)
		return;
	look(fleet, node, time_ms);
	each_key(&walk, look_at_others);
}

static int
is_of_another(const struct bu_fleet *fleet, const struct bu_node *node, int kind,
	      const char *key)
{
	json_t *name;
	size_t i;

	json_array_foreach (names_of(fleet, kind, key), i, name)
		if (strcmp(json_string_value(name), node->name) != 0)
			return 1;
	return 0;
}

int
bu_identity_index_tells_another(const struct bu_fleet *fleet,
				const struct bu_node *node, const char *serial)
{
	char key[BU_MACHINE_TEXT_SIZE];

	bu_machine_key(serial, key);
	return is_of_another(fleet, node, SERIAL, key) ||
	       is_of_another(fleet, node, NUMBER, key);
}

int
bu_identity_index_has_uuid(const struct bu_fleet *fleet, const struct bu_node *node,
			   const char *uuid)
{
	char key[BU_MACHINE_TEXT_SIZE];

	bu_machine_uuid_key(uuid, key);
	return is_of_another(fleet, node, UUID, key);
}

static void
find_owner(struct walk *walk, int kind, const char *value)
{
	json_t *name;
	size_t i;

	json_array_foreach (names_of(walk->fleet, kind, value), i, name) {
		struct bu_node *node =
			bu_fleet_node(walk->fleet, json_string_value(name));
		struct bu_machine known;

		if (!node || (walk->found && node != walk->node))
			continue;
		bu_node_machine(node, &known);
		if (bu_machine_recognize(&known, walk->machine) == BU_MACHINE_SAME)
			walk->found = node;
	}
}

struct bu_node *
bu_identity_index_owner(const struct bu_fleet *fleet, const struct bu_node *first,
			const struct bu_machine *machine)
{
	struct walk walk = {.fleet = fleet,
			    .node = bu_fleet_node(fleet, first->name),
			    .machine = machine};

	each_key(&walk, find_owner);
	return walk.found;
}

struct bu_node *
bu_identity_index_mac_at(const struct bu_fleet *fleet, const char *mac, size_t index)
{
	char plain[BU_MAC_SIZE];
	json_t *name;

	if (bu_mac_normalize(mac, plain) != 0)
		return NULL;
	name = json_array_get(names_of(fleet, MAC, plain), index);
	return name ? bu_fleet_node(fleet, json_string_value(name)) : NULL;
}

struct bu_node *
bu_identity_index_by_mac(const struct bu_fleet *fleet, const char *mac)
{
	return bu_identity_index_mac_at(fleet, mac, 1)
		       ? NULL
		       : bu_identity_index_mac_at(fleet, mac, 0);
}
