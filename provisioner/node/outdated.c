/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node whose hardware changed after it was measured: a device came late, or went.
 * Called by reconcile.c for nodes that join and by observe.c for those to join again.
 * Invariant: its cluster may give it jobs already, so the node leaves as any other
 * does, and is measured after that. The gate holds it if its hardware keeps changing.
 */
#include "base/log.h"
#include "base/text.h"
#include "provisioner/node/reconcile_impl.h"

void
bu_outdated_leave(struct bu_reconcile *rec, struct bu_node *node)
{
	struct bu_next next = {.state = BU_STATE_VALIDATING, .again = 1};
	struct bu_move move = {
		.on = BU_TRIGGER_OUTDATED, .next = &next, .reason = &next.reason};
	struct bu_err err = {0};

	bu_ignore(bu_fleet_certified(rec->fleet, node, &err));
	BU_REASON_SET(&next.reason, OUTDATED, .text = {err.text});
	BU_TEXT_COPY(next.by, bu_owner_name(BU_OWNER_BRINGUP));
	if (bu_reconcile_move(rec, node, &move, &err) != 0)
		bu_warn("node", "%s", err.text);
}
