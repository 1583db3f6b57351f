/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fence as agents and people meet it: whose hello is heard, what an appliance that
 * may not lead hands out (nothing), and the command that leads out.
 */
#include "provisioner/node/fence.h"

#include <string.h>

#include "base/json.h"
#include "model/hello.h"
#include "tests/support/anchors.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

enum { EPOCH = 1700000000 };

/* node001 is in imaging; the boot of node002 is ordered. */
static void
begin(struct site *site)
{
	struct bu_event event;

	site_begin(site, 2);
	BU_EVENT_MAKE(&event, BU_EVENT_EPOCH, "", epoch, .epoch = EPOCH);
	bu_reconcile_note(site->rig.rec, &event, 1);
	rig_start(&site->rig, 1);
	rig_inspect(&site->rig, 1);
	rig_start(&site->rig, 2);
}

static int
is_shut(const struct site *site)
{
	return bu_fence_is_shut(site->rig.fleet);
}

static void
shut(struct site *site)
{
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_CONDITION, "", condition,
		      .name = "epoch-unchecked", .on = 1);
	bu_reconcile_note(site->rig.rec, &event, 1);
	rig_pass(&site->rig, 1);
	ck_assert(is_shut(site));
}

static json_t *
anchor(const struct site *site, int64_t epoch)
{
	return anchor_sign(&site->rig, site->rig.trust, epoch, 7, 0, NULL);
}

/* Body is taken; the answer's kind of error, or NONE. ret: NULL = not wanted. */
static enum bu_err_kind
ask(struct site *site, bu_handler_fn fn, const char *peer, json_t *body, json_t **ret)
{
	const struct bu_node *node = bu_fleet_node_of(site->rig.fleet, peer);
	struct bu_reply reply = {0};
	struct bu_err err = {0};
	struct bu_request request = {.method = "POST",
				     .path = "",
				     .peer = peer,
				     .peer_cert = node ? node->agent_cert : "",
				     .body = body};

	if (fn(&site->api, &request, &reply, &err) != BU_ANSWER_ERROR)
		err.kind = BU_ERR_NONE;
	json_decref(body);
	rig_pass(&site->rig, 1);
	if (ret)
		*ret = reply.json;
	else
		json_decref(reply.json);
	return err.kind;
}

static json_t *
hello(const struct site *site, int64_t epoch)
{
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(1, rig_node(&site->rig, 1)->boot_id);

	return json_pack("{s:i,s:s,s:n,s:o,s:o}", "protocol", BU_AGENT_PROTOCOL,
			 "where", "ramdisk", "stamp", "inventory",
			 bu_inventory_to_json(inventory), "anchor",
			 anchor(site, epoch));
}

/* The proof is signed, and yet nobody without a certificate is heard. */
START_TEST(only_agents_of_this_site_are_heard)
{
	struct site site;
	struct bu_node *node;
	bu_autojson json_t *wrong = NULL;

	begin(&site);
	node = rig_node(&site.rig, 1);
	ck_assert_int_eq(
		ask(&site, bu_api_agent_hello, "", hello(&site, EPOCH + 9), NULL),
		BU_ERR_DENIED);
	ck_assert(!is_shut(&site));
	/* An agent of ours that makes one up. */
	wrong = hello(&site, EPOCH);
	json_object_set_new(json_object_get(wrong, "anchor"), "text",
			    json_string("{\"epoch\":9223372036854775807}"));
	ck_assert_int_eq(
		ask(&site, bu_api_agent_hello, node->machine, json_incref(wrong), NULL),
		BU_ERR_NONE);
	ck_assert(!is_shut(&site));
	ck_assert_int_eq(ask(&site, bu_api_agent_hello, node->machine,
			     hello(&site, EPOCH), NULL),
			 BU_ERR_NONE);
	ck_assert(!is_shut(&site));
	ck_assert_int_eq(ask(&site, bu_api_agent_hello, node->machine,
			     hello(&site, EPOCH + 9), NULL),
			 BU_ERR_NONE);
	ck_assert(is_shut(&site));
	site_end(&site);
}
END_TEST

/* An old log does not know what its agents are by now; their proof counts. */
START_TEST(an_agent_that_the_log_does_not_know_is_heard)
{
	struct site site;

	begin(&site);
	ck_assert_int_eq(ask(&site, bu_api_agent_hello, "0123456789abcdef",
			     hello(&site, EPOCH + 9), NULL),
			 BU_ERR_DENIED);
	ck_assert(is_shut(&site));
	site_end(&site);
}
END_TEST

static json_t *
question(const char *revoked)
{
	json_t *body =
		json_pack("{s:i,s:i}", "wait_ms", 0, "protocol", BU_AGENT_PROTOCOL);

	if (revoked)
		json_object_set_new(body, "revoked", json_string(revoked));
	return body;
}

