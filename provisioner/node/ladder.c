/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reset ladder after a late or failed try. The step is tried again, up to
 * BU_REPEATS_MAX times and by power where the machine is power-cycled for it; then
 * comes the edge `last`. Called by late.c, which knows the time. Invariant: where the
 * state of a node says that it is held, nothing is tried.
 */
#include "provisioner/node/reconcile_impl.h"

void
bu_reconcile_climb(struct bu_reconcile *rec, struct bu_node *node, enum bu_trigger last,
		   const struct bu_reason *reason)
{
	struct bu_reason end = *reason;
	struct bu_event events[2];
	size_t kept;

	if (bu_reconcile_holds(node)) {
		bu_hold_event(&events[0], node->name, BU_OWNER_BRINGUP, "", reason);
		kept = bu_symptoms_event(rec, node, &events[1]);
		bu_reconcile_append(rec, node, events, 1 + kept);
		return;
	}
	if (node->repeats < BU_REPEATS_MAX && bu_reconcile_cycles(node)) {
		bu_reconcile_try(rec, node, BU_TRIGGER_REPEAT, reason, NULL, 0);
		return;
	}
	if (bu_reconcile_cycles(node) && bu_node_power_failed(node))
		bu_reason_set_number(&end, "tries", node->repeats + 1);
	else if (bu_reconcile_cycles(node))
		bu_reason_set_number(&end, "cycles", node->repeats);
	else
		bu_reason_set_text(&end, "node", node->name);
	kept = bu_symptoms_event(rec, node, events);
	bu_reconcile_try(rec, node, last, &end, events, kept);
}
