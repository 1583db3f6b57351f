/* SPDX-License-Identifier: Apache-2.0 */
/* Views of rollouts for people and tools. Called by the API. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "model/sentence.h"
#include "model/shown_rollout.h"
#include "provisioner/rollout/rollout_impl.h"

static int
is_of(const struct bu_node *node, const struct bu_rollout *rollout)
{
	return node->order->seq && strcmp(node->order->rollout, rollout->id) == 0;
}

/* The members of both the list and the single view. */
static json_t *
brief(const struct bu_fleet *fleet, const struct bu_rollout *rollout)
{
	const struct bu_body_applied *applied = &rollout->applied;
	bu_autojson json_t *why = bu_said_of(&rollout->reason);
	struct bu_shown_rollout shown;

	shown = (struct bu_shown_rollout){
		.id = rollout->id,
		.plan = applied->plan,
		.revision = applied->revision,
		.commit = applied->commit,
		.limit = applied->limit,
		.by = applied->by,
		.started_ms = rollout->started_ms,
		.ended_ms = rollout->ended_ms,
		.state = bu_rollout_state_name(rollout->state),
		.reason = why,
		.total = rollout->total,
		.done = rollout->done,
		.failed = rollout->failed,
		.withdrawn = rollout->withdrawn,
		.ready = rollout->done,
	};
	for (size_t i = 0; i < fleet->count; i++) {
		const struct bu_node *node = fleet->nodes[i];

		if (!is_of(node, rollout))
			continue;
		shown.turn += node->order->open && !node->order->begun;
		shown.under_way += node->order->open && node->order->begun;
		shown.quarantined +=
			node->order->failed && node->state == BU_STATE_QUARANTINED;
	}
	return bu_record_to_json(bu_shown_rollout_fields, &shown);
}

json_t *
bu_rollouts_json(const struct bu_rollouts *rollouts)
{
	const struct bu_fleet *fleet = rollouts->fleet;
	const struct bu_rollout *last = NULL;

	for (size_t i = fleet->rollouts_count; i-- > 0;) {
		const struct bu_rollout *rollout = &fleet->rollouts[i];

		if (!last && rollout->total)
			last = rollout;
		if (!rollout->ended_ms) {
			last = rollout;
			break;
		}
	}
	return last ? brief(fleet, last) : json_null();
}

json_t *
bu_rollouts_list(const struct bu_rollouts *rollouts)
{
	json_t *list = json_array();

	for (size_t i = rollouts->fleet->rollouts_count; i-- > 0;)
		json_array_append_new(
			list, brief(rollouts->fleet, &rollouts->fleet->rollouts[i]));
	return list;
}

/* Why no node of the pool has a turn; NULL = one may have it, or none waits. New
 * reference. */
static json_t *
pool_why(const struct bu_rollouts *rollouts, const struct bu_view *view,
	 const struct bu_rollout *rollout, const char *pool)
{
	const struct bu_node *last = NULL;
	enum bu_refusal refusal = BU_MAY_GO;

	for (size_t i = 0; i < rollouts->fleet->count; i++) {
		const struct bu_node *node = rollouts->fleet->nodes[i];

		if (!is_of(node, rollout) || !node->order->open || node->order->begun ||
		    strcmp(node->live.pool, pool) != 0)
			continue;
		last = node;
		refusal = bu_turn_refused(rollouts, view, node);
		if (refusal == BU_MAY_GO)
			break;
	}
	return last ? bu_refusal_said(rollouts, view, last, refusal) : NULL;
}

static json_t *
pools_json(const struct bu_rollouts *rollouts, const struct bu_view *view,
	   const struct bu_rollout *rollout)
{
	const struct bu_desired *desired = rollouts->fleet->desired;
	json_t *list = json_array();

	for (size_t i = 0; desired && i < desired->pools_count; i++) {
		const struct bu_desired_pool *pool = &desired->pools[i];
		const struct bu_share *share = bu_view_share(view, rollout, i);
		bu_autojson json_t *why = NULL;

		if (!share->total)
			continue;
		why = pool_why(rollouts, view, rollout, pool->name);
		json_array_append_new(
			list,
			bu_record_to_json(
				bu_shown_pool_fields,
				&(struct bu_shown_pool){
					.pool = pool->name,
					.total = share->total,
					.done = share->done,
					.failed = share->failed,
					.under_way = share->under_way,
					.turn = share->turn,
					.canary = pool->canary,
					.canary_done = share->proven < pool->canary
							       ? share->proven
							       : pool->canary,
					.faults = share->faults,
					.failure_budget = pool->failure_budget,
					.max_unavailable = pool->max_unavailable,
					.away = view->away[i],
					.why = why,
				}));
	}
	return list;
}

