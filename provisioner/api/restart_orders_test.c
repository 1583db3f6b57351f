/* SPDX-License-Identifier: Apache-2.0 */
/* Orders under way that begin anew from another revision: who goes back, who goes on,
 * and that nothing is lost without its grant. */
#include <string.h>

#include "tests/support/desk.h"

static const char was[] = "[pool train]\n",
		  is[] = "[node node001]\nkargs = quiet\n[pool train]\n";
static const char wipe[] = "[{\"class\":\"wipe\"}]";

static struct desk desk;
static struct rig *rig;
static struct bu_node *node;

/* A plan in which the orders of these nodes begin anew. */
static json_t *
plan_anew(const char *nodes)
{
	struct bu_tree *tree = rig_tree(3, was, is);
	bu_autojson json_t *value = bu_tree_to_json(tree);
	bu_autojson json_t *request =
		json_pack("{s:O,s:s}", "tree", value, "restart", nodes);
	bu_autofree char *text = bu_json_canonical(request);

	bu_tree_destroy(tree);
	return site_call(&desk.site, desk.site.local, "POST", "/v1/plan", text, 200);
}

static const json_t *
member(const json_t *planned, const char *name)
{
	return json_object_get(json_object_get(planned, "plan"), name);
}

static const json_t *
row_of(const json_t *rows, const char *name)
{
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row)
		if (strcmp(bu_json_str(row, "node", ""), name) == 0)
			return row;
	return NULL;
}

static void
until_applied(const json_t *planned)
{
	const char *revision =
		bu_json_str(json_object_get(planned, "plan"), "revision", "");

	for (int i = 0; i < 100 && strcmp(rig->fleet->revision, revision) != 0; i++)
		rig_pass(rig, 1);
	ck_assert_str_eq(rig->fleet->revision, revision);
}

static void
begin_applied(void)
{
	bu_autojson json_t *planned = NULL;

	begin(&desk);
	rig = &desk.site.rig;
	planned = plan(&desk, NULL, NULL, NULL, 200);
	json_decref(apply(&desk, planned, 200));
	until_applied(planned);
	node = rig_node(rig, 1);
}

static const char *
kargs_of(void)
{
	struct bu_target target;

	ck_assert_int_eq(bu_fleet_target(rig->fleet, node, &target, NULL), 0);
	return target.node->kargs ? target.node->kargs : "";
}

START_TEST(an_order_begins_anew_from_the_new_revision)
{
	bu_autojson json_t *plain = NULL, *planned = NULL;
	const json_t *step;
	int64_t seq;

	begin_applied();
	rig_start(rig, 1);
	seq = node->order->seq;
	plain = plan(&desk, was, is, NULL, 200);
	ck_assert_ptr_null(row_of(member(plain, "steps"), "node001"));
	ck_assert_ptr_nonnull(row_of(member(plain, "under_way"), "node001"));
	planned = plan_anew("node001");
	step = row_of(member(planned, "steps"), "node001");
	ck_assert_ptr_nonnull(step);
	ck_assert_int_eq(bu_json_bool(step, "anew", 0), 1);
	ck_assert_str_eq(bu_json_str(step, "class", ""), "install");
	ck_assert_ptr_null(row_of(member(planned, "under_way"), "node001"));
	json_decref(apply(&desk, planned, 200));
	until_applied(planned);
	ck_assert_int_eq(node->state, BU_STATE_ENROLLED);
	rig_reason_is(node->reason, ORDERED_ANEW);
	ck_assert_int_ne(node->order->seq, seq);
	ck_assert_int_eq(node->order->open && !node->order->begun, 1);
	rig_start(rig, 1);
	ck_assert_str_eq(node->order->revision, rig->fleet->revision);
	ck_assert_str_eq(kargs_of(), "quiet");
	end(&desk);
}
END_TEST

/* Only those that are named. */
START_TEST(an_order_that_is_not_named_goes_on)
{
	bu_autojson json_t *planned = NULL;
	int64_t seq;

	begin_applied();
	rig_start(rig, 1);
	rig_start(rig, 2);
	seq = rig_node(rig, 2)->order->seq;
	planned = plan_anew("node[001,003]");
	ck_assert_str_eq(bu_json_str(json_object_get(planned, "plan"), "restart", ""),
			 "node[001,003]");
	ck_assert_str_eq(rig_sentence(json_array_get(member(planned, "warnings"), 0)),
			 "--restart-orders: no order under way of node003");
	json_decref(apply(&desk, planned, 200));
	until_applied(planned);
	ck_assert_int_eq(rig_node(rig, 2)->order->seq, seq);
	ck_assert_int_eq(rig_node(rig, 2)->order->begun, 1);
	ck_assert_int_eq(rig_node(rig, 2)->state, BU_STATE_INSPECTING);
	end(&desk);
}
END_TEST

