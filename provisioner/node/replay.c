/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State as a function of the log: one small function per kind of event. The same code
 * runs at start over the whole log and after each commit. Invariant: nothing else
 * writes the parts of a node or of the fleet that the log owns.
 */
#include "provisioner/node/replay_impl.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/binding.h"
#include "provisioner/node/found.h"
#include "provisioner/node/life.h"
#include "provisioner/node/moved.h"
#include "provisioner/node/orders.h"
#include "provisioner/node/over.h"
#include "provisioner/node/revisions.h"
#include "provisioner/node/starting.h"

static struct bu_node *
add_node(struct bu_fleet *fleet, const char *name, int64_t time_ms)
{
	struct bu_node *node = bu_fleet_node(fleet, name);
	size_t at = fleet->count;

	if (node)
		return node;
	node = bu_node_create(name);
	node->since_ms = time_ms;
	bu_life_set_clock(fleet, node);
	fleet->nodes =
		bu_xgrow(fleet->nodes, &fleet->cap, fleet->count + 1, sizeof(node));
	while (at > 0 && strcmp(fleet->nodes[at - 1]->name, name) > 0) {
		fleet->nodes[at] = fleet->nodes[at - 1];
		at--;
	}
	fleet->nodes[at] = node;
	fleet->count++;
	return node;
}

static int
on_epoch(BU_REPLAY_ARGS)
{
	fleet->epoch = body->epoch.epoch;
	fleet->epochs = bu_xgrow(fleet->epochs, &fleet->epochs_cap,
				 fleet->epochs_count + 1, sizeof(*fleet->epochs));
	fleet->epochs[fleet->epochs_count++] =
		(struct bu_epoch){fleet->epoch, event->seq, event->time_ms};
	memset(&fleet->consents, 0, sizeof(fleet->consents));
	/* Logs of older versions went on with their orders here. */
	if (body->epoch.ends)
		bu_adopted_epoch(fleet, event);
	return 0;
}

static int
on_consented(BU_REPLAY_ARGS)
{
	struct bu_consents *consents = &fleet->consents;
	struct bu_agreed *agreed = &consents->list[consents->next];

	consents->next = (consents->next + 1) % BU_CONSENTS_KEPT;
	agreed->at_ms = event->time_ms;
	BU_TEXT_COPY(agreed->wipes, body->consented.wipes);
	BU_TEXT_COPY(agreed->by, body->consented.by);
	BU_TEXT_COPY(agreed->maker, bu_body_text(body->consented.maker));
	return 0;
}

static int
on_nothing(BU_REPLAY_ARGS)
{
	return 0;
}

/* A node that left the profile has the condition as long as it is shown. */
static void
note_left(struct bu_fleet *fleet, int64_t time_ms)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		bu_node_set_condition(node, BU_CONDITION_NOT_IN_PROFILE,
				      !node->live.in_profile, time_ms, NULL);
	}
}

static int
on_applied(BU_REPLAY_ARGS)
{
	const char *revision = body->applied.revision;
	struct bu_desired *desired = bu_revision_load(fleet, revision, err);

	memset(&fleet->consents, 0, sizeof(fleet->consents));
	if (!desired)
		return bu_err_wrap(err, "revision %s", revision);
	bu_revisions_apply(fleet, revision, desired);
	/* Without a readable profile no node was late. */
	for (size_t i = 0; fleet->trouble[0] && i < fleet->count; i++)
		bu_life_set_clock(fleet, fleet->nodes[i]);
	fleet->trouble[0] = '\0';
	BU_TEXT_COPY(fleet->commit, body->applied.commit);
	bu_orders_applied(fleet, event, body);
	for (size_t i = 0; i < fleet->count; i++)
		fleet->nodes[i]->live.in_profile = 0;
	for (size_t i = 0; i < desired->nodes_count; i++) {
		node = add_node(fleet, desired->nodes[i].name, event->time_ms);
		node->live.in_profile = 1;
		bu_node_set_pool(node, desired->nodes[i].pool->name);
	}
	note_left(fleet, event->time_ms);
	if (!desired->site.backup)
		fleet->backup.since_ms = 0;
	else if (!fleet->backup.since_ms)
		fleet->backup.since_ms = event->time_ms;
	bu_orders_left(fleet, event->time_ms);
	return 0;
}

