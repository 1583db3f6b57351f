/* SPDX-License-Identifier: Apache-2.0 */
/* Who may do what: each route with each role, and what callers may do by their
 * listener. */
#include <string.h>

#include "base/json.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static const enum bu_caller_role roles[] = {
#define X(id, name, help) BU_CALLER_##id,
	BU_CALLER_ROLES(X)
#undef X
};

static const struct bu_callers nobody = {
	.groups = {{"", -1}, {"", -1}, {"", -1}, {"", -1}, {"", -1}}};

static const struct {
	enum bu_listener kind;
	const char *may;
} listeners[] = {
	{BU_LISTEN_BOOT, "node"},
	{BU_LISTEN_AGENT, "node"},
	{BU_LISTEN_PAGE, "open view"},
	{BU_LISTEN_LOCAL, "open view operate grant admin audit"},
};

static int
is_get(const struct bu_route *route)
{
	return strcmp(route->method, "GET") == 0;
}

/* Written by hand: what a route is for does not follow from its row. */
static const char *
needed(const struct bu_route *route)
{
	static const char *const asks_machine[] = {"/v1/nodes/*/console",
						   "/v1/nodes/*/bmc/*"};

	if (!strncmp(route->path, "/v1/agent/", 10) ||
	    route->listeners & BU_LISTEN_BOOT)
		return "node";
	if (!strncmp(route->path, "/v1/backups", 11) ||
	    !strncmp(route->path, "/v1/site/", 9) ||
	    !strncmp(route->path, "/v1/tokens", 10))
		return "admin";
	if (!strncmp(route->path, "/v1/audit", 9))
		return "audit";
	if (!strcmp(route->path, "/") || !strcmp(route->path, "/*") ||
	    !strcmp(route->path, "/v1/session"))
		return "open";
	for (size_t i = 0; i < BU_LEN(asks_machine); i++)
		if (!strcmp(route->path, asks_machine[i]))
			return "operate";
	return is_get(route) ? "view" : "operate";
}

START_TEST(each_route_is_for_one_role)
{
	for (const struct bu_route *route = bu_api_routes; route->method; route++)
		for (size_t i = 0; i < BU_LEN(roles); i++) {
			struct bu_caller caller = {.who = "ann", .roles = roles[i]};
			struct bu_request request = {.method = route->method,
						     .path = route->path,
						     .caller = &caller};
			struct bu_err err = {0};
			int allowed = strcmp(bu_caller_role_name(roles[i]),
					     needed(route)) == 0;

			ck_assert_msg((bu_request_may(&request, route->role, &err) ==
				       0) == allowed,
				      "%s %s: %s", route->method, route->path,
				      bu_caller_role_name(roles[i]));
			ck_assert(allowed || (err.kind == BU_ERR_DENIED &&
					      strstr(err.text, needed(route))));
		}
}
END_TEST

static int
has_word(const char *words, const char *word)
{
	size_t size = strlen(word);

	for (const char *at = words; (at = strstr(at, word)); at += size)
		if ((at == words || at[-1] == ' ') && (!at[size] || at[size] == ' '))
			return 1;
	return 0;
}

/* A route on a listener whose callers may not have it would be a trap. */
START_TEST(callers_have_the_roles_of_their_listener)
{
	for (size_t i = 0; i < BU_LEN(listeners); i++) {
		struct bu_caller caller = {0};

		ck_assert_int_eq(bu_caller_make(&nobody, listeners[i].kind, NULL, "",
						&caller, NULL),
				 0);
		for (size_t k = 0; k < BU_LEN(roles); k++)
			ck_assert_int_eq((caller.roles & roles[k]) != 0,
					 has_word(listeners[i].may,
						  bu_caller_role_name(roles[k])));
		for (const struct bu_route *route = bu_api_routes; route->method;
		     route++)
			if (route->listeners & (int)listeners[i].kind)
				ck_assert_msg(caller.roles & route->role, "%s %s",
					      route->method, route->path);
	}
}
END_TEST

