/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON into records, by their tables. What comes in was written by others: nothing is
 * taken that its row does not allow, and nothing is put where there is no room.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/record_impl.h"

/* Where in the value we are: "results[3].end". */
struct place {
	const struct place *up;
	const char *key; /* NULL = member `index` of the list `up` */
	size_t index;
};

static void
append_place(const struct place *place, char *text, size_t size)
{
	size_t used;

	if (!place)
		return;
	append_place(place->up, text, size);
	used = strlen(text);
	if (place->key)
		snprintf(text + used, size - used, "%s%s", used ? "." : "", place->key);
	else
		snprintf(text + used, size - used, "[%zu]", place->index);
}

static int __attribute__((format(printf, 3, 4)))
wrong(const struct place *place, struct bu_err *err, const char *fmt, ...)
{
	char path[160] = "", text[200];
	va_list args;

	append_place(place, path, sizeof(path));
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return bu_err_set(err, BU_ERR_INVAL, 0, "%s%s%s", path, *path ? ": " : "",
			  text);
}

static const char *
wanted(const struct bu_field *field)
{
	static const char *const names[] = {
		[BU_FIELD_TEXT] = "a text",        [BU_FIELD_STRING] = "a text",
		[BU_FIELD_INT] = "a whole number", [BU_FIELD_REAL] = "a number",
		[BU_FIELD_FLAG] = "true or false", [BU_FIELD_WORD] = "a word",
		[BU_FIELD_RECORD] = "an object",   [BU_FIELD_LIST] = "a list",
		[BU_FIELD_ARRAY] = "a list",       [BU_FIELD_JSON] = "a value",
		[BU_FIELD_VERSION] = "a version",  [BU_FIELD_IS] = "a word",
		[BU_FIELD_PARTS] = "a value",
	};

	return names[field->kind];
}

static int
check_text(const struct bu_field *field, const char *text, int64_t max,
	   const struct place *place, struct bu_err *err)
{
	const struct bu_form *form = field->form;

	if (max && strlen(text) > (size_t)max)
		return wrong(place, err, "has %zu bytes; at most %lld are allowed",
			     strlen(text), (long long)max);
	if (form && !form->holds(text))
		return wrong(place, err, "is not %s", form->what);
	return 0;
}

static int
read_text(const struct bu_field *field, const char *text, void *member,
	  const struct place *place, struct bu_err *err)
{
	if (field->kind == BU_FIELD_STRING) {
		memcpy(member, &text, sizeof(text));
		return check_text(field, text, field->max, place, err);
	}
	if (check_text(field, text, (int64_t)field->size - 1, place, err) != 0)
		return -1;
	bu_plain_copy(member, field->size, text, SIZE_MAX, 0);
	return 0;
}

/* The greatest that its row allows. */
static int64_t
greatest(const struct bu_field *field)
{
	if (field->min != 0 || field->max != 0)
		return field->max;
	return field->size >= 8   ? INT64_MAX
	       : field->size == 4 ? INT32_MAX
	       : field->size == 2 ? UINT16_MAX
				  : UINT8_MAX;
}

static int
read_int(const struct bu_field *field, int64_t number, void *member,
	 const struct place *place, struct bu_err *err)
{
	if (field->kind == BU_FIELD_VERSION && number != greatest(field) &&
	    field->min == greatest(field))
		return wrong(place, err, "version %lld; %lld is known",
			     (long long)number, (long long)field->min);
	if (number < field->min || number > greatest(field))
		return wrong(place, err, "%lld to %lld are allowed",
			     (long long)field->min, (long long)greatest(field));
	if (field->kind == BU_FIELD_INT)
		bu_member_set_int(field->size, member, number);
	return 0;
}

static int
read_real(const struct bu_field *field, double number, void *member,
	  const struct place *place, struct bu_err *err)
{
	if (!isfinite(number) || number < (double)field->min ||
	    (field->max && number > (double)field->max))
		return wrong(place, err, "%lld to %lld are allowed",
			     (long long)field->min, (long long)greatest(field));
	bu_member_set_real(field, member, number);
	return 0;
}

static int
read_word(const struct bu_field *field, const char *text, void *member,
	  const struct place *place, struct bu_err *err)
{
	char allowed[120] = "";

	for (int64_t i = field->min; field->words[i]; i++) {
		size_t used = strlen(allowed);

		if (strcmp(field->words[i], text) == 0) {
			if (field->kind == BU_FIELD_WORD)
				bu_member_set_int(field->size, member, i);
			return 0;
		}
		snprintf(allowed + used, sizeof(allowed) - used, "%s'%s'",
			 used ? ", " : "", field->words[i]);
	}
	if (field->others) {
		bu_member_set_int(field->size, member, field->otherwise);
		return 0;
	}
	return wrong(place, err, "'%.40s' is unknown; expected %s", text, allowed);
}

static int read_member(const struct bu_field *field, const json_t *value, void *record,
		       const struct place *place, struct bu_err *err);

