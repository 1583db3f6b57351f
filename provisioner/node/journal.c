/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way into the log: every change of a node passes here. Memory changes only as the
 * fleet follows the log (replay.c); then the node is driven on. Invariant: a batch that
 * could not be written changes nothing.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "provisioner/node/orders.h"
#include "provisioner/node/reconcile_impl.h"

struct appending {
	struct bu_reconcile *rec;
	struct bu_node *node;  /* NULL: about the site */
	struct bu_node **also; /* other nodes of the batch */
	size_t also_count;
	int applies; /* a revision: about all nodes */
};

/* Until the batch is in the log, nothing may act on its other nodes: an order could
 * come between a decision and its event. */
static void
mark_others(struct appending *appending, const struct bu_event *events, size_t count)
{
	appending->also = bu_xcalloc(count + 1, sizeof(*appending->also));
	for (size_t i = 0; i < count; i++) {
		struct bu_node *node =
			bu_fleet_node(appending->rec->fleet, events[i].node);

		appending->applies |= events[i].kind == BU_EVENT_APPLIED;
		if (!node || node == appending->node)
			continue;
		node->live.appending++;
		appending->also[appending->also_count++] = node;
	}
}

static void
go_on(struct appending *appending)
{
	struct bu_reconcile *rec = appending->rec;
	struct bu_node *node = appending->node;

	for (size_t i = 0; i < appending->also_count; i++)
		appending->also[i]->live.appending--;
	if (node)
		node->live.appending--;
	if (rec->stopped)
		return;
	bu_fleet_touch(rec->fleet, node);
	if (node)
		rec->drive(rec, node);
	for (size_t i = 0; i < appending->also_count; i++)
		rec->drive(rec, appending->also[i]);
	/* A node that is in the profile again goes on from where it was. */
	for (size_t i = 0; appending->applies && i < rec->fleet->count; i++)
		rec->drive(rec, rec->fleet->nodes[i]);
}

static void
on_appended(const struct bu_decided *decided, void *arg)
{
	struct appending *appending = arg;
	struct bu_reconcile *rec = appending->rec;

	if (decided->err && decided->err->kind == BU_ERR_DENIED) {
		bu_error("log", "%s; stopping", decided->err->text);
		exit(1);
	}
	/* The list of another log may have been in it: the next agent tells it again.
	 */
	if (decided->err)
		rec->fence.learning_epoch = rec->fence.learning_seq = 0;
	if (!decided->err && !rec->life_seq)
		bu_outage_mark(rec); /* the first row of the log */
	go_on(appending);
	free(appending->also);
	free(appending);
}

void
bu_reconcile_append(struct bu_reconcile *rec, struct bu_node *node,
		    struct bu_event *events, size_t count)
{
	struct appending *appending = bu_xcalloc(1, sizeof(*appending));

	bu_outage_heed_clock(rec);
	appending->rec = rec;
	appending->node = node;
	if (node)
		node->live.appending++;
	mark_others(appending, events, count);
	bu_store_append(rec->fleet->store, events, count, rec->fleet->epoch,
			on_appended, appending);
}

void
bu_reconcile_note(struct bu_reconcile *rec, struct bu_event *events, size_t count)
{
	/* Facts about one node drive it once they are in the log. */
	bu_reconcile_append(rec,
			    count ? bu_fleet_node(rec->fleet, events[0].node) : NULL,
			    events, count);
}

/* 0 = the log takes rows now; else err says why not. */
static int
refused(const struct bu_reconcile *rec, struct bu_err *err)
{
	const struct bu_err *down = bu_store_down(rec->fleet->store);

	if (down && err)
		*err = *down;
	return down ? -1 : 0;
}

static void
drop(struct bu_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bu_event_fini(&events[i]);
}

int
bu_reconcile_can(struct bu_reconcile *rec, struct bu_node *node,
		 const struct bu_move *move, enum bu_state *ret_to, struct bu_err *err)
{
	const struct bu_order *order = node->order;
	struct bu_guard_facts facts = {
		.ordered = order->open,
		.begun = order->open && order->begun,
		.installs = order->open && bu_class_installs(order->class),
		.installed = node->installed_digest[0] && !node->writing,
	};

	if (refused(rec, err) != 0)
		return -1;
	if (node->live.appending)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is changing right now; ask again",
				  node->name);
	/* Two signatures are verified, so only where the edge asks for them. */
	if (bu_lifecycle_guard(node->state, move->on) == BU_GUARD_CERTIFIED)
		facts.certified = bu_fleet_certified(rec->fleet, node, NULL) == 0 ||
				  (node->state != BU_STATE_VALIDATING &&
				   bu_fleet_may_stay(rec->fleet, node));
	if (bu_lifecycle_next(node->state, move->on, &facts, ret_to, err) != 0)
		return bu_err_wrap(err, "node %s", node->name);
	return 0;
}

