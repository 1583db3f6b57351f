/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes orders from a plan, in one batch of the log. Called by the API. Invariant: a
 * step that destroys data is ordered only for nodes that a grant names.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/rollout/rollout_impl.h"

static const struct bu_node *
changing_of(const struct bu_rollouts *rollouts, const char *name)
{
	const struct bu_node *node = bu_fleet_node(rollouts->fleet, name);

	return node && node->live.appending ? node : NULL;
}

const struct bu_node *
bu_rollouts_changing(const struct bu_rollouts *rollouts, const struct bu_plan *plan)
{
	const struct bu_node *node;
	const char *from;
	json_t *to;

	json_object_foreach ((json_t *)plan->renames, from, to) {
		node = changing_of(rollouts, from);
		if (node)
			return node;
	}
	for (size_t i = 0; i < plan->steps_count; i++) {
		node = changing_of(rollouts, plan->steps[i].node);
		if (node)
			return node;
	}
	return NULL;
}

/* The disks of the step's array; NULL = none. New reference. */
static json_t *
disks_of(const struct bu_plan_step *step)
{
	json_t *list = step->scratch_count ? json_array() : NULL;

	for (size_t i = 0; i < step->scratch_count; i++) {
		const struct bu_plan_lost *disk = &step->scratch[i];

		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:s,s:I,s:s}", "path", disk->path, "serial",
				  disk->serial, "wwn", disk->wwn, "size_bytes",
				  (json_int_t)disk->size_bytes, "holds", disk->holds));
	}
	return list;
}

static struct bu_body_disk
lost_of(const struct bu_plan_lost *disk)
{
	if (!*disk->path && !*disk->wanted)
		return (struct bu_body_disk){0};
	return (struct bu_body_disk){.path = disk->path,
				     .serial = disk->serial,
				     .wwn = disk->wwn,
				     .size_bytes = disk->size_bytes,
				     .holds = disk->holds,
				     .wanted = disk->wanted};
}

static void
order_event(const struct bu_plan_step *step, const struct bu_plan *plan, const char *id,
	    int reset, struct bu_event *ret)
{
	struct bu_body_disk lost = lost_of(&step->disk);
	struct bu_body_disk mirror = lost_of(&step->mirror);
	bu_autojson json_t *scratch = disks_of(step);

	BU_EVENT_MAKE(ret, BU_EVENT_ORDER, step->node, order, .rollout = id,
		      .class = step->class, .image = step->image,
		      .digest = step->digest, .facets = step->facets,
		      .revision = plan->revision, .commit = plan->commit,
		      .batch = step->batch, .reset = reset, .replace = step->replace,
		      .begun = BU_UNSAID, .disk = lost, .mirror = mirror,
		      .scratch = scratch);
}

enum { EVENTS_OF_ORDER = 3 };

/* Releases a node that is held because its machine is on: its new order comes with this
 * plan's grants. Returns the number of events. */
static size_t
let_go(const struct bu_node *node, const char *name, const char *by,
       struct bu_event *ret)
{
	static const struct bu_guard_facts none;
	struct bu_reason anew;
	enum bu_state to;

	if (!node || node->hold->reason.code != BU_REASON_IS_ON ||
	    bu_lifecycle_next(node->state, BU_TRIGGER_ABORT, &none, &to, NULL) != 0)
		return 0;
	bu_reason_set(&anew, BU_REASON_ORDERED_ANEW, NULL);
	BU_EVENT_MAKE(&ret[0], BU_EVENT_STATE, name, state,
		      .from = bu_state_name(node->state), .to = bu_state_name(to),
		      .on = bu_trigger_name(BU_TRIGGER_ABORT), .reason = anew);
	BU_EVENT_MAKE(&ret[1], BU_EVENT_RELEASED, name, released, .by = by);
	return 2;
}

/* Events before the orders: revision, plan, renames (applied needs the new names),
 * applied. Returns how many. */
