/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people ask of nodes, a nodeset at a time. The room of nodes decides; this hands
 * over and collects an answer per node. Invariant: what is answered as taken is in the
 * log before the answer is sent.
 */
#include "provisioner/node/verbs.h"

#include <string.h>

#include "base/json.h"
#include "provisioner/api/api.h"

enum { BUSY_MS = 5000 };

/* A change that is on its way to the log is there in a moment. */
static int
is_any_changing(const struct bu_api *api, const struct bu_nodeset *nodes)
{
	for (size_t i = 0; i < nodes->count; i++) {
		const struct bu_node *node = bu_fleet_node(api->fleet, nodes->names[i]);

		if (node && node->live.appending)
			return 1;
	}
	return 0;
}

/* {"node","ok","text","kind"}: one that is refused says why. */
static json_t *
ask_node(struct bu_api *api, const char *name, const struct bu_verb_ask *ask)
{
	struct bu_node *node = bu_fleet_node(api->fleet, name);
	struct bu_err err = {0};
	bu_autofree char *text = NULL;

	if (node)
		text = bu_verb_run(api->rec, node, ask, &err);
	else
		bu_err_set(&err, BU_ERR_STATE, 0,
			   "node %s is in the profile, but no applied plan has it",
			   name);
	return json_pack("{s:s,s:b,s:s,s:s}", "node", name, "ok", text != NULL, "text",
			 text ? text : err.text, "kind", bu_err_name(err.kind));
}

#define ASK_TEXT(member)                                                               \
	BU_FIELD(STRING, struct bu_verb_ask, member, .need = BU_SPARSE, .unsaid = "")

static const struct bu_field ask_fields[] = {
	ASK_TEXT(reason),
	ASK_TEXT(grant),
	ASK_TEXT(op),
	BU_FIELD(FLAG, struct bu_verb_ask, force, .need = BU_SPARSE),
	BU_FIELD(FLAG, struct bu_verb_ask, dry_run, .need = BU_SPARSE),
	BU_FIELD_END,
};

static int
read_ask(const struct bu_request *request, const char *verb, struct bu_verb_ask *ret,
	 struct bu_err *err)
{
	if (bu_request_read(request, ask_fields, ret, err) != 0)
		return -1;
	ret->by = bu_request_by(request);
	ret->why = NULL;
	if (ret->grant && *ret->grant &&
	    bu_request_may(request, BU_CALLER_GRANT, err) != 0)
		return -1;
	return bu_verb_from_name(verb, &ret->verb, err);
}

static json_t *
ask_all(struct bu_api *api, const struct bu_nodeset *nodes,
	const struct bu_verb_ask *ask, const struct bu_caller *caller,
	struct bu_err *err)
{
	json_t *answers;

	if (ask->verb == BU_VERB_REBUILD)
		return bu_api_rebuild(api, nodes, ask, caller, err);
	answers = json_array();
	for (size_t i = 0; i < nodes->count; i++)
		json_array_append_new(answers, ask_node(api, nodes->names[i], ask));
	return answers;
}

BU_HANDLER(bu_api_verb)
{
	struct bu_api *api = arg;
	struct bu_verb_ask ask;
	struct bu_nodeset *nodes;
	const char *set;
	json_t *answers;

	if (read_ask(request, request->params[0], &ask, err) != 0 ||
	    bu_json_get_str(request->body, "nodes", &set, err) != 0)
		return BU_ANSWER_ERROR;
	nodes = bu_api_nodeset(api, api->fleet->desired, set, err);
	if (!nodes)
		return BU_ANSWER_ERROR;
	if ((request->waited_ms < BUSY_MS && is_any_changing(api, nodes)) ||
	    (ask.verb == BU_VERB_REBUILD && api->fleet->desired &&
	     bu_api_scan(api, api->fleet->desired))) {
		bu_nodeset_destroy(nodes);
		return BU_ANSWER_LATER;
	}
	answers = ask_all(api, nodes, &ask, request->caller, err);
	bu_nodeset_destroy(nodes);
	if (!answers)
		return BU_ANSWER_ERROR;
	reply->logged = api->fleet->store;
	reply->json =
		json_pack("{s:s,s:b,s:I,s:o}", "verb", bu_verb_info(ask.verb)->name,
			  "dry_run", ask.dry_run, "time_ms",
			  (json_int_t)bu_wall_ms(bu_loop_clock(api->fleet->loop)),
			  "nodes", answers);
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_node_verb)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_fleet_node(api->fleet, request->params[0]);
	bu_autofree char *text = NULL;
	struct bu_verb_ask ask;

	if (read_ask(request, request->params[1], &ask, err) != 0)
		return BU_ANSWER_ERROR;
	if (!node)
		return bu_api_no_node(api->fleet, request->params[0], err);
	if (ask.verb == BU_VERB_REBUILD)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "a rebuild is a plan of its nodes: POST "
				  "/v1/verbs/rebuild");
	if (node->live.appending)
		return BU_ANSWER_LATER;
	text = bu_verb_run(api->rec, node, &ask, err);
	if (!text)
		return BU_ANSWER_ERROR;
	reply->logged = api->fleet->store;
	reply->json = json_pack("{s:s}", "text", text);
	return BU_ANSWER_NOW;
}
