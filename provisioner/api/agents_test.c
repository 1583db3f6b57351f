/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gets a token, who may trade it and who is listened to afterwards: boot scripts
 * and the agents' routes, asked as their server asks them and over TLS from a process
 * of its own, as agents do.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/http.h"
#include "base/json.h"
#include "base/text.h"
#include "model/hello.h"
#include "tests/support/row.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static json_t *
question(int wait_ms)
{
	return json_pack("{s:i,s:i}", "wait_ms", wait_ms, "protocol",
			 BU_AGENT_PROTOCOL);
}

/* As the agent of node001, with its certificate; ret_reply may be NULL. */
static enum bu_answer
ask(struct site *site, bu_handler_fn fn, const char *cert, json_t *body,
    struct bu_reply *ret_reply, struct bu_err *err)
{
	struct bu_reply reply = {0};
	struct bu_request request = {.method = "POST",
				     .path = "",
				     .body = body,
				     .peer = rig_node(&site->rig, 1)->machine,
				     .peer_cert = cert};
	enum bu_answer answer = fn(&site->api, &request, &reply, err);

	json_decref(body);
	if (ret_reply)
		*ret_reply = reply;
	else
		json_decref(reply.json);
	return answer;
}

/* A machine that is destroyed while it waits for work must be missed: what waits is no
 * news, and nothing waits for long. */
