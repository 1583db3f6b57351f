/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State as a function of the log: one small function per kind of event. The same code
 * runs at start over the whole log and after each commit; nothing else writes the part
 * of a node or of the world that the log owns.
 */
#include "provisioner/node/replay_impl.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/record.h"
#include "base/text.h"
#include "provisioner/node/binding.h"
#include "provisioner/node/life.h"
#include "provisioner/node/moved.h"
#include "provisioner/node/orders.h"
#include "provisioner/node/revisions.h"

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
on_epoch(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	 struct bu_err *err)
{
	return bu_json_get_int(event->body, "epoch", &fleet->epoch, err);
}

static int
on_nothing(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	   struct bu_err *err)
{
	return 0;
}

/* Whoever has left is shown as such, as long as there is something to show. */
static void
note_left(struct bu_fleet *fleet, int64_t time_ms)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];
		struct bu_condition *left =
			&node->conditions[BU_CONDITION_NOT_IN_PROFILE];

		if (!node->live.in_profile && !left->on)
			left->since_ms = time_ms;
		left->on = !node->live.in_profile;
	}
}

static int
on_applied(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	   struct bu_err *err)
{
	const char *revision = bu_json_str(event->body, "revision", "");
	struct bu_desired *desired = bu_revision_load(fleet, revision, err);

	if (!desired)
		return bu_err_wrap(err, "revision %s", revision);
	bu_revisions_apply(fleet, revision, desired);
	/* Without a profile that can be read nothing is late. */
	for (size_t i = 0; fleet->trouble[0] && i < fleet->count; i++)
		bu_life_set_clock(fleet, fleet->nodes[i]);
	fleet->trouble[0] = '\0';
	bu_replay_copy(fleet->commit, sizeof(fleet->commit), event->body, "commit");
	bu_orders_applied(fleet, event);
	for (size_t i = 0; i < fleet->count; i++)
		fleet->nodes[i]->live.in_profile = 0;
	for (size_t i = 0; i < desired->nodes_count; i++) {
		node = add_node(fleet, desired->nodes[i].name, event->time_ms);
		node->live.in_profile = 1;
		snprintf(node->live.pool, sizeof(node->live.pool), "%s",
			 desired->nodes[i].pool->name);
	}
	note_left(fleet, event->time_ms);
	bu_orders_left(fleet, event->time_ms);
	return 0;
}

static int
on_order(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	 struct bu_err *err)
{
	bu_orders_open(fleet, node, event);
	if (bu_state_info(node->state)->settled)
		memset(&node->step, 0, sizeof(node->step));
	node->stages_count = 0;
	node->repeats = 0;
	return 0;
}

static int
on_bound(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	 struct bu_err *err)
{
	bu_autofree char *text = NULL;
	bu_autojson json_t *inventory = NULL;
	const struct bu_desired_node *want;

	bu_binding_set(fleet, node, bu_json_str(event->body, "machine", ""));
	bu_replay_copy(node->inventory, sizeof(node->inventory), event->body,
		       "inventory");
	text = bu_store_get_blob(fleet->store, node->inventory, NULL);
	if (text)
		inventory = bu_json_parse(text, strlen(text), "inventory", NULL);
	bu_binding_inventory(fleet, node, inventory, event->time_ms);
	want = bu_fleet_ordered(fleet, node);
	node->live.disk.wanted[0] = '\0';
	if (inventory && want)
		bu_fleet_disk_in(inventory, want->hardware->disk, &node->live.disk);
	return 0;
}

static int
on_renamed(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	   struct bu_err *err)
{
	return bu_binding_rename(fleet, node, bu_json_str(event->body, "to", ""),
				 event->time_ms, err);
}

static int
on_state(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	 struct bu_err *err)
{
	int rc = bu_moved(fleet, node, event, err);

	/* It stands before what it is evidence of. */
	if (rc == 0 && node->state != BU_STATE_FAILED &&
	    node->state != BU_STATE_QUARANTINED)
		node->evidence_is_now = 0;
	return rc;
}

static int
on_pair(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	struct bu_err *err)
{
	bu_measurements_pair(fleet, event);
	return 0;
}

static int
on_lease(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	 struct bu_err *err)
{
	bu_replay_copy(node->lent_to, sizeof(node->lent_to), event->body, "for");
	node->lent_ms = event->time_ms;
	return 0;
}

static int
on_checks(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	  struct bu_err *err)
{
	bu_measurements_checks(fleet, node, event);
	return 0;
}

static int
on_verdict(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	   struct bu_err *err)
{
	bu_measurements_verdict(fleet, node, event);
	return 0;
}

static int
on_soak(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	struct bu_err *err)
{
	bu_measurements_soak(fleet, node, event);
	return 0;
}