/* The state after the drain: as it was asked for, else by the class of the order. */
static void
say_next(const struct bu_next *next, const struct bu_order *order, const char *by,
	 struct bu_body_next *ret)
{
	if (next) {
		*ret = (struct bu_body_next){.state = bu_state_name(next->state),
					     .by = next->by,
					     .again = next->again,
					     .reset = next->reset,
					     .reason = next->reason};
		return;
	}
	ret->state = bu_state_name(bu_class_info(order->class)->next);
	ret->by = by;
	BU_REASON_SET(&ret->reason, ORDERED,
		      .text = {bu_class_name(order->class), order->rollout});
}

int
bu_reconcile_moved(struct bu_reconcile *rec, struct bu_node *node,
		   const struct bu_move *move, struct bu_event *ret, struct bu_err *err)
{
	bu_autofree char *by = bu_xasprintf("rollout %s", node->order->rollout);
	union bu_body body = {.state = {.from = bu_state_name(node->state),
					.on = bu_trigger_name(move->on),
					.by = move->by,
					.reset = move->reset}};
	enum bu_state to;

	if (bu_reconcile_can(rec, node, move, &to, err) != 0)
		return -1;
	body.state.to = bu_state_name(to);
	if (move->reason)
		body.state.reason = *move->reason;
	/* A node that restarts while it drains keeps its next state. */
	if (to == BU_STATE_DRAINING && move->on != BU_TRIGGER_BOOTED)
		say_next(move->next, node->order, by, &body.state.next);
	bu_event_make(ret, BU_EVENT_STATE, node->name, &body);
	return 0;
}

int
bu_reconcile_move(struct bu_reconcile *rec, struct bu_node *node,
		  const struct bu_move *move, struct bu_err *err)
{
	struct bu_event events[8];

	bu_assert(move->count < BU_LEN(events));
	if (bu_reconcile_moved(rec, node, move, &events[move->count], err) != 0) {
		drop(move->extra, move->count);
		return -1;
	}
	if (move->count)
		memcpy(events, move->extra, move->count * sizeof(*events));
	bu_reconcile_append(rec, node, events, move->count + 1);
	return 0;
}

int
bu_reconcile_fire(struct bu_reconcile *rec, struct bu_node *node,
		  enum bu_trigger trigger, const struct bu_reason *reason,
		  struct bu_err *err)
{
	return bu_reconcile_move(
		rec, node, &(struct bu_move){.on = trigger, .reason = reason}, err);
}

void
bu_reconcile_try(struct bu_reconcile *rec, struct bu_node *node,
		 enum bu_trigger trigger, const struct bu_reason *reason,
		 struct bu_event *extra, size_t count)
{
	struct bu_err err;

	if (bu_reconcile_move(rec, node,
			      &(struct bu_move){.on = trigger,
						.reason = reason,
						.extra = extra,
						.count = count},
			      &err) != 0)
		bu_warn("node", "%s", err.text);
}

int
bu_reconcile_release(struct bu_reconcile *rec, struct bu_node *node, const char *by,
		     struct bu_err *err)
{
	struct bu_event event;

	/* A node whose ladder is frozen gets its time anew. */
	if (!node->hold->owner && !node->live.late_ms)
		return bu_err_set(err, BU_ERR_STATE, 0, "node %s is not held",
				  node->name);
	if (refused(rec, err) != 0)
		return -1;
	if (node->live.appending)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is changing right "
				  "now; ask again",
				  node->name);
	BU_EVENT_MAKE(&event, BU_EVENT_RELEASED, node->name, released, .by = by);
	bu_reconcile_append(rec, node, &event, 1);
	return 0;
}

void
bu_outcome_event(struct bu_event *event, const struct bu_node *node,
		 const struct bu_err *failure, const char *detail)
{
	BU_EVENT_MAKE(event, BU_EVENT_OUTCOME, node->name, outcome,
		      .step = node->step.id, .attempt = node->step.attempt,
		      .action = bu_action_name(node->step.action),
		      .result = failure ? BU_OUTCOME_FAILED : BU_OUTCOME_DONE,
		      .kind = bu_err_name(failure ? failure->kind : BU_ERR_NONE),
		      .detail = failure ? failure->text : detail);
}

int
bu_failure_is_final(const struct bu_err *failure)
{
	return failure->kind == BU_ERR_VERIFY || failure->kind == BU_ERR_STATE ||
	       failure->kind == BU_ERR_INVAL || failure->kind == BU_ERR_DENIED;
}

void
bu_journal_outcome(struct bu_reconcile *rec, struct bu_node *node,
		   const struct bu_err *failure, const char *detail)
{
	struct bu_event event;

	bu_outcome_event(&event, node, failure, detail);
	bu_reconcile_append(rec, node, &event, 1);
}
