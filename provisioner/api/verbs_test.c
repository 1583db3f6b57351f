/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of nodes, over HTTP. */
#include <string.h>

#include "base/json.h"
#include "tests/support/desk.h"
#include "tests/support/row.h"

static const char *
error_text(const json_t *reply)
{
	return bu_json_str(json_object_get(reply, "error"), "text", "");
}

/* Each node has its answer; a dry run gives the same one and does nothing. */
START_TEST(a_verb_is_answered_for_each_node_of_a_nodeset)
{
	struct site site;
	bu_autojson json_t *dry = NULL, *done = NULL, *ghost = NULL, *odd = NULL;
	const char *dry_body = "{\"nodes\":\"node[001-002]\",\"dry_run\":true}";
	const char *body = "{\"nodes\":\"node[001-002]\",\"by\":\"ann\","
			   "\"reason\":\"sold\"}";
	const json_t *nodes, *dry_nodes;

	site_begin(&site, 2);
	rig_start(&site.rig, 2);
	dry = site_call(&site, site.local, "POST", "/v1/verbs/replace", dry_body, 200);
	rig_pass(&site.rig, 10);
	ck_assert_int_eq(rig_node(&site.rig, 2)->state, BU_STATE_INSPECTING);
	done = site_call(&site, site.local, "POST", "/v1/verbs/replace", body, 200);
	nodes = json_object_get(done, "nodes");
	dry_nodes = json_object_get(dry, "nodes");
	ck_assert_uint_eq(json_array_size(nodes), 2);
	ck_assert(json_equal(nodes, dry_nodes));
	ck_assert_int_eq(bu_json_bool(json_array_get(nodes, 0), "ok", 1), 0);
	ck_assert_str_eq(bu_json_str(json_array_get(nodes, 0), "kind", ""),
			 "wrong-state");
	ck_assert_str_eq(bu_json_str(json_array_get(nodes, 1), "text", ""),
			 "inspecting -> enrolled");
	ck_assert_int_eq(rig_node(&site.rig, 2)->state, BU_STATE_ENROLLED);
	rig_reason_says(rig_node(&site.rig, 2)->reason, "replace by local: sold");
	ghost = site_call(&site, site.local, "POST", "/v1/verbs/drain",
			  "{\"nodes\":\"ghost\"}", 404);
	odd = site_call(&site, site.local, "POST", "/v1/verbs/dance", body, 404);
	ck_assert_ptr_nonnull(strstr(error_text(odd), "unknown verb 'dance'"));
	json_decref(site_call(&site, site.page, "POST", "/v1/verbs/drain", body, 404));
	site_end(&site);
}
END_TEST

/* Its log is kept; nobody has to look at it any more. */
START_TEST(a_retired_node_goes_from_the_views_with_its_profile)
{
	struct site site;
	bu_autojson json_t *before = NULL, *after = NULL, *list = NULL, *events = NULL;

	site_begin(&site, 2);
	json_decref(site_call(&site, site.local, "POST", "/v1/nodes/node002/retire",
			      "{}", 200));
	rig_pass(&site.rig, 1);
	before = site_call(&site, site.local, "GET", "/v1/status", "", 200);
	ck_assert_uint_eq(json_array_size(json_object_get(before, "nodes")), 2);
	rig_apply(&site.rig, 1, BU_CLASS_INSTALL, "d1", NULL, NULL);
	after = site_call(&site, site.local, "GET", "/v1/status", "", 200);
	list = site_call(&site, site.local, "GET", "/v1/nodes", "", 200);
	ck_assert_uint_eq(json_array_size(json_object_get(after, "nodes")), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(list, "nodes")), 1);
	events =
		site_call(&site, site.local, "GET", "/v1/events?node=node002", "", 200);
	ck_assert_uint_gt(json_array_size(json_object_get(events, "events")), 0);
	site_end(&site);
}
END_TEST

static json_t *
ask_rebuild(struct desk *desk, const char *grant, int dry_run)
{
	bu_autofree char *body = bu_xasprintf(
		"{\"nodes\":\"node[001-002]\",\"by\":\"ann\",\"grant\":\"%s\","
		"\"dry_run\":%s}",
		grant, dry_run ? "true" : "false");

	return site_call(&desk->site, desk->site.local, "POST", "/v1/verbs/rebuild",
			 body, 200);
}

static void
answers(const json_t *reply, size_t index, const char *kind, const char *text)
{
	const json_t *row = json_array_get(json_object_get(reply, "nodes"), index);

	ck_assert_str_eq(bu_json_str(row, "kind", ""), kind);
	ck_assert_ptr_nonnull(strstr(bu_json_str(row, "text", ""), text));
}

