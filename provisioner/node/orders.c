/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders from their beginning to their end, and their rollouts, as a function of the
 * log. Called by replay.c. Invariants: each order of a rollout is open or counted once,
 * as done, failed or withdrawn; an order holds its revision from its turn to its end.
 */
#include "provisioner/node/orders.h"

#include <string.h>

#include "base/json.h"
#include "base/record.h"
#include "base/text.h"
#include "provisioner/node/revisions.h"

static const char *const state_names[] = {
#define X(id, name) name,
	BU_ROLLOUT_STATES(X)
#undef X
		NULL,
};

const char *
bu_rollout_state_name(enum bu_rollout_state state)
{
	return state_names[state];
}

struct bu_rollout *
bu_fleet_rollout(struct bu_fleet *fleet, const char *id)
{
	for (size_t i = fleet->rollouts_count; i-- > 0;)
		if (strcmp(fleet->rollouts[i].id, id) == 0)
			return &fleet->rollouts[i];
	return NULL;
}

static void
count_end(struct bu_fleet *fleet, const struct bu_node *node, int64_t time_ms)
{
	const struct bu_order *order = node->order;
	struct bu_rollout *rollout = bu_fleet_rollout(fleet, order->rollout);

	if (!rollout)
		return;
	*(order->withdrawn ? &rollout->withdrawn
	  : order->failed  ? &rollout->failed
			   : &rollout->done) += 1;
	if (rollout->done + rollout->failed + rollout->withdrawn < rollout->total)
		return;
	rollout->ended_ms = time_ms;
	if (rollout->state == BU_ROLLOUT_RUNNING || rollout->state == BU_ROLLOUT_PAUSED)
		rollout->state = BU_ROLLOUT_DONE;
}

/* Ends an order, also one with nothing to do. */
static void
close_order(struct bu_fleet *fleet, struct bu_node *node, int64_t time_ms)
{
	struct bu_order *order = bu_node_order(node);

	if (order->begun)
		bu_revisions_drop(fleet, order->revision);
	order->open = 0;
	count_end(fleet, node, time_ms);
}

static void
fail(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
     const struct bu_reason *reason)
{
	struct bu_order *order = bu_node_order(node);

	order->failed = 1;
	order->fault_seq = event->seq;
	order->reason = *reason;
	close_order(fleet, node, event->time_ms);
}

static void
withdraw(struct bu_fleet *fleet, struct bu_node *node, int64_t time_ms,
	 const struct bu_reason *reason)
{
	struct bu_order *order = bu_node_order(node);

	order->withdrawn = 1;
	order->midway = order->begun && node->state != BU_STATE_DRAINING &&
			!bu_state_info(node->state)->settled;
	order->reason = *reason;
	close_order(fleet, node, time_ms);
}

static void
carried_out(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event)
{
	struct bu_order *order = bu_node_order(node);
	struct bu_run *run = &fleet->runs[fleet->runs_count++ % BU_PAST_MAX];

	BU_TEXT_COPY(run->pool, node->live.pool);
	run->class = order->class;
	/* The wall clock may have been set back. */
	run->took_ms =
		event->time_ms > order->begun_ms ? event->time_ms - order->begun_ms : 0;
	bu_node_set_facets(node, order->facets);
	bu_node_set_commit(node, order->commit);
	close_order(fleet, node, event->time_ms);
}

static void
begin(struct bu_fleet *fleet, struct bu_order *order, const struct bu_event *event,
      int served)
{
	if (!order->begun)
		bu_revisions_hold(fleet, order->revision);
	order->begun = 1;
	order->served = served;
	order->begun_ms = event->time_ms;
}

