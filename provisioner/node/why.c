/* SPDX-License-Identifier: Apache-2.0 */
/* `bringup node why`, in words, from the facts that the engine decides by. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/check.h"
#include "provisioner/node/fallback.h"
#include "provisioner/node/over.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs_rules.h"

static void
add_step(const struct bu_node *node, char **text)
{
	static const char *const status[] = {"not started", "under way", "done",
					     "failed"};

	if (node->step.status == BU_STEP_NONE)
		return;
	bu_text_add(text, "\n", "step %s (%s), attempt %d: %s%s%s", node->step.id,
		    bu_action_name(node->step.action), node->step.attempt,
		    status[node->step.status], node->step_error[0] ? ": " : "",
		    node->step_error);
}

/* Did its install fail, perhaps at a disk that it was not granted to wipe? */
static int
takes_empty_disk(const struct bu_node *node)
{
	const struct bu_order *order = node->order;

	return node->step.action == BU_ACTION_INSTALL &&
	       node->step.status == BU_STEP_FAILED &&
	       (order->class == BU_CLASS_INSTALL ||
		(order->class == BU_CLASS_WIPE && !bu_order_names_disk(order)));
}

static void
add_order(const struct bu_node *node, char **text)
{
	const struct bu_order *order = node->order;
	bu_autofree char *reason = bu_reason_text(&order->reason);

	if (order->open)
		bu_text_add(text, "\n", "order: %s, of rollout %s, %s",
			    bu_class_name(order->class), order->rollout,
			    order->begun ? "under way" : "not started");
	else if (order->failed || order->withdrawn)
		bu_text_add(text, "\n", "its last order (%s, of rollout %s) %s: %s",
			    bu_class_name(order->class), order->rollout,
			    order->failed ? "failed" : "was withdrawn", reason);
	if (order->open || !order->failed || node->state != BU_STATE_FAILED)
		return;
	bu_text_add(text, "\n", "after a repair bringup node retry %s goes on with it",
		    node->name);
	/* The data that a reimage keeps may not be there. */
	if (order->class == BU_CLASS_REIMAGE)
		bu_text_add(
			text, "; ",
			"bringup node rebuild %s --grant wipe writes the whole disk",
			node->name);
	else if (takes_empty_disk(node))
		bu_text_add(
			text, "; ",
			"a disk that is not empty is refused each time: if what is on "
			"it may go, bringup node rebuild %s --grant wipe",
			node->name);
}

static void
add_next(const struct bu_node *node, char **text)
{
	const struct bu_next *next = node->next;
	bu_autofree char *reason = bu_reason_text(&next->reason);

	if (node->state == BU_STATE_DRAINING)
		bu_text_add(text, "\n", "then: %s%s%s%s", bu_state_name(next->state),
			    *reason ? " (" : "", reason, *reason ? ")" : "");
}

static void
add_deadline(const struct bu_reconcile *rec, const struct bu_node *node, char **text)
{
	int64_t deadline_ms = bu_reconcile_deadline(rec, node);
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);
	const char *then;

	if (!deadline_ms)
		return;
	if (bu_state_info(node->state)->settled)
		then = "the step has failed; the node stays ready as it was";
	else if (bu_late_is_frozen(rec, node))
		then = "nothing, the brake is on, many are late together; see bringup "
		       "status; bringup node release restarts its deadline, after which it "
		       "goes on";
	else if (bu_reconcile_holds(node))
		then = "the node is held for a person";
	else if (node->repeats < BU_REPEATS_MAX && bu_reconcile_cycles(node))
		then = "again, with a power cycle";
	else
		then = "failed";
	if (deadline_ms < now_ms)
		bu_text_add(
			text, "\n",
			"its deadline of %lld s passed %lld s ago; next: %s",
			(long long)((deadline_ms - bu_reconcile_since_ms(node)) / 1000),
			(long long)((now_ms - deadline_ms) / 1000), then);
	else
		bu_text_add(
			text, "\n", "deadline in %lld s (%lld s for this), then: %s",
			(long long)((deadline_ms - now_ms) / 1000),
			(long long)((deadline_ms - bu_reconcile_since_ms(node)) / 1000),
			then);
}

static void
add_agent(const struct bu_reconcile *rec, const struct bu_node *node, char **text)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));
	bu_autofree char *how = bu_over_is(node) ? bu_over_words(node) : NULL;

	if (how)
		bu_text_add(text, "\n",
			    "its last boot has ended (%s); its agent counts again when "
			    "it says hello in a later one",
			    how);
	else if (node->live.last_seen_ms)
		bu_text_add(text, "\n", "its agent was heard %lld s ago",
			    (long long)((now_ms - node->live.last_seen_ms) / 1000));
	else
		bu_text_add(text, "\n", "its agent was not heard since %s",
			    node->power->seq > rec->fleet->loaded_seq
				    ? "its machine was last switched"
				    : "bringupd started");
	if (node->live.progress_total_bytes)
		bu_text_add(text, "\n", "%s: %llu of %llu MiB",
			    node->live.progress_stage,
			    (unsigned long long)node->live.progress_done_bytes >> 20,
			    (unsigned long long)node->live.progress_total_bytes >> 20);
}

