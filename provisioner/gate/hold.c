/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What keeps a node out whatever it measures: a machine that was quarantined again and
 * again, the word of an outside system, a wait without an end. Looked at before the
 * fabrics. Invariant: an outside word can hold and quarantine, nothing here certifies.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/gate/gate_impl.h"

enum { PARTNER_WAIT_MS = 24 * 3600 * 1000 };

int
bu_gate_hold_as(struct bu_gate *gate, struct bu_node *node, const char *owner,
		const char *reason)
{
	struct bu_event event;

	if (node->held_by[0] || node->live.appending)
		return -1;
	bu_event_init(&event, BU_EVENT_HELD, node->name,
		      json_pack("{s:s,s:s}", "owner", owner, "reason", reason));
	bu_reconcile_note(gate->rec, &event, 1);
	return 0;
}

static void
hold_lemon(struct bu_gate *gate, struct bu_node *node, int64_t now_ms)
{
	int count = bu_measurements_incidents(gate->fleet, node->machine, now_ms);
	const json_t *list =
		json_object_get(gate->fleet->measurements.incidents, node->machine);
	const json_t *last = json_array_get(list, json_array_size(list) - 1);
	bu_autofree char *reason = NULL;

	if (count < BU_LEMON_INCIDENTS)
		return;
	reason =
		bu_xasprintf("lemon: this machine was quarantined %d times in %d days, "
			     "last as %s: %s; mend it, then release it",
			     count, BU_LEMON_DAYS, bu_json_str(last, "node", "?"),
			     bu_json_str(last, "reason", ""));
	bu_gate_hold_as(gate, node, "bringup", reason);
}

/* Who is not in the cluster yet is quarantined; who is, is held: no partner, and seen.
 */
static void
heed_external(struct bu_gate *gate, struct bu_node *node, int64_t now_ms)
{
	const char *source;
	const json_t *body = bu_measurements_external(node, now_ms, &source);
	bu_autofree char *reason = NULL;

	if (!body) {
		if (strncmp(node->held_by, "external:", 9) == 0 &&
		    !node->live.appending)
			bu_reconcile_release(gate->rec, node, node->held_by, NULL);
		return;
	}
	reason = bu_xasprintf("%s says: %s", source, bu_json_str(body, "text", ""));
	if (node->state == BU_STATE_VALIDATING && !node->held_by[0]) {
		bu_gate_accuse(gate, node,
			       &(struct bu_charge){reason, "ask who said it", NULL},
			       NULL, 0);
	} else if (bu_state_serves(node->state)) {
		char owner[40];

		snprintf(owner, sizeof(owner), "external:%.30s", source);
		bu_gate_hold_as(gate, node, owner, reason);
	}
}

/* Who waits for long, heard or not, is held for a person. */
static void
heed_wait(struct bu_gate *gate, struct bu_node *node)
{
	bu_autofree char *text = bu_reason_text(&node->live.says);

	if (bu_reason_is(&node->live.says, BU_REASON_KIND_WAIT) &&
	    bu_loop_now_ms(gate->fleet->loop) - node->live.clock_ms >= PARTNER_WAIT_MS)
		bu_gate_hold_as(gate, node, "bringup", text);
}

void
bu_gate_hold(struct bu_gate *gate)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(gate->fleet->loop));

	for (size_t i = 0; i < gate->fleet->count; i++) {
		struct bu_node *node = gate->fleet->nodes[i];

		if (node->verdicts)
			heed_external(gate, node, now_ms);
		if (node->state != BU_STATE_VALIDATING)
			continue;
		hold_lemon(gate, node, now_ms);
		heed_wait(gate, node);
	}
}

int
bu_gate_external(struct bu_gate *gate, struct bu_node *node, const char *source,
		 const char *verdict, const char *text, int64_t until_ms,
		 struct bu_err *err)
{
	struct bu_event event;

	if (bu_pair_name_check(source, "source", err) != 0)
		return -1;
	if (strcmp(verdict, "fail") != 0 && strcmp(verdict, "pass") != 0)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"verdict '%.32s': 'fail' is wanted, or 'pass' to take "
			"it back",
			verdict);
	if (strcmp(verdict, "fail") == 0 && !*text)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "text: why it fails is wanted, for people");
	bu_event_init(&event, BU_EVENT_VERDICT, node->name,
		      json_pack("{s:s,s:s,s:s,s:I}", "source", source, "verdict",
				verdict, "text", text, "until_ms",
				(json_int_t)until_ms));
	bu_reconcile_note(gate->rec, &event, 1);
	bu_gate_kick(gate);
	return 0;
}
