/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says of nodes whose system runs from memory. */
#include "provisioner/plan/plan.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/plan.h"

/* A pool whose nodes run from memory: state, what it has (in memory or on its disk),
 * what is on the disk. No disk is ever written, so nothing is to be granted. */
static const struct {
	enum bu_state state;
	const char *installed;
	int ram, touched;
	enum bu_plan_disk disk;
	const char *class, *why;
} in_memory[] = {
	{BU_STATE_ENROLLED, "", 0, 0, BU_PLAN_DISK_WRITTEN, "install", "not installed"},
	{BU_STATE_ENROLLED, "", 0, 1, BU_PLAN_DISK_WRITTEN, "install", "not installed"},
	{BU_STATE_FAILED, "d1", 1, 0, BU_PLAN_DISK_WRITTEN, "install",
	 "failed: a reason"},
	{BU_STATE_QUARANTINED, "d1", 1, 0, BU_PLAN_DISK_WRITTEN, "", ""},
	{BU_STATE_QUARANTINED, "d0", 1, 0, BU_PLAN_DISK_WRITTEN, "install",
	 "quarantined: a reason"},
	{BU_STATE_QUARANTINED, "", 0, 1, BU_PLAN_DISK_WRITTEN, "install",
	 "quarantined: a reason"},
	{BU_STATE_READY, "d1", 1, 0, BU_PLAN_DISK_WRITTEN, "", ""},
	{BU_STATE_READY, "d0", 1, 0, BU_PLAN_DISK_WRITTEN, "reboot",
	 "image debian12 d0 -> debian12 d1"},
};

START_TEST(what_runs_from_memory_costs_no_disk)
{
	static const char root[] = "root = ram\ngres =";

	for (size_t i = 0; i < BU_LEN(in_memory); i++) {
		struct site site;
		struct bu_node *node;
		bu_autojson json_t *plan = NULL;
		const json_t *step;

		begin(&site, "gres =", root, "gres =", root);
		site.disk = in_memory[i].disk;
		node = site.nodes[0];
		node->state = in_memory[i].state;
		node->ram = in_memory[i].ram;
		node->disk_touched = in_memory[i].touched;
		bu_node_set_installed_digest(node, in_memory[i].installed);
		if (node->state == BU_STATE_FAILED ||
		    node->state == BU_STATE_QUARANTINED)
			BU_REASON_SET(bu_node_reason(node), STEP_FAILED,
				      .text = {"a reason"});
		plan = make(&site);
		step = step_of(plan, 0);
		ck_assert_msg(
			strcmp(bu_json_str(step, "class", ""), in_memory[i].class) == 0,
			"row %zu: %s", i, bu_json_str(step, "class", ""));
		ck_assert_msg(strstr(why_of(step), in_memory[i].why), "row %zu: %s", i,
			      why_of(step));
		ck_assert_ptr_null(json_object_get(step, "disk"));
		end(&site);
	}
}
END_TEST

/* Another one is written to a disk by nobody's order but a person's grant. */
START_TEST(back_to_a_disk_that_holds_something_is_a_wipe)
{
	static const char root[] = "root = ram\ngres =";
	static const enum bu_plan_disk disks[] = {BU_PLAN_DISK_WRITTEN,
						  BU_PLAN_DISK_EMPTY};

	for (size_t i = 0; i < BU_LEN(disks); i++) {
		struct site site;
		struct bu_node *node;
		bu_autojson json_t *plan = NULL;

		begin(&site, "gres =", root, NULL, NULL);
		site.disk = disks[i];
		node = site.nodes[0];
		node->state = BU_STATE_FAILED;
		node->ram = 1;
		node->disk_touched = 0;
		bu_node_set_installed_digest(node, "d1");
		BU_REASON_SET(bu_node_reason(node), STEP_FAILED, .text = {"a reason"});
		plan = make(&site);
		ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""),
				 i ? "install" : "wipe");
		end(&site);
	}
}
END_TEST

BU_UNIT("plan/ram", what_runs_from_memory_costs_no_disk,
	back_to_a_disk_that_holds_something_is_a_wipe)
