/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What unpack.c does to the folder that it unpacks into. Invariant: every access is by
 * a descriptor of the parent, which was reached from the root through folders alone,
 * and a last name that is not followed.
 */
#include "images/build/unpack_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/file.h"

enum { FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

static int
refuse(struct bu_err *err, const char *name, const char *why)
{
	return bu_err_set(err, BU_ERR_VERIFY, 0, "'%.200s': %s", name, why);
}

char *
bu_unpack_path(const char *name, struct bu_err *err)
{
	bu_autofree char *path = bu_xcalloc(1, strlen(name) + 1);
	size_t length = 0, depth = 0;
	const char *part = name;

	if (*name == '/' || !*name) {
		refuse(err, name, *name ? "an absolute path" : "an empty path");
		return NULL;
	}
	while (*part) {
		size_t size = strcspn(part, "/");

		if (size == 2 && !memcmp(part, "..", 2)) {
			refuse(err, name, "it leads out of its folder (..)");
			return NULL;
		}
		if (size && !(size == 1 && *part == '.')) {
			if (length)
				path[length++] = '/';
			memcpy(path + length, part, size);
			length += size;
			depth++;
		}
		if (size > NAME_MAX || length > BU_UNPACK_PATH_MAX ||
		    depth > BU_UNPACK_DEPTH_MAX) {
			refuse(err, name, "its path is too long or too deep");
			return NULL;
		}
		part += size + (part[size] == '/');
	}
	return bu_steal(&path);
}

/* The next folder on the way; closes dir. */
static int
enter(int dir, const char *name, int make, struct bu_err *err)
{
	int next = openat(dir, name, FOLDER);

	if (next < 0 && errno == ENOENT && make && !mkdirat(dir, name, 0755))
		next = openat(dir, name, FOLDER);
	if (next < 0)
		bu_err_set(err,
			   errno == ENOENT                      ? BU_ERR_NOTFOUND
			   : errno == ELOOP || errno == ENOTDIR ? BU_ERR_VERIFY
								: BU_ERR_IO,
			   errno == ELOOP || errno == ENOTDIR ? 0 : errno,
			   errno == ELOOP || errno == ENOTDIR
				   ? "'%s' on its way is a link or a file, no folder"
				   : "folder '%s'",
			   name);
	close(dir);
	return next;
}

/* The folder that holds the path's last part; folders that are missing are made (0755)
 * with `make`, else they are BU_ERR_NOTFOUND. A descriptor to close. */
static int
open_parent(int root_fd, const char *path, int make, const char **ret_name,
	    struct bu_err *err)
{
	int dir = openat(root_fd, ".", FOLDER);
	const char *part = path, *slash;

