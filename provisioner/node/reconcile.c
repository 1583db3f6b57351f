/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of the lifecycle.
 *
 * Invariants: a node has at most one batch on its way to the log (`appending`); memory
 * changes only when a batch is in the log; an effect starts only after its intent is in
 * the log, and is never repeated blindly.
 */
#include "provisioner/node/reconcile.h"

#include <string.h>

#include "base/log.h"
#include "provisioner/node/adopt.h"
#include "provisioner/node/fallback.h"
#include "provisioner/node/ram.h"
#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/scale.h"
#include "provisioner/node/starting.h"

static enum bu_action
action_of(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_state_info *state = bu_state_info(node->state);
	const struct bu_order *order = node->order;

	/* A ready node does something only in the turn of its order. */
	if (node->state == BU_STATE_READY)
		return order->open && order->begun
			       ? bu_class_info(order->class)->in_service
			       : BU_ACTION_NONE;
	if (state->first == BU_ACTION_DISKBOOT && bu_ram_is(rec, node))
		return BU_ACTION_NETBOOT;
	/* The second step of a state is done once more after a release. */
	return state->then && state->then == node->step.action ? state->then
							       : state->first;
}

static void
open_step(struct bu_reconcile *rec, struct bu_node *node, enum bu_action action,
	  int attempt)
{
	struct bu_event event;
	/* An install keeps its id over power cycles and retries, so that the mark of an
	 * unfinished one on the disk is known as its own. A ready node may have many
	 * orders. */
	int64_t seq = bu_action_info(action)->again == BU_AGAIN_CONTINUES
			      ? node->order->first_seq
		      : node->state == BU_STATE_READY ? node->order->seq
						      : node->state_seq;
	bu_autofree char *id = bu_xasprintf("%s.%lld.%s", node->name, (long long)seq,
					    bu_action_name(action));

	BU_EVENT_MAKE(&event, BU_EVENT_INTENT, node->name, intent, .step = id,
		      .attempt = attempt, .epoch = rec->fleet->epoch,
		      .action = bu_action_name(action));
	bu_reconcile_append(rec, node, &event, 1);
}

static void
left(struct bu_reconcile *rec, struct bu_node *node)
{
	const struct bu_next *next = node->next;
	int ordered = node->order->open && node->order->begun;
	struct bu_event again;
	struct bu_move move = {.on = bu_lifecycle_way(node->state, next->state),
			       .reset = next->reset};
	struct bu_err err;

	/* A move for an order needs no reason; a move for a new measurement does. */
	if (!ordered || node->on == BU_TRIGGER_OUTDATED) {
		move.reason = &next->reason;
		move.by = next->by;
	}
	if (next->again) {
		BU_EVENT_MAKE(&again, BU_EVENT_AGAIN, node->name, again,
			      .by = next->by);
		move.extra = &again;
		move.count = 1;
	}
	if (bu_reconcile_move(rec, node, &move, &err) != 0)
		bu_warn("node", "%s", err.text);
}

/* A done step is followed by another one, or moves the node where nothing else does. */
static void
step_done(struct bu_reconcile *rec, struct bu_node *node)
{
	const struct bu_state_info *state = bu_state_info(node->state);
	const struct bu_order *order = node->order;
	int writes =
		order->open && order->begun && bu_class_info(order->class)->configures;

	if (writes && state->then && state->then != node->step.action) {
		open_step(rec, node, state->then, 1);
		return;
	}
	switch (state->done) {
	case BU_DONE_WAITS:
		return;
	case BU_DONE_JOINED:
		bu_reconcile_try(rec, node, BU_TRIGGER_JOINED, NULL, NULL, 0);
		return;
	case BU_DONE_LEFT:
		left(rec, node);
	}
}

/* A node that left its cluster for a moment was measured in this very boot, and passes.
 * After a person's release its agent must be heard first: the machine may have
 * restarted. */
static void
pass_proven(struct bu_reconcile *rec, struct bu_node *node)
{
	if (node->state == BU_STATE_VALIDATING &&
	    bu_trigger_info(node->on)->flags & BU_ON_SAME_BOOT &&
	    (node->on != BU_TRIGGER_VALIDATE ||
	     node->live.last_seen_ms > node->since_ms) &&
	    !node->live.appending && !node->hold->owner &&
	    bu_fleet_certified(rec->fleet, node, NULL) == 0)
		bu_reconcile_try(rec, node, BU_TRIGGER_PROVEN, NULL, NULL, 0);
}

