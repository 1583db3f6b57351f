/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON helpers, called where code reads or writes a message, a record or a
 * manifest. Texts come from networks and files: whatever is wrong with them is an
 * error that names the place; nothing here trusts a type.
 */
#include "base/json.h"

#include <string.h>

#include "base/crypto.h"
#include "base/file.h"

json_t *
bu_json_parse(const char *text, size_t size, const char *what, struct bu_err *err)
{
	json_error_t why;
	json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);

	if (!value)
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "%s is not JSON: line %d, column %d: %s", what, why.line,
			   why.column, why.text);
	return value;
}

json_t *
bu_json_load(const char *path, struct bu_err *err)
{
	size_t size;
	bu_autofree char *text = bu_file_read(path, 0, &size, err);

	return text ? bu_json_parse(text, size, path, err) : NULL;
}

void
bu_json_digest(const json_t *value, char ret_hex[65])
{
	bu_autofree char *text = bu_json_canonical(value);

	bu_sha256_hex(text, strlen(text), ret_hex);
}

/* The field, or NULL with "missing" or "is not <type>" in err. */
static const json_t *
field(const json_t *object, const char *key, json_type type, const char *type_name,
      struct bu_err *err)
{
	const json_t *value = json_object_get(object, key);

	if (!value)
		bu_err_set(err, BU_ERR_INVAL, 0, "field '%s': missing; expected %s",
			   key, type_name);
	else if (json_typeof(value) != type)
		bu_err_set(err, BU_ERR_INVAL, 0, "field '%s': expected %s", key,
			   type_name);
	else
		return value;
	return NULL;
}

int
bu_json_get_str(const json_t *object, const char *key, const char **ret,
		struct bu_err *err)
{
	const json_t *value = field(object, key, JSON_STRING, "a string", err);

	if (!value)
		return -1;
	*ret = json_string_value(value);
	return 0;
}

int
bu_json_get_int(const json_t *object, const char *key, int64_t *ret, struct bu_err *err)
{
	const json_t *value = field(object, key, JSON_INTEGER, "an integer", err);

	if (!value)
		return -1;
	*ret = json_integer_value(value);
	return 0;
}

const char *
bu_json_str(const json_t *object, const char *key, const char *fallback)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : fallback;
}

int64_t
bu_json_int(const json_t *object, const char *key, int64_t fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

double
bu_json_real(const json_t *object, const char *key, double fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : fallback;
}

int
bu_json_bool(const json_t *object, const char *key, int fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_boolean(value) ? json_is_true(value) : fallback;
}

void
bu_json_count_up(json_t *object, const char *key)
{
	json_object_set_new(object, key, json_integer(bu_json_int(object, key, 0) + 1));
}

int
bu_json_copy_str(const json_t *object, const char *key, char *ret, size_t size,
		 struct bu_err *err)
{
	const char *text;
	size_t length;

	if (bu_json_get_str(object, key, &text, err))
		return -1;
	length = strlen(text);
	if (length >= size)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': has %zu bytes; at most %zu are allowed",
				  key, length, size - 1);
	memcpy(ret, text, length + 1);
	return 0;
}

json_t *
bu_json_from_err(const struct bu_err *err)
{
	/* A text may hold bytes that a peer sent; what is no UTF-8 is made plain. */
	json_t *text = json_string(err->text);
	json_t *value;

	if (!text) {
		char plain[sizeof(err->text)];
		size_t i = 0;

		for (; err->text[i]; i++)
			plain[i] = (err->text[i] & 0x80) ? '?' : err->text[i];
		plain[i] = '\0';
		text = json_string(plain);
	}
	value = json_pack("{s:s, s:o}", "kind", bu_err_name(err->kind), "text", text);
	bu_assert(value != NULL);
	return value;
}

void
bu_json_to_err(const json_t *value, struct bu_err *ret)
{
	enum bu_err_kind kind = bu_err_from_name(bu_json_str(value, "kind", "remote"));

	/* An error is never "none", whatever the peer calls it. */
	bu_err_set(ret, kind == BU_ERR_NONE ? BU_ERR_REMOTE : kind, 0, "%s",
		   bu_json_str(value, "text", "an error without a text"));
}

void
bu_cleanup_json(json_t **value)
{
	json_decref(*value);
}
