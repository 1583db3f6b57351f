/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a profile tree comes from, for plan and apply. Invariant: nothing that a
 * repository says is run, and nothing of it is checked out: its files are read from its
 * objects, by id.
 */
#include "cli/git_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "base/url.h"
#include "cli/git_objects.h"

enum { COMMIT_SHOWN = 64 };

/* A new folder for our own git directory and what comes out of it; owned. */
static char *
make_folder(struct bu_err *err)
{
	const char *tmp = getenv("TMPDIR");
	char *made = bu_xasprintf("%s/bringup-git.XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (mkdtemp(made))
		return made;
	bu_err_set(err, BU_ERR_IO, 0, "a folder for the checkout: %m");
	free(made);
	return NULL;
}

static void
remove_folder(char *made)
{
	struct bu_err err;

	if (made && bu_remove_tree(made, &err) != 0)
		fprintf(stderr, "warning: %s\n", err.text);
	free(made);
}

/* --- a folder of this machine --- */

/* Whether the files of the folder are those of the commit, byte by byte. */
static int
is_equal(const char *dir, const struct bu_git_files *files)
{
	struct bu_tree *tree = bu_tree_load(dir, NULL);
	int equal = tree && tree->count == files->count;

	for (size_t i = 0; equal && i < files->count; i++) {
		const struct bu_git_file *file = &files->items[i];
		const struct bu_tree_file *ours = bu_tree_find(tree, file->path);

		equal = ours && ours->size == file->size &&
			memcmp(ours->text, file->text, file->size) == 0;
	}
	bu_tree_destroy(tree);
	return equal;
}

/* "ID" or "ID-dirty"; owned, NULL with *err. */
static char *
commit_of(const char *dir, const char *made, const char *id, const char *objects,
	  const char *below, struct bu_err *err)
{
	bu_autofree char *git_dir = bu_xasprintf("%s/git", made);
	bu_autofree char *commit = NULL;
	struct bu_git_files files = {0};
	int equal = 0;

	if (bu_git_make(git_dir, objects, id, err) == 0)
		commit = bu_git_commit(git_dir, id, err);
	/* A folder that is in no commit is as good as changed. */
	if (commit)
		equal = bu_git_read(git_dir, commit, below, &files, NULL) == 0 &&
			is_equal(dir, &files);
	bu_git_files_fini(&files);
	return commit ? bu_xasprintf("%.*s%s", COMMIT_SHOWN, commit,
				     equal ? "" : "-dirty")
		      : NULL;
}

char *
bu_git_source_commit(const char *dir)
{
	bu_autofree char *objects = NULL, *below = NULL;
	bu_autofree char *id = bu_git_resolve(dir, 1, "HEAD", &objects, &below, NULL);
	struct bu_err err = {0};
	char *made = id ? make_folder(&err) : NULL;
	char *commit = made ? commit_of(dir, made, id, objects, below, &err) : NULL;

	if (id && !commit && err.sys_errno != ENOENT)
		fprintf(stderr, "warning: %s: its commit is not known: %s\n", dir,
			err.text);
	remove_folder(made);
	return commit ? commit : bu_xstrdup("");
}

/* --- a repository --- */

/* A name before an '@' is only a name over ssh; elsewhere it is mostly a token. */
static int
has_password(const struct bu_url *url)
{
	return url->has_password || (url->has_user && strcmp(url->scheme, "ssh") != 0);
}

/* What git would run a helper for, or take for an option of ssh. */
static int
check_transport(const char *url, struct bu_err *err)
{
	static const char *const allowed[] = {"https", "http", "ssh", "git", "file"};
	const char *colon = strchr(url, ':'), *host, *slash = strrchr(url, '/');
	size_t size = colon ? (size_t)(colon - url) : 0;
	int is_ok = !colon || (strncmp(colon, "://", 3) != 0 && colon[1] != ':');

	/* What has a '/' before is a path. */
	if (!colon || memchr(url, '/', size))
		return 0;
	for (size_t i = 0; i < BU_LEN(allowed); i++)
		is_ok |= strncmp(colon, "://", 3) == 0 && size == strlen(allowed[i]) &&
			 strncmp(url, allowed[i], size) == 0;
	if (!is_ok)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--git: transport '%.*s' is not allowed; write "
				  "https://, http://, ssh://, git://, HOST:PATH or a "
				  "path of this machine",
				  (int)size, url);
	host = strncmp(colon, "://", 3) == 0 ? colon + 3 : url;
	for (const char *at = host; (at = strchr(at, '@')) && (!slash || at < slash);)
		host = ++at;
	if (*host == '-')
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--git: no host's name begins with '-'");
	return 0;
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
	if (check_transport(url, err) != 0)
		return -1;
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

/* Ours with its objects: another machine's are fetched. */
static char *
get_commit(const char *git_dir, const char *url, const char *ref, struct bu_err *err)
{
	bu_autofree char *objects = NULL, *id = NULL;

	if (bu_git_is_local(url)) {
		id = bu_git_resolve(url, 0, ref, &objects, NULL, err);
		return id && bu_git_make(git_dir, objects, id, err) == 0
			       ? bu_git_commit(git_dir, id, err)
			       : NULL;
	}
	if (bu_git_make(git_dir, NULL, NULL, err) != 0 ||
	    bu_git_fetch(git_dir, url, ref, err) != 0)
		return NULL;
	return bu_git_commit(git_dir, "refs/bringup", err);
}

static int
write_files(const char *dir, const struct bu_git_files *files, struct bu_err *err)
{
	if (bu_mkdir_p(dir, 0700, err) != 0)
		return -1;
	for (size_t i = 0; i < files->count; i++) {
		const struct bu_git_file *file = &files->items[i];
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, file->path);
		bu_autofree char *folder = bu_path_folder(path);

		if (bu_mkdir_p(folder, 0700, err) != 0 ||
		    bu_file_write(path, file->text, file->size,
				  file->is_program ? 0755 : 0644, err) != 0)
			return -1;
	}
	return 0;
}

/* The commit of ref, without the history before it, in a new folder; of it the files
 * that a profile tree has. path: the folder in it, NULL = all. */
static int
fetch_commit(const char *url, const char *ref, const char *path,
	     struct bu_git_source *ret, struct bu_err *err)
{
	bu_autofree char *git_dir = NULL;
	struct bu_git_source source = {0};
	struct bu_git_files files = {0};
	int rc = -1;

	if (!path || strcmp(path, ".") == 0)
		path = "";
	if (check_words(url, ref, path, err) != 0 || !(source.made = make_folder(err)))
		return -1;
	git_dir = bu_xasprintf("%s/git", source.made);
	source.dir = bu_xasprintf("%s/tree", source.made);
	source.commit = get_commit(git_dir, url, ref, err);
	if (!source.commit)
		bu_err_wrap(err, "%s, %s", url, ref);
	else if (bu_git_read(git_dir, source.commit, path, &files, err) != 0 ||
		 write_files(source.dir, &files, err) != 0)
		bu_err_wrap(err, "commit %.12s", source.commit);
	else
		rc = 0;
	bu_git_files_fini(&files);
	if (rc != 0)
		bu_git_source_close(&source);
	else
		*ret = source;
	return rc;
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
	remove_folder(source->made);
	free(source->dir);
	free(source->commit);
	*source = (struct bu_git_source){0};
}
