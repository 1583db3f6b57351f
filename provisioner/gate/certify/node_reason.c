/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets the reason why a validating node does not go on, anew at each look. Reasons are
 * kept in memory. A reason of kind wait stops the node's deadline, one of kind trouble
 * does not. Asked by gate.c for nodes that are no candidates yet, by verdicts.c for
 * candidates. Invariants: a reason comes and goes within one look of its cause;
 * watchers are told of changes alone.
 */
#include "base/log.h"
#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/gate/certify/certify.h"
#include "provisioner/node/over.h"

void
bu_node_reason_set(struct bu_gate *gate, struct bu_node *node,
		   const struct bu_reason *reason)
{
	bu_autofree char *text = NULL;
	int stood_still = bu_node_stands_still(node);

	node->live.reason_rail = 0;
	if (bu_reason_same(node->live.wait_reason, reason))
		return;
	if (reason->code)
		*bu_node_wait_reason(node) = *reason;
	else
		bu_node_drop_wait_reason(node);
	/* Time spent waiting does not count. */
	if (stood_still && !bu_node_stands_still(node))
		node->live.clock_ms = bu_loop_now_ms(gate->fleet->loop);
	text = bu_reason_text(reason);
	if (reason->code)
		bu_info("gate", "%s %s: %s", node->name,
			bu_reason_is(reason, BU_REASON_KIND_WAIT) ? "waits"
								  : "is not measured",
			text);
	bu_fleet_touch(gate->fleet, node);
}

void
bu_node_reason_name_rail(const struct bu_campaign_state *campaign,
			 const struct bu_node *node, struct bu_reason *reason)
{
	const struct bu_desired_node *want =
		bu_fleet_desired(campaign->gate->fleet, node);

	if (want && want->pool->rails_count > 1)
		bu_reason_set_text(reason, "rail", campaign->fabric->name);
}

/* 1 = another rail's reason stays: this rail has none, is a later one, or only awaits
 * others (RAIL_NOT_PROVEN). Any reason replaces another rail's RAIL_NOT_PROVEN. */
static int
is_taken(const struct bu_node *node, const struct bu_reason *reason, int own)
{
	const struct bu_reason *said = node->live.wait_reason;
	int others = node->live.reason_rail && node->live.reason_rail != own;

	if (!others || !said->code)
		return 0;
	if (said->code == BU_REASON_RAIL_NOT_PROVEN)
		return !reason->code;
	return !reason->code || reason->code == BU_REASON_RAIL_NOT_PROVEN ||
	       node->live.reason_rail < own;
}

void
bu_node_reason_set_of_rail(const struct bu_campaign_state *campaign,
			   struct bu_node *node, const struct bu_reason *reason)
{
	int own = 1 + bu_fleet_rail_place(campaign->gate->fleet, node,
					  campaign->fabric->name);
	struct bu_reason named = *reason;

	if (is_taken(node, reason, own))
		return;
	if (reason->code)
		bu_node_reason_name_rail(campaign, node, &named);
	bu_node_reason_set(campaign->gate, node, &named);
	node->live.reason_rail = own;
}

static void
unheard(const struct bu_node *node, struct bu_reason *ret)
{
	bu_autofree char *how =
		bu_over_is(node) ? bu_said_pack(bu_over_said(node)) : NULL;
	char since[24];

	if (how) {
		BU_REASON_SET(ret, BOOT_OVER, .text = {how});
		return;
	}
	if (!node->live.last_seen_ms) {
		bu_reason_set(ret, BU_REASON_UNHEARD, NULL);
		return;
	}
	bu_time_iso(node->live.last_seen_ms, since);
	BU_REASON_SET(ret, UNHEARD_SINCE, .text = {since});
}

/* NONE = the node is a candidate, whose reasons verdicts.c sets. */
static void
before_campaign(struct bu_gate *gate, struct bu_node *node, struct bu_reason *ret)
{
	const struct bu_desired_node *want = bu_fleet_desired(gate->fleet, node);

	if (!want)
		bu_reason_set(ret, BU_REASON_NOT_IN_PROFILE, NULL);
	else if (!want->validation)
		BU_REASON_SET(ret, NO_VALIDATION, .text = {node->live.pool});
	else if (!bu_gate_hears(gate, node))
		unheard(node, ret);
	else
		bu_gate_unchecked(gate, node, ret);
}

void
bu_node_reason_set_all(struct bu_gate *gate)
{
	for (size_t i = 0; gate->fleet->desired && i < gate->fleet->count; i++) {
		struct bu_node *node = gate->fleet->nodes[i];
		struct bu_reason reason;

		if (node->state != BU_STATE_VALIDATING)
			continue;
		before_campaign(gate, node, &reason);
		if (reason.code)
			bu_node_reason_set(gate, node, &reason);
	}
}
