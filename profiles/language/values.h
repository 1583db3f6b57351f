/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of values share: values.c is above values_text.c, and both are above
 * values_number.c. The others include schema.h. */
#ifndef BU_PROFILES_LANGUAGE_VALUES_H
#define BU_PROFILES_LANGUAGE_VALUES_H

#include "profiles/language/schema.h"

/* The member of an export: "memory_min_bytes"; owned. In export.c. */
char *bu_key_json_name(const struct bu_key *key);
/* values_number.c; as bu_value_parse(), for INT, REAL, PERCENT, SIZE, DURATION; for
 * CIDR; for LIMIT, of which nothing is stored. */
bu_must int bu_value_number(const struct bu_key *key, const char *text, void *ret,
			    struct bu_err *err);
bu_must int bu_value_cidr(const struct bu_key *key, const char *text, void *ret,
			  struct bu_err *err);
bu_must int bu_value_limit_ok(const struct bu_key *key, const char *text,
			      struct bu_err *err);
/* -1 with "'x' is wrong; allowed is ..."; a value that may be a secret is not said. */
bu_must int bu_value_refuse(const struct bu_key *key, const char *text,
			    struct bu_err *err);
const char *bu_key_type_allowed(enum bu_key_type type);

/* values_text.c: 1 when the text has the form of this type; 1 for types that are no
 * text. */
int bu_value_form_ok(enum bu_key_type type, const char *text);
/* values_list.c. These public keys with commas between them, owned; NULL with what is
 * wrong with one of them. */
char *bu_value_sshkeys(const char *text, struct bu_err *err);
/* The text without blanks around its commas; owned. */
char *bu_value_tidy(const char *text);

#endif