/* Makes room for one more: drops the oldest rollout that has ended, else the oldest. */
static void
make_room(struct bu_fleet *fleet, int64_t time_ms)
{
	size_t oldest = 0;
	struct bu_reason why;

	bu_reason_set(&why, BU_REASON_TOO_MANY_ROLLOUTS, NULL);
	if (fleet->rollouts_count < BU_ROLLOUTS_MAX)
		return;
	while (oldest < BU_ROLLOUTS_MAX && !fleet->rollouts[oldest].ended_ms)
		oldest++;
	oldest %= BU_ROLLOUTS_MAX;
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		if (node->order->open && !node->order->begun &&
		    strcmp(node->order->rollout, fleet->rollouts[oldest].id) == 0)
			withdraw(fleet, node, time_ms, &why);
	}
	json_decref(fleet->rollouts[oldest].body);
	fleet->rollouts_count--;
	memmove(&fleet->rollouts[oldest], &fleet->rollouts[oldest + 1],
		(fleet->rollouts_count - oldest) * sizeof(fleet->rollouts[0]));
}

/* An order that has not begun leads to the same in the new revision. Otherwise the same
 * commit has another order of its node, which replaces this one. */
static void
carry_over(struct bu_fleet *fleet, const union bu_body *body)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_order *order;

		if (!fleet->nodes[i]->order->open || fleet->nodes[i]->order->begun)
			continue;
		order = bu_node_order(fleet->nodes[i]);
		BU_TEXT_COPY(order->revision, body->applied.revision);
		BU_TEXT_COPY(order->commit, body->applied.commit);
	}
}

void
bu_orders_applied(struct bu_fleet *fleet, const struct bu_event *event,
		  const union bu_body *body)
{
	const char *id = body->applied.rollout;
	struct bu_rollout *rollout = bu_fleet_rollout(fleet, id);

	carry_over(fleet, body);
	/* Without orders, a revision becomes the applied one and no more. */
	if (body->applied.nodes == 0)
		return;
	if (!rollout) {
		make_room(fleet, event->time_ms);
		rollout = &fleet->rollouts[fleet->rollouts_count++];
		rollout->body = NULL;
	}
	json_decref(rollout->body);
	memset(rollout, 0, sizeof(*rollout));
	BU_TEXT_COPY(rollout->id, id);
	rollout->body = json_incref(event->body);
	rollout->applied = body->applied;
	/* Until its first order opens. */
	rollout->state = BU_ROLLOUT_DONE;
	rollout->started_ms = rollout->ended_ms = event->time_ms;
}

void
bu_orders_adopted(struct bu_fleet *fleet, struct bu_node *node, int64_t time_ms)
{
	struct bu_reason why;

	bu_reason_set(&why, BU_REASON_ADOPTED, NULL);
	if (node->order->open)
		withdraw(fleet, node, time_ms, &why);
}

void
bu_orders_epoch(struct bu_fleet *fleet, int64_t time_ms, const struct bu_reason *why)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		if (!node->order->open)
			continue;
		bu_node_order(node)->reset = 0;
		if (!node->order->begun)
			withdraw(fleet, node, time_ms, why);
	}
}

/* Withdraws orders that no node could begin any more. */
void
bu_orders_left(struct bu_fleet *fleet, int64_t time_ms)
{
	struct bu_reason why;

	bu_reason_set(&why, BU_REASON_LEFT_PROFILE, NULL);
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		if (!node->live.in_profile && node->order->open && !node->order->begun)
			withdraw(fleet, node, time_ms, &why);
	}
}

/* An order that names no revision has that of its rollout. */
static const char *
revision_of(const struct bu_fleet *fleet, const struct bu_rollout *rollout,
	    const union bu_body *body)
{
	const char *applied = rollout ? rollout->applied.revision : "";

	return body->order.revision ? body->order.revision
	       : *applied           ? applied
				    : fleet->revision;
}