static int
on_order(BU_REPLAY_ARGS)
{
	bu_orders_open(fleet, node, event, body);
	if (bu_state_info(node->state)->settled)
		memset(&node->step, 0, sizeof(node->step));
	node->stages_count = 0;
	node->repeats = node->power_fails = 0;
	return 0;
}

static int
on_bound(BU_REPLAY_ARGS)
{
	const struct bu_body_disk *disk = &body->bound.disk;
	struct bu_seen_disk *seen = bu_node_disk(node);
	struct bu_machine machine;

	bu_binding_set(fleet, node, body->bound.machine);
	bu_node_set_inventory(node, body->bound.inventory);
	BU_TEXT_COPY(node->live.firmware, bu_body_text(body->bound.firmware));
	if (body->bound.told) {
		bu_machine_from_json(body->bound.told, &machine);
		bu_binding_told(fleet, node, &machine, event->time_ms);
	}
	*seen = (struct bu_seen_disk){.size_bytes = disk->size_bytes,
				      .written = disk->written};
	BU_TEXT_COPY(seen->wanted, bu_body_text(disk->wanted));
	BU_TEXT_COPY(seen->path, bu_body_text(disk->path));
	BU_TEXT_COPY(seen->serial, bu_body_text(disk->serial));
	BU_TEXT_COPY(seen->wwn, bu_body_text(disk->wwn));
	BU_TEXT_COPY(seen->holds, bu_body_text(disk->holds));
	return 0;
}

static int
on_renamed(BU_REPLAY_ARGS)
{
	return bu_binding_rename(fleet, node, body->renamed.to, event->time_ms, err);
}

static int
on_state(BU_REPLAY_ARGS)
{
	int rc = bu_moved(fleet, node, event, body, err);

	/* Evidence is logged before the failure that it is of. */
	if (rc == 0 && node->state != BU_STATE_FAILED &&
	    node->state != BU_STATE_QUARANTINED)
		node->evidence_is_now = 0;
	return rc;
}

static int
on_lease(BU_REPLAY_ARGS)
{
	bu_node_set_lent_to(node, body->lease.to);
	node->lent_ms = event->time_ms;
	return 0;
}

static int
on_checks(BU_REPLAY_ARGS)
{
	BU_KEEP(&node->checks, event, body->checks);
	return 0;
}

static int
on_incast(BU_REPLAY_ARGS)
{
	BU_KEEP(&node->incast, event, body->incast);
	return 0;
}

static int
on_nvlink(BU_REPLAY_ARGS)
{
	BU_KEEP(&node->nvlink, event, body->nvlink);
	return 0;
}

static int
on_evidence(BU_REPLAY_ARGS)
{
	bu_node_set_evidence(node, body->evidence.digest);
	node->evidence_is_now = 1;
	return 0;
}

static int
on_crash(BU_REPLAY_ARGS)
{
	BU_TEXT_COPY(bu_node_crash(node)->digest, body->crash.digest);
	BU_TEXT_COPY(bu_node_crash(node)->kind, body->crash.kind);
	BU_TEXT_COPY(bu_node_crash(node)->boot_id, body->crash.boot_id);
	bu_node_crash(node)->at_ms = body->crash.at_ms;
	bu_node_crash(node)->seen_ms = event->time_ms;
	return 0;
}

static int
on_again(BU_REPLAY_ARGS)
{
	bu_measurements_again(fleet, node);
	bu_life_set_clock(fleet, node);
	return 0;
}

static int
on_certificate(BU_REPLAY_ARGS)
{
	int full = body->certificate.kind == BU_CERTIFICATE_FULL;

	if (full) {
		bu_node_set_full_cert(node, body->certificate.digest);
		return 0;
	}
	bu_node_set_boot_cert(node, body->certificate.digest);
	node->again = 0;
	return 0;
}

/* The condition of a node, or of the site if the event names none. */
static int
on_condition(BU_REPLAY_ARGS)
{
	enum bu_condition_id id = bu_condition_from_name(body->condition.name);
	int64_t since_ms = body->condition.since_ms;
	json_t *detail;

	/* A condition of a newer bringupd. */
	if (id == BU_CONDITION_COUNT)
		return 0;
	detail = json_incref((json_t *)(uintptr_t)body->condition.detail);
	if (!since_ms)
		since_ms = event->time_ms;
	if (node)
		bu_node_set_condition(node, id, body->condition.on, since_ms, detail);
	else
		bu_condition_set(&fleet->conditions[id], body->condition.on, since_ms,
				 detail);
	if (body->condition.epoch > fleet->epoch_heard)
		fleet->epoch_heard = body->condition.epoch;
	return 0;
}

