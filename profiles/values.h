/* SPDX-License-Identifier: Apache-2.0 */
/* What values.c and values_text.c share; the others include schema.h. */
#ifndef BU_PROFILES_VALUES_H
#define BU_PROFILES_VALUES_H

#include "profiles/schema.h"

/* The member of an export: "memory_min_bytes"; owned. In export.c. */
char *bu_key_json_name(const struct bu_key *key);
/* 1 when the text has the form of this type; 1 for types that are no text. */
int bu_value_form_ok(enum bu_key_type type, const char *text);
/* The text without blanks around its commas; owned. */
char *bu_value_tidy(const char *text);

#endif