START_TEST(nothing_that_changes_is_to_be_seen_by_a_viewer)
{
	for (const struct bu_route *route = bu_api_routes; route->method; route++)
		ck_assert_msg(route->role != BU_CALLER_VIEW || is_get(route), "%s %s",
			      route->method, route->path);
}
END_TEST

/* Whoever may apply may not yet allow a wipe. */
START_TEST(a_grant_needs_its_role)
{
	static const struct {
		bu_handler_fn fn;
		const char *body;
	} rows[] = {
		{bu_api_apply, "{\"digest\":\"d\",\"grants\":[{\"class\":\"wipe\"}]}"},
		{bu_api_verb, "{\"nodes\":\"node001\",\"grant\":\"wipe\"}"},
	};
	struct site site;

	site_begin(&site, 1);
	for (size_t i = 0; i < BU_LEN(rows); i++)
		for (int may = 0; may < 2; may++) {
			struct bu_caller caller = {
				.who = "ann",
				.roles = BU_CALLER_OPERATE |
					 (may ? BU_CALLER_GRANT : 0U)};
			bu_autojson json_t *body = json_loads(rows[i].body, 0, NULL);
			struct bu_request request = {.method = "POST",
						     .path = "/v1/x",
						     .params = {"rebuild"},
						     .caller = &caller,
						     .body = body};
			struct bu_reply reply = {0};
			struct bu_err err = {0};
			enum bu_answer answer =
				rows[i].fn(&site.api, &request, &reply, &err);

			ck_assert_int_eq(answer == BU_ANSWER_ERROR &&
						 strstr(err.text, "'grant'") != NULL,
					 !may);
			json_decref(reply.json);
		}
	site_end(&site);
}
END_TEST

/* "GET /v1/nodes/x", and a token; owned. */
static char *
request_of(const struct bu_route *route, const char *token)
{
	char *text = bu_xasprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: "
				  "close\r\nAuthorization: Bearer %s\r\n"
				  "Content-Length: 0\r\n\r\n",
				  route->method, route->path, token);
	char *end = strstr(text, " HTTP/");

	for (char *at = text; at < end; at++)
		if (*at == '*')
			*at = 'x';
	return text;
}

/* Over the listener of people, with a token of each role. */
START_TEST(a_token_opens_the_routes_of_its_role)
{
	static const char *const may[] = {
		[BU_PERSON_VIEWER] = "open view",
		[BU_PERSON_OPERATOR] = "open view operate",
		[BU_PERSON_GRANT] = "open view operate grant",
		[BU_PERSON_ADMIN] = "open view operate grant admin audit",
		[BU_PERSON_AUDITOR] = "open view audit",
	};
	struct site site;
	int port;

	site_begin(&site, 1);
	port = site_listen_plain(&site, BU_LISTEN_PEOPLE);
	for (int i = 0; i < BU_PERSON_COUNT; i++) {
		const char *name = bu_person_name((enum bu_person)i);
		bu_autofree char *wanted =
			bu_xasprintf("{\"name\":\"%s\",\"role\":\"%s\"}", name, name);
		bu_autojson json_t *made =
			site_call(&site, site.local, "POST", "/v1/tokens", wanted, 200);

		for (const struct bu_route *route = bu_api_routes; route->method;
		     route++) {
			bu_autofree char *request =
				request_of(route, bu_json_str(made, "token", ""));
			int is_there = route->listeners & (int)BU_LISTEN_PEOPLE;
			int allowed = has_word(may[i], needed(route));
			struct talk talk;

			talk_begin(&talk, port, request, 0);
			site_until_ended(&site, &talk);
			ck_assert_msg(is_there ? (talk.status == 403) == !allowed &&
							 talk.status != 401
					       : talk.status == 404,
				      "%s: %s %s: %d", name, route->method, route->path,
				      talk.status);
			talk_end(&talk);
		}
	}
	site_end(&site);
}
END_TEST

RIG_UNIT("roles", a_token_opens_the_routes_of_its_role, each_route_is_for_one_role,
	 callers_have_the_roles_of_their_listener,
	 nothing_that_changes_is_to_be_seen_by_a_viewer, a_grant_needs_its_role)
