/* SPDX-License-Identifier: Apache-2.0 */
/* One decision per node; a table of consequences, not of fields. */
#include "provisioner/plan/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "model/step.h"

struct decision {
	enum bu_class class;
	int refused;
	char why[600];
};

static void
decide_out_of_service(const struct bu_node *node, struct decision *ret)
{
	ret->class = node->disk_touched ? BU_CLASS_WIPE : BU_CLASS_INSTALL;
	if (node->reason[0])
		snprintf(ret->why, sizeof(ret->why), "%s: %s",
			 bu_state_name(node->state), node->reason);
	else
		snprintf(ret->why, sizeof(ret->why), "not installed");
}

static void
decide_ready(const struct bu_node *node, const char *image, const char *digest,
	     struct decision *ret)
{
	if (strcmp(node->installed_digest, digest) == 0)
		return;
	ret->class = BU_CLASS_WIPE;
	snprintf(ret->why, sizeof(ret->why),
		 "image %s %.12s -> %s %.12s; it is drained "
		 "first",
		 node->installed_image, node->installed_digest, image, digest);
}

static void
decide(const struct bu_node *node, const char *image, const char *digest,
       struct decision *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!node) {
		ret->class = BU_CLASS_INSTALL;
		snprintf(ret->why, sizeof(ret->why), "new in the profile");
		return;
	}
	if (!bu_state_info(node->state)->settled) {
		if (strcmp(node->order.image_digest, digest) == 0)
			return;
		ret->refused = 1;
		snprintf(ret->why, sizeof(ret->why),
			 "it is %s with another image; wait until it is settled",
			 bu_state_name(node->state));
		return;
	}
	if (node->state == BU_STATE_READY)
		decide_ready(node, image, digest, ret);
	else if (!node->order.open)
		decide_out_of_service(node, ret);
}

static const struct bu_node *
find(const struct bu_plan_input *input, const char *name)
{
	size_t low = 0, high = input->count;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = strcmp(name, input->nodes[mid]->name);

		if (order == 0)
			return input->nodes[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

static int
plan_node(const struct bu_plan_input *input, const struct bu_desired_node *want,
	  json_t *plan, size_t *unchanged, struct bu_err *err)
{
	const char *digest = input->image_digest(input->arg, want->image, err);
	const struct bu_node *node = find(input, want->name);
	struct decision decision;

	if (!digest)
		return bu_err_wrap(err, "node %s", want->name);
	decide(node, want->image->name, digest, &decision);
	if (decision.refused)
		json_array_append_new(json_object_get(plan, "refused"),
				      json_pack("{s:s,s:s}", "node", want->name, "why",
						decision.why));
	else if (decision.class == BU_CLASS_NONE)
		(*unchanged)++;
	else
		json_array_append_new(json_object_get(plan, "steps"),
				      json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s}", "node",
						want->name, "pool", want->pool->name,
						"class", bu_class_name(decision.class),
						"image", want->image->name, "digest",
						digest, "from",
						node ? bu_state_name(node->state) : "",
						"why", decision.why));
	return 0;
}

json_t *
bu_plan_make(const struct bu_plan_input *input, struct bu_err *err)
{
	json_t *plan = json_pack("{s:i,s:s,s:s,s:[],s:[],s:[]}", "v", 1, "revision",
				 input->revision, "commit", input->commit, "steps",
				 "refused", "left");
	size_t unchanged = 0;

	for (size_t i = 0; i < input->desired->nodes_count; i++)
		if (plan_node(input, &input->desired->nodes[i], plan, &unchanged,
			      err) != 0) {
			json_decref(plan);
			return NULL;
		}
	for (size_t i = 0; i < input->count; i++)
		if (!bu_desired_node(input->desired, input->nodes[i]->name))
			json_array_append_new(json_object_get(plan, "left"),
					      json_string(input->nodes[i]->name));
	json_object_set_new(plan, "unchanged", json_integer((json_int_t)unchanged));
	return plan;
}

char *
bu_plan_ungranted(const json_t *plan, const char *granted)
{
	char *names = NULL;
	size_t i;
	json_t *step;

	json_array_foreach (json_object_get(plan, "steps"), i, step) {
		const char *class = bu_json_str(step, "class", "");
		bu_autofree char *old = names;

		if (!bu_class_needs_grant(bu_class_from_name(class)) ||
		    (granted && strcmp(granted, class) == 0)) {
			bu_steal(&old);
			continue;
		}
		names = bu_xasprintf("%s%s%s", old ? old : "", old ? "," : "",
				     bu_json_str(step, "node", "?"));
	}
	return names;
}