static json_t *
node_json(const struct bu_rollouts *rollouts, const struct bu_view *view,
	  const struct bu_node *node)
{
	const struct bu_order *order = node->order;
	bu_autojson json_t *why = NULL;

	if (order->open && !order->begun)
		why = bu_refusal_said(rollouts, view, node,
				      bu_turn_refused(rollouts, view, node));
	else if (order->open && node->hold->owner)
		why = bu_hold_said(node->hold);
	else if (!order->open)
		why = bu_said_of(&order->reason);
	return bu_record_to_json(bu_shown_order_fields,
				 &(struct bu_shown_order){
					 .node = node->name,
					 .pool = node->live.pool,
					 .class = bu_class_name(order->class),
					 .batch = order->batch,
					 .state = bu_state_name(node->state),
					 .status = bu_order_status(order),
					 .reason = why,
				 });
}

json_t *
bu_rollouts_show(const struct bu_rollouts *rollouts, const char *id, struct bu_err *err)
{
	struct bu_fleet *fleet = rollouts->fleet;
	const struct bu_rollout *rollout = bu_fleet_rollout(fleet, id);
	json_t *json, *nodes = json_array();
	struct bu_view view;

	if (!rollout) {
		json_decref(nodes);
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "no rollout '%s'", id);
		return NULL;
	}
	json = brief(fleet, rollout);
	bu_view_init(&view, fleet);
	for (size_t i = 0; i < fleet->count; i++)
		if (is_of(fleet->nodes[i], rollout))
			json_array_append_new(
				nodes, node_json(rollouts, &view, fleet->nodes[i]));
	json_object_set_new(json, "pools", pools_json(rollouts, &view, rollout));
	json_object_set_new(json, "nodes", nodes);
	json_object_set(json, "grants", json_object_get(rollout->body, "grants"));
	bu_view_fini(&view);
	return json;
}

json_t *
bu_rollouts_why(const struct bu_rollouts *rollouts, const struct bu_node *node)
{
	enum bu_refusal refusal;
	struct bu_view view;
	json_t *why;

	if (!node->order->open || node->order->begun)
		return NULL;
	bu_view_init(&view, rollouts->fleet);
	refusal = bu_turn_refused(rollouts, &view, node);
	why = bu_refusal_said(rollouts, &view, node, refusal);
	bu_view_fini(&view);
	return refusal == BU_MAY_GO
		       ? NULL
		       : BU_SAID(TURN,
				 BU_ARG("class", bu_class_name(node->order->class)),
				 BU_ARG_SAID("why", why));
}

void
bu_rollouts_mark(const struct bu_rollouts *rollouts)
{
	const struct bu_fleet *fleet = rollouts->fleet;
	struct bu_view view;

	bu_view_init(&view, fleet);
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];
		bu_autojson json_t *why = NULL;
		bu_autofree char *text = NULL;
		uint32_t words;

		if (!node->order->open || node->order->begun)
			continue;
		why = bu_refusal_said(rollouts, &view, node,
				      bu_turn_refused(rollouts, &view, node));
		text = why ? bu_json_canonical(why) : bu_xstrdup("");
		words = bu_crc32(text, strlen(text));
		if (words != node->live.turn_words)
			node->live.changed = fleet->version;
		node->live.turn_words = words;
	}
	bu_view_fini(&view);
}

void
bu_rollouts_tell(const struct bu_rollouts *rollouts, json_t *nodes)
{
	struct bu_view view;
	json_t *object;
	size_t i;

	bu_view_init(&view, rollouts->fleet);
	json_array_foreach (nodes, i, object) {
		json_t *order = json_object_get(object, "order");
		const struct bu_node *node =
			bu_fleet_node(rollouts->fleet, bu_json_str(object, "name", ""));
		json_t *why;

		if (!order || !node || !node->order->open || node->order->begun)
			continue;
		why = bu_refusal_said(rollouts, &view, node,
				      bu_turn_refused(rollouts, &view, node));
		json_object_set_new(order, "reason", why);
	}
	bu_view_fini(&view);
}
