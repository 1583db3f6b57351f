/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: members of structs by their tables, written as JSON, set to their defaults
 * and released (reading: record_read.c). Used by the nouns of model/ and by code that
 * sends a message. Invariant: whatever is written here is read again by the same table.
 */
#include "base/record.h"

#include <string.h>

#include "base/record_impl.h"

static int64_t
get_int(const struct bu_field *field, const void *member)
{
	int is_signed = field->min < 0 || field->otherwise < 0;

	switch (field->size) {
	case 1:
		return *(const uint8_t *)member;
	case 2:
		return *(const uint16_t *)member;
	case 4:
		return is_signed ? (int64_t) * (const int32_t *)member
				 : (int64_t) * (const uint32_t *)member;
	default:
		bu_assert(field->size == 8);
		return *(const int64_t *)member;
	}
}

void
bu_member_set_int(size_t size, void *member, int64_t number)
{
	switch (size) {
	case 1:
		*(uint8_t *)member = (uint8_t)number;
		break;
	case 2:
		*(uint16_t *)member = (uint16_t)number;
		break;
	case 4:
		*(uint32_t *)member = (uint32_t)number;
		break;
	default:
		bu_assert(size == 8);
		*(int64_t *)member = number;
	}
}

static double
get_real(const struct bu_field *field, const void *member)
{
	return field->size == sizeof(float) ? (double)*(const float *)member
					    : *(const double *)member;
}

void
bu_member_set_real(const struct bu_field *field, void *member, double number)
{
	if (field->size == sizeof(float))
		*(float *)member = (float)number;
	else
		*(double *)member = number;
}

static size_t
count_of(const struct bu_field *field, const void *record)
{
	const struct bu_field row = {.size = field->count_size};

	if (field->count_size == 0)
		return (size_t)field->max;
	return (size_t)get_int(&row, (const char *)record + field->count_offset);
}

void *
bu_member_at(const struct bu_field *field, const void *record, size_t i)
{
	char *list = (char *)(uintptr_t)record + field->offset;

	if (field->heap)
		memcpy(&list, list, sizeof(void *));
	return list ? list + i * field->size : NULL;
}

/* --- defaults --- */

static void init_list(const struct bu_field *field, void *record);

static void
init_member(const struct bu_field *field, void *record)
{
	void *member = (char *)record + field->offset;

	switch (field->kind) {
	case BU_FIELD_TEXT:
	case BU_FIELD_JSON:
	case BU_FIELD_PARTS:
		memset(member, 0, field->size);
		break;
	case BU_FIELD_STRING:
		memcpy(member, &field->unsaid, sizeof(field->unsaid));
		break;
	case BU_FIELD_INT:
	case BU_FIELD_FLAG:
	case BU_FIELD_WORD:
		bu_member_set_int(field->size, member, field->otherwise);
		break;
	case BU_FIELD_REAL:
		bu_member_set_real(field, member, (double)field->otherwise);
		break;
	case BU_FIELD_RECORD:
		bu_record_init(field->fields, member);
		break;
	case BU_FIELD_LIST:
	case BU_FIELD_ARRAY:
		init_list(field, record);
		break;
	case BU_FIELD_VERSION:
	case BU_FIELD_IS:
		break;
	}
}

static void
init_list(const struct bu_field *field, void *record)
{
	if (field->heap)
		memset((char *)record + field->offset, 0, sizeof(void *));
	if (field->count_size)
		bu_member_set_int(field->count_size,
				  (char *)record + field->count_offset, 0);
	for (size_t i = 0; !field->count_size && i < (size_t)field->max; i++) {
		if (field->kind == BU_FIELD_LIST)
			bu_record_init(field->fields, bu_member_at(field, record, i));
		else
			init_member(field->fields, bu_member_at(field, record, i));
	}
}

void
bu_record_init(const struct bu_field *fields, void *record)
{
	for (; fields->key; fields++)
		init_member(fields, record);
}

static int is_default(const struct bu_field *field, const void *record);

static int
all_default(const struct bu_field *fields, const void *record)
{
	for (; fields->key; fields++)
		if (!is_default(fields, record))
			return 0;
	return 1;
}

static int
list_is_default(const struct bu_field *field, const void *record)
{
	if (field->count_size)
		return count_of(field, record) == 0;
	for (size_t i = 0; i < (size_t)field->max; i++) {
		const void *member = bu_member_at(field, record, i);

		if (field->kind == BU_FIELD_LIST ? !all_default(field->fields, member)
						 : !is_default(field->fields, member))
			return 0;
	}
	return 1;
}

static int
is_zero(const char *member, size_t size)
{
	while (size && !member[size - 1])
		size--;
	return size == 0;
}

