/* SPDX-License-Identifier: Apache-2.0 */
/* Each decision of the plan, as a row. */
#include "provisioner/plan/plan.h"

#include <string.h>

#include "base/json.h"
#include "profiles/testing.h"
#include "tests/support/unit.h"

static const char *
digest_of(void *arg, const struct bu_desired_image *image, struct bu_err *err)
{
	ck_assert_str_eq(image->name, "debian12");
	if (!arg)
		bu_err_set(err, BU_ERR_VERIFY, 0, "image debian12 is not signed");
	return arg;
}

static struct bu_desired *
load(void)
{
	struct bu_tree *tree = bu_testing_tree("site.ini", bu_testing_site, "racks.csv",
					       bu_testing_racks, NULL);
	struct bu_findings findings = {0};
	struct bu_desired *desired = bu_profiles_load(tree, &findings);

	ck_assert_ptr_nonnull(desired);
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
	return desired;
}

static json_t *
plan(struct bu_node *const *nodes, size_t count, const char *digest, struct bu_err *err)
{
	struct bu_desired *desired = load();
	struct bu_plan_input input = {.desired = desired,
				      .revision = "rev",
				      .commit = "abc",
				      .nodes = nodes,
				      .count = count,
				      .image_digest = digest_of,
				      .arg = (void *)(uintptr_t)digest};
	json_t *made = bu_plan_make(&input, err);

	bu_desired_destroy(desired);
	return made;
}

START_TEST(new_nodes_are_installed)
{
	bu_autojson json_t *made = plan(NULL, 0, "d1", NULL);
	const json_t *steps = json_object_get(made, "steps");
	const json_t *step = json_array_get(steps, 1);

	ck_assert_uint_eq(json_array_size(steps), 2);
	ck_assert_str_eq(bu_json_str(step, "node", ""), "node002");
	ck_assert_str_eq(bu_json_str(step, "pool", ""), "train");
	ck_assert_str_eq(bu_json_str(step, "class", ""), "install");
	ck_assert_str_eq(bu_json_str(step, "image", ""), "debian12");
	ck_assert_str_eq(bu_json_str(step, "digest", ""), "d1");
	ck_assert_str_eq(bu_json_str(step, "from", "?"), "");
	ck_assert_str_eq(bu_json_str(step, "why", ""), "new in the profile");
	ck_assert_str_eq(bu_json_str(made, "revision", ""), "rev");
	ck_assert_str_eq(bu_json_str(made, "commit", ""), "abc");
	ck_assert_int_eq(bu_json_int(made, "unchanged", -1), 0);
}
END_TEST

/* State, installed and ordered image, disk written, order open -> what is planned for
 * image "d1". class "": unchanged; "refused". */
static const struct {
	enum bu_state state;
	const char *installed, *ordered;
	int touched, open;
	const char *class, *why;
} rows[] = {
	{BU_STATE_ENROLLED, "", "", 0, 0, "install", "not installed"},
	{BU_STATE_ENROLLED, "", "d1", 0, 1, "", ""},
	{BU_STATE_ENROLLED, "", "d0", 1, 0, "wipe", "not installed"},
	{BU_STATE_FAILED, "", "d1", 0, 0, "install", "failed: a reason"},
	{BU_STATE_FAILED, "d1", "d1", 1, 0, "wipe", "failed: a reason"},
	{BU_STATE_QUARANTINED, "d1", "d1", 1, 0, "wipe", "quarantined: a reason"},
	{BU_STATE_READY, "d1", "d1", 1, 0, "", ""},
	{BU_STATE_READY, "d1", "d0", 1, 1, "", ""},
	{BU_STATE_READY, "d0", "d0", 1, 0, "wipe", "image old d0 -> debian12 d1"},
	{BU_STATE_IMAGING, "", "d1", 1, 1, "", ""},
	{BU_STATE_IMAGING, "", "d0", 1, 1, "refused",
	 "it is imaging with another image"},
	{BU_STATE_VALIDATING, "d0", "d0", 1, 0, "refused", "wait until it is settled"},
};

