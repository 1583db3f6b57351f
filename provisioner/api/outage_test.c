/* SPDX-License-Identifier: Apache-2.0 */
/* What people and agents are answered while the log cannot be written. */
#include <string.h>

#include "base/json.h"
#include "tests/support/baddisk.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static struct bu_node *
begin(struct site *site, enum rig_stage stage)
{
	bad_disk_install();
	site_begin(site, 1);
	if (stage >= RIG_STARTED)
		rig_start(&site->rig, 1);
	if (stage >= RIG_IMAGING)
		rig_inspect(&site->rig, 1);
	if (stage >= RIG_BOOTING)
		rig_install(&site->rig, 1);
	if (stage >= RIG_VALIDATING)
		rig_come_up(&site->rig, 1, "boot-1");
	return rig_node(&site->rig, 1);
}

static void
says(const json_t *reply, const char *part)
{
	const json_t *error = json_object_get(reply, "error");

	ck_assert_str_eq(bu_json_str(error, "kind", ""), "io");
	rig_text_has(bu_json_str(error, "text", ""), part);
}

/* As the node's agent, over the handler that its route names. */
static enum bu_answer
agent(struct site *site, bu_handler_fn fn, json_t *body, struct bu_err *err)
{
	struct bu_reply reply = {0};
	struct bu_request request = {.method = "POST",
				     .path = "",
				     .body = body,
				     .peer = rig_node(&site->rig, 1)->machine,
				     .peer_cert = rig_node(&site->rig, 1)->agent_cert};
	enum bu_answer answer;

	answer = fn(&site->api, &request, &reply, err);
	json_decref(body);
	if (reply.logged && answer == BU_ANSWER_NOW) {
		int64_t after = bu_store_committed(reply.logged);
		int64_t until = bu_store_appended(reply.logged);
		const struct bu_err *bad;

		rig_pass(&site->rig, 1);
		bad = bu_store_refused(reply.logged, after, until);
		if (bad)
			*err = *bad;
		answer = bad ? BU_ANSWER_ERROR : BU_ANSWER_NOW;
	}
	json_decref(reply.json);
	return answer;
}

/* What its agent is given to do; a new reference. */
static json_t *
work_given(struct site *site)
{
	bu_autojson json_t *body =
		json_pack("{s:i,s:i}", "wait_ms", 0, "protocol", BU_AGENT_PROTOCOL);
	struct bu_reply reply = {0};
	struct bu_request request = {.method = "POST",
				     .path = "",
				     .body = body,
				     .peer = rig_node(&site->rig, 1)->machine,
				     .peer_cert = rig_node(&site->rig, 1)->agent_cert};
	json_t *work;

	ck_assert_int_eq(bu_api_agent_work(&site->api, &request, &reply, NULL),
			 BU_ANSWER_NOW);
	work = json_incref(json_object_get(reply.json, "work"));
	json_decref(reply.json);
	return work;
}

static json_t *
hold(struct site *site, int status)
{
	return site_call(site, site->local, "POST", "/v1/nodes/node001/hold",
			 "{\"reason\":\"DIMM A3\"}", status);
}

START_TEST(people_are_told_what_is_full_and_reading_goes_on)
{
	struct site site;
	struct bu_node *node = begin(&site, RIG_ENROLLED);
	bu_autojson json_t *first = NULL, *second = NULL, *status = NULL,
			   *events = NULL;
	bu_autojson json_t *held = NULL, *after = NULL;
	bu_autofree char *page = NULL;
	const json_t *condition;

	bad_disk.full = 1;
	first = hold(&site, 500);
	says(first, "database or disk is full");
	second = hold(&site, 500);
	says(second, "bytes are free there");
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	status = site_call(&site, site.page, "GET", "/v1/status", "", 200);
	condition = json_array_get(json_object_get(status, "conditions"), 0);
	ck_assert_str_eq(bu_json_str(condition, "name", ""), "disk-full");
	rig_text_has(bu_json_str(condition, "detail", ""), "log.db");
	events = site_call(&site, site.page, "GET", "/v1/events", "", 200);
	ck_assert_uint_gt(json_array_size(json_object_get(events, "events")), 0);
	page = site_text(&site, site.page, "/", 200);
	rig_text_has(page, "<html");
	bad_disk_install();
	rig_pass(&site.rig, 3000);
	held = hold(&site, 200);
	rig_reason_says(&node->hold->reason, "DIMM A3");
	after = site_call(&site, site.page, "GET", "/v1/status", "", 200);
	ck_assert_uint_eq(json_array_size(json_object_get(after, "conditions")), 0);
	site_end(&site);
}
END_TEST