static size_t
head_events(struct bu_event *events, const struct bu_consent *consent, const char *id)
{
	const struct bu_plan *plan = consent->plan;
	bu_autojson json_t *none = json_array();
	size_t count = 0;
	const char *from;
	json_t *to;

	BU_EVENT_MAKE(&events[count++], BU_EVENT_REVISION, "", revision,
		      .digest = plan->revision, .commit = plan->commit);
	BU_EVENT_MAKE(&events[count++], BU_EVENT_PLAN, "", plan,
		      .digest = consent->digest, .revision = plan->revision);
	json_object_foreach ((json_t *)plan->renames, from, to)
		BU_EVENT_MAKE(&events[count++], BU_EVENT_RENAMED, from, renamed,
			      .to = json_string_value(to));
	BU_EVENT_MAKE(&events[count++], BU_EVENT_APPLIED, "", applied, .rollout = id,
		      .plan = consent->digest, .revision = plan->revision,
		      .commit = plan->commit, .limit = plan->limit,
		      .nodes = (int64_t)plan->steps_count,
		      .grants = consent->grants ? consent->grants : none,
		      .by = consent->by);
	return count;
}

/* The node with this name after the plan's renames, which come first. */
static const struct bu_node *
node_then(const struct bu_fleet *fleet, const struct bu_plan *plan, const char *name)
{
	const char *from;
	json_t *to;

	json_object_foreach ((json_t *)plan->renames, from, to)
		if (strcmp(json_string_value(to), name) == 0)
			return bu_fleet_node(fleet, from);
	return bu_fleet_node(fleet, name);
}

static size_t
order_events(struct bu_rollouts *rollouts, struct bu_event *events,
	     const struct bu_plan *plan, const struct bu_grants *granted,
	     const char *by, const char *id)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->steps_count; i++) {
		const struct bu_plan_step *step = &plan->steps[i];
		const char *name = step->node;

		if (step->anew)
			count += bu_recall_for(rollouts, name, by, &events[count]);
		else
			count += let_go(node_then(rollouts->fleet, plan, name), name,
					by, &events[count]);
		order_event(step, plan, id, bu_grants_reset(granted, name),
			    &events[count++]);
	}
	return count;
}

int
bu_rollouts_is_done(const struct bu_rollouts *rollouts, const struct bu_plan *plan)
{
	const struct bu_fleet *fleet = rollouts->fleet;

	return plan->steps_count == 0 && json_object_size(plan->renames) == 0 &&
	       strcmp(plan->revision, fleet->revision) == 0 &&
	       strcmp(plan->commit, fleet->commit) == 0;
}

/* An order that begins anew may have gone on since the plan was made. */
static int
check_anew(struct bu_rollouts *rollouts, const struct bu_plan *plan, struct bu_err *err)
{
	for (size_t i = 0; i < plan->steps_count; i++)
		if (plan->steps[i].anew &&
		    bu_recall_check(rollouts, plan->steps[i].node, err) != 0)
			return -1;
	return 0;
}

int
bu_rollouts_check(struct bu_rollouts *rollouts, const struct bu_plan *plan,
		  const json_t *grants, struct bu_err *err)
{
	const struct bu_node *changing = bu_rollouts_changing(rollouts, plan);
	struct bu_grants *granted;
	int rc = -1;

	if (changing)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is changing right now; apply again",
				  changing->name);
	if (check_anew(rollouts, plan, err) != 0)
		return -1;
	granted = bu_grants_read(grants, err);
	if (granted)
		rc = bu_grants_check(granted, plan, err);
	bu_grants_destroy(granted);
	return rc;
}

int
bu_rollouts_apply(struct bu_rollouts *rollouts, const struct bu_consent *consent,
		  char *ret_id, struct bu_err *err)
{
	const struct bu_plan *plan = consent->plan;
	bu_autofree struct bu_event *events = NULL;
	struct bu_grants *granted;
	char id[40] = "";
	size_t count;

	if (bu_rollouts_check(rollouts, plan, consent->grants, err) != 0)
		return -1;
	granted = bu_grants_read(consent->grants, NULL);
	if (plan->steps_count)
		snprintf(id, sizeof(id), "r-%lld-%.6s",
			 (long long)bu_wall_ms(bu_loop_clock(rollouts->fleet->loop)) /
				 1000,
			 consent->digest);
	if (!bu_rollouts_is_done(rollouts, plan)) {
		events = bu_xcalloc(3 + json_object_size(plan->renames) +
					    EVENTS_OF_ORDER * plan->steps_count,
				    sizeof(*events));
		count = head_events(events, consent, id);
		count += order_events(rollouts, &events[count], plan, granted,
				      consent->by, id);
		bu_reconcile_note(rollouts->rec, events, count);
	}
	bu_grants_destroy(granted);
	memcpy(ret_id, id, sizeof(id));
	return 0;
}
