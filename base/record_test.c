/* SPDX-License-Identifier: Apache-2.0 */
/* Records there and back, every way to spoil one, and what a missing field means. */
#include "base/record.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"

enum { ENDS_MAX = 3, RUNS_MAX = 2 };

struct end {
	char name[8];
	uint16_t port;
	float rate;
};

struct result {
	struct end end[ENDS_MAX]; /* in place */
	size_t end_count;
	double *runs; /* on the heap, with a count of another name */
	int done;
	int kind; /* of kinds; -1 = unknown */
};

struct all {
	const char *text;
	int64_t at_ms;
	uint32_t label;
	int place; /* -1 = unknown */
	int on;
	double clock[2];
	struct end first;
	const json_t *rest;
	struct result *results;
	size_t results_count;
};

static int
is_short(const char *text)
{
	return text[0] && !text[1];
}

static const struct bu_form short_form = {is_short, "one letter"};
static const char *const kinds[] = {"none", "fast", "slow", NULL};
static const char *const about[] = {"test", NULL};

static const struct bu_field end_fields[] = {
	BU_FIELD(TEXT, struct end, name, .form = &short_form),
	BU_FIELD(INT, struct end, port),
	BU_FIELD_AS("gbps", REAL, struct end, rate, .max = 100),
	BU_FIELD_END,
};
static const struct bu_field run_field[] = {
	BU_FIELD_ONE(REAL, sizeof(double), .max = 9)};
static const struct bu_field clock_field[] = {BU_FIELD_ONE(REAL, sizeof(double))};
static const struct bu_field result_fields[] = {
	BU_FIELD_MANY(LIST, struct result, end, ENDS_MAX, end_fields, .min = 1),
	BU_FIELD_MANY_AS("runs", ARRAY, struct result, runs, done, RUNS_MAX, run_field),
	BU_FIELD(WORD, struct result, kind, .words = kinds, .min = 1, .otherwise = -1,
		 .need = BU_SPARSE),
	BU_FIELD_END,
};
static const struct bu_field all_fields[] = {
	BU_FIELD_V(2, 3),
	{.key = "about", .kind = BU_FIELD_IS, .words = about},
	BU_FIELD(STRING, struct all, text, .max = 20),
	BU_FIELD(INT, struct all, at_ms, .min = 1, .max = 1000),
	BU_FIELD(INT, struct all, label, .need = BU_OPTIONAL, .otherwise = 7),
	BU_FIELD(INT, struct all, place, .min = -1, .max = 9, .otherwise = -1,
		 .need = BU_SPARSE),
	BU_FIELD(FLAG, struct all, on),
	BU_FIELD_ALL(ARRAY, struct all, clock, clock_field, .need = BU_SPARSE),
	BU_FIELD(RECORD, struct all, first, .fields = end_fields, .need = BU_SPARSE),
	BU_FIELD(JSON, struct all, rest, .need = BU_SPARSE),
	BU_FIELD_MANY(LIST, struct all, results, 2, result_fields),
	BU_FIELD_END,
};

static const char good[] =
	"{\"v\":3,\"about\":\"test\",\"text\":\"a\\nb\",\"at_ms\":1000,\"label\":4294,"
	"\"place\":0,\"on\":true,\"clock\":[0.5,1.0],"
	"\"first\":{\"name\":\"x\",\"port\":65535,\"gbps\":100.0},\"rest\":[1,{}],"
	"\"results\":["
	"{\"end\":[{\"name\":\"a\",\"port\":0,\"gbps\":0.5}],\"runs\":[]},"
	"{\"end\":[{\"name\":\"b\",\"port\":1,\"gbps\":1.5},"
	"{\"name\":\"c\",\"port\":2,\"gbps\":2.5}],\"runs\":[1.0,9.0],"
	"\"kind\":\"slow\"}]}";

static json_t *
parsed(const char *text)
{
	struct bu_err err = {0};
	json_t *value = bu_json_parse(text, strlen(text), "the test", &err);

	ck_assert_msg(value != NULL, "%s", err.text);
	return value;
}

