/* SPDX-License-Identifier: Apache-2.0 */
/* Commits are named as they are, and what a repository holds is only read. */
#include "cli/git_source.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/source_test.XXXXXX";

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	bu_autofree char *folder =
		bu_xstrndup(path, (size_t)(strrchr(path, '/') - path));
	struct bu_err err;

	ck_assert_int_eq(bu_mkdir_p(folder, 0755, NULL), 0);
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

/* -1: none, 0: "ID-dirty", 1: an id. */
static int
has_commit(void)
{
	bu_autofree char *commit = bu_git_source_commit(dir);
	const char *dirty = strstr(commit, "-dirty");
	size_t size = dirty ? (size_t)(dirty - commit) : strlen(commit);

	ck_assert(size == 0 || size == 40 || size == 64);
	return size == 0 ? -1 : !dirty;
}

START_TEST(only_a_clean_tree_has_a_commit)
{
	struct bu_err err;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(has_commit(), -1); /* no repository */
	git("init -q");
	put("site.ini", "[site]\n");
	ck_assert_int_eq(has_commit(), -1); /* nothing was committed */
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

/* What bu_git_source_commit() writes to standard error; owned. */
static char *
warnings(void)
{
	char path[] = "/tmp/source_test.XXXXXX";
	int file = mkstemp(path), before = dup(STDERR_FILENO);
	char *text;

	ck_assert_int_ge(file, 0);
	dup2(file, STDERR_FILENO);
	ck_assert_int_eq(has_commit(), -1);
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
	ck_assert_msg(
		strstr(broken, "its commit is not known: 'git' ended with 128: fatal"),
		"%s", broken);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* As under sudo, in a shell that does not tell whose it was before. */
START_TEST(another_users_repository_has_a_commit)
{
	const char *const argv[] = {"chown", "-R", "1:1", dir, NULL};
	bu_autofree char *ran = NULL;

	BU_NEEDS("root");
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

/* A repository with two commits: the first with the tag "first". */
static void
make_repository(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	git("init -q -b main");
	put("sites/a/site.ini", "first\n");
	git("add .");
	git("commit -q -m one");
	git("tag -m t first");
	put("sites/a/site.ini", "second\n");
	put("other/site.ini", "other\n");
	git("add .");
	git("commit -q -m two");
}

static char *
head(const char *ref)
{
	bu_autofree char *command =
		bu_xasprintf("rev-parse %s^{commit} >%s.head", ref, dir);
	bu_autofree char *path = bu_xasprintf("%s.head", dir);
	char *text;

	git(command);
	text = bu_file_read(path, 0, NULL, NULL);
	text[strcspn(text, "\n")] = '\0';
	unlink(path);
	return text;
}

static char *
site_of(const struct bu_git_source *source)
{
	bu_autofree char *path = bu_xasprintf("%s/site.ini", source->dir);

	return bu_file_read(path, 0, NULL, NULL);
}

START_TEST(a_commit_is_checked_out_and_named)
{
	struct bu_options options = {.git = dir, .path = "sites/a"};
	static const struct {
		const char *ref, *want, *commit;
	} rows[] = {
		{NULL, "second\n", "HEAD"},
		{"main", "second\n", "HEAD"},
		{"first", "first\n", "first"},
		{"refs/heads/main", "second\n", "HEAD"},
	};

	make_repository();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *want = head(rows[i].commit), *text = NULL,
				 *made = NULL;
		struct bu_git_source source;
		struct bu_err err;

		options.ref = rows[i].ref;
		ck_assert_msg(bu_git_source_open(&options, &source, &err) == 0, "%s",
			      err.text);
		text = site_of(&source);
		made = bu_xstrdup(source.made);
		ck_assert_str_eq(text, rows[i].want);
		ck_assert_str_eq(source.commit, want);
		bu_git_source_close(&source);
		ck_assert(!bu_file_exists(made));
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(an_old_commit_is_found_by_its_id)
{
	bu_autofree char *want = NULL, *text = NULL;
	struct bu_options options = {.git = dir, .path = "sites/a"};
	struct bu_git_source source;
	struct bu_err err;

	make_repository();
	want = head("HEAD~1");
	options.ref = want;
	ck_assert_msg(bu_git_source_open(&options, &source, &err) == 0, "%s", err.text);
	text = site_of(&source);
	ck_assert_str_eq(text, "first\n");
	ck_assert_str_eq(source.commit, want);
	bu_git_source_close(&source);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* What a repository could do to whoever looks at it. */
START_TEST(nothing_of_a_repository_is_run)
{
	bu_autofree char *ran = bu_xasprintf("%s.ran", dir);
	bu_autofree char *filter = NULL, *text = NULL, *link = NULL, *at = NULL;
	struct bu_options options = {.git = dir};
	struct bu_git_source source;
	struct bu_err err;
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	git("init -q -b main");
	put("site.ini", "plain\n");
	put(".gitattributes", "*.ini filter=evil\n");
	put(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = /nonexistent\n");
	link = bu_xasprintf("%s/link.ini", dir);
	ck_assert_int_eq(symlink("/etc/passwd", link), 0);
	git("add .");
	git("commit -q -m one");
	/* As a filter that the user's own configuration has for other purposes. */
	free(ran);
	ran = bu_xasprintf("%s.ran", dir);
	filter = bu_xasprintf("touch %s; cat", ran);
	setenv("GIT_CONFIG_PARAMETERS", "", 1);
	at = bu_xasprintf("%s.config", dir);
	ck_assert_int_eq(bu_file_write_text(at, 0600, &err,
					    "[filter \"evil\"]\n\tsmudge = \"%s\"\n",
					    filter),
			 0);
	setenv("GIT_CONFIG_GLOBAL", at, 1);
	ck_assert_msg(bu_git_source_open(&options, &source, &err) == 0, "%s", err.text);
	unsetenv("GIT_CONFIG_GLOBAL");
	unsetenv("GIT_CONFIG_PARAMETERS");
	text = site_of(&source);
	ck_assert_str_eq(text, "plain\n");
	ck_assert(!bu_file_exists(ran));
	free(link);
	link = bu_xasprintf("%s/link.ini", source.dir);
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISREG(st.st_mode));
	bu_git_source_close(&source);
	unlink(at);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(wrong_words_are_refused)
{
	static const struct {
		const char *git, *ref, *path, *dir, *want;
	} rows[] = {
		{"-x", NULL, NULL, NULL, "this is not a URL"},
		{"https://u:secret@h/x", NULL, NULL, NULL, "must not have a password"},
		{"https://token@h/x", NULL, NULL, NULL, "must not have a password"},
		{"ssh://git:secret@h/x", NULL, NULL, NULL, "must not have a password"},
		{"https://h/x", "--upload-pack=x", NULL, NULL, "give a branch"},
		{"https://h/x", "a:b", NULL, NULL, "give a branch"},
		{"https://h/x", NULL, "/etc", NULL, "inside the repository"},
		{"https://h/x", NULL, "../x", NULL, "inside the repository"},
		{"https://h/x", NULL, "a/../../x", NULL, "inside the repository"},
		{"https://h/x", NULL, "a/..", NULL, "inside the repository"},
		{"https://h/x", NULL, NULL, "dir", "not both"},
		{"ext::sh -c touch", NULL, NULL, NULL, "transport 'ext' not allowed"},
		{"/nonexistent", NULL, NULL, NULL, "/nonexistent, HEAD: "},
		{NULL, "main", NULL, "dir", "--ref goes with --git"},
		{NULL, NULL, "x", "dir", "--path goes with --git"},
		{NULL, NULL, NULL, NULL, "give a folder with a profile tree"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char *args[] = {(char *)rows[i].dir, NULL};
		struct bu_options options = {.git = rows[i].git,
					     .ref = rows[i].ref,
					     .path = rows[i].path,
					     .args = args,
					     .args_count = rows[i].dir != NULL};
		struct bu_git_source source;
		struct bu_err err = {0};

		ck_assert_int_eq(bu_git_source_open(&options, &source, &err), -1);
		ck_assert_msg(strstr(err.text, rows[i].want), "%zu: %s", i, err.text);
		ck_assert_ptr_null(strstr(err.text, "secret"));
	}
}
END_TEST

BU_UNIT("source", only_a_clean_tree_has_a_commit,
	what_is_wrong_with_a_repository_is_told, another_users_repository_has_a_commit,
	a_commit_is_checked_out_and_named, an_old_commit_is_found_by_its_id,
	nothing_of_a_repository_is_run, wrong_words_are_refused)
