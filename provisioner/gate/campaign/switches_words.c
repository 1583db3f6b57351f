/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words the accusations from switch readings. Asked by switches.c, shown by remarks.c.
 * Invariant: links, spines and leaves are accused, no node.
 */
#include <math.h>

#include "base/json.h"
#include "base/log.h"
#include "model/sentence.h"
#include "provisioner/gate/campaign/switches_impl.h"

static json_t *
part_said(const struct bu_leaf_campaign *campaign, const struct bu_accusation *one)
{
	int both = BU_DIR_OUT | BU_DIR_IN, dir = one->dir & both;
	char spine[BU_NAME_MAX] = "";
	json_t *leaf;

	if (one->what != BU_WHAT_LEAF)
		bu_ids_text(&campaign->topology.spine_ids, one->spine, spine,
			    sizeof(spine));
	if (one->what == BU_WHAT_SPINE)
		return BU_SAID(PART_SPINE, BU_ARG("spine", spine));
	leaf = bu_leaf_campaign_leaf_said(campaign, one->leaf);
	if (one->what == BU_WHAT_LEAF)
		return BU_SAID(PART_LEAF, BU_ARG_SAID("leaf", leaf));
	return BU_SAID(PART_LINK, BU_ARG_SAID("leaf", leaf), BU_ARG("spine", spine),
		       BU_ARG_NUMBER("up", dir == BU_DIR_OUT),
		       BU_ARG_NUMBER("down", dir == BU_DIR_IN),
		       BU_ARG_NUMBER("both", dir == both));
}

/* Errors of an accused link by reading. */
static json_t *
figures(const struct bu_switches *counters, const struct bu_accusation *one)
{
	size_t link = 2 * (size_t)(one->leaf * counters->shape.spines + one->spine);
	json_t *list = json_array();

	for (size_t i = 1; one->what == BU_WHAT_LINK && i < counters->count; i++) {
		const struct bu_link_count *of = &counters->list[i].links[link];
		double bad = one->dir & BU_DIR_OUT ? of[BU_LINK_UP].bad : 0;

		bad += one->dir & BU_DIR_IN ? of[BU_LINK_DOWN].bad : 0;
		/* The value is below 0 if the link was not in this reading. */
		json_array_append_new(list, bad < 0 ? BU_SAID_ALONE(NOT_READ)
						    : json_integer(llround(bad)));
	}
	return list;
}

json_t *
bu_switches_entry(const struct bu_switches *counters,
		  const struct bu_leaf_campaign *campaign,
		  const struct bu_accusation *one)
{
	bu_autofree char *cause = bu_accusation_text(&campaign->topology, one);
	bu_autofree char *text = NULL;
	char leaf[BU_GATE_LEAF_SIZE + BU_NAME_MAX] = "", at[24];
	json_t *nodes = json_object(), *said;

	bu_time_iso(bu_wall_ms(bu_loop_clock(campaign->gate->fleet->loop)), at);
	said = BU_SAID(
		SWITCHES_ACCUSE, BU_ARG("fabric", bu_leaf_campaign_fabric(campaign)),
		BU_ARG("rail", bu_leaf_campaign_rail(campaign)),
		BU_ARG_SAID("part", part_said(campaign, one)), BU_ARG("cause", cause),
		BU_ARG_SAID("counts", figures(counters, one)), BU_ARG("at", at));
	if (one->what != BU_WHAT_SPINE)
		bu_ids_text(&campaign->topology.leaf_ids, one->leaf, leaf,
			    sizeof(leaf));
	bu_leaf_campaign_add_nodes(campaign, one, nodes);
	text = bu_said_text(said);
	bu_warn("gate", "%s", text);
	return json_pack("{s:o,s:s,s:o}", "said", said, "leaf", leaf, "nodes", nodes);
}

void
bu_switches_warnings(const struct bu_gate *gate, const struct bu_node *node,
		     json_t *list)
{
	for (const struct bu_switches *one = gate->switches; one; one = one->next) {
		json_t *entry;
		size_t i;

		json_array_foreach (one->accused, i, entry) {
			if (!node || json_object_get(json_object_get(entry, "nodes"),
						     node->name))
				json_array_append(list, json_object_get(entry, "said"));
		}
		if (!node && one->failure)
			json_array_append(list, one->failure);
	}
}