static void
read_order(struct bu_order *order, const union bu_body *body)
{
	const struct bu_body_disk *disk = &body->order.disk;

	order->scratch = json_deep_copy(body->order.scratch);
	order->class = bu_class_from_name(body->order.class);
	order->batch = body->order.batch == BU_UNSAID_INT ? 0 : (int)body->order.batch;
	order->reset = bu_class_needs_grant(order->class) || body->order.reset == 1;
	order->replace = body->order.replace == 1;
	order->disk_size_bytes = disk->size_bytes;
#define COPY(field, text) BU_TEXT_COPY(order->field, bu_body_text(text))
	COPY(rollout, body->order.rollout);
	COPY(image, body->order.image);
	COPY(image_digest, body->order.digest);
	COPY(facets, body->order.facets);
	COPY(commit, body->order.commit);
	COPY(disk, disk->path);
	COPY(disk_serial, disk->serial);
	COPY(disk_wwn, disk->wwn);
	COPY(mirror_serial, body->order.mirror.serial);
	COPY(mirror_wwn, body->order.mirror.wwn);
#undef COPY
}

/* One more order of the rollout is open. */
static void
count_open(struct bu_rollout *rollout)
{
	rollout->ended_ms = 0;
	if (rollout->state == BU_ROLLOUT_DONE)
		rollout->state = BU_ROLLOUT_RUNNING;
}

/* Opens a failed order again with all its grants: from its turn, or (begun) from what
 * it has done. */
static void
reopen(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
       int begun)
{
	struct bu_order *order = bu_node_order(node);
	struct bu_rollout *rollout = bu_fleet_rollout(fleet, order->rollout);

	if (order->open || !order->failed)
		return;
	if (rollout) {
		rollout->failed--;
		count_open(rollout);
	}
	order->seq = event->seq;
	order->open = 1;
	order->begun = order->failed = 0;
	order->fault_seq = 0;
	memset(&order->reason, 0, sizeof(order->reason));
	if (begun)
		begin(fleet, order, event, order->served);
}

void
bu_orders_open(struct bu_fleet *fleet, struct bu_node *node,
	       const struct bu_event *event, const union bu_body *body)
{
	struct bu_order *order = bu_node_order(node);
	struct bu_rollout *rollout;
	struct bu_reason why;

	bu_reason_set(&why, BU_REASON_PLAN_REPLACED, NULL);
	if (body->order.retry) {
		reopen(fleet, node, event, body->order.begun == 1);
		return;
	}
	if (order->open)
		withdraw(fleet, node, event->time_ms, &why);
	json_decref(order->scratch);
	memset(order, 0, sizeof(*order));
	order->seq = order->first_seq = event->seq;
	order->open = 1;
	read_order(order, body);
	rollout = bu_fleet_rollout(fleet, order->rollout);
	BU_TEXT_COPY(order->revision, revision_of(fleet, rollout, body));
	if (rollout) {
		rollout->total++;
		count_open(rollout);
	}
	/* Class none only withdraws the order before: the node is as it should be. */
	if (order->class == BU_CLASS_NONE)
		close_order(fleet, node, event->time_ms);
}

void
bu_orders_moved(struct bu_fleet *fleet, struct bu_node *node,
		const struct bu_event *event, const union bu_body *body,
		enum bu_trigger on, enum bu_state to)
{
	const struct bu_order *order = node->order;
	enum bu_fate fate = bu_trigger_info(on)->fate;
	struct bu_reason reason = body->state.reason;

	if (!order->open)
		return;
	if (fate == BU_FATE_BEGINS) {
		begin(fleet, bu_node_order(node), event, node->state == BU_STATE_READY);
	} else if (fate == BU_FATE_WITHDRAWN ||
		   (fate == BU_FATE_IN_SERVICE && order->begun &&
		    node->state == BU_STATE_READY)) {
		withdraw(fleet, node, event->time_ms, &reason);
	} else if (node->state == BU_STATE_READY && order->begun &&
		   order->class == BU_CLASS_RECONFIGURE) {
		bu_reason_set(&reason, BU_REASON_RESTARTED, NULL);
		fail(fleet, node, event, &reason);
	} else if (to == BU_STATE_READY) {
		/* A node that came back from a reboot of its own before its turn has
		 * not become what was ordered. */
		if (order->begun)
			carried_out(fleet, node, event);
	} else if (bu_state_info(to)->settled) {
		if (!reason.code)
			BU_REASON_SET(&reason, ENDED_IN, .text = {bu_state_name(to)});
		fail(fleet, node, event, &reason);
	}
}

