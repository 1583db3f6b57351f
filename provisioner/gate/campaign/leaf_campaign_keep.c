/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the accusations between leaves, for leaf_campaign.c. Read by remarks.c.
 * Invariant: an accusation goes only when its part was measured good since, or when it
 * or a part of it is accused anew.
 */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "model/sentence.h"
#include "provisioner/gate/campaign/leaf_campaign.h"
#include "provisioner/gate/campaign/spines.h"

/* Leaves named at most, as untested and as bad for no known reason. */
enum { UNTESTED_MAX = 8 };

/* 1 = links of a part of the key have this state. Such a part is a leaf, a spine, or
 * the link between both. */
static int
links_are(const struct bu_spines *spines, const json_t *entry, enum bu_link_state state)
{
	json_t *part;
	size_t i;

	json_array_foreach (json_object_get(entry, "key"), i, part) {
		const char *leaf = json_string_value(json_array_get(part, 1));
		int dir = (int)json_integer_value(json_array_get(part, 2));

		if (bu_spines_state(spines, leaf && *leaf ? leaf : NULL,
				    json_string_value(json_array_get(part, 3)),
				    dir ? dir : BU_DIR_OUT | BU_DIR_IN) == state)
			return 1;
	}
	return 0;
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

/* 1 = the entry's links are bad or unknown, or one of its leaves was not good since.
 * Entries of untested leaves name no leaves here, and go. */
static int
still_stands(const struct bu_leaf_campaign *campaign, const struct bu_spines *spines,
	     const json_t *entry)
{
	const struct bu_topology *t = &campaign->topology;
	const char *leaf;
	json_t *one;

	if (json_is_true(json_object_get(entry, "links")))
		return links_are(spines, entry, BU_LINK_BAD) ||
		       links_are(spines, entry, BU_LINK_UNKNOWN);
	json_object_foreach (json_object_get(entry, "leaves"), leaf, one) {
		const json_t *place = json_object_get(t->leaf_ids.index, leaf);

		if (place && !campaign->good[json_integer_value(place)])
			return 1;
	}
	return 0;
}

/* Is the entry of a bundle whose leaf has an accused link? */
static int
is_covered(const json_t *entry, const json_t *covered)
{
	const char *leaf;
	json_t *one;

	if (json_is_true(json_object_get(entry, "links")))
		return 0;
	json_object_foreach (json_object_get(entry, "leaves"), leaf, one) {
		if (json_object_get(covered, leaf))
			return 1;
	}
	return 0;
}

/* Keeps earlier accusations that still stand. */
static void
keep_before(const struct bu_leaf_campaign *campaign, const struct bu_spines *spines,
	    const json_t *before, const json_t *covered, json_t *list)
{
	json_t *entry;
	size_t i;

	json_array_foreach ((json_t *)(uintptr_t)before, i, entry) {
		if (!json_object_get(json_object_get(entry, "key"),
				     BU_LEAF_CAMPAIGN_UNEXPLAINED) &&
		    !is_known(list, entry) && !is_covered(entry, covered) &&
		    still_stands(campaign, spines, entry))
			json_array_append(list, entry);
	}
}

static void
add_entry(const json_t *before, json_t *entry, json_t *list)
{
	if (!is_known(before, entry)) {
		bu_autofree char *text = bu_said_text(json_object_get(entry, "said"));

		bu_warn("gate", "%s", text);
	}
	json_array_append_new(list, entry);
}

/* 1 = a leaf that the entry names has a pair whose newest result is bad. */
static int
is_bad_now(const struct bu_leaf_campaign *campaign, const json_t *entry)
{
	const struct bu_topology *t = &campaign->topology;
	const char *leaf;
	json_t *one;

	json_object_foreach (json_object_get(entry, "leaves"), leaf, one) {
		const json_t *place = json_object_get(t->leaf_ids.index, leaf);

		if (place && campaign->bad[json_integer_value(place)])
			return 1;
	}
	return 0;
}

static void
add_accused(const struct bu_leaf_campaign *campaign, const json_t *before,
	    const json_t *covered, const struct bu_accusation *one, json_t *list)
{
	json_t *entry = bu_leaf_campaign_entry(campaign, &campaign->topology, one);

	if (is_bad_now(campaign, entry) && !is_covered(entry, covered))
		add_entry(before, entry, list);
	else
		json_decref(entry);
}

/* ret_covered: gets the leaves of accused links. */
static void
add_links(const struct bu_leaf_campaign *campaign, const struct bu_spines *spines,
	  const json_t *before, json_t *list, json_t *ret_covered)
{
	for (int i = 0; i < spines->report.count; i++) {
		const struct bu_accusation *one = &spines->report.accusations[i];
		json_t *entry;

		if (one->what == BU_WHAT_ENDPOINT || one->what == BU_WHAT_INCONCLUSIVE)
			continue;
		entry = bu_leaf_campaign_entry(campaign, &spines->topology, one);
		if (links_are(spines, entry, BU_LINK_BAD)) {
			json_object_update(ret_covered,
					   json_object_get(entry, "leaves"));
			add_entry(before, entry, list);
		} else {
			json_decref(entry);
		}
	}
}

/* By leaf: bits of the rails of nodes that take part. */
static void
find_rails(const struct bu_leaf_campaign *campaign, uint64_t *rails)
{
	const struct bu_topology *t = &campaign->topology;

	for (int port = 0; port < bu_topology_ports(t); port++)
		if (!campaign->no_port[port] && campaign->nodes[port / t->rails].there)
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

/* Adds leaves without a result across rails, though another rail has a leaf. */
static void
add_untested(const struct bu_leaf_campaign *campaign, const json_t *before,
	     json_t *list)
{
	int leaves = campaign->topology.leaves, more = 0;
	bu_autofree uint64_t *rails = bu_xcalloc((size_t)leaves, sizeof(*rails));

	find_rails(campaign, rails);
	for (int leaf = 0; leaf < leaves; leaf++) {
		if (campaign->tested[leaf] || !has_others(rails, leaves, leaf))
			continue;
		if (more++ < UNTESTED_MAX)
			add_entry(before, bu_leaf_campaign_untested(campaign, leaf),
				  list);
	}
	if (more > UNTESTED_MAX)
		add_entry(
			before,
			json_pack("{s:{s:[]},s:o,s:{}}", "key", "untested", "said",
				  BU_SAID(LEAVES_UNTESTED,
					  BU_ARG("fabric", campaign->fabric),
					  BU_ARG_NUMBER("count", more - UNTESTED_MAX)),
				  "nodes"),
			list);
}

/* Adds leaves with bad results that accuse nothing: too few nodes took part to tell
 * their ports from the uplinks. */
static void
add_unexplained(const struct bu_leaf_campaign *campaign, const json_t *before,
		json_t *list)
{
	int named = 0;

	for (int leaf = 0; leaf < campaign->topology.leaves; leaf++)
		if (campaign->bad[leaf] && !campaign->good[leaf] &&
		    named++ < UNTESTED_MAX)
			add_entry(before, bu_leaf_campaign_unexplained(campaign, leaf),
				  list);
}

void
bu_leaf_campaign_keep(const struct bu_leaf_campaign *campaign,
		      const struct bu_spines *spines)
{
	struct bu_gate *gate = campaign->gate;
	const json_t *before = json_object_get(gate->leaf_accused, campaign->fabric);
	bu_autojson json_t *covered = json_object();
	json_t *list = json_array();

	add_links(campaign, spines, before, list, covered);
	for (int i = 0; i < campaign->report.count; i++) {
		const struct bu_accusation *one = &campaign->report.accusations[i];

		if (one->what != BU_WHAT_ENDPOINT && one->what != BU_WHAT_INCONCLUSIVE)
			add_accused(campaign, before, covered, one, list);
	}
	keep_before(campaign, spines, before, covered, list);
	if (!json_array_size(list))
		add_unexplained(campaign, before, list);
	add_untested(campaign, before, list);
	if (!gate->leaf_accused)
		gate->leaf_accused = json_object();
	json_object_set_new(gate->leaf_accused, campaign->fabric, list);
}

void
bu_leaf_campaign_forget(struct bu_gate *gate, const char *fabric)
{
	json_object_del(gate->leaf_accused, fabric);
}

void
bu_leaf_campaign_forget_gone(struct bu_gate *gate)
{
	const struct bu_desired *desired = gate->fleet->desired;
	const char *fabric;
	json_t *list;
	void *next;

	json_object_foreach_safe(gate->leaf_accused, next, fabric, list)
	{
		int there = 0;

		for (size_t i = 0; i < desired->networks_count; i++)
			there |= bu_leaf_campaign_is_of(&desired->networks[i], fabric);
		if (!there)
			json_object_del(gate->leaf_accused, fabric);
	}
}

static int
is_accused(const struct bu_gate *gate, const char *key, const char *node)
{
	json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(gate->leaf_accused, key), i, entry) {
		if (json_object_get(json_object_get(entry, "nodes"), node))
			return 1;
	}
	return 0;
}

int
bu_leaf_campaign_explains(const struct bu_gate *gate, const struct bu_pair_log *log)
{
	const struct bu_desired *desired = gate->fleet->desired;

	for (size_t i = 0; i < desired->networks_count; i++) {
		const struct bu_topology *t =
			bu_gate_shape(gate, &desired->networks[i]);
		char key[BU_LEAF_CAMPAIGN_KEY_SIZE];
		int a, b;

		if (!t || strcmp(desired->networks[i].name, log->rail) != 0)
			continue;
		a = bu_gate_place(t, log->name[0]);
		b = bu_gate_place(t, log->name[1]);
		bu_leaf_campaign_key(&desired->networks[i], key);
		return a >= 0 && b >= 0 && t->leaf_of[a] != t->leaf_of[b] &&
		       (is_accused(gate, key, log->name[0]) ||
			is_accused(gate, key, log->name[1]));
	}
	return 0;
}

void
bu_leaf_campaign_warnings(const struct bu_gate *gate, const struct bu_node *node,
			  json_t *list)
{
	const char *fabric;
	json_t *entries, *entry;
	size_t i;

	json_object_foreach (gate->leaf_accused, fabric, entries) {
		json_array_foreach (entries, i, entry) {
			if (!node || json_object_get(json_object_get(entry, "nodes"),
						     node->name))
				json_array_append(list, json_object_get(entry, "said"));
		}
	}
}