static int
on_held(BU_REPLAY_ARGS)
{
	/* A hold that is told again lasts since its first row. */
	int64_t since_ms = node->hold->owner ? node->hold->since_ms : event->time_ms;

	bu_hold_read(body, bu_node_hold(node));
	bu_node_hold(node)->since_ms = since_ms;
	/* Another machine was there: the next boot seen there is not bringup's. */
	if (node->hold->reason.code == BU_REASON_FOREIGN_MACHINE)
		node->booted_by_us = 0;
	/* A hold by a person is not a failure of the order. */
	if (node->hold->owner == BU_OWNER_BRINGUP && node->order->open &&
	    node->order->begun)
		bu_node_order(node)->fault_seq = event->seq;
	return 0;
}

static int
on_released(BU_REPLAY_ARGS)
{
	bu_measurements_released(fleet, node);
	bu_node_drop_hold(node);
	/* A person has looked at the cause of the frozen ladder. */
	node->live.let_go = node->live.late_ms != 0;
	node->live.late_ms = 0;
	if (node->order->open)
		bu_node_order(node)->fault_seq = 0;
	/* A new start: the held time does not count, and a failed step is done once
	 * more, as another attempt. */
	node->outdated = 0;
	bu_life_set_clock(fleet, node);
	node->live.retry_ms = 0;
	node->live.checks_errors = 0;
	if (node->step.status == BU_STEP_FAILED)
		node->step.status = BU_STEP_NONE;
	return 0;
}

static int
on_drained(BU_REPLAY_ARGS)
{
	if (!node->drained)
		node->drained = json_object();
	json_object_set_new(node->drained, body->drained.cluster,
			    json_string(body->drained.reason));
	return 0;
}

static int
on_waits(BU_REPLAY_ARGS)
{
	if (!body->waits.on)
		bu_life_set_clock(fleet, node);
	node->live.wait_logged = body->waits.on;
	return 0;
}

static int
on_backup(BU_REPLAY_ARGS)
{
	fleet->backup.at_ms = event->time_ms;
	fleet->backup.bytes = body->backup.bytes;
	BU_TEXT_COPY(fleet->backup.to, body->backup.to);
	return 0;
}

static int
on_started(BU_REPLAY_ARGS)
{
	bu_life_started(fleet, event->seq, body->started.lasted_ms);
	return 0;
}