/* Whether they are missing is for them to say. */
static int
read_parts(const struct bu_field *field, const json_t *value, void *record,
	   const struct place *up, struct bu_err *err)
{
	struct bu_err why;
	char path[160] = "";

	if (field->parts->read(value, (char *)record + field->offset, &why) == 0)
		return 0;
	append_place(up, path, sizeof(path));
	return bu_err_set(err, BU_ERR_INVAL, 0, "%s%s%s", path, *path ? "." : "",
			  why.text);
}

static int
read_fields(const struct bu_field *fields, const json_t *value, void *record,
	    const struct place *up, struct bu_err *err)
{
	if (!json_is_object(value))
		return wrong(up, err, "expected an object");
	for (; fields->key; fields++) {
		const json_t *its = json_object_get(value, fields->key);
		struct place place = {.up = up, .key = fields->key};

		if (fields->need == BU_NULL && json_is_null(its))
			continue;
		if (fields->kind == BU_FIELD_PARTS) {
			if (read_parts(fields, value, record, up, err) != 0)
				return -1;
			continue;
		}
		if (its ? read_member(fields, its, record, &place, err) != 0
			: fields->need == BU_REQUIRED &&
				    wrong(&place, err, "missing; expected %s",
					  wanted(fields)) != 0)
			return -1;
	}
	return 0;
}

static int
count_is_allowed(const struct bu_field *field, size_t count, const struct place *place,
		 struct bu_err *err)
{
	size_t max = (size_t)field->max;
	size_t min = field->count_size ? (size_t)field->min : max;

	if (count > max || count < min)
		wrong(place, err, "has %zu members; at %s %zu are allowed", count,
		      count > max ? "most" : "least", count > max ? max : min);
	return count <= max && count >= min;
}

static int
read_list(const struct bu_field *field, const json_t *value, void *record,
	  const struct place *up, struct bu_err *err)
{
	size_t count = json_array_size(value);

	if (!count_is_allowed(field, count, up, err))
		return -1;
	if (field->heap) {
		void *list = bu_xcalloc(count + 1, field->size);

		memcpy((char *)record + field->offset, &list, sizeof(list));
	}
	/* The count goes up one by one: what is released is what is set. */
	for (size_t i = 0; i < count; i++) {
		struct place place = {.up = up, .index = i};
		const json_t *its = json_array_get(value, i);
		void *member = bu_member_at(field, record, i);
		int rc;

		if (field->count_size)
			bu_member_set_int(field->count_size,
					  (char *)record + field->count_offset,
					  (int64_t)i + 1);
		if (field->kind == BU_FIELD_LIST) {
			bu_record_init(field->fields, member);
			rc = read_fields(field->fields, its, member, &place, err);
		} else {
			rc = read_member(field->fields, its, member, &place, err);
		}
		if (rc != 0)
			return -1;
	}
	return 0;
}

static int
has_type(const struct bu_field *field, const json_t *value)
{
	switch (field->kind) {
	case BU_FIELD_TEXT:
	case BU_FIELD_STRING:
	case BU_FIELD_WORD:
	case BU_FIELD_IS:
		return json_is_string(value) &&
		       strlen(json_string_value(value)) == json_string_length(value);
	case BU_FIELD_INT:
	case BU_FIELD_VERSION:
		return json_is_integer(value);
	case BU_FIELD_REAL:
		return json_is_number(value);
	case BU_FIELD_FLAG:
		return json_is_boolean(value);
	case BU_FIELD_RECORD:
		return json_is_object(value);
	case BU_FIELD_LIST:
	case BU_FIELD_ARRAY:
		return json_is_array(value);
	case BU_FIELD_JSON:
		return 1;
	case BU_FIELD_PARTS:
		break; /* read_fields() has read them */
	}
	return 0;
}

static int
read_member(const struct bu_field *field, const json_t *value, void *record,
	    const struct place *place, struct bu_err *err)
{
	void *member = (char *)record + field->offset;

	if (!has_type(field, value))
		return wrong(place, err, "expected %s", wanted(field));
	switch (field->kind) {
	case BU_FIELD_TEXT:
	case BU_FIELD_STRING:
		return read_text(field, json_string_value(value), member, place, err);
	case BU_FIELD_WORD:
	case BU_FIELD_IS:
		return read_word(field, json_string_value(value), member, place, err);
	case BU_FIELD_INT:
	case BU_FIELD_VERSION:
		return read_int(field, json_integer_value(value), member, place, err);
	case BU_FIELD_REAL:
		return read_real(field, json_number_value(value), member, place, err);
	case BU_FIELD_FLAG:
		bu_member_set_int(field->size, member, json_is_true(value));
		return 0;
	case BU_FIELD_RECORD:
		return read_fields(field->fields, value, member, place, err);
	case BU_FIELD_LIST:
	case BU_FIELD_ARRAY:
		return read_list(field, value, record, place, err);
	case BU_FIELD_JSON:
		memcpy(member, &value, sizeof(value));
		return 0;
	case BU_FIELD_PARTS:
		break;
	}
	return -1;
}

int
bu_record_from_json(const struct bu_field *fields, const json_t *value, void *ret,
		    struct bu_err *err)
{
	bu_record_init(fields, ret);
	if (read_fields(fields, value, ret, NULL, err) == 0)
		return 0;
	bu_record_fini(fields, ret);
	return -1;
}
