/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of nodes, over HTTP. */
#include <string.h>

#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

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
	ck_assert_str_eq(rig_node(&site.rig, 2)->reason, "replace by ann: sold");
	ghost = site_call(&site, site.local, "POST", "/v1/verbs/drain",
			  "{\"nodes\":\"ghost\"}", 404);
	odd = site_call(&site, site.local, "POST", "/v1/verbs/dance", body, 404);
	ck_assert_ptr_nonnull(
		strstr(error_text(odd), "'dance' cannot be asked of a node"));
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

RIG_UNIT("api verbs", a_verb_is_answered_for_each_node_of_a_nodeset,
	 a_retired_node_goes_from_the_views_with_its_profile)
