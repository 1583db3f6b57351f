/* SPDX-License-Identifier: Apache-2.0 */
/* Over the routes: an agent that asks for work has confirmed its root, and one from the
 * other root gets nothing before it was heard. */
#include <string.h>

#include "base/json.h"
#include "model/hello.h"
#include "tests/support/roots.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

/* A new system has said its first hello. */
static struct bu_node *
on_trial(struct site *site)
{
	struct rig *rig = &site->rig;

	site_begin(site, 1);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	run_first(rig, "a");
	order_second(rig, NULL, NULL);
	writes(rig, "b", 1);
	rig_come_up(rig, 1, "boot-2");
	return rig_node(rig, 1);
}

static enum bu_answer
ask(struct site *site, bu_handler_fn fn, const char *cert, json_t *body,
    struct bu_err *err)
{
	const struct bu_node *node = rig_node(&site->rig, 1);
	struct bu_reply reply = {0};
	struct bu_request request = {.method = "POST",
				     .path = "",
				     .body = body,
				     .peer = node->machine,
				     .peer_cert = cert};
	enum bu_answer answer = fn(&site->api, &request, &reply, err);

	json_decref(body);
	json_decref(reply.json);
	rig_pass(&site->rig, 1);
	return answer;
}

static void
ask_for_work(struct site *site)
{
	const struct bu_node *node = rig_node(&site->rig, 1);

	ck_assert_int_ne(
		ask(site, bu_api_agent_work, node->agent_cert,
		    json_pack("{s:i,s:i}", "wait_ms", 0, "protocol", BU_AGENT_PROTOCOL),
		    NULL),
		BU_ANSWER_ERROR);
}

START_TEST(who_asks_for_work_has_confirmed_its_root)
{
	struct site site;
	struct bu_node *node = on_trial(&site);
	struct bu_err err = {0};

	ck_assert_int_eq(
		ask(&site, bu_api_agent_clock, first_cert, json_object(), &err),
		BU_ANSWER_NOW);
	ck_assert_ptr_nonnull(bu_fallback_trial(node));
	ask_for_work(&site);
	ck_assert_ptr_null(bu_fallback_trial(node));
	ck_assert_int_eq(
		ask(&site, bu_api_agent_clock, first_cert, json_object(), &err),
		BU_ANSWER_ERROR);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_int_eq(
		ask(&site, bu_api_agent_clock, node->agent_cert, json_object(), &err),
		BU_ANSWER_NOW);
	site_end(&site);
}
END_TEST

/* It would get what the system that it is not goes on with: first it says hello. */
START_TEST(the_other_root_gets_nothing_before_its_hello)
{
	struct site site;
	struct bu_node *node = on_trial(&site);
	struct bu_err err = {0};

	node->live.last_seen_ms = 0;
	ck_assert_int_eq(ask(&site, bu_api_agent_renew, first_cert,
			     json_pack("{s:s}", "csr", rig_request(1)), &err),
			 BU_ANSWER_ERROR);
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	rig_text_has(err.text, "ask again after the hello");
	ck_assert_str_eq(node->agent_cert_next, "");
	ck_assert_int_eq(
		ask(&site, bu_api_agent_work, first_cert,
		    json_pack("{s:i,s:i}", "wait_ms", 0, "protocol", BU_AGENT_PROTOCOL),
		    &err),
		BU_ANSWER_ERROR);
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	ck_assert_int_eq(node->live.last_seen_ms, 0);
	ck_assert_int_eq(says_hello(&site.rig, first_step, "boot-3", NULL), 0);
	rig_until(&site.rig, node, BU_STATE_FAILED);
	ck_assert_int_eq(ask(&site, bu_api_agent_renew, first_cert,
			     json_pack("{s:s}", "csr", rig_request(1)), &err),
			 BU_ANSWER_NOW);
	ck_assert_int_ne(node->live.last_seen_ms, 0);
	ck_assert_str_ne(node->agent_cert_next, "");
	site_end(&site);
}
END_TEST

RIG_UNIT("trial", who_asks_for_work_has_confirmed_its_root,
	 the_other_root_gets_nothing_before_its_hello)
