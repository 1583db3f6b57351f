/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by reason.c, reason_wire.c and sentence.c: the arguments of a sentence. */
#ifndef BU_MODEL_REASON_IMPL_H
#define BU_MODEL_REASON_IMPL_H

#include "model/reason.h"

/* {name}, {!name}, {name;} or {name|} (a list, with "; " or " or " between),
 * {name:column}, {#name}, {#name one|many} or {?name} */
struct bu_hole {
	char name[16], column[16];
	int is_number, is_shown, is_reason;
	const char *words;   /* "one|many}"; NULL = none */
	const char *between; /* the members of a list */
	const char *after;
};

/* All arguments of a sentence in the order of their first places. */
struct bu_slots {
	struct bu_hole text[BU_REASON_TEXTS], number[BU_REASON_NUMBERS];
	int texts, numbers;
};

struct bu_hole bu_hole_at(const char *brace);
/* count = it is not among them. */
int bu_hole_find(const struct bu_hole *list, int count, const char *name);
struct bu_slots bu_slots_of(enum bu_reason_code code);
void bu_reason_unpack(const struct bu_reason *reason, const char *ret[BU_REASON_TEXTS]);

#endif
