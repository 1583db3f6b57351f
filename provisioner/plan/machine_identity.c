/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines before names: finds the known node with the machine that the profile means
 * by a name. Called by plan.c for each node before its decision. Invariants: a machine
 * of a node is never planned as new under another name. An ambiguous one is refused
 * with the way out.
 */
#include <string.h>

#include "base/json.h"
#include "base/url.h"
#include "model/machine.h"
#include "provisioner/plan/plan_impl.h"

/* conflict: the profile is wrong. not_now: the profile is right once another node has
 * given the machine up. conflict(ret, TWO_NAMES, what, owner) */
#define refuse(ret, its_kind, id, ...)                                                 \
	do {                                                                           \
		BU_REASON_SET(&(ret)->why, id, .text = {__VA_ARGS__});                 \
		(ret)->kind = (its_kind);                                              \
	} while (0)
#define conflict(ret, ...) refuse(ret, BU_MACHINE_IDENTITY_CONFLICT, __VA_ARGS__)
#define not_now(ret, ...) refuse(ret, BU_MACHINE_IDENTITY_NOT_NOW, __VA_ARGS__)

/* --- holders of machines --- */

static void
add_key(json_t *index, const char *kind, const char *value, const char *node)
{
	bu_autofree char *key = bu_xasprintf("%s %s", kind, value);

	if (*value)
		json_object_set_new(index, key, json_string(node));
}

static void
add_macs(json_t *index, const struct bu_node *node)
{
	bu_autofree char *macs = bu_xstrdup(node->macs ? node->macs : "");
	char *rest = NULL;

	for (char *mac = strtok_r(macs, " ", &rest); mac;
	     mac = strtok_r(NULL, " ", &rest))
		add_key(index, "mac", mac, node->name);
}

static void
add_serial(json_t *index, const char *serial, const char *node)
{
	char key[BU_MACHINE_TEXT_SIZE];

	bu_machine_key(serial, key);
	add_key(index, "serial", key, node);
}

static void
add_uuid(json_t *index, const char *uuid, const char *node)
{
	char key[BU_MACHINE_TEXT_SIZE];

	bu_machine_uuid_key(uuid, key);
	add_key(index, "uuid", key, node);
}

static void
add_bmc(json_t *index, const char *bmc, const char *node)
{
	bu_autofree char *key = bmc ? bu_url_key(bmc) : NULL;

	if (key)
		add_key(index, "bmc", key, node);
}

static int
has_mac(const struct bu_node *node, const char *mac)
{
	size_t size = strlen(mac);

	for (const char *at = node->macs; at && (at = strstr(at, mac)); at += size)
		if ((at == node->macs || at[-1] == ' ') &&
		    (at[size] == ' ' || at[size] == '\0'))
			return 1;
	return 0;
}

typedef int (*same_fn)(const char *a, const char *b);

/* Compares the profile's text with the firmware's; -1 = one of them tells nothing. A
 * text that the applied profile (before) had for this machine counts as the same,
 * though it may be wrong. */
static int
same_text(same_fn same, const char *wanted, const char *before, const char *told)
{
	if (!wanted || !bu_machine_says(wanted))
		return -1;
	if (before && same(wanted, before))
		return 1;
	return bu_machine_says(told) ? same(wanted, told) : -1;
}

/* Compares serial numbers, else UUIDs, where both sides have one; -1 = neither. */
static int
same_words(const struct bu_desired_node *want, const struct bu_desired_node *was,
	   const struct bu_node *node)
{
	int same = same_text(bu_machine_same, want->serial, was ? was->serial : NULL,
			     node->serial);
	struct bu_machine machine;

	bu_node_machine(node, &machine);
	if (same == 0 && bu_machine_tells(&machine, want->serial) != BU_MACHINE_SILENT)
		return 1; /* of its board, its chassis, or a service tag */
	return same >= 0 ? same
			 : same_text(bu_machine_same_uuid, want->uuid,
				     was ? was->uuid : NULL, node->uuid);
}

