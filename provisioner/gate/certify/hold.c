/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps nodes out whatever was measured: machines that were quarantined again and
 * again, machines whose hardware keeps changing, nodes that an outside system failed,
 * and nodes that wait too long. Called at each look before the fabrics. Invariant: an
 * outside verdict can hold and quarantine a node; nothing here certifies.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/gate/certify/certify.h"

enum {
	PARTNER_WAIT_MS = 24 * 3600 * 1000,
	/* Two devices may come late: each is a change of hardware. */
	OUTDATED_MAX = 2,
};

static void
hold(struct bu_gate *gate, struct bu_node *node, enum bu_owner owner, const char *name,
     const struct bu_reason *reason)
{
	struct bu_event event;

	if (node->hold->owner || node->live.appending)
		return;
	bu_hold_event(&event, node->name, owner, name, reason);
	bu_reconcile_note(gate->rec, &event, 1);
}

static void
hold_lemon(struct bu_gate *gate, struct bu_node *node, int64_t now_ms)
{
	int count = bu_measurements_incidents(gate->fleet, node->machine, now_ms);
	const json_t *list =
		json_object_get(gate->fleet->measurements.incidents, node->machine);
	const json_t *last = json_array_get(list, json_array_size(list) - 1);
	struct bu_reason reason;

	if (count < BU_LEMON_INCIDENTS)
		return;
	BU_REASON_SET(&reason, LEMON,
		      .text = {bu_json_str(last, "node", "?"),
			       bu_json_str(last, "reason", "")},
		      .number = {count, BU_LEMON_DAYS});
	hold(gate, node, BU_OWNER_BRINGUP, "", &reason);
}

/* Holds a node whose hardware changed more than OUTDATED_MAX times: another measurement
 * would be outdated, too. */
static void
hold_changing(struct bu_gate *gate, struct bu_node *node)
{
	struct bu_reason reason;

	if (node->outdated <= OUTDATED_MAX)
		return;
	BU_REASON_SET(&reason, OUTDATED_OFTEN, .text = {node->name},
		      .number = {node->outdated});
	hold(gate, node, BU_OWNER_BRINGUP, "", &reason);
}

/* A validating node that an outside system failed is quarantined. A joining or ready
 * one is held: no partner, but shown. */
static void
heed_external(struct bu_gate *gate, struct bu_node *node, int64_t now_ms)
{
	const struct bu_body_verdict *body = bu_measurements_external(node, now_ms);
	struct bu_reason reason;
	struct bu_charge charge = {&reason, "ask the system that said it", NULL};

	if (!body) {
		if (node->hold->owner == BU_OWNER_EXTERNAL && !node->live.appending)
			bu_ignore(bu_reconcile_release(gate->rec, node, node->hold->by,
						       NULL));
		return;
	}
	BU_REASON_SET(&reason, EXTERNAL, .text = {body->source, body->text});
	if (node->state == BU_STATE_VALIDATING && !node->hold->owner)
		bu_gate_accuse(gate, node, &charge, NULL, 0);
	else if (node->state == BU_STATE_READY || node->state == BU_STATE_JOINING)
		hold(gate, node, BU_OWNER_EXTERNAL, body->source, &reason);
}

/* Holds for a person a node that waits for PARTNER_WAIT_MS, heard or not. */
static void
heed_wait(struct bu_gate *gate, struct bu_node *node)
{
	if (bu_reason_is(node->live.wait_reason, BU_REASON_KIND_WAIT) &&
	    bu_loop_now_ms(gate->fleet->loop) - node->live.clock_ms >= PARTNER_WAIT_MS)
		hold(gate, node, BU_OWNER_BRINGUP, "", node->live.wait_reason);
}

void
bu_gate_hold(struct bu_gate *gate)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(gate->fleet->loop));

	for (size_t i = 0; i < gate->fleet->count; i++) {
		struct bu_node *node = gate->fleet->nodes[i];

		if (node->verdicts_count)
			heed_external(gate, node, now_ms);
		if (node->state != BU_STATE_VALIDATING)
			continue;
		hold_lemon(gate, node, now_ms);
		hold_changing(gate, node);
		heed_wait(gate, node);
	}
}

int
bu_gate_external(struct bu_gate *gate, struct bu_node *node,
		 const struct bu_external *said, struct bu_err *err)
{
	struct bu_event event;
	enum bu_verdict verdict;

	if (bu_pair_name_check(said->source, "source", err) != 0)
		return -1;
	if (bu_verdict_from_name(said->verdict, &verdict) != 0 ||
	    (verdict != BU_VERDICT_FAIL && verdict != BU_VERDICT_PASS))
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"verdict '%.32s': expected 'fail', or 'pass' to withdraw it",
			said->verdict);
	if (verdict == BU_VERDICT_FAIL && !*said->text)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "text: expected the reason of the failure, in words");
	BU_EVENT_MAKE(&event, BU_EVENT_VERDICT, node->name, verdict,
		      .source = said->source, .verdict = verdict, .text = said->text,
		      .until_ms = said->until_ms);
	bu_reconcile_note(gate->rec, &event, 1);
	bu_gate_kick(gate);
	return 0;
}
