/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changes something: plans and their application. A plan holds as long as making
 * it again gives the same one; apply makes it again and compares.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "profiles/load.h"
#include "provisioner/api/api.h"
#include "provisioner/plan/plan.h"

/* The tree as a blob under its own digest, the plan under its. */
static int
keep(struct bu_api *api, const struct bu_tree *tree, const json_t *plan,
     const char *plan_text, char ret_digest[BU_DIGEST_SIZE], struct bu_err *err)
{
	bu_autojson json_t *tree_json = bu_tree_to_json(tree);
	bu_autofree char *tree_text = bu_json_canonical(tree_json);
	char revision[BU_DIGEST_SIZE];
	struct bu_event events[2];

	if (bu_store_put_blob(api->world->store, tree_text, revision, err) != 0 ||
	    bu_store_put_blob(api->world->store, plan_text, ret_digest, err) != 0)
		return -1;
	bu_assert(strcmp(revision, tree->digest) == 0);
	bu_event_init(&events[0], BU_EVENT_REVISION, "",
		      json_pack("{s:s,s:s}", "digest", revision, "commit",
				bu_json_str(plan, "commit", "")));
	bu_event_init(
		&events[1], BU_EVENT_PLAN, "",
		json_pack("{s:s,s:s}", "digest", ret_digest, "revision", revision));
	bu_reconcile_note(api->rec, events, 2);
	return 0;
}

BU_HANDLER(bu_api_plan)
{
	struct bu_api *api = arg;
	struct bu_tree *tree =
		bu_tree_from_json(json_object_get(request->body, "tree"), err);
	struct bu_desired *desired = tree ? bu_api_desired(api, tree, err) : NULL;
	json_t *plan = NULL;
	bu_autofree char *text = NULL;
	char digest[BU_DIGEST_SIZE];
	enum bu_answer answer = BU_ANSWER_ERROR;

	if (desired)
		plan = bu_api_make_plan(api, desired,
					bu_json_str(request->body, "commit", ""),
					bu_json_str(request->body, "limit", ""), err);
	text = plan ? bu_json_canonical(plan) : NULL;
	if (plan && keep(api, tree, plan, text, digest, err) == 0) {
		/* As it is kept: a large one is not put into words twice. */
		reply->text =
			bu_xasprintf("{\"digest\":\"%s\",\"plan\":%s}", digest, text);
		reply->content_type = "application/json";
		answer = BU_ANSWER_NOW;
	}
	json_decref(plan);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return answer;
}

static json_t *
load_blob(struct bu_api *api, const char *digest, const char *what, struct bu_err *err)
{
	bu_autofree char *text = bu_store_get_blob(api->world->store, digest, err);

	return text ? bu_json_parse(text, strlen(text), what, err) : NULL;
}

/* Made again now, the plan must be the same and allowed; what its nodes will have is
 * kept, for the plans to come. */
static int
make_again(struct bu_api *api, const json_t *plan, struct bu_err *err)
{
	const char *revision = bu_json_str(plan, "revision", "");
	bu_autojson json_t *tree_json = load_blob(api, revision, "revision", err);
	struct bu_tree *tree = tree_json ? bu_tree_from_json(tree_json, err) : NULL;
	struct bu_desired *desired = tree ? bu_api_desired(api, tree, err) : NULL;
	bu_autojson json_t *again = NULL;
	int rc = -1;

	if (desired)
		again = bu_api_make_plan(api, desired, bu_json_str(plan, "commit", ""),
					 bu_json_str(plan, "limit", ""), err);
	if (again && bu_plan_same(plan, again, err) == 0 &&
	    bu_plan_allowed(again, err) == 0)
		rc = bu_api_keep_facets(api, desired, plan, err);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return rc;
}

/* grants: [{"class","nodes"}]; what they mean is the rollout's to say. */
static int
check_grants(const json_t *grants, struct bu_err *err)
{
	json_t *grant;
	size_t i;

	if (grants && !json_is_array(grants))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'grants': a list is needed");
	json_array_foreach (grants, i, grant) {
		const char *class = bu_json_str(grant, "class", "");

		if (!bu_grant_name_ok(class))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "'%s' is nothing to grant; " BU_GRANT_NAMES
					  " are",
					  class);
	}
	return 0;
}

BU_HANDLER(bu_api_apply)
{
	struct bu_api *api = arg;
	const char *digest;
	const json_t *grants = json_object_get(request->body, "grants");
	bu_autojson json_t *plan = NULL;
	char id[40] = "";

	if (bu_json_get_str(request->body, "digest", &digest, err) != 0)
		return BU_ANSWER_ERROR;
	if (check_grants(grants, err) != 0)
		return BU_ANSWER_ERROR;
	plan = load_blob(api, digest, "plan", err);
	if (plan && bu_rollouts_changing(api->rollouts, plan))
		return BU_ANSWER_LATER;
	if (!plan || make_again(api, plan, err) != 0 ||
	    bu_rollouts_apply(api->rollouts, plan, digest, grants, "local", id, err) !=
		    0)
		return BU_ANSWER_ERROR;
	reply->logged = api->world->store;
	reply->json = json_pack("{s:s,s:i}", "rollout", id, "nodes",
				(int)json_array_size(json_object_get(plan, "steps")));
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_hold)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_world_node(api->world, request->params[0]);
	const char *reason;
	struct bu_event event;

	if (!node)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no node '%s'",
				  request->params[0]);
	if (bu_json_get_str(request->body, "reason", &reason, err) != 0)
		return BU_ANSWER_ERROR;
	if (!*reason)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'reason': say why, for whoever finds it held");
	if (node->held_by[0])
		return bu_err_set(err, BU_ERR_STATE, 0, "node %s is held by %s: %s",
				  node->name, node->held_by, node->held_reason);
	if (node->appending)
		return BU_ANSWER_LATER;
	bu_event_init(&event, BU_EVENT_HELD, node->name,
		      json_pack("{s:s,s:s}", "owner", "local", "reason", reason));
	bu_reconcile_note(api->rec, &event, 1);
	reply->logged = api->world->store;
	reply->json = json_object();
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_release)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_world_node(api->world, request->params[0]);

	if (!node)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no node '%s'",
				  request->params[0]);
	if (bu_reconcile_release(api->rec, node, "local", err) != 0)
		return BU_ANSWER_ERROR;
	reply->logged = api->world->store;
	reply->json = json_object();
	return BU_ANSWER_NOW;
}
