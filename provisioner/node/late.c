/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Late nodes and what follows: a rung of the ladder, a failed step, another look.
 * Called by reconcile.c at each tick. Invariant: no node is moved while the brake
 * freezes its ladder, or while a batch of it is on its way to the log.
 */
#include "base/clock.h"
#include "model/sentence.h"
#include "provisioner/node/reconcile_impl.h"

/* A longer wait is logged: half of the grace that a start gives to all nodes. */
enum { LONG_MS = 30000 };

static const char *
missing_word(const struct bu_node *node)
{
	const char *step = bu_action_info(node->step.action)->late;

	return *step ? step : bu_state_info(node->state)->late;
}

static int
is_past(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t deadline_ms = bu_reconcile_deadline(rec, node);

	return deadline_ms && bu_loop_now_ms(rec->fleet->loop) > deadline_ms;
}

static int
climbs_again(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return node->live.retry_ms &&
	       bu_loop_now_ms(rec->fleet->loop) >= node->live.retry_ms &&
	       !node->hold->owner && node->live.in_profile;
}

static int
tries_again(const struct bu_node *node)
{
	return bu_node_power_failed(node) && bu_reconcile_cycles(node) &&
	       !bu_reconcile_holds(node) && node->repeats < BU_REPEATS_MAX;
}

/* A failed step is tried again after a pause; a power action says when. */
void
bu_late_retry(struct bu_reconcile *rec, struct bu_node *node)
{
	int pause_ms = BU_RETRY_MS;
	char at[24];

	if (node->live.retry_ms)
		return;
	if (tries_again(node)) {
		pause_ms = node->repeats ? BU_POWER_AGAIN_MS : BU_POWER_RETRY_MS;
		bu_time_iso(bu_wall_ms(bu_loop_clock(rec->fleet->loop)) + pause_ms, at);
		BU_REASON_SET(bu_node_wait_reason(node), BMC_REFUSES,
			      .text = {node->step_error, at},
			      .number = {node->repeats + 1, BU_REPEATS_MAX + 1});
		bu_fleet_touch(rec->fleet, node);
	}
	node->live.retry_ms = bu_loop_now_ms(rec->fleet->loop) + pause_ms;
}

void
bu_late_note(struct bu_reconcile *rec, struct bu_node *node)
{
	int stuck = climbs_again(rec, node) && node->step.status == BU_STEP_FAILED;

	/* Its clock is set by the row that ends the wait. */
	if (bu_reconcile_start_waits(rec, node) || node->live.wait_logged)
		return;
	if (bu_state_info(node->state)->ladder == BU_LADDER_POWER &&
	    (stuck || is_past(rec, node) || bu_boot_restart_is(rec, node)))
		node->live.late_ms = bu_loop_now_ms(rec->fleet->loop);
}

void
bu_late_waits(struct bu_reconcile *rec, struct bu_node *node)
{
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);
	int waits =
		bu_node_stands_still(node) || (!bu_state_info(node->state)->settled &&
					       bu_reconcile_start_waits(rec, node));
	int told;
	struct bu_event event;

	if (!waits)
		node->live.waiting_ms = 0;
	else if (!node->live.waiting_ms)
		node->live.waiting_ms = now_ms;
	told = waits ? node->live.wait_logged ||
			       now_ms - node->live.waiting_ms < LONG_MS
		     : !node->live.wait_logged &&
			       node->live.clock_ms - node->live.log_clock_ms < LONG_MS;
	if (told || node->live.appending)
		return;
	BU_EVENT_MAKE(&event, BU_EVENT_WAITS, node->name, waits, .on = waits);
	bu_reconcile_append(rec, node, &event, 1);
}

static void
end_late(struct bu_reconcile *rec, struct bu_node *node, const struct bu_reason *reason)
{
	bu_autofree char *text = NULL;
	struct bu_event event;
	struct bu_err late;

	if (!bu_state_info(node->state)->settled) {
		bu_reconcile_climb(rec, node, BU_TRIGGER_LATE, reason);
		return;
	}
	text = bu_reason_text(reason);
	bu_err_set(&late, BU_ERR_TIMEOUT, 0, "%s", text);
	bu_outcome_event(&event, node, &late, "");
	bu_reconcile_append(rec, node, &event, 1);
}

/* The last known cause of its delay, a text or a packed reason; owned. */
static char *
seen_of(const struct bu_node *node)
{
	if (node->live.wait_reason->code && node->step.status != BU_STEP_FAILED)
		return bu_reason_pack(node->live.wait_reason);
	if (node->live.refusal->code)
		return bu_reason_pack(node->live.refusal);
	return bu_xstrdup(node->live.cluster_words[0] ? node->live.cluster_words
						      : node->step_error);
}

int
bu_late_is_frozen(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return node->live.late_ms && !node->live.let_go && rec->freezer.frozen &&
	       rec->freezer.frozen(rec->freezer.arg, node);
}

void
bu_late_check(struct bu_reconcile *rec, struct bu_node *node)
{
	bu_autofree char *seen = NULL;
	struct bu_reason reason;

	if (node->live.appending || bu_late_is_frozen(rec, node) ||
	    bu_reconcile_start_waits(rec, node))
		return;
	if (bu_boot_restart_is(rec, node)) {
		BU_REASON_SET(&reason, BEGAN_AGAIN,
			      .text = {bu_state_name(node->state)});
		end_late(rec, node, &reason);
	} else if (is_past(rec, node)) {
		int64_t limit_ms =
			bu_reconcile_deadline(rec, node) - bu_reconcile_since_ms(node);

		seen = seen_of(node);
		BU_REASON_SET(&reason, LATE, .text = {missing_word(node), seen},
			      .number = {limit_ms / 1000});
		end_late(rec, node, &reason);
	} else if (climbs_again(rec, node)) {
		node->live.retry_ms = 0;
		bu_step_failure(node, &reason);
		if (node->step.status == BU_STEP_FAILED)
			bu_reconcile_climb(rec, node, BU_TRIGGER_FAULT, &reason);
		else if (node->step.status == BU_STEP_OPEN)
			bu_effect_observe(rec, node);
	}
}
