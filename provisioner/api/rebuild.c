/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup node rebuild: a plan of the applied revision in which these nodes are written
 * anew, applied with the grant that was given. Called by verbs.c. Invariant: without a
 * grant nothing is planned, and what is ordered is exactly what the plan says.
 */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "model/sentence.h"
#include "provisioner/api/api.h"

static json_t *
answer(const char *node, const char *text, const struct bu_err *err)
{
	return json_pack("{s:s,s:b,s:s,s:s}", "node", node, "ok", text != NULL, "text",
			 text ? text : err->text, "kind",
			 bu_err_name(text ? BU_ERR_NONE : err->kind));
}

/* Why it is not even planned; 0 = it is. */
static int
check(const struct bu_api *api, const char *name, const struct bu_verb_ask *ask,
      struct bu_err *err)
{
	const struct bu_node *node = bu_fleet_node(api->fleet, name);

	if (!node)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "node %s is in no plan that was applied", name);
	if (node->live.appending)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is changing right now; ask again", name);
	if (bu_verb_check(node, ask->verb, err) != 0)
		return -1;
	if (bu_class_needs_grant(bu_class_from_name(ask->grant)))
		return 0;
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "node %s would be written again: bringup node rebuild %s "
			  "--grant wipe loses what is on its disk, --grant reimage "
			  "keeps its data",
			  name, name);
}

static json_t *
row_of(const json_t *rows, const char *name)
{
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row)
		if (strcmp(bu_json_str(row, "node", ""), name) == 0)
			return row;
	return NULL;
}

static json_t *
told(const json_t *plan, const char *name, const char *rollout)
{
	const json_t *step = row_of(json_object_get(plan, "steps"), name);
	const json_t *refused = row_of(json_object_get(plan, "refused"), name);
	bu_autofree char *text =
		bu_xasprintf("ordered: %s%s%s", bu_json_str(step, "class", ""),
			     *rollout ? ", rollout " : "", rollout);
	bu_autofree char *why = bu_said_text(json_object_get(refused, "why"));
	struct bu_err err;

	bu_err_set(&err, BU_ERR_STATE, 0, "node %s: %s", name,
		   refused ? why : "it is under way");
	return answer(name, step ? text : NULL, &err);
}

static struct bu_tree *
applied_tree(const struct bu_api *api, struct bu_err *err)
{
	bu_autofree char *text =
		bu_store_get_blob(api->fleet->store, api->fleet->revision, err);
	bu_autojson json_t *value =
		text ? bu_json_parse(text, strlen(text), "revision", err) : NULL;

	return value ? bu_tree_from_json(value, err) : NULL;
}

static int
carry_out(struct bu_api *api, const json_t *plan, const struct bu_verb_ask *ask,
	  const struct bu_caller *caller, char ret_id[40], struct bu_err *err)
{
	bu_autojson json_t *grants = json_pack("[{s:s,s:O}]", "class", ask->grant,
					       "nodes", json_object_get(plan, "limit"));
	bu_autofree char *by =
		bu_xasprintf("%s%s%s", ask->by, *ask->reason ? ": " : "", ask->reason);
	struct bu_tree *tree = NULL;
	char digest[BU_DIGEST_SIZE];
	struct bu_plan read;
	int rc = -1;

	bu_json_digest(plan, digest);
	if (bu_plan_read(plan, &read, err) != 0)
		return -1;
	if (bu_plan_allowed(&read, err) == 0 &&
	    bu_rollouts_check(api->rollouts, &read, grants, err) == 0 &&
	    bu_two_persons_check(
		    api, &(struct bu_agreement){&read, digest, api->fleet->desired},
		    caller, err) == 0)
		tree = applied_tree(api, err);
	if (tree && bu_api_store_plan(api, api->fleet->desired, plan, tree, err) == 0)
		rc = bu_rollouts_apply(api->rollouts,
				       &(struct bu_consent){&read, digest, grants, by},
				       ret_id, err);
	bu_tree_destroy(tree);
	bu_record_fini(bu_plan_fields, &read);
	return rc;
}

static json_t *
order(struct bu_api *api, const char *limit, const struct bu_verb_ask *ask,
      const struct bu_caller *caller, char ret_id[40], struct bu_err *err)
{
	json_t *plan =
		bu_api_make_rebuild(api, bu_class_from_name(ask->grant), limit, err);

	if (!plan || ask->dry_run ||
	    json_array_size(json_object_get(plan, "steps")) == 0 ||
	    carry_out(api, plan, ask, caller, ret_id, err) == 0)
		return plan;
	json_decref(plan);
	return NULL;
}

json_t *
bu_api_rebuild(struct bu_api *api, const struct bu_nodeset *nodes,
	       const struct bu_verb_ask *ask, const struct bu_caller *caller,
	       struct bu_err *err)
{
	size_t total = nodes->count, count = 0;
	bu_autofree const char **names = bu_xcalloc(total + 1, sizeof(*names));
	bu_autofree struct bu_err *refused = bu_xcalloc(total + 1, sizeof(*refused));
	bu_autofree char *limit = NULL;
	bu_autojson json_t *plan = NULL;
	json_t *answers;
	char id[40] = "";

	for (size_t i = 0; i < total; i++)
		if (check(api, nodes->names[i], ask, &refused[i]) == 0)
			names[count++] = nodes->names[i];
	limit = bu_nodeset_fold(names, count);
	if (count) {
		plan = order(api, limit, ask, caller, id, err);
		if (!plan)
			return NULL;
	}
	answers = json_array();
	for (size_t i = 0; i < total; i++)
		json_array_append_new(
			answers, refused[i].kind
					 ? answer(nodes->names[i], NULL, &refused[i])
					 : told(plan, nodes->names[i], id));
	return answers;
}
