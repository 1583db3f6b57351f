/* SPDX-License-Identifier: Apache-2.0 */
/* The status for those who have an earlier one: what changed, once for all of them. */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/support/row.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

enum { WATCHERS = 100 };

static json_t *
since(struct site *site, int64_t version)
{
	bu_autofree char *path =
		bu_xasprintf("/v1/status?since=%lld", (long long)version);

	return site_call(site, site->page, "GET", path, "", 200);
}

/* The names of the nodes of an answer, "node001 node002"; "*" before those of a whole
 * one. */
static void
names_are(json_t *answer, const char *want)
{
	bu_autofree char *text = bu_xstrdup("");
	json_t *node;
	size_t i;

	json_array_foreach (json_object_get(answer, "nodes"), i, node) {
		bu_autofree char *before = bu_steal(&text);

		text = bu_xasprintf("%s%s%s", before, *before ? " " : "",
				    bu_json_str(node, "name", "?"));
	}
	ck_assert_str_eq(text, *want == '*' ? want + 1 : want);
	ck_assert_int_eq(bu_json_int(answer, "since", 0) == 0, *want == '*');
	json_decref(answer);
}

static void
hold(struct site *site, const char *node)
{
	struct bu_event event;

	row_init(&event, BU_EVENT_HELD, node,
		 json_pack("{s:s,s:s,s:s}", "owner", "ann", "kind", "person", "reason",
			   "a look"));
	bu_reconcile_note(site->rig.rec, &event, 1);
	rig_pass(&site->rig, 1);
}

START_TEST(whoever_has_a_version_gets_the_nodes_that_changed)
{
	struct site site;
	int64_t first, second;

	site_begin(&site, 3);
	rig_pass(&site.rig, 1);
	first = site.rig.fleet->version;
	names_are(since(&site, 0), "*node001 node002 node003");
	names_are(since(&site, first), "");
	hold(&site, "node002");
	second = site.rig.fleet->version;
	names_are(since(&site, first), "node002");
	names_are(since(&site, second), "");
	hold(&site, "node003");
	names_are(since(&site, first), "node002 node003");
	names_are(since(&site, second), "node003");
	/* Of no version of this process. */
	names_are(since(&site, first - 1000000), "*node001 node002 node003");
	names_are(since(&site, site.rig.fleet->version + 1),
		  "*node001 node002 node003");
	/* An apply may change all that is said of any node. */
	second = site.rig.fleet->version;
	rig_revise(&site.rig, 3, NULL, NULL);
	rig_pass(&site.rig, 1);
	names_are(since(&site, second), "*node001 node002 node003");
	site_end(&site);
}
END_TEST

START_TEST(a_version_of_an_earlier_process_counts_for_nothing)
{
	struct site site;
	int64_t before;

	site_begin(&site, 2);
	before = site.rig.fleet->version;
	rig_pass(&site.rig, 1000);
	site_restart(&site);
	ck_assert_int_gt(site.rig.fleet->version, before);
	names_are(since(&site, before), "*node001 node002");
	site_end(&site);
}
END_TEST

/* A retired node that left the profile is a node no more. */
START_TEST(a_node_that_is_gone_is_named)
{
	struct site site;
	bu_autojson json_t *answer = NULL;
	int64_t version;
	struct bu_event event;

	site_begin(&site, 2);
	rig_revise(&site.rig, 1, NULL, NULL);
	rig_pass(&site.rig, 1);
	version = site.rig.fleet->version;
	row_init(&event, BU_EVENT_STATE, "node002",
		 json_pack("{s:s,s:s}", "to", "retired", "on", "retire"));
	bu_reconcile_note(site.rig.rec, &event, 1);
	rig_pass(&site.rig, 1);
	answer = since(&site, version);
	ck_assert_str_eq(
		json_string_value(json_array_get(json_object_get(answer, "gone"), 0)),
		"node002");
	ck_assert_uint_eq(json_array_size(json_object_get(answer, "nodes")), 0);
	site_end(&site);
}
END_TEST