static int
on_incast(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	  struct bu_err *err)
{
	json_decref(node->incast);
	node->incast = json_incref(event->body);
	return 0;
}

static int
on_evidence(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	    struct bu_err *err)
{
	bu_replay_copy(node->evidence, sizeof(node->evidence), event->body, "digest");
	node->evidence_is_now = 1;
	return 0;
}

static int
on_again(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	 struct bu_err *err)
{
	bu_measurements_again(fleet, node);
	bu_life_set_clock(fleet, node);
	return 0;
}

static int
on_certificate(struct bu_fleet *fleet, struct bu_node *node,
	       const struct bu_event *event, struct bu_err *err)
{
	int full = strcmp(bu_json_str(event->body, "kind", ""), "full") == 0;
	json_t **slot = full ? &node->full_cert : &node->boot_cert;

	json_decref(*slot);
	*slot = json_incref(event->body);
	if (!full)
		node->again = 0;
	return 0;
}

/* Of the site where the event names no node. */
static int
on_condition(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	     struct bu_err *err)
{
	enum bu_condition_id id =
		bu_condition_from_name(bu_json_str(event->body, "name", ""));
	struct bu_condition *condition;
	int on = bu_json_bool(event->body, "on", 0);

	/* Of a bringupd that knew more conditions than this one. */
	if (id == BU_CONDITION_COUNT)
		return 0;
	condition = node ? &node->conditions[id] : &fleet->conditions[id];
	if (on && !condition->on)
		condition->since_ms =
			bu_json_int(event->body, "since_ms", event->time_ms);
	condition->on = on;
	bu_replay_copy(condition->detail, sizeof(condition->detail), event->body,
		       on ? "detail" : "");
	return 0;
}

static int
on_power(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	 struct bu_err *err)
{
	struct bu_power_deed *deed = &node->power;

	int result = bu_json_word(event->body, "result", bu_outcome_names,
				  BU_OUTCOME_UNKNOWN);

	if (result == BU_OUTCOME_ASKED) {
		memset(deed, 0, sizeof(*deed));
		deed->seq = event->seq;
		deed->op = (enum bu_deed)bu_json_word(event->body, "op", bu_deed_names,
						      BU_DEED_NONE);
		bu_replay_copy(deed->by, sizeof(deed->by), event->body, "by");
	}
	deed->result = (enum bu_outcome)result;
	bu_replay_copy(deed->power, sizeof(deed->power), event->body, "power");
	bu_replay_copy(deed->detail, sizeof(deed->detail), event->body, "detail");
	deed->at_ms = event->time_ms;
	return 0;
}

static int
on_held(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	struct bu_err *err)
{
	bu_hold_from_body(event->body, &node->hold);
	/* Another machine was there: whatever is there next, that boot is not ours. */
	if (node->hold.reason.code == BU_REASON_FOREIGN_MACHINE)
		node->booted_by_us = 0;
	/* What a person holds is no failure of its order. */
	if (node->hold.owner == BU_OWNER_BRINGUP && node->order.open &&
	    node->order.begun)
		node->order.fault_seq = event->seq;
	return 0;
}

static int
on_released(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	    struct bu_err *err)
{
	bu_measurements_released(fleet, node);
	memset(&node->hold, 0, sizeof(node->hold));
	/* A person has looked at what froze it. */
	node->live.let_go = node->live.late_ms != 0;
	node->live.late_ms = 0;
	if (node->order.open)
		node->order.fault_seq = 0;
	/* A new start: the time that it was held does not count, and what failed is
	 * done once more, as another attempt. */
	bu_life_set_clock(fleet, node);
	node->live.retry_ms = 0;
	if (node->step.status == BU_STEP_FAILED)
		node->step.status = BU_STEP_NONE;
	return 0;
}

static int
on_rollout(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	   struct bu_err *err)
{
	return bu_orders_rollout(fleet, event, err);
}

static int
on_brake(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	 struct bu_err *err)
{
	bu_orders_brake(fleet, event);
	return 0;
}

static int
on_drained(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	   struct bu_err *err)
{
	if (!node->drained)
		node->drained = json_object();
	json_object_set(node->drained, bu_json_str(event->body, "cluster", ""),
			json_object_get(event->body, "reason"));
	return 0;
}

static int
on_waits(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	 struct bu_err *err)
{
	int on = bu_json_bool(event->body, "on", 0);

	if (!on)
		bu_life_set_clock(fleet, node);
	node->live.wait_logged = on;
	return 0;
}

static int
on_started(struct bu_fleet *fleet, struct bu_node *node, const struct bu_event *event,
	   struct bu_err *err)
{
	bu_life_started(fleet, event);
	return 0;
}

