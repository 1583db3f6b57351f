/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads objects by git with a directory of our own; called for plans of a repository's
 * commit. Invariant: no configuration, attribute, hook or filter of a repository has an
 * effect, because git sees nothing of it but objects; and it speaks to other machines
 * in bu_git_fetch() alone, by the protocols listed.
 */
#include "cli/git_objects.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/worker.h"

enum {
	LOCAL_MS = 30 * 1000,
	FETCH_MS = 120 * 1000,
	LIST_MAX = 64 * 1024 * 1024,
	BATCH_MAX = BU_TREE_TOTAL_MAX + 1024 * 1024,
};

/* A name without '=' is taken out of the environment. */
#define ENV_ALL                                                                        \
	"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",                    \
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0",                    \
		"GIT_ATTR_NOSYSTEM=1", "GIT_PROTOCOL_FROM_USER=0",                     \
		"GIT_CONFIG_PARAMETERS", "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", \
		"GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",                              \
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE",                   \
		"GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER"

/* No configuration but ours. */
static const char *const env_look[] = {
	ENV_ALL,
	"GIT_ALLOW_PROTOCOL=",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_CONFIG_COUNT=1",
	"GIT_CONFIG_KEY_0=core.quotePath",
	"GIT_CONFIG_VALUE_0=false",
	NULL,
};

/* The user's own configuration has the helper for passwords. */
static const char *const env_fetch[] = {
	ENV_ALL,
	"GIT_ALLOW_PROTOCOL=https:http:ssh:git",
	"GIT_CONFIG_COUNT=4",
	"GIT_CONFIG_KEY_0=core.hooksPath",
	"GIT_CONFIG_VALUE_0=/dev/null",
	"GIT_CONFIG_KEY_1=core.fsmonitor",
	"GIT_CONFIG_VALUE_1=false",
	"GIT_CONFIG_KEY_2=submodule.recurse",
	"GIT_CONFIG_VALUE_2=false",
	"GIT_CONFIG_KEY_3=maintenance.auto",
	"GIT_CONFIG_VALUE_3=false",
	NULL,
};

static int
look(const char *const *argv, const char *input, size_t max, char **ret_out,
     struct bu_err *err)
{
	return bu_job_run(&(struct bu_job_opts){.argv = argv,
						.env = env_look,
						.input = input,
						.output_max = max,
						.deadline_ms = LOCAL_MS,
						.same_group = 1},
			  ret_out, err);
}

int
bu_git_make(const char *git_dir, const char *objects, const char *id,
	    struct bu_err *err)
{
	const char *format = id && strlen(id) == 64 ? "--object-format=sha256"
						    : "--object-format=sha1";
	const char *const init[] = {"git",  "init", "-q",    "--bare", "--template=",
				    format, "--",   git_dir, NULL};
	bu_autofree char *path = bu_xasprintf("%s/objects/info/alternates", git_dir);

	if (look(init, NULL, 0, NULL, err) != 0)
		return -1;
	if (!objects)
		return 0;
	/* A line each; no path of a repository may begin another one. */
	if (*objects != '/' || strpbrk(objects, "\r\n"))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the path of its objects has a line end");
	return bu_file_write_text(path, 0600, err, "%s\n", objects);
}

int
bu_git_fetch(const char *git_dir, const char *url, const char *ref, struct bu_err *err)
{
	bu_autofree char *dir = bu_xasprintf("--git-dir=%s", git_dir);
	bu_autofree char *refspec = bu_xasprintf("+%s:refs/bringup", ref);
	const char *const get[] = {"git",
				   dir,
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

	if (bu_job_run(&(struct bu_job_opts){.argv = get,
					     .env = env_fetch,
					     .deadline_ms = FETCH_MS,
					     .same_group = 1},
		       NULL, err) == 0)
		return 0;
	if (err && err->kind == BU_ERR_IO)
		err->kind = BU_ERR_REMOTE;
	return -1;
}

char *
bu_git_commit(const char *git_dir, const char *name, struct bu_err *err)
{
	bu_autofree char *dir = bu_xasprintf("--git-dir=%s", git_dir);
	bu_autofree char *what = bu_xasprintf("%s^{commit}", name);
	const char *const head[] = {
		"git", dir, "rev-parse", "--verify", "--end-of-options", what, NULL};
	char *commit = NULL;

	if (look(head, NULL, 0, &commit, err) != 0)
		return NULL;
	commit[strcspn(commit, "\n")] = '\0';
	return commit;
}

/* "100644 blob ID\tPATH": what counts is added, *input gets its id. */
static void
take_line(char *line, struct bu_git_files *files, char **input)
{
	char *path = strchr(line, '\t'), *id;

	if (!path || strncmp(line, "1", 1) != 0)
		return;
	*path++ = '\0';
	id = strrchr(line, ' ');
	if (!id || !strstr(line, " blob ") || !bu_tree_counts(path))
		return;
	bu_text_add(input, "\n", "%s", id + 1);
	files->items = bu_xgrow(files->items, &files->cap, files->count + 1,
				sizeof(*files->items));
	files->items[files->count++] =
		(struct bu_git_file){.path = bu_xstrdup(path),
				     .is_program = strncmp(line, "100755", 6) == 0};
}

/* "ID blob SIZE\n", the bytes, "\n", for each. A NUL ends it: profiles have none. */
static int
take_texts(const char *out, struct bu_git_files *files, struct bu_err *err)
{
	size_t left = strlen(out);

	for (size_t i = 0; i < files->count; i++) {
		struct bu_git_file *file = &files->items[i];
		const char *size = strstr(out, " blob "), *end = strchr(out, '\n');
		int64_t bytes;
		bu_autofree char *number =
			size && end && size < end
				? bu_xstrndup(size + 6, (size_t)(end - size) - 6)
				: bu_xstrdup("");

		if (bu_text_int(number, 0, BU_TREE_FILE_MAX, &bytes) < 0 ||
		    left < (size_t)(end - out) + 2 + (size_t)bytes)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "%s: it is missing, holds a NUL byte or is "
					  "larger than 8 MiB",
					  file->path);
		file->size = (size_t)bytes;
		file->text = bu_xmalloc(file->size + 1);
		memcpy(file->text, end + 1, file->size);
		file->text[file->size] = '\0';
		left -= (size_t)(end - out) + 2 + file->size;
		out = end + 2 + file->size;
	}
	return 0;
}

int
bu_git_read(const char *git_dir, const char *commit, const char *folder,
	    struct bu_git_files *ret, struct bu_err *err)
{
	bu_autofree char *dir = bu_xasprintf("--git-dir=%s", git_dir);
	bu_autofree char *tree =
		bu_xasprintf("%s%s%s", commit, *folder ? ":" : "", folder);
	const char *const list[] = {"git",         dir,  "ls-tree", "-r",
				    "--full-tree", tree, NULL};
	const char *const batch[] = {"git", dir, "cat-file", "--batch", NULL};
	bu_autofree char *names = NULL, *input = NULL, *out = NULL;
	char *next, *line;

	if (look(list, NULL, LIST_MAX, &names, err) != 0)
		return -1;
	for (next = names; (line = strsep(&next, "\n"));)
		if (ret->count < BU_TREE_FILES_MAX)
			take_line(line, ret, &input);
	if (!ret->count)
		return 0;
	bu_text_add(&input, "\n", "%s", "");
	if (look(batch, input, BATCH_MAX, &out, err) != 0)
		return -1;
	return take_texts(out, ret, err);
}

void
bu_git_files_fini(struct bu_git_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->items[i].path);
		free(files->items[i].text);
	}
	free(files->items);
	*files = (struct bu_git_files){0};
}