/* Does the profile still mean the machine of this node? Serial number and UUID come
 * before the MAC: a machine's cards may be exchanged. */
static int
is_same(const struct bu_plan_input *input, const struct bu_node *node,
	const struct bu_desired_node *want)
{
	const struct bu_desired_node *was =
		input->applied ? bu_desired_node(input->applied, node->name) : NULL;
	int same = same_words(want, was, node);

	if (same >= 0)
		return same;
	if (!want->mac || !node->macs || has_mac(node, want->mac))
		return 1;
	return was && was->mac && strcmp(was->mac, want->mac) == 0;
}

static int
is_kept(const char *was, const char *now)
{
	return was && now && strcmp(was, now) == 0;
}

/* Adds the keys of the applied profile: some boot cards tell none. Keys that the new
 * profile corrects for the same machine were wrong and are left out. */
static void
add_said(const struct bu_plan_input *input, json_t *index, const struct bu_node *node)
{
	const struct bu_desired_node *was =
		input->applied ? bu_desired_node(input->applied, node->name) : NULL;
	const struct bu_desired_node *now = bu_desired_node(input->desired, node->name);

	if (!was)
		return;
	if (!now || !node->machine[0] || !is_same(input, node, now))
		now = was;
	add_bmc(index, was->bmc, node->name);
	if (is_kept(was->mac, now->mac))
		add_key(index, "mac", was->mac, node->name);
	if (is_kept(was->uuid, now->uuid))
		add_uuid(index, was->uuid, node->name);
	if (is_kept(was->serial, now->serial))
		add_serial(index, was->serial, node->name);
}

/* Adds the keys that the machine told. */
static void
add_told(json_t *index, const struct bu_node *node)
{
	struct bu_machine machine;

	if (!node->machine[0])
		return;
	bu_node_machine(node, &machine);
	add_macs(index, node);
	add_uuid(index, node->uuid, node->name);
	for (size_t i = 0; i < machine.numbers_count; i++)
		if (machine.numbers[i].of != BU_NUMBER_CHASSIS)
			add_serial(index, machine.numbers[i].text, node->name);
	add_serial(index, node->serial, node->name);
}

/* A settled node without a machine holds none. */
static int
holds(const struct bu_node *node)
{
	return node->machine[0] || !bu_state_info(node->state)->settled;
}

/* Keys of a machine, the surest first. */
enum key { SERIAL, UUID, MAC, BMC, KEYS };

static const struct {
	const char *kind, *name;
} keys[KEYS] = {
	[SERIAL] = {"serial", "serial number"},
	[UUID] = {"uuid", "UUID"},
	[MAC] = {"mac", "MAC address"},
	[BMC] = {"bmc", "BMC"},
};

/* By key: the node whose machine has the profile's value; NULL = none. */
static void
find_holders(const struct bu_plan_input *input, const json_t *index,
	     const struct bu_desired_node *want, const struct bu_node *ret[KEYS])
{
	char serial[BU_MACHINE_TEXT_SIZE], uuid[BU_MACHINE_TEXT_SIZE];
	bu_autofree char *bmc = want->bmc ? bu_url_key(want->bmc) : NULL;
	const char *values[KEYS] = {serial, uuid, want->mac, bmc};

	bu_machine_key(want->serial, serial);
	bu_machine_uuid_key(want->uuid, uuid);
	for (int i = 0; i < KEYS; i++) {
		bu_autofree char *key =
			bu_xasprintf("%s %s", keys[i].kind, values[i] ? values[i] : "");
		const char *name = bu_json_str(index, key, NULL);

		ret[i] = name ? bu_nodes_find(input->nodes, input->count, name) : NULL;
	}
	/* the machine never told this card; its firmware contradicts the profile */
	if (ret[MAC] && !has_mac(ret[MAC], want->mac) &&
	    same_words(want, NULL, ret[MAC]) == 0)
		ret[MAC] = NULL;
}

