/* SPDX-License-Identifier: Apache-2.0 */
/* What people and outside systems want of the gate: runs, evidence, verdicts. */
#include <string.h>

#include "base/json.h"
#include "provisioner/api/api.h"

enum { WAIT_MAX_S = 60, EXPIRES_MAX_S = 365 * 24 * 3600 };

static struct bu_node *
node_of(struct bu_api *api, const struct bu_request *request, struct bu_err *err)
{
	struct bu_node *node = bu_fleet_node(api->fleet, request->params[0]);

	if (!node)
		bu_api_no_node(api->fleet, request->params[0], err);
	return node;
}

struct verdict {
	const char *verdict, *text;
	int64_t expires_s; /* 0 = it does not */
};

static const struct bu_field verdict_fields[] = {
	BU_FIELD(STRING, struct verdict, verdict),
	BU_FIELD(STRING, struct verdict, text, .need = BU_SPARSE, .unsaid = ""),
	BU_FIELD(INT, struct verdict, expires_s, .need = BU_SPARSE,
		 .max = EXPIRES_MAX_S),
	BU_FIELD_END,
};

BU_HANDLER(bu_api_verdict)
{
	struct bu_api *api = arg;
	struct bu_node *node = node_of(api, request, err);
	int64_t now_ms = bu_wall_ms(bu_loop_clock(api->fleet->loop));
	struct verdict told;

	if (!node || bu_request_read(request, verdict_fields, &told, err) != 0 ||
	    bu_gate_external(
		    api->gate, node,
		    &(struct bu_external){
			    request->params[1], told.verdict, told.text,
			    told.expires_s ? now_ms + told.expires_s * 1000 : 0},
		    err) != 0)
		return BU_ANSWER_ERROR;
	reply->logged = api->fleet->store;
	reply->json = json_object();
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_again)
{
	struct bu_api *api = arg;
	struct bu_node *node = node_of(api, request, err);

	if (!node || bu_gate_again(api->gate, node, bu_request_by(request), err) != 0)
		return BU_ANSWER_ERROR;
	reply->logged = api->fleet->store;
	reply->json = json_object();
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_node_fabric)
{
	struct bu_api *api = arg;
	const struct bu_node *node = node_of(api, request, err);

	reply->json = node ? bu_gate_show(api->gate, node, err) : NULL;
	/* A console may show a password. */
	if (bu_request_may(request, BU_CALLER_OPERATE, NULL) != 0)
		json_object_del(reply->json, "console");
	return reply->json ? BU_ANSWER_NOW : BU_ANSWER_ERROR;
}

BU_HANDLER(bu_api_fabric_run)
{
	struct bu_api *api = arg;
	struct bu_nodeset *set;
	struct bu_node **nodes;
	const char *text, *id;
	size_t count = 0;

	if (bu_json_get_str(request->body, "set", &text, err) != 0)
		return BU_ANSWER_ERROR;
	set = bu_api_nodeset(api, api->fleet->desired, text, err);
	if (!set)
		return BU_ANSWER_ERROR;
	nodes = bu_xcalloc(set->count + 1, sizeof(struct bu_node *));
	for (size_t i = 0; i < set->count; i++) {
		nodes[count] = bu_fleet_node(api->fleet, set->names[i]);
		count += nodes[count] != NULL;
	}
	id = bu_gate_run(api->gate, nodes, count, err);
	if (id)
		reply->json = json_pack("{s:s}", "run", id);
	free(nodes);
	bu_nodeset_destroy(set);
	return id ? BU_ANSWER_NOW : BU_ANSWER_ERROR;
}

BU_HANDLER(bu_api_fabric_runs)
{
	struct bu_api *api = arg;
	int64_t wait_ms = bu_request_number(request, "wait", 0, WAIT_MAX_S) * 1000;
	json_t *run = bu_gate_run_json(api->gate, request->params[0]);

	if (!run)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no run '%s'; runs end with bringupd, their results "
				  "are in bringup fabric show",
				  request->params[0]);
	if (!bu_json_bool(run, "done", 0) && request->waited_ms < wait_ms) {
		json_decref(run);
		return BU_ANSWER_LATER;
	}
	reply->json = run;
	return BU_ANSWER_NOW;
}