/* By kind; what an event of it is about. */
static const struct {
	enum { SITE, NODE, EITHER } about;
	int (*fn)(struct bu_fleet *fleet, struct bu_node *node,
		  const struct bu_event *event, struct bu_err *err);
} handlers[BU_EVENT_COUNT] = {
	[BU_EVENT_EPOCH] = {SITE, on_epoch},
	[BU_EVENT_STARTED] = {SITE, on_started},
	[BU_EVENT_REVISION] = {SITE, on_nothing},
	[BU_EVENT_PLAN] = {SITE, on_nothing},
	[BU_EVENT_APPLIED] = {SITE, on_applied},
	[BU_EVENT_ORDER] = {NODE, on_order},
	[BU_EVENT_ROLLOUT] = {SITE, on_rollout},
	[BU_EVENT_BRAKE] = {SITE, on_brake},
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
	[BU_EVENT_PAIR] = {SITE, on_pair},
	[BU_EVENT_LEASE] = {NODE, on_lease},
	[BU_EVENT_CHECKS] = {NODE, on_checks},
	[BU_EVENT_VERDICT] = {NODE, on_verdict},
	[BU_EVENT_SOAK] = {NODE, on_soak},
	[BU_EVENT_INCAST] = {NODE, on_incast},
	[BU_EVENT_EVIDENCE] = {NODE, on_evidence},
	[BU_EVENT_AGAIN] = {NODE, on_again},
	[BU_EVENT_CERTIFICATE] = {NODE, on_certificate},
	[BU_EVENT_DRAINED] = {NODE, on_drained},
	[BU_EVENT_WAITS] = {NODE, on_waits},
	[BU_EVENT_CONDITION] = {EITHER, on_condition},
	[BU_EVENT_POWER] = {NODE, on_power},
	[BU_EVENT_HELD] = {NODE, on_held},
	[BU_EVENT_RELEASED] = {NODE, on_released},
};

static int
replay(struct bu_fleet *fleet, const struct bu_event *event, struct bu_err *err)
{
	struct bu_node *node = bu_fleet_node(fleet, event->node);
	int needs_node = handlers[event->kind].about == NODE ||
			 (handlers[event->kind].about == EITHER && event->node[0]);

	/* Its profile may be one that could not be read any more. */
	if (!node && fleet->unread && needs_node)
		node = add_node(fleet, event->node, event->time_ms);
	if (needs_node && !node)
		return bu_err_set(err, BU_ERR_INVAL, 0, "event %lld (%s): no node '%s'",
				  (long long)event->seq, bu_event_name(event->kind),
				  event->node);
	if (handlers[event->kind].fn(fleet, node, event, err) != 0)
		return bu_err_wrap(err, "event %lld (%s)", (long long)event->seq,
				   bu_event_name(event->kind));
	return 0;
}

int
bu_fleet_replay(struct bu_fleet *fleet, const struct bu_event *event,
		struct bu_err *err)
{
	struct bu_err bad = {0};

	bu_life_row(fleet, event);
	if (replay(fleet, event, &bad) != 0) {
		if (err)
			*err = bad;
		/* Once it can be read it comes again; what means nothing does not. */
		if (bad.kind == BU_ERR_IO)
			return -1;
	}
	fleet->life.row_seq = event->seq;
	return bad.kind ? -1 : 0;
}

struct loading {
	struct bu_fleet *fleet;
	struct bu_err *err;
	int failed;
};

/* What was applied once is not worth a daemon that does not start. */
static void
note_trouble(struct bu_fleet *fleet, const struct bu_err *err)
{
	bu_error("log", "%s; no node is moved until a corrected profile is applied",
		 err->text);
	snprintf(fleet->trouble, sizeof(fleet->trouble), "%s", err->text);
	fleet->unread = 1;
	if (!fleet->desired)
		return;
	bu_desired_destroy(fleet->last);
	fleet->last = bu_steal(&fleet->desired);
}

static int
on_row(const struct bu_event *event, void *arg)
{
	struct loading *loading = arg;
	struct bu_err err = {0};

	loading->fleet->loaded_seq = event->seq;
	if (bu_fleet_replay(loading->fleet, event, &err) == 0)
		return 0;
	if (event->kind == BU_EVENT_APPLIED) {
		note_trouble(loading->fleet, &err);
		bu_orders_applied(loading->fleet, event);
		return 0;
	}
	if (loading->err)
		*loading->err = err;
	loading->failed = 1;
	return 1;
}

int
bu_fleet_load(struct bu_fleet *fleet, struct bu_err *err)
{
	struct loading loading = {fleet, err, 0};

	fleet->loading = 1;
	if (bu_store_read(fleet->store, 0, 0, on_row, &loading, err) != 0)
		return -1;
	bu_life_settle(fleet);
	fleet->loading = 0;
	return loading.failed ? -1 : 0;
}
