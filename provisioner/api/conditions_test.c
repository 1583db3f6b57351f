/* SPDX-License-Identifier: Apache-2.0 */
/* A ready node with a condition is not called ready: by the log, rollouts, API and why.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"
#include "tests/support/row.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static void
note(struct rig *rig, const char *node, const char *name, int on, const char *detail)
{
	struct bu_event event;

	row_init(&event, BU_EVENT_CONDITION, node,
		 json_pack("{s:s,s:b,s:s}", "name", name, "on", on, "detail", detail));
	bu_reconcile_note(rig->rec, &event, 1);
	for (int i = 0; i < 5; i++)
		rig_pass(rig, 1);
}

/* Its agent shows another system's stamp; "" = its own again. */
static void
differs(struct rig *rig, int number, const char *text)
{
	struct bu_agent_fact *agent = bu_node_agent(rig_node(rig, number));

	agent->showed = 1;
	bu_text_copy(agent->foreign, sizeof(agent->foreign), text);
	for (int i = 0; i < 5; i++)
		rig_pass(rig, 500);
}

static void
make_ready(struct rig *rig, int nodes)
{
	for (int i = 1; i <= nodes; i++) {
		rig_to_validating(rig, i);
		rig_join(rig, i);
	}
}

/* Of JSON: "NAME TEXT" of the first one. */
static char *
first_of(const json_t *owner)
{
	const json_t *row = json_array_get(json_object_get(owner, "conditions"), 0);

	bu_autofree char *words = bu_said_condition(bu_json_str(row, "name", ""),
						    json_object_get(row, "detail"));

	return bu_xasprintf("%s %s", bu_json_str(row, "name", ""), words);
}

/* Until the next one. */
static const char *
shown_why(const json_t *shown)
{
	static char text[8192];
	bu_autofree char *lines = bu_said_lines(json_object_get(shown, "why"));

	snprintf(text, sizeof(text), "%s", lines);
	return text;
}

START_TEST(ready_that_is_not_to_be_counted_on_is_not_said_as_ready)
{
	struct site site;
	bu_autojson json_t *status = NULL, *shown = NULL;
	bu_autofree char *first = NULL, *counts = NULL;

	site_begin(&site, 2);
	make_ready(&site.rig, 2);
	differs(&site.rig, 1, "step 7");
	status = site_call(&site, site.page, "GET", "/v1/status", "", 200);
	counts = bu_json_canonical(json_object_get(status, "counts"));
	ck_assert_str_eq(counts, "{\"ready\":1,\"ready but stamp-differs\":1}");
	first = first_of(json_array_get(json_object_get(status, "nodes"), 0));
	ck_assert_str_eq(first, "stamp-differs its system is not the one that was "
				"installed: step 7");
	shown = site_call(&site, site.page, "GET", "/v1/nodes/node001", "", 200);
	rig_text_has(shown_why(shown),
		     "but stamp-differs: its system is not the one that was installed: "
		     "step 7, for ");
	rig_text_has(shown_why(shown), "it ends when its agent shows");
	site_end(&site);
}
END_TEST

START_TEST(why_names_what_differs_from_the_profile)
{
	struct site site;
	bu_autojson json_t *shown = NULL, *stamp = NULL;
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-1");
	struct bu_net_link *link;

	site_begin(&site, 1);
	make_ready(&site.rig, 1);
	stamp = rig_stamp(&site.rig, rig_node(&site.rig, 1));
	link = inventory->links = bu_xcalloc(1, sizeof(*inventory->links));
	inventory->links_count = 1;
	BU_TEXT_COPY(link->name, inventory->nics[1].name);
	BU_TEXT_COPY(link->kind, "ethernet");
	link->mtu = 1500;
	link->addresses_count = 1;
	BU_TEXT_COPY(link->addresses[0], "10.78.0.11/24");
	site.rig.fleet->desired->networks[1].mtu = 9000;
	ck_assert_int_eq(bu_reconcile_hello(site.rig.rec, rig_node(&site.rig, 1),
					    BU_WHERE_INSTALLED, stamp, inventory, NULL),
			 0);
	rig_pass(&site.rig, 1);
	shown = site_call(&site, site.page, "GET", "/v1/nodes/node001", "", 200);
	rig_text_has(shown_why(shown), "\ndrift: ");
	rig_text_has(shown_why(shown), "9000");
	site_end(&site);
}
END_TEST

