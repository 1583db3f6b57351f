/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error counters of a fabric's switches, read from the site's Prometheus or by a node's
 * agent. Where each flow takes all spines (sprayed), no test can name a link, but the
 * switches can. Links, spines and leaves are accused, no node; no certificate waits for
 * a reading.
 */
#ifndef BU_GATE_CAMPAIGN_SWITCHES_H
#define BU_GATE_CAMPAIGN_SWITCHES_H

#include "provisioner/gate/campaign/campaign.h"

/* switches.c. Called after bu_leaf_campaign_look(), while there are roles. */
void bu_switches_look(struct bu_gate *gate);
/* 1 = nodes load links between readings, or are to do so. */
int bu_switches_go_on(const struct bu_gate *gate);
/* switches_words.c. Adds the texts of all accusations and failed readings (node NULL),
 * or of the accusations that name the node. */
void bu_switches_warnings(const struct bu_gate *gate, const struct bu_node *node,
			  json_t *list);
void bu_switches_drop(struct bu_gate *gate);

#endif