/* Why a node waits for its turn follows from what other nodes do. */
START_TEST(who_waits_for_a_turn_is_told_why_as_it_changes)
{
	struct site site;
	bu_autojson json_t *first = NULL, *next = NULL;
	bu_autofree char *text = NULL;
	const json_t *order;
	int64_t version;

	site_begin(&site, 2);
	rig_to_validating(&site.rig, 1);
	rig_join(&site.rig, 1);
	first = since(&site, 0);
	order = json_object_get(json_array_get(json_object_get(first, "nodes"), 1),
				"order");
	ck_assert_str_eq(bu_json_str(order, "status", ""), "turn");
	ck_assert_ptr_null(json_object_get(order, "reason"));
	version = bu_json_int(first, "version", 0);
	hold(&site, "node002");
	names_are(since(&site, version), "node002");
	version = site.rig.fleet->version;
	json_decref(since(&site, version)); /* it is known why */
	bu_fleet_touch(site.rig.fleet, rig_node(&site.rig, 1));
	json_decref(since(&site, version));
	version = site.rig.fleet->version;
	/* Nobody names node002, and yet its words are others. */
	BU_TEXT_COPY(bu_node_hold(rig_node(&site.rig, 2))->by, "bob");
	site.pokes = 1;
	bu_fleet_touch(site.rig.fleet, rig_node(&site.rig, 1));
	next = since(&site, version);
	ck_assert_uint_eq(json_array_size(json_object_get(next, "nodes")), 2);
	order = json_object_get(json_array_get(json_object_get(next, "nodes"), 1),
				"order");
	text = bu_said_text(json_object_get(order, "reason"));
	ck_assert_str_eq(text, "it is held by bob");
	site_end(&site);
}
END_TEST

/* Many wait for the same version: all are told, with the same bytes. */
START_TEST(many_watchers_share_an_answer)
{
	struct site site;
	bu_autofree char *path = NULL;
	struct talk talks[WATCHERS];

	site_begin(&site, 2);
	rig_pass(&site.rig, 1);
	path = bu_xasprintf("/v1/status?since=%lld&wait=60",
			    (long long)site.rig.fleet->version);
	for (int i = 0; i < WATCHERS; i++)
		site_ask(&talks[i], site.page, "GET", path, "");
	for (int i = 0; i < 20; i++)
		rig_pass(&site.rig, 1);
	hold(&site, "node001");
	rig_pass(&site.rig, 200);
	for (int i = 0; i < WATCHERS; i++)
		site_until_ended(&site, &talks[i]);
	for (int i = 0; i < WATCHERS; i++) {
		ck_assert_int_eq(talks[i].status, 200);
		ck_assert_str_eq(talks[i].body, talks[0].body);
	}
	names_are(json_loads(talks[0].body, 0, NULL), "node001");
	for (int i = 0; i < WATCHERS; i++)
		talk_end(&talks[i]);
	site_end(&site);
}
END_TEST

/* Whoever asks for the whole status gets one with the time of about now. */
START_TEST(an_old_rendering_is_not_given_out)
{
	struct site site;
	bu_autojson json_t *first = NULL, *next = NULL;

	site_begin(&site, 1);
	first = since(&site, 0);
	for (int i = 0; i < 3; i++)
		rig_pass(&site.rig, 1000);
	next = since(&site, 0);
	ck_assert_int_ge(bu_json_int(next, "time_ms", 0),
			 bu_json_int(first, "time_ms", 0) + 2000);
	site_end(&site);
}
END_TEST

static void
pair(struct site *site, const char *b, const char *boot, enum bu_verdict verdict)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_PAIR, "", pair, .probe = "p", .rail = "fabric",
		      .a = "node001", .b = b, .boot_a = "boot-1", .boot_b = boot,
		      .ab_gbps = 9.5, .verdict = verdict, .error = "", .mtu = 4096);
	bu_reconcile_note(site->rig.rec, &event, 1);
	rig_pass(&site->rig, 1);
}

/* "b b" of the pairs of a page. */
static void
pairs_are(struct site *site, const char *query, const char *want, int more)
{
	bu_autofree char *path = bu_xasprintf("/v1/fabric/pairs%s", query);
	bu_autojson json_t *page = site_call(site, site->page, "GET", path, "", 200);
	bu_autofree char *text = bu_xstrdup("");
	json_t *one;
	size_t i;

	json_array_foreach (json_object_get(page, "pairs"), i, one) {
		bu_autofree char *before = bu_steal(&text);

		text = bu_xasprintf("%s%s%s", before, *before ? " " : "",
				    bu_json_str(one, "b", "?"));
	}
	ck_assert_str_eq(text, want);
	ck_assert_int_eq(bu_json_bool(page, "more", -1), more);
}

