/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands accused between the leaves of a switch fabric or a rail, in words: kept
 * by across.c, read by remarks.c. Invariant: links and spines are named, no node is.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "provisioner/gate/across.h"
#include "provisioner/gate/across_impl.h"

/* Leaves that are named as not tested, or as bad for no known reason. */
enum { UNTESTED_MAX = 8 };

/* Of an entry that accuses nothing: it stands until the next run only. */
static const char UNEXPLAINED[] = "unexplained";

void
bu_across_key(const struct bu_desired_network *network, char ret[BU_ACROSS_KEY_SIZE])
{
	const char *fabric = network->switch_fabric;

	snprintf(ret, BU_ACROSS_KEY_SIZE, "%s%s", fabric ? "" : "rail ",
		 fabric ? fabric : network->name);
}

/* A name may have the rail in it. */
char *
bu_across_leaf_words(const struct bu_across *across, int leaf)
{
	const struct bu_topology *t = &across->topology;
	bu_autofree char *rails = NULL;
	char name[BU_GATE_LEAF_SIZE + BU_NAME_MAX];
	uint64_t seen = 0;

	bu_ids_text(&t->leaf_ids, leaf, name, sizeof(name));
	if (json_object_get(across->own_leaves, name))
		return bu_xstrdup(name);
	for (int port = 0; port < bu_topology_ports(t); port++)
		if (t->leaf_of[port] == leaf && !across->no_port[port])
			seen |= UINT64_C(1) << port % t->rails;
	for (int rail = 0; rail < t->rails; rail++)
		if (seen >> rail & 1)
			bu_text_add(&rails, ", ", "%s", across->rail[rail]->name);
	return bu_xasprintf("%s (rail %s)", name, rails ? rails : "unknown");
}

static void
add_part(const struct bu_across *across, const struct bu_accusation *one, char **text)
{
	static const char *const ways[] = {"", ", to the spines", ", from the spines",
					   ""};
	bu_autofree char *leaf = NULL;

	if (one->what == BU_WHAT_LINK || one->what == BU_WHAT_LEAF)
		leaf = bu_across_leaf_words(across, one->leaf);
	if (one->what == BU_WHAT_LINK)
		bu_text_add(text, " or ", "the uplinks of %s%s", leaf,
			    ways[one->dir & 3]);
	else if (one->what == BU_WHAT_LEAF)
		bu_text_add(text, " or ", "leaf %s", leaf);
	else if (one->what == BU_WHAT_SPINE)
		bu_text_add(text, " or ", "the spines");
	for (int i = 0; one->what == BU_WHAT_ANY && i < one->of_count; i++)
		add_part(across, &one->of[i], text);
}

void
bu_across_add_nodes(const struct bu_across *across, const struct bu_accusation *one,
		    json_t *ret)
{
	const struct bu_topology *t = &across->topology;
	int named = one->what == BU_WHAT_LINK || one->what == BU_WHAT_LEAF;

	for (int port = 0; named && port < bu_topology_ports(t); port++)
		if (t->leaf_of[port] == one->leaf && !across->no_port[port])
			json_object_set_new(
				ret, across->nodes[port / t->rails].role->want->name,
				json_true());
	for (int i = 0; one->what == BU_WHAT_ANY && i < one->of_count; i++)
		bu_across_add_nodes(across, &one->of[i], ret);
}

static int
arrives(const struct bu_accusation *one)
{
	for (int i = 0; i < one->sign_count; i++)
		if (one->signs[i].nothing)
			return 0;
	return 1;
}

/* Leaves that it names; of spines alone, all. */
static void
add_leaves(const struct bu_across *across, const struct bu_accusation *one, json_t *ret)
{
	const struct bu_ids *ids = &across->topology.leaf_ids;
	int named = one->what == BU_WHAT_LINK || one->what == BU_WHAT_LEAF;

	for (int leaf = 0; leaf < across->topology.leaves; leaf++)
		if (one->what == BU_WHAT_SPINE || (named && leaf == one->leaf))
			json_object_set(ret,
					json_string_value(json_array_get(ids->list,
									 (size_t)leaf)),
					json_true());
	for (int i = 0; one->what == BU_WHAT_ANY && i < one->of_count; i++)
		add_leaves(across, &one->of[i], ret);
}

/* What it accuses, by kind, leaf and direction: it is the same one while its words
 * change.
 */
static void
add_key(const struct bu_across *across, const struct bu_accusation *one, json_t *ret)
{
	char leaf[BU_GATE_LEAF_SIZE + BU_NAME_MAX] = "";
	int both = BU_DIR_OUT | BU_DIR_IN;
	int dir = one->what == BU_WHAT_LINK ? (one->dir & both) % both : 0;

	for (int i = 0; one->what == BU_WHAT_ANY && i < one->of_count; i++)
		add_key(across, &one->of[i], ret);
	if (one->what == BU_WHAT_ANY)
		return;
	if (one->what == BU_WHAT_LINK || one->what == BU_WHAT_LEAF)
		bu_ids_text(&across->topology.leaf_ids, one->leaf, leaf, sizeof(leaf));
	json_array_append_new(ret, json_pack("[i,s,i]", one->what, leaf, dir));
}

