/* SPDX-License-Identifier: Apache-2.0 */
/* Strict reading, and the canonical form. */
#include "base/json.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static json_t *
parse(const char *text)
{
	struct bu_err err = {0};
	json_t *value = bu_json_parse(text, strlen(text), "the test", &err);

	ck_assert_msg(value != NULL, "%s", err.text);
	return value;
}

START_TEST(refuses_what_is_no_json)
{
	static const char *const bad[] = {
		"",      "{",    "{\"a\":1,}",          "{\"a\":1,\"a\":2}",
		"[1] x", "\xff", "{\"a\":\"\\u0000\"}",
	};
	struct bu_err err = {0};

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		err.text[0] = '\0';
		ck_assert_ptr_null(
			bu_json_parse(bad[i], strlen(bad[i]), "hello of gpu001", &err));
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert(strstr(err.text, "hello of gpu001"));
	}
}
END_TEST

START_TEST(survives_deep_nesting)
{
	char deep[20000];
	struct bu_err err = {0};

	memset(deep, '[', sizeof(deep));
	ck_assert_ptr_null(bu_json_parse(deep, sizeof(deep), "deep", &err));
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
}
END_TEST

START_TEST(loads_a_file)
{
	char path[] = "/tmp/bringup-json-XXXXXX";
	struct bu_err err = {0};
	json_t *value;

	close(mkstemp(path));
	ck_assert_int_eq(bu_file_write_text(path, 0600, &err, "{\"n\":%d}\n", 7), 0);
	value = bu_json_load(path, &err);
	ck_assert_int_eq(bu_json_int(value, "n", 0), 7);
	json_decref(value);
	ck_assert_int_eq(bu_file_write_text(path, 0600, &err, "{"), 0);
	ck_assert_ptr_null(bu_json_load(path, &err));
	ck_assert(strstr(err.text, path));
	unlink(path);
	ck_assert_ptr_null(bu_json_load(path, &err));
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
}
END_TEST

START_TEST(has_one_canonical_form)
{
	json_t *a = parse(
		"{\"b\": [1, 2.5, null], \"a\": {\"y\": \"\\u00e9\", \"x\": true}}");
	json_t *b = parse("{\"a\":{\"x\":true,\"y\":\"\xc3\xa9\"},\"b\":[1,2.5,null]}");
	char *text = bu_json_canonical(a);
	char hex_a[65];
	char hex_b[65];

	ck_assert_str_eq(text,
			 "{\"a\":{\"x\":true,\"y\":\"\xc3\xa9\"},\"b\":[1,2.5,null]}");
	bu_json_digest(a, hex_a);
	bu_json_digest(b, hex_b);
	ck_assert_str_eq(hex_a, hex_b);
	json_array_append_new(json_object_get(b, "b"), json_integer(1));
	bu_json_digest(b, hex_b);
	ck_assert_str_ne(hex_a, hex_b);
	free(text);
	json_decref(a);
	json_decref(b);
}
END_TEST

static json_t *
any_value(uint64_t *random, int depth)
{
	static const double reals[] = {0,    -0.0,  1,   2.5,    392.1,    1e20,
				       1e-7, 1e300, 0.1, 1 / 3., 97.65625, -1e-20};
	static const char *const texts[] = {"",
					    "plain",
					    "\xc3\xa9 \xe2\x82\xac",
					    "a\"b",
					    "back\\slash/",
					    "\b\f\n\r\t",
					    "\x01\x1f\x7f"};
	uint64_t x = *random =
		*random * UINT64_C(6364136223846793005) + 1442695040888963407;
	json_t *value;

	x >>= 33;
	switch (x % (depth > 0 ? 8 : 6)) {
	case 0:
		return json_integer((json_int_t)(*random ^ *random >> 7));
	case 1:
		return json_real(reals[x / 8 % BU_LEN(reals)]);
	case 2:
		return json_real((double)(int64_t)*random / 1e9);
	case 3:
		return json_boolean(x / 8 % 2);
	case 4:
		return x / 8 % 2 ? json_null() : json_stringn("a\0b", 3);
	case 5:
		return json_string(texts[x / 8 % BU_LEN(texts)]);
	case 6:
		value = json_array();
		for (uint64_t i = 0; i < x / 8 % 5; i++)
			json_array_append_new(value, any_value(random, depth - 1));
		return value;
	default:
		value = json_object();
		for (uint64_t i = 0; i < x / 8 % 40; i++) {
			char key[24];

			snprintf(key, sizeof(key), "%s%d",
				 texts[(x + i) % BU_LEN(texts)], (int)(i * x % 97));
			json_object_set_new(value, key, any_value(random, depth - 1));
		}
		return value;
	}
}