START_TEST(each_situation_has_its_consequence)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_node *nodes[2] = {bu_node_create("node001"),
					    bu_node_create("node002")};
		struct bu_node *node = nodes[0];
		bu_autojson json_t *made = NULL;
		int refused = strcmp(rows[i].class, "refused") == 0;
		const json_t *step;

		node->state = rows[i].state;
		node->disk_touched = rows[i].touched;
		node->order.open = rows[i].open;
		strcpy(node->installed_image, "old");
		strcpy(node->installed_digest, rows[i].installed);
		strcpy(node->order.image_digest, rows[i].ordered);
		if (rows[i].state == BU_STATE_FAILED ||
		    rows[i].state == BU_STATE_QUARANTINED)
			strcpy(node->reason, "a reason");
		nodes[1]->state = BU_STATE_READY; /* the other one is as it should be */
		strcpy(nodes[1]->installed_digest, "d1");
		made = plan(nodes, 2, "d1", NULL);
		step = json_array_get(
			json_object_get(made, refused ? "refused" : "steps"), 0);
		ck_assert_msg(bu_json_int(made, "unchanged", -1) ==
				      (*rows[i].class ? 1 : 2),
			      "row %zu", i);
		if (!refused)
			ck_assert_str_eq(bu_json_str(step, "class", ""), rows[i].class);
		ck_assert_msg(strstr(bu_json_str(step, "why", ""), rows[i].why) != NULL,
			      "row %zu: %s", i, bu_json_str(step, "why", ""));
		bu_node_destroy(nodes[0]);
		bu_node_destroy(nodes[1]);
	}
}
END_TEST

START_TEST(who_left_the_profile_is_named)
{
	struct bu_node *nodes[] = {bu_node_create("node000"),
				   bu_node_create("node009")};
	bu_autojson json_t *made = plan(nodes, 2, "d1", NULL);
	bu_autojson json_t *want = json_pack("[s,s]", "node000", "node009");

	ck_assert(json_equal(json_object_get(made, "left"), want));
	ck_assert_uint_eq(json_array_size(json_object_get(made, "steps")), 2);
	bu_node_destroy(nodes[0]);
	bu_node_destroy(nodes[1]);
}
END_TEST

START_TEST(an_image_that_cannot_be_used_is_no_plan)
{
	struct bu_err err = {0};

	ck_assert_ptr_null(plan(NULL, 0, NULL, &err));
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_str_eq(err.text, "node node001: image debian12 is not signed");
}
END_TEST

START_TEST(the_same_facts_give_the_same_plan)
{
	bu_autojson json_t *a = plan(NULL, 0, "d1", NULL),
			   *b = plan(NULL, 0, "d1", NULL);
	bu_autojson json_t *c = plan(NULL, 0, "d2", NULL);
	char da[65], db[65], dc[65];

	bu_json_digest(a, da);
	bu_json_digest(b, db);
	bu_json_digest(c, dc);
	ck_assert_str_eq(da, db);
	ck_assert_str_ne(da, dc);
}
END_TEST

START_TEST(grants_are_asked_for_by_name)
{
	bu_autojson json_t *mixed = json_pack(
		"{s:[{s:s,s:s},{s:s,s:s},{s:s,s:s}]}", "steps", "node", "a", "class",
		"install", "node", "b", "class", "wipe", "node", "c", "class", "wipe");
	bu_autojson json_t *mild =
		json_pack("{s:[{s:s,s:s}]}", "steps", "node", "a", "class", "install");
	bu_autofree char *names = bu_plan_ungranted(mixed, NULL), *other = NULL;

	ck_assert_str_eq(names, "b,c");
	other = bu_plan_ungranted(mixed, "install");
	ck_assert_str_eq(other, "b,c");
	ck_assert_ptr_null(bu_plan_ungranted(mixed, "wipe"));
	ck_assert_ptr_null(bu_plan_ungranted(mild, NULL));
}
END_TEST

BU_UNIT("plan", new_nodes_are_installed, each_situation_has_its_consequence,
	who_left_the_profile_is_named, an_image_that_cannot_be_used_is_no_plan,
	the_same_facts_give_the_same_plan, grants_are_asked_for_by_name)
