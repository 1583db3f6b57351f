/* SPDX-License-Identifier: Apache-2.0 */
/* Reads grants and holds them against a plan's steps; called by apply. */
#include "cli/grant.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/render/output.h"
#include "model/class.h"
#include "profiles/nodeset/nodeset.h"

/* Nodes of the plan in a pool or a state, perhaps none: a bu_nodeset_group_fn. */
static int
find_group(const char *group, struct bu_nodeset *nodeset, void *arg, struct bu_err *err)
{
	static const char state[] = "state=", pool[] = "pool=";
	const struct bu_plan *plan = arg;
	int by_state = strncmp(group, state, sizeof(state) - 1) == 0;

	if (by_state)
		group += sizeof(state) - 1;
	else if (strncmp(group, pool, sizeof(pool) - 1) == 0)
		group += sizeof(pool) - 1;
	for (size_t i = 0; i < plan->steps_count; i++) {
		const struct bu_plan_step *step = &plan->steps[i];

		if (strcmp(by_state ? step->from : step->pool, group) == 0 &&
		    bu_nodeset_add(nodeset, step->node, err) != 0)
			return -1;
	}
	return 0;
}

/* {name: true} of the nodeset. */
static json_t *
set_of(const char *text, const struct bu_plan *plan, struct bu_err *err)
{
	struct bu_nodeset *nodeset =
		bu_nodeset_parse(text, find_group, (void *)plan, err);
	json_t *set = nodeset ? json_object() : NULL;

	for (size_t i = 0; nodeset && i < nodeset->count; i++)
		json_object_set_new(set, nodeset->names[i], json_true());
	bu_nodeset_destroy(nodeset);
	return set;
}

/* Those of the nodeset that have a step, as a hostlist; owned. */
static char *
nodes_of(const char *text, const struct bu_plan *plan, struct bu_err *err)
{
	bu_autojson json_t *set = set_of(text, plan, err);
	bu_autojson json_t *names = json_array();

	if (!set)
		return NULL;
	for (size_t i = 0; i < plan->steps_count; i++)
		if (json_object_get(set, plan->steps[i].node))
			json_array_append_new(names, json_string(plan->steps[i].node));
	return bu_out_fold(names);
}

/* Adds what the word grants; nothing when none of its nodes has a step. */
static int
read_grant(const char *word, const struct bu_plan *plan, json_t *grants,
	   struct bu_err *err)
{
	const char *colon = strchr(word, ':');
	bu_autofree char *name =
		bu_xstrndup(word, colon ? (size_t)(colon - word) : strlen(word));
	bu_autofree char *nodes = NULL;

	if (!bu_grant_name_ok(name))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--grant '%s': give one of " BU_GRANT_NAMES
				  ", with :NODESET for some of the nodes alone",
				  word);
	if (colon) {
		nodes = nodes_of(colon + 1, plan, err);
		if (!nodes) {
			bu_err_wrap(err, "--grant '%s'", word);
			if (err)
				err->kind = BU_ERR_USAGE;
			return -1;
		}
		if (!*nodes)
			return 0;
	}
	json_array_append_new(grants,
			      json_pack("{s:s,s:s*}", "class", name, "nodes", nodes));
	return 0;
}

json_t *
bu_grants_make(const struct bu_explain *words, const struct bu_plan *plan,
	       struct bu_err *err)
{
	json_t *grants = json_array();

	for (int i = 0; i < words->count; i++) {
		if (read_grant(words->items[i], plan, grants, err) != 0) {
			json_decref(grants);
			return NULL;
		}
	}
	return grants;
}

struct granted {
	enum bu_class class; /* NONE for a reset alone */
	json_t *nodes;       /* a set; NULL = all */
};

/* What the step destroys; a reset alone destroys nothing on a disk. */
static enum bu_class
destroys(const struct bu_plan_step *step)
{
	enum bu_class class = bu_class_from_name(step->class);

	return bu_class_needs_grant(class) ? class : BU_CLASS_NONE;
}

static int
allows(const struct granted *granted, size_t count, const struct bu_plan_step *step)
{
	for (size_t i = 0; i < count; i++)
		if (destroys(step) <= granted[i].class &&
		    (!granted[i].nodes ||
		     json_object_get(granted[i].nodes, step->node)))
			return 1;
	return 0;
}

/* One class after the other: "gpu[1-3]: what is on the disk is lost; --grant
 * wipe:gpu[1-3] allows it". NONE stands for a reset alone. A grant without nodes would
 * be for all of the plan. */
static int
refuse(json_t *const *names, struct bu_err *err)
{
	bu_autofree char *text = bu_xstrdup("");

	for (size_t class = 0; class < BU_CLASS_COUNT; class ++) {
		bu_autofree char *nodes = NULL;

		if (json_array_size(names[class]) == 0)
			continue;
		nodes = bu_out_fold(names[class]);
		bu_text_add(
			&text, "; ", "%s: %s; --grant %s:%s allows it", nodes,
			class == BU_CLASS_NONE
				? "the machine is on, and what runs there is unknown"
				: bu_class_info((enum bu_class) class)->help,
			class == BU_CLASS_NONE ? BU_GRANT_RESET
					       : bu_class_name((enum bu_class) class),
			nodes);
	}
	return *text ? bu_err_set(err, BU_ERR_DENIED, 0, "%s", text) : 0;
}

int
bu_grants_check(const json_t *grants, const struct bu_plan *plan, struct bu_err *err)
{
	size_t count = json_array_size(grants), i;
	bu_autofree struct granted *granted = bu_xcalloc(count, sizeof(*granted));
	json_t *names[BU_CLASS_COUNT], *grant;
	int rc;

	for (i = 0; i < BU_LEN(names); i++)
		names[i] = json_array();
	json_array_foreach (grants, i, grant) {
		const char *nodes = bu_json_str(grant, "nodes", NULL);

		granted[i].class = bu_class_from_name(bu_json_str(grant, "class", ""));
		granted[i].nodes = nodes ? set_of(nodes, plan, NULL) : NULL;
		bu_assert(!nodes || granted[i].nodes); /* bu_grants_make() wrote it */
	}
	for (i = 0; i < plan->steps_count; i++) {
		const struct bu_plan_step *step = &plan->steps[i];

		if ((destroys(step) || step->reset) && !allows(granted, count, step))
			json_array_append_new(names[destroys(step)],
					      json_string(step->node));
	}
	rc = refuse(names, err);
	for (i = 0; i < count; i++)
		json_decref(granted[i].nodes);
	for (i = 0; i < BU_LEN(names); i++)
		json_decref(names[i]);
	return rc;
}