/* The surest key that a node other than `own` holds; KEYS = none. */
static int
taken(const struct bu_node *const holders[KEYS], const struct bu_node *own)
{
	int i = 0;

	while (i < KEYS && (!holders[i] || holders[i] == own))
		i++;
	return i;
}

static const char *
taker(const json_t *index, const char *kind, const struct bu_node *holder)
{
	bu_autofree char *key = bu_xasprintf("%s %s", kind, holder->name);

	return bu_json_str(index, key, NULL);
}

/* Notes the first two names that would get each node's machine. */
static void
add_takers(const struct bu_plan_input *input, json_t *index)
{
	for (size_t i = 0; i < input->desired->nodes_count; i++) {
		const struct bu_desired_node *want = &input->desired->nodes[i];
		const struct bu_node *own =
			bu_nodes_find(input->nodes, input->count, want->name);
		const struct bu_node *holders[KEYS];
		int key;

		if (own && own->machine[0])
			continue;
		find_holders(input, index, want, holders);
		key = taken(holders, own);
		if (key < BMC)
			add_key(index,
				taker(index, "taker", holders[key]) ? "second"
								    : "taker",
				holders[key]->name, want->name);
	}
}

json_t *
bu_machine_identity_index(const struct bu_plan_input *input)
{
	json_t *index = json_object();

	for (size_t i = 0; i < input->count; i++)
		if (holds(input->nodes[i]))
			add_said(input, index, input->nodes[i]);
	/* keys that machines told override those of a profile */
	for (size_t i = 0; i < input->count; i++)
		if (holds(input->nodes[i]))
			add_told(index, input->nodes[i]);
	add_takers(input, index);
	return index;
}

/* --- one node --- */

static void
replaced(const struct bu_desired_node *want, struct bu_machine_identity *ret)
{
	const struct bu_node *own = ret->node;
	const char *words[][3] = {
		{"serial", want->serial, own->serial},
		{"UUID", want->uuid, own->uuid},
		{"MAC", want->mac, own->macs},
	};
	size_t i = 0;

	/* the first that both sides know decided */
	while (i + 1 < BU_LEN(words) && (!words[i][1] || !words[i][2][0]))
		i++;
	ret->kind = BU_MACHINE_IDENTITY_REPLACED;
	BU_REASON_SET(&ret->why, REPLACED,
		      .text = {words[i][0], words[i][1], words[i][2]});
}

/* For a bound name: another node may hold keys of its row. */
static void
identify_bound(const struct bu_plan_input *input, const struct bu_desired_node *want,
	       const struct bu_node *const holders[KEYS],
	       struct bu_machine_identity *ret)
{
	int key = taken(holders, ret->node);

	if (key < KEYS)
		conflict(ret, HOLDS_ANOTHER, keys[key].name, holders[key]->name,
			 want->name);
	else if (!is_same(input, ret->node, want))
		replaced(want, ret);
}

/* The verb that takes back a node which a person took out; NULL = none is needed. The
 * verb needs the node's name in the profile. */
static const char *
way_back(const struct bu_node *holder)
{
	if (holder->state == BU_STATE_SERVICING)
		return "release";
	return holder->state == BU_STATE_PARKED && holder->installed_digest[0]
		       ? "resume"
		       : NULL;
}

/* The holder is on its way, or a person took it out. A holder that has left the profile
 * must end its way first. */
static void
busy(const struct bu_node *holder, struct bu_machine_identity *ret)
{
	const char *state = bu_state_name(holder->state);
	const char *verb = way_back(holder);

	if (holder->live.in_profile && verb)
		conflict(ret, OWNER_OUT, holder->name, state, verb);
	else if (holder->live.in_profile)
		conflict(ret, OWNER_BUSY, holder->name, state);
	else
		not_now(ret, OWNER_LEFT, holder->name, state);
}