static json_t *
entry_of(const struct bu_across *across, const struct bu_accusation *one)
{
	bu_autofree char *part = NULL, *cause = NULL, *text = NULL;
	json_t *nodes = json_object(), *leaves = json_object(), *key = json_array();

	add_part(across, one, &part);
	cause = bu_accusation_text(&across->topology, one);
	text = bu_xasprintf("%s%s: pairs %s accuse %s: %s%s%s",
			    across->alone ? "" : "switch fabric ", across->fabric,
			    across->alone ? "between its leaves" : "across its rails",
			    part, cause,
			    arrives(one) ? "" : "; look first whether the ",
			    arrives(one)    ? ""
			    : across->alone ? "leaves reach each other"
					    : "rails are routed to each other");
	add_key(across, one, key);
	bu_across_add_nodes(across, one, nodes);
	add_leaves(across, one, leaves);
	return json_pack("{s:o,s:s,s:o,s:o}", "key", key, "text", text, "nodes", nodes,
			 "leaves", leaves);
}

static int
is_known(const json_t *list, const json_t *entry)
{
	size_t i;
	json_t *one;

	json_array_foreach ((json_t *)(uintptr_t)list, i, one) {
		if (json_equal(json_object_get(one, "key"),
			       json_object_get(entry, "key")))
			return 1;
	}
	return 0;
}

/* A leaf that it names was not seen good since; what was never an accusation is not
 * kept.
 */
static int
still_stands(const struct bu_across *across, const json_t *entry)
{
	const struct bu_topology *t = &across->topology;
	const char *leaf;
	json_t *one;

	json_object_foreach (json_object_get(entry, "leaves"), leaf, one) {
		const json_t *place = json_object_get(t->leaf_ids.index, leaf);

		if (place && !across->good[json_integer_value(place)])
			return 1;
	}
	return 0;
}

/* What could not be asked again. */
static void
keep_before(const struct bu_across *across, const json_t *before, json_t *list)
{
	json_t *entry;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)before, i, entry) {
		if (!json_object_get(json_object_get(entry, "key"), UNEXPLAINED) &&
		    !is_known(list, entry) && still_stands(across, entry))
			json_array_append(list, entry);
	}
}

static void
add_entry(const json_t *before, json_t *entry, json_t *list)
{
	if (!is_known(before, entry))
		bu_warn("gate", "%s", bu_json_str(entry, "text", ""));
	json_array_append_new(list, entry);
}

/* A pair of a leaf that it names is still bad. */
static int
is_bad_now(const struct bu_across *across, const json_t *entry)
{
	const struct bu_topology *t = &across->topology;
	const char *leaf;
	json_t *one;

	json_object_foreach (json_object_get(entry, "leaves"), leaf, one) {
		const json_t *place = json_object_get(t->leaf_ids.index, leaf);

		if (place && across->bad[json_integer_value(place)])
			return 1;
	}
	return 0;
}

static void
add_accused(const struct bu_across *across, const json_t *before,
	    const struct bu_accusation *one, json_t *list)
{
	json_t *entry = entry_of(across, one);

	if (is_bad_now(across, entry))
		add_entry(before, entry, list);
	else
		json_decref(entry);
}

static json_t *
untested_entry(const struct bu_across *across, int leaf)
{
	const struct bu_accusation one = {.what = BU_WHAT_LEAF, .leaf = leaf};
	bu_autofree char *name = bu_across_leaf_words(across, leaf);
	bu_autofree char *text = bu_xasprintf(
		"switch fabric %s: leaf %s was not tested across rails: no pair of it "
		"gave a result",
		across->fabric, name);
	json_t *nodes = json_object(), *key = json_array();

	add_key(across, &one, key);
	bu_across_add_nodes(across, &one, nodes);
	return json_pack("{s:{s:o},s:s,s:o}", "key", "untested", key, "text", text,
			 "nodes", nodes);
}

/* Of each leaf, those of the nodes that could have been asked. */
static void
find_rails(const struct bu_across *across, uint64_t *rails)
{
	const struct bu_topology *t = &across->topology;

	for (int port = 0; port < bu_topology_ports(t); port++)
		if (!across->no_port[port] && across->nodes[port / t->rails].there)
			rails[t->leaf_of[port]] |= UINT64_C(1) << port % t->rails;
}

static int
has_others(const uint64_t *rails, int leaves, int leaf)
{
	for (int other = 0; rails[leaf] && other < leaves; other++)
		if (rails[other] && !(rails[other] & rails[leaf]))
			return 1;
	return 0;
}

