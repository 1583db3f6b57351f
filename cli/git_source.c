/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks git, for plan and apply. Invariant: nothing that a repository says is run: git
 * is told so for each of its ways to name a program, and work trees of others are only
 * looked at.
 */
#include "cli/git_source.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/url.h"
#include "base/worker.h"

enum { LOCAL_MS = 30 * 1000, FETCH_MS = 120 * 1000, COMMIT_SHOWN = 40 };

/* Under sudo the repository is another user's, which git refuses unless told. Hooks and
 * a file system monitor are programs that a repository can name. */
#define ENV_LOOK                                                                       \
	"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",                   \
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",             \
		"GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_VALUE_1=false",         \
		"GIT_CONFIG_KEY_2=core.hooksPath", "GIT_CONFIG_VALUE_2=/dev/null"

static const char *const env_look[] = {ENV_LOOK, "GIT_CONFIG_COUNT=3", NULL};

/* Submodules would be fetched from anywhere; a link could show what lies outside. */
static const char *const env_checkout[] = {
	ENV_LOOK,
	"GIT_CONFIG_KEY_3=core.symlinks",
	"GIT_CONFIG_VALUE_3=false",
	"GIT_CONFIG_KEY_4=submodule.recurse",
	"GIT_CONFIG_VALUE_4=false",
	"GIT_CONFIG_KEY_5=protocol.ext.allow",
	"GIT_CONFIG_VALUE_5=never",
	"GIT_CONFIG_KEY_6=core.attributesFile",
	"GIT_CONFIG_VALUE_6=/dev/null",
	"GIT_CONFIG_KEY_7=maintenance.auto",
	"GIT_CONFIG_VALUE_7=false",
	"GIT_CONFIG_COUNT=8",
	NULL,
};

/* How git says that there is no commit to name: nothing to worry about. */
static int
is_expected(const char *text)
{
	static const char *const expected[] = {
		"run 'git': No such file", "not a git repository",
		"Stopping at filesystem boundary", /* the line after that */
		"Needed a single revision",        /* nothing was committed */
	};

	for (size_t i = 0; i < BU_LEN(expected); i++)
		if (strstr(text, expected[i]))
			return 1;
	return 0;
}

/* What git prints, NULL when it fails or is not there. */
static char *
look(const char *dir, const char *const *argv)
{
	struct bu_err err = {0};
	char *out = NULL;

	if (bu_job_run(&(struct bu_job_opts){.argv = argv,
					     .env = env_look,
					     .deadline_ms = LOCAL_MS,
					     .same_group = 1},
		       &out, &err) == 0)
		return out;
	if (!is_expected(err.text))
		fprintf(stderr, "warning: %s: its commit is not known: %s\n", dir,
			err.text);
	return NULL;
}

char *
bu_git_source_commit(const char *dir)
{
	/* Files that git ignores count too: they are in the tree that is sent. */
	const char *const status[] = {"git",
				      "-C",
				      dir,
				      "status",
				      "--porcelain",
				      "--ignored",
				      "--untracked-files=all",
				      "--",
				      "*.ini",
				      "*.csv",
				      NULL};
	const char *const head[] = {"git",      "-C",   dir, "rev-parse",
				    "--verify", "HEAD", NULL};
	bu_autofree char *commit = look(dir, head);
	bu_autofree char *changes = commit ? look(dir, status) : NULL;

	if (!changes)
		return bu_xstrdup("");
	commit[strcspn(commit, "\n")] = '\0';
	if (changes[0])
		return bu_xasprintf("%.*s-dirty", COMMIT_SHOWN, commit);
	return bu_steal(&commit);
}

/* A name before an '@' is only a name over ssh; elsewhere it is mostly a token. */
static int
has_password(const struct bu_url *url)
{
	return url->has_password || (url->has_user && strcmp(url->scheme, "ssh") != 0);
}

static int
check_words(const char *url, const char *ref, const char *path, struct bu_err *err)
{
	struct bu_url parts = {0};

	if (*url == '-' || *url == '\0')
		return bu_err_set(err, BU_ERR_USAGE, 0, "--git '%s': this is not a URL",
				  url);
	/* What has no "://" is a path or a host of ssh, as git takes them. */
	if (strstr(url, "://") && bu_url_parse(url, &parts) < 0)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--git: this is not a URL; write one like "
				  "https://git.example.org/site.git");
	if (has_password(&parts))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--git: a URL must not have a password, because the "
				  "list of processes would show it; use a credential "
				  "helper of git or ssh");
	if (*ref == '-' || *ref == '\0' || strpbrk(ref, ":+^~?*[\\ \t\n"))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--ref '%s': give a branch, a tag or a whole commit "
				  "id",
				  ref);
	if (*path && strcmp(path, ".") != 0 && !bu_path_is_relative(path))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--path '%s': give a folder inside the repository",
				  path);
	return 0;
}