/* The holder stays in the profile, with this machine or another one. */
static void
still_named(const struct bu_plan_input *input, const struct bu_node *holder,
	    enum key key, struct bu_machine_identity *ret)
{
	const struct bu_desired_node *its =
		bu_desired_node(input->desired, holder->name);

	if (!holder->machine[0])
		busy(holder, ret);
	else if (is_same(input, holder, its))
		conflict(ret, TWO_NAMES, keys[key].name, holder->name);
	else if (key == BMC)
		conflict(ret, BMC_MOVES, holder->name);
	else
		conflict(ret, OWNER_MOVES, keys[key].name, holder->name);
}

/* Another name that would get this node's machine; NULL = none. */
static const char *
other_taker(const json_t *index, const struct bu_node *holder, const char *name)
{
	const char *first = taker(index, "taker", holder);

	return first && strcmp(first, name) != 0 ? first
						 : taker(index, "second", holder);
}

/* For a free name whose machine another node holds. */
static void
identify_free(const struct bu_plan_input *input, const json_t *index,
	      const struct bu_desired_node *want,
	      const struct bu_node *const holders[KEYS],
	      struct bu_machine_identity *ret)
{
	int key = taken(holders, ret->node);
	const struct bu_node *holder = holders[key];
	const char *other = other_taker(index, holder, want->name);

	for (int i = 0; i < KEYS; i++)
		if (holders[i] && holders[i] != holder && holders[i] != ret->node)
			conflict(ret, TWO_OWNERS, keys[key].name, holder->name,
				 keys[i].name, holders[i]->name);
	if (ret->kind == BU_MACHINE_IDENTITY_CONFLICT)
		return;
	if (bu_desired_node(input->desired, holder->name))
		still_named(input, holder, (enum key)key, ret);
	else if (key == BMC)
		not_now(ret, BMC_TAKEN, holder->name);
	else if (other)
		conflict(ret, TWO_ROWS, keys[key].name, holder->name, other);
	else if (!bu_state_info(holder->state)->settled || way_back(holder) ||
		 (holder->order->open && holder->order->begun))
		busy(holder, ret);
	if (ret->kind != BU_MACHINE_IDENTITY_SAME)
		return;
	ret->kind = BU_MACHINE_IDENTITY_RENAMED;
	ret->node = holder;
	BU_REASON_SET(&ret->why, RENAMED, .text = {keys[key].name, holder->name});
}

/* Refuses a new node or site name where there are data partitions: their GUIDs are made
 * from both names, and the system would not find them. */
static void
keep_names_of_data(const struct bu_plan_input *input,
		   const struct bu_desired_node *want, struct bu_machine_identity *ret)
{
	const char *was = input->applied ? input->applied->site.name : NULL;

	if (!want->pool->data || !ret->node || !ret->node->installed_digest[0])
		return;
	if (ret->kind == BU_MACHINE_IDENTITY_RENAMED)
		conflict(ret, DATA_NAMED, ret->node->name);
	else if (ret->kind == BU_MACHINE_IDENTITY_SAME && was &&
		 strcmp(was, input->desired->site.name) != 0)
		conflict(ret, DATA_NAMED, was);
}

void
bu_machine_identity_find(const struct bu_plan_input *input, const json_t *index,
			 const struct bu_desired_node *want,
			 struct bu_machine_identity *ret)
{
	const struct bu_node *own =
		bu_nodes_find(input->nodes, input->count, want->name);
	const struct bu_node *holders[KEYS];

	*ret = (struct bu_machine_identity){.kind = BU_MACHINE_IDENTITY_SAME,
					    .node = own};
	find_holders(input, index, want, holders);
	if (own && own->machine[0])
		identify_bound(input, want, holders, ret);
	else if (taken(holders, own) < KEYS)
		identify_free(input, index, want, holders, ret);
	keep_names_of_data(input, want, ret);
}