static void
goes_on(const char *why)
{
	bu_autojson json_t *planned = plan_anew("node001");
	const json_t *refused = row_of(member(planned, "refused"), "node001");
	int64_t seq = node->order->seq;
	enum bu_state state = node->state;

	ck_assert_str_eq(bu_json_str(json_object_get(refused, "why"), "code", ""),
			 "goes-on");
	ck_assert_msg(strstr(rig_sentence(json_object_get(refused, "why")), why) !=
			      NULL,
		      "%s", rig_sentence(json_object_get(refused, "why")));
	ck_assert_ptr_null(row_of(member(planned, "steps"), "node001"));
	ck_assert_ptr_nonnull(row_of(member(planned, "under_way"), "node001"));
	json_decref(apply_with(&desk, planned, wipe, 200));
	until_applied(planned);
	ck_assert_int_eq(node->order->seq, seq);
	ck_assert_int_eq(node->state, state);
	ck_assert_str_eq(kargs_of(), "");
}

/* Half a system is on its disk, and its grant is for that order. */
START_TEST(an_order_that_writes_goes_on)
{
	begin_applied();
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	rig_until_step(rig, node, BU_ACTION_INSTALL, BU_STEP_OPEN);
	goes_on("it is imaging");
	rig_fire(rig, node, BU_TRIGGER_REPEAT);
	rig_until(rig, node, BU_STATE_INSPECTING);
	goes_on("its disk is being written");
	end(&desk);
}
END_TEST

/* A first install broke off; the wipe that was granted is for the order that began. */
START_TEST(a_wipe_begins_anew_only_by_a_grant_of_its_own)
{
	bu_autojson json_t *first = NULL, *planned = NULL, *denied = NULL;
	int64_t seq;

	begin_applied();
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	rig_until_step(rig, node, BU_ACTION_INSTALL, BU_STEP_OPEN);
	rig_fire(rig, node, BU_TRIGGER_FAULT);
	rig_until(rig, node, BU_STATE_FAILED);
	first = plan(&desk, NULL, NULL, NULL, 200);
	json_decref(apply_with(&desk, first, wipe, 200));
	for (int i = 0; i < 100 && !node->order->open; i++)
		rig_pass(rig, 1);
	rig_start(rig, 1);
	seq = node->order->seq;
	planned = plan_anew("node001");
	ck_assert_str_eq(
		bu_json_str(row_of(member(planned, "steps"), "node001"), "class", ""),
		"wipe");
	denied = apply(&desk, planned, 403);
	says(denied, "--grant wipe:node001");
	rig_pass(rig, 10);
	ck_assert_int_eq(node->order->seq, seq);
	ck_assert_int_eq(node->order->begun, 1);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	json_decref(apply_with(&desk, planned, wipe, 200));
	until_applied(planned);
	ck_assert_int_ne(node->order->seq, seq);
	ck_assert_int_eq(node->order->class, BU_CLASS_WIPE);
	ck_assert_int_eq(node->state, BU_STATE_ENROLLED);
	end(&desk);
}
END_TEST

/* Its jobs go on, and its next turn is that of the new order. */
START_TEST(a_node_that_still_drains_goes_back_into_its_cluster)
{
	bu_autojson json_t *other = NULL, *planned = NULL;
	const json_t *step;

	begin_applied();
	rig_to_validating(rig, 1);
	rig_join(rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	other = plan(&desk, was, "[node node001]\nkargs = debug\n[pool train]\n", NULL,
		     200);
	json_decref(apply(&desk, other, 200));
	until_applied(other);
	rig_write(rig, "sinfo", "draining\n");
	ck_assert_int_eq(bu_reconcile_begin(rig->rec, node, NULL), 0);
	rig_until(rig, node, BU_STATE_DRAINING);
	rig_until_step(rig, node, BU_ACTION_LEAVE, BU_STEP_OPEN);
	planned = plan_anew("node001");
	step = row_of(member(planned, "steps"), "node001");
	ck_assert_str_eq(bu_json_str(step, "class", ""), "reboot");
	ck_assert_int_eq((int)bu_json_int(step, "batch", -1), 0);
	json_decref(apply(&desk, planned, 200));
	until_applied(planned);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	ck_assert_int_eq(node->order->open && !node->order->begun, 1);
	ck_assert_int_eq(node->order->class, BU_CLASS_REBOOT);
	end(&desk);
}
END_TEST

/* It has gone on since the plan was made. */
START_TEST(a_plan_that_is_overtaken_withdraws_nothing)
{
	bu_autojson json_t *planned = NULL, *refused = NULL;
	int64_t seq;

	begin_applied();
	rig_start(rig, 1);
	seq = node->order->seq;
	planned = plan_anew("node001");
	rig_inspect(rig, 1);
	refused = apply(&desk, planned, 409);
	says(refused, "node001 has changed since this plan was made");
	ck_assert_int_eq(node->order->seq, seq);
	ck_assert_int_eq(node->state, BU_STATE_IMAGING);
	end(&desk);
}
END_TEST

RIG_UNIT("restart orders", an_order_begins_anew_from_the_new_revision,
	 an_order_that_is_not_named_goes_on, an_order_that_writes_goes_on,
	 a_wipe_begins_anew_only_by_a_grant_of_its_own,
	 a_node_that_still_drains_goes_back_into_its_cluster,
	 a_plan_that_is_overtaken_withdraws_nothing)