/* A node that has left the profile is left alone, unless it is being retired. */
static int
is_let_alone(const struct bu_node *node)
{
	return !node->live.in_profile && (node->state != BU_STATE_DRAINING ||
					  node->next->state != BU_STATE_RETIRED);
}

/* Does the BMC restart, perhaps for another of its machines? Or would this start
 * restart it while another of its machines is switched? */
static int
bmc_is_busy(struct bu_reconcile *rec, const struct bu_node *node)
{
	return bu_effects_restart(rec, node) || bu_sibling_restarts(rec, node) ||
	       (bu_reconcile_resets_bmc(node, bu_fleet_reach(rec->fleet, node)) &&
		bu_sibling_switched(rec, node));
}

/* A slow BMC carries a power command out after the machine is up, under a job by then.
 * A BMC that restarts takes no command. */
static int
awaits_bmc(struct bu_reconcile *rec, struct bu_node *node, enum bu_action action)
{
	int powers = bu_action_info(action)->actor == BU_ACTOR_POWER && !node->kexecs;
	int waits = (action == BU_ACTION_JOIN && bu_effects_switch(rec, node)) ||
		    (powers && bmc_is_busy(rec, node));

	if (powers && bu_reconcile_start_waits(rec, node))
		return 1;
	if (waits == (node->live.wait_reason->code == BU_REASON_BMC_AWAITED))
		return waits;
	if (waits)
		bu_reason_set(bu_node_wait_reason(node), BU_REASON_BMC_AWAITED, NULL);
	else
		bu_node_drop_wait_reason(node);
	bu_fleet_touch(rec->fleet, node);
	return waits;
}

static void
drive(struct bu_reconcile *rec, struct bu_node *node)
{
	enum bu_action action = action_of(rec, node);

	if (rec->stopped || !rec->alive || !rec->fleet->desired || is_let_alone(node) ||
	    node->live.appending || node->hold->owner)
		return;
	if (node->state == BU_STATE_JOINING && !bu_fleet_may_stay(rec->fleet, node)) {
		bu_outdated_leave(rec, node);
		return;
	}
	if (action == BU_ACTION_NONE) {
		pass_proven(rec, node);
		return;
	}
	switch (node->step.status) {
	case BU_STEP_NONE:
		if (awaits_bmc(rec, node, action))
			return;
		open_step(rec, node, action, node->repeats + node->step.attempt + 1);
		return;
	case BU_STEP_OPEN:
		/* Another node's action may have begun while this intent went to the
		 * log. */
		if (node->live.effect_running || awaits_bmc(rec, node, action))
			return;
		if (node->step.intent_seq <= rec->fleet->loaded_seq ||
		    !bu_reconcile_cycles(node) || bu_fallback_tries(rec, node))
			bu_effect_observe(rec, node);
		else
			bu_effect_start(rec, node);
		return;
	case BU_STEP_DONE:
		step_done(rec, node);
		return;
	case BU_STEP_FAILED:
		bu_late_retry(rec, node);
	}
}

/* The new row may have ended the step that a cluster is still asked for. */
static void
drive_changed(struct bu_reconcile *rec, struct bu_node *node)
{
	bu_effects_overtaken(rec, node);
	bu_power_request_go(rec, node);
	drive(rec, node);
}

int
bu_reconcile_begin(struct bu_reconcile *rec, struct bu_node *node, struct bu_err *err)
{
	enum bu_action in_service = bu_class_info(node->order->class)->in_service;

	if (!node->order->open || node->order->begun)
		return bu_err_set(err, BU_ERR_STATE, 0, "node %s has no order to start",
				  node->name);
	if (bu_adopt_is_due(rec->fleet, node))
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is to be adopted as it runs", node->name);
	if (node->state != BU_STATE_READY)
		return bu_reconcile_fire(rec, node, BU_TRIGGER_START, NULL, err);
	if (!in_service)
		return bu_reconcile_fire(rec, node, BU_TRIGGER_REBUILD, NULL, err);
	if (node->live.appending)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is changing right "
				  "now; ask again",
				  node->name);
	open_step(rec, node, in_service, 1);
	return 0;
}