void
bu_orders_step(struct bu_fleet *fleet, struct bu_node *node,
	       const struct bu_event *event)
{
	const struct bu_order *order = node->order;
	struct bu_reason failure;

	bu_step_failure(node, &failure);
	/* In all other states the next state tells how the step ended. */
	if (!order->open || node->state != BU_STATE_READY)
		return;
	if (!order->begun)
		begin(fleet, bu_node_order(node), event, 1);
	if (node->step.status == BU_STEP_FAILED)
		fail(fleet, node, event, &failure);
	else if (node->step.status == BU_STEP_DONE &&
		 node->step.action == BU_ACTION_RELABEL)
		carried_out(fleet, node, event);
}

int
bu_orders_rollout(BU_REPLAY_ARGS)
{
	const char *id = body->rollout.rollout;
	const char *to = body->rollout.to;
	struct bu_rollout *rollout = bu_fleet_rollout(fleet, id);
	int state = bu_word_find(state_names, to);

	/* Dropped for younger rollouts while this event was on its way to the log. */
	if (!rollout)
		return 0;
	if (state < 0 || state > BU_ROLLOUT_ABORTED)
		return bu_err_set(err, BU_ERR_INVAL, 0, "a rollout cannot become '%s'",
				  to);
	/* A change that was on its way during an abort comes too late. */
	if (rollout->state == BU_ROLLOUT_ABORTED)
		return 0;
	/* A resume forgives the failures of a rollout that stopped itself, not of a
	 * paused one. */
	if (state == BU_ROLLOUT_RUNNING && rollout->state == BU_ROLLOUT_STOPPED)
		rollout->resumed_seq = event->seq;
	rollout->state = (enum bu_rollout_state)state;
	rollout->reason = body->rollout.reason;
	for (size_t i = 0; state == BU_ROLLOUT_ABORTED && i < fleet->count; i++) {
		struct bu_reason reason;

		node = fleet->nodes[i];
		BU_REASON_SET(&reason, ABORTED, .text = {body->rollout.by});

		if (node->order->open && !node->order->begun &&
		    strcmp(node->order->rollout, id) == 0)
			withdraw(fleet, node, event->time_ms, &reason);
	}
	return 0;
}

int
bu_orders_brake(BU_REPLAY_ARGS)
{
	json_t *row;

	if (!body->brake.on) {
		json_object_del(fleet->brakes, body->brake.scope);
		return 0;
	}
	row = json_copy(event->body);
	json_object_set_new(row, "since_ms", json_integer(event->time_ms));
	json_object_set_new(fleet->brakes, body->brake.scope, row);
	return 0;
}

/* --- durations of past orders --- */

static int
by_time(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

double
bu_fleet_minutes(const struct bu_fleet *fleet, const char *pool, enum bu_class class)
{
	int64_t took_ms[BU_PAST_MAX];
	size_t kept = fleet->runs_count < BU_PAST_MAX ? fleet->runs_count : BU_PAST_MAX;
	size_t count = 0;

	for (size_t i = 0; i < kept; i++) {
		const struct bu_run *run = &fleet->runs[i];

		if ((run->class == class ||
		     (bu_class_installs(run->class) && bu_class_installs(class))) &&
		    strcmp(run->pool, pool) == 0)
			took_ms[count++] = run->took_ms;
	}
	if (!count)
		return -1;
	qsort(took_ms, count, sizeof(took_ms[0]), by_time);
	return (double)took_ms[count / 2] / 60000;
}
