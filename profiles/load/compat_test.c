/* SPDX-License-Identifier: Apache-2.0 */
/* Versions that fit together: the table that is shipped, and what a table may say. */
#include "profiles/load/compat.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"

static void
collect(const struct bu_misfit *misfit, void *arg)
{
	json_t *texts = arg;

	json_array_append_new(texts,
			      json_sprintf("%s%s: %s", misfit->undeclared ? "?" : "",
					   bu_component_name(misfit->component),
					   misfit->text));
}

static json_t *
judge(const struct bu_compat *compat, const struct bu_versions *versions)
{
	json_t *texts = json_array();

	bu_compat_judge(compat, versions, collect, texts);
	return texts;
}

static struct bu_compat *
shipped(void)
{
	struct bu_err err = {0};
	struct bu_compat *compat = bu_compat_load(BU_SRCDIR "/data/compat.json", &err);

	ck_assert_msg(compat != NULL, "%s", err.text);
	return compat;
}

#define V(...)                                                                         \
	{                                                                              \
		{                                                                      \
			__VA_ARGS__                                                    \
		}                                                                      \
	}
#define DRIVER(v) [BU_COMPONENT_DRIVER] = v
#define CUDA(v) [BU_COMPONENT_CUDA] = v
#define FM(v) [BU_COMPONENT_FABRIC_MANAGER] = v
#define GPU(v) [BU_COMPONENT_GPU_MODEL] = v
#define MIG(v) [BU_COMPONENT_MIG] = v

/* What the shipped table says: the beginning of the only finding, "" = none. */
static const struct {
	struct bu_versions versions;
	const char *want;
} rows[] = {
	{V(0), ""},
	{V(DRIVER("580.65.06"), CUDA("13.0")), ""},
	{V(DRIVER("570.133.20"), CUDA("13.0")),
	 "driver: driver 570.133.20 does not fit cuda 13.0, which needs >= 580 ("},
	{V(DRIVER("570.133.20"), CUDA("12.8")), ""},
	{V(DRIVER("515.65.01"), CUDA("12")),
	 "driver: driver 515.65.01 does not fit cuda 12, which needs >= 525 ("},
	{V(CUDA("12.4")),
	 "?driver: cuda 12.4 needs driver >= 525, and no driver is declared ("},
	{V(DRIVER("9.1"), CUDA("120.1")), ""}, /* no release 12 */
	{V(DRIVER("550.90.07"), FM("550.90.07")), ""},
	{V(DRIVER("550.90.07"), FM("550.54.15")),
	 "driver: driver 550.90.07 does not fit fabric_manager 550.54.15, which needs "
	 "the same as fabric_manager ("},
	{V(DRIVER("570.124.06"), GPU("b200-180gb")),
	 "driver: driver 570.124.06 does not fit gpu_model b200-180gb, which needs >= "
	 "570.133.20 ("},
	{V(DRIVER("550.54.15"), GPU("h200-141gb")), ""},
	{V(DRIVER("550.54.15"), CUDA("12.4"), GPU("h200-141gb"), MIG("1g.18gb*7")),
	 "driver: driver 550.54.15 does not fit gpu_model h200-141gb and mig "
	 "1g.18gb*7, "
	 "which needs >= 550.90.07 ("},
};

START_TEST(the_shipped_table_judges)
{
	struct bu_compat *compat = shipped();

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *texts = judge(compat, &rows[i].versions);
		const char *text = json_string_value(json_array_get(texts, 0));

		ck_assert_msg(json_array_size(texts) == (*rows[i].want != '\0'),
			      "row %zu: %zu findings, %s", i, json_array_size(texts),
			      text ? text : "");
		if (text)
			ck_assert_msg(
				strncmp(text, rows[i].want, strlen(rows[i].want)) == 0,
				"row %zu: %s", i, text);
	}
	bu_compat_destroy(compat);
}
END_TEST