/* Leaves that have others across, and were tested with none. */
static void
add_untested(const struct bu_across *across, const json_t *before, json_t *list)
{
	int leaves = across->topology.leaves, more = 0;
	bu_autofree uint64_t *rails = bu_xcalloc((size_t)leaves + 1, sizeof(*rails));

	find_rails(across, rails);
	for (int leaf = 0; leaf < leaves; leaf++) {
		if (across->tested[leaf] || !has_others(rails, leaves, leaf))
			continue;
		if (more++ < UNTESTED_MAX)
			add_entry(before, untested_entry(across, leaf), list);
	}
	if (more > UNTESTED_MAX) {
		bu_autofree char *text = bu_xasprintf(
			"switch fabric %s: %d more leaves were not tested across rails",
			across->fabric, more - UNTESTED_MAX);

		add_entry(before,
			  json_pack("{s:{s:[]},s:s,s:{}}", "key", "untested", "text",
				    text, "nodes"),
			  list);
	}
}

static json_t *
unexplained_entry(const struct bu_across *across, int leaf)
{
	const struct bu_accusation one = {.what = BU_WHAT_LEAF, .leaf = leaf};
	bu_autofree char *name = bu_across_leaf_words(across, leaf);
	bu_autofree char *text = bu_xasprintf(
		"%s%s: no pair of leaf %s with another leaf was good: its uplinks are "
		"bad, or the ports of the few nodes that gave results; when more of its "
		"nodes are ready, bringup fabric run tests them again",
		across->alone ? "" : "switch fabric ", across->fabric, name);
	json_t *nodes = json_object(), *leaves = json_object(), *key = json_array();

	add_key(across, &one, key);
	bu_across_add_nodes(across, &one, nodes);
	add_leaves(across, &one, leaves);
	return json_pack("{s:{s:o},s:s,s:o,s:o}", "key", UNEXPLAINED, key, "text", text,
			 "nodes", nodes, "leaves", leaves);
}

/* Bad results that accuse nothing are not passed over: of so few nodes that their ports
 * and the uplinks are not told apart. */
static void
add_unexplained(const struct bu_across *across, const json_t *before, json_t *list)
{
	int named = 0;

	for (int leaf = 0; leaf < across->topology.leaves; leaf++)
		if (across->bad[leaf] && !across->good[leaf] && named++ < UNTESTED_MAX)
			add_entry(before, unexplained_entry(across, leaf), list);
}

void
bu_across_keep(const struct bu_across *across)
{
	struct bu_gate *gate = across->gate;
	const json_t *before = json_object_get(gate->across, across->fabric);
	json_t *list = json_array();

	for (int i = 0; i < across->report.count; i++) {
		const struct bu_accusation *one = &across->report.accusations[i];

		if (one->what != BU_WHAT_ENDPOINT && one->what != BU_WHAT_INCONCLUSIVE)
			add_accused(across, before, one, list);
	}
	keep_before(across, before, list);
	if (!json_array_size(list))
		add_unexplained(across, before, list);
	add_untested(across, before, list);
	if (!gate->across)
		gate->across = json_object();
	json_object_set_new(gate->across, across->fabric, list);
}

void
bu_across_forget(struct bu_gate *gate, const char *fabric)
{
	json_object_del(gate->across, fabric);
}

void
bu_across_forget_gone(struct bu_gate *gate)
{
	const struct bu_desired *desired = gate->fleet->desired;
	const char *fabric;
	json_t *list;
	void *next;

	json_object_foreach_safe(gate->across, next, fabric, list)
	{
		int there = 0;

		for (size_t i = 0; i < desired->networks_count; i++) {
			char its[BU_ACROSS_KEY_SIZE];

			bu_across_key(&desired->networks[i], its);
			there |= strcmp(its, fabric) == 0;
		}
		if (!there)
			json_object_del(gate->across, fabric);
	}
}

static int
is_accused(const struct bu_gate *gate, const char *key, const char *node)
{
	json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(gate->across, key), i, entry) {
		if (json_object_get(json_object_get(entry, "nodes"), node))
			return 1;
	}
	return 0;
}

int
bu_across_explains(const struct bu_gate *gate, const struct bu_pair_log *log)
{
	const struct bu_desired *desired = gate->fleet->desired;

	for (size_t i = 0; i < desired->networks_count; i++) {
		const struct bu_topology *t =
			bu_gate_shape(gate, &desired->networks[i]);
		char key[BU_ACROSS_KEY_SIZE];
		int a, b;

		if (!t || strcmp(desired->networks[i].name, log->rail) != 0)
			continue;
		a = bu_gate_place(t, log->name[0]);
		b = bu_gate_place(t, log->name[1]);
		bu_across_key(&desired->networks[i], key);
		return a >= 0 && b >= 0 && t->leaf_of[a] != t->leaf_of[b] &&
		       (is_accused(gate, key, log->name[0]) ||
			is_accused(gate, key, log->name[1]));
	}
	return 0;
}

void
bu_across_warnings(const struct bu_gate *gate, const struct bu_node *node, json_t *list)
{
	const char *fabric;
	json_t *entries, *entry;
	size_t i;

	json_object_foreach (gate->across, fabric, entries) {
		json_array_foreach (entries, i, entry) {
			if (!node || json_object_get(json_object_get(entry, "nodes"),
						     node->name))
				json_array_append(list, json_object_get(entry, "text"));
		}
	}
}
