/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bringup node why`, from the facts that the engine decides by. Called by the API for
 * one node. Invariant: lines are codes with arguments; what shows them makes the text.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/check.h"
#include "model/sentence.h"
#include "provisioner/node/fallback.h"
#include "provisioner/node/over.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/starting.h"
#include "provisioner/node/verbs_rules.h"

/* What a line tells of. */
struct why {
	const struct bu_reconcile *rec;
	const struct bu_node *node;
	int64_t now_ms; /* Unix time */
	json_t *lines;
};

#define SAY(why, id, ...) json_array_append_new((why)->lines, BU_SAID(id, __VA_ARGS__))

static int64_t
seconds_since(const struct why *why, int64_t ms)
{
	return (why->now_ms - ms) / 1000;
}

static void
add_step(const struct why *why)
{
	const struct bu_node *node = why->node;
	const struct bu_step *step = &node->step;

	if (step->status == BU_STEP_NONE)
		return;
	SAY(why, STEP, BU_ARG("step", step->id),
	    BU_ARG("action", bu_action_name(step->action)),
	    BU_ARG_NUMBER("attempt", step->attempt),
	    BU_ARG_NUMBER("open", step->status == BU_STEP_OPEN),
	    BU_ARG_NUMBER("done", step->status == BU_STEP_DONE),
	    BU_ARG_NUMBER("failed", step->status == BU_STEP_FAILED),
	    BU_ARG("error", node->step_error));
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
add_retry(const struct why *why)
{
	struct bu_arg args[] = {BU_ARG("node", why->node->name), {.name = NULL}};
	enum bu_reason_code code = BU_REASON_RETRY;

	/* The data that a reimage keeps may not be there. */
	if (why->node->order->class == BU_CLASS_REIMAGE)
		code = BU_REASON_RETRY_OR_WIPE;
	else if (takes_empty_disk(why->node))
		code = BU_REASON_RETRY_EMPTY;
	json_array_append_new(why->lines, bu_said_new(code, args));
}

static void
add_order(const struct why *why)
{
	const struct bu_node *node = why->node;
	const struct bu_order *order = node->order;

	if (order->open)
		SAY(why, ORDER_OPEN, BU_ARG("class", bu_class_name(order->class)),
		    BU_ARG("rollout", order->rollout),
		    BU_ARG_NUMBER("begun", order->begun),
		    BU_ARG_NUMBER("waits", !order->begun));
	else if (order->failed || order->withdrawn)
		SAY(why, ORDER_ENDED, BU_ARG("class", bu_class_name(order->class)),
		    BU_ARG("rollout", order->rollout),
		    BU_ARG_NUMBER("failed", order->failed),
		    BU_ARG_NUMBER("withdrawn", !order->failed),
		    BU_ARG_SAID("why", bu_said_of(&order->reason)));
	if (!order->open && order->failed && node->state == BU_STATE_FAILED)
		add_retry(why);
}

static void
add_next(const struct why *why)
{
	const struct bu_next *next = why->node->next;

	if (why->node->state == BU_STATE_DRAINING)
		SAY(why, GOES_TO, BU_ARG("state", bu_state_name(next->state)),
		    BU_ARG_SAID("why", bu_said_of(&next->reason)));
}

static enum bu_reason_code
after_deadline(const struct bu_reconcile *rec, const struct bu_node *node)
{
	if (bu_state_info(node->state)->settled)
		return BU_REASON_THEN_STEP_FAILS;
	if (bu_late_is_frozen(rec, node))
		return BU_REASON_THEN_NOTHING;
	if (bu_reconcile_holds(node))
		return BU_REASON_THEN_HELD;
	if (node->repeats < BU_REPEATS_MAX && bu_reconcile_cycles(node))
		return BU_REASON_THEN_AGAIN;
	return BU_REASON_THEN_FAILED;
}

static void
add_deadline(const struct why *why)
{
	const struct bu_reconcile *rec = why->rec;
	int64_t deadline_ms = bu_reconcile_deadline(rec, why->node);
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);
	int64_t limit_s = (deadline_ms - bu_reconcile_since_ms(why->node)) / 1000;
	json_t *then;

	if (!deadline_ms)
		return;
	then = bu_said_new(after_deadline(rec, why->node), NULL);
	if (deadline_ms < now_ms)
		SAY(why, DEADLINE_OVER, BU_ARG_NUMBER("limit", limit_s),
		    BU_ARG_NUMBER("past", (now_ms - deadline_ms) / 1000),
		    BU_ARG_SAID("then", then));
	else
		SAY(why, DEADLINE, BU_ARG_NUMBER("left", (deadline_ms - now_ms) / 1000),
		    BU_ARG_NUMBER("limit", limit_s), BU_ARG_SAID("then", then));
}

static void
add_agent(const struct why *why)
{
	const struct bu_node *node = why->node;
	int switched = node->power->seq > why->rec->fleet->loaded_seq;

	if (bu_over_is(node))
		SAY(why, AGENT_OVER, BU_ARG_SAID("how", bu_over_said(node)));
	else if (node->live.last_seen_ms)
		SAY(why, AGENT_HEARD,
		    BU_ARG_NUMBER("s", seconds_since(why, node->live.last_seen_ms)));
	else
		SAY(why, AGENT_UNHEARD, BU_ARG_NUMBER("switched", switched),
		    BU_ARG_NUMBER("started", !switched));
	if (node->live.progress_total_bytes)
		SAY(why, PROGRESS, BU_ARG("stage", node->live.progress_stage),
		    BU_ARG_NUMBER("done", node->live.progress_done_bytes >> 20),
		    BU_ARG_NUMBER("total", node->live.progress_total_bytes >> 20));
}

static void
add_roots(const struct why *why)
{
	const struct bu_node *node = why->node;
	const struct bu_other_root *other = node->other;

	if (node->slot[0] && !node->proven)
		SAY(why, ROOT_NOT_UP, BU_ARG("slot", node->slot),
		    BU_ARG("image", other->step[0] ? other->image : ""));
	if (bu_fallback_trial(node))
		SAY(why, ROOT_ON_TRIAL, BU_ARG("slot", node->slot),
		    BU_ARG("image", other->image));
}

static void
add_power(const struct why *why)
{
	const struct bu_node_power_request *request = why->node->power;
	int open = request->result == BU_OUTCOME_ASKED;

	if (request->op)
		SAY(why, POWER_DEED, BU_ARG("op", bu_power_request_names[request->op]),
		    BU_ARG("by", request->by), BU_ARG_NUMBER("open", open),
		    BU_ARG("result", open ? "" : bu_outcome_names[request->result]),
		    BU_ARG("words", request->detail));
}

static void
add_lease(const struct why *why)
{
	const struct bu_node *node = why->node;

	if (node->state == BU_STATE_READY && node->lent_to[0])
		SAY(why, LENT, BU_ARG("node", node->lent_to),
		    BU_ARG_NUMBER("s", seconds_since(why, node->lent_ms)));
}

/* Only a certificate that needs a person: renewal begins with a third of its life left,
 * so half of that third has passed without one. */
static void
add_agent_cert(const struct why *why)
{
	const struct bu_node *node = why->node;
	int64_t left_ms = node->agent_cert_until_ms - why->now_ms;
	int64_t days = left_ms / (24 * 3600 * 1000);

	if (node->agent_revoked)
		json_array_append_new(why->lines, BU_SAID_ALONE(CERT_REVOKED));
	else if (!node->agent_cert_until_ms)
		return;
	else if (left_ms <= 0)
		SAY(why, CERT_ENDED, BU_ARG("node", node->name));
	else if (days < BU_AGENT_CERT_DAYS / 6)
		SAY(why, CERT_ENDS, BU_ARG_NUMBER("days", days));
}

static void
add_agent_change(const struct why *why)
{
	const struct bu_node *node = why->node;
	const struct bu_agent_fault *fault = node->agent_failed;
	char at[24];

	if (!fault->at_ms || strcmp(fault->digest, node->live.agent->digest) == 0)
		return;
	bu_time_iso(fault->at_ms, at);
	SAY(why, AGENT_FAILED, BU_ARG("version", fault->version),
	    BU_ARG_NUMBER("ended", fault->result == BU_AGENT_ENDED),
	    BU_ARG_NUMBER("silent", fault->result == BU_AGENT_SILENT),
	    BU_ARG_NUMBER("refused", fault->result == BU_AGENT_REFUSED),
	    BU_ARG("at", at), BU_ARG("words", fault->detail),
	    BU_ARG("node", node->name));
	if (node->live.agent->version[0])
		SAY(why, AGENT_IS, BU_ARG("version", node->live.agent->version));
}

static void
add_verdicts(const struct why *why)
{
	const struct bu_node *node = why->node;

	for (size_t i = 0; i < node->verdicts_count; i++)
		SAY(why, EXTERNAL, BU_ARG("source", node->verdicts[i].is.source),
		    BU_ARG("words", node->verdicts[i].is.text));
}

/* Findings of the node's checks and verdicts of others, or that the checks pass. */
static void
add_checks(const struct why *why)
{
	const struct bu_node *node = why->node;
	size_t i;
	json_t *value;

	json_array_foreach ((json_t *)node->checks.is.rows, i, value) {
		bu_autofree char *name = NULL;
		struct bu_check_said row;

		if (bu_record_from_json(bu_check_said_fields, value, &row, NULL) != 0)
			continue;
		name = bu_check_said_name(&row);
		SAY(why, CHECK_SAYS, BU_ARG("name", name),
		    BU_ARG("verdict", bu_verdict_name(row.verdict)),
		    BU_ARG("words", row.text), BU_ARG("hint", row.hint));
	}
	if (node->checks.body && i == 0)
		json_array_append_new(why->lines, BU_SAID_ALONE(CHECKS_PASS));
	bu_measurements_soak_say(why->rec->fleet, node->machine, why->lines);
	add_verdicts(why);
	if (node->state == BU_STATE_VALIDATING && !node->checks.body)
		json_array_append_new(why->lines, BU_SAID_ALONE(CHECKS_UNTOLD));
}

/* Conditions that limit the meaning of its state. */
static void
add_conditions(const struct why *why)
{
	const struct bu_node *node = why->node;

	for (int id = 0; id < BU_CONDITION_COUNT; id++) {
		const struct bu_condition *condition = &node->conditions[id];

		if (condition->on)
			SAY(why, BUT, BU_ARG("name", bu_condition_info(id)->name),
			    BU_ARG_SAID("detail", json_incref(condition->detail)),
			    BU_ARG_NUMBER("s",
					  seconds_since(why, condition->since_ms)));
	}
	if (node->conditions[BU_CONDITION_UNREACHABLE].on ||
	    node->conditions[BU_CONDITION_NOT_IN_CLUSTER].on)
		SAY(why, LOST_ADVICE, BU_ARG("node", node->name));
}

/* The reason, its end, and how often it is looked at again. */
static void
add_reason(const struct why *why, const struct bu_reason *reason,
	   enum bu_reason_code line)
{
	const struct bu_reason_info *info = bu_reason_info(reason->code);
	struct bu_arg args[] = {BU_ARG_SAID("why", NULL),
				BU_ARG_NUMBER("again", info->again_s),
				{.name = NULL}};

	if (!reason->code)
		return;
	args[0].said = bu_said_of(reason);
	json_array_append_new(why->lines, bu_said_new(line, args));
}

static void
add_hold(const struct why *why)
{
	const struct bu_node *node = why->node;

	if (node->hold->owner)
		SAY(why, IS_HELD, BU_ARG("by", node->hold->by),
		    BU_ARG_SAID("why", bu_said_of(&node->hold->reason)),
		    BU_ARG("node", node->name));
	if (bu_node_keeps_files(node))
		SAY(why, ABORT_ADVICE, BU_ARG("rollout", node->order->rollout));
	if (node->hold->owner && bu_node_has_left(node))
		SAY(why, REPLACE_ADVICE, BU_ARG("node", node->name));
	if (node->hold->owner && node->state == BU_STATE_VALIDATING &&
	    !bu_verb_runs(why->rec, node))
		SAY(why, UNHEARD_ADVICE, BU_ARG("node", node->name));
}

/* The state, and what keeps the node in it. */
static void
add_state(const struct why *why)
{
	const struct bu_node *node = why->node;
	const struct bu_state_info *info = bu_state_info(node->state);
	const struct bu_reason *says = node->live.wait_reason;
	json_t *start = bu_starting_why(why->rec, node);

	SAY(why, IS_SO, BU_ARG("node", node->name), BU_ARG("state", info->name),
	    BU_ARG_NUMBER("s", seconds_since(why, node->since_ms)));
	if (node->reason->code)
		SAY(why, CAME_BY, BU_ARG_SAID("why", bu_said_of(node->reason)));
	add_conditions(why);
	add_hold(why);
	if (start)
		json_array_append_new(why->lines, start);
	add_reason(why, node->live.refusal, BU_REASON_REFUSED);
	add_reason(why, says,
		   bu_reason_is(says, BU_REASON_KIND_WAIT) ? BU_REASON_WAITS
							   : BU_REASON_NOT_MEASURED);
	if (!info->settled || info->measured)
		add_checks(why);
	if (node->live.cluster_words[0])
		SAY(why, CLUSTER_SAYS, BU_ARG("words", node->live.cluster_words));
}

json_t *
bu_reconcile_why(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_state_info *info = bu_state_info(node->state);
	const struct why why = {rec, node, bu_wall_ms(bu_loop_clock(rec->fleet->loop)),
				json_array()};

	add_state(&why);
	add_next(&why);
	add_lease(&why);
	add_power(&why);
	add_order(&why);
	add_step(&why);
	if (!info->settled)
		bu_proof_say(rec, node, why.lines);
	add_roots(&why);
	add_deadline(&why);
	if (!info->settled || bu_reconcile_wants_agent(node) || bu_over_is(node))
		add_agent(&why);
	add_agent_cert(&why);
	add_agent_change(&why);
	if (!node->live.in_profile)
		json_array_append_new(why.lines, BU_SAID_ALONE(NOT_IN_PROFILE));
	return why.lines;
}