START_TEST(a_condition_survives_a_restart_with_its_time_and_ends)
{
	struct rig rig;
	struct bu_node *node;
	int64_t since_ms;

	rig_begin(&rig, 1);
	make_ready(&rig, 1);
	differs(&rig, 1, "step 7");
	since_ms = rig_node(&rig, 1)->conditions[BU_CONDITION_STAMP_DIFFERS].since_ms;
	rig_pass(&rig, 60000);
	differs(&rig, 1, "step 8");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->conditions[BU_CONDITION_STAMP_DIFFERS].on, 1);
	ck_assert_int_eq(node->conditions[BU_CONDITION_STAMP_DIFFERS].since_ms,
			 since_ms);
	ck_assert_str_eq(
		rig_sentence(node->conditions[BU_CONDITION_STAMP_DIFFERS].detail),
		"step 8");
	ck_assert_int_eq(bu_node_is_away_by_condition(node), 1);
	differs(&rig, 1, "");
	/* Of a younger bringupd: nothing that this one knows. */
	note(&rig, "node001", "on-fire", 1, "");
	rig_restart(&rig);
	ck_assert_int_eq(bu_node_is_away_by_condition(rig_node(&rig, 1)), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(a_condition_of_the_site_is_at_the_top_of_the_status)
{
	struct site site;
	bu_autojson json_t *status = NULL, *after = NULL;
	bu_autofree char *first = NULL;

	site_begin(&site, 1);
	note(&site.rig, "", "disk-full", 1, "/var/lib/bringup");
	status = site_call(&site, site.page, "GET", "/v1/status", "", 200);
	first = first_of(status);
	ck_assert_str_eq(first,
			 "disk-full the appliance's disk is full: /var/lib/bringup");
	note(&site.rig, "", "disk-full", 0, "");
	after = site_call(&site, site.page, "GET", "/v1/status", "", 200);
	ck_assert_uint_eq(json_array_size(json_object_get(after, "conditions")), 0);
	site_end(&site);
}
END_TEST

START_TEST(a_nodeset_names_a_condition)
{
	struct site site;
	bu_autojson json_t *reply = NULL, *wrong = NULL;
	const json_t *nodes;

	site_begin(&site, 3);
	note(&site.rig, "node002", "unreachable", 1, "");
	reply = site_call(&site, site.page, "GET",
			  "/v1/nodes?set=condition=unreachable", "", 200);
	nodes = json_object_get(reply, "nodes");
	ck_assert_uint_eq(json_array_size(nodes), 1);
	ck_assert_str_eq(bu_json_str(json_array_get(nodes, 0), "name", ""), "node002");
	wrong = site_call(&site, site.page, "GET", "/v1/nodes?set=condition=lost", "",
			  400);
	rig_text_has(bu_json_str(json_object_get(wrong, "error"), "text", ""),
		     "unknown condition; known are unreachable, ");
	site_end(&site);
}
END_TEST

static void
hold(struct rig *rig, const char *node)
{
	struct bu_event event;

	row_init(&event, BU_EVENT_HELD, node,
		 json_pack("{s:s,s:s}", "owner", "me", "reason", "a look"));
	bu_reconcile_note(rig->rec, &event, 1);
	rig_pass(rig, 1);
}

static void
look(struct rig *rig)
{
	for (int i = 0; i < 10; i++) {
		bu_rollouts_kick(rig->rollouts);
		rig_pass(rig, 500);
	}
}

/* One of two may be away. */
START_TEST(who_is_away_by_a_condition_takes_the_place_of_a_turn)
{
	struct rig rig;
	bu_autojson json_t *why = NULL;

	rig_begin(&rig, 2);
	make_ready(&rig, 2);
	differs(&rig, 2, "step 7");
	rig_apply(&rig, 2, BU_CLASS_REBOOT, "d2", NULL, NULL);
	hold(&rig, "node002");
	look(&rig);
	ck_assert_int_eq(rig_node(&rig, 1)->order->begun, 0);
	ck_assert_int_eq(rig_node(&rig, 2)->order->begun, 0);
	why = bu_rollouts_why(rig.rollouts, rig_node(&rig, 1));
	rig_text_has(rig_sentence(why), "node002 (ready, stamp-differs) among them");
	/* It is away already: its own turn takes nothing from anybody. */
	ck_assert_int_eq(bu_reconcile_release(rig.rec, rig_node(&rig, 2), "me", NULL),
			 0);
	look(&rig);
	ck_assert_int_eq(rig_node(&rig, 1)->order->begun, 0);
	ck_assert_int_eq(rig_node(&rig, 2)->order->begun, 1);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("conditions", ready_that_is_not_to_be_counted_on_is_not_said_as_ready,
	 why_names_what_differs_from_the_profile,
	 a_condition_survives_a_restart_with_its_time_and_ends,
	 a_condition_of_the_site_is_at_the_top_of_the_status,
	 a_nodeset_names_a_condition,
	 who_is_away_by_a_condition_takes_the_place_of_a_turn)
