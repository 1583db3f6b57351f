/* SPDX-License-Identifier: Apache-2.0 */
/* The campaigns between leaves, of one rail or across rails, as the gate calls them. */
#ifndef BU_GATE_CAMPAIGN_LEAF_CAMPAIGN_H
#define BU_GATE_CAMPAIGN_LEAF_CAMPAIGN_H

#include "provisioner/gate/campaign/campaign.h"

/* leaf_campaign.c. Runs these campaigns: asks for pairs of nodes that are good on their
 * rails, and keeps the accusations. */
void bu_leaf_campaign_look(struct bu_gate *gate);
/* leaf_campaign_wait.c. holds: must the certificate of a node that is good on all rails
 * wait for these tests? goes_on: are tests of a node left for which no certificate
 * waits? */
int bu_leaf_campaign_holds(const struct bu_gate *gate, struct bu_node *node);
int bu_leaf_campaign_goes_on(const struct bu_gate *gate);
/* For a person's run: tests anew each accusation that concerns one of these nodes, by
 * all nodes that it names. Earlier results do not count for these tests. The accusation
 * stands until there are new ones. */
void bu_leaf_campaign_again(struct bu_gate *gate, struct bu_node *const *nodes,
			    size_t count);
/* leaf_campaign_keep.c. Adds all accusations, as reasons (node NULL), or of those that
 * name the node. */
void bu_leaf_campaign_warnings(const struct bu_gate *gate, const struct bu_node *node,
			       json_t *list);
/* 1 = the pair hangs at two leaves, and an accusation names one of its nodes. */
int bu_leaf_campaign_explains(const struct bu_gate *gate,
			      const struct bu_pair_log *log);

#endif
