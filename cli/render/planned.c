/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a plan comes from and goes to; called by plan and apply. Invariant: a plan that
 * is shown is the one that its digest names, so what a person agreed to is what
 * bringupd applies.
 */
#include "cli/render/planned.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/commands/profile.h"

static json_t *
request(const struct bu_git_source *source, const struct bu_planned_request *wanted,
	struct bu_err *err)
{
	struct bu_findings findings = {0};
	struct bu_desired *desired = NULL;
	struct bu_tree *tree = NULL;
	json_t *body = NULL;

	if (bu_profile_check(source->dir, &findings, &tree, &desired, err) == 0)
		body = json_pack("{s:o,s:s,s:s?,s:s*}", "tree", bu_tree_to_json(tree),
				 "commit", source->commit, "limit", wanted->limit,
				 "restart", wanted->restart);
	/* The plan itself says what policy forbids. */
	bu_findings_drop(&findings, BU_FINDING_POLICY);
	bu_findings_print(&findings, stderr);
	bu_findings_clear(&findings);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return body;
}

int
bu_planned_make(struct bu_client *client, const struct bu_git_source *source,
		const struct bu_planned_request *wanted, struct bu_planned *ret,
		struct bu_err *err)
{
	bu_autojson json_t *body = request(source, wanted, err);
	bu_autojson json_t *reply =
		body ? bu_client_post(client, "/v1/plan", body, err) : NULL;

	if (!reply || bu_planned_from_json(reply, ret, err) != 0)
		return -1;
	json_decref(ret->tree);
	ret->tree = json_incref(json_object_get(body, "tree"));
	return 0;
}

/* The limits of each pool are in an object by their names. */
static int
read_pools(const struct bu_plan *plan, struct bu_err *err)
{
	struct bu_plan_pool limits;
	const char *pool;
	json_t *value;

	json_object_foreach ((json_t *)plan->pools, pool, value)
		if (bu_record_from_json(bu_plan_pool_fields, value, &limits, err) != 0)
			return bu_err_wrap(err, "pools.%s", pool);
	return 0;
}

static int
read_plan(const json_t *plan, struct bu_plan *ret, struct bu_err *err)
{
	struct bu_err why = {0};

	if (bu_record_from_json(bu_plan_fields, plan, ret, &why) == 0) {
		if (read_pools(ret, &why) == 0)
			return 0;
		bu_record_fini(bu_plan_fields, ret);
	}
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "the plan: %s; the bringupd that made it may be of another "
			  "version than this program, which is " BU_VERSION,
			  why.text);
}

int
bu_planned_from_json(const json_t *value, struct bu_planned *ret, struct bu_err *err)
{
	json_t *plan = json_object_get(value, "plan");
	const char *digest;
	char found[65];

	if (bu_json_get_str(value, "digest", &digest, err) != 0 ||
	    read_plan(plan, &ret->read, err) != 0)
		return -1;
	bu_json_digest(plan, found);
	if (strcmp(digest, found) != 0) {
		bu_record_fini(bu_plan_fields, &ret->read);
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "the plan was changed: its digest is %.12s, not "
				  "%.12s; make it again with bringup plan",
				  found, digest);
	}
	ret->plan = json_incref(plan);
	ret->tree = json_incref(json_object_get(value, "tree"));
	memcpy(ret->digest, found, sizeof(found));
	return 0;
}

int
bu_planned_load(const char *path, struct bu_planned *ret, struct bu_err *err)
{
	bu_autojson json_t *value = bu_json_load(path, err);

	if (!value)
		return -1;
	if (bu_planned_from_json(value, ret, err) != 0)
		return bu_err_wrap(err, "%s", path);
	return 0;
}

json_t *
bu_planned_to_json(const struct bu_planned *planned)
{
	return json_pack("{s:O,s:s}", "plan", planned->plan, "digest", planned->digest);
}

json_t *
bu_planned_request(const struct bu_planned *planned, json_t *grants)
{
	json_t *value = bu_planned_to_json(planned);

	if (planned->tree)
		json_object_set(value, "tree", planned->tree);
	json_object_set(value, "grants", grants);
	return value;
}

int
bu_planned_save(const struct bu_planned *planned, const char *path, struct bu_err *err)
{
	bu_autojson json_t *value = bu_planned_to_json(planned);
	bu_autofree char *text = NULL;

	if (planned->tree)
		json_object_set(value, "tree", planned->tree);
	text = json_dumps(value, JSON_INDENT(2));
	return bu_file_write_text(path, 0644, err, "%s\n", text);
}

void
bu_planned_fini(struct bu_planned *planned)
{
	bu_record_fini(bu_plan_fields, &planned->read);
	json_decref(planned->plan);
	json_decref(planned->tree);
	planned->plan = planned->tree = NULL;
}