START_TEST(a_table_says_what_it_rests_on)
{
#define ROW(given, need, rest)                                                         \
	"{\"format\":1,\"rows\":[{\"if\":" given ",\"need\":" need rest "}]}"
#define SOURCED ",\"source\":\"where it says so\",\"date\":\"2026-11-21\""
	static const struct {
		const char *table, *error;
	} bad[] = {
		{"{}", "format 1 and a list 'rows'"},
		{"{\"format\":2,\"rows\":[]}", "format 1 and a list"},
		{ROW("{\"cuda\":\"12\"}", "{\"driver\":\">= 525\"}", ""),
		 "rows[0]: field 'source'"},
		{ROW("{\"cuda\":\"12\"}", "{\"driver\":\">= 525\"}",
		     ",\"source\":\"where it says so\",\"date\":\"last year\""),
		 "rows[0]: field 'date'"},
		{ROW("{\"cuda\":\"12\"}", "{\"driver\":\">= 525\"}",
		     ",\"source\":\"where it says so\",\"date\":\"2026-13-01\""),
		 "rows[0]: field 'date'"},
		{ROW("{}", "{\"driver\":\">= 525\"}", SOURCED),
		 "rows[0]: field 'if': 1 to 4 components"},
		{ROW("{\"cuda\":\"12\"}", "{}", SOURCED), "rows[0]: field 'need'"},
		{ROW("{\"coda\":\"12\"}", "{\"driver\":\">= 525\"}", SOURCED),
		 "rows[0]: 'coda' is not a component"},
		{ROW("{\"cuda\":\"12\"}", "{\"driver\":\"525\"}", SOURCED),
		 "rows[0]: driver '525': allowed is"},
		{ROW("{\"cuda\":\"12\"}", "{\"driver\":\">= newest\"}", SOURCED),
		 "rows[0]: driver '>= newest'"},
		{ROW("{\"cuda\":12}", "{\"driver\":\">= 525\"}", SOURCED),
		 "rows[0]: cuda '': allowed is"},
	};

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		bu_autojson json_t *value = json_loads(bad[i].table, 0, NULL);
		struct bu_err err = {0};

		ck_assert_ptr_nonnull(value);
		ck_assert_ptr_null(bu_compat_parse(value, &err));
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strncmp(err.text, bad[i].error, strlen(bad[i].error)) ==
				      0,
			      "row %zu: %s", i, err.text);
	}
}
END_TEST

START_TEST(every_relation_is_judged)
{
	static const struct {
		const char *need, *version;
		int holds;
	} cases[] = {
		{">= 6.1.9", "6.1.10-28-amd64", 1},
		{">= 6.1.10", "6.1.9", 0},
		{"< 580", "570.99", 1},
		{"< 580", "580", 0},
		{"= 5.15", "5.15.0-91", 1},
		{"= 5.15", "5.150", 0},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		bu_autojson json_t *value = json_pack(
			"{s:i,s:[{s:{s:s},s:{s:s},s:s,s:s}]}", "format", 1, "rows",
			"if", "driver", "*", "need", "kernel", cases[i].need, "source",
			"where it says so", "date", "2026-11-21");
		struct bu_compat *compat = bu_compat_parse(value, NULL);
		struct bu_versions versions = V(DRIVER("1"));
		bu_autojson json_t *texts = NULL;

		ck_assert_ptr_nonnull(compat);
		versions.of[BU_COMPONENT_KERNEL] = cases[i].version;
		texts = judge(compat, &versions);
		ck_assert_msg(json_array_size(texts) == (size_t)!cases[i].holds,
			      "%s %s", cases[i].need, cases[i].version);
		bu_compat_destroy(compat);
	}
}
END_TEST

START_TEST(versions_compare_by_their_numbers)
{
	static const char *const ascending[] = {"450.80.02", "525",        "525.60.13",
						"525.85.12", "570.133.20", "1000"};

	for (size_t i = 1; i < BU_LEN(ascending); i++) {
		ck_assert_int_lt(bu_version_compare(ascending[i - 1], ascending[i]), 0);
		ck_assert_int_gt(bu_version_compare(ascending[i], ascending[i - 1]), 0);
	}
	ck_assert_int_eq(bu_version_compare("6.1.0", "6.1.0"), 0);
}
END_TEST

BU_UNIT("compat", the_shipped_table_judges, a_table_says_what_it_rests_on,
	every_relation_is_judged, versions_compare_by_their_numbers)
