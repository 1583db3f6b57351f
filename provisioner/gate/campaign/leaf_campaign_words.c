/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words the accusations between the leaves of a switch fabric or a rail, as one entry
 * of a list each. Asked by leaf_campaign_keep.c. Invariants: leaves, links and spines
 * are accused, no node; entries with equal keys are the same accusation.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/gate/campaign/leaf_campaign_impl.h"

void
bu_leaf_campaign_key(const struct bu_desired_network *network,
		     char ret[BU_LEAF_CAMPAIGN_KEY_SIZE])
{
	const char *fabric = network->switch_fabric;

	snprintf(ret, BU_LEAF_CAMPAIGN_KEY_SIZE, "%s%s", fabric ? "" : "rail ",
		 fabric ? fabric : network->name);
}

int
bu_leaf_campaign_is_of(const struct bu_desired_network *network, const char *key)
{
	char its[BU_LEAF_CAMPAIGN_KEY_SIZE];

	bu_leaf_campaign_key(network, its);
	return strcmp(its, key) == 0;
}

/* own_leaves: the name has the rail in it. */
char *
bu_leaf_campaign_leaf_words(const struct bu_leaf_campaign *campaign, int leaf)
{
	const struct bu_topology *t = &campaign->topology;
	bu_autofree char *rails = NULL;
	char name[BU_GATE_LEAF_SIZE + BU_NAME_MAX];
	uint64_t seen = 0;

	bu_ids_text(&t->leaf_ids, leaf, name, sizeof(name));
	if (json_object_get(campaign->own_leaves, name))
		return bu_xstrdup(name);
	for (int port = 0; port < bu_topology_ports(t); port++)
		if (t->leaf_of[port] == leaf && !campaign->no_port[port])
			seen |= UINT64_C(1) << port % t->rails;
	for (int rail = 0; rail < t->rails; rail++)
		if (seen >> rail & 1)
			bu_text_add(&rails, ", ", "%s", campaign->rail[rail]->name);
	return bu_xasprintf("%s (rail %s)", name, rails ? rails : "unknown");
}

/* 1 = t is the topology of spines.c, with named spines. In that of the bundles one
 * spine stands for all. */
static int
has_spines(const struct bu_leaf_campaign *campaign, const struct bu_topology *t)
{
	return t != &campaign->topology;
}

/* t: topology of the accusing campaign. */
static void
add_part(const struct bu_leaf_campaign *campaign, const struct bu_topology *t,
	 const struct bu_accusation *one, char **text)
{
	static const char *const ways[2][4] = {
		{"", ", to the spines", ", from the spines", ""},
		{"", ", to the spine", ", from the spine", ""}};
	bu_autofree char *leaf = NULL;
	int named = has_spines(campaign, t);
	const char *way = ways[named][one->dir & 3];
	char spine[BU_GATE_LEAF_SIZE] = "";

	if (one->what == BU_WHAT_LINK || one->what == BU_WHAT_LEAF)
		leaf = bu_leaf_campaign_leaf_words(campaign, one->leaf);
	if (named && (one->what == BU_WHAT_LINK || one->what == BU_WHAT_SPINE))
		bu_ids_text(&t->spine_ids, one->spine, spine, sizeof(spine));
	if (one->what == BU_WHAT_LINK && named)
		bu_text_add(text, " or ", "the link between leaf %s and spine %s%s",
			    leaf, spine, way);
	else if (one->what == BU_WHAT_LINK)
		bu_text_add(text, " or ", "the uplinks of %s%s", leaf, way);
	else if (one->what == BU_WHAT_LEAF)
		bu_text_add(text, " or ", "leaf %s", leaf);
	else if (one->what == BU_WHAT_SPINE)
		bu_text_add(text, " or ", "%s%s", named ? "spine " : "the spines",
			    spine);
	for (int i = 0; one->what == BU_WHAT_ANY && i < one->of_count; i++)
		add_part(campaign, t, &one->of[i], text);
}

void
bu_leaf_campaign_add_nodes(const struct bu_leaf_campaign *campaign,
			   const struct bu_accusation *one, json_t *ret)
{
	const struct bu_topology *t = &campaign->topology;
	int named = one->what == BU_WHAT_LINK || one->what == BU_WHAT_LEAF;

	for (int port = 0; named && port < bu_topology_ports(t); port++)
		if (t->leaf_of[port] == one->leaf && !campaign->no_port[port])
			json_object_set_new(
				ret, campaign->nodes[port / t->rails].role->want->name,
				json_true());
	for (int i = 0; one->what == BU_WHAT_ANY && i < one->of_count; i++)
		bu_leaf_campaign_add_nodes(campaign, &one->of[i], ret);
}

static int
arrives(const struct bu_accusation *one)
{
	for (int i = 0; i < one->sign_count; i++)
		if (one->signs[i].nothing)
			return 0;
	return 1;
}

