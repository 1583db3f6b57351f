/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodesets that people write, as names of nodes: what the profile knows (@train,
 * rack=r1) and what only the log knows (state=quarantined,
 * condition=unreachable). Called by the routes of
 * people and plans. Invariant: each name in the result is a node.
 */
#include <string.h>

#include "base/text.h"
#include "profiles/language/schema.h"
#include "provisioner/api/api.h"

struct asking {
	const struct bu_fleet *fleet;
	const struct bu_desired *desired; /* NULL = there is none */
};

static int
add_state(const struct bu_fleet *fleet, const char *name, struct bu_nodeset *nodeset,
	  struct bu_err *err)
{
	bu_autofree char *known = bu_xstrdup("");
	int found = 0;

	for (int state = 0; state < BU_STATE_COUNT; state++) {
		found |= strcmp(bu_state_name(state), name) == 0;
		bu_text_add(&known, ", ", "%s", bu_state_name(state));
	}
	if (!found)
		return bu_err_set(err, BU_ERR_INVAL, 0, "unknown state; known are %s",
				  known);
	for (size_t i = 0; i < fleet->count; i++)
		if (strcmp(bu_state_name(fleet->nodes[i]->state), name) == 0 &&
		    bu_nodeset_add(nodeset, fleet->nodes[i]->name, err) != 0)
			return -1;
	return 0;
}

static int
add_condition(const struct bu_fleet *fleet, const char *name,
	      struct bu_nodeset *nodeset, struct bu_err *err)
{
	enum bu_condition_id id = bu_condition_from_name(name);
	bu_autofree char *known = bu_xstrdup("");

	for (int i = 0; id == BU_CONDITION_COUNT && i < BU_CONDITION_COUNT; i++)
		bu_text_add(&known, ", ", "%s", bu_condition_info(i)->name);
	if (id == BU_CONDITION_COUNT)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "unknown condition; known are %s", known);
	for (size_t i = 0; i < fleet->count; i++)
		if (fleet->nodes[i]->conditions[id].on &&
		    bu_nodeset_add(nodeset, fleet->nodes[i]->name, err) != 0)
			return -1;
	return 0;
}

/* A bu_nodeset_group_fn. */
static int
find_group(const char *group, struct bu_nodeset *nodeset, void *arg, struct bu_err *err)
{
	const struct asking *asking = arg;

	if (strncmp(group, "state=", 6) == 0)
		return add_state(asking->fleet, group + 6, nodeset, err);
	if (strncmp(group, "condition=", 10) == 0)
		return add_condition(asking->fleet, group + 10, nodeset, err);
	if (!asking->desired)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "'%.80s': no applied profile has it", group);
	return bu_desired_group(group, nodeset, (void *)asking->desired, err);
}

int
bu_api_no_node(const struct bu_fleet *fleet, const char *name, struct bu_err *err)
{
	bu_autofree const char **names = bu_xcalloc(fleet->count + 1, sizeof(*names));
	bu_autofree char *hint = NULL;

	for (size_t i = 0; i < fleet->count; i++)
		if (!bu_node_is_gone(fleet->nodes[i]))
			names[i] = fleet->nodes[i]->name;
	hint = bu_did_you_mean(name, names, fleet->count);
	return bu_err_set(err, BU_ERR_NOTFOUND, 0,
			  "no node '%.63s'%s; bringup node list names them", name,
			  hint);
}

static int
check_known(const struct asking *asking, const struct bu_nodeset *nodeset,
	    struct bu_err *err)
{
	bu_autofree const char **unknown =
		bu_xcalloc(nodeset->count + 1, sizeof(*unknown));
	bu_autofree char *text = NULL;
	size_t count = 0;

	for (size_t i = 0; i < nodeset->count; i++)
		if (!bu_fleet_node(asking->fleet, nodeset->names[i]) &&
		    !(asking->desired &&
		      bu_desired_node(asking->desired, nodeset->names[i])))
			unknown[count++] = nodeset->names[i];
	if (count == 0)
		return 0;
	if (count == 1)
		return bu_api_no_node(asking->fleet, unknown[0], err);
	text = bu_nodeset_fold(unknown, count);
	return bu_err_set(err, BU_ERR_NOTFOUND, 0,
			  "no node %s; bringup node list names them", text);
}

struct bu_nodeset *
bu_api_nodeset(const struct bu_api *api, const struct bu_desired *desired,
	       const char *text, struct bu_err *err)
{
	struct asking asking = {api->fleet, desired};
	struct bu_nodeset *nodeset = bu_nodeset_parse(text, find_group, &asking, err);

	if (!nodeset && err && err->kind == BU_ERR_INVAL)
		bu_err_wrap(err, "'%.80s'", text);
	if (nodeset && check_known(&asking, nodeset, err) != 0) {
		bu_nodeset_destroy(nodeset);
		return NULL;
	}
	if (nodeset)
		bu_nodeset_sort(nodeset);
	return nodeset;
}
