/* SPDX-License-Identifier: Apache-2.0 */
/* What people and their tools look at: nodes, one node, the chain of the log. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"
#include "model/shown_node.h"
#include "provisioner/api/api.h"

/* set: a nodeset; NULL = all nodes. Owned; NULL = err says why there are none. */
static struct bu_node **
find_nodes(const struct bu_api *api, const char *set, size_t *ret_count,
	   struct bu_err *err)
{
	const struct bu_fleet *fleet = api->fleet;
	struct bu_nodeset *nodeset =
		set ? bu_api_nodeset(api, fleet->desired, set, err) : NULL;
	size_t most = nodeset ? nodeset->count : fleet->count;
	struct bu_node **nodes;

	*ret_count = 0;
	if (set && !nodeset)
		return NULL;
	nodes = bu_xcalloc(most + 1, sizeof(*nodes));
	for (size_t i = 0; i < most; i++) {
		struct bu_node *node = nodeset ? bu_fleet_node(fleet, nodeset->names[i])
					       : fleet->nodes[i];

		if (node && (nodeset || !bu_node_is_gone(node)))
			nodes[(*ret_count)++] = node;
	}
	bu_nodeset_destroy(nodeset);
	return nodes;
}

BU_HANDLER(bu_api_nodes)
{
	struct bu_api *api = arg;
	const char *set = bu_request_query(request, "set");
	int64_t now_ms = bu_wall_ms(bu_loop_clock(api->fleet->loop));
	size_t count, size = 0;
	bu_autofree struct bu_node **nodes = find_nodes(api, set, &count, err);
	char *text = NULL;
	FILE *out;

	if (!nodes)
		return BU_ANSWER_ERROR;
	out = open_memstream(&text, &size);
	bu_assert(out);
	fprintf(out, "{\"time_ms\":%lld,\"nodes\":", (long long)now_ms);
	/* The status marks those whose turn has other words; this asks again. */
	bu_api_list_turns(nodes, count);
	bu_api_list_nodes(api, nodes, count, out);
	bu_api_list_turns(nodes, count);
	fputc('}', out);
	bu_assert(fclose(out) == 0);
	reply->shared = bu_shared_create(text);
	return BU_ANSWER_NOW;
}

static void
add_certificate(const struct bu_fleet *fleet, const struct bu_node *node, int kind,
		json_t *list)
{
	bu_autofree char *text = bu_fleet_certificate(
		fleet, node,
		kind == BU_CERTIFICATE_FULL ? BU_FABCERT_FULL : BU_FABCERT_BOOT, NULL);

	if (text)
		json_array_append_new(list, json_pack("{s:s,s:s}", "kind",
						      bu_certificate_kinds[kind],
						      "text", text));
}

static void
add_remarks(json_t *why, const json_t *remarks)
{
	size_t i;
	json_t *remark;

	json_array_foreach ((json_t *)remarks, i, remark)
		json_array_append_new(
			why,
			BU_SAID(WARNING, BU_ARG_SAID("what", json_incref(remark))));
}

static void
add_drift(json_t *why, const json_t *drift)
{
	size_t i;
	json_t *finding;

	json_array_foreach ((json_t *)drift, i, finding)
		json_array_append_new(
			why,
			BU_SAID(DRIFT, BU_ARG_SAID("what", json_incref(json_object_get(
								   finding, "said")))));
}

/* New reference; NULL = nothing of ours runs there. */
static json_t *
found_json(const struct bu_node *node)
{
	if (!node->boot_installed)
		return NULL;
	return bu_record_to_json(bu_shown_found_fields,
				 &(struct bu_shown_found){
					 .told = node->found->row[0] != '\0',
					 .record = node->found->facets[0] != '\0',
					 .booted = node->found->booted,
				 });
}

BU_HANDLER(bu_api_node)
{
	struct bu_api *api = arg;
	const struct bu_node *node = bu_fleet_node(api->fleet, request->params[0]);
	bu_autojson json_t *remarks = NULL;
	bu_autojson json_t *alone = json_array();
	json_t *why, *turn, *object, *inventory, *certificates, *drift;

	if (!node)
		return bu_api_no_node(api->fleet, request->params[0], err);
	drift = bu_work_drift(&api->work, node);
	turn = bu_rollouts_why(api->rollouts, node);
	why = bu_reconcile_why(api->rec, node);
	if (turn)
		json_array_append_new(why, turn);
	add_drift(why, drift);
	remarks = bu_gate_remarks(api->gate, node);
	add_remarks(why, remarks);
	if (bu_request_may(request, BU_CALLER_OPERATE, NULL) == 0) {
		bu_reconcile_symptoms(api->rec, node, why);
		bu_reconcile_crash(api->rec, node, why);
	}
	object = bu_api_shown_node(api->fleet, node);
	inventory = bu_fleet_inventory(api->fleet, node);
	certificates = json_array();
	add_certificate(api->fleet, node, BU_CERTIFICATE_FULL, certificates);
	add_certificate(api->fleet, node, BU_CERTIFICATE_BOOT, certificates);
	json_object_set_new(object, "why", why);
	json_object_set_new(object, "inventory", inventory ? inventory : json_null());
	json_object_set_new(object, "certificates", certificates);
	json_object_set_new(object, "drift", drift);
	json_object_set_new(object, "found", found_json(node));
	json_object_set(object, "firmware_versions",
			json_object_get(node->live.reports[BU_BMC_FIRMWARE].report,
					"firmware"));
	json_object_set_new(object, "order", bu_api_shown_order(node->order));
	json_array_append(alone, object);
	bu_rollouts_tell(api->rollouts, alone);
	reply->json = object;
	return BU_ANSWER_NOW;
}
