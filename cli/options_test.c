/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options: values, their checks, and words that are no options. */
#include "cli/options.h"

#include <string.h>

#include "tests/support/cli.h"
#include "tests/support/unit.h"

enum { WORDS_MAX = 40 };

#define ALL ((UINT64_C(1) << BU_OPTION_COUNT) - 1)

/* Parses "plan --yes DIR"; the words live as long as the test. */
static int
parse_words(uint64_t taken, const char *line, struct bu_options *ret,
	    struct bu_err *err)
{
	static char text[400];
	static char *argv[WORDS_MAX + 1];
	char *rest = text, *word;
	int argc = 0;

	snprintf(text, sizeof(text), "%s", line);
	while ((word = strsep(&rest, " ")) && argc < WORDS_MAX)
		argv[argc++] = word;
	argv[argc] = NULL;
	return bu_options_parse(taken, argc, argv, ret, err);
}

START_TEST(takes_values_in_any_order)
{
	struct bu_options options;
	struct bu_err err;

	ck_assert_int_eq(parse_words(ALL,
				     "apply --yes DIR --timeout 90 --grant wipe "
				     "--socket=/run/x --grant reimage:n1 --wait",
				     &options, &err),
			 0);
	ck_assert_int_eq(options.yes, 1);
	ck_assert_int_eq(options.wait, 1);
	ck_assert_int_eq(options.watch, 0);
	ck_assert_int_eq(options.timeout_s, 90);
	ck_assert_int_eq(options.grants.count, 2);
	ck_assert_str_eq(options.grants.items[0], "wipe");
	ck_assert_str_eq(options.grants.items[1], "reimage:n1");
	ck_assert_str_eq(options.socket, "/run/x");
	ck_assert_int_eq(options.args_count, 1);
	ck_assert_str_eq(options.args[0], "DIR");
}
END_TEST

START_TEST(has_defaults)
{
	struct bu_options options;
	struct bu_err err;

	ck_assert_int_eq(parse_words(ALL, "events", &options, &err), 0);
	ck_assert_int_eq(options.format, BU_FORMAT_TABLE);
	ck_assert_int_eq(options.timeout_s, 3600);
	ck_assert_int_eq(options.limit, 50);
	ck_assert_ptr_null(options.socket);
	ck_assert_int_eq(options.args_count, 0);
}
END_TEST

START_TEST(reads_formats)
{
	static const struct {
		const char *line;
		enum bu_format want;
		enum bu_style style;
	} rows[] = {
		{"status -o table", BU_FORMAT_TABLE, BU_STYLE_NONE},
		{"status -o wide", BU_FORMAT_TABLE, BU_STYLE_WIDE},
		{"status -o json", BU_FORMAT_JSON, BU_STYLE_NONE},
		{"status -o yaml", BU_FORMAT_JSON, BU_STYLE_YAML},
		{"status -o yaml --json", BU_FORMAT_JSON, BU_STYLE_NONE},
		{"status -o name", BU_FORMAT_HOSTLIST, BU_STYLE_NAME},
		{"status -ojson", BU_FORMAT_JSON, BU_STYLE_NONE},
		{"status -o hostlist", BU_FORMAT_HOSTLIST, BU_STYLE_NONE},
		{"status --json", BU_FORMAT_JSON, BU_STYLE_NONE},
	};
	struct bu_options options;
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_int_eq(parse_words(ALL, rows[i].line, &options, &err), 0);
		ck_assert_int_eq(options.format, rows[i].want);
		ck_assert_int_eq(options.style, rows[i].style);
	}
}
END_TEST

START_TEST(refuses_with_a_reason)
{
	static const struct {
		uint64_t taken;
		const char *line, *want;
	} rows[] = {
		{ALL, "status -o xml",
		 "give table, wide, json, yaml, hostlist or name"},
		{ALL, "apply --timeout soon", "give a whole number from 1 to 2592000"},
		{ALL, "apply --timeout 0", "give a whole number"},
		{ALL, "events --limit 1001", "give a whole number from 1 to 1000"},
		{ALL, "events --limit 5x", "--limit '5x'"},
		{ALL, "apply --grant", "--grant needs an argument"},
		{ALL, "apply --forth", "unknown option --forth"},
		{ALL, "apply -q", "unknown option -q"},
		{ALL, "apply --yes=1", "unknown option --yes=1"},
		{BU_OPTION_BIT(YES), "apply --wait", "unknown option --wait"},
		{BU_OPTION_BIT(YES), "apply -o json", "unknown option -o"},
	};
	struct bu_options options = {.limit = -7};
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_int_eq(
			parse_words(rows[i].taken, rows[i].line, &options, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_USAGE);
		ck_assert_msg(strstr(err.text, rows[i].want), "%s: %s", rows[i].line,
			      err.text);
		ck_assert_int_eq(options.limit, -7);
	}
}
END_TEST

START_TEST(a_repeated_option_has_a_limit)
{
	struct bu_options options;
	struct bu_err err;
	char line[400] = "apply";

	for (int i = 0; i < BU_WORDS_MAX + 1; i++)
		strcat(line, " --grant wipe");
	ck_assert_int_eq(parse_words(ALL, line, &options, &err), -1);
	ck_assert_str_eq(err.text, "--grant: 16 of them at most");
}
END_TEST

START_TEST(help_names_what_is_taken)
{
	bu_autofree char *text = WRITTEN(
		bu_options_help(BU_OPTION_BIT(OUT) | BU_OPTION_BIT(OUTPUT), out));

	ck_assert_ptr_nonnull(strstr(text, "--out FILE"));
	ck_assert_ptr_nonnull(strstr(text, "-o table|wide|json|yaml|hostlist|name"));
	ck_assert_ptr_null(strstr(text, "--yes"));
}
END_TEST

START_TEST(help_is_an_option_everywhere)
{
	struct bu_options options;
	struct bu_err err;

	ck_assert_int_eq(parse_words(0, "check --help", &options, &err), 0);
	ck_assert_int_eq(options.help, 1);
	ck_assert_int_eq(parse_words(0, "check -- --help", &options, &err), 0);
	ck_assert_int_eq(options.help, 0);
	ck_assert_str_eq(options.args[0], "--help");
}
END_TEST

BU_UNIT("options", takes_values_in_any_order, has_defaults, reads_formats,
	refuses_with_a_reason, a_repeated_option_has_a_limit, help_names_what_is_taken,
	help_is_an_option_everywhere)
