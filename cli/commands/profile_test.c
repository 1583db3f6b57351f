/* SPDX-License-Identifier: Apache-2.0 */
/* A tree with errors is refused, and each of them is kept. */
#include "cli/commands/profile.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

START_TEST(errors_are_counted_and_kept)
{
	char bad[] = "/tmp/profile_test.XXXXXX";
	bu_autofree char *path = NULL;
	struct bu_findings findings = {0};
	struct bu_desired *desired = NULL;
	struct bu_tree *tree = NULL;
	struct bu_err err;

	ck_assert_ptr_nonnull(mkdtemp(bad));
	path = bu_xasprintf("%s/site.ini", bad);
	ck_assert_int_eq(bu_file_write_text(path, 0644, &err, "[site]\nformat = 9\n"),
			 0);
	ck_assert_int_eq(bu_profile_check(bad, &findings, &tree, &desired, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_null(tree);
	ck_assert_uint_gt(findings.errors, 0);
	ck_assert_msg(strstr(err.text, bad), "%s", err.text);
	bu_findings_clear(&findings);
	ck_assert_int_eq(
		bu_profile_check("/nonexistent", &findings, &tree, &desired, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_int_eq(bu_remove_tree(bad, &err), 0);
}
END_TEST

BU_UNIT("profile", errors_are_counted_and_kept)