/* What destroys is asked for with its grant, and ordered as a plan with it. */
START_TEST(a_rebuild_needs_its_grant_and_is_a_plan)
{
	struct desk desk;
	bu_autojson json_t *planned = NULL, *applied = NULL, *bare = NULL, *dry = NULL;
	bu_autojson json_t *kept = NULL, *done = NULL;
	struct bu_node *node;
	struct bu_event event;
	const struct bu_rollout *rollout;
	bu_autofree char *stored = NULL;
	size_t rollouts;

	begin(&desk);
	planned = plan(&desk, NULL, NULL, NULL, 200);
	applied = apply(&desk, planned, 200);
	rig_pass(&desk.site.rig, 50);
	node = rig_node(&desk.site.rig, 1);
	row_init(&event, BU_EVENT_STATE, node->name,
		 json_pack("{s:s,s:s,s:s}", "to", "quarantined", "on", "misfit",
			   "reason", "a fan"));
	bu_reconcile_note(desk.site.rig.rec, &event, 1);
	row_init(&event, BU_EVENT_STATE, "node002",
		 json_pack("{s:s,s:s,s:s}", "to", "imaging", "on", "inspected",
			   "reason", ""));
	bu_reconcile_note(desk.site.rig.rec, &event, 1);
	rig_pass(&desk.site.rig, 50);
	rollouts = desk.site.rig.fleet->rollouts_count;
	bare = ask_rebuild(&desk, "", 0);
	answers(bare, 1, "wrong-state", "node node002 is imaging");
	answers(bare, 0, "denied", "bringup node rebuild node001 --grant wipe");
	kept = ask_rebuild(&desk, "reimage", 0);
	answers(kept, 0, "wrong-state", "there is no data to keep");
	dry = ask_rebuild(&desk, "wipe", 1);
	answers(dry, 0, "none", "ordered: wipe");
	rig_pass(&desk.site.rig, 50);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_uint_eq(desk.site.rig.fleet->rollouts_count, rollouts);
	done = ask_rebuild(&desk, "wipe", 0);
	answers(done, 0, "none", "ordered: wipe, rollout r-");
	rig_pass(&desk.site.rig, 50);
	ck_assert_int_eq(node->order->open, 1);
	ck_assert_int_eq(node->order->class, BU_CLASS_WIPE);
	ck_assert_str_eq(node->order->revision, desk.site.rig.fleet->revision);
	ck_assert_int_eq(node->order->reset, 1);
	/* the plan that the order names can be read later */
	rollout = bu_fleet_rollout(desk.site.rig.fleet, node->order->rollout);
	ck_assert_ptr_nonnull(rollout);
	stored = bu_store_get_blob(desk.site.rig.fleet->store, rollout->applied.plan,
				   NULL);
	ck_assert_ptr_nonnull(stored);
	ck_assert_ptr_nonnull(strstr(stored, "\"wipe\""));
	answers(done, 1, "wrong-state", "node node002 is imaging");
	ck_assert_int_eq(rig_node(&desk.site.rig, 2)->state, BU_STATE_IMAGING);
	end(&desk);
}
END_TEST

/* Who uses which image: nodes, with the pool that they are in, and pools that name it.
 */
START_TEST(users_of_images_are_told)
{
	struct site site;
	bu_autojson json_t *before = NULL, *after = NULL;
	const struct bu_desired *desired;
	const json_t *use;

	site_begin(&site, 2);
	desired = site.rig.fleet->desired;
	before = site_call(&site, site.local, "GET", "/v1/images", "", 200);
	ck_assert_uint_eq(json_object_size(json_object_get(before, "pools")),
			  desired->pools_count);
	use = json_object_get(json_object_get(before, "pools"), "train");
	ck_assert_uint_eq(json_array_size(use), 1);
	ck_assert_str_eq(json_string_value(json_array_get(use, 0)), "debian12");
	site.pokes = 1;
	bu_node_set_installed_image(rig_node(&site.rig, 2), "xebian12");
	bu_node_set_installed_digest(rig_node(&site.rig, 2), "dddddddd");
	((struct bu_desired_image *)(uintptr_t)desired->images)->path =
		(char *)(uintptr_t) "/elsewhere";
	after = site_call(&site, site.local, "GET", "/v1/images", "", 200);
	((struct bu_desired_image *)(uintptr_t)desired->images)->path = NULL;
	use = json_array_get(json_object_get(after, "uses"),
			     json_array_size(json_object_get(after, "uses")) - 1);
	ck_assert_str_eq(bu_json_str(use, "node", ""), "node002");
	ck_assert_str_eq(bu_json_str(use, "pool", ""), "train");
	ck_assert_str_eq(bu_json_str(use, "why", ""), "installed");
	/* What lies elsewhere is not in the store. */
	ck_assert_uint_eq(json_object_size(json_object_get(after, "pools")), 0);
	site_end(&site);
}
END_TEST

RIG_UNIT("api verbs", users_of_images_are_told, a_rebuild_needs_its_grant_and_is_a_plan,
	 a_verb_is_answered_for_each_node_of_a_nodeset,
	 a_retired_node_goes_from_the_views_with_its_profile, )
