/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan says of a quarantined node whose system is there. */
#include "provisioner/plan/plan.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/plan.h"

static const char *
quarantined(const json_t *plan)
{
	return why_of(json_array_get(json_object_get(plan, "quarantined"), 0));
}

/* It may be repaired by now, and a wipe would be for nothing. */
START_TEST(a_quarantined_node_with_its_system_is_not_wiped)
{
	static const char says[] = "it is quarantined: a reason; bringup node validate "
				   "node001 tests it again without a wipe, bringup "
				   "node rebuild node001 writes it again";
	struct site site;
	bu_autojson json_t *same = NULL, *held = NULL, *mild = NULL;
	bu_autojson json_t *broken = NULL, *again = NULL;

	begin(&site, NULL, NULL, "features = rxe, lab", "features = rxe");
	site.nodes[0]->state = BU_STATE_QUARANTINED;
	BU_REASON_SET(bu_node_reason(site.nodes[0]), STEP_FAILED, .text = {"a reason"});
	mild = make(&site);
	ck_assert_ptr_nonnull(strstr(refusal(mild), says));
	ck_assert_ptr_nonnull(strstr(refusal(mild), "; for what changes plan again"));
	ck_assert_str_eq(quarantined(mild), "");
	site.input.desired = site.applied;
	same = make(&site);
	ck_assert_str_eq(quarantined(same), says);
	ck_assert_uint_eq(json_array_size(json_object_get(same, "refused")), 0);
	ck_assert_int_eq(bu_json_int(same, "unchanged", -1), 2);
	bu_node_hold(site.nodes[0])->owner = BU_OWNER_PERSON;
	strcpy(bu_node_hold(site.nodes[0])->by, "anna");
	held = make(&site);
	ck_assert_ptr_nonnull(
		strstr(quarantined(held), "; held by anna: bringup node release"));
	bu_node_hold(site.nodes[0])->owner = BU_OWNER_NONE;
	site.input.rebuild = BU_CLASS_WIPE;
	again = make(&site);
	ck_assert_str_eq(bu_json_str(step_of(again, 0), "class", ""), "wipe");
	site.input.rebuild = BU_CLASS_NONE;
	/* its system is half written */
	site.nodes[0]->writing = 1;
	broken = make(&site);
	ck_assert_str_eq(bu_json_str(step_of(broken, 0), "class", ""), "wipe");
	end(&site);
}
END_TEST

BU_UNIT("plan: quarantined", a_quarantined_node_with_its_system_is_not_wiped)
