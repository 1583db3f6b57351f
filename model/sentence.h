/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reason as JSON: {"code", "args"}, with as many arguments as its row of
 * model/reason.h names. An argument is a text, a number, another reason, or a list of
 * texts or reasons. The daemon makes these; the command line and the page make
 * sentences of them.
 */
#ifndef BU_MODEL_SENTENCE_H
#define BU_MODEL_SENTENCE_H

#include <jansson.h>

#include "model/reason.h"

struct bu_arg {
	const char *name;
	const char *text; /* NULL = "" */
	int64_t number;   /* of {#name} and {?name} */
	json_t *said;     /* taken; NULL = the text */
};
#define BU_ARG(n, t)                                                                   \
	{                                                                              \
		.name = (n), .text = (t)                                               \
	}
#define BU_ARG_NUMBER(n, v)                                                            \
	{                                                                              \
		.name = (n), .number = (int64_t)(v)                                    \
	}
#define BU_ARG_SAID(n, s)                                                              \
	{                                                                              \
		.name = (n), .said = (s)                                               \
	}

/* New reference. Each name must be one of the sentence; args end with a NULL name, NULL
 * = none. Bytes that are not UTF-8 are replaced
 * (base/plain.h). */
json_t *bu_said_new(enum bu_reason_code code, const struct bu_arg *args);
/* BU_SAID(LENT, BU_ARG("node", "n1"), BU_ARG_NUMBER("s", 5)) */
#define BU_SAID(id, ...)                                                               \
	bu_said_new(BU_REASON_##id,                                                    \
		    (const struct bu_arg[]){__VA_ARGS__, {.name = NULL}})
#define BU_SAID_ALONE(id) bu_said_new(BU_REASON_##id, NULL)
/* New reference; NULL for NONE. */
json_t *bu_said_of(const struct bu_reason *reason);
/* As the text of an argument {!name} of a struct bu_reason, with its NUL in so many
 * bytes; its sentence, of any length, where it is longer. said is taken. Owned. */
char *bu_said_fit(json_t *said, size_t room);
/* The same, in half of what all arguments may have together. */
char *bu_said_pack(json_t *said);
/* The same of a reason. "" for NONE. Owned. */
char *bu_reason_pack(const struct bu_reason *reason);

/* The sentence of a reason, or of each of a list, with ", " between; a text as it is.
 * Of an unknown code its name and its arguments. Owned. */
char *bu_said_text(const json_t *said);
/* A line for each of a list. Owned. */
char *bu_said_lines(const json_t *list);

/* Of a condition: "drained by another: DIMM A3 (root)"; of an unknown name, the name.
 * Owned. */
char *bu_said_condition(const char *name, const json_t *detail);

/* The name of the argument at this "{" of a sentence. */
void bu_said_arg(const char *brace, char ret[16]);

/* A column of another table that a sentence quotes: {state:help} is the help of the
 * state whose name is the argument. */
struct bu_column {
	const char *name;
	/* NULL = no such row; borrowed. */
	const char *(*of)(const char *key);
};
/* Ends with a NULL name. */
extern const struct bu_column bu_said_columns[];

#endif