START_TEST(an_agent_says_its_result_until_it_is_in_the_log)
{
	struct site site;
	struct bu_node *node = begin(&site, RIG_IMAGING);
	struct bu_err err = {0};

	bad_disk.full = 1;
	for (int i = 0; i < 2; i++) {
		err.kind = BU_ERR_NONE;
		ck_assert_int_eq(agent(&site, bu_api_agent_result,
				       json_pack("{s:s,s:s,s:i}", "id", node->step.id,
						 "kind", "install", "attempt", 1),
				       &err),
				 BU_ANSWER_ERROR);
		ck_assert_int_eq(err.kind, BU_ERR_IO); /* which it tries again */
		ck_assert_int_eq(node->state, BU_STATE_IMAGING);
	}
	ck_assert_int_eq(agent(&site, bu_api_agent_work,
			       json_pack("{s:i,s:i}", "wait_ms", 0, "protocol",
					 BU_AGENT_PROTOCOL),
			       &err),
			 BU_ANSWER_NOW);
	bad_disk_install();
	rig_pass(&site.rig, 3000);
	ck_assert_int_eq(agent(&site, bu_api_agent_result,
			       json_pack("{s:s,s:s,s:i}", "id", node->step.id, "kind",
					 "install", "attempt", 1),
			       &err),
			 BU_ANSWER_NOW);
	rig_until(&site.rig, node, BU_STATE_BOOTING);
	site_end(&site);
}
END_TEST

/* Reports of checks that cannot be kept are none that failed. */
START_TEST(checks_on_a_full_disk_are_not_held_against_the_node)
{
	struct site site;
	struct bu_node *node = begin(&site, RIG_VALIDATING);
	bu_autojson json_t *item = work_given(&site), *none = NULL;
	struct bu_err err = {0};

	ck_assert_str_eq(bu_json_str(item, "kind", ""), "checks");
	bad_disk.full = 1;
	bu_ignore(bu_store_put_blob(site.rig.store, "{}", (char[65]){""}, NULL));
	/* what could not be told afterwards is not begun */
	none = work_given(&site);
	ck_assert(json_is_null(none));
	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(agent(&site, bu_api_agent_result,
				       json_pack("{s:s,s:s,s:i,s:{}}", "id",
						 bu_json_str(item, "id", ""), "kind",
						 "checks", "attempt", 1, "result"),
				       &err),
				 BU_ANSWER_ERROR);
		ck_assert_int_eq(err.kind, BU_ERR_IO);
	}
	ck_assert_int_eq(node->live.checks_errors, 0);
	site_end(&site);
}
END_TEST

/* Who was greeted does not say it again: it waits until the log has it. */
START_TEST(a_hello_that_is_not_in_the_log_is_said_again)
{
	struct site site;
	struct bu_node *node = begin(&site, RIG_BOOTING);
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-1");
	bu_autojson json_t *hello =
		json_pack("{s:i,s:s,s:o,s:o}", "protocol", BU_AGENT_PROTOCOL, "where",
			  "installed", "stamp", rig_stamp(&site.rig, node), "inventory",
			  bu_inventory_to_json(inventory));
	struct bu_err err = {0};

	bad_disk.syncs = 1; /* its inventory goes with its rows, in one commit */
	ck_assert_int_eq(agent(&site, bu_api_agent_hello, json_deep_copy(hello), &err),
			 BU_ANSWER_ERROR);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	rig_pass(&site.rig, 3000);
	rig_pass(&site.rig, 1000);
	ck_assert_int_eq(agent(&site, bu_api_agent_hello, json_deep_copy(hello), &err),
			 BU_ANSWER_NOW);
	rig_until(&site.rig, node, BU_STATE_VALIDATING);
	site_end(&site);
}
END_TEST

RIG_UNIT("outage", people_are_told_what_is_full_and_reading_goes_on,
	 an_agent_says_its_result_until_it_is_in_the_log,
	 checks_on_a_full_disk_are_not_held_against_the_node,
	 a_hello_that_is_not_in_the_log_is_said_again)
