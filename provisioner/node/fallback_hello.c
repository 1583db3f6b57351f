/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What follows when a node comes up from the root of before; called by agents.c.
 */
#include "base/text.h"
#include "provisioner/node/fallback.h"
#include "provisioner/node/reconcile_impl.h"

/* In booting it is what was waited for; where nothing is waited for it is kept, so that
 * whoever takes the node back finds it known. */
int
bu_fallback_hello(struct bu_reconcile *rec, struct bu_node *node, const char *boot_id,
		  struct bu_event *events, size_t count, struct bu_err *err)
{
	const struct bu_other_root *other = &node->other;
	struct bu_reason reason;

	BU_EVENT_MAKE(&events[count++], BU_EVENT_FELLBACK, node->name, fellback,
		      .step = other->step, .image = other->image,
		      .digest = other->digest, .slot = other->slot);
	BU_EVENT_MAKE(&events[count++], BU_EVENT_BOOTED, node->name, booted,
		      .boot_id = boot_id, .where = BU_WHERE_INSTALLED);
	if (node->state != BU_STATE_BOOTING) {
		bu_reconcile_append(rec, node, events, count);
		return 0;
	}
	BU_REASON_SET(
		&reason, FELL_BACK,
		.text = {node->installed_image, node->slot, other->image, other->slot});
	if (node->step.status == BU_STEP_OPEN)
		bu_outcome_event(&events[count++], node, NULL, "seen by its boot");
	return bu_reconcile_move(rec, node,
				 &(struct bu_move){.on = BU_TRIGGER_FAULT,
						   .reason = &reason,
						   .extra = events,
						   .count = count},
				 err);
}