START_TEST(answers_have_the_epoch_and_the_anchor_that_an_agent_lacks)
{
	struct site site;
	struct bu_anchor what;
	const char *machine;
	bu_autojson json_t *greeted = NULL, *old = NULL, *first = NULL, *same = NULL;

	begin(&site);
	machine = rig_node(&site.rig, 1)->machine;
	ck_assert_int_eq(
		ask(&site, bu_api_agent_hello, machine, hello(&site, EPOCH), &greeted),
		BU_ERR_NONE);
	ck_assert_int_eq(bu_json_int(greeted, "epoch", 0), EPOCH);
	ck_assert_int_eq(bu_anchor_open(json_object_get(greeted, "anchor"),
					bu_trust_public_key(site.rig.trust), &what,
					NULL),
			 0);
	ck_assert_int_eq(what.epoch, EPOCH);
	ck_assert_int_eq(ask(&site, bu_api_agent_work, machine, question(NULL), &old),
			 BU_ERR_NONE);
	ck_assert_int_eq(bu_json_int(old, "epoch", 0), EPOCH);
	ck_assert_ptr_null(json_object_get(old, "anchor"));
	ck_assert_int_eq(ask(&site, bu_api_agent_work, machine, question(""), &first),
			 BU_ERR_NONE);
	ck_assert_ptr_nonnull(json_object_get(first, "anchor"));
	ck_assert_int_eq(
		ask(&site, bu_api_agent_work, machine, question(what.revoked), &same),
		BU_ERR_NONE);
	ck_assert_int_eq(bu_json_int(same, "epoch", 0), EPOCH);
	ck_assert_ptr_null(json_object_get(same, "anchor"));
	site_end(&site);
}
END_TEST

static json_t *
enrolment(const struct site *site)
{
	const struct bu_node *node = rig_node(&site->rig, 2);
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(2, "b");
	char token[BU_DIGEST_SIZE];

	bu_trust_token(site->rig.trust, node->step.id, node->step.attempt, token);
	return json_pack("{s:s,s:s,s:s,s:o}", "node", "node002", "token", token, "csr",
			 rig_request(0), "inventory", bu_inventory_to_json(inventory));
}

/* All that an agent may ask for and that a thief would like to have. */
static void
asks_for_secrets(struct site *site, enum bu_err_kind kind)
{
	static const char script[] = "/boot/script/52:54:00:77:00:02";
	const char *machine = rig_node(&site->rig, 1)->machine;
	bu_autofree char *text = NULL;

	ck_assert_int_eq(ask(site, bu_api_agent_volumes, machine,
			     json_pack("{s:[]}", "guids"), NULL),
			 kind);
	ck_assert_int_eq(ask(site, bu_api_agent_renew, machine,
			     json_pack("{s:s}", "csr", rig_request(1)), NULL),
			 kind);
	text = site_text(site, site->boot, script, 200);
	ck_assert_int_eq(strstr(text, "bringup.token") != NULL, kind == BU_ERR_NONE);
	ck_assert_int_eq(ask(site, bu_api_agent_enroll, "", enrolment(site), NULL),
			 kind);
}

static json_t *
work(struct site *site)
{
	bu_autojson json_t *reply = NULL;

	ck_assert_int_eq(ask(site, bu_api_agent_work, rig_node(&site->rig, 1)->machine,
			     question(NULL), &reply),
			 BU_ERR_NONE);
	return json_incref(json_object_get(reply, "work"));
}

START_TEST(behind_the_fence_nothing_is_handed_out)
{
	struct site site;
	bu_autojson json_t *none = NULL, *status = NULL, *led = NULL, *again = NULL,
			   *meta = NULL;
	const json_t *condition;

	begin(&site);
	shut(&site);
	asks_for_secrets(&site, BU_ERR_BUSY);
	ck_assert_int_eq(ask(&site, bu_api_agent_hostkey,
			     rig_node(&site.rig, 1)->machine,
			     json_pack("{s:s}", "key", "ssh-ed25519 AAAA"), NULL),
			 BU_ERR_BUSY);
	none = work(&site);
	ck_assert(json_is_null(none));
	status = site_call(&site, site.local, "GET", "/v1/status", "", 200);
	condition = json_array_get(json_object_get(status, "conditions"), 0);
	ck_assert_str_eq(bu_json_str(condition, "name", ""), "epoch-unchecked");
	/* Its words name the way out. */
	meta = site_call(&site, site.local, "GET", "/v1/meta", "", 200);
	{
		bu_autofree char *words = json_dumps(meta, 0);

		rig_text_has(words, "bringup site take-over");
	}
	led = site_call(&site, site.local, "POST", "/v1/site/take-over",
			"{\"reason\":\"the other one burned\"}", 200);
	ck_assert_int_gt(bu_json_int(led, "epoch", 0), EPOCH);
	rig_pass(&site.rig, 1);
	ck_assert(!is_shut(&site));
	/* Work under way goes on by a person's word. */
	for (int i = 1; i <= 2; i++)
		ck_assert_int_eq(bu_reconcile_release(site.rig.rec,
						      rig_node(&site.rig, i), "ann",
						      NULL),
				 0);
	rig_pass(&site.rig, 1);
	asks_for_secrets(&site, BU_ERR_NONE);
	/* There is nothing to take over from any more. */
	again = site_call(&site, site.local, "POST", "/v1/site/take-over", "{}", 409);
	site_end(&site);
}
END_TEST

RIG_UNIT("fence", only_agents_of_this_site_are_heard,
	 an_agent_that_the_log_does_not_know_is_heard,
	 answers_have_the_epoch_and_the_anchor_that_an_agent_lacks,
	 behind_the_fence_nothing_is_handed_out)
