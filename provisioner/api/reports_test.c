/* SPDX-License-Identifier: Apache-2.0 */
/* What agents report: results, progress, checks under way; who is not one of them. */
#include "provisioner/api/api.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

/* A handler of agents, asked as the node's own machine. */
static enum bu_answer
as_agent(struct site *site, bu_handler_fn fn, json_t *body, json_t **ret,
	 struct bu_err *err)
{
	struct bu_reply reply = {0};
	struct bu_request request = {.method = "POST",
				     .path = "",
				     .body = body,
				     .peer = rig_node(&site->rig, 1)->machine,
				     .peer_cert = rig_node(&site->rig, 1)->agent_cert};
	enum bu_answer answer = fn(&site->api, &request, &reply, err);

	json_decref(body);
	if (ret)
		*ret = reply.json;
	else
		json_decref(reply.json);
	return answer;
}

START_TEST(results_in_any_alphabet_end_the_step)
{
	struct site site;
	struct bu_node *node;
	char text[600];
	struct bu_err err = {0};

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	rig_inspect(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	for (size_t i = 0; i + 3 < sizeof(text); i += 3)
		memcpy(text + i, "\xe2\x82\xac", 4);
	ck_assert_int_eq(
		as_agent(&site, bu_api_agent_result, json_object(), NULL, &err),
		BU_ANSWER_ERROR);
	/* What is no error object is no success either. */
	ck_assert_int_eq(
		as_agent(&site, bu_api_agent_result,
			 json_pack("{s:s,s:s,s:i,s:s}", "id", node->step.id, "kind",
				   "install", "attempt", 1, "error", "broken"),
			 NULL, &err),
		BU_ANSWER_ERROR);
	ck_assert_str_eq(err.text, "error: expected an object");
	ck_assert_int_eq(as_agent(&site, bu_api_agent_result,
				  json_pack("{s:s,s:s,s:i,s:{s:s,s:s}}", "id",
					    node->step.id, "kind", "install", "attempt",
					    1, "error", "kind", "verify", "text", text),
				  NULL, &err),
			 BU_ANSWER_NOW);
	ck_assert_int_eq(as_agent(&site, bu_api_agent_result,
				  json_pack("{s:s,s:s,s:i}", "id", "x", "kind",
					    "install", "attempt", 1),
				  NULL, &err),
			 BU_ANSWER_LATER); /* it is on its way to the log */
	rig_until(&site.rig, node, BU_STATE_FAILED);
	ck_assert_int_eq(strncmp(rig_said(node->reason), "\xe2\x82\xac\xe2\x82\xac", 6),
			 0);
	json_decref(site_call(&site, site.page, "GET", "/v1/nodes/node001", "", 200));
	site_end(&site);
}
END_TEST

START_TEST(progress_is_shown_and_forgotten)
{
	struct site site;
	struct bu_node *node;
	bu_autojson json_t *reply = NULL, *status = NULL;
	const json_t *shown;
	int64_t version;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	rig_inspect(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	version = site.rig.fleet->version;
	ck_assert_int_eq(
		as_agent(&site, bu_api_agent_progress,
			 json_pack("{s:s,s:s,s:i,s:i}", "id", node->step.id, "stage",
				   "writing the root file system \xc3\xa9\xc3\xa9",
				   "done_bytes", 10, "total_bytes", 100),
			 &reply, NULL),
		BU_ANSWER_NOW);
	ck_assert_int_eq(bu_json_bool(reply, "cancel", 1), 0);
	ck_assert_int_gt(site.rig.fleet->version, version);
	status = site_call(&site, site.page, "GET", "/v1/nodes/node001", "", 200);
	shown = json_object_get(status, "progress");
	ck_assert_int_eq(bu_json_int(shown, "done_bytes", 0), 10);
	ck_assert_str_eq(bu_json_str(shown, "stage", ""),
			 "writing the root file system \xc3\xa9");
	rig_install(&site.rig, 1);
	ck_assert_uint_eq(node->live.progress_total_bytes, 0);
	site_end(&site);
}
END_TEST

static void
report_written(struct site *site, int done_bytes)
{
	bu_autojson json_t *reply = NULL;

	as_agent(site, bu_api_agent_progress,
		 json_pack("{s:s,s:s,s:i,s:i}", "id", rig_node(&site->rig, 1)->step.id,
			   "stage", "writing the root file system slowly", "done_bytes",
			   done_bytes, "total_bytes", 100),
		 &reply, NULL);
}

/* A large image over a slow network: it is late when it gets no further. */
START_TEST(imaging_ends_for_want_of_progress_only)
{
	struct site site;
	struct bu_node *node;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	rig_inspect(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	for (int done_bytes = 10; done_bytes <= 50; done_bytes += 10) {
		rig_pass(&site.rig, 890 * 1000);
		report_written(&site, done_bytes);
	}
	ck_assert_int_eq(node->state, BU_STATE_IMAGING);
	ck_assert_int_eq(node->repeats, 0);
	/* from the beginning, and as far as it was: no progress */
	for (int i = 0; i < 3; i++) {
		rig_pass(&site.rig, 299 * 1000);
		ck_assert_int_eq(node->repeats, 0);
		report_written(&site, 50 - i);
	}
	rig_pass(&site.rig, 10 * 1000);
	ck_assert_int_eq(node->repeats, 1);
	site_end(&site);
}
END_TEST

/* What the gate asked for is no step, and goes on while the gate wants it. */
START_TEST(checks_under_way_are_not_cancelled)
{
	struct site site;
	bu_autojson json_t *work = NULL, *own = NULL, *old = NULL;
	const char *id;

	site_begin(&site, 1);
	rig_to_validating(&site.rig, 1);
	ck_assert_int_eq(as_agent(&site, bu_api_agent_work,
				  json_pack("{s:i}", "protocol", BU_AGENT_PROTOCOL),
				  &work, NULL),
			 BU_ANSWER_NOW);
	id = bu_json_str(json_object_get(work, "work"), "id", "");
	ck_assert_str_ne(id, "");
	as_agent(&site, bu_api_agent_progress,
		 json_pack("{s:s,s:s,s:i,s:i}", "id", id, "stage", "audit",
			   "done_bytes", 1, "total_bytes", 4),
		 &own, NULL);
	ck_assert_int_eq(bu_json_bool(own, "cancel", -1), 0);
	as_agent(&site, bu_api_agent_progress,
		 json_pack("{s:s,s:s,s:i,s:i}", "id", "c-0-0", "stage", "audit",
			   "done_bytes", 1, "total_bytes", 4),
		 &old, NULL);
	ck_assert_int_eq(bu_json_bool(old, "cancel", -1), 1);
	site_end(&site);
}
END_TEST

START_TEST(a_stranger_has_no_node)
{
	struct site site;
	struct bu_err err = {0};
	struct bu_reply reply = {0};
	struct bu_request request = {.peer = "0123456789abcdef"};

	site_begin(&site, 1);
	ck_assert_int_eq(bu_api_agent_work(&site.api, &request, &reply, &err),
			 BU_ANSWER_ERROR);
	ck_assert_str_eq(err.text, "machine 0123456789abcdef is bound to no node");
	request.peer = "";
	ck_assert_int_eq(bu_api_agent_work(&site.api, &request, &reply, &err),
			 BU_ANSWER_ERROR);
	ck_assert_str_eq(err.text, "a client certificate is needed");
	site_end(&site);
}
END_TEST

START_TEST(who_shows_no_certificate_hears_why)
{
	struct site site;
	struct bu_reply reply = {0};
	struct bu_err err = {0};
	struct bu_request request = {.peer = "",
				     .peer_cert = "",
				     .peer_fault = "the certificate has expired."};

	site_begin(&site, 1);
	ck_assert_int_eq(bu_api_agent_work(&site.api, &request, &reply, &err),
			 BU_ANSWER_ERROR);
	ck_assert_str_eq(err.text, "a client certificate is needed: the certificate "
				   "has expired.");
	site_end(&site);
}
END_TEST

/* Nor is it heard: nobody waits for what it does. */
START_TEST(an_agent_of_another_protocol_is_refused)
{
	static const bu_handler_fn routes[] = {bu_api_agent_hello, bu_api_agent_work};

	for (size_t i = 0; i < BU_LEN(routes); i++) {
		struct site site;
		struct bu_err err = {0};
		struct bu_node *node;

		site_begin(&site, 1);
		rig_to_validating(&site.rig, 1);
		node = rig_node(&site.rig, 1);
		node->live.last_seen_ms = 0;
		ck_assert_int_eq(
			as_agent(&site, routes[i],
				 json_pack("{s:i}", "protocol", BU_AGENT_PROTOCOL + 1),
				 NULL, &err),
			BU_ANSWER_ERROR);
		ck_assert_str_eq(
			err.text,
			"the agent of node001 speaks protocol 2, and bringupd 1: make "
			"a new ramdisk with `bringup image build ramdisk`, and install "
			"the node again with `bringup node rebuild node001`");
		ck_assert_int_eq(node->live.last_seen_ms, 0);
		site_end(&site);
	}
}
END_TEST

static int
cancels(struct site *site, const char *id)
{
	bu_autojson json_t *reply = NULL;
	struct bu_err err = {0};

	ck_assert_int_eq(as_agent(site, bu_api_agent_progress,
				  json_pack("{s:s,s:s,s:i,s:i}", "id", id, "stage", "x",
					    "done_bytes", 1, "total_bytes", 2),
				  &reply, &err),
			 BU_ANSWER_NOW);
	return bu_json_bool(reply, "cancel", -1);
}

/* A page of probes is handed out before anything else. */
START_TEST(work_is_a_probe_then_nothing)
{
	struct site site;
	struct bu_node *node;
	bu_autojson json_t *reply = NULL, *none = NULL, *checks = NULL;
	const json_t *item;
	struct bu_err err = {0};

	site_begin(&site, 2);
	rig_to_validating(&site.rig, 1);
	rig_to_validating(&site.rig, 2);
	node = rig_node(&site.rig, 1);
	ck_assert_int_eq(as_agent(&site, bu_api_agent_work,
				  json_pack("{s:i}", "protocol", BU_AGENT_PROTOCOL),
				  &checks, &err),
			 BU_ANSWER_NOW);
	item = json_object_get(checks, "work");
	ck_assert_str_eq(bu_json_str(item, "kind", ""), "checks");
	/* Its word on the way is no question for work: the item goes on as given. */
	node->live.came_ms = 7;
	ck_assert_int_eq(cancels(&site, bu_json_str(item, "id", "")), 0);
	ck_assert_int_eq(cancels(&site, "another"), 1);
	ck_assert_int_eq(node->live.came_ms, 7);
	for (int i = 1; i <= 2; i++) {
		rig_check(&site.rig, i);
		rig_node(&site.rig, i)->live.last_seen_ms = site.rig.clock.fake_wall_ms;
	}
	rig_pass(&site.rig, 2001);
	rig_pass(&site.rig, 2001);
	/* Not before its partner is there, too. */
	ck_assert_int_eq(as_agent(&site, bu_api_agent_work,
				  json_pack("{s:i}", "protocol", BU_AGENT_PROTOCOL),
				  &none, &err),
			 BU_ANSWER_NOW);
	ck_assert(json_is_null(json_object_get(none, "work")));
	json_decref(bu_steal(&none));
	json_decref(bu_gate_work(site.rig.gate, rig_node(&site.rig, 2)));
	ck_assert_int_eq(as_agent(&site, bu_api_agent_work,
				  json_pack("{s:i}", "protocol", BU_AGENT_PROTOCOL),
				  &reply, &err),
			 BU_ANSWER_NOW);
	item = json_object_get(reply, "work");
	ck_assert_str_eq(bu_json_str(item, "kind", ""), "probe");
	ck_assert_int_eq(as_agent(&site, bu_api_agent_result,
				  json_pack("{s:s,s:s,s:i,s:{s:s,s:s}}", "id",
					    bu_json_str(item, "id", ""), "kind",
					    "probe", "attempt", 1, "error", "kind",
					    "io", "text", "no device"),
				  NULL, &err),
			 BU_ANSWER_NOW);
	ck_assert_int_eq(as_agent(&site, bu_api_agent_work,
				  json_pack("{s:i}", "protocol", BU_AGENT_PROTOCOL),
				  &none, &err),
			 BU_ANSWER_NOW);
	ck_assert(json_is_null(json_object_get(none, "work")));
	ck_assert_int_eq(as_agent(&site, bu_api_agent_work,
				  json_pack("{s:i,s:i}", "wait_ms", 5000, "protocol",
					    BU_AGENT_PROTOCOL),
				  NULL, &err),
			 BU_ANSWER_LATER);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	site_end(&site);
}
END_TEST

/* Its class allows it, and its ramdisk could: nothing is power-cycled. */
START_TEST(an_install_of_a_class_with_kexec_may_start_itself)
{
	for (int could = 0; could <= 1; could++) {
		struct site site;
		struct bu_node *node;
		struct bu_desired_hardware *hardware;
		bu_autojson json_t *without = NULL, *with = NULL;
		bu_autofree char *key = NULL;
		struct bu_err err = {0};
		json_t *result;

		site_begin(&site, 1);
		rig_write(&site.rig, "image.pub", "-----BEGIN PUBLIC KEY-----\n");
		key = bu_xasprintf("%s/image.pub", site.rig.dir);
		site.api.work.image_key = key;
		rig_start(&site.rig, 1);
		rig_inspect(&site.rig, 1);
		node = rig_node(&site.rig, 1);
		without = bu_work_make_step(&site.api.work, node, &err);
		ck_assert_msg(without != NULL, "%s", err.text);
		ck_assert_ptr_null(json_object_get(without, "kexec"));
		hardware = (struct bu_desired_hardware *)(uintptr_t)bu_fleet_desired(
				   site.rig.fleet, node)
				   ->hardware;
		free(hardware->kexec);
		hardware->kexec = bu_xstrdup("yes");
		with = bu_work_make_step(&site.api.work, node, &err);
		ck_assert_int_eq(bu_json_bool(with, "kexec", 0), 1);
		result = could ? json_pack("{s:b}", "kexec", 1) : json_object();
		ck_assert_int_eq(
			as_agent(&site, bu_api_agent_result,
				 json_pack("{s:s,s:s,s:i,s:o}", "id", node->step.id,
					   "kind", "install", "attempt",
					   node->step.attempt, "result", result),
				 NULL, &err),
			BU_ANSWER_NOW);
		rig_until(&site.rig, node, BU_STATE_BOOTING);
		rig_until_step(&site.rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
		ck_assert_int_eq(rig_count(&site.rig, "boot disk node001"), !could);
		site_end(&site);
	}
}
END_TEST

/* Which root was written, and what its ramdisk must know for that. */
START_TEST(an_install_of_one_of_two_roots_says_which)
{
	char name[] = "two";
	const struct bu_desired_disks two = {.name = name, .roots = 2};
	struct site site;
	struct bu_node *node;
	struct bu_desired_hardware *hardware;
	bu_autojson json_t *item = NULL;
	bu_autofree char *key = NULL;
	struct bu_err err = {0};

	site_begin(&site, 1);
	rig_write(&site.rig, "image.pub", "-----BEGIN PUBLIC KEY-----\n");
	key = bu_xasprintf("%s/image.pub", site.rig.dir);
	site.api.work.image_key = key;
	rig_start(&site.rig, 1);
	rig_inspect(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	hardware = (struct bu_desired_hardware *)(uintptr_t)bu_fleet_desired(
			   site.rig.fleet, node)
			   ->hardware;
	hardware->disks = &two;
	item = bu_work_make_step(&site.api.work, node, &err);
	ck_assert_msg(item != NULL, "%s", err.text);
	ck_assert_int_eq(bu_json_int(item, "roots", 0), 2);
	ck_assert_ptr_null(json_object_get(item, "reuse"));
	json_decref(bu_steal(&item));
	strcpy(bu_node_other(node)->step, "s-before");
	strcpy(bu_node_other(node)->digest, node->order->image_digest);
	strcpy(bu_node_other(node)->facets, node->order->facets);
	bu_node_other(node)->proven = 1;
	item = bu_work_make_step(&site.api.work, node, &err);
	ck_assert_int_eq(bu_json_bool(item, "reuse", 0), 1);
	ck_assert_int_eq(
		as_agent(&site, bu_api_agent_result,
			 json_pack("{s:s,s:s,s:i,s:{s:s,s:b,s:b}}", "id", node->step.id,
				   "kind", "install", "attempt", node->step.attempt,
				   "result", "slot", "b", "tried", 1, "reused", 1),
			 NULL, &err),
		BU_ANSWER_NOW);
	rig_until(&site.rig, node, BU_STATE_BOOTING);
	ck_assert_str_eq(node->slot, "b");
	ck_assert_int_eq(node->kexecs, 0);
	hardware->disks = NULL;
	site_end(&site);
}
END_TEST

/* Files are written and proven in less than a minute; a disk is not. */
START_TEST(an_agent_may_be_silent_for_as_long_as_its_work_takes)
{
	bu_autojson json_t *body =
		json_pack("{s:i,s:i}", "wait_ms", 0, "protocol", BU_AGENT_PROTOCOL);
	struct bu_request request = {.method = "POST", .path = "", .body = body};
	struct bu_reply reply = {0};
	struct bu_err err = {0};
	struct site site;
	struct bu_node *node;
	bu_autofree char *key = NULL;
	int64_t now_ms;

	site_begin(&site, 1);
	rig_write(&site.rig, "image.pub", "-----BEGIN PUBLIC KEY-----\n");
	key = bu_xasprintf("%s/image.pub", site.rig.dir);
	site.api.work.image_key = key;
	rig_start(&site.rig, 1);
	rig_inspect(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	request.peer = node->machine;
	request.peer_cert = node->agent_cert;
	ck_assert_int_eq(bu_api_agent_work(&site.api, &request, &reply, &err),
			 BU_ANSWER_NOW);
	ck_assert_str_eq(bu_json_str(json_object_get(reply.json, "work"), "kind", ""),
			 "install");
	now_ms = bu_mono_ms(bu_loop_clock(site.rig.loop));
	ck_assert_int_ge(node->live.agent->busy_ms - now_ms, 890 * 1000);
	ck_assert_int_le(node->live.agent->busy_ms - now_ms, 900 * 1000);
	json_decref(reply.json);
	ck_assert_int_eq(as_agent(&site, bu_api_agent_result,
				  json_pack("{s:s,s:s,s:i,s:{s:s,s:s}}", "id",
					    node->step.id, "kind", "install", "attempt",
					    1, "error", "kind", "io", "text", "broken"),
				  NULL, &err),
			 BU_ANSWER_NOW);
	ck_assert_int_eq(node->live.agent->busy_ms, 0); /* its work has ended */
	site_end(&site);
}
END_TEST

RIG_UNIT("reports", an_agent_may_be_silent_for_as_long_as_its_work_takes,
	 an_install_of_one_of_two_roots_says_which,
	 an_install_of_a_class_with_kexec_may_start_itself,
	 results_in_any_alphabet_end_the_step, progress_is_shown_and_forgotten,
	 imaging_ends_for_want_of_progress_only, checks_under_way_are_not_cancelled,
	 a_stranger_has_no_node, who_shows_no_certificate_hears_why,
	 an_agent_of_another_protocol_is_refused, work_is_a_probe_then_nothing)
