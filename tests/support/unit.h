/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One unit test program per *_test.c:
 *
 *	START_TEST(reads_what_it_wrote) { ck_assert_int_eq(1, 1); } END_TEST
 *	BU_UNIT("file", reads_what_it_wrote)
 *
 * Check prints one closing line per program, which the test runner adds up.
 */
#ifndef BU_TESTS_SUPPORT_UNIT_H
#define BU_TESTS_SUPPORT_UNIT_H

#include <check.h>
#include <stddef.h>

static int
bu_unit_run(const char *name, const TTest *const *tests, size_t count)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner;
	int failed;

	for (size_t i = 0; i < count; i++)
		tcase_add_test(tcase, tests[i]);
	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}

#define BU_UNIT(name, ...)                                                             \
	int main(void)                                                                 \
	{                                                                              \
		const TTest *const tests[] = {__VA_ARGS__};                            \
		return bu_unit_run(name, tests, sizeof(tests) / sizeof(tests[0]));     \
	}

#endif