static void
add_roots(const struct bu_node *node, char **text)
{
	const struct bu_other_root *other = node->other;

	if (node->slot[0] && !node->proven)
		bu_text_add(text, "\n",
			    "its system in slot %s has not come up yet%s%s%s",
			    node->slot,
			    other->step[0] ? "; its loader tries it once, and then "
					     "starts image "
					   : "",
			    other->image, other->step[0] ? " again" : "");
	if (bu_fallback_trial(node))
		bu_text_add(
			text, "\n",
			"its system in slot %s is on trial until its agent asks for "
			"work; its loader starts image %s again when it is reset "
			"before",
			node->slot, other->image);
}

static void
add_boot(const struct bu_reconcile *rec, const struct bu_node *node, char **text)
{
	bu_autofree char *words = bu_proof_words(rec, node);

	if (words && !bu_state_info(node->state)->settled)
		bu_text_add(text, "\n", "%s", words);
}

static void
add_power(const struct bu_node *node, char **text)
{
	const struct bu_power_deed *deed = node->power;

	if (deed->op)
		bu_text_add(text, "\n", "power %s by %s: %s%s%s",
			    bu_deed_names[deed->op], deed->by,
			    deed->result == BU_OUTCOME_ASKED
				    ? "under way"
				    : bu_outcome_names[deed->result],
			    deed->detail[0] ? ": " : "", deed->detail);
}

static void
add_lease(const struct bu_reconcile *rec, const struct bu_node *node, char **text)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));

	if (node->state == BU_STATE_READY && node->lent_to[0])
		bu_text_add(text, "\n", "it was used as a partner by %s %lld s ago",
			    node->lent_to,
			    (long long)((now_ms - node->lent_ms) / 1000));
}

/* Only a certificate that needs a person: renewal begins with a third of its life left,
 * so half of that third has passed without one. */
static void
add_agent_cert(const struct bu_reconcile *rec, const struct bu_node *node, char **text)
{
	int64_t left_ms =
		node->agent_cert_until_ms - bu_wall_ms(bu_loop_clock(rec->fleet->loop));
	int64_t days = left_ms / (24 * 3600 * 1000);

	if (node->agent_revoked)
		bu_text_add(text, "\n", "the certificate of its agent was revoked");
	else if (!node->agent_cert_until_ms)
		return;
	else if (left_ms <= 0)
		bu_text_add(
			text, "\n",
			"the certificate of its agent has ended; bringup node rebuild %s "
			"gives it another",
			node->name);
	else if (days < BU_AGENT_CERT_DAYS / 6)
		bu_text_add(
			text, "\n",
			"the certificate of its agent ends in %lld days and was not "
			"renewed; see bringup-agent's log on the node",
			(long long)days);
}

static void
add_agent_change(const struct bu_node *node, char **text)
{
	static const char *const what[] = {
		[BU_AGENT_CHANGED] = "",
		[BU_AGENT_ENDED] = "exited three times before it had been answered for "
				   "20 s, and the previous agent runs again",
		[BU_AGENT_SILENT] = "was not heard in time, and the previous agent is "
				    "to run again",
		[BU_AGENT_REFUSED] = "was not started",
		[BU_AGENT_RELEASED] = "",
	};
	const struct bu_agent_fault *fault = node->agent_failed;
	char at[24];

	if (!fault->at_ms || strcmp(fault->digest, node->live.agent.digest) == 0)
		return;
	bu_time_iso(fault->at_ms, at);
	bu_text_add(
		text, "\n",
		"agent %s %s (%s)%s%s; see bringup-agent's log on the node; bringup "
		"node release %s lets nodes try it again before a day is over",
		fault->version, what[fault->result], at, *fault->detail ? ": " : "",
		fault->detail, node->name);
	if (node->live.agent.version[0])
		bu_text_add(text, "\n", "its agent is %s", node->live.agent.version);
}

