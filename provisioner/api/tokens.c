/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: making, listing and revoking them, and the caller who comes with one. Called
 * by the router and, for each request over people_listen, by server_caller.c.
 * Invariant: the text of a token is in the one answer that makes it, and nowhere else.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "provisioner/api/api.h"
#include "provisioner/api/oidc.h"

enum { BITS = 256, DEFAULT_S = 30 * 86400, LEAST_S = 60, MOST_S = 366 * 86400 };

/* What finds leaked secrets in sources knows the prefix. */
#define PREFIX "bringup_"
enum { TEXT_SIZE = sizeof(PREFIX) + BITS / 4 };

static int64_t
now_ms(const struct bu_api *api)
{
	return bu_wall_ms(bu_loop_clock(api->fleet->loop));
}

void
bu_api_token_caller(const struct bu_token *token, struct bu_caller *ret)
{
	snprintf(ret->who, sizeof(ret->who), "token %s", token->name);
	BU_TEXT_COPY(ret->maker, token->by);
	ret->roles = bu_person_roles(token->role);
}

int
bu_api_token_open(void *arg, const char *text, struct bu_caller *ret,
		  struct bu_err *err)
{
	const struct bu_api *api = arg;
	const struct bu_token *token;

	/* One of our own has no dot. */
	if (api->oidc && strchr(text, '.'))
		return bu_oidc_open(api->oidc, text, ret, err);
	token = bu_tokens_open(&api->fleet->tokens, text, now_ms(api), err);
	if (!token)
		return -1;
	bu_api_token_caller(token, ret);
	return 0;
}

/* The CA stands behind the certificate: who knows its fingerprint takes it from here.
 */
int
bu_api_listen_people(const struct bu_api *api, struct bu_err *err)
{
	bu_autofree char *chain = bu_xasprintf("%s%s", bu_trust_server_cert(api->trust),
					       bu_trust_issuer(api->trust));
	const struct bu_server_tls tls = {
		.cert = chain,
		.key = bu_trust_server_key(api->trust),
		.ca = bu_person_ca_pem(api->people),
	};
	int fd;

	if (!*api->people_listen)
		return 0;
	fd = bu_listen_tcp(api->people_listen, err);
	return fd < 0 ? -1
		      : bu_server_listen(api->server, BU_LISTEN_PEOPLE, fd, &tls, err);
}

static const char *
state_of(const struct bu_token *token, int64_t at_ms)
{
	return token->revoked_ms                ? "revoked"
	       : at_ms >= token->until_ms       ? "expired"
	       : token->role == BU_PERSON_COUNT ? "unknown role"
						: "live";
}

BU_HANDLER(bu_api_tokens)
{
	const struct bu_api *api = arg;
	const struct bu_tokens *tokens = &api->fleet->tokens;
	json_t *list = json_array();

	for (size_t i = 0; i < tokens->count; i++) {
		const struct bu_token *token = &tokens->list[i];

		json_array_append_new(
			list,
			json_pack("{s:s,s:s,s:s,s:s,s:I,s:I}", "name", token->name,
				  "role", bu_person_name(token->role), "state",
				  state_of(token, now_ms(api)), "by", token->by,
				  "made_ms", (json_int_t)token->made_ms, "until_ms",
				  (json_int_t)token->until_ms));
	}
	reply->json = json_pack("{s:o}", "tokens", list);
	return BU_ANSWER_NOW;
}

struct wanted {
	const char *name, *role;
	int64_t for_s;
};
static const struct bu_field wish_fields[] = {
	BU_FIELD(STRING, struct wanted, name),
	BU_FIELD(STRING, struct wanted, role),
	BU_FIELD(INT, struct wanted, for_s, .need = BU_SPARSE, .otherwise = DEFAULT_S),
	BU_FIELD_END,
};

static int
check_wish(const struct bu_api *api, const struct wanted *wanted, enum bu_person *ret,
	   struct bu_err *err)
{
	const struct bu_tokens *tokens = &api->fleet->tokens;

	if (!bu_person_is_label(wanted->name))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the name of a token is up to %d letters, digits and "
				  "'._-', and begins with a letter or digit",
				  BU_TOKEN_NAME_SIZE - 1);
	if (bu_person_from_name(wanted->role, ret, err) != 0)
		return -1;
	if (wanted->for_s < LEAST_S || wanted->for_s > MOST_S)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "a token is good for %d seconds to %d days, not for "
				  "%lld seconds",
				  LEAST_S, MOST_S / 86400, (long long)wanted->for_s);
	if (!*api->people_listen)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "a token opens nothing here: set people_listen = "
				  "ADDRESS:PORT in bringupd.conf and restart bringupd");
	if (bu_tokens_named(tokens, wanted->name, now_ms(api)))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "there is a token '%s' already; revoke it (bringup "
				  "token revoke %s) or take another name",
				  wanted->name, wanted->name);
	if (bu_tokens_live(tokens, now_ms(api)) >= BU_TOKENS_LIVE)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "there are %d tokens; revoke some (bringup token "
				  "list)",
				  BU_TOKENS_LIVE);
	return 0;
}

BU_HANDLER(bu_api_token_create)
{
	struct bu_api *api = arg;
	bu_autofree char *url = bu_xasprintf("https://%s", api->people_listen);
	char text[TEXT_SIZE] = PREFIX, hash[BU_DIGEST_SIZE], ca[BU_DIGEST_SIZE];
	enum bu_person role;
	struct bu_event event;
	struct wanted wanted;
	int64_t until_ms;

	if (bu_request_read(request, wish_fields, &wanted, err) != 0 ||
	    check_wish(api, &wanted, &role, err) != 0 ||
	    bu_cert_fingerprint(bu_trust_issuer(api->trust), ca, err) != 0)
		return BU_ANSWER_ERROR;
	until_ms = now_ms(api) + wanted.for_s * 1000;
	bu_random_hex(text + strlen(PREFIX), BITS / 8);
	bu_sha256_hex(text, strlen(text), hash);
	BU_EVENT_MAKE(&event, BU_EVENT_TOKEN, "", token, .name = wanted.name,
		      .role = bu_person_name(role), .hash = hash, .until_ms = until_ms,
		      .by = bu_request_by(request));
	bu_reconcile_note(api->rec, &event, 1);
	reply->logged = api->fleet->store;
	reply->json = json_pack("{s:s,s:s,s:s,s:I,s:s,s:s}", "token", text, "name",
				wanted.name, "role", bu_person_name(role), "until_ms",
				(json_int_t)until_ms, "url", url, "fingerprint", ca);
	explicit_bzero(text, sizeof(text));
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_token_revoke)
{
	struct bu_api *api = arg;
	const char *name = request->params[0];
	struct bu_event event;

	if (!bu_tokens_named(&api->fleet->tokens, name, now_ms(api)))
		return bu_err_set(
			err, BU_ERR_NOTFOUND, 0,
			"no live token '%.40s'; bringup token list names them", name);
	BU_EVENT_MAKE(&event, BU_EVENT_TOKEN_REVOKED, "", token_revoked, .name = name,
		      .by = bu_request_by(request));
	bu_reconcile_note(api->rec, &event, 1);
	reply->logged = api->fleet->store;
	reply->json = json_pack("{s:s}", "name", name);
	return BU_ANSWER_NOW;
}