static int
run(const char *const *argv, int64_t deadline_ms, char **ret_out, struct bu_err *err)
{
	return bu_job_run(&(struct bu_job_opts){.argv = argv,
						.env = env_checkout,
						.deadline_ms = deadline_ms,
						.same_group = 1},
			  ret_out, err);
}

/* Attributes of the repository could name filters that the user has set up. */
static int
write_attributes(const char *made, struct bu_err *err)
{
	bu_autofree char *dir = bu_xasprintf("%s/git/info", made);
	bu_autofree char *path = bu_xasprintf("%s/attributes", dir);

	if (bu_mkdir_p(dir, 0700, err) != 0)
		return -1;
	return bu_file_write_text(
		path, 0600, err,
		"* -filter -text -eol -ident -working-tree-encoding\n");
}

static int
fetch(const char *made, const char *url, const char *ref, struct bu_err *err)
{
	bu_autofree char *git_dir = bu_xasprintf("--git-dir=%s/git", made);
	bu_autofree char *refspec = bu_xasprintf("+%s:refs/bringup", ref);
	const char *const init[] = {"git", git_dir, "init", "-q", "--template=", NULL};
	const char *const get[] = {"git",
				   git_dir,
				   "fetch",
				   "-q",
				   "--depth=1",
				   "--no-tags",
				   "--no-recurse-submodules",
				   "--no-write-fetch-head",
				   "--",
				   url,
				   refspec,
				   NULL};

	if (run(init, LOCAL_MS, NULL, err) != 0 || write_attributes(made, err) != 0)
		return -1;
	if (run(get, FETCH_MS, NULL, err) != 0) {
		if (err && err->kind == BU_ERR_IO)
			err->kind = BU_ERR_REMOTE;
		return bu_err_wrap(err, "%s, %s", url, ref);
	}
	return 0;
}

static int
write_out(const char *made, const char *path, char **ret_commit, struct bu_err *err)
{
	bu_autofree char *git_dir = bu_xasprintf("--git-dir=%s/git", made);
	bu_autofree char *tree = bu_xasprintf("--work-tree=%s/tree", made);
	bu_autofree char *work = bu_xasprintf("%s/tree", made);
	bu_autofree char *spec = bu_xasprintf(":(top,literal)%s", path);
	const char *const head[] = {
		"git", git_dir, "rev-parse", "--verify", "refs/bringup^{commit}", NULL};
	const char *const checkout[] = {"git",          git_dir, tree, "checkout", "-q",
					"refs/bringup", "--",    spec, NULL};

	if (bu_mkdir_p(work, 0700, err) != 0 ||
	    run(head, LOCAL_MS, ret_commit, err) != 0)
		return -1;
	(*ret_commit)[strcspn(*ret_commit, "\n")] = '\0';
	if (run(checkout, FETCH_MS, NULL, err) != 0)
		return bu_err_wrap(err, "commit %.12s", *ret_commit);
	return 0;
}

/* The commit of ref, without the history before it, in a new folder. What the
 * repository holds is only read: no hook, filter, submodule or link of it has an
 * effect. path: the folder in it, NULL = all. */
static int
fetch_commit(const char *url, const char *ref, const char *path,
	     struct bu_git_source *ret, struct bu_err *err)
{
	const char *tmp = getenv("TMPDIR");
	struct bu_git_source source = {0};

	if (!path)
		path = "";
	if (check_words(url, ref, path, err) != 0)
		return -1;
	source.made = bu_xasprintf("%s/bringup-git.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(source.made)) {
		free(source.made);
		return bu_err_set(err, BU_ERR_IO, 0, "a folder for the checkout: %m");
	}
	if (fetch(source.made, url, ref, err) != 0 ||
	    write_out(source.made, path, &source.commit, err) != 0) {
		bu_git_source_close(&source);
		return -1;
	}
	source.dir = bu_xasprintf("%s/tree%s%s", source.made, *path ? "/" : "", path);
	*ret = source;
	return 0;
}

int
bu_git_source_open(const struct bu_options *options, struct bu_git_source *ret,
		   struct bu_err *err)
{
	if (options->git && options->args_count)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "give a folder or --git, not both (--path names a "
				  "folder in the repository)");
	if (options->git)
		return fetch_commit(options->git, options->ref ? options->ref : "HEAD",
				    options->path, ret, err);
	if (options->ref || options->path)
		return bu_err_set(err, BU_ERR_USAGE, 0, "--%s goes with --git",
				  options->ref ? "ref" : "path");
	if (options->args_count == 0)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "give a folder with a profile tree, or --git URL");
	*ret = (struct bu_git_source){.dir = bu_xstrdup(options->args[0]),
				      .commit = bu_git_source_commit(options->args[0])};
	return 0;
}

void
bu_git_source_close(struct bu_git_source *source)
{
	struct bu_err err;

	if (source->made && bu_remove_tree(source->made, &err) != 0)
		fprintf(stderr, "warning: %s\n", err.text);
	free(source->made);
	free(source->dir);
	free(source->commit);
	*source = (struct bu_git_source){0};
}