START_TEST(pairs_come_in_pages_of_the_present_boots)
{
	struct site site;
	bu_autojson json_t *before = NULL, *after = NULL;

	site_begin(&site, 4);
	for (int i = 1; i <= 4; i++)
		rig_to_validating(&site.rig, i);
	before = since(&site, 0);
	pair(&site, "node002", "boot-2", BU_VERDICT_PASS);
	pair(&site, "node003", "boot-3", BU_VERDICT_FAIL);
	pair(&site, "node004", "boot-4", BU_VERDICT_WARN);
	after = since(&site, 0);
	ck_assert_int_gt(bu_json_int(after, "pairs_seq", 0),
			 bu_json_int(before, "pairs_seq", 0));
	pairs_are(&site, "", "node002 node003 node004", 0);
	pairs_are(&site, "?limit=2", "node002 node003", 1);
	pairs_are(&site, "?limit=2&after=2", "node004", 0);
	pairs_are(&site, "?after=3", "", 0);
	pairs_are(&site, "?after=99999", "", 0);
	pairs_are(&site, "?verdict=fail,warn", "node003 node004", 0);
	pairs_are(&site, "?verdict=pass", "node002", 0);
	pairs_are(&site, "?verdict=fai", "", 0);
	/* node003 boots: what was measured before is of that boot. */
	bu_node_set_boot_id(rig_node(&site.rig, 3), "boot-9");
	site.pokes = 1;
	pairs_are(&site, "", "node002 node004", 0);
	site_end(&site);
}
END_TEST

START_TEST(a_brake_is_told_with_its_figures)
{
	struct site site;
	bu_autojson json_t *status = NULL;
	const json_t *brake;
	struct bu_event event;

	site_begin(&site, 1);
	BU_EVENT_MAKE(&event, BU_EVENT_BRAKE, "", brake, .scope = "rack r1", .on = 1,
		      .late = 3, .of = 4);
	bu_reconcile_note(site.rig.rec, &event, 1);
	rig_pass(&site.rig, 1);
	status = site_call(&site, site.page, "GET", "/v1/status", "", 200);
	brake = json_array_get(json_object_get(status, "brakes"), 0);
	ck_assert_str_eq(bu_json_str(brake, "scope", ""), "rack r1");
	rig_text_has(rig_sentence(json_object_get(brake, "said")),
		     "3 of 4 nodes of rack r1 are late together, so the cause is not ");
	site_end(&site);
}
END_TEST

/* Of a node that nothing else changes. */
START_TEST(a_list_tells_when_an_agent_was_heard)
{
	static const char *const paths[] = {"/v1/status", "/v1/nodes"};
	struct site site;

	site_begin(&site, 2);
	for (int64_t seen_ms = 1; seen_ms < 1000; seen_ms *= 31) {
		rig_node(&site.rig, 2)->live.last_seen_ms = seen_ms;
		rig_pass(&site.rig, 1100); /* a rendering is given out for a second */
		for (size_t i = 0; i < BU_LEN(paths); i++) {
			bu_autojson json_t *told =
				site_call(&site, site.page, "GET", paths[i], "", 200);
			const json_t *node =
				json_array_get(json_object_get(told, "nodes"), 1);

			ck_assert_str_eq(bu_json_str(node, "name", ""), "node002");
			ck_assert_int_eq(bu_json_int(node, "last_seen_ms", 0), seen_ms);
		}
	}
	site_end(&site);
}
END_TEST

RIG_UNIT("status", a_list_tells_when_an_agent_was_heard,
	 a_brake_is_told_with_its_figures,
	 whoever_has_a_version_gets_the_nodes_that_changed,
	 a_version_of_an_earlier_process_counts_for_nothing,
	 a_node_that_is_gone_is_named, who_waits_for_a_turn_is_told_why_as_it_changes,
	 many_watchers_share_an_answer, an_old_rendering_is_not_given_out,
	 pairs_come_in_pages_of_the_present_boots)
