/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs/where.md says in which file and function questions are answered. Each question
 * has a row, and each row names a file that defines what the row names. The places
 * stand in that page alone. The files that CONTRIBUTING.md names are there, too.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "tests/support/unit.h"

static const char *const questions[] = {
	"where DHCP is configured",
	"where a node becomes quarantined",
	"where the reset ladder climbs",
	"where the bandwidth threshold of a pair is chosen",
	"where the GID index is chosen",
	"where a plan's shape is defined",
	"where a grant is checked",
	"where an install can be aborted",
	"where the cluster is asked",
	"where a page's text comes from",
};

static char *
read_file(const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", BU_SRCDIR, name);
	struct bu_err err = {0};
	char *text = bu_file_read(path, 0, NULL, &err);

	ck_assert_msg(text != NULL, "docs/where.md: %s", err.text);
	return text;
}

/* A function whose name starts a line, a table or a macro; in a script a function. A
 * mere call or a declaration of it is none. */
static int
defines(const char *text, const char *name)
{
	static const struct {
		const char *before, *after;
	} shapes[] = {{"\n", "("},
		      {" ", "[] = {"},
		      {"#define ", "("},
		      {"\nfunction ", "("},
		      {"\nexport function ", "("}};

	for (size_t i = 0; i < BU_LEN(shapes); i++) {
		bu_autofree char *start =
			bu_xasprintf("%s%s%s", shapes[i].before, name, shapes[i].after);

		if (strstr(text, start))
			return 1;
	}
	return 0;
}

/* The row "| question | `file` | `name` |"; 0 for what is none. */
static int
check_row(const char *line, int seen[BU_LEN(questions)])
{
	char question[128], file[128], name[128];
	bu_autofree char *text = NULL;

	if (sscanf(line, "| %127[^|`] | `%127[^`]` | `%127[^`]` |", question, file,
		   name) != 3)
		return 0;
	text = read_file(file);
	ck_assert_msg(defines(text, name), "docs/where.md: %s has no %s", file, name);
	for (size_t i = 0; i < BU_LEN(questions); i++) {
		size_t size = strlen(questions[i]);

		if (strncmp(question, questions[i], size) == 0 &&
		    strchr(": ", question[size]))
			seen[i] = 1;
	}
	return 1;
}

START_TEST(each_question_has_a_place_that_is_there)
{
	bu_autofree char *page = read_file("docs/where.md");
	int seen[BU_LEN(questions)] = {0};
	int rows = 0, lines = 0;

	for (char *rest = page, *line; (line = strsep(&rest, "\n"));) {
		lines += strncmp(line, "| where ", 8) == 0;
		rows += check_row(line, seen);
	}
	ck_assert_int_eq(rows, lines);
	for (size_t i = 0; i < BU_LEN(questions); i++)
		ck_assert_msg(seen[i], "docs/where.md has no row '%s'", questions[i]);
}
END_TEST

/* `room/file`: a file, a folder, or a test by the name that make knows. */
static void
is_there(const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", BU_SRCDIR, name);
	bu_autofree char *test = bu_xasprintf("%s.c", path);

	ck_assert_msg(access(path, F_OK) == 0 || access(test, F_OK) == 0,
		      "CONTRIBUTING.md: there is no %s", name);
}

START_TEST(contributors_are_sent_to_files_that_are_there)
{
	bu_autofree char *page = read_file("CONTRIBUTING.md");
	int files = 0;

	for (char *rest = page, *name; (name = strsep(&rest, "`"));) {
		name = strsep(&rest, "`");
		if (!name || !strchr(name, '/') || strpbrk(name, " \n*X"))
			continue;
		is_there(name);
		files++;
	}
	ck_assert_int_gt(files, 40);
}
END_TEST

START_TEST(a_call_or_a_declaration_is_no_definition)
{
	ck_assert(defines("int\nclimb(int rung)\n{\n", "climb"));
	ck_assert(defines("static const int rows[] = {1};\n", "rows"));
	ck_assert(!defines("int climb(int rung);\n", "climb"));
	ck_assert(!defines("\n\tclimb(1);\n", "climb"));
	ck_assert(!defines("int\nclimb_on(int rung)\n{\n", "climb"));
}
END_TEST

BU_UNIT("where", each_question_has_a_place_that_is_there,
	contributors_are_sent_to_files_that_are_there,
	a_call_or_a_declaration_is_no_definition)