/* A node whose system runs need not be booted: its agent was heard. */
static void
hear(struct bu_reconcile *rec, struct bu_node *node)
{
	if (node->state == BU_STATE_BOOTING && !bu_reconcile_cycles(node) &&
	    node->step.status == BU_STEP_OPEN && node->boot_installed &&
	    node->live.last_seen_ms > node->since_ms && !node->live.appending &&
	    !node->hold->owner)
		bu_reconcile_try(rec, node, BU_TRIGGER_BOOTED, NULL, NULL, 0);
}

static void
on_tick(void *arg)
{
	struct bu_reconcile *rec = arg;

	bu_timer_set(rec->tick, BU_TICK_MS);
	bu_fence_look(rec);
	if (!bu_outage_look(rec))
		return;
	bu_outage_heed_clock(rec);
	bu_outage_mark(rec);
	/* Without a readable profile no node can do anything, so none is late. */
	for (size_t i = 0; i < rec->fleet->count; i++) {
		if (rec->fleet->desired)
			bu_late_note(rec, rec->fleet->nodes[i]);
		else
			rec->fleet->nodes[i]->live.clock_ms =
				bu_loop_now_ms(rec->fleet->loop);
	}
	if (rec->freezer.look)
		rec->freezer.look(rec->freezer.arg);
	bu_starting_tick(rec);
	for (size_t i = 0; rec->fleet->desired && i < rec->fleet->count; i++) {
		hear(rec, rec->fleet->nodes[i]);
		pass_proven(rec, rec->fleet->nodes[i]);
		if (bu_joining_look(rec, rec->fleet->nodes[i]) ||
		    rec->fleet->nodes[i]->live.wait_reason->code ==
			    BU_REASON_BMC_AWAITED)
			drive(rec, rec->fleet->nodes[i]);
		bu_corrected_look(rec, rec->fleet->nodes[i]);
		bu_manual_look(rec, rec->fleet->nodes[i]);
		bu_proof_look(rec, rec->fleet->nodes[i]);
		bu_medium_look(rec, rec->fleet->nodes[i]);
		bu_late_waits(rec, rec->fleet->nodes[i]);
		bu_late_check(rec, rec->fleet->nodes[i]);
	}
	bu_observe_tick(rec);
	bu_repairs_tick(rec);
	bu_scale_tick(rec);
	bu_node_consoles_tick(rec);
	bu_node_reports_tick(rec);
}

struct bu_reconcile *
bu_reconcile_create(const struct bu_reconcile_opts *opts)
{
	struct bu_reconcile *rec = bu_xcalloc(1, sizeof(*rec));

	rec->fleet = opts->fleet;
	rec->drive = drive_changed;
	rec->alive = 1;
	rec->power = opts->power;
	rec->trust = opts->trust;
	rec->console_dir = opts->console_dir;
	rec->media_url = opts->media_url;
	memcpy(rec->limit_s, opts->limit_s, sizeof(rec->limit_s));
	rec->ticked_ms = bu_loop_now_ms(rec->fleet->loop);
	rec->tick = bu_timer_create(rec->fleet->loop, on_tick, rec);
	rec->siblings = bu_siblings_create();
	rec->inventories = bu_meter_create(rec->fleet->loop, BU_LIMIT_INVENTORIES);
	return rec;
}

void
bu_reconcile_set_freezer(struct bu_reconcile *rec, const struct bu_freezer *freezer)
{
	rec->freezer = *freezer;
}

void
bu_reconcile_destroy(struct bu_reconcile *rec)
{
	if (!rec)
		return;
	bu_effects_drop(rec);
	bu_power_requests_drop(rec);
	bu_node_consoles_drop(rec);
	bu_node_reports_drop(rec);
	bu_medium_drop(rec);
	bu_observe_drop(rec);
	bu_timer_destroy(rec->tick);
	bu_siblings_destroy(rec->siblings);
	bu_meter_destroy(rec->inventories);
	json_decref(rec->fence.anchor);
	free(rec);
}

void
bu_reconcile_stop(struct bu_reconcile *rec)
{
	rec->stopped = 1;
	bu_timer_stop(rec->tick);
	bu_effects_drop(rec);
	bu_power_requests_drop(rec);
	bu_medium_drop(rec);
	bu_observe_drop(rec);
}

void
bu_reconcile_start(struct bu_reconcile *rec)
{
	bu_store_on_down(rec->fleet->store, bu_outage_begin, rec);
	bu_timer_set(rec->tick, BU_TICK_MS);
	bu_outage_start(rec);
}