static int
is_default(const struct bu_field *field, const void *record)
{
	const void *member = (const char *)record + field->offset;
	const char *string;

	switch (field->kind) {
	case BU_FIELD_TEXT:
		return !*(const char *)member;
	case BU_FIELD_STRING:
	case BU_FIELD_JSON:
		memcpy(&string, member, sizeof(string));
		return !string || (field->unsaid && strcmp(string, field->unsaid) == 0);
	case BU_FIELD_INT:
	case BU_FIELD_FLAG:
	case BU_FIELD_WORD:
		return get_int(field, member) == field->otherwise;
	case BU_FIELD_REAL:
		return !(get_real(field, member) < (double)field->otherwise) &&
		       !(get_real(field, member) > (double)field->otherwise);
	case BU_FIELD_RECORD:
		return all_default(field->fields, member);
	case BU_FIELD_LIST:
	case BU_FIELD_ARRAY:
		return list_is_default(field, record);
	case BU_FIELD_PARTS:
		return is_zero(member, field->size);
	case BU_FIELD_VERSION:
	case BU_FIELD_IS:
		return 1;
	}
	return 0;
}

/* --- release --- */

void
bu_record_fini(const struct bu_field *fields, void *record)
{
	for (const struct bu_field *field = fields; field->key; field++) {
		if (field->kind == BU_FIELD_RECORD)
			bu_record_fini(field->fields, (char *)record + field->offset);
		for (size_t i = 0;
		     field->kind == BU_FIELD_LIST && i < count_of(field, record); i++)
			bu_record_fini(field->fields, bu_member_at(field, record, i));
		if (field->heap)
			free(bu_member_at(field, record, 0));
	}
	bu_record_init(fields, record);
}

/* --- JSON --- */

int
bu_word_find(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return -1;
}

int
bu_json_word(const json_t *object, const char *key, const char *const *words,
	     int otherwise)
{
	const char *word = json_string_value(json_object_get(object, key));
	int place = word ? bu_word_find(words, word) : -1;

	return place < 0 ? otherwise : place;
}

/* Texts come from sysfs, firmware and other people's programs. */
static json_t *
write_text(const char *text)
{
	bu_autofree char *copy = bu_xstrdup(text), *plain = NULL;

	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	plain = bu_plain(copy, 0);
	return json_string(plain);
}

static json_t *
write_string(const char *text)
{
	json_t *value = json_string(text ? text : "");

	return value ? value : write_text(text); /* no UTF-8 */
}

static json_t *
write_word(const struct bu_field *field, int64_t place)
{
	size_t count = 0;

	while (field->words[count])
		count++;
	bu_assert(place >= 0 && (size_t)place < count);
	return json_string(field->words[place]);
}

static json_t *write_member(const struct bu_field *field, const void *record);

static json_t *
write_list(const struct bu_field *field, const void *record)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count_of(field, record); i++) {
		const void *member = bu_member_at(field, record, i);

		json_array_append_new(list,
				      field->kind == BU_FIELD_LIST
					      ? bu_record_to_json(field->fields, member)
					      : write_member(field->fields, member));
	}
	return list;
}

static json_t *
write_member(const struct bu_field *field, const void *record)
{
	const void *member = (const char *)record + field->offset;
	void *pointer;

	if (field->need == BU_NULL && is_default(field, record))
		return json_null();
	switch (field->kind) {
	case BU_FIELD_TEXT:
		return write_text(member);
	case BU_FIELD_STRING:
		memcpy(&pointer, member, sizeof(pointer));
		return write_string(pointer);
	case BU_FIELD_JSON:
		memcpy(&pointer, member, sizeof(pointer));
		return pointer ? json_incref(pointer) : json_null();
	case BU_FIELD_INT:
		return json_integer(get_int(field, member));
	case BU_FIELD_REAL:
		return json_real(get_real(field, member));
	case BU_FIELD_FLAG:
		return json_boolean(get_int(field, member));
	case BU_FIELD_WORD:
		return write_word(field, get_int(field, member));
	case BU_FIELD_RECORD:
		return bu_record_to_json(field->fields, member);
	case BU_FIELD_LIST:
	case BU_FIELD_ARRAY:
		return write_list(field, record);
	case BU_FIELD_VERSION:
		return json_integer(field->max);
	case BU_FIELD_IS:
		return json_string(field->words[0]);
	case BU_FIELD_PARTS:
		break; /* it is more than one */
	}
	return NULL;
}

json_t *
bu_record_to_json(const struct bu_field *fields, const void *record)
{
	json_t *value = json_object();

	for (; fields->key; fields++) {
		if (fields->need == BU_SPARSE && is_default(fields, record))
			continue;
		if (fields->kind == BU_FIELD_PARTS)
			fields->parts->write((const char *)record + fields->offset,
					     value);
		else
			json_object_set_new(value, fields->key,
					    write_member(fields, record));
	}
	return value;
}
