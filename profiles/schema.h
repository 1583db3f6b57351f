/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every section and every key that a profile may hold: one table. The loader, the error
 * texts, the JSON schema and the documentation come from it.
 */
#ifndef BU_PROFILES_SCHEMA_H
#define BU_PROFILES_SCHEMA_H

#include <stddef.h>

#include "base/err.h"

/* type, what it stores, what is allowed (for messages) */
#define BU_KEY_TYPES(X)                                                                \
	X(NAME, char *, "lower-case letters, digits and '-'")                          \
	X(WORD, char *, "letters, digits and -_.:/@+, no blanks")                      \
	X(TEXT, char *, "any text")                                                    \
	X(WORDS, char *, "words with commas between them")                             \
	X(CHOICE, char *, "one of the names listed")                                   \
	X(PATH, char *, "an absolute path")                                            \
	X(FILE, char *, "a path inside the profile tree")                              \
	X(SECRET, char *,                                                              \
	  "a reference 'file:/path'; a secret never stands in a profile")              \
	X(URL, char *, "a URL or an address, no blanks")                               \
	X(HOSTPORT, char *, "'address:port'")                                          \
	X(MAC, char *, "a MAC address like 52:54:00:77:00:01")                         \
	X(ENUM, int, "one of the names listed")                                        \
	X(INT, int, "a whole number")                                                  \
	X(REAL, double, "a number")                                                    \
	X(PERCENT, double, "a percentage like 80 %")                                   \
	X(SIZE, uint64_t, "a size like 16 GiB; units B, KiB, MiB, GiB, TiB")           \
	X(DURATION, int64_t, "a time like 90 s; units ms, s, m, h, d")                 \
	X(BOOL, int, "yes or no")                                                      \
	X(CIDR, struct bu_cidr, "a network like 10.78.0.0/24")                         \
	X(LIMIT, nothing, "a number of nodes from 1, or a percentage like 5 %")        \
	X(ADDRESSES, nothing, "IPv4 addresses like 10.78.0.[11-138]")                  \
	X(NODESET, nothing, "node names like gpu[001-128,200]")                        \
	X(REF, pointer, "the name of a section")                                       \
	X(REFS, nothing, "names of sections with commas between them")

enum bu_key_type {
#define X(id, stores, allowed) BU_KEY_##id,
	BU_KEY_TYPES(X)
#undef X
};

struct bu_key {
	const char *section, *key;
	enum bu_key_type type;
	const char *arg; /* CHOICE, ENUM: "a|b"; REF, REFS: the kind of section */
	double min, max; /* of numbers, sizes (bytes), durations (ms) */
	const char
		*need; /* "required", or the default as it would be written, or NULL */
	size_t offset; /* of the field in struct bu_desired_<section> */
	const char *help;
};
#define BU_KEY_NO_FIELD ((size_t)-1) /* the loader itself reads this key */

struct bu_section_kind {
	const char *kind;
	const char *named; /* what its name is; NULL = it has none */
	const char *help;
};

const struct bu_section_kind *bu_schema_kinds(size_t *ret_count);
const struct bu_key *bu_schema_keys(size_t *ret_count);
const struct bu_section_kind *bu_schema_kind(const char *kind);
const struct bu_key *bu_schema_key(const char *kind, const char *key);
int bu_key_required(const struct bu_key *key);
/* NULL when there is none. */
const char *bu_key_default(const struct bu_key *key);

/* " (did you mean 'x'?)" for the candidate nearest to the word, or ""; owned. NULL
 * candidates are passed over. */
char *bu_did_you_mean(const char *word, const char *const *candidates, size_t count);
/* The same for kinds of sections and for the keys of a kind. */
char *bu_schema_suggest(const char *kind, const char *key);

/* Checks the text and, when ret is not NULL, stores the value as BU_KEY_TYPES says;
 * text fields get an owned copy, the old one is freed. References only have their form
 * checked. err->text is "what is wrong; what is allowed". */
int bu_value_parse(const struct bu_key *key, const char *text, void *ret,
		   struct bu_err *err);
/* 1 when the type stores an owned char *. */
int bu_key_is_text(const struct bu_key *key);
/* "5 %" or "3" of a pool: at least 1, at most total. text has been checked. */
int bu_value_limit(const char *text, size_t total);
/* The next word of a comma-separated list, owned; NULL at the end. */
char *bu_value_next_word(const char **text);

#endif
