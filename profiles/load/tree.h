/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile tree in memory: relative path -> text. The same tree is checked by the
 * command line and uploaded to the daemon; its digest names the revision.
 * Only *.ini and *.csv files count, the site's own checks (checks.d/NAME, which must be
 * executable) and files of public keys (keys.d/NAME); names that start with '.' are
 * passed over.
 */
#ifndef BU_PROFILES_LOAD_TREE_H
#define BU_PROFILES_LOAD_TREE_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

enum {
	BU_TREE_FILES_MAX = 1000,
	BU_TREE_DEPTH_MAX = 8,                /* folders below the root */
	BU_TREE_FILE_MAX = 8 * 1024 * 1024,   /* bytes of one file */
	BU_TREE_TOTAL_MAX = 32 * 1024 * 1024, /* bytes of all files */
	BU_TREE_PATH_MAX = 255,
};

#define BU_TREE_CHECKS "checks.d/"
#define BU_TREE_KEYS "keys.d/"

struct bu_tree_file {
	char *path; /* "pools/train.ini": no leading '/', no "." or ".." */
	char *text; /* NUL-terminated; holds no other NUL */
	size_t size;
};

struct bu_tree {
	struct bu_tree_file *files; /* sorted by path */
	size_t count, cap;
	size_t total_bytes;
	char digest[65]; /* SHA-256 of the canonical JSON */
};

/* Reads a directory. Links, other file types than plain ones, and what is over a limit
 * are errors that name the path. */
struct bu_tree *bu_tree_load(const char *dir, struct bu_err *err);
/* {"files": {path: text}} and back. */
struct bu_tree *bu_tree_from_json(const json_t *value, struct bu_err *err);
json_t *bu_tree_to_json(const struct bu_tree *tree);
const struct bu_tree_file *bu_tree_find(const struct bu_tree *tree, const char *path);
/* 1 for a path, clean and relative, of a file that a tree has. */
int bu_tree_counts(const char *path);
/* 1 for the path of a check of the site's own. */
int bu_tree_is_check(const char *path);
/* 1 for the path of a file of public keys. */
int bu_tree_is_keys(const char *path);
void bu_tree_destroy(struct bu_tree *tree);

#endif