/* What was signed and hashed with the library's own writer is written the same. */
START_TEST(the_canonical_form_is_the_librarys)
{
	uint64_t random = 20261123;

	for (int i = 0; i < 300; i++) {
		json_t *value = any_value(&random, 4);
		char *text = bu_json_canonical(value);
		char *wanted = json_dumps(value, JSON_SORT_KEYS | JSON_COMPACT |
							 JSON_ENCODE_ANY);

		ck_assert_str_eq(text, wanted);
		free(text);
		free(wanted);
		json_decref(value);
	}
}
END_TEST

START_TEST(names_the_field)
{
	json_t *value = parse("{\"name\":\"gpu001\",\"count\":3,\"real\":1.5}");
	const char *text = "untouched";
	int64_t number = -7;
	char small[4] = "abc";
	char fits[7];
	struct bu_err err = {0};

	ck_assert_int_eq(bu_json_get_str(value, "name", &text, &err), 0);
	ck_assert_str_eq(text, "gpu001");
	ck_assert_int_eq(bu_json_get_int(value, "count", &number, &err), 0);
	ck_assert_int_eq(number, 3);
	ck_assert_int_eq(bu_json_get_int(value, "real", &number, &err), -1);
	ck_assert_str_eq(err.text, "field 'real': expected an integer");
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_int_eq(bu_json_get_str(value, "count", &text, &err), -1);
	ck_assert_str_eq(err.text, "field 'count': expected a string");
	ck_assert_int_eq(bu_json_get_str(value, "mac", &text, &err), -1);
	ck_assert_str_eq(err.text, "field 'mac': missing; expected a string");
	ck_assert_int_eq(bu_json_get_str(NULL, "mac", &text, &err), -1);
	ck_assert_int_eq(bu_json_copy_str(value, "name", fits, sizeof(fits), &err), 0);
	ck_assert_str_eq(fits, "gpu001");
	ck_assert_int_eq(bu_json_copy_str(value, "name", small, sizeof(small), &err),
			 -1);
	ck_assert_str_eq(small, "abc");
	ck_assert_str_eq(text, "gpu001");
	ck_assert_int_eq(number, 3);
	json_decref(value);
}
END_TEST

START_TEST(falls_back)
{
	json_t *value = parse("{\"s\":\"x\",\"n\":3,\"r\":1.5,\"t\":true,\"f\":false}");

	ck_assert_str_eq(bu_json_str(value, "s", "d"), "x");
	ck_assert_str_eq(bu_json_str(value, "n", "d"), "d");
	ck_assert_int_eq(bu_json_int(value, "n", 9), 3);
	ck_assert_int_eq(bu_json_int(value, "r", 9), 9);
	ck_assert_double_eq(bu_json_real(value, "r", 9), 1.5);
	ck_assert_double_eq(bu_json_real(value, "n", 9), 3);
	ck_assert_double_eq(bu_json_real(value, "s", 9), 9);
	ck_assert_int_eq(bu_json_bool(value, "t", 0), 1);
	ck_assert_int_eq(bu_json_bool(value, "f", 1), 0);
	ck_assert_int_eq(bu_json_bool(value, "n", 1), 1);
	ck_assert_int_eq(bu_json_int(NULL, "n", 9), 9);
	json_decref(value);
}
END_TEST

START_TEST(carries_errors)
{
	struct bu_err out = {0};
	struct bu_err in = {0};
	json_t *value;

	bu_err_set(&out, BU_ERR_STATE, 0, "node001 is held");
	value = bu_json_from_err(&out);
	bu_json_to_err(value, &in);
	ck_assert_int_eq(in.kind, BU_ERR_STATE);
	ck_assert_str_eq(in.text, "node001 is held");
	json_decref(value);

	bu_err_set(&out, BU_ERR_IO, 0, "bytes \xff\xfe");
	value = bu_json_from_err(&out);
	ck_assert_str_eq(bu_json_str(value, "text", ""),
			 "bytes \xef\xbf\xbd\xef\xbf\xbd");
	json_decref(value);

	/* What a peer says is still an error. */
	value = parse("{\"kind\":\"none\"}");
	bu_json_to_err(value, &in);
	ck_assert_int_eq(in.kind, BU_ERR_REMOTE);
	json_decref(value);
	bu_json_to_err(NULL, &in);
	ck_assert_int_eq(in.kind, BU_ERR_REMOTE);
}
END_TEST

START_TEST(counts_up)
{
	bu_autojson json_t *counts = json_object();

	bu_json_count_up(counts, "a");
	bu_json_count_up(counts, "b");
	bu_json_count_up(counts, "a");
	ck_assert_int_eq(bu_json_int(counts, "a", 0), 2);
	ck_assert_int_eq(bu_json_int(counts, "b", 0), 1);
}
END_TEST

BU_UNIT("json", refuses_what_is_no_json, survives_deep_nesting, loads_a_file,
	has_one_canonical_form, the_canonical_form_is_the_librarys, names_the_field,
	falls_back, counts_up, carries_errors)
