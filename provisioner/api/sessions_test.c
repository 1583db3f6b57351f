/* SPDX-License-Identifier: Apache-2.0 */
/* The page's login: what its cookie opens, for how long, and who else's page may not
 * use it. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

#define OWN "Origin: https://localhost\r\n"
#define HOLD "POST /v1/nodes/node001/hold"
#define WHY "{\"reason\":\"DIMM A3\"}"

static struct site site;
static int port; /* of people, without TLS */
static char token[128], cookie[200];

static void
make(const char *name, const char *role, int for_s)
{
	bu_autofree char *wanted = bu_xasprintf(
		"{\"name\":\"%s\",\"role\":\"%s\",\"for_s\":%d}", name, role, for_s);
	bu_autojson json_t *made =
		site_call(&site, site.local, "POST", "/v1/tokens", wanted, 200);

	snprintf(token, sizeof(token), "%s", bu_json_str(made, "token", ""));
}

/* headers: each with its end of line. The whole answer. */
static void
ask(struct talk *talk, const char *line, const char *headers, const char *body)
{
	bu_autofree char *request =
		bu_xasprintf("%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s"
			     "Content-Length: %zu\r\n\r\n%s",
			     line, headers, strlen(body), body);

	talk_begin(talk, port, request, 0);
	site_until_ended(&site, talk);
}

static void
answers(const char *line, const char *headers, const char *body, int status,
	const char *has)
{
	struct talk talk;

	ask(&talk, line, headers, body);
	ck_assert_msg(talk.status == status && strstr(talk.text, has), "%s: %s", line,
		      talk.text);
	talk_end(&talk);
}

/* The same with the cookie and as the appliance's own page. */
static void
answers_page(const char *line, int status, const char *has)
{
	bu_autofree char *headers = bu_xasprintf("%s" OWN, cookie);

	answers(line, headers, strncmp(line, "POST", 4) == 0 ? WHY : "", status, has);
}

/* "Cookie: ..." of what the answer to this token sets. */
static void
login(const char *text)
{
	bu_autofree char *body = bu_xasprintf("{\"token\":\"%s\"}", text);
	static const char set[] = "Set-Cookie: ";
	struct talk talk;
	const char *at;

	ask(&talk, "POST /v1/session", OWN, body);
	ck_assert_msg(talk.status == 200, "%s", talk.text);
	at = strstr(talk.text, set);
	ck_assert_ptr_nonnull(at);
	at += strlen(set);
	for (size_t i = 0; i < 4; i++) {
		static const char *const wanted[] = {"__Host-bringup=", "; Secure",
						     "; HttpOnly", "; SameSite=Strict"};

		ck_assert_msg(strstr(at, wanted[i]) != NULL, "%s", at);
	}
	snprintf(cookie, sizeof(cookie), "Cookie: %.*s\r\n", (int)strcspn(at, ";"), at);
	ck_assert_ptr_null(strstr(talk.text, text));
	talk_end(&talk);
}

static void
begin(const char *role, int for_s)
{
	site_begin(&site, 1);
	port = site_listen_plain(&site, BU_LISTEN_PEOPLE);
	make("ann", role, for_s);
	login(token);
}

START_TEST(the_page_is_open_and_nothing_else_is)
{
	begin("viewer", 600);
	answers("GET /", "", "", 200, "<title>bringup</title>");
	answers("GET /app.js", "Cookie: __Host-bringup=stale\r\n", "", 200, "import");
	answers("GET /v1/status", "", "", 401, "a token is missing");
	answers("GET /v1/meta", "", "", 401, "a token is missing");
	answers("GET /no/such", "", "", 401, "a token is missing");
	answers("GET /v1/status", "Cookie: __Host-bringup=\r\n", "", 401,
		"log in again");
	answers("GET /v1/status", "Cookie: other=1\r\n", "", 401, "a token is missing");
	site_end(&site);
}
END_TEST

START_TEST(the_cookie_opens_what_the_token_does)
{
	begin("viewer", 600);
	answers_page("GET /v1/status", 200, "\"nodes\"");
	answers_page("GET /v1/meta", 200,
		     "\"caller\":{\"may\":[\"view\"],\"name\":\"token ann\",\"role\":"
		     "\"viewer\",\"session\":true}");
	answers_page(HOLD, 403, "needs the role 'operate', which token ann (viewer)");
	make("bob", "operator", 600);
	login(token);
	answers_page(HOLD, 200, "held");
	ck_assert_str_eq(rig_node(&site.rig, 1)->hold->by, "token bob");
	site_end(&site);
}
END_TEST

