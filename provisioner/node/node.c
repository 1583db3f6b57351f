/* SPDX-License-Identifier: Apache-2.0 */
/* A node and its one JSON shape. */
#include "provisioner/node/node.h"

#include <string.h>

#include "base/text.h"

int
bu_node_stands_still(const struct bu_node *node)
{
	return bu_reason_info(node->live.says.code)->stops_deadline;
}

void
bu_node_machine(const struct bu_node *node, struct bu_machine *ret)
{
	bu_machine_of(node->serial, node->uuid, node->macs, ret);
}

int
bu_node_has_left(const struct bu_node *node)
{
	return node->state == BU_STATE_DRAINING && node->order.open &&
	       node->order.begun && node->step.action == BU_ACTION_CONFIGURE;
}

int
bu_node_keeps_files(const struct bu_node *node)
{
	return bu_node_has_left(node) && node->step.status == BU_STEP_FAILED;
}

void
bu_step_failure(const struct bu_node *node, struct bu_reason *ret)
{
	const char *error = node->step_error[0] ? node->step_error : "a step failed";

	BU_REASON_SET(ret, STEP_FAILED, .text = {error});
}

const char *
bu_order_status(const struct bu_order *order)
{
	if (order->open)
		return order->begun ? "under-way" : "turn";
	if (order->withdrawn)
		return "withdrawn";
	return order->failed ? "failed" : "done";
}

int
bu_node_is_away_by_condition(const struct bu_node *node)
{
	return bu_conditions_first(node->conditions) != NULL;
}

int
bu_node_is_gone(const struct bu_node *node)
{
	return !node->live.in_profile && !node->machine[0] &&
	       bu_state_info(node->state)->place == BU_PLACE_NONE;
}

struct bu_node *
bu_node_create(const char *name)
{
	struct bu_node *node = bu_xcalloc(1, sizeof(*node));

	bu_text_copy(node->name, sizeof(node->name), name);
	node->state = BU_STATE_ENROLLED;
	node->on = BU_TRIGGER_COUNT;
	return node;
}

void
bu_node_destroy(struct bu_node *node)
{
	if (!node)
		return;
	json_decref(node->checks);
	json_decref(node->verdicts);
	json_decref(node->full_cert);
	json_decref(node->boot_cert);
	json_decref(node->drained);
	json_decref(node->live.full_look.of);
	json_decref(node->live.boot_look.of);
	free(node->macs);
	free(node->known.macs);
	free(node);
}

static json_t *
progress_json(const struct bu_node *node)
{
	if (!node->live.progress_total_bytes)
		return json_null();
	return json_pack("{s:s,s:I,s:I}", "stage", node->live.progress_stage,
			 "done_bytes", (json_int_t)node->live.progress_done_bytes,
			 "total_bytes", (json_int_t)node->live.progress_total_bytes);
}

static json_t *
stages_json(const struct bu_node *node)
{
	json_t *stages = json_array();

	for (int i = 0; i < node->stages_count; i++)
		json_array_append_new(
			stages, json_pack("{s:s,s:I}", "state",
					  bu_state_name(node->stages[i].state), "ms",
					  (json_int_t)node->stages[i].took_ms));
	return stages;
}

static json_t *
step_json(const struct bu_node *node)
{
	static const char *const status[] = {"none", "open", "done", "failed"};
	const struct bu_step *step = &node->step;

	if (step->status == BU_STEP_NONE)
		return json_null();
	return json_pack("{s:s,s:s,s:i,s:s,s:s}", "id", step->id, "action",
			 bu_action_name(step->action), "attempt", step->attempt,
			 "status", status[step->status], "error", node->step_error);
}

/* {"op","by","result","power","detail","at_ms"} of the last deed, and "seen". */
static json_t *
power_json(const struct bu_node *node)
{
	const struct bu_power_deed *deed = &node->power;
	const struct bu_power_fact *seen = &node->live.power_seen;
	json_t *object = json_pack(
		"{s:s,s:s,s:s,s:s,s:s,s:I}", "op", bu_deed_names[deed->op], "by",
		deed->by, "result", bu_outcome_names[deed->result], "power",
		deed->power, "detail", deed->detail, "at_ms", (json_int_t)deed->at_ms);
	json_object_set_new(object, "seen",
			    json_pack("{s:s,s:s,s:I}", "power", seen->power, "error",
				      seen->error, "at_ms", (json_int_t)seen->at_ms));
	return object;
}

/* The sentence in the field of its kind; the reason itself where there is one. */
static void
add_says(const struct bu_node *node, json_t *object)
{
	const struct bu_reason *says = &node->live.says;
	const struct bu_reason_info *info = bu_reason_info(says->code);
	bu_autofree char *text = bu_reason_text(says);
	int waits = bu_reason_is(says, BU_REASON_KIND_WAIT);
	json_t *one;

	json_object_set_new(object, "waiting", json_string(waits ? text : ""));
	json_object_set_new(object, "trouble", json_string(waits ? "" : text));
	if (says->code == BU_REASON_NONE)
		return;
	one = json_pack("{s:s,s:s,s:i,s:b}", "kind", bu_reason_kind_name(info->kind),
			"ends", info->ends, "again_s", info->again_s, "stops_deadline",
			info->stops_deadline);
	bu_reason_to_body(says, one);
	json_object_set_new(object, "says", one);
}

/* {"code","args","reason"} */
static json_t *
reason_json(const struct bu_reason *reason)
{
	json_t *object = json_object();

	bu_reason_to_body(reason, object);
	return object;
}

static json_t *
next_json(const struct bu_next *next)
{
	json_t *object = json_pack("{s:s,s:s}", "state", bu_state_name(next->state),
				   "by", next->by);

	bu_reason_to_body(&next->reason, object);
	return object;
}

json_t *
bu_node_to_json(const struct bu_node *node)
{
	const struct bu_state_info *info = bu_state_info(node->state);
	json_t *object = json_pack(
		"{s:s,s:s,s:s,s:b,s:I,s:s,s:s,s:s,s:I,s:i,s:b}", "name", node->name,
		"pool", node->live.pool, "state", info->name, "settled", info->settled,
		"since_ms", (json_int_t)node->since_ms, "image", node->installed_image,
		"machine", node->machine, "firmware", node->live.firmware,
		"last_seen_ms", (json_int_t)node->live.last_seen_ms, "repeats",
		node->repeats, "in_profile", node->live.in_profile);

	bu_reason_to_body(&node->reason, object);
	add_says(node, object);
	if (node->live.refusal.code)
		json_object_set_new(object, "refused",
				    reason_json(&node->live.refusal));
	json_object_set_new(object, "boot_id", json_string(node->boot_id));
	json_object_set_new(object, "progress", progress_json(node));
	json_object_set_new(object, "stages", stages_json(node));
	json_object_set_new(object, "step", step_json(node));
	json_object_set_new(object, "cluster_words",
			    json_string(node->live.cluster_words));
	json_object_set_new(object, "conditions",
			    bu_conditions_to_json(node->conditions));
	if (node->power.op || node->live.power_seen.at_ms)
		json_object_set_new(object, "power", power_json(node));
	if (node->state == BU_STATE_DRAINING)
		json_object_set_new(object, "next", next_json(&node->next));
	if (node->hold.owner)
		json_object_set_new(object, "held", bu_hold_to_json(&node->hold));
	return object;
}