START_TEST(a_poll_is_heard_once_and_answered_within_10_s)
{
	struct site site;
	struct bu_node *node;
	struct bu_reply reply = {0};
	struct bu_err err = {0};
	json_t *body = question(30000);
	struct bu_request request = {.method = "POST", .path = "", .body = body};
	int64_t heard_ms;

	site_begin(&site, 1);
	rig_to_validating(&site.rig, 1);
	rig_join(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	site.rig.silent = 1U << 1;
	rig_pass(&site.rig, 1000);
	request.peer = node->machine;
	request.peer_cert = node->agent_cert;
	ck_assert_int_eq(bu_api_agent_work(&site.api, &request, &reply, &err),
			 BU_ANSWER_LATER);
	heard_ms = node->live.agent->heard_ms;
	for (request.waited_ms = 1000; request.waited_ms < 7000;
	     request.waited_ms += 1000) {
		rig_pass(&site.rig, 990);
		ck_assert_int_eq(bu_api_agent_work(&site.api, &request, &reply, &err),
				 BU_ANSWER_LATER);
	}
	ck_assert_int_eq(node->live.agent->heard_ms, heard_ms);
	request.waited_ms = 9000;
	ck_assert_int_eq(bu_api_agent_work(&site.api, &request, &reply, &err),
			 BU_ANSWER_NOW);
	json_decref(reply.json);
	memset(&reply, 0, sizeof(reply));
	request.waited_ms = 0;
	rig_pass(&site.rig, 990);
	ck_assert_int_eq(bu_api_agent_work(&site.api, &request, &reply, &err),
			 BU_ANSWER_LATER);
	ck_assert_int_gt(node->live.agent->heard_ms, heard_ms);
	json_decref(body);
	site_end(&site);
}
END_TEST

/* Its files are written within a minute: a machine that is destroyed over it is not
 * called ready for a quarter of an hour. */
START_TEST(a_ready_node_is_missed_soon_after_its_change_must_have_ended)
{
	struct site site;
	struct bu_node *node;
	struct bu_err err = {0};

	site_begin(&site, 1);
	rig_to_validating(&site.rig, 1);
	rig_join(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	rig_apply(&site.rig, 1, BU_CLASS_RECONFIGURE, "d1", NULL, NULL);
	ck_assert_msg(bu_reconcile_begin(site.rig.rec, node, &err) == 0, "%s",
		      err.text);
	rig_until_step(&site.rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	site.rig.silent = 1U << 1;
	ck_assert_int_eq(ask(&site, bu_api_agent_work, node->agent_cert, question(0),
			     NULL, &err),
			 BU_ANSWER_NOW);
	for (int i = 0; i < 40; i++)
		rig_pass(&site.rig, 1000);
	ck_assert_int_eq(node->conditions[BU_CONDITION_UNREACHABLE].on, 0);
	for (int i = 0; i < 60; i++)
		rig_pass(&site.rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert_int_eq(node->conditions[BU_CONDITION_UNREACHABLE].on, 1);
	site_end(&site);
}
END_TEST

/* --- boot scripts --- */

static int
script_has_token(struct site *site)
{
	struct bu_node *node = rig_node(&site->rig, 1);
	bu_autofree char *script =
		site_text(site, site->boot, "/boot/script/52:54:00:77:00:01", 200);
	char token[BU_DIGEST_SIZE];

	bu_trust_token(site->rig.trust, node->step.id, node->step.attempt, token);
	ck_assert_int_eq(strstr(script, "bringup.token=") != NULL,
			 strstr(script, token) != NULL);
	return strstr(script, token) != NULL;
}

static void
note(struct site *site, enum bu_event_kind kind, json_t *body)
{
	struct bu_event event;

	row_init(&event, kind, "node001", body);
	bu_reconcile_note(site->rig.rec, &event, 1);
	rig_pass(&site->rig, 1);
}

START_TEST(a_held_node_gets_no_token)
{
	struct site site;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	ck_assert_int_eq(script_has_token(&site), 1);
	note(&site, BU_EVENT_HELD,
	     json_pack("{s:s,s:s}", "owner", "me", "reason", "look at it"));
	ck_assert_int_eq(script_has_token(&site), 0);
	note(&site, BU_EVENT_RELEASED, json_pack("{s:s}", "by", "me"));
	ck_assert_int_eq(script_has_token(&site), 1);
	site_end(&site);
}
END_TEST

/* The boot that failed is over, whatever boots now; so is that of a failed node. */
START_TEST(a_failed_boot_gets_no_token)
{
	struct site site;
	struct bu_node *node;

	site_begin(&site, 1);
	node = rig_node(&site.rig, 1);
	rig_write(&site.rig, "power.refuse", "no answer");
	ck_assert_int_eq(
		bu_reconcile_fire(site.rig.rec, node, BU_TRIGGER_START, NULL, NULL), 0);
	rig_until_step(&site.rig, node, BU_ACTION_NETBOOT, BU_STEP_FAILED);
	ck_assert_int_eq(script_has_token(&site), 0);
	rig_remove(&site.rig, "power.refuse");
	rig_pass(&site.rig, 60001);
	rig_until_step(&site.rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(script_has_token(&site), 1);
	ck_assert_int_eq(
		bu_reconcile_fire(site.rig.rec, node, BU_TRIGGER_FAULT, NULL, NULL), 0);
	rig_until(&site.rig, node, BU_STATE_FAILED);
	ck_assert_int_eq(script_has_token(&site), 0);
	site_end(&site);
}
END_TEST

START_TEST(an_admitted_node_gets_no_second_token)
{
	struct site site;
	struct bu_node *node;
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	ck_assert_int_eq(rig_admit(&site.rig, node, rig_request(0), inventory, NULL),
			 0);
	rig_pass(&site.rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(script_has_token(&site), 0);
	site_end(&site);
}
END_TEST

/* --- enrolment --- */

static json_t *
inventory_of(const char *serial)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");

	strcpy(inventory->dmi.serial, serial);
	return bu_inventory_to_json(inventory);
}

static json_t *
enrolment(const char *token, const char *csr, json_t *inventory)
{
	return json_pack("{s:s,s:s,s:s,s:o}", "node", "node001", "token", token, "csr",
			 csr, "inventory", inventory);
}

/* Each row is wrong in all that comes after the word that it is refused for. */
START_TEST(an_enrolment_is_looked_at_in_its_order)
{
	struct site site;
	char token[BU_DIGEST_SIZE];
	struct bu_node *node;
	struct bu_err err = {0};

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	bu_trust_token(site.rig.trust, node->step.id, node->step.attempt, token);
	ck_assert_int_eq(ask(&site, bu_api_agent_enroll, NULL,
			     enrolment("guessed", "nonsense", json_array()), NULL,
			     &err),
			 BU_ANSWER_ERROR);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	rig_text_has(err.text, "this is not the token of the present boot of node001");
	ck_assert_int_eq(ask(&site, bu_api_agent_enroll, NULL,
			     enrolment(token, "nonsense", json_array()), NULL, &err),
			 BU_ANSWER_ERROR);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	rig_text_has(err.text, "inventory");
	ck_assert_int_eq(ask(&site, bu_api_agent_enroll, NULL,
			     enrolment(token, "nonsense", inventory_of("X-9")), NULL,
			     &err),
			 BU_ANSWER_ERROR);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	rig_text_has(err.text, "serial number LAB-001, this machine reports 'X-9'");
	ck_assert_int_eq(ask(&site, bu_api_agent_enroll, NULL,
			     enrolment(token, "nonsense", inventory_of("LAB-001")),
			     NULL, &err),
			 BU_ANSWER_ERROR);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	rig_text_has(err.text, "certificate request");
	rig_pass(&site.rig, 1);
	ck_assert_str_eq(node->machine, "");
	ck_assert_int_eq(node->live.last_seen_ms, 0);
	site_end(&site);
}
END_TEST

/* Whoever hears that it is taken relies on it: not before the log has it. */
START_TEST(what_an_agent_relies_on_is_in_the_log_first)
{
	struct site site;
	char token[BU_DIGEST_SIZE];
	struct bu_node *node;
	struct bu_reply reply;
	struct bu_err err = {0};

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	bu_trust_token(site.rig.trust, node->step.id, node->step.attempt, token);
	ck_assert_msg(ask(&site, bu_api_agent_enroll, NULL,
			  enrolment(token, rig_request(0), inventory_of("LAB-001")),
			  &reply, &err) == BU_ANSWER_NOW,
		      "%s", err.text);
	ck_assert_ptr_eq(reply.logged, site.rig.store);
	ck_assert_int_eq(node->live.appending, 1);
	json_decref(reply.json);
	rig_pass(&site.rig, 1);
	ck_assert_int_eq(ask(&site, bu_api_agent_renew, node->agent_cert,
			     json_pack("{s:s}", "csr", rig_request(1)), &reply, &err),
			 BU_ANSWER_NOW);
	ck_assert_ptr_eq(reply.logged, site.rig.store);
	ck_assert_int_eq(node->live.appending, 1);
	json_decref(reply.json);
	rig_pass(&site.rig, 1);
	rig_inspect(&site.rig, 1);
	ck_assert_int_eq(ask(&site, bu_api_agent_result, node->agent_cert,
			     json_pack("{s:s,s:s,s:i}", "id", node->step.id, "kind",
				       "install", "attempt", node->step.attempt),
			     &reply, &err),
			 BU_ANSWER_NOW);
	ck_assert_ptr_eq(reply.logged, site.rig.store);
	json_decref(reply.json);
	rig_until(&site.rig, node, BU_STATE_BOOTING);
	site_end(&site);
}
END_TEST

/* --- certificates --- */

static const bu_handler_fn routes[] = {
	bu_api_agent_renew,    bu_api_agent_hello,   bu_api_agent_work,
	bu_api_agent_progress, bu_api_agent_confirm, bu_api_agent_clock,
	bu_api_agent_result,
};

START_TEST(no_route_hears_another_certificate)
{
	struct site site;
	char own[65];

	site_begin(&site, 1);
	rig_to_validating(&site.rig, 1);
	rig_node(&site.rig, 1)->live.last_seen_ms = 0;
	bu_text_copy(own, sizeof(own), rig_node(&site.rig, 1)->agent_cert);
	for (size_t i = 0; i < BU_LEN(routes); i++) {
		struct bu_err err = {0};

		ck_assert_int_eq(
			ask(&site, routes[i], "00ff", json_object(), NULL, &err),
			BU_ANSWER_ERROR);
		ck_assert_int_eq(err.kind, BU_ERR_DENIED);
		rig_text_has(err.text, "certificate 00ff is no longer valid for "
				       "node001");
	}
	ck_assert_int_eq(rig_node(&site.rig, 1)->live.last_seen_ms, 0);
	ck_assert_int_eq(ask(&site, bu_api_agent_clock, own, json_object(), NULL, NULL),
			 BU_ANSWER_NOW);
	site_end(&site);
}
END_TEST

/* Its poll is asked again after each event: it ends at once, with the reason. */
START_TEST(a_revoked_agent_hears_so_in_its_poll)
{
	struct site site;
	struct bu_node *node;
	struct bu_event event;
	char own[65];
	struct bu_err err = {0};

	site_begin(&site, 1);
	rig_to_validating(&site.rig, 1);
	rig_check(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	bu_text_copy(own, sizeof(own), node->agent_cert);
	ck_assert_int_eq(
		ask(&site, bu_api_agent_work, own, question(30000), NULL, &err),
		BU_ANSWER_LATER);
	BU_EVENT_MAKE(&event, BU_EVENT_REVOKED, node->name, revoked, .all = 1);
	bu_reconcile_note(site.rig.rec, &event, 1);
	rig_pass(&site.rig, 1);
	for (size_t i = 0; i < BU_LEN(routes); i++) {
		ck_assert_int_eq(
			ask(&site, routes[i], own, question(30000), NULL, &err),
			BU_ANSWER_ERROR);
		ck_assert_int_eq(err.kind, BU_ERR_DENIED);
		rig_text_has(err.text, "the certificate of node001 was revoked");
	}
	site_end(&site);
}
END_TEST

/* --- agents, each in a process of its own --- */

struct agent {
	char url[64];
	char dir[64];
	char token[BU_DIGEST_SIZE];
};

static struct bu_http *
agent_connect(const struct agent *agent, int with_cert)
{
	bu_autofree char *ca = bu_xasprintf("%s/ca.pem", agent->dir);
	bu_autofree char *cert = bu_xasprintf("%s/cert.pem", agent->dir);
	bu_autofree char *key = bu_xasprintf("%s/key.pem", agent->dir);
	struct bu_http_opts opts = {.base_url = agent->url, .ca_file = ca};

	if (with_cert) {
		opts.cert_file = cert;
		opts.key_file = key;
	}
	return bu_http_create(&opts);
}

static int
agent_post(const struct agent *agent, int with_cert, const char *path, json_t *body,
	   json_t **ret, struct bu_err *err)
{
	struct bu_http *http = agent_connect(agent, with_cert);
	int rc = bu_http_json(http, &(struct bu_http_call){"POST", path, body, 20000},
			      ret, err);

	json_decref(body);
	bu_http_destroy(http);
	return rc;
}

static json_t *
inventory_json(const char *boot_id)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, boot_id);

	return bu_inventory_to_json(inventory);
}

#define MUST(cond)                                                                     \
	do {                                                                           \
		if (!(cond)) {                                                         \
			fprintf(stderr, "agent: line %d: %s: %s\n", __LINE__, #cond,   \
				err.text);                                             \
			return __LINE__ % 200 + 1;                                     \
		}                                                                      \
	} while (0)

static void
keep_pair(const struct agent *agent, const json_t *reply, const char *key)
{
	bu_autofree char *path = bu_xasprintf("%s/cert.pem", agent->dir);
	bu_autofree char *key_path = bu_xasprintf("%s/key.pem", agent->dir);
	const char *cert = bu_json_str(reply, "cert", "");

	ck_assert_int_eq(bu_file_write(path, cert, strlen(cert), 0600, NULL), 0);
	ck_assert_int_eq(bu_file_write(key_path, key, strlen(key), 0600, NULL), 0);
}

/* A new pair over its own channel: the old one counts until the new one was used. */
static int
agent_renews(const struct agent *agent, const json_t *first, const char *first_key)
{
	bu_autofree char *key = NULL, *csr = NULL;
	bu_autojson json_t *reply = NULL;
	struct bu_err err = {0};

	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_csr_create(key, "node001", &csr, NULL), 0);
	MUST(agent_post(agent, 1, "/v1/agent/renew", json_pack("{s:s}", "csr", csr),
			&reply, &err) == 0);
	MUST(agent_post(agent, 1, "/v1/agent/clock", json_object(), NULL, &err) == 0);
	keep_pair(agent, reply, key);
	MUST(agent_post(agent, 1, "/v1/agent/clock", json_object(), NULL, &err) == 0);
	keep_pair(agent, first, first_key);
	MUST(agent_post(agent, 1, "/v1/agent/clock", json_object(), NULL, &err) == -1);
	MUST(err.kind == BU_ERR_DENIED);
	MUST(strstr(err.text, "is no longer valid for node001") != NULL);
	keep_pair(agent, reply, key);
	MUST(agent_post(agent, 1, "/v1/agent/clock", json_object(), NULL, &err) == 0);
	return 0;
}

/* What is missing or of another type is named, and nothing of it is taken. */
static int
agent_misspeaks(const struct agent *agent)
{
#define HELLO "{\"protocol\":1,\"where\":\"ramdisk\","
#define PROGRESS "{\"id\":\"s\",\"stage\":\"x\","
	static const struct {
		const char *path, *body, *says;
	} rows[] = {
		{"/v1/agent/enroll", "{\"node\":\"a\",\"csr\":\"\"}", "token: missing"},
		{"/v1/agent/hello", "{\"where\":\"ramdisk\"}", "protocol: missing"},
		{"/v1/agent/hello", "{\"protocol\":1,\"where\":\"attic\"}",
		 "where: 'attic'"},
		{"/v1/agent/hello", HELLO "\"inventory\":{}}", "stamp: missing"},
		{"/v1/agent/hello", HELLO "\"stamp\":0,\"inventory\":{}}",
		 "inventory: "},
		{"/v1/agent/work", "{\"protocol\":1,\"wait_ms\":\"long\"}",
		 "wait_ms: "},
		{"/v1/agent/work", "{\"wait_ms\":0}", "protocol: missing"},
		{"/v1/agent/progress", "{\"stage\":\"x\"}", "id: missing"},
		{"/v1/agent/progress", PROGRESS "\"done_bytes\":-1}", "done_bytes: 0 "},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		json_t *body = json_loads(rows[i].body, 0, NULL);
		struct bu_err err = {0};

		MUST(agent_post(agent, 1, rows[i].path, body, NULL, &err) == -1);
		MUST(err.kind == BU_ERR_INVAL && strstr(err.text, rows[i].says));
	}
	return 0;
}

/* From the token to the first work; its exit status says where it failed. */
static int
agent_life(const struct agent *agent)
{
	bu_autofree char *key = NULL, *csr = NULL;
	bu_autojson json_t *reply = NULL, *hello = NULL, *work = NULL, *clock = NULL;
	bu_autojson json_t *progress = NULL;
	struct bu_err err = {0};

	MUST(agent_post(agent, 0, "/v1/agent/hello", json_pack("{s:i}", "protocol", 1),
			NULL, &err) == -1);
	MUST(err.kind == BU_ERR_DENIED);
	MUST(strstr(err.text, "a client certificate is needed") != NULL);
	ck_assert_int_eq(bu_tls_key_create(&key, NULL), 0);
	ck_assert_int_eq(bu_csr_create(key, "node001", &csr, NULL), 0);
	MUST(agent_post(agent, 0, "/v1/agent/enroll",
			json_pack("{s:s,s:s,s:s,s:o}", "node", "node001", "token",
				  "guessed", "csr", csr, "inventory",
				  inventory_json("b1")),
			NULL, &err) == -1);
	MUST(err.kind == BU_ERR_DENIED);
	MUST(agent_post(agent, 0, "/v1/agent/enroll", json_object(), NULL, &err) == -1);
	MUST(err.kind == BU_ERR_INVAL);
	MUST(agent_post(agent, 0, "/v1/agent/enroll",
			json_pack("{s:s,s:s,s:s,s:o}", "node", "node001", "token",
				  agent->token, "csr", csr, "inventory",
				  inventory_json("b1")),
			&reply, &err) == 0);
	keep_pair(agent, reply, key);
	MUST(agent_misspeaks(agent) == 0);
	MUST(agent_post(agent, 1, "/v1/agent/hello",
			json_pack("{s:i,s:s,s:n,s:o,s:{s:s,s:i,s:[s]}}", "protocol",
				  BU_AGENT_PROTOCOL, "where", "ramdisk", "stamp",
				  "inventory", inventory_json("b1"), "crash", "kind",
				  "Oops", "at_ms", 7, "lines", "out of coffee"),
			&hello, &err) == 0);
	MUST(strcmp(bu_json_str(hello, "node", ""), "node001") == 0);
	MUST(agent_post(agent, 1, "/v1/agent/clock", json_object(), &clock, &err) == 0);
	MUST(bu_json_int(clock, "time_us", 0) > 0);
	MUST(agent_renews(agent, reply, key) == 0);
	/* The image's key is missing here: ours to mend, not the agent's. */
	MUST(agent_post(agent, 1, "/v1/agent/work", question(0), &work, &err) == 0);
	MUST(json_is_null(json_object_get(work, "work")));
	usleep(200 * 1000); /* until that is in the log, nothing is cancelled */
	MUST(agent_post(agent, 1, "/v1/agent/progress",
			json_pack("{s:s,s:s,s:i,s:i}", "id", "old step", "stage", "x",
				  "done_bytes", 1, "total_bytes", 2),
			&progress, &err) == 0);
	MUST(bu_json_bool(progress, "cancel", 0) == 1);
	return 0;
}

START_TEST(an_agent_enrolls_greets_and_is_told_what_to_do)
{
	struct site site;
	struct agent agent;
	struct bu_node *node;
	int status = -1;
	pid_t pid;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	snprintf(agent.url, sizeof(agent.url), "https://127.0.0.1:%d", site.agent);
	snprintf(agent.dir, sizeof(agent.dir), "%s", site.rig.dir);
	bu_trust_token(site.rig.trust, node->step.id, node->step.attempt, agent.token);
	rig_write(&site.rig, "ca.pem", bu_trust_ca(site.rig.trust));
	pid = fork();
	if (pid == 0)
		_exit(agent_life(&agent));
	for (int i = 0; i < 20000 && waitpid(pid, &status, WNOHANG) != pid; i++) {
		rig_pass(&site.rig, 1);
		bu_loop_step(site.rig.loop, 5); /* by real time, as the agent */
	}
	ck_assert_int_eq(status, 0);
	rig_until(&site.rig, node, BU_STATE_IMAGING);
	ck_assert_str_eq(node->boot_id, "b1");
	ck_assert_str_eq(node->crash->kind, "Oops");
	ck_assert_int_gt(node->live.last_seen_ms, 0);
	ck_assert_int_eq(node->step.status, BU_STEP_FAILED);
	ck_assert_ptr_nonnull(strstr(node->step_error, "/no/such/key"));
	site_end(&site);
}
END_TEST

RIG_UNIT("agents", a_poll_is_heard_once_and_answered_within_10_s,
	 a_ready_node_is_missed_soon_after_its_change_must_have_ended,
	 an_agent_enrolls_greets_and_is_told_what_to_do, a_held_node_gets_no_token,
	 a_failed_boot_gets_no_token, an_admitted_node_gets_no_second_token,
	 an_enrolment_is_looked_at_in_its_order,
	 what_an_agent_relies_on_is_in_the_log_first,
	 no_route_hears_another_certificate, a_revoked_agent_hears_so_in_its_poll)
