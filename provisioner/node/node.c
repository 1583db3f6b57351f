/* SPDX-License-Identifier: Apache-2.0 */
/* A node and its JSON form. */
#include "provisioner/node/node.h"

#include <string.h>

#include "base/text.h"
#include "model/sentence.h"
#include "model/shown_node.h"
#include "provisioner/node/found.h"

int
bu_node_stands_still(const struct bu_node *node)
{
	return bu_reason_info(node->live.wait_reason->code)->stops_deadline;
}

void
bu_node_machine(const struct bu_node *node, struct bu_machine *ret)
{
	bu_machine_of(node->serial, node->uuid, node->macs, ret);
	bu_machine_add_numbers(ret, node->numbers);
}

int
bu_node_has_left(const struct bu_node *node)
{
	return node->state == BU_STATE_DRAINING && node->order->open &&
	       node->order->begun && node->step.action == BU_ACTION_CONFIGURE;
}

int
bu_node_keeps_files(const struct bu_node *node)
{
	return bu_node_has_left(node) && node->step.status == BU_STEP_FAILED;
}

int
bu_node_check_recall(const struct bu_node *node, struct bu_err *err)
{
	enum bu_abort abort = bu_state_info(node->state)->abort;

	if (node->hold->owner && node->hold->owner != BU_OWNER_BRINGUP)
		return bu_err_set(err, BU_ERR_STATE, 0, "held by %s", node->hold->by);
	if (abort == BU_ABORT_NEVER)
		return bu_err_set(err, BU_ERR_STATE, 0, "it is %s",
				  bu_state_name(node->state));
	if (abort == BU_ABORT_BEFORE_WRITING)
		return node->order->written ? bu_err_set(err, BU_ERR_STATE, 0,
							 "its disk is being written")
					    : 0;
	/* Its files could not be written and are as they were. */
	if (bu_node_keeps_files(node))
		return 0;
	if (node->step.action != BU_ACTION_LEAVE || node->step.status == BU_STEP_DONE)
		return bu_err_set(err, BU_ERR_STATE, 0, "it has left its cluster");
	if (node->joined->node[0] && strcmp(node->joined->node, node->name) != 0)
		return bu_err_set(err, BU_ERR_STATE, 0, "it has another name now");
	return 0;
}

int
bu_node_power_failed(const struct bu_node *node)
{
	return node->step.status == BU_STEP_FAILED &&
	       bu_action_info(node->step.action)->actor == BU_ACTOR_POWER;
}

void
bu_step_failure(const struct bu_node *node, struct bu_reason *ret)
{
	const char *error = node->step_error[0] ? node->step_error : "a step failed";

	BU_REASON_SET(ret, STEP_FAILED, .text = {error});
}

int
bu_order_names_disk(const struct bu_order *order)
{
	return order->disk_serial[0] || order->disk_wwn[0] || order->disk_size_bytes;
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

	bu_node_parts_init(node);
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
	json_decref(node->checks.body);
	json_decref(node->incast.body);
	json_decref(node->nvlink.body);
	for (size_t i = 0; i < node->verdicts_count; i++)
		json_decref(node->verdicts[i].body);
	free(node->verdicts);
	bu_found_forget(node);
	json_decref(node->live.finds.runs);
	free(node->live.listed);
	json_decref(node->drained);
	json_decref(node->order->scratch);
	for (int i = 0; i < BU_REPORTS; i++)
		json_decref(node->live.reports[i].report);
	free(node->macs);
	free(node->numbers);
	free(node->known->macs);
	bu_node_parts_fini(node);
	free(node);
}

