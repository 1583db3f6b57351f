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
	/* its own configuration is not read; a name without an object is told */
	put(".git/config", "[core\n");
	broken = warnings();
	ck_assert_str_eq(broken, "");
	free(broken);
	put(".git/HEAD", "1111111111111111111111111111111111111111\n");
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

/* Every key of git that names a program, and what makes git look at it. */
static const char *const hostile_keys[] = {
	"[filter \"x\"]\n\tclean = \"T; cat\"\n\tsmudge = \"T; cat\"\n"
	"\tprocess = \"T\"\n\trequired = true\n",
	"[core]\n\tfsmonitor = \"T; false\"\n\tsshCommand = \"T\"\n"
	"\tpager = \"T\"\n\teditor = \"T\"\n\taskPass = \"T\"\n"
	"\tgitProxy = \"T\"\n\thooksPath = D/hooks\n"
	"\tattributesFile = D/attributes\n\talternateRefsCommand = \"T\"\n",
	"[diff]\n\texternal = \"T\"\n[diff \"x\"]\n\ttextconv = \"T\"\n"
	"\tcommand = \"T\"\n[merge \"x\"]\n\tdriver = \"T\"\n",
	"[include]\n\tpath = D/more\n[includeIf \"gitdir:/\"]\n\tpath = D/more\n",
	"[alias]\n\tcat-file = \"!T\"\n\tls-tree = \"!T\"\n\trev-parse = \"!T\"\n"
	"\tfetch = \"!T\"\n\tinit = \"!T\"\n\tstatus = \"!T\"\n",
	"[gpg]\n\tprogram = \"T\"\n[commit]\n\tgpgSign = true\n"
	"[log]\n\tshowSignature = true\n",
	"[credential]\n\thelper = \"!T\"\n[interactive]\n\tdiffFilter = \"T\"\n",
	"[uploadpack]\n\tpackObjectsHook = \"T\"\n[pack]\n\tpackObjectsHook = T\n",
	"[extensions]\n\tpartialClone = evil\n\tworktreeConfig = true\n"
	"[remote \"evil\"]\n\tpromisor = true\n\turl = \"ext::sh -c T\"\n"
	"\tuploadpack = \"T;\"\n\tvcs = T\n[protocol]\n\tallow = always\n",
	"[submodule \"x\"]\n\tupdate = \"!T\"\n\turl = \"ext::sh -c T\"\n"
	"[submodule]\n\trecurse = true\n[url \"ext::sh -c T \"]\n\tinsteadOf = /\n",
};

/* T is what leaves a mark, D the folder. */
static char *
armed(const char *text, const char *mark)
{
	char *out = bu_xstrdup("");

	for (; *text; text++) {
		char *next;

		if (*text == 'T' && (text[1] == '\n' || strchr("\";\n ", text[1])))
			next = bu_xasprintf("%stouch %s", out, mark);
		else if (*text == 'D' && text[1] == '/')
			next = bu_xasprintf("%s%s/.git", out, dir);
		else
			next = bu_xasprintf("%s%c", out, *text);
		free(out);
		out = next;
	}
	return out;
}

static void
arm(const char *mark)
{
	static const char *const hooks[] = {"post-checkout", "post-index-change",
					    "reference-transaction",
					    "fsmonitor-watchman", "pre-auto-gc"};
	bu_autofree char *config = bu_xstrdup("[core]\n\trepositoryformatversion = 1\n"
					      "\tworktree = /\n");
	bu_autofree char *hook = bu_xasprintf("#!/bin/sh\ntouch %s\n", mark);

	for (size_t i = 0; i < BU_LEN(hostile_keys); i++) {
		bu_autofree char *keys = armed(hostile_keys[i], mark);
		char *more = bu_xasprintf("%s%s", config, keys);

		free(config);
		config = more;
	}
	put(".git/config", config);
	put(".git/config.worktree", config);
	put(".git/more", config);
	put(".git/attributes", "* filter=x diff=x merge=x\n");
	put(".git/info/attributes", "* filter=x diff=x merge=x\n");
	for (size_t i = 0; i < BU_LEN(hooks); i++) {
		bu_autofree char *name = bu_xasprintf(".git/hooks/%s", hooks[i]);
		bu_autofree char *file = bu_xasprintf("%s/%s", dir, name);

		put(name, hook);
		ck_assert_int_eq(chmod(file, 0755), 0);
	}
}

