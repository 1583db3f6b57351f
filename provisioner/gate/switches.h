/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the switches of a fabric count, read from the site's Prometheus or by a node's
 * agent: where each flow takes all spines no test names a link, the switches do. Links,
 * spines and leaves are accused, no node; no certificate waits for a reading.
 */
#ifndef BU_GATE_SWITCHES_H
#define BU_GATE_SWITCHES_H

#include "provisioner/gate/internal.h"

/* switches.c. After the pairs between leaves, while there are roles. */
void bu_switches_look(struct bu_gate *gate);
/* Some nodes are still to be loaded between readings. */
int bu_switches_go_on(const struct bu_gate *gate);
/* switches_agent.c. The item of the node that reads InfiniBand switches; NULL = it is
 * not this one. New reference. */
json_t *bu_switches_work(struct bu_gate *gate, const struct bu_node *node);
/* 1 = the id is that of such an item of this node. */
int bu_switches_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
		       const json_t *result, const struct bu_err *failure);
/* Texts of the site, or of a node's leaves. */
void bu_switches_warnings(const struct bu_gate *gate, const struct bu_node *node,
			  json_t *list);
void bu_switches_drop(struct bu_gate *gate);

#endif