START_TEST(comes_back_as_it_went)
{
	bu_autojson json_t *in = parsed(good), *out = NULL;
	struct bu_err err = {0};
	struct all all;

	ck_assert_msg(bu_record_from_json(all_fields, in, &all, &err) == 0, "%s",
		      err.text);
	ck_assert_str_eq(all.text, "a\nb");
	ck_assert_int_eq(all.at_ms, 1000);
	ck_assert_uint_eq(all.label, 4294);
	ck_assert_int_eq(all.place, 0);
	ck_assert_int_eq(all.on, 1);
	ck_assert_double_eq(all.clock[1], 1);
	ck_assert_uint_eq(all.first.port, 65535);
	ck_assert_ptr_eq(all.rest, json_object_get(in, "rest"));
	ck_assert_uint_eq(all.results_count, 2);
	ck_assert_uint_eq(all.results[0].end_count, 1);
	ck_assert_int_eq(all.results[0].done, 0);
	ck_assert_int_eq(all.results[0].kind, -1);
	ck_assert_str_eq(all.results[1].end[1].name, "c");
	ck_assert_float_eq(all.results[1].end[1].rate, 2.5f);
	ck_assert_int_eq(all.results[1].done, 2);
	ck_assert_double_eq(all.results[1].runs[1], 9);
	ck_assert_int_eq(all.results[1].kind, 2);
	out = bu_record_to_json(all_fields, &all);
	ck_assert(json_equal(in, out));
	bu_record_fini(all_fields, &all);
	ck_assert_ptr_null(all.results);
	ck_assert_uint_eq(all.results_count, 0);
}
END_TEST

/* What may be missing has the default that its row names, and only that. */
START_TEST(a_default_is_said_by_its_row)
{
	static const char *const sparse[] = {"place", "clock", "first", "rest"};
	bu_autojson json_t *value = parsed(good), *out = NULL;
	struct bu_err err = {0};
	struct all all;

	memset(&all, 0x5a, sizeof(all));
	json_object_del(value, "label");
	for (size_t i = 0; i < BU_LEN(sparse); i++)
		ck_assert_int_eq(json_object_del(value, sparse[i]), 0);
	ck_assert_msg(bu_record_from_json(all_fields, value, &all, &err) == 0, "%s",
		      err.text);
	ck_assert_uint_eq(all.label, 7);
	ck_assert_int_eq(all.place, -1);
	ck_assert_double_eq(all.clock[0], 0);
	ck_assert_str_eq(all.first.name, "");
	ck_assert_ptr_null(all.rest);
	out = bu_record_to_json(all_fields, &all);
	ck_assert_int_eq(json_integer_value(json_object_get(out, "label")), 7);
	for (size_t i = 0; i < BU_LEN(sparse); i++)
		ck_assert_ptr_null(json_object_get(out, sparse[i]));
	bu_record_fini(all_fields, &all);
}
END_TEST

/* Sets a field by path: "results.0.end". NULL takes it away. */
static void
spoil(json_t *value, const char *path, const char *json)
{
	char part[64];
	json_t *its = json ? json_loads(json, JSON_DECODE_ANY, NULL) : NULL;

	for (;;) {
		size_t size = strcspn(path, ".");

		memcpy(part, path, size);
		part[size] = '\0';
		if (!path[size])
			break;
		value = json_is_array(value) ? json_array_get(value, (size_t)atoi(part))
					     : json_object_get(value, part);
		path += size + 1;
	}
	if (json_is_array(value))
		json_array_set_new(value, (size_t)atoi(part), its);
	else if (json)
		json_object_set_new(value, part, its);
	else
		json_object_del(value, part);
}

