/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may come with a token. Replayed from the log, asked by the API for each request.
 * Invariants: a token is known by its hash alone; one that is revoked or over stays
 * known, so that its owner is told which of the two.
 */
#include "provisioner/node/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/text.h"
#include "provisioner/node/fleet.h"
#include "provisioner/node/replay_impl.h"

void
bu_tokens_fini(struct bu_tokens *tokens)
{
	free(tokens->list);
	memset(tokens, 0, sizeof(*tokens));
}

int
bu_token_is_live(const struct bu_token *token, int64_t now_ms)
{
	return !token->revoked_ms && now_ms < token->until_ms &&
	       token->role < BU_PERSON_COUNT;
}

/* The oldest that opens nothing, or else the oldest. */
static void
forget_one(struct bu_tokens *tokens, int64_t now_ms)
{
	size_t at = 0;

	while (at < tokens->count && bu_token_is_live(&tokens->list[at], now_ms))
		at++;
	if (at == tokens->count)
		at = 0;
	tokens->count--;
	memmove(&tokens->list[at], &tokens->list[at + 1],
		(tokens->count - at) * sizeof(*tokens->list));
}

int
bu_replay_token(BU_REPLAY_ARGS)
{
	struct bu_tokens *tokens = &fleet->tokens;
	struct bu_token *token;

	if (tokens->count == BU_TOKENS_KEPT)
		forget_one(tokens, event->time_ms);
	tokens->list = bu_xgrow(tokens->list, &tokens->cap, tokens->count + 1,
				sizeof(*tokens->list));
	token = &tokens->list[tokens->count++];
	*token = (struct bu_token){.role = BU_PERSON_COUNT,
				   .made_ms = event->time_ms,
				   .until_ms = body->token.until_ms};
	BU_TEXT_COPY(token->name, body->token.name);
	BU_TEXT_COPY(token->hash, body->token.hash);
	BU_TEXT_COPY(token->by, body->token.by);
	/* A role of a newer bringupd. */
	if (bu_person_from_name(body->token.role, &token->role, NULL) != 0)
		token->role = BU_PERSON_COUNT;
	return 0;
}

int
bu_replay_token_revoked(BU_REPLAY_ARGS)
{
	struct bu_tokens *tokens = &fleet->tokens;

	for (size_t i = 0; i < tokens->count; i++)
		if (!tokens->list[i].revoked_ms &&
		    strcmp(tokens->list[i].name, body->token_revoked.name) == 0)
			tokens->list[i].revoked_ms = event->time_ms;
	return 0;
}

const struct bu_token *
bu_tokens_named(const struct bu_tokens *tokens, const char *name, int64_t now_ms)
{
	for (size_t i = 0; i < tokens->count; i++)
		if (bu_token_is_live(&tokens->list[i], now_ms) &&
		    strcmp(tokens->list[i].name, name) == 0)
			return &tokens->list[i];
	return NULL;
}

size_t
bu_tokens_live(const struct bu_tokens *tokens, int64_t now_ms)
{
	size_t live = 0;

	for (size_t i = 0; i < tokens->count; i++)
		live += (size_t)bu_token_is_live(&tokens->list[i], now_ms);
	return live;
}

#define ASK_ADMIN                                                                      \
	"; ask an administrator for another (bringup token create), then "             \
	"bringup login"

static int
say_dead(const struct bu_token *token, struct bu_err *err)
{
	int64_t at_ms = token->revoked_ms ? token->revoked_ms : token->until_ms;
	char when[24];

	bu_time_minute(at_ms, when);
	if (token->role == BU_PERSON_COUNT && !token->revoked_ms)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "this bringupd does not know the role of token "
				  "'%s'" ASK_ADMIN,
				  token->name);
	return bu_err_set(err, BU_ERR_DENIED, 0, "token '%s' %s at %s" ASK_ADMIN,
			  token->name, token->revoked_ms ? "was revoked" : "expired",
			  when);
}

const struct bu_token *
bu_tokens_open(const struct bu_tokens *tokens, const char *text, int64_t now_ms,
	       struct bu_err *err)
{
	char hash[BU_DIGEST_SIZE];

	bu_sha256_hex(text, strlen(text), hash);
	return bu_tokens_by_hash(tokens, hash, now_ms, err);
}

const struct bu_token *
bu_tokens_by_hash(const struct bu_tokens *tokens, const char *hash, int64_t now_ms,
		  struct bu_err *err)
{
	for (size_t i = 0; i < tokens->count; i++) {
		const struct bu_token *token = &tokens->list[i];

		if (!bu_equal_secret(token->hash, hash))
			continue;
		if (bu_token_is_live(token, now_ms))
			return token;
		say_dead(token, err);
		return NULL;
	}
	bu_err_set(err, BU_ERR_DENIED, 0,
		   "this token is unknown here; it may be of another appliance, or "
		   "not be whole" ASK_ADMIN);
	return NULL;
}