struct bu_node *
bu_nodes_find(struct bu_node *const *nodes, size_t count, const char *name)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = strcmp(name, nodes[mid]->name);

		if (order == 0)
			return nodes[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

static json_t *
stages_json(const struct bu_node *node)
{
	json_t *stages = json_array();

	for (int i = 0; i < node->stages_count; i++)
		json_array_append_new(
			stages,
			bu_record_to_json(bu_shown_stage_fields,
					  &(struct bu_shown_stage){
						  bu_state_name(node->stages[i].state),
						  node->stages[i].took_ms}));
	return stages;
}

static void
show_step(const struct bu_node *node, struct bu_shown_step *ret)
{
	static const char *const status[] = {"none", "open", "done", "failed"};
	const struct bu_step *step = &node->step;

	if (step->status != BU_STEP_NONE)
		*ret = (struct bu_shown_step){step->id, bu_action_name(step->action),
					      step->attempt, status[step->status],
					      node->step_error};
}

static void
show_power(const struct bu_node *node, struct bu_shown_power *ret)
{
	const struct bu_node_power_request *request = node->power;
	const struct bu_power_fact *seen = node->live.power_seen;

	if (request->op || seen->at_ms)
		*ret = (struct bu_shown_power){
			.op = bu_power_request_names[request->op],
			.by = request->by,
			.result = bu_outcome_names[request->result],
			.power = request->power,
			.detail = request->detail,
			.at_ms = request->at_ms,
			.seen = {seen->power, seen->error, seen->at_ms},
		};
}

/* The reason with the columns of its row. */
static json_t *
says_json(const struct bu_reason *says)
{
	const struct bu_reason_info *info = bu_reason_info(says->code);
	json_t *object;

	if (says->code == BU_REASON_NONE)
		return NULL;
	object = json_pack("{s:s,s:i,s:b}", "kind", bu_reason_kind_name(info->kind),
			   "again_s", info->again_s, "stops_deadline",
			   info->stops_deadline);
	bu_reason_to_body(says, object);
	return object;
}

static json_t *
next_json(const struct bu_node *node)
{
	json_t *object;

	if (node->state != BU_STATE_DRAINING)
		return NULL;
	object = json_pack("{s:s,s:s}", "state", bu_state_name(node->next->state), "by",
			   node->next->by);
	json_object_set_new(object, "reason", bu_said_of(&node->next->reason));
	return object;
}

/* Where the node's system is, in words of the profile. */
static const char *
root_of(const struct bu_node *node)
{
	if (!node->installed_digest[0])
		return "";
	return node->ram ? "ram" : node->raw ? "raw" : "disk";
}

json_t *
bu_node_to_json(const struct bu_node *node)
{
	const struct bu_state_info *info = bu_state_info(node->state);
	const struct bu_reason *says = node->live.wait_reason;
	bu_autojson json_t *why = bu_said_of(node->reason), *one = says_json(says);
	bu_autojson json_t *refused = bu_said_of(node->live.refusal);
	bu_autojson json_t *held = bu_said_of(&node->hold->reason);
	bu_autojson json_t *next = next_json(node);
	struct bu_shown_node shown = {
		.name = node->name,
		.pool = node->live.pool,
		.state = info->name,
		.settled = info->settled,
		.since_ms = node->since_ms,
		.image = node->installed_image,
		.root = root_of(node),
		.root_slot = node->slot,
		.other_image = node->other->image,
		.machine = node->machine,
		.firmware = node->live.firmware,
		.last_seen_ms = node->live.last_seen_ms,
		.repeats = node->repeats,
		.in_profile = node->live.in_profile,
		.reason = why,
		.says = one,
		.refused = refused,
		.boot_id = node->boot_id,
		.cluster_words = node->live.cluster_words,
		.next = next,
	};
	json_t *object;

	if (node->live.progress_total_bytes)
		shown.progress = (struct bu_shown_progress){
			node->live.progress_stage, node->live.progress_done_bytes,
			node->live.progress_total_bytes};
	if (node->live.agent->version[0])
		shown.agent = (struct bu_shown_agent){node->live.agent->version,
						      node->live.agent->digest,
						      node->live.agent->trial};
	if (node->hold->owner)
		shown.held = (struct bu_shown_held){
			node->hold->by, bu_owner_name(node->hold->owner), held};
	show_step(node, &shown.step);
	show_power(node, &shown.power);
	object = bu_record_to_json(bu_shown_node_fields, &shown);
	/* Set in place: members of the object keep their order. */
	json_object_set_new(object, "stages", stages_json(node));
	json_object_set_new(object, "conditions",
			    bu_conditions_to_json(node->conditions));
	return object;
}