START_TEST(refuses_what_no_row_allows)
{
	static const struct {
		const char *path, *json, *text;
	} cases[] = {
		{"v", "1", "v: 2 to 3 are allowed"},
		{"v", "4", "v: 2 to 3 are allowed"},
		{"v", NULL, "v: missing; expected a version"},
		{"about", "\"b\"", "about: 'b' is unknown; expected 'test'"},
		{"text", "7", "text: expected a text"},
		{"text", "\"123456789012345678901\"",
		 "text: has 21 bytes; at most 20 are allowed"},
		{"at_ms", "1.0", "at_ms: expected a whole number"},
		{"at_ms", "0", "at_ms: 1 to 1000 are allowed"},
		{"at_ms", "1001", "at_ms: 1 to 1000 are allowed"},
		{"at_ms", "null", "at_ms: expected a whole number"},
		{"label", "2147483648", "label: 0 to 2147483647 are allowed"},
		{"label", "\"7\"", "label: expected a whole number"},
		{"place", "-2", "place: -1 to 9 are allowed"},
		{"on", "1", "on: expected true or false"},
		{"clock", "[1]", "clock: has 1 members; at least 2 are allowed"},
		{"clock", "[1,2,3]", "clock: has 3 members; at most 2 are allowed"},
		{"clock.1", "\"x\"", "clock[1]: expected a number"},
		{"clock.1", "-1", "clock[1]: 0 to"},
		{"first", "[]", "first: expected an object"},
		{"first.port", "65536", "first.port: 0 to 65535 are allowed"},
		{"first.name", NULL, "first.name: missing; expected a text"},
		{"results", "{}", "results: expected a list"},
		{"results", NULL, "results: missing; expected a list"},
		{"results", "[{},{},{}]",
		 "results: has 3 members; at most 2 are allowed"},
		{"results.1", "7", "results[1]: expected an object"},
		{"results.1.end", "[]",
		 "results[1].end: has 0 members; at least 1 are allowed"},
		{"results.1.end.0.gbps", "true",
		 "results[1].end[0].gbps: expected a number"},
		{"results.1.end.0.gbps", "100.5",
		 "results[1].end[0].gbps: 0 to 100 are allowed"},
		{"results.1.end.0.name", "\"ab\"",
		 "results[1].end[0].name: is not one letter"},
		{"results.1.end.0.name", "\"abcdefgh\"",
		 "results[1].end[0].name: has 8 bytes; at most 7 are allowed"},
		{"results.1.runs.0", "9.5", "results[1].runs[0]: 0 to 9 are allowed"},
		{"results.1.kind", "\"none\"",
		 "results[1].kind: 'none' is unknown; expected 'fast', 'slow'"},
	};

	struct end end;

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		bu_autojson json_t *value = parsed(good);
		struct bu_err err = {0};
		struct all all;

		spoil(value, cases[i].path, cases[i].json);
		ck_assert_msg(bu_record_from_json(all_fields, value, &all, &err) == -1,
			      "%s = %s was taken", cases[i].path, cases[i].json);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strncmp(err.text, cases[i].text, strlen(cases[i].text)) ==
				      0,
			      "%s, not %s", err.text, cases[i].text);
		ck_assert_ptr_null(all.results);
	}
	ck_assert_int_eq(bu_record_from_json(end_fields, NULL, &end, NULL), -1);
}
END_TEST

START_TEST(other_peoples_texts_are_made_printable)
{
	struct end end = {.name = "\n"};
	bu_autojson json_t *value = bu_record_to_json(end_fields, &end), *again = NULL;

	ck_assert_str_eq(json_string_value(json_object_get(value, "name")), " ");
	strcpy(end.name, "\xff");
	again = bu_record_to_json(end_fields, &end);
	ck_assert_str_eq(json_string_value(json_object_get(again, "name")),
			 "\xef\xbf\xbd");
}
END_TEST

START_TEST(passes_over_fields_of_a_newer_peer)
{
	bu_autojson json_t *value = parsed(good);
	struct all all;

	json_object_set_new(value, "later", json_true());
	ck_assert_int_eq(bu_record_from_json(all_fields, value, &all, NULL), 0);
	bu_record_fini(all_fields, &all);
}
END_TEST

#define RUN_ROWS(X, T)                                                                 \
	X(T, STRING, end, .need = BU_SPARSE, .unsaid = "none")                         \
	X(T, INT, at_ms, .need = BU_NULL)                                              \
	X(T, FLAG, on) X(T, REAL, gbps) X(T, JSON, rest, .need = BU_NULL)
struct run BU_ROW_STRUCT(RUN_ROWS);

