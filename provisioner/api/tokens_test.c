/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens over the listener of people: what opens, what does not and what is said of it,
 * and what of a token is kept. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/http.h"
#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static struct site site;
static int port; /* of people, without TLS */
static char token[128];

static void
make(const char *name, const char *role, int for_s)
{
	bu_autofree char *wanted = bu_xasprintf(
		"{\"name\":\"%s\",\"role\":\"%s\",\"for_s\":%d}", name, role, for_s);
	bu_autojson json_t *made =
		site_call(&site, site.local, "POST", "/v1/tokens", wanted, 200);

	snprintf(token, sizeof(token), "%s", bu_json_str(made, "token", ""));
}

static void
begin(void)
{
	site_begin(&site, 1);
	port = site_listen_plain(&site, BU_LISTEN_PEOPLE);
	make("ci", "viewer", 600);
}

/* The whole answer; header: "Authorization: ..." or "". */
static void
ask(struct talk *talk, const char *line, const char *header)
{
	bu_autofree char *request = bu_xasprintf(
		"%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s%s"
		"Content-Length: 0\r\n\r\n",
		line, header, *header ? "\r\n" : "");

	talk_begin(talk, port, request, 0);
	site_until_ended(&site, talk);
}

static void
answers(const char *text, int status, const char *has)
{
	bu_autofree char *header = bu_xasprintf("Authorization: Bearer %s", text);
	struct talk talk;

	ask(&talk, "GET /v1/nodes", header);
	ck_assert_msg(talk.status == status && strstr(talk.text, has), "%s: %s", text,
		      talk.text);
	/* No answer repeats what was shown. */
	if (strlen(text) > 8)
		ck_assert_ptr_null(strstr(talk.text, text));
	talk_end(&talk);
}

START_TEST(the_token_opens_and_nothing_like_it_does)
{
	char other[128];
	size_t size;

	begin();
	size = strlen(token);
	ck_assert_uint_eq(size, strlen("bringup_") + 64);
	answers(token, 200, "nodes");
	answers("", 401, "unknown here");
	answers("bringup_", 401, "bringup token create");
	snprintf(other, sizeof(other), "%.*s", (int)size - 1, token);
	answers(other, 401, "unknown here");
	snprintf(other, sizeof(other), "%s0", token);
	answers(other, 401, "unknown here");
	snprintf(other, sizeof(other), "%s", token);
	for (char *at = other; *at; at++)
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
	answers(other, 401, "unknown here");
	snprintf(other, sizeof(other), "%s", token + 1);
	answers(other, 401, "unknown here");
	site_end(&site);
}
END_TEST

START_TEST(without_a_token_it_is_said_how_to_get_one)
{
	static const char *const headers[] = {"", "Authorization: Basic cm9vdDp4",
					      "X-Token: x"};
	struct talk talk;

	begin();
	for (size_t i = 0; i < BU_LEN(headers); i++) {
		ask(&talk, "GET /v1/nodes", headers[i]);
		ck_assert_int_eq(talk.status, 401);
		ck_assert_ptr_nonnull(strstr(talk.text, "WWW-Authenticate: Bearer"));
		ck_assert_ptr_nonnull(strstr(talk.text, "bringup login"));
		talk_end(&talk);
	}
	/* Before anything else is looked at. */
	ask(&talk, "GET /no/such/route", "");
	ck_assert_int_eq(talk.status, 401);
	talk_end(&talk);
	site_end(&site);
}
END_TEST

START_TEST(a_token_ends_by_the_clock_of_the_appliance)
{
	begin();
	make("short", "viewer", 60);
	rig_pass(&site.rig, 50 * 1000);
	answers(token, 200, "nodes");
	rig_pass(&site.rig, 11 * 1000);
	answers(token, 401, "token 'short' expired at ");
	/* Its name is free again. */
	make("short", "operator", 60);
	answers(token, 200, "nodes");
	site_end(&site);
}
END_TEST

START_TEST(a_revoked_token_opens_nothing_after_a_restart_either)
{
	char kept[128];

	begin();
	snprintf(kept, sizeof(kept), "%s", token);
	make("next", "viewer", 600);
	json_decref(site_call(&site, site.local, "POST", "/v1/tokens/ci/revoke", "{}",
			      200));
	answers(kept, 401, "token 'ci' was revoked at ");
	answers(token, 200, "nodes");
	json_decref(site_call(&site, site.local, "POST", "/v1/tokens/ci/revoke", "{}",
			      404));
	site_restart(&site);
	port = site_listen_plain(&site, BU_LISTEN_PEOPLE);
	answers(kept, 401, "token 'ci' was revoked at ");
	answers(token, 200, "nodes");
	site_end(&site);
}
END_TEST

/* Of what is kept nothing opens. */
START_TEST(the_log_has_the_hash_alone_and_says_who)
{
	bu_autofree char *log = NULL, *list = NULL;
	bu_autofree char *header = NULL;
	struct talk talk;

	begin();
	make("boss", "admin", 600);
	header = bu_xasprintf("Authorization: Bearer %s", token);
	ask(&talk, "POST /v1/tokens/ci/revoke", header);
	ck_assert_int_eq(talk.status, 200);
	talk_end(&talk);
	log = site_text(&site, site.local, "/v1/events?limit=1000", 200);
	list = site_text(&site, site.local, "/v1/tokens", 200);
	ck_assert_ptr_nonnull(strstr(log, "\"by\":\"token boss\""));
	ck_assert_ptr_nonnull(strstr(list, "\"state\":\"revoked\""));
	ck_assert_ptr_null(strstr(log, "bringup_"));
	ck_assert_ptr_null(strstr(log, token + strlen("bringup_")));
	ck_assert_ptr_null(strstr(list, token + strlen("bringup_")));
	ck_assert_ptr_null(strstr(list, "hash"));
	site_end(&site);
}
END_TEST

