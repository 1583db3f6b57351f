/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON helpers over Jansson: strict reading with errors that name the field, and the
 * canonical form (sorted keys, no blanks) that is hashed and signed.
 */
#ifndef BU_BASE_JSON_H
#define BU_BASE_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

/* what: named in the error ("inventory of gpu001"). New reference. */
json_t *bu_json_parse(const char *text, size_t size, const char *what,
		      struct bu_err *err);
json_t *bu_json_load(const char *path, struct bu_err *err);
/* Sorted keys, compact; owned. */
char *bu_json_canonical(const json_t *value);
void bu_json_digest(const json_t *value, char ret_hex[65]);

/* Field readers: BU_ERR_INVAL "field 'x': ..." when missing or of another type. The
 * string is borrowed from the object. */
bu_must int bu_json_get_str(const json_t *object, const char *key, const char **ret,
			    struct bu_err *err);
bu_must int bu_json_get_int(const json_t *object, const char *key, int64_t *ret,
			    struct bu_err *err);
/* With a default when the field is missing or of another type. */
const char *bu_json_str(const json_t *object, const char *key, const char *fallback);
int64_t bu_json_int(const json_t *object, const char *key, int64_t fallback);
double bu_json_real(const json_t *object, const char *key, double fallback);
int bu_json_bool(const json_t *object, const char *key, int fallback);
/* One more of this key; what is no number yet is 0. */
void bu_json_count_up(json_t *object, const char *key);
/* Copies into a fixed field; BU_ERR_INVAL when missing or too long. */
bu_must int bu_json_copy_str(const json_t *object, const char *key, char *ret,
			     size_t size, struct bu_err *err);

/* {"kind","text"} of an error and back. */
json_t *bu_json_from_err(const struct bu_err *err);
void bu_json_to_err(const json_t *value, struct bu_err *ret);

void bu_cleanup_json(json_t **value);
#define bu_autojson __attribute__((cleanup(bu_cleanup_json)))

#endif