/* Findings of the node's checks and verdicts of others, or that the checks pass. */
static void
add_checks(const struct bu_fleet *fleet, const struct bu_node *node, char **text)
{
	size_t i;
	json_t *value;

	json_array_foreach ((json_t *)node->checks.is.rows, i, value) {
		bu_autofree char *name = NULL;
		struct bu_check_said row;

		if (bu_record_from_json(bu_check_said_fields, value, &row, NULL) != 0)
			continue;
		name = bu_check_said_name(&row);
		bu_text_add(text, "\n", "%s: %s: %s%s%s", name,
			    bu_verdict_name(row.verdict), row.text,
			    *row.hint ? "; " : "", row.hint);
	}
	if (node->checks.body && i == 0)
		bu_text_add(text, "\n", "its checks pass");
	bu_measurements_soak_words(fleet, node->machine, text);
	for (i = 0; i < node->verdicts_count; i++)
		bu_text_add(text, "\n", "%s says: %s", node->verdicts[i].is.source,
			    node->verdicts[i].is.text);
	if (node->state == BU_STATE_VALIDATING && !node->checks.body)
		bu_text_add(text, "\n", "its checks have not reported yet");
}

/* Conditions that limit the meaning of its state. */
static void
add_conditions(const struct bu_reconcile *rec, const struct bu_node *node, char **text)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));

	for (int id = 0; id < BU_CONDITION_COUNT; id++) {
		const struct bu_condition *condition = &node->conditions[id];
		bu_autofree char *words = NULL;

		if (!condition->on)
			continue;
		words = bu_condition_text(id, condition);
		bu_text_add(text, "\n", "but %s: %s, for %lld s; it ends when %s",
			    bu_condition_info(id)->name, words,
			    (long long)(now_ms - condition->since_ms) / 1000,
			    bu_condition_info(id)->cleared);
	}
	if (node->conditions[BU_CONDITION_UNREACHABLE].on ||
	    node->conditions[BU_CONDITION_NOT_IN_CLUSTER].on)
		bu_text_add(
			text, "\n",
			"if that does not end: bringup node reboot %s, or bringup node "
			"replace %s for another machine",
			node->name, node->name);
}

/* The reason, its end, and how often it is looked at again. */
static void
add_reason(const struct bu_reason *reason, const char *what, char **text)
{
	const struct bu_reason_info *info = bu_reason_info(reason->code);
	bu_autofree char *words = bu_reason_text(reason);
	bu_autofree char *again =
		bu_xasprintf("; it is looked at again every %d s", info->again_s);

	if (reason->code)
		bu_text_add(text, "\n", "%s: %s; it ends when %s%s", what, words,
			    info->ends, info->again_s ? again : "");
}

char *
bu_reconcile_why(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));
	const struct bu_state_info *info = bu_state_info(node->state);
	bu_autofree char *reason = bu_reason_text(&node->reason);
	bu_autofree char *hold = bu_hold_text(node->hold);
	char *text =
		bu_xasprintf("%s is %s (%s) for %lld s", node->name, info->name,
			     info->help, (long long)(now_ms - node->since_ms) / 1000);

	if (node->reason.code)
		bu_text_add(&text, "\n", "reason: %s", reason);
	add_conditions(rec, node, &text);
	if (node->hold->owner)
		bu_text_add(&text, "\n", "%s; bringup node release %s ends the hold",
			    hold, node->name);
	if (bu_node_keeps_files(node))
		bu_text_add(&text, "\n",
			    "bringup rollout abort %s takes its order back",
			    node->order->rollout);
	if (node->hold->owner && bu_node_has_left(node))
		bu_text_add(
			&text, "\n",
			"if its machine does not come back: bringup node replace %s",
			node->name);
	if (node->hold->owner && node->state == BU_STATE_VALIDATING &&
	    !bu_verb_runs(rec, node))
		bu_text_add(&text, "\n",
			    "if its agent is not heard again: bringup node reboot %s, "
			    "or bringup node replace %s for another machine",
			    node->name, node->name);
	add_reason(&node->live.refusal, "a machine was refused", &text);
	add_reason(&node->live.says,
		   bu_reason_is(&node->live.says, BU_REASON_KIND_WAIT) ? "waits"
								       : "not measured",
		   &text);
	if (!info->settled || info->measured)
		add_checks(rec->fleet, node, &text);
	if (node->live.cluster_words[0])
		bu_text_add(&text, "\n", "its cluster says: %s",
			    node->live.cluster_words);
	add_next(node, &text);
	add_lease(rec, node, &text);
	add_power(node, &text);
	add_order(node, &text);
	add_step(node, &text);
	add_boot(rec, node, &text);
	add_roots(node, &text);
	add_deadline(rec, node, &text);
	if (!info->settled || bu_reconcile_wants_agent(node) || bu_over_is(node))
		add_agent(rec, node, &text);
	add_agent_cert(rec, node, &text);
	add_agent_change(node, &text);
	if (!node->live.in_profile)
		bu_text_add(&text, "\n", "it is not in the applied profile");
	bu_text_add(&text, "", "\n");
	return text;
}
