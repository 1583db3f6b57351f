/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ClusterShell, which Debian's `nodeset` is a front end of, judges nodesets: expansion,
 * operators and folding of many made-up expressions must give the same names. Skipped
 * (exit status 77) where the package clustershell is not installed.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/worker.h"
#include "profiles/nodeset/nodeset.h"
#include "tests/support/unit.h"

enum { EXPRESSIONS = 600 };

/* Reads "EXPRESSION FOLDED" lines; prints the sorted names, and whether the folded text
 * is the same set. */
static const char script[] =
	"import sys\n"
	"from ClusterShell.NodeSet import NodeSet\n"
	"for line in sys.stdin:\n"
	"    text, _, folded = line.rstrip('\\n').partition(' ')\n"
	"    nodes = NodeSet(text)\n"
	"    print(','.join(sorted(nodes)), 'same' if nodes == NodeSet(folded) else "
	"'other')\n";

static const char *const plain[] = {
	"gpu[001-128,200]", "r[1-4]n[01-16]",
	"a[0-14/2]",        "n[098-102]",
	"n[8-11]",          "login,n1,n[2-3]",
	"r[1-2]-x",         "n[1-9]!n[2-8/2]&n[1-4],m1",
	"n[01-03],n1",      "n[1-3]^n[3-5]",
	"a[1-2]b[1-2]c3",   "n[1-5]!n[1-5]",
};

static unsigned int seed = 20260101;

static int
roll(int sides)
{
	seed = seed * 1664525u + 1013904223u;
	return (int)((seed >> 16) % (unsigned int)sides);
}

static void
print_range(FILE *out)
{
	int low = roll(30), high = low + roll(12), width = roll(3) ? 0 : 3;

	if (roll(3) == 0)
		fprintf(out, "%0*d", width, low);
	else if (roll(3) == 0)
		fprintf(out, "%0*d-%0*d/%d", width, low, width, high, 1 + roll(4));
	else
		fprintf(out, "%0*d-%0*d", width, low, width, high);
}

static void
print_item(FILE *out)
{
	static const char *const prefixes[] = {"n", "gpu", "r"};
	int ranges = 1 + roll(3);

	fprintf(out, "%s[", prefixes[roll(3)]);
	for (int i = 0; i < ranges; i++) {
		if (i)
			fputc(',', out);
		print_range(out);
	}
	fputc(']', out);
	if (roll(4) == 0)
		fprintf(out, "n[%d-%d]", roll(2), 2 + roll(2));
	if (roll(6) == 0)
		fputs("-ib", out);
}

static char *
make_expression(int number)
{
	char *text = NULL;
	size_t size;
	FILE *out;
	int items = 1 + roll(4);

	if ((size_t)number < BU_LEN(plain))
		return bu_xstrdup(plain[number]);
	out = open_memstream(&text, &size);
	ck_assert_ptr_nonnull(out);
	for (int i = 0; i < items; i++) {
		if (i)
			fputc(",,!&^"[roll(5)], out);
		print_item(out);
	}
	fclose(out);
	return text;
}

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The line that the judge must print. */
static void
print_want(const struct bu_nodeset *nodeset, FILE *out)
{
	qsort(nodeset->names, nodeset->count, sizeof(char *), compare);
	for (size_t i = 0; i < nodeset->count; i++)
		fprintf(out, "%s%s", i ? "," : "", nodeset->names[i]);
	fputs(" same\n", out);
}

START_TEST(clustershell_agrees)
{
	const char *const argv[] = {"/usr/bin/python3", "-c", script, NULL};
	char *asked = NULL, *want = NULL;
	bu_autofree char *got = NULL;
	size_t asked_size, want_size;
	FILE *ask = open_memstream(&asked, &asked_size);
	FILE *expect = open_memstream(&want, &want_size);
	struct bu_err err = {0};
	const char *a, *b;

	for (int i = 0; i < EXPRESSIONS; i++) {
		bu_autofree char *text = make_expression(i), *folded = NULL;
		struct bu_nodeset *nodeset = bu_nodeset_parse(text, NULL, NULL, &err);

		ck_assert_msg(nodeset != NULL, "%s: %s", text, err.text);
		folded = bu_nodeset_fold((const char *const *)nodeset->names,
					 nodeset->count);
		fprintf(ask, "%s %s\n", text, folded);
		print_want(nodeset, expect);
		bu_nodeset_destroy(nodeset);
	}
	fclose(ask);
	fclose(expect);
	ck_assert_msg(bu_job_run(&(struct bu_job_opts){.argv = argv,
						       .input = asked,
						       .output_max = 16 << 20},
				 &got, &err) == 0,
		      "%s", err.text);
	for (a = got, b = want; *b;
	     a += strcspn(a, "\n") + 1, b += strcspn(b, "\n") + 1)
		ck_assert_msg(strncmp(a, b, strcspn(b, "\n") + 1) == 0,
			      "the judge says %.*s, we say %.*s", (int)strcspn(a, "\n"),
			      a, (int)strcspn(b, "\n"), b);
	free(asked);
	free(want);
}
END_TEST

/* The command itself, as people know it. */
START_TEST(the_command_nodeset_agrees)
{
	for (size_t i = 0; i < 4; i++) {
		const char *const argv[] = {"nodeset", "-f", plain[i], NULL};
		bu_autofree char *got = NULL;
		struct bu_err err = {0};
		struct bu_nodeset *nodeset =
					  bu_nodeset_parse(plain[i], NULL, NULL, &err),
				  *back;

		ck_assert_msg(bu_job_run(&(struct bu_job_opts){.argv = argv}, &got,
					 &err) == 0,
			      "%s", err.text);
		got[strcspn(got, "\n")] = '\0';
		back = bu_nodeset_parse(got, NULL, NULL, &err);
		ck_assert_msg(back != NULL, "%s: %s", got, err.text);
		bu_nodeset_sort(nodeset);
		bu_nodeset_sort(back);
		ck_assert_uint_eq(nodeset->count, back->count);
		for (size_t j = 0; j < back->count; j++)
			ck_assert_str_eq(nodeset->names[j], back->names[j]);
		bu_nodeset_destroy(nodeset);
		bu_nodeset_destroy(back);
	}
}
END_TEST

int
main(void)
{
	const TTest *const tests[] = {clustershell_agrees, the_command_nodeset_agrees};
	const char *const argv[] = {"/usr/bin/python3", "-c", "import ClusterShell",
				    NULL};

	if (access("/usr/bin/nodeset", X_OK) != 0 ||
	    bu_job_run(&(struct bu_job_opts){.argv = argv}, NULL, NULL) != 0) {
		puts("skipped: the package clustershell, which judges nodesets, is not "
		     "installed");
		return 77;
	}
	return bu_unit_run("judge_nodeset", tests, BU_LEN(tests));
}
