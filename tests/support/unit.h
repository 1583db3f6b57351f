/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One unit test program per *_test.c:
 *
 *	START_TEST(reads_what_it_wrote) { ck_assert_int_eq(1, 1); } END_TEST
 *	BU_UNIT("file", reads_what_it_wrote)
 *
 * Check prints one closing line per program, which the test runner adds up. A test that
 * needs more than any machine has says so first, BU_NEEDS("root", "chronyd"); where
 *that is missing it is counted as skipped.
 */
#ifndef BU_TESTS_SUPPORT_UNIT_H
#define BU_TESTS_SUPPORT_UNIT_H

#include <check.h>
#include <linux/capability.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Whether this machine has it: "root" (who may make namespaces), the path of a file, or
 * the name of a program. */
static inline int
bu_unit_has(const char *what)
{
	const char *dirs = getenv("PATH");
	char path[512];
	size_t size;

	if (strcmp(what, "root") == 0)
		return geteuid() == 0 &&
		       prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 1;
	if (what[0] == '/')
		return access(what, R_OK) == 0;
	for (; dirs && *dirs; dirs += size + (dirs[size] == ':')) {
		size = strcspn(dirs, ":");
		snprintf(path, sizeof(path), "%.*s/%s", (int)size, dirs, what);
		if (access(path, X_OK) == 0)
			return 1;
	}
	return 0;
}

/* Ends the function that it stands in, saying what is missing; tests/run-units counts
 * the line. */
#define BU_NEEDS(...)                                                                  \
	do {                                                                           \
		const char *const needs_[] = {__VA_ARGS__};                            \
		size_t at_ = 0, count_ = sizeof(needs_) / sizeof(needs_[0]);           \
                                                                                       \
		while (at_ < count_ && bu_unit_has(needs_[at_]))                       \
			at_++;                                                         \
		if (at_ < count_) {                                                    \
			printf("skipped: %s needs %s\n", __func__, needs_[at_]);       \
			return;                                                        \
		}                                                                      \
	} while (0)

static inline int
bu_unit_run(const char *name, const TTest *const *tests, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner;
	int failed;

	for (size_t i = 0; i < count; i++)
		tcase_add_test(tcase, tests[i]);
	tcase_set_timeout(tcase, 280);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}

/* A program of tests that is started with words is taken for a stand-in that it is not:
 * running the tests once more would start it once more, and so on. */
#define BU_UNIT(name, ...)                                                             \
	int main(int argc, char **argv)                                                \
	{                                                                              \
		const TTest *const tests[] = {__VA_ARGS__};                            \
                                                                                       \
		if (argc > 1) {                                                        \
			fprintf(stderr, "%s stands in for nothing\n", argv[0]);        \
			return 2;                                                      \
		}                                                                      \
		return bu_unit_run(name, tests, sizeof(tests) / sizeof(tests[0]));     \
	}

#endif
