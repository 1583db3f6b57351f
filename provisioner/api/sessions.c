/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions of the page: a person shows a token once, and the browser then comes with a
 * cookie. Called by the router and, for each request with that cookie, by
 * server_caller.c. Invariants: a session opens what its token opens, and no longer than
 * that; of its cookie the hash alone is kept, in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "provisioner/api/api.h"

/* PER_TOKEN: of more, the oldest one ends. */
enum { BITS = 256, LASTS_S = 12 * 3600, PER_TOKEN = 16 };

struct bu_session {
	char hash[BU_DIGEST_SIZE];  /* of the cookie */
	char token[BU_DIGEST_SIZE]; /* hash of the token that it was opened with */
	int64_t until_ms;
};

static int64_t
now_ms(const struct bu_api *api)
{
	return bu_wall_ms(bu_loop_clock(api->fleet->loop));
}

void
bu_api_forget_sessions(struct bu_api *api)
{
	free(bu_steal(&api->sessions.list));
	api->sessions = (struct bu_sessions){0};
}

static void
end_session(struct bu_sessions *sessions, size_t at)
{
	sessions->count--;
	memmove(&sessions->list[at], &sessions->list[at + 1],
		(sessions->count - at) * sizeof(*sessions->list));
}

/* NULL = the cookie is of none that goes on. */
static struct bu_session *
find_session(struct bu_api *api, const char *cookie)
{
	struct bu_sessions *sessions = &api->sessions;
	char hash[BU_DIGEST_SIZE];

	bu_sha256_hex(cookie, strlen(cookie), hash);
	for (size_t i = 0; i < sessions->count; i++)
		if (bu_equal_secret(sessions->list[i].hash, hash))
			return now_ms(api) < sessions->list[i].until_ms
				       ? &sessions->list[i]
				       : NULL;
	return NULL;
}

int
bu_api_session_open(void *arg, const char *cookie, struct bu_caller *ret,
		    struct bu_err *err)
{
	struct bu_api *api = arg;
	const struct bu_session *session = find_session(api, cookie);
	const struct bu_token *token;

	if (!session)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "this session is over; log in again");
	token = bu_tokens_by_hash(&api->fleet->tokens, session->token, now_ms(api),
				  err);
	if (!token)
		return -1;
	bu_api_token_caller(token, ret);
	return 0;
}

/* Ends those that open nothing, and makes room for one more with this token. */
static void
make_room(struct bu_api *api, const char *token)
{
	struct bu_sessions *sessions = &api->sessions;
	size_t same = 0;

	for (size_t i = sessions->count; i-- > 0;) {
		const struct bu_session *session = &sessions->list[i];

		if (now_ms(api) >= session->until_ms ||
		    !bu_tokens_by_hash(&api->fleet->tokens, session->token, now_ms(api),
				       NULL) ||
		    (strcmp(session->token, token) == 0 && ++same >= PER_TOKEN))
			end_session(sessions, i);
	}
}

/* "__Host-": browsers take it over TLS from this very host alone. */
static char *
cookie_text(const char *value, int64_t for_s)
{
	return bu_xasprintf(BU_SESSION_COOKIE "=%s; Path=/; Max-Age=%lld; Secure; "
					      "HttpOnly; SameSite=Strict",
			    value, (long long)for_s);
}

static void
open_session(struct bu_api *api, const struct bu_token *token, struct bu_reply *reply)
{
	struct bu_sessions *sessions = &api->sessions;
	int64_t until_ms = now_ms(api) + LASTS_S * INT64_C(1000);
	char cookie[BITS / 4 + 1];
	struct bu_session *session;

	if (token->until_ms < until_ms)
		until_ms = token->until_ms;
	make_room(api, token->hash);
	sessions->list = bu_xgrow(sessions->list, &sessions->cap, sessions->count + 1,
				  sizeof(*sessions->list));
	session = &sessions->list[sessions->count++];
	bu_random_hex(cookie, BITS / 8);
	*session = (struct bu_session){.until_ms = until_ms};
	bu_sha256_hex(cookie, strlen(cookie), session->hash);
	BU_TEXT_COPY(session->token, token->hash);
	reply->cookie = cookie_text(cookie, (until_ms - now_ms(api)) / 1000);
	reply->json = json_pack("{s:s,s:s,s:I}", "name", token->name, "role",
				bu_person_name(token->role), "until_ms",
				(json_int_t)until_ms);
	explicit_bzero(cookie, sizeof(cookie));
}

struct shown_token {
	const char *token;
};
static const struct bu_field login_fields[] = {
	BU_FIELD(STRING, struct shown_token, token),
	BU_FIELD_END,
};

/* Failures are counted as those of requests with wrong tokens are. */
BU_HANDLER(bu_api_login)
{
	struct bu_api *api = arg;
	char from[BU_ADDRESS_SIZE];
	const struct bu_token *token;
	struct shown_token shown;

	if (bu_request_read(request, login_fields, &shown, err) != 0)
		return BU_ANSWER_ERROR;
	token = bu_tokens_open(&api->fleet->tokens, shown.token, now_ms(api), err);
	if (!token) {
		bu_ignore(bu_request_within(request, BU_LIMIT_LOGINS, err));
		return BU_ANSWER_ERROR;
	}
	bu_request_address(request, from);
	bu_info("sessions", "token %s logs in to the page from %s", token->name, from);
	open_session(api, token, reply);
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_logout)
{
	struct bu_api *api = arg;
	const char *cookie = bu_request_cookie(request, BU_SESSION_COOKIE);
	struct bu_session *session = cookie ? find_session(api, cookie) : NULL;

	if (session)
		end_session(&api->sessions, (size_t)(session - api->sessions.list));
	reply->cookie = cookie_text("", 0);
	reply->json = json_object();
	return BU_ANSWER_NOW;
}
