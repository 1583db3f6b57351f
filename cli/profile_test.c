/* SPDX-License-Identifier: Apache-2.0 */
/* A commit is named only when the tree that is sent is the commit's. */
#include "cli/profile.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/profile_test.XXXXXX";

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	struct bu_err err;

	ck_assert_msg(bu_file_write_text(path, 0644, &err, "%s", text) == 0, "%s",
		      err.text);
}

static void
git(const char *command)
{
	bu_autofree char *line = bu_xasprintf(
		"git -C %s -c user.name=t -c user.email=t@localhost %s", dir, command);
	const char *const argv[] = {"sh", "-c", line, NULL};
	struct bu_err err;

	ck_assert_msg(bu_job_run(&(struct bu_job_opts){.argv = argv}, NULL, &err) == 0,
		      "%s", err.text);
}

static int
has_commit(void)
{
	bu_autofree char *commit = bu_profile_commit(dir);

	ck_assert(strlen(commit) == 0 || strlen(commit) == 40 || strlen(commit) == 64);
	return commit[0] != '\0';
}

START_TEST(only_a_clean_tree_has_a_commit)
{
	struct bu_err err;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(has_commit(), 0); /* no repository */
	git("init -q");
	put("site.ini", "[site]\n");
	ck_assert_int_eq(has_commit(), 0); /* nothing was committed */
	git("add site.ini");
	git("commit -q -m one");
	ck_assert_int_eq(has_commit(), 1);
	put("README", "is not sent\n");
	ck_assert_int_eq(has_commit(), 1);
	put("new.ini", "");
	ck_assert_int_eq(has_commit(), 0); /* sent, but in no commit */
	put(".gitignore", "new.ini\n");
	ck_assert_int_eq(has_commit(), 0); /* still sent */
	git("clean -q -f -X");
	ck_assert_int_eq(has_commit(), 1);
	put("site.ini", "[site]\nname = other\n");
	ck_assert_int_eq(has_commit(), 0);
	ck_assert_int_eq(bu_remove_tree(dir, &err), 0);
}
END_TEST

/* What bu_profile_commit() writes to standard error; owned. */
static char *
warnings(void)
{
	char path[] = "/tmp/profile_test.XXXXXX";
	int file = mkstemp(path), before = dup(STDERR_FILENO);
	char *text;

	ck_assert_int_ge(file, 0);
	dup2(file, STDERR_FILENO);
	ck_assert_int_eq(has_commit(), 0);
	dup2(before, STDERR_FILENO);
	close(before);
	close(file);
	text = bu_file_read(path, 0, NULL, NULL);
	unlink(path);
	return text;
}

START_TEST(what_is_wrong_with_a_repository_is_told)
{
	bu_autofree char *none = NULL, *empty = NULL, *broken = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	none = warnings();
	ck_assert_str_eq(none, "");
	git("init -q");
	empty = warnings();
	ck_assert_str_eq(empty, "");
	put(".git/config", "[core\n");
	broken = warnings();
	ck_assert_msg(strstr(broken, "no commit is named: 'git' ended with 128: fatal"),
		      "%s", broken);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* As under sudo, in a shell that does not tell whose it was before. */
START_TEST(another_users_repository_has_a_commit)
{
	const char *const argv[] = {"chown", "-R", "1:1", dir, NULL};
	bu_autofree char *ran = NULL;

	if (geteuid() != 0)
		return;
	unsetenv("SUDO_UID");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	git("init -q");
	put("site.ini", "[site]\n");
	git("add site.ini");
	git("commit -q -m one");
	ck_assert_int_eq(bu_job_run(&(struct bu_job_opts){.argv = argv}, NULL, NULL),
			 0);
	ck_assert_int_eq(has_commit(), 1);
	/* It is root that asks now: a program that the repository names stays out. */
	put(".git/config", "[core]\n\tfsmonitor = \"touch .git/ran; false\"\n");
	ck_assert_int_eq(has_commit(), 1);
	ran = bu_xasprintf("%s/.git/ran", dir);
	ck_assert(!bu_file_exists(ran));
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

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

BU_UNIT("profile", only_a_clean_tree_has_a_commit,
	what_is_wrong_with_a_repository_is_told, another_users_repository_has_a_commit,
	errors_are_counted_and_kept)
