/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change of state, as a function of the log. Called by replay.c. Invariant: a
 * draining node has a next state.
 */
#include "provisioner/node/moved.h"

#include <string.h>

#include "base/text.h"
#include "provisioner/node/binding.h"
#include "provisioner/node/life.h"
#include "provisioner/node/lifecycle.h"
#include "provisioner/node/orders.h"

static void
note_stage(struct bu_fleet *fleet, struct bu_node *node, int64_t now_ms)
{
	/* The wall clock may have been set back. */
	int64_t took_ms = now_ms > node->since_ms ? now_ms - node->since_ms : 0;
	struct bu_stage *stage;

	bu_histogram_add(&fleet->took[node->state], took_ms);
	if (bu_state_info(node->state)->settled || node->stages_count == BU_STAGES_MAX)
		return;
	stage = &bu_node_stages(node)[node->stages_count++];
	stage->state = node->state;
	stage->took_ms = took_ms;
}

/* A node that restarts while it drains keeps its next state. leads: next's state. */
static void
set_next(struct bu_node *node, const struct bu_body_next *next, enum bu_state to,
	 enum bu_state leads)
{
	struct bu_next *ret;

	if (to == BU_STATE_DRAINING && !next->state && node->state == to)
		return;
	bu_node_drop_next(node);
	if (to != BU_STATE_DRAINING)
		return;
	ret = bu_node_next(node);
	ret->state = leads;
	ret->again = next->again;
	ret->reset = next->reset;
	BU_TEXT_COPY(ret->by, next->by);
	ret->reason = next->reason;
}

static void
forget(struct bu_fleet *fleet, struct bu_node *node, int64_t seq)
{
	bu_binding_forget(fleet, node);
	bu_node_adopted(node)->forgotten_seq = seq;
}

/* Facts of the state before do not count any more. */
static void
begin_anew(struct bu_node *node)
{
	memset(&node->step, 0, sizeof(node->step));
	node->live.effect_running = 0;
	node->live.join_started = 0;
	node->live.retry_ms = 0;
	bu_node_set_step_error(node, "");
	bu_node_drop_wait_reason(node);
	bu_node_drop_refusal(node);
	bu_node_set_cluster_words(node, "");
	node->live.progress_total_bytes = 0;
	node->live.progress_ms = 0;
}

int
bu_moved(BU_REPLAY_ARGS)
{
	const struct bu_body_next *next = &body->state.next;
	enum bu_state to, leads = BU_STATE_ENROLLED;
	enum bu_trigger on = bu_trigger_from_name(body->state.on);
	const struct bu_trigger_info *info = bu_trigger_info(on);

	if (bu_state_from_name(body->state.to, &to, err) != 0 ||
	    (next->state && bu_state_from_name(next->state, &leads, err) != 0))
		return -1;
	/* The order ended (an abort, another plan) while its turn was on its way to the
	 * log: the turn is void. */
	if (!node->order->open && info->fate == BU_FATE_BEGINS)
		return 0;
	if (to == BU_STATE_INSPECTING && node->order->open && node->order->replace) {
		forget(fleet, node, event->seq);
		bu_node_order(node)->replace = 0;
	}
	note_stage(fleet, node, event->time_ms);
	bu_measurements_state(fleet, node, event->time_ms, &body->state.reason, to);
	bu_orders_moved(fleet, node, event, body, on, to);
	node->live.let_go = 0;
	if (!(info->flags & BU_ON_STUCK))
		node->live.late_ms = 0;
	set_next(node, next, to, leads);
	if (info->flags & BU_ON_FORGETS)
		forget(fleet, node, event->seq);
	if (on != BU_TRIGGER_REPEAT)
		node->reset = body->state.reset;
	/* A kexec starts one boot; later ones go through the firmware. */
	if (on != BU_TRIGGER_IMAGED)
		node->kexecs = on == BU_TRIGGER_LOADS;
	node->on = on;
	node->state = to;
	node->state_seq = event->seq;
	node->since_ms = event->time_ms;
	/* Time in which bringupd was away is not the node's fault. */
	bu_life_set_clock(fleet, node);
	if (body->state.reason.code)
		*bu_node_reason(node) = body->state.reason;
	else
		bu_node_drop_reason(node);
	node->power_fails = on == BU_TRIGGER_REPEAT && bu_node_power_failed(node)
				    ? node->power_fails + 1
				    : 0;
	begin_anew(node);
	if (on == BU_TRIGGER_REPEAT)
		node->repeats++;
	if (on == BU_TRIGGER_JOINED && node->adopted->unproven)
		bu_node_adopted(node)->unproven = 0;
	if (on == BU_TRIGGER_OUTDATED)
		node->outdated++;
	if (bu_state_info(to)->settled)
		node->repeats = 0;
	/* By its next power action the machine may run anything. An order that begins
	 * anew comes in the same commit, and has its turn at once. */
	if (bu_state_info(to)->settled && to != BU_STATE_READY &&
	    body->state.reason.code != BU_REASON_ORDERED_ANEW)
		node->booted_by_us = 0;
	return 0;
}
