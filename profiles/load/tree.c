/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profile trees: from a directory (command line) or from JSON (daemon). Both ends
 * accept exactly the same trees, so that what passed `bringup check` is never refused
 * later for its shape. Invariant: files are sorted by path, paths are clean and
 * relative, texts are UTF-8 without NUL; the digest belongs to what is in memory.
 */
#include "profiles/load/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"

static int
is_beneath(const char *folder, const char *path)
{
	size_t size = strlen(folder);
	const char *name = path + size;

	return strncmp(path, folder, size) == 0 && !strchr(name, '/') && *name &&
	       *name != '.';
}

static int
is_table(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && (strcmp(path + len - 4, ".ini") == 0 ||
			   strcmp(path + len - 4, ".csv") == 0);
}

int
bu_tree_is_check(const char *path)
{
	return is_beneath(BU_TREE_CHECKS, path);
}

int
bu_tree_is_keys(const char *path)
{
	return is_beneath(BU_TREE_KEYS, path) && !is_table(path);
}

static int
counts(const char *path)
{
	return bu_tree_is_check(path) || bu_tree_is_keys(path) || is_table(path);
}

/* Hidden files are none of the tree. */
int
bu_tree_counts(const char *path)
{
	int depth = 0;

	for (const char *p = path; *p; p++)
		depth += *p == '/';
	return strlen(path) <= BU_TREE_PATH_MAX && counts(path) &&
	       depth <= BU_TREE_DEPTH_MAX && bu_path_is_relative(path) &&
	       path[0] != '.' && !strstr(path, "/.") && !strchr(path, '\\');
}

/* Takes the text. */
static int
add_file(struct bu_tree *tree, const char *path, char *text, size_t size,
	 struct bu_err *err)
{
	const char *problem = NULL;
	json_t *probe = NULL;

	if (!bu_tree_counts(path))
		problem = "the path is too deep, too long or not clean";
	else if (tree->count >= BU_TREE_FILES_MAX)
		problem = "too many files; a tree has at most 1,000";
	else if (size > BU_TREE_FILE_MAX)
		problem = "the file is larger than 8 MiB";
	else if (tree->total_bytes + size > BU_TREE_TOTAL_MAX)
		problem = "the tree is larger than 32 MiB";
	else if (memchr(text, 0, size))
		problem = "holds a NUL byte; profiles are plain UTF-8 text";
	else if (!(probe = json_stringn(text, size)))
		problem = "is not UTF-8; convert it with iconv";
	json_decref(probe);
	if (problem) {
		free(text);
		return bu_err_set(err, BU_ERR_INVAL, 0, "%s: %s", path, problem);
	}
	tree->files = bu_xgrow(tree->files, &tree->cap, tree->count + 1,
			       sizeof(*tree->files));
	tree->files[tree->count++] = (struct bu_tree_file){
		.path = bu_xstrdup(path), .text = text, .size = size};
	tree->total_bytes += size;
	return 0;
}

