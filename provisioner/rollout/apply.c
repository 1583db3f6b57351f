/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a plan to orders, in one batch of the log. Invariant: what destroys is ordered
 * only for nodes that a grant names.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "profiles/nodeset.h"
#include "provisioner/rollout/rollout_impl.h"

/* One grant: its class, and its nodes as the keys of an object; NULL = all. */
struct consent {
	enum bu_class class;
	json_t *nodes;
};

static int
read_grant(const json_t *grant, struct consent *ret, struct bu_err *err)
{
	const char *class = bu_json_str(grant, "class", "");
	const json_t *whom = json_object_get(grant, "nodes");
	const char *text = json_string_value(whom);
	struct bu_nodeset *nodes;

	ret->class = bu_class_from_name(class);
	if (!bu_class_needs_grant(ret->class))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "'%s' is nothing to grant; reimage and wipe are",
				  class);
	if (!whom)
		return 0;
	/* Whatever else was meant, it was not all nodes. */
	if (!text || !*text)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "grant of %s, field 'nodes': give a nodeset, as "
				  "\"node[001-003]\", or leave it out for all nodes of "
				  "the plan",
				  class);
	nodes = bu_nodeset_parse(text, NULL, NULL, err);
	if (!nodes)
		return bu_err_wrap(err, "grant of %s", class);
	ret->nodes = json_object();
	for (size_t i = 0; i < nodes->count; i++)
		json_object_set_new(ret->nodes, nodes->names[i], json_true());
	bu_nodeset_destroy(nodes);
	return 0;
}

static int
is_granted(const struct consent *grants, size_t count, enum bu_class class,
	   const char *node)
{
	if (!bu_class_needs_grant(class))
		return 1;
	for (size_t i = 0; i < count; i++)
		if (grants[i].class >= class &&
		    (!grants[i].nodes || json_object_get(grants[i].nodes, node)))
			return 1;
	return 0;
}

/* Owned; NULL when nothing is missing. */
static char *
ungranted(const json_t *steps, const struct consent *grants, size_t count,
	  const char **ret_class)
{
	size_t total = json_array_size(steps), missing = 0, i;
	bu_autofree const char **names = bu_xcalloc(total + 1, sizeof(*names));
	enum bu_class worst = BU_CLASS_NONE;
	json_t *step;

	json_array_foreach (steps, i, step) {
		enum bu_class class =
			bu_class_from_name(bu_json_str(step, "class", ""));
		const char *node = bu_json_str(step, "node", "?");

		if (is_granted(grants, count, class, node))
			continue;
		names[missing++] = node;
		if (class > worst)
			worst = class;
	}
	*ret_class = bu_class_name(worst);
	return missing ? bu_nodeset_fold(names, missing) : NULL;
}

static int
check_grants(const json_t *steps, const json_t *grants, struct bu_err *err)
{
	size_t count = json_array_size(grants), i;
	bu_autofree struct consent *read = bu_xcalloc(count + 1, sizeof(*read));
	bu_autofree char *names = NULL;
	const char *class;
	json_t *grant;
	int rc = 0;

	json_array_foreach (grants, i, grant)
		if (rc == 0)
			rc = read_grant(grant, &read[i], err);
	if (rc == 0) {
		names = ungranted(steps, read, count, &class);
		if (names)
			rc = bu_err_set(err, BU_ERR_DENIED, 0,
					"these nodes would lose what is on their disk: "
					"%s; apply with --grant %s if that is wanted",
					names, class);
	}
	for (i = 0; i < count; i++)
		json_decref(read[i].nodes);
	return rc;
}

const struct bu_node *
bu_rollouts_changing(const struct bu_rollouts *rollouts, const json_t *plan)
{
	size_t i;
	json_t *step;

	json_array_foreach (json_object_get(plan, "steps"), i, step) {
		const struct bu_node *node =
			bu_world_node(rollouts->world, bu_json_str(step, "node", ""));

		if (node && node->appending)
			return node;
	}
	return NULL;
}

static json_t *
order_body(const json_t *step, const char *id, const char *commit)
{
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:I}", "rollout", id, "class",
			 bu_json_str(step, "class", ""), "image",
			 bu_json_str(step, "image", ""), "digest",
			 bu_json_str(step, "digest", ""), "facets",
			 bu_json_str(step, "facets", ""), "commit", commit, "batch",
			 (json_int_t)bu_json_int(step, "batch", 0));
}

int
bu_rollouts_apply(struct bu_rollouts *rollouts, const json_t *plan,
		  const char *plan_digest, const json_t *grants, const char *by,
		  char *ret_id, struct bu_err *err)
{
	const json_t *steps = json_object_get(plan, "steps");
	const char *commit = bu_json_str(plan, "commit", "");
	size_t count = json_array_size(steps), i;
	bu_autofree struct bu_event *events = NULL;
	bu_autojson json_t *none = json_array();
	const struct bu_node *changing = bu_rollouts_changing(rollouts, plan);
	json_t *step;
	char id[40];

	if (changing)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is changing at this moment; apply again",
				  changing->name);
	if (check_grants(steps, grants, err) != 0)
		return -1;
	events = bu_xcalloc(count + 1, sizeof(*events));
	snprintf(id, sizeof(id), "r-%lld-%.6s",
		 (long long)bu_wall_ms(bu_loop_clock(rollouts->world->loop)) / 1000,
		 plan_digest);
	bu_event_init(&events[0], BU_EVENT_APPLIED, "",
		      json_pack("{s:s,s:s,s:s,s:s,s:s,s:i,s:O,s:s}", "rollout", id,
				"plan", plan_digest, "revision",
				bu_json_str(plan, "revision", ""), "commit", commit,
				"limit", bu_json_str(plan, "limit", ""), "nodes",
				(int)count, "grants", grants ? grants : none, "by",
				by));
	json_array_foreach (steps, i, step)
		bu_event_init(&events[i + 1], BU_EVENT_ORDER,
			      bu_json_str(step, "node", ""),
			      order_body(step, id, commit));
	bu_reconcile_note(rollouts->rec, events, count + 1);
	memcpy(ret_id, id, sizeof(id));
	return 0;
}
