/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of a git repository: commits, folders, files. They are read with a git
 * directory of our own, which only names where the repository's objects are.
 */
#ifndef BU_CLI_GIT_OBJECTS_H
#define BU_CLI_GIT_OBJECTS_H

#include "base/err.h"
#include "profiles/load/tree.h"

/* Whether a name is a repository's path on this machine, as git takes it. */
int bu_git_is_local(const char *url);
/* What HEAD, a branch, a tag or an id of the repository in (path) or above (is_inside)
 * a folder names; *ret_objects is the folder of its objects, *ret_below what lies
 * between its work tree and the folder, both owned as the id is. NULL: BU_ERR_NOTFOUND
 * when there is none. */
char *bu_git_resolve(const char *path, int is_inside, const char *ref,
		     char **ret_objects, char **ret_below, struct bu_err *err);

/* Makes our own git directory. objects: where more of them are; NULL = nowhere.
 * id: of the format of its ids. */
bu_must int bu_git_make(const char *git_dir, const char *objects, const char *id,
			struct bu_err *err);
/* Fetches a commit from another machine as refs/bringup. */
bu_must int bu_git_fetch(const char *git_dir, const char *url, const char *ref,
			 struct bu_err *err);
/* The commit that a name of our own git directory means; owned. */
char *bu_git_commit(const char *git_dir, const char *name, struct bu_err *err);

struct bu_git_file {
	char *path; /* below the folder */
	char *text; /* NUL-terminated */
	size_t size;
	int is_program;
};
struct bu_git_files {
	struct bu_git_file *items; /* sorted by path, as git sorts them */
	size_t count, cap;
};
/* The files of a folder of the commit ("" = all of it) that a profile tree has. */
bu_must int bu_git_read(const char *git_dir, const char *commit, const char *folder,
			struct bu_git_files *ret, struct bu_err *err);
void bu_git_files_fini(struct bu_git_files *files);

#endif
