/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for some of the nodes; what a step takes, and why it is there. */
#include "provisioner/plan/plan.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/plan.h"

START_TEST(a_limit_leaves_the_others_out)
{
	struct site site;
	struct bu_nodeset *limit = bu_nodeset_parse("node002", NULL, NULL, NULL);
	bu_autojson json_t *plan = NULL, *again = NULL, *overtaken = NULL;

	begin(&site, NULL, NULL, "gres = rdma:rxe:1", "gres = rdma:rxe:2");
	site.input.limit = limit;
	plan = make(&site);
	ck_assert_uint_eq(json_array_size(json_object_get(plan, "steps")), 1);
	ck_assert_str_eq(bu_json_str(step_of(plan, 0), "node", ""), "node002");
	ck_assert_str_eq(bu_json_str(plan, "limit", ""), "node002");
	ck_assert_int_eq(bu_json_int(plan, "left_out", 0), 1);
	/* what happens to the others is not this plan's */
	site.nodes[0]->state = BU_STATE_FAILED;
	again = make(&site);
	ck_assert_int_eq(bu_plan_same(plan, again, NULL), 0);
	/* but an order that waits would be carried out with this revision's files */
	bu_node_order(site.nodes[0])->open = 1;
	overtaken = make(&site);
	ck_assert_str_eq(bu_json_str(step_of(overtaken, 0), "class", ""), "none");
	ck_assert_str_eq(why_of(step_of(overtaken, 0)),
			 "rollout r-1 would change it by another revision; plan it "
			 "again afterwards");
	ck_assert_int_eq(bu_json_int(overtaken, "left_out", -1), 0);
	bu_nodeset_destroy(limit);
	end(&site);
}
END_TEST

/* Three of them are named. */
START_TEST(many_that_moved_are_counted)
{
	bu_autojson json_t *plan = json_pack("{s:s,s:[]}", "base", "b", "steps");
	bu_autojson json_t *again = json_pack(
		"{s:s,s:[{s:s},{s:s},{s:s},{s:s},{s:s}]}", "base", "b", "steps", "node",
		"n1", "node", "n2", "node", "n3", "node", "n4", "node", "n5");
	struct bu_err err = {0};

	ck_assert_int_eq(bu_plan_same(plan, again, &err), -1);
	ck_assert_str_eq(err.text, "n[1-3] and 2 more nodes have changed since this "
				   "plan was made; plan again");
}
END_TEST

/* However the nodes are written: each of them is planned. */
START_TEST(a_limit_is_a_set)
{
	static const char *const limits[] = {"node002,node001", "node001,node002",
					     "node002,node001,node002"};

	for (size_t i = 0; i < BU_LEN(limits); i++) {
		struct site site;
		struct bu_nodeset *limit =
			bu_nodeset_parse(limits[i], NULL, NULL, NULL);
		bu_autojson json_t *plan = NULL;

		begin(&site, NULL, NULL, "gres = rdma:rxe:1", "gres = rdma:rxe:2");
		site.input.limit = limit;
		plan = make(&site);
		ck_assert_uint_eq(json_array_size(json_object_get(plan, "steps")), 2);
		ck_assert_int_eq(bu_json_int(plan, "left_out", -1), 0);
		ck_assert_str_eq(bu_json_str(plan, "limit", ""), "node[001-002]");
		bu_nodeset_destroy(limit);
		end(&site);
	}
}
END_TEST

/* Whatever steps of this kind took elsewhere: what is taken back takes no time. */
START_TEST(what_is_taken_back_takes_no_time)
{
	struct site site;
	bu_autojson json_t *plan = NULL;

	begin(&site, NULL, NULL, NULL, NULL);
	site.minutes = 12.34;
	bu_node_order(site.nodes[0])->open = 1;
	strcpy(bu_node_order(site.nodes[0])->image_digest, "d0");
	plan = make(&site);
	ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""), "none");
	ck_assert(json_is_null(json_object_get(step_of(plan, 0), "minutes")));
	end(&site);
}
END_TEST

static const char *
arg_of(const json_t *step, const char *name)
{
	return bu_json_str(json_object_get(json_object_get(step, "why"), "args"), name,
			   "");
}

static const char *
code_of(const json_t *step)
{
	return bu_json_str(json_object_get(step, "why"), "code", "");
}

/* By which steps are told apart: each has its own, and no other's. */
START_TEST(why_has_a_code_and_arguments)
{
	struct site site;
	bu_autojson json_t *plan = NULL, *changed = NULL;

	begin(&site, NULL, NULL, NULL, NULL);
	for (int i = 0; i < NODES; i++) {
		bu_node_order(site.nodes[i])->open = 1;
		strcpy(bu_node_order(site.nodes[i])->image_digest, "d0");
	}
	strcpy(bu_node_order(site.nodes[1])->rollout, "r-2");
	plan = make(&site);
	for (int i = 0; i < NODES; i++) {
		ck_assert_str_eq(code_of(step_of(plan, i)), "not-wanted");
		ck_assert_str_eq(arg_of(step_of(plan, i), "rollout"),
				 site.nodes[i]->order->rollout);
	}
	end(&site);
	begin(&site, NULL, NULL, "gres = rdma:rxe:1", "gres = rdma:rxe:2");
	bu_node_order(site.nodes[0])->failed = 1;
	BU_REASON_SET(&bu_node_order(site.nodes[0])->reason, STEP_FAILED,
		      .text = {"no link"});
	changed = make(&site);
	ck_assert_str_eq(code_of(step_of(changed, 0)), "changed");
	ck_assert_str_eq(why_of(step_of(changed, 0)) +
				 strlen(arg_of(step_of(changed, 0), "changes")),
			 "; last time: no link");
	ck_assert_str_eq(arg_of(step_of(changed, 1), "last"), "");
	end(&site);
}
END_TEST

BU_UNIT("limit", many_that_moved_are_counted, why_has_a_code_and_arguments,
	a_limit_leaves_the_others_out, a_limit_is_a_set,
	what_is_taken_back_takes_no_time)
