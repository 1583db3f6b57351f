/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words the accusations from switch readings. Asked by switches.c, shown by remarks.c.
 * Invariant: links, spines and leaves are accused, no node.
 */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "provisioner/gate/campaign/switches_impl.h"

/* "the link between leaf01 (rail rail0) and spine spine02"; owned. */
static char *
part_words(const struct bu_leaf_campaign *campaign, const struct bu_accusation *one)
{
	static const char *const ways[] = {"", ", to the spine", ", from the spine",
					   ", both ways"};
	bu_autofree char *leaf = NULL;
	char spine[BU_NAME_MAX] = "";

	if (one->what != BU_WHAT_SPINE)
		leaf = bu_leaf_campaign_leaf_words(campaign, one->leaf);
	if (one->what != BU_WHAT_LEAF)
		bu_ids_text(&campaign->topology.spine_ids, one->spine, spine,
			    sizeof(spine));
	if (one->what == BU_WHAT_LEAF)
		return bu_xasprintf("leaf %s", leaf);
	if (one->what == BU_WHAT_SPINE)
		return bu_xasprintf("spine %s", spine);
	return bu_xasprintf("the link between %s and spine %s%s", leaf, spine,
			    ways[one->dir & 3]);
}

/* Errors of an accused link by reading: "; counted 100, 0, 100"; owned. */
static char *
figures(const struct bu_switches *counters, const struct bu_accusation *one)
{
	size_t link = 2 * (size_t)(one->leaf * counters->shape.spines + one->spine);
	char *text = NULL;

	for (size_t i = 1; one->what == BU_WHAT_LINK && i < counters->count; i++) {
		const struct bu_link_count *of = &counters->list[i].links[link];
		double bad = one->dir & BU_DIR_OUT ? of[BU_LINK_UP].bad : 0;

		bad += one->dir & BU_DIR_IN ? of[BU_LINK_DOWN].bad : 0;
		/* The value is below 0 if the link was not in this reading. */
		bu_text_add(&text, ", ", bad < 0 ? "%snot read" : "%s%.0f",
			    text ? "" : "; counted ", bad);
	}
	return text ? text : bu_xstrdup("");
}

json_t *
bu_switches_entry(const struct bu_switches *counters,
		  const struct bu_leaf_campaign *campaign,
		  const struct bu_accusation *one)
{
	bu_autofree char *part = part_words(campaign, one);
	bu_autofree char *cause = bu_accusation_text(&campaign->topology, one);
	bu_autofree char *counted = figures(counters, one);
	bu_autofree char *text = NULL;
	char leaf[BU_GATE_LEAF_SIZE + BU_NAME_MAX] = "", at[24];
	json_t *nodes = json_object();

	bu_time_iso(bu_wall_ms(bu_loop_clock(campaign->gate->fleet->loop)), at);
	text = bu_xasprintf("%s%s: what its switches count accuses %s: %s%s; read "
			    "until %s",
			    campaign->alone ? "" : "switch fabric ", campaign->fabric,
			    part, cause, counted, at);
	if (one->what != BU_WHAT_SPINE)
		bu_ids_text(&campaign->topology.leaf_ids, one->leaf, leaf,
			    sizeof(leaf));
	bu_leaf_campaign_add_nodes(campaign, one, nodes);
	bu_warn("gate", "%s", text);
	return json_pack("{s:s,s:s,s:o}", "text", text, "leaf", leaf, "nodes", nodes);
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
				json_array_append(list, json_object_get(entry, "text"));
		}
		if (!node && one->failure)
			json_array_append_new(list, json_string(one->failure));
	}
}