/* By its path, by a URL of it, and as a bare one. */
static void
opens(const char *url, const char *mark)
{
	struct bu_options options = {.git = url};
	struct bu_git_source source;
	struct bu_err err = {0};
	bu_autofree char *text = NULL;

	ck_assert_msg(bu_git_source_open(&options, &source, &err) == 0, "%s: %s", url,
		      err.text);
	text = site_of(&source);
	ck_assert_str_eq(text, "plain\n");
	bu_git_source_close(&source);
	ck_assert_msg(!bu_file_exists(mark), "%s: a program was run", url);
}

START_TEST(no_program_of_a_hostile_repository_is_run)
{
	bu_autofree char *mark = NULL, *url = NULL, *bare = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	mark = bu_xasprintf("%s.ran", dir);
	git("init -q -b main");
	put("site.ini", "plain\n");
	put(".gitattributes", "* filter=x diff=x merge=x ident eol=crlf\n");
	put(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh\n");
	git("add .");
	git("commit -q -m one");
	arm(mark);
	ck_assert_int_eq(has_commit(), 1);
	/* another time and the same size: a status would run the filter */
	put("site.ini", "plaim\n");
	ck_assert_int_eq(has_commit(), 0);
	put("site.ini", "plain\n");
	ck_assert_int_eq(has_commit(), 1);
	ck_assert_msg(!bu_file_exists(mark), "a program was run");
	url = bu_xasprintf("file://%s", dir);
	bare = bu_xasprintf("%s/.git", dir);
	opens(dir, mark);
	opens(url, mark);
	opens(bare, mark);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* Packed, in a work tree of another one, below its top, with ids of SHA-256. */
START_TEST(a_commit_is_known_wherever_it_lies)
{
	bu_autofree char *other = NULL, *below = NULL, *commit = NULL, *want = NULL;
	bu_autofree char *add = NULL;

	make_repository();
	git("gc -q");
	git("pack-refs --all");
	want = head("HEAD");
	other = bu_xasprintf("%s/other-tree", dir);
	add = bu_xasprintf("worktree add -q -b side %s HEAD~1", other);
	git(add);
	below = bu_xasprintf("%s/sites/a", dir);
	commit = bu_git_source_commit(below);
	ck_assert_str_eq(commit, want);
	free(commit);
	free(want);
	want = head("side");
	commit = bu_git_source_commit(other);
	ck_assert_str_eq(commit, want);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	git("init -q --object-format=sha256");
	put("site.ini", "[site]\n");
	git("add .");
	git("commit -q -m one");
	ck_assert_int_eq(has_commit(), 1);
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
		{"ext::sh -c touch", NULL, NULL, NULL,
		 "transport 'ext' is not allowed"},
		{"fd::7", NULL, NULL, NULL, "transport 'fd' is not allowed"},
		{"ext://x", NULL, NULL, NULL, "transport 'ext' is not allowed"},
		{"ftp://h/x", NULL, NULL, NULL, "transport 'ftp' is not allowed"},
		{"ssh://-oProxyCommand=x/y", NULL, NULL, NULL, "this is not a URL"},
		{"ssh://-x/y", NULL, NULL, NULL, "this is not a URL"},
		{"ssh://git@-x/y", NULL, NULL, NULL, "this is not a URL"},
		{"git@-oProxyCommand=x:y", NULL, NULL, NULL, "begins with '-'"},
		{"https://h/x", "-x", NULL, NULL, "give a branch"},
		{"https://h/x", NULL, "-x/../y", NULL, "inside the repository"},
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
	nothing_of_a_repository_is_run, no_program_of_a_hostile_repository_is_run,
	a_commit_is_known_wherever_it_lies, wrong_words_are_refused)