/* Another site's page, one of no origin, and one that a plain listener served. */
START_TEST(a_change_by_cookie_is_the_own_pages_alone)
{
	static const char *const origins[] = {
		"", "Origin: null\r\n", "Origin: https://evil.example\r\n",
		"Origin: http://localhost\r\n", "Origin: https://localhost:8480\r\n"};
	bu_autofree char *bearer = NULL;

	begin("operator", 600);
	for (size_t i = 0; i < BU_LEN(origins); i++) {
		bu_autofree char *headers = bu_xasprintf("%s%s", cookie, origins[i]);

		answers(HOLD, headers, WHY, 403, "asks for a change");
		answers("DELETE /v1/session", headers, "", 403, "asks for a change");
	}
	ck_assert_int_eq(rig_node(&site.rig, 1)->hold->owner, 0);
	/* A program with a token has none. */
	bearer = bu_xasprintf("Authorization: Bearer %s\r\n%s", token, cookie);
	answers(HOLD, bearer, WHY, 200, "held");
	site_end(&site);
}
END_TEST

START_TEST(a_session_ends_with_its_token)
{
	begin("viewer", 600);
	json_decref(site_call(&site, site.local, "POST", "/v1/tokens/ann/revoke", "{}",
			      200));
	answers_page("GET /v1/status", 401, "token 'ann' was revoked at ");
	make("short", "viewer", 60);
	login(token);
	rig_pass(&site.rig, 50 * 1000);
	answers_page("GET /v1/status", 200, "nodes");
	rig_pass(&site.rig, 11 * 1000);
	answers_page("GET /v1/status", 401, "log in again");
	site_end(&site);
}
END_TEST

START_TEST(a_session_ends_after_half_a_day_and_by_logging_out)
{
	begin("viewer", 30 * 86400);
	rig_pass(&site.rig, INT64_C(12) * 3600 * 1000 - 5000);
	answers_page("GET /v1/status", 200, "nodes");
	rig_pass(&site.rig, 6000);
	answers_page("GET /v1/status", 401, "log in again");
	login(token);
	answers_page("GET /v1/status", 200, "nodes");
	answers_page("DELETE /v1/session", 200, "Max-Age=0");
	answers_page("GET /v1/status", 401, "log in again");
	/* The token is as good as before. */
	login(token);
	answers_page("GET /v1/status", 200, "nodes");
	site_end(&site);
}
END_TEST

/* As wrong tokens of other requests are; a good one still opens. */
START_TEST(wrong_tokens_are_counted_by_address)
{
	static const char wrong[] = "{\"token\":\"bringup_0\"}";

	begin("viewer", 600);
	for (int i = 0; i < bu_limit_info(BU_LIMIT_LOGINS)->most; i++)
		answers("POST /v1/session", OWN, wrong, 403, "unknown here");
	answers("POST /v1/session", OWN, wrong, 503, "Retry-After: ");
	login(token);
	answers_page("GET /v1/status", 200, "nodes");
	site_end(&site);
}
END_TEST

/* The seventeenth ends the first, and no other token's. */
START_TEST(a_token_has_so_many_sessions)
{
	char first[200], bobs[200];

	begin("viewer", 600);
	snprintf(first, sizeof(first), "%s", cookie);
	make("bob", "viewer", 600);
	login(token);
	snprintf(bobs, sizeof(bobs), "%s", cookie);
	for (int i = 0; i < 16; i++)
		login(token);
	answers("GET /v1/status", bobs, "", 401, "log in again");
	answers("GET /v1/status", first, "", 200, "nodes");
	answers_page("GET /v1/status", 200, "nodes");
	site_end(&site);
}
END_TEST

/* Who has not logged in sends no large bodies. */
START_TEST(a_stranger_sends_little)
{
	bu_autofree char *large = bu_xasprintf("{\"token\":\"%5000s\"}", "x");

	begin("viewer", 600);
	answers("POST /v1/session", OWN, large, 400, "larger than 4096 bytes");
	site_end(&site);
}
END_TEST

RIG_UNIT("sessions", the_page_is_open_and_nothing_else_is,
	 the_cookie_opens_what_the_token_does,
	 a_change_by_cookie_is_the_own_pages_alone, a_session_ends_with_its_token,
	 a_session_ends_after_half_a_day_and_by_logging_out,
	 wrong_tokens_are_counted_by_address, a_token_has_so_many_sessions,
	 a_stranger_sends_little)
