/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words the accusations between the leaves of a switch fabric or a rail, as one entry
 * of a list each. Asked by leaf_campaign_keep.c. Invariants: leaves, links and spines
 * are accused, no node; entries with equal keys are the same accusation.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "model/sentence.h"
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

const char *
bu_leaf_campaign_fabric(const struct bu_leaf_campaign *campaign)
{
	return campaign->alone ? NULL : campaign->fabric;
}

const char *
bu_leaf_campaign_rail(const struct bu_leaf_campaign *campaign)
{
	return campaign->alone ? campaign->alone->name : NULL;
}

/* own_leaves: the name has the rail in it. */
json_t *
bu_leaf_campaign_leaf_said(const struct bu_leaf_campaign *campaign, int leaf)
{
	const struct bu_topology *t = &campaign->topology;
	char name[BU_GATE_LEAF_SIZE + BU_NAME_MAX];
	json_t *rails;
	uint64_t seen = 0;

	bu_ids_text(&t->leaf_ids, leaf, name, sizeof(name));
	if (json_object_get(campaign->own_leaves, name))
		return BU_SAID(LEAF_NAME, BU_ARG("leaf", name));
	rails = json_array();
	for (int port = 0; port < bu_topology_ports(t); port++)
		if (t->leaf_of[port] == leaf && !campaign->no_port[port])
			seen |= UINT64_C(1) << port % t->rails;
	for (int rail = 0; rail < t->rails; rail++)
		if (seen >> rail & 1)
			json_array_append_new(rails,
					      json_string(campaign->rail[rail]->name));
	return BU_SAID(LEAF_NAME, BU_ARG("leaf", name), BU_ARG_NUMBER("unknown", !seen),
		       BU_ARG_SAID("rails", rails));
}

/* 1 = t is the topology of spines.c, with named spines. In that of the bundles one
 * spine stands for all. */
static int
has_spines(const struct bu_leaf_campaign *campaign, const struct bu_topology *t)
{
	return t != &campaign->topology;
}

static json_t *
link_said(const struct bu_leaf_campaign *campaign, const struct bu_topology *t,
	  const struct bu_accusation *one)
{
	json_t *leaf = bu_leaf_campaign_leaf_said(campaign, one->leaf);
	int both = BU_DIR_OUT | BU_DIR_IN;
	int up = (one->dir & both) == BU_DIR_OUT, down = (one->dir & both) == BU_DIR_IN;
	char spine[BU_GATE_LEAF_SIZE];

	if (!has_spines(campaign, t))
		return BU_SAID(PART_UPLINKS, BU_ARG_SAID("leaf", leaf),
			       BU_ARG_NUMBER("up", up), BU_ARG_NUMBER("down", down));
	bu_ids_text(&t->spine_ids, one->spine, spine, sizeof(spine));
	return BU_SAID(
		PART_LINK,
		BU_ARG_SAID("leaf", BU_SAID(PART_LEAF, BU_ARG_SAID("leaf", leaf))),
		BU_ARG("spine", spine), BU_ARG_NUMBER("up", up),
		BU_ARG_NUMBER("down", down));
}

static json_t *
spine_said(const struct bu_leaf_campaign *campaign, const struct bu_topology *t,
	   const struct bu_accusation *one)
{
	char spine[BU_GATE_LEAF_SIZE];

	if (!has_spines(campaign, t))
		return BU_SAID_ALONE(PART_SPINES);
	bu_ids_text(&t->spine_ids, one->spine, spine, sizeof(spine));
	return BU_SAID(PART_SPINE, BU_ARG("spine", spine));
}

/* t: topology of the accusing campaign. */
static void
add_parts(const struct bu_leaf_campaign *campaign, const struct bu_topology *t,
	  const struct bu_accusation *one, json_t *ret)
{
	if (one->what == BU_WHAT_LINK)
		json_array_append_new(ret, link_said(campaign, t, one));
	else if (one->what == BU_WHAT_LEAF)
		json_array_append_new(
			ret,
			BU_SAID(PART_LEAF,
				BU_ARG_SAID("leaf", bu_leaf_campaign_leaf_said(
							    campaign, one->leaf))));
	else if (one->what == BU_WHAT_SPINE)
		json_array_append_new(ret, spine_said(campaign, t, one));
	for (int i = 0; one->what == BU_WHAT_ANY && i < one->of_count; i++)
		add_parts(campaign, t, &one->of[i], ret);
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
	bu_autofree char *cause = bu_accusation_text(t, one);
	json_t *nodes = json_object(), *leaves = json_object(), *key = json_array();
	json_t *parts = json_array(), *said;
	int alone = campaign->alone != NULL;

	add_parts(campaign, t, one, parts);
	said = BU_SAID(LEAVES_ACCUSED,
		       BU_ARG("fabric", bu_leaf_campaign_fabric(campaign)),
		       BU_ARG("rail", bu_leaf_campaign_rail(campaign)),
		       BU_ARG_SAID("parts", parts), BU_ARG("cause", cause),
		       BU_ARG_NUMBER("unreached", !arrives(one) && alone),
		       BU_ARG_NUMBER("unrouted", !arrives(one) && !alone));
	add_key(campaign, t, one, key);
	bu_leaf_campaign_add_nodes(campaign, one, nodes);
	add_leaves(campaign, one, leaves);
	return json_pack("{s:o,s:o,s:o,s:o,s:b}", "key", key, "said", said, "nodes",
			 nodes, "leaves", leaves, "links", has_spines(campaign, t));
}

json_t *
bu_leaf_campaign_untested(const struct bu_leaf_campaign *campaign, int leaf)
{
	const struct bu_accusation one = {.what = BU_WHAT_LEAF, .leaf = leaf};
	json_t *nodes = json_object(), *key = json_array();
	json_t *said = BU_SAID(
		LEAF_UNTESTED, BU_ARG("fabric", campaign->fabric),
		BU_ARG_SAID("leaf", bu_leaf_campaign_leaf_said(campaign, leaf)));

	add_key(campaign, &campaign->topology, &one, key);
	bu_leaf_campaign_add_nodes(campaign, &one, nodes);
	return json_pack("{s:{s:o},s:o,s:o}", "key", "untested", key, "said", said,
			 "nodes", nodes);
}

json_t *
bu_leaf_campaign_unexplained(const struct bu_leaf_campaign *campaign, int leaf)
{
	const struct bu_accusation one = {.what = BU_WHAT_LEAF, .leaf = leaf};
	json_t *nodes = json_object(), *leaves = json_object(), *key = json_array();
	json_t *said = BU_SAID(
		LEAF_UNEXPLAINED, BU_ARG("fabric", bu_leaf_campaign_fabric(campaign)),
		BU_ARG("rail", bu_leaf_campaign_rail(campaign)),
		BU_ARG_SAID("leaf", bu_leaf_campaign_leaf_said(campaign, leaf)));

	add_key(campaign, &campaign->topology, &one, key);
	bu_leaf_campaign_add_nodes(campaign, &one, nodes);
	add_leaves(campaign, &one, leaves);
	return json_pack("{s:{s:o},s:o,s:o,s:o}", "key", BU_LEAF_CAMPAIGN_UNEXPLAINED,
			 key, "said", said, "nodes", nodes, "leaves", leaves);
}