static int
compare(const void *a, const void *b)
{
	const struct bu_tree_file *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int
finish(struct bu_tree *tree, struct bu_err *err)
{
	bu_autojson json_t *value = NULL;

	if (tree->count == 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the profile tree holds no *.ini file; it starts at "
				  "site.ini");
	qsort(tree->files, tree->count, sizeof(*tree->files), compare);
	value = bu_tree_to_json(tree);
	bu_json_digest(value, tree->digest);
	return 0;
}

static int
read_file(struct bu_tree *tree, int dir_fd, const char *name, const char *path,
	  struct bu_err *err)
{
	bu_autoclose int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	size_t size = 0;
	char *text;

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s: cannot be opened", path);
	text = bu_xmalloc(BU_TREE_FILE_MAX + 2);
	while (size <= BU_TREE_FILE_MAX) {
		ssize_t got = read(fd, text + size, BU_TREE_FILE_MAX + 1 - size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			bu_err_set(err, BU_ERR_IO, errno, "%s: cannot be read", path);
			free(text);
			return -1;
		}
		if (got == 0)
			break;
		size += (size_t)got;
	}
	text = bu_xrealloc(text, size + 1);
	text[size] = '\0';
	return add_file(tree, path, text, size, err);
}

static int read_dir(struct bu_tree *tree, int fd, const char *prefix, int depth,
		    struct bu_err *err);

static int
read_entry(struct bu_tree *tree, int dir_fd, const char *name, const char *prefix,
	   int depth, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s%s", prefix, name);
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", path);
	if (S_ISLNK(st.st_mode))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: is a link; a profile tree holds plain files and "
				  "folders",
				  path);
	if (S_ISDIR(st.st_mode)) {
		bu_autofree char *below = bu_xasprintf("%s/", path);
		int fd;

		if (depth >= BU_TREE_DEPTH_MAX)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "%s: too deep; at most %d folders", path,
					  BU_TREE_DEPTH_MAX);
		fd = openat(dir_fd, name,
			    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return bu_err_set(err, BU_ERR_IO, errno, "%s", path);
		return read_dir(tree, fd, below, depth + 1, err);
	}
	if (!counts(path))
		return 0;
	if (!S_ISREG(st.st_mode))
		return bu_err_set(err, BU_ERR_INVAL, 0, "%s: is not a plain file",
				  path);
	if (bu_tree_is_check(path) && !(st.st_mode & 0111))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: is not executable; chmod +x it, or move it out "
				  "of the folder",
				  path);
	return read_file(tree, dir_fd, name, path, err);
}

/* Takes fd. */
static int
read_dir(struct bu_tree *tree, int fd, const char *prefix, int depth,
	 struct bu_err *err)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int rc = 0;

	if (!dir) {
		close(fd);
		return bu_err_set(err, BU_ERR_IO, errno, "%s", prefix);
	}
	while (rc == 0 && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			rc = read_entry(tree, dirfd(dir), entry->d_name, prefix, depth,
					err);
	closedir(dir);
	return rc;
}

struct bu_tree *
bu_tree_load(const char *dir, struct bu_err *err)
{
	struct bu_tree *tree;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		bu_err_set(err, BU_ERR_NOTFOUND, errno, "profile folder %s", dir);
		return NULL;
	}
	tree = bu_xcalloc(1, sizeof(*tree));
	if (read_dir(tree, fd, "", 0, err) < 0 || finish(tree, err) < 0) {
		bu_err_wrap(err, "%s", dir);
		bu_tree_destroy(tree);
		return NULL;
	}
	return tree;
}

struct bu_tree *
bu_tree_from_json(const json_t *value, struct bu_err *err)
{
	json_t *files = json_object_get(value, "files"), *text;
	struct bu_tree *tree;
	const char *path;
	int rc = 0;

	if (!json_is_object(files)) {
		bu_err_set(err, BU_ERR_INVAL, 0, "field 'files': must be an object");
		return NULL;
	}
	tree = bu_xcalloc(1, sizeof(*tree));
	json_object_foreach (files, path, text) {
		size_t size = json_string_length(text);
		char *copy;

		if (!json_is_string(text)) {
			rc = bu_err_set(err, BU_ERR_INVAL, 0, "%s: must be text", path);
			break;
		}
		copy = bu_xmalloc(size + 1);
		memcpy(copy, json_string_value(text), size + 1);
		rc = add_file(tree, path, copy, size, err);
		if (rc < 0)
			break;
	}
	if (rc < 0 || finish(tree, err) < 0) {
		bu_tree_destroy(tree);
		return NULL;
	}
	return tree;
}

json_t *
bu_tree_to_json(const struct bu_tree *tree)
{
	json_t *files = json_object();

	for (size_t i = 0; i < tree->count; i++)
		json_object_set_new(
			files, tree->files[i].path,
			json_stringn(tree->files[i].text, tree->files[i].size));
	return json_pack("{so}", "files", files);
}

const struct bu_tree_file *
bu_tree_find(const struct bu_tree *tree, const char *path)
{
	struct bu_tree_file key = {.path = (char *)path};

	if (tree->count == 0)
		return NULL;
	return bsearch(&key, tree->files, tree->count, sizeof(*tree->files), compare);
}

void
bu_tree_destroy(struct bu_tree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->count; i++) {
		free(tree->files[i].path);
		free(tree->files[i].text);
	}
	free(tree->files);
	free(tree);
}
