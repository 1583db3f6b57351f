/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of the lifecycle.
 *
 * Invariants: a node has at most one batch on its way to the log (`appending`); memory
 * changes only when a batch is in the log; an effect starts only after its intent is in
 * the log, and is never repeated blindly.
 */
#include "provisioner/node/reconcile.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "provisioner/node/reconcile_impl.h"

/* Steps by state. A state that is not here is moved by others (gate, people). */
static const struct {
	enum bu_state state;
	enum bu_action action;
} plans[] = {
	{BU_STATE_INSPECTING, BU_ACTION_NETBOOT}, {BU_STATE_IMAGING, BU_ACTION_INSTALL},
	{BU_STATE_BOOTING, BU_ACTION_DISKBOOT},   {BU_STATE_JOINING, BU_ACTION_JOIN},
	{BU_STATE_DRAINING, BU_ACTION_LEAVE},
};

static enum bu_action
action_of(enum bu_state state)
{
	for (size_t i = 0; i < BU_LEN(plans); i++)
		if (plans[i].state == state)
			return plans[i].action;
	return BU_ACTION_NONE;
}

static void
open_step(struct bu_reconcile *rec, struct bu_node *node, enum bu_action action,
	  int attempt)
{
	struct bu_event event;
	/* An install keeps its id over power cycles, so that the mark of the unfinished
	 * one on the disk is known as its own. */
	int64_t seq = action == BU_ACTION_INSTALL ? node->order.seq : node->state_seq;
	bu_autofree char *id = bu_xasprintf("%s.%lld.%s", node->name, (long long)seq,
					    bu_action_name(action));

	bu_event_init(&event, BU_EVENT_INTENT, node->name,
		      json_pack("{s:s,s:i,s:I,s:s}", "step", id, "attempt", attempt,
				"epoch", (json_int_t)rec->world->epoch, "action",
				bu_action_name(action)));
	bu_reconcile_append(rec, node, &event, 1);
}

/* A step that is done moves the node where nobody else does. */
static void
step_done(struct bu_reconcile *rec, struct bu_node *node)
{
	if (node->step.action == BU_ACTION_JOIN)
		bu_reconcile_try(rec, node, BU_TRIGGER_JOINED, NULL, NULL, 0);
	else if (node->step.action == BU_ACTION_LEAVE)
		bu_reconcile_try(rec, node, BU_TRIGGER_LEFT, NULL, NULL, 0);
}

static void
drive(struct bu_reconcile *rec, struct bu_node *node)
{
	enum bu_action action = action_of(node->state);

	if (rec->stopped || !rec->world->desired || node->appending ||
	    node->held_by[0] || action == BU_ACTION_NONE)
		return;
	switch (node->step.status) {
	case BU_STEP_NONE:
		open_step(rec, node, action, node->repeats + node->step.attempt + 1);
		return;
	case BU_STEP_OPEN:
		if (node->effect_running)
			return;
		if (node->step.intent_seq <= rec->world->loaded_seq)
			bu_effect_observe(rec, node);
		else
			bu_effect_start(rec, node);
		return;
	case BU_STEP_DONE:
		step_done(rec, node);
		return;
	case BU_STEP_FAILED:
		if (!node->retry_ms)
			node->retry_ms = bu_loop_now_ms(rec->world->loop) + BU_RETRY_MS;
	}
}

int64_t
bu_reconcile_deadline(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int limit_s = bu_reconcile_limit_s(rec, node->state);

	if (!limit_s || node->held_by[0] || node->waiting[0])
		return 0;
	return node->clock_ms + (int64_t)limit_s * 1000;
}

static const char *
missing_word(const struct bu_node *node)
{
	switch (node->state) {
	case BU_STATE_INSPECTING:
		return "the agent did not report from the boot ramdisk";
	case BU_STATE_IMAGING:
		return "the image was not written";
	case BU_STATE_BOOTING:
		return "the installed system did not report";
	case BU_STATE_VALIDATING:
		return "the fabric was not measured";
	case BU_STATE_JOINING:
		return "the cluster did not take the node";
	case BU_STATE_DRAINING:
		return "the node's jobs did not end";
	default:
		return "it did not go on";
	}
}

static void
check_node(struct bu_reconcile *rec, struct bu_node *node)
{
	int64_t now_ms = bu_loop_now_ms(rec->world->loop);
	int64_t deadline_ms = bu_reconcile_deadline(rec, node);
	const char *seen = node->trouble[0] ? node->trouble : node->step_error;
	bu_autofree char *reason = NULL;

	if (node->appending)
		return;
	if (deadline_ms && now_ms > deadline_ms) {
		reason = bu_xasprintf("%s within %d s%s%s", missing_word(node),
				      bu_reconcile_limit_s(rec, node->state),
				      seen[0] ? ": " : "", seen);
		bu_reconcile_climb(rec, node, BU_TRIGGER_LATE, reason);
		return;
	}
	if (node->retry_ms && now_ms >= node->retry_ms && !node->held_by[0]) {
		node->retry_ms = 0;
		if (node->step.status == BU_STEP_FAILED)
			bu_reconcile_climb(rec, node, BU_TRIGGER_FAULT,
					   node->step_error[0] ? node->step_error
							       : "a step failed");
		else if (node->step.status == BU_STEP_OPEN)
			bu_effect_observe(rec, node);
	}
}

static void
on_tick(void *arg)
{
	struct bu_reconcile *rec = arg;

	/* Without a profile that can be read nothing is late: nobody can do anything.
	 */
	for (size_t i = 0; i < rec->world->count; i++) {
		if (rec->world->desired)
			check_node(rec, rec->world->nodes[i]);
		else
			rec->world->nodes[i]->clock_ms =
				bu_loop_now_ms(rec->world->loop);
	}
	bu_timer_set(rec->tick, BU_TICK_MS);
}

struct bu_reconcile *
bu_reconcile_create(const struct bu_reconcile_opts *opts)
{
	struct bu_reconcile *rec = bu_xcalloc(1, sizeof(*rec));

	rec->world = opts->world;
	rec->drive = drive;
	rec->power = opts->power;
	rec->trust = opts->trust;
	memcpy(rec->limit_s, opts->limit_s, sizeof(rec->limit_s));
	rec->tick = bu_timer_create(rec->world->loop, on_tick, rec);
	return rec;
}

void
bu_reconcile_destroy(struct bu_reconcile *rec)
{
	if (!rec)
		return;
	bu_effects_drop(rec);
	bu_timer_destroy(rec->tick);
	free(rec);
}

void
bu_reconcile_stop(struct bu_reconcile *rec)
{
	rec->stopped = 1;
	bu_timer_stop(rec->tick);
	bu_effects_drop(rec);
}

void
bu_reconcile_start(struct bu_reconcile *rec)
{
	for (size_t i = 0; i < rec->world->count; i++)
		drive(rec, rec->world->nodes[i]);
	bu_timer_set(rec->tick, BU_TICK_MS);
}
