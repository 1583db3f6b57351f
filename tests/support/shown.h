/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of bringupd in few words: what a test does not say of one is added. */
#ifndef BU_TESTS_SUPPORT_SHOWN_H
#define BU_TESTS_SUPPORT_SHOWN_H

#include "base/record.h"
#include "tests/support/quoted.h"

/* Adds what the table needs: "", 0, false, nothing in a list. Returns value. */
static inline json_t *
complete(const struct bu_field *fields, json_t *value)
{
	for (const struct bu_field *f = fields; f->key; f++) {
		json_t *its = json_object_get(value, f->key), *one;
		size_t i;

		if (f->kind == BU_FIELD_RECORD && json_is_object(its))
			complete(f->fields, its);
		json_array_foreach (f->kind == BU_FIELD_LIST ? its : NULL, i, one)
			complete(f->fields, one);
		if (its || f->need != BU_REQUIRED)
			continue;
		json_object_set_new(value, f->key,
				    f->kind == BU_FIELD_STRING ? json_string("")
				    : f->kind == BU_FIELD_INT  ? json_integer(0)
				    : f->kind == BU_FIELD_REAL ? json_real(0)
				    : f->kind == BU_FIELD_FLAG ? json_false()
				    : f->kind == BU_FIELD_RECORD
					    ? complete(f->fields, json_object())
					    : json_array());
	}
	return value;
}

/* One of them read: `shown` borrows its texts; both end with released(). */
static inline json_t *
shown_as(const struct bu_field *fields, const char *text, void *shown)
{
	json_t *value = complete(fields, quoted(text));
	struct bu_err err = {0};

	ck_assert_msg(bu_record_from_json(fields, value, shown, &err) == 0, "%s",
		      err.text);
	return value;
}

static inline void
released(const struct bu_field *fields, void *shown, json_t *value)
{
	bu_record_fini(fields, shown);
	json_decref(value);
}

/* What the program writes is what the table reads, and the table names all of it. */
static inline void
is_shape(const struct bu_field *fields, const json_t *value)
{
	const char *key;
	json_t *its;

	json_object_foreach ((json_t *)value, key, its) {
		const struct bu_field *f = fields;
		size_t i;
		json_t *one;

		while (f->key && strcmp(f->key, key) != 0)
			f++;
		ck_assert_msg(f->key != NULL, "%s is in no table", key);
		if (f->kind == BU_FIELD_RECORD && json_is_object(its))
			is_shape(f->fields, its);
		json_array_foreach (f->kind == BU_FIELD_LIST ? its : NULL, i, one)
			is_shape(f->fields, one);
	}
}

/* The same, read as a whole, and released. */
static inline void
reads_as(const struct bu_field *fields, const json_t *value, void *shown)
{
	struct bu_err err = {0};

	ck_assert_msg(bu_record_from_json(fields, value, shown, &err) == 0, "%s",
		      err.text);
	is_shape(fields, value);
	bu_record_fini(fields, shown);
}

#endif
