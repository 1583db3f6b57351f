/* SPDX-License-Identifier: Apache-2.0 */
/* checks.d: what is taken, what is refused, who wants which. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "profiles/load/load.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

static char *
load(const char *site, const char *path, const char *text, struct bu_desired **ret)
{
	return bu_testing_load(bu_testing_tree("site.ini", site, "racks.csv",
					       bu_testing_racks, path, text, NULL),
			       ret);
}

START_TEST(checks_come_with_the_tree)
{
	struct bu_desired *desired;
	bu_autofree char *said = load(bu_testing_site, "checks.d/nhc",
				      "#!/bin/sh\nexec /usr/sbin/nhc\n", &desired);

	ck_assert_msg(desired != NULL, "%s", said);
	ck_assert_uint_eq(desired->checks_count, 1);
	ck_assert_str_eq(desired->checks[0].name, "nhc");
	ck_assert_str_eq(desired->checks[0].text, "#!/bin/sh\nexec /usr/sbin/nhc\n");
	ck_assert(bu_desired_check_wanted(&desired->validations[0], "nhc"));
	ck_assert_int_eq(desired->validations[0].check_timeout_ms, 60000);
	bu_desired_destroy(desired);
}
END_TEST

START_TEST(a_validation_names_what_it_wants)
{
	bu_autofree char *some =
		bu_testing_replace(bu_testing_site, "[validation pairs]",
				   "[validation pairs]\nchecks = nhc");
	bu_autofree char *none =
		bu_testing_replace(bu_testing_site, "[validation pairs]",
				   "[validation pairs]\nchecks = none");
	struct bu_desired *desired;
	bu_autofree char *said = load(some, "checks.d/nhc", "#!/bin/sh\n", &desired);
	bu_autofree char *said_none = NULL;

	ck_assert_msg(desired != NULL, "%s", said);
	ck_assert(bu_desired_check_wanted(&desired->validations[0], "nhc"));
	ck_assert(!bu_desired_check_wanted(&desired->validations[0], "other"));
	bu_desired_destroy(desired);
	said_none = load(none, "checks.d/nhc", "#!/bin/sh\n", &desired);
	ck_assert_msg(desired != NULL, "%s", said_none);
	ck_assert(!bu_desired_check_wanted(&desired->validations[0], "nhc"));
	bu_desired_destroy(desired);
}
END_TEST

static const struct {
	const char *path, *text, *want;
} wrongs[] = {
	{"checks.d/binary", "ELF\n",
	 "checks.d/binary:1: does not begin with '#!' and its interpreter\n"},
	{"checks.d/a b", "#!/bin/sh\n",
	 "checks.d/a b:1: this cannot be the name of a check; allowed are 1 to 40 of "
	 "[A-Za-z0-9._-], but not 'none'\n"},
	{"checks.d/none", "#!/bin/sh\n",
	 "checks.d/none:1: this cannot be the name of a check; allowed are 1 to 40 of "
	 "[A-Za-z0-9._-], but not 'none'\n"},
};

START_TEST(wrong_ones_are_named)
{
	for (size_t i = 0; i < BU_LEN(wrongs); i++) {
		struct bu_desired *desired;
		bu_autofree char *said =
			load(bu_testing_site, wrongs[i].path, wrongs[i].text, &desired);

		ck_assert_ptr_null(desired);
		ck_assert_str_eq(said, wrongs[i].want);
	}
}
END_TEST

START_TEST(a_name_that_is_not_there_is_a_finding)
{
	bu_autofree char *site =
		bu_testing_replace(bu_testing_site, "[validation pairs]",
				   "[validation pairs]\nchecks = nhc, mounts");
	struct bu_desired *desired;
	bu_autofree char *said = load(site, "checks.d/nhc", "#!/bin/sh\n", &desired);

	ck_assert_ptr_null(desired);
	ck_assert_ptr_nonnull(strstr(said, "[validation pairs] checks: there is no "
					   "checks.d/mounts; allowed are the "
					   "checks there, or none\n"));
}
END_TEST

START_TEST(one_that_cannot_be_run_is_refused_at_once)
{
	char dir[] = "/tmp/bringup-checks-XXXXXX";
	bu_autofree char *folder = NULL, *path = NULL;
	struct bu_tree *tree;
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	folder = bu_xasprintf("%s/checks.d", dir);
	path = bu_xasprintf("%s/mine", folder);
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	ck_assert_int_eq(bu_file_write(path, "#!/bin/sh\n", 10, 0644, &err), 0);
	ck_assert_ptr_null(bu_tree_load(dir, &err));
	ck_assert_ptr_nonnull(
		strstr(err.text, "checks.d/mine: is not executable; chmod +x it, or "
				 "move it out of the folder"));
	ck_assert_int_eq(chmod(path, 0755), 0);
	tree = bu_tree_load(dir, &err);
	ck_assert_msg(tree && bu_tree_find(tree, "checks.d/mine"), "%s", err.text);
	bu_tree_destroy(tree);
	unlink(path);
	rmdir(folder);
	rmdir(dir);
}
END_TEST

BU_UNIT("site_checks", checks_come_with_the_tree, a_validation_names_what_it_wants,
	wrong_ones_are_named, a_name_that_is_not_there_is_a_finding,
	one_that_cannot_be_run_is_refused_at_once)
