/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One node as lists show it. Called by the routes of the status and of nodes.
 * Invariant: what is shown here is of the node alone, and each change of it marks the
 * node (bu_fleet_mark()): watchers get the marked nodes only.
 */
#include "base/json.h"
#include "model/sentence.h"
#include "model/shown_status.h"
#include "provisioner/api/api.h"

/* The order of an applied plan, and what became of it. */
json_t *
bu_api_shown_order(const struct bu_order *order)
{
	bu_autojson json_t *why = bu_said_of(&order->reason);

	return bu_record_to_json(bu_shown_wanted_fields,
				 &(struct bu_shown_wanted){
					 .rollout = order->rollout,
					 .class = bu_class_name(order->class),
					 .image = order->image,
					 .commit = order->commit,
					 .batch = order->batch,
					 .open = order->open,
					 .status = bu_order_status(order),
					 .reason = why,
				 });
}

/* The last answer of the node's cluster; null = the node is in none, or the cluster has
 * not answered. */
static json_t *
cluster_json(const struct bu_node *node)
{
	static const char *const drains[] = {"", "bringup", "other"};
	const struct bu_cluster_fact *fact = node->live.cluster;

	if (!fact->at_ms)
		return json_null();
	return json_pack("{s:s,s:b,s:b,s:b,s:s,s:s,s:s,s:s}", "name",
			 node->joined->cluster, "known", fact->known, "responds",
			 fact->responds, "jobs", fact->jobs, "state", fact->state,
			 "drained_by", drains[fact->drain], "reason", fact->reason,
			 "by", fact->by);
}

json_t *
bu_api_shown_node(const struct bu_fleet *fleet, const struct bu_node *node)
{
	const struct bu_desired_node *want = bu_fleet_desired(fleet, node);
	json_t *object = bu_node_to_json(node);

	json_object_set_new(object, "rack",
			    json_string(want && want->rack ? want->rack : ""));
	json_object_set_new(object, "slot",
			    json_string(want && want->slot ? want->slot : ""));
	json_object_set_new(object, "serial", json_string(node->serial));
	json_object_set_new(object, "commit", json_string(node->commit));
	json_object_set_new(object, "cluster", cluster_json(node));
	if (node->order->open || node->order->failed)
		json_object_set_new(object, "order", bu_api_shown_order(node->order));
	return object;
}