/* A guesser is slowed down, and keeps nobody out. */
START_TEST(failures_are_counted_by_address)
{
	struct talk talk;

	begin();
	for (int i = 0; i < bu_limit_info(BU_LIMIT_LOGINS)->most; i++)
		answers("bringup_0", 401, "unknown here");
	ask(&talk, "GET /v1/nodes", "Authorization: Bearer bringup_0");
	ck_assert_int_eq(talk.status, 503);
	ck_assert_ptr_nonnull(strstr(talk.text, "Retry-After: "));
	talk_end(&talk);
	for (int i = 0; i < 40; i++)
		answers(token, 200, "nodes");
	rig_pass(&site.rig, 60 * 1000);
	answers("bringup_0", 401, "unknown here");
	site_end(&site);
}
END_TEST

START_TEST(a_wrong_wish_is_refused)
{
	static const struct {
		const char *body;
		int status;
		const char *says;
	} rows[] = {
		{"{\"name\":\"x\"}", 400, "role"},
		{"{\"name\":\"x\",\"role\":\"root\"}", 400,
		 "viewer, operator, grant, admin, auditor"},
		{"{\"name\":\"\",\"role\":\"viewer\"}", 400, "the name of a token"},
		{"{\"name\":\"a b\",\"role\":\"viewer\"}", 400, "the name of a token"},
		{"{\"name\":\"../x\",\"role\":\"viewer\"}", 400, "the name of a token"},
		{"{\"name\":\"x\",\"role\":\"viewer\",\"for_s\":59}", 400,
		 "60 seconds"},
		{"{\"name\":\"x\",\"role\":\"viewer\",\"for_s\":31708800}", 400,
		 "366 days"},
		{"{\"name\":\"ci\",\"role\":\"admin\"}", 409, "token 'ci' already"},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *said =
			site_call(&site, site.local, "POST", "/v1/tokens", rows[i].body,
				  rows[i].status);
		const char *text =
			bu_json_str(json_object_get(said, "error"), "text", "");

		ck_assert_msg(strstr(text, rows[i].says) != NULL, "%s", text);
	}
	site.api.people_listen = "";
	json_decref(site_call(&site, site.local, "POST", "/v1/tokens",
			      "{\"name\":\"y\",\"role\":\"viewer\"}", 409));
	site_end(&site);
}
END_TEST

/* Who follows the log hears nothing more. */
START_TEST(a_stream_ends_with_its_token)
{
	bu_autofree char *request = NULL;
	struct talk talk;

	begin();
	request = bu_xasprintf(
		"GET /v1/events?follow&after=0 HTTP/1.1\r\nHost: localhost\r\n"
		"Authorization: Bearer %s\r\n\r\n",
		token);
	talk_begin(&talk, port, request, 0);
	for (int i = 0; i < 2000 && !strstr(talk.text ? talk.text : "", "data: ");
	     i++) {
		bu_loop_step(site.rig.loop, 1);
		talk_take(&talk);
	}
	ck_assert_ptr_nonnull(strstr(talk.text, "data: "));
	json_decref(site_call(&site, site.local, "POST", "/v1/tokens/ci/revoke", "{}",
			      200));
	rig_pass(&site.rig, 20 * 1000);
	for (int i = 0; i < 2000 && !talk.ended; i++) {
		bu_loop_step(site.rig.loop, 1);
		talk_take(&talk);
	}
	ck_assert_ptr_null(strstr(talk.text, "token-revoked"));
	ck_assert_ptr_nonnull(strstr(talk.text, "\r\n0\r\n"));
	talk_end(&talk);
	site_end(&site);
}
END_TEST

static int
speak(const char *ca)
{
	bu_autofree char *url = bu_xasprintf("https://127.0.0.1:%d", site.people);
	struct bu_http *http = bu_http_create(
		&(struct bu_http_opts){.base_url = url, .ca_file = ca, .token = token});
	json_t *reply = NULL;
	const json_t *caller;

	if (bu_http_json(http, &(struct bu_http_call){"GET", "/v1/meta", NULL, 20000},
			 &reply, NULL) != 0)
		return 1;
	caller = json_object_get(reply, "caller");
	return strcmp(bu_json_str(caller, "name", ""), "token ci") != 0 ||
			       strcmp(bu_json_str(caller, "role", ""), "viewer") != 0
		       ? 2
		       : 0;
}

/* As the command line comes, over TLS; it is told who it is. */
START_TEST(over_tls_the_caller_is_named)
{
	bu_autofree char *ca = NULL;
	int status = -1;
	pid_t pid;

	begin();
	ca = bu_xasprintf("%s/ca.pem", site.rig.dir);
	ck_assert_int_eq(bu_file_write(ca, bu_trust_ca(site.rig.trust),
				       strlen(bu_trust_ca(site.rig.trust)), 0600, NULL),
			 0);
	pid = fork();
	if (pid == 0)
		_exit(speak(ca));
	for (int i = 0; i < 20000 && waitpid(pid, &status, WNOHANG) == 0; i++) {
		rig_pass(&site.rig, 1);
		bu_loop_step(site.rig.loop, 2);
	}
	ck_assert_int_eq(status, 0);
	site_end(&site);
}
END_TEST

RIG_UNIT("tokens", the_token_opens_and_nothing_like_it_does,
	 without_a_token_it_is_said_how_to_get_one,
	 a_token_ends_by_the_clock_of_the_appliance,
	 a_revoked_token_opens_nothing_after_a_restart_either,
	 the_log_has_the_hash_alone_and_says_who, failures_are_counted_by_address,
	 a_wrong_wish_is_refused, a_stream_ends_with_its_token,
	 over_tls_the_caller_is_named)