/* Adds the accused leaves; of a spine, all leaves. */
static void
add_leaves(const struct bu_leaf_campaign *campaign, const struct bu_accusation *one,
	   json_t *ret)
{
	const struct bu_ids *ids = &campaign->topology.leaf_ids;
	int named = one->what == BU_WHAT_LINK || one->what == BU_WHAT_LEAF;

	for (int leaf = 0; leaf < campaign->topology.leaves; leaf++)
		if (one->what == BU_WHAT_SPINE || (named && leaf == one->leaf))
			json_object_set(ret,
					json_string_value(json_array_get(ids->list,
									 (size_t)leaf)),
					json_true());
	for (int i = 0; one->what == BU_WHAT_ANY && i < one->of_count; i++)
		add_leaves(campaign, &one->of[i], ret);
}

/* Adds the accused parts by kind, leaf, direction and spine. Accusations of equal keys
 * are the same one, though their texts change. */
static void
add_key(const struct bu_leaf_campaign *campaign, const struct bu_topology *t,
	const struct bu_accusation *one, json_t *ret)
{
	char leaf[BU_GATE_LEAF_SIZE + BU_NAME_MAX] = "";
	json_t *key;
	int both = BU_DIR_OUT | BU_DIR_IN;
	int dir = one->what == BU_WHAT_LINK ? (one->dir & both) % both : 0;

	for (int i = 0; one->what == BU_WHAT_ANY && i < one->of_count; i++)
		add_key(campaign, t, &one->of[i], ret);
	if (one->what == BU_WHAT_ANY)
		return;
	if (one->what == BU_WHAT_LINK || one->what == BU_WHAT_LEAF)
		bu_ids_text(&campaign->topology.leaf_ids, one->leaf, leaf,
			    sizeof(leaf));
	key = json_pack("[i,s,i]", one->what, leaf, dir);
	if (has_spines(campaign, t))
		json_array_append_new(key,
				      one->what == BU_WHAT_LEAF
					      ? json_null()
					      : bu_ids_get(&t->spine_ids, one->spine));
	json_array_append_new(ret, key);
}

json_t *
bu_leaf_campaign_entry(const struct bu_leaf_campaign *campaign,
		       const struct bu_topology *t, const struct bu_accusation *one)
{
	bu_autofree char *part = NULL, *cause = NULL, *text = NULL;
	json_t *nodes = json_object(), *leaves = json_object(), *key = json_array();

	add_part(campaign, t, one, &part);
	cause = bu_accusation_text(t, one);
	text = bu_xasprintf("%s%s: pairs %s accuse %s: %s%s%s",
			    campaign->alone ? "" : "switch fabric ", campaign->fabric,
			    campaign->alone ? "between its leaves" : "across its rails",
			    part, cause,
			    arrives(one) ? "" : "; look first whether the ",
			    arrives(one)      ? ""
			    : campaign->alone ? "leaves reach each other"
					      : "rails are routed to each other");
	add_key(campaign, t, one, key);
	bu_leaf_campaign_add_nodes(campaign, one, nodes);
	add_leaves(campaign, one, leaves);
	return json_pack("{s:o,s:s,s:o,s:o,s:b}", "key", key, "text", text, "nodes",
			 nodes, "leaves", leaves, "links", has_spines(campaign, t));
}

json_t *
bu_leaf_campaign_untested(const struct bu_leaf_campaign *campaign, int leaf)
{
	const struct bu_accusation one = {.what = BU_WHAT_LEAF, .leaf = leaf};
	bu_autofree char *name = bu_leaf_campaign_leaf_words(campaign, leaf);
	bu_autofree char *text = bu_xasprintf(
		"switch fabric %s: leaf %s was not tested across rails: no pair of it "
		"gave a result",
		campaign->fabric, name);
	json_t *nodes = json_object(), *key = json_array();

	add_key(campaign, &campaign->topology, &one, key);
	bu_leaf_campaign_add_nodes(campaign, &one, nodes);
	return json_pack("{s:{s:o},s:s,s:o}", "key", "untested", key, "text", text,
			 "nodes", nodes);
}

json_t *
bu_leaf_campaign_unexplained(const struct bu_leaf_campaign *campaign, int leaf)
{
	const struct bu_accusation one = {.what = BU_WHAT_LEAF, .leaf = leaf};
	bu_autofree char *name = bu_leaf_campaign_leaf_words(campaign, leaf);
	bu_autofree char *text = bu_xasprintf(
		"%s%s: no pair of leaf %s with another leaf was good: its uplinks are "
		"bad, or the ports of the few nodes that gave results; when more of its "
		"nodes are ready, bringup fabric run tests them again",
		campaign->alone ? "" : "switch fabric ", campaign->fabric, name);
	json_t *nodes = json_object(), *leaves = json_object(), *key = json_array();

	add_key(campaign, &campaign->topology, &one, key);
	bu_leaf_campaign_add_nodes(campaign, &one, nodes);
	add_leaves(campaign, &one, leaves);
	return json_pack("{s:{s:o},s:s,s:o,s:o}", "key", BU_LEAF_CAMPAIGN_UNEXPLAINED,
			 key, "text", text, "nodes", nodes, "leaves", leaves);
}