/* null is a default that is said; another type is none. */
START_TEST(one_list_makes_the_struct_and_its_table)
{
	static const struct bu_field fields[] = BU_ROW_TABLE(RUN_ROWS, struct run);
	static const char empty[] =
		"{\"at_ms\":null,\"on\":true,\"gbps\":0.5,\"rest\":null}";
	static const char full[] = "{\"end\":\"x\",\"at_ms\":7,\"on\":false,"
				   "\"gbps\":1.0,\"rest\":[1]}";
	bu_autojson json_t *none = parsed(empty), *all = parsed(full);
	bu_autojson json_t *wrong = parsed("{\"at_ms\":\"7\"}");
	bu_autojson json_t *none_again = NULL, *all_again = NULL;
	struct run run;

	ck_assert_int_eq(bu_record_from_json(fields, none, &run, NULL), 0);
	ck_assert_str_eq(run.end, "none");
	ck_assert_int_eq(run.at_ms, 0);
	ck_assert_ptr_null(run.rest);
	none_again = bu_record_to_json(fields, &run);
	ck_assert(json_equal(none, none_again));
	ck_assert_int_eq(bu_record_from_json(fields, all, &run, NULL), 0);
	ck_assert_str_eq(run.end, "x");
	ck_assert_int_eq(run.at_ms, 7);
	all_again = bu_record_to_json(fields, &run);
	ck_assert(json_equal(all, all_again));
	ck_assert_int_eq(bu_record_from_json(fields, wrong, &run, NULL), -1);
}
END_TEST

/* Three fields of one object. */
struct both {
	const char *name; /* "nobody" where it is missing */
	struct sum {
		int left, right;
	} sum;
};

static void
write_sum(const void *member, json_t *object)
{
	const struct sum *sum = member;

	json_object_set_new(object, "left", json_integer(sum->left));
	json_object_set_new(object, "right", json_integer(sum->right));
}

static int
read_sum(const json_t *object, void *ret_member, struct bu_err *err)
{
	struct sum *sum = ret_member;

	sum->left = (int)bu_json_int(object, "left", 0);
	sum->right = (int)bu_json_int(object, "right", 0);
	return sum->left < 0 ? bu_err_set(err, BU_ERR_INVAL, 0, "left: is too small")
			     : 0;
}

static const struct bu_parts sum_parts = {write_sum, read_sum};
static const struct bu_field both_fields[] = {
	BU_FIELD(STRING, struct both, name, .need = BU_OPTIONAL, .unsaid = "nobody"),
	BU_FIELD(PARTS, struct both, sum, .need = BU_SPARSE, .parts = &sum_parts),
	BU_FIELD_END,
};
static const struct bu_field inside_fields[] = {
	{.key = "in", .kind = BU_FIELD_RECORD, .fields = both_fields},
	BU_FIELD_END,
};

START_TEST(a_member_may_stand_in_several_fields)
{
	bu_autojson json_t *in = parsed("{\"name\":\"a\",\"left\":1,\"right\":2}");
	bu_autojson json_t *none = parsed("{}"),
			   *bad = parsed("{\"in\":{\"left\":-1}}");
	bu_autojson json_t *out = NULL, *less = NULL;
	struct bu_err err = {0};
	struct both both;

	ck_assert_int_eq(bu_record_from_json(both_fields, in, &both, NULL), 0);
	ck_assert_int_eq(both.sum.right, 2);
	out = bu_record_to_json(both_fields, &both);
	ck_assert(json_equal(in, out));
	ck_assert_int_eq(bu_record_from_json(both_fields, none, &both, NULL), 0);
	ck_assert_str_eq(both.name, "nobody");
	less = bu_record_to_json(both_fields, &both);
	ck_assert_uint_eq(json_object_size(less), 1);
	ck_assert_int_eq(bu_record_from_json(inside_fields, bad, &both, &err), -1);
	ck_assert_str_eq(err.text, "in.left: is too small");
}
END_TEST

START_TEST(other_words_are_the_default_where_the_row_says_so)
{
	struct speed {
		int kind;
	} speed;
	static const struct bu_field fields[] = {
		BU_FIELD(WORD, struct speed, kind, .words = kinds, .otherwise = 2,
			 .others = 1),
		BU_FIELD_END,
	};
	static const char *const texts[] = {"{\"kind\":\"warp\"}",
					    "{\"kind\":\"fast\"}", "{\"kind\":1}"};

	for (int i = 0; i < 3; i++) {
		bu_autojson json_t *value = parsed(texts[i]);

		ck_assert_int_eq(bu_record_from_json(fields, value, &speed, NULL),
				 i == 2 ? -1 : 0);
		ck_assert_int_eq(speed.kind, i == 1 ? 1 : 2);
	}
}
END_TEST

BU_UNIT("record", other_words_are_the_default_where_the_row_says_so,
	one_list_makes_the_struct_and_its_table, a_member_may_stand_in_several_fields,
	comes_back_as_it_went, a_default_is_said_by_its_row, refuses_what_no_row_allows,
	other_peoples_texts_are_made_printable, passes_over_fields_of_a_newer_peer)
