/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of people and of their programs, as the log has them: by their SHA-256, never
 * themselves. Times are Unix times by the appliance's clock.
 */
#ifndef BU_NODE_TOKENS_H
#define BU_NODE_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/person.h"

struct bu_token {
	char name[BU_TOKEN_NAME_SIZE];
	char hash[65]; /* hex of the SHA-256 of its text */
	enum bu_person
		role; /* BU_PERSON_COUNT = of a newer bringupd: it opens nothing */
	char by[96];  /* who made it */
	int64_t made_ms, until_ms, revoked_ms; /* revoked 0 = it is not */
};

/* LIVE: more are not made. KEPT: of dead ones the oldest is forgotten then. */
enum { BU_TOKENS_LIVE = 256, BU_TOKENS_KEPT = 1024 };

struct bu_tokens {
	struct bu_token *list; /* oldest first */
	size_t count, cap;
};

void bu_tokens_fini(struct bu_tokens *tokens);
int bu_token_is_live(const struct bu_token *token, int64_t now_ms);
/* The live one of this name; NULL = none. */
const struct bu_token *bu_tokens_named(const struct bu_tokens *tokens, const char *name,
				       int64_t now_ms);
/* The live token with this text. BU_ERR_DENIED: err says whether it is unknown, expired
 * or revoked, and what to do; never what was shown. */
const struct bu_token *bu_tokens_open(const struct bu_tokens *tokens, const char *text,
				      int64_t now_ms, struct bu_err *err);
/* The same by the hash of the text. */
const struct bu_token *bu_tokens_by_hash(const struct bu_tokens *tokens,
					 const char *hash, int64_t now_ms,
					 struct bu_err *err);
size_t bu_tokens_live(const struct bu_tokens *tokens, int64_t now_ms);

#endif