	if (dir < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "root of the tree");
	for (; dir >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
		bu_autofree char *name = bu_xstrndup(part, slash - part);

		dir = enter(dir, name, make, err);
	}
	*ret_name = part;
	return dir < 0 ? bu_err_wrap(err, "'%.200s'", path) : dir;
}

/* --- removing --- */

static int remove_at(int dir, const char *name);

static int
empty_at(int dir, const char *name)
{
	int fd = openat(dir, name, FOLDER);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int rc = 0;

	if (!list) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (!rc && (entry = readdir(list)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			rc = remove_at(fd, entry->d_name);
	closedir(list);
	return rc;
}

/* As deep as paths may be (BU_UNPACK_DEPTH_MAX). */
static int
remove_at(int dir, const char *name)
{
	if (!unlinkat(dir, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	return empty_at(dir, name) ? -1 : unlinkat(dir, name, AT_REMOVEDIR);
}

/* The folder of what is to go; below 0 with *ret_rc 0 where there is none, but a file
 * perhaps, which the layer replaces. */
static int
open_where(int root_fd, const char *path, const char **ret_name, int *ret_rc,
	   struct bu_err *err)
{
	struct bu_err why = {0};
	int dir = open_parent(root_fd, path, 0, ret_name, &why);

	*ret_rc = dir < 0 && why.kind == BU_ERR_IO ? -1 : 0;
	if (*ret_rc && err)
		*err = why;
	return dir;
}

int
bu_unpack_remove(int root_fd, const char *path, struct bu_err *err)
{
	const char *name;
	int rc;
	bu_autoclose int dir = open_where(root_fd, path, &name, &rc, err);

	if (dir < 0)
		return rc;
	if (!*name)
		return refuse(err, path, "the root itself cannot be removed");
	return remove_at(dir, name)
		       ? bu_err_set(err, BU_ERR_IO, errno, "removing '%.200s'", path)
		       : 0;
}

int
bu_unpack_drop_link(int root_fd, const char *path, const char *keep, struct bu_err *err)
{
	char target[BU_UNPACK_PATH_MAX + 1];
	const char *name;
	int rc;
	bu_autoclose int dir = open_where(root_fd, path, &name, &rc, err);
	ssize_t size;

	if (dir < 0)
		return rc;
	size = *name ? readlinkat(dir, name, target, sizeof(target)) : -1;
	if (size < 0 || (keep && strlen(keep) == (size_t)size &&
			 !memcmp(keep, target, (size_t)size)))
		return 0;
	return unlinkat(dir, name, 0)
		       ? bu_err_set(err, BU_ERR_IO, errno, "removing '%.200s'", path)
		       : 0;
}

int
bu_unpack_empty(int root_fd, const char *path, struct bu_err *err)
{
	const char *name;
	int rc;
	bu_autoclose int dir = open_where(root_fd, path, &name, &rc, err);

	if (dir < 0)
		return rc;
	if (!empty_at(dir, *name ? name : ".") || errno == ENOENT || errno == ELOOP ||
	    errno == ENOTDIR)
		return 0;
	return bu_err_set(err, BU_ERR_IO, errno, "emptying '%.200s'", path);
}

/* --- making --- */

static int
make_at(int dir, const char *name, const struct bu_unpack_node *node, int *ret_fd)
{
	struct stat st;

	if (S_ISDIR(node->mode)) {
		if (!fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISDIR(st.st_mode))
			return 0;
		return remove_at(dir, name) ? -1 : mkdirat(dir, name, 0700);
	}
	if (remove_at(dir, name))
		return -1;
	if (S_ISLNK(node->mode))
		return symlinkat(node->target, dir, name);
	if (!S_ISREG(node->mode))
		return mknodat(dir, name, (node->mode & S_IFMT) | 0600, node->device);
	*ret_fd = openat(dir, name,
			 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return *ret_fd < 0 ? -1 : 0;
}

int
bu_unpack_make(int root_fd, const struct bu_unpack_node *node, int *ret_fd,
	       struct bu_err *err)
{
	const char *name;
	bu_autoclose int dir = open_parent(root_fd, node->path, 1, &name, err);

	*ret_fd = -1;
	if (dir < 0)
		return -1;
	if (!*name)
		return S_ISDIR(node->mode)
			       ? 0
			       : refuse(err, ".", "the root must be a folder");
	if (make_at(dir, name, node, ret_fd))
		return bu_err_set(err, BU_ERR_IO, errno, "'%.200s'", node->path);
	return 0;
}

int
bu_unpack_link(int root_fd, const struct bu_unpack_node *node, struct bu_err *err)
{
	const char *name, *old;
	bu_autoclose int dir = open_parent(root_fd, node->path, 1, &name, err);
	bu_autoclose int from = -1;
	struct stat st;

	if (dir < 0)
		return -1;
	from = open_parent(root_fd, node->target, 0, &old, err);
	if (from < 0)
		return bu_err_wrap(err, "'%.200s': a hard link", node->path);
	if (!*name || !*old || fstatat(from, old, &st, AT_SYMLINK_NOFOLLOW) ||
	    S_ISDIR(st.st_mode))
		return refuse(err, node->path, "a hard link to what is not a file");
	if (!strcmp(node->path, node->target))
		return refuse(err, node->path, "a hard link to itself");
	if (remove_at(dir, name) || linkat(from, old, dir, name, 0))
		return bu_err_set(err, BU_ERR_IO, errno, "'%.200s'", node->path);
	return 0;
}

int
bu_unpack_finish(int root_fd, const struct bu_unpack_node *node, struct bu_err *err)
{
	const char *name;
	bu_autoclose int dir = open_parent(root_fd, node->path, 0, &name, err);
	const struct timespec times[] = {node->mtime, node->mtime};

	if (dir < 0)
		return -1;
	if (!*name)
		name = ".";
	if (fchownat(dir, name, node->uid, node->gid, AT_SYMLINK_NOFOLLOW) ||
	    (!S_ISLNK(node->mode) && fchmodat(dir, name, node->mode & 07777, 0)) ||
	    utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW))
		return bu_err_set(err, BU_ERR_IO, errno, "'%.200s'", node->path);
	return 0;
}

int
bu_unpack_time(int root_fd, const struct bu_unpack_node *node, struct bu_err *err)
{
	const char *name;
	bu_autoclose int dir = open_parent(root_fd, node->path, 0, &name, err);
	const struct timespec times[] = {node->mtime, node->mtime};

	if (dir < 0)
		return -1;
	if (utimensat(dir, *name ? name : ".", times, AT_SYMLINK_NOFOLLOW))
		return bu_err_set(err, BU_ERR_IO, errno, "'%.200s'", node->path);
	return 0;
}

int
bu_unpack_xattr(int root_fd, const char *path, const struct bu_unpack_xattr *xattr,
		struct bu_err *err)
{
	const char *name;
	bu_autoclose int dir = open_parent(root_fd, path, 0, &name, err);
	bu_autoclose int fd = -1;

	if (dir < 0)
		return -1;
	fd = openat(dir, *name ? name : ".",
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fsetxattr(fd, xattr->name, xattr->value, xattr->size, 0))
		return bu_err_set(err, BU_ERR_IO, errno, "'%.200s': %s", path,
				  xattr->name);
	return 0;
}
