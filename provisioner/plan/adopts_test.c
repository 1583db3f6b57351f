/* SPDX-License-Identifier: Apache-2.0 */
/* A plan's words about machines whose system runs, and is not of this log. */
#include <string.h>

#include "base/json.h"
#include "provisioner/plan/plan.h"
#include "tests/support/plan.h"

static int
is_first(void *arg, const struct bu_node *node)
{
	(void)arg;
	return strcmp(node->name, "node001") == 0;
}

/* node001 is to be adopted; on node002 a system runs that is not. */
START_TEST(what_runs_is_adopted_or_needs_a_grant)
{
	struct site site;
	bu_autojson json_t *plan = NULL;

	begin(&site, NULL, NULL, NULL, NULL);
	site.input.adopts = is_first;
	for (int i = 0; i < 2; i++) {
		site.nodes[i]->state = BU_STATE_ENROLLED;
		bu_node_set_installed_digest(site.nodes[i], "");
	}
	bu_node_set_condition(site.nodes[1], BU_CONDITION_UNADOPTED, 1, 0, NULL);
	plan = make(&site);
	ck_assert_uint_eq(json_array_size(json_object_get(plan, "steps")), 1);
	ck_assert_str_eq(bu_json_str(step_of(plan, 0), "node", ""), "node002");
	ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""), "wipe");
	ck_assert_str_eq(
		json_string_value(json_array_get(json_object_get(plan, "adopts"), 0)),
		"node001");
	ck_assert_int_eq(bu_json_int(plan, "unchanged", -1), 0);
	end(&site);
}
END_TEST

BU_UNIT("adopts", what_runs_is_adopted_or_needs_a_grant)
