/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fabric gate: pairs up nodes that are validating (with each other, and with
 * certified partners), hands out probes, has them judged, issues certificates or names
 * the slow node. It moves nodes only by asking reconcile.
 */
#ifndef BU_GATE_GATE_H
#define BU_GATE_GATE_H

#include "provisioner/node/reconcile.h"

struct bu_gate;

struct bu_gate *bu_gate_create(struct bu_world *world, struct bu_reconcile *rec,
			       const struct bu_trust *trust);
void bu_gate_destroy(struct bu_gate *gate);
/* Something changed: looks again soon. */
void bu_gate_kick(struct bu_gate *gate);

/* The probe that this node's agent has to run now, as a work item; NULL = none. New
 * reference. */
json_t *bu_gate_work(struct bu_gate *gate, const struct bu_node *node);
/* The agent's word on a probe: a result, or why there is none. */
void bu_gate_result(struct bu_gate *gate, const struct bu_node *node, const char *probe,
		    const json_t *result, const struct bu_err *failure);

#endif