/* By kind: the subject of its events, and their handler. */
static const struct {
	enum { SITE, NODE, EITHER } about;
	int (*fn)(BU_REPLAY_ARGS);
} handlers[BU_EVENT_COUNT] = {
	[BU_EVENT_EPOCH] = {SITE, on_epoch},
	[BU_EVENT_STARTED] = {SITE, on_started},
	[BU_EVENT_REVISION] = {SITE, on_nothing},
	[BU_EVENT_PLAN] = {SITE, on_nothing},
	[BU_EVENT_APPLIED] = {SITE, on_applied},
	[BU_EVENT_ORDER] = {NODE, on_order},
	[BU_EVENT_ROLLOUT] = {SITE, bu_orders_rollout},
	[BU_EVENT_BRAKE] = {SITE, bu_orders_brake},
	[BU_EVENT_BOUND] = {NODE, on_bound},
	[BU_EVENT_RENAMED] = {NODE, on_renamed},
	[BU_EVENT_STATE] = {NODE, on_state},
	[BU_EVENT_INTENT] = {NODE, bu_replay_intent},
	[BU_EVENT_OUTCOME] = {NODE, bu_replay_outcome},
	[BU_EVENT_ADMITTED] = {NODE, bu_replay_admitted},
	[BU_EVENT_RENEWED] = {NODE, bu_replay_renewed},
	[BU_EVENT_REVOKED] = {NODE, bu_replay_revoked},
	[BU_EVENT_AGENT] = {NODE, bu_replay_agent},
	[BU_EVENT_BOOTED] = {NODE, bu_replay_booted},
	[BU_EVENT_INSTALLED] = {NODE, bu_replay_installed},
	[BU_EVENT_FELLBACK] = {NODE, bu_replay_fellback},
	[BU_EVENT_RUNS] = {NODE, bu_found_replay},
	[BU_EVENT_SEEDED] = {NODE, bu_replay_seeded},
	[BU_EVENT_PAIR] = {SITE, bu_measurements_pair},
	[BU_EVENT_LEASE] = {NODE, on_lease},
	[BU_EVENT_CHECKS] = {NODE, on_checks},
	[BU_EVENT_VERDICT] = {NODE, bu_measurements_verdict},
	[BU_EVENT_SOAK] = {NODE, bu_measurements_soak},
	[BU_EVENT_INCAST] = {NODE, on_incast},
	[BU_EVENT_NVLINK] = {NODE, on_nvlink},
	[BU_EVENT_EVIDENCE] = {NODE, on_evidence},
	[BU_EVENT_CRASH] = {NODE, on_crash},
	[BU_EVENT_AGAIN] = {NODE, on_again},
	[BU_EVENT_CERTIFICATE] = {NODE, on_certificate},
	[BU_EVENT_DRAINED] = {NODE, on_drained},
	[BU_EVENT_WAITS] = {NODE, on_waits},
	[BU_EVENT_CONDITION] = {EITHER, on_condition},
	[BU_EVENT_POWER] = {NODE, bu_replay_power},
	[BU_EVENT_OFF] = {NODE, bu_over_seen},
	[BU_EVENT_START] = {SITE, bu_starting_replay},
	[BU_EVENT_BACKUP] = {SITE, on_backup},
	[BU_EVENT_TOKEN] = {SITE, bu_replay_token},
	[BU_EVENT_TOKEN_REVOKED] = {SITE, bu_replay_token_revoked},
	[BU_EVENT_SCALE] = {SITE, bu_replay_scale},
	[BU_EVENT_CONSENTED] = {SITE, on_consented},
	[BU_EVENT_DELIVERED] = {SITE, bu_replay_delivered},
	[BU_EVENT_ADOPTED] = {NODE, bu_replay_adopted},
	[BU_EVENT_LEARNED] = {SITE, bu_replay_learned},
	[BU_EVENT_ROTATED] = {SITE, on_nothing},
	[BU_EVENT_HELD] = {NODE, on_held},
	[BU_EVENT_RELEASED] = {NODE, on_released},
};

/* Whose view the row has changed. After an apply, a rename or an epoch all nodes are
 * looked at anew. */
static void
note_shown(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	   const union bu_body *body)
{
	if (event->kind == BU_EVENT_APPLIED || event->kind == BU_EVENT_RENAMED ||
	    event->kind == BU_EVENT_EPOCH)
		fleet->renewed = fleet->version + 1;
	else if (node)
		bu_fleet_mark(fleet, node);
	for (size_t i = 0; event->kind == BU_EVENT_ROLLOUT && i < fleet->count; i++)
		if (strcmp(fleet->nodes[i]->order->rollout, body->rollout.rollout) == 0)
			bu_fleet_mark(fleet, fleet->nodes[i]);
}

static int
replay(struct bu_fleet *fleet, const struct bu_event *event, struct bu_err *err)
{
	struct bu_node *node = bu_fleet_node(fleet, event->node);
	int needs_node = handlers[event->kind].about == NODE ||
			 (handlers[event->kind].about == EITHER && event->node[0]);
	union bu_body body;

	/* The node's profile may be one that could not be read. */
	if (!node && fleet->unread && needs_node)
		node = add_node(fleet, event->node, event->time_ms);
	if (needs_node && !node)
		return bu_err_set(err, BU_ERR_INVAL, 0, "event %lld (%s): no node '%s'",
				  (long long)event->seq, bu_event_name(event->kind),
				  event->node);
	if (bu_event_read(event, &body, err) != 0 ||
	    handlers[event->kind].fn(fleet, node, event, &body, err) != 0)
		return bu_err_wrap(err, "event %lld (%s)", (long long)event->seq,
				   bu_event_name(event->kind));
	note_shown(fleet, node, event, &body);
	return 0;
}

int
bu_fleet_replay(struct bu_fleet *fleet, const struct bu_event *event,
		struct bu_err *err)
{
	struct bu_err bad = {0};
	int rc;

	bu_life_row(fleet, event);
	rc = replay(fleet, event, &bad);
	if (rc != 0) {
		if (err)
			*err = bad;
		/* Unread, the row comes again; an invalid one does not. */
		if (bad.kind == BU_ERR_IO)
			return -1;
	}
	fleet->life.row_seq = event->seq;
	return rc;
}
