/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consequences of a boot from the other root, and the end of the chance of one. Called
 * by agents.c and the API.
 */
#include <string.h>

#include "base/text.h"
#include "model/hello.h"
#include "provisioner/node/fallback.h"
#include "provisioner/node/reconcile_impl.h"

/* By a person, since the node was sent to its disk. */
static int
was_switched(const struct bu_node *node)
{
	const struct bu_node_power_request *request = node->power;

	return bu_power_request_ends_boot(request->op) &&
	       request->at_ms >= node->since_ms;
}

/* Other causes than the new system may have used up its try: the deadline, a person. */
static void
why_fell(const struct bu_reconcile *rec, const struct bu_node *node,
	 struct bu_reason *ret)
{
	const struct bu_other_root *other = node->other;
	int64_t limit_ms = 0;

	if (node->proven) {
		BU_REASON_SET(ret, NOT_CONFIRMED,
			      .text = {node->installed_image, node->slot, other->image,
				       other->slot});
		return;
	}
	if (node->on == BU_TRIGGER_REPEAT && !node->power_fails)
		limit_ms = bu_reconcile_limit_ms(rec, node);
	BU_REASON_SET(
		ret, FELL_BACK,
		.text = {node->installed_image, node->slot, other->image, other->slot},
		.number = {limit_ms / 1000, was_switched(node)});
}

/* In booting, and before a new system has confirmed its root, the node fails. In other
 * states the boot is only logged, for a verb that takes the node back. */
int
bu_fallback_hello(struct bu_reconcile *rec, struct bu_node *node, const char *boot_id,
		  struct bu_event *events, size_t count, struct bu_err *err)
{
	const struct bu_other_root *other = node->other;
	struct bu_reason reason;

	BU_EVENT_MAKE(&events[count++], BU_EVENT_FELLBACK, node->name, fellback,
		      .step = other->step, .image = other->image,
		      .digest = other->digest, .slot = other->slot);
	BU_EVENT_MAKE(&events[count++], BU_EVENT_BOOTED, node->name, booted,
		      .boot_id = boot_id, .where = BU_WHERE_INSTALLED);
	if (!bu_lifecycle_has(node->state, BU_TRIGGER_FAULT)) {
		bu_reconcile_append(rec, node, events, count);
		return 0;
	}
	why_fell(rec, node, &reason);
	if (node->step.status == BU_STEP_OPEN)
		bu_outcome_event(&events[count++], node, NULL, "seen by its boot");
	return bu_reconcile_move(rec, node,
				 &(struct bu_move){.on = BU_TRIGGER_FAULT,
						   .reason = &reason,
						   .extra = events,
						   .count = count},
				 err);
}

/* Where the BMC is reset before this action, the new system has had time enough. */
int
bu_fallback_tries(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return node->state == BU_STATE_BOOTING && node->slot[0] && !node->proven &&
	       node->other->step[0] && (node->power_fails || node->step_error[0]) &&
	       !bu_reconcile_resets_bmc(node, bu_fleet_reach(rec->fleet, node));
}

/* Tried with each request until the log has it. */
void
bu_fallback_confirm(struct bu_reconcile *rec, struct bu_node *node,
		    const char *fingerprint)
{
	const char *kept = bu_fallback_trial(node);
	struct bu_event event;

	if (!kept || node->live.appending || strcmp(fingerprint, node->agent_cert) != 0)
		return;
	BU_EVENT_MAKE(&event, BU_EVENT_REVOKED, node->name, revoked,
		      .fingerprint = kept, .reason = "another root is confirmed");
	bu_reconcile_append(rec, node, &event, 1);
}
