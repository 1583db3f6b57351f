/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens what profiles name; called for secrets, images, keys and certificates.
 * Invariant: what is opened lies on the mount of a listed directory, beneath it, and is
 * no file of the state directory: neither by a link, nor by "..", nor by a mount, nor
 * by a second name of the same file.
 */
#include "base/confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

enum { DIRS_MAX = 16, TRIES = 16 };

struct list {
	const char *key; /* of bringupd.conf */
	char *text;
	char *dirs[DIRS_MAX];
	size_t count;
};

static struct {
	int begun;
	char *state;
	struct list lists[2]; /* by the bit's number */
} confined = {.lists = {{.key = "secrets_dir"}, {.key = "image_dirs"}}};

/* --- where one is --- */

static int
is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether a directory of the first lies above, or is, the directory that dir has open;
 * but not when one passes `except` on the way up. */
static int
is_under(int dir, const struct stat *above, const struct stat *except)
{
	bu_autoclose int fd = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	struct stat at, before = {0};

	while (fd >= 0 && fstat(fd, &at) == 0 && !is_same(&at, &before)) {
		int up;

		if (except && is_same(&at, except))
			return 0;
		if (is_same(&at, above))
			return 1;
		before = at;
		up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = up;
	}
	return 0;
}

/* Whether the tree has a file or folder by this name or any other; images/ of the state
 * directory is for images. */
static int
holds(int dir, const struct stat *what, int top)
{
	DIR *entries = fdopendir(dir);
	const struct dirent *entry;
	int found = 0;

	if (!entries) {
		close(dir);
		return 0;
	}
	while (!found && (entry = readdir(entries))) {
		struct stat st;

		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0 ||
		    (top && strcmp(entry->d_name, "images") == 0) ||
		    fstatat(dirfd(entries), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		found = is_same(&st, what);
		if (!found && S_ISDIR(st.st_mode)) {
			int below =
				openat(dirfd(entries), entry->d_name,
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			found = below >= 0 && holds(below, what, 0);
		}
	}
	closedir(entries);
	return found;
}

static int
state_holds(const struct stat *what)
{
	struct stat state;
	int dir = confined.state
			  ? open(confined.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			  : -1;

	if (dir < 0 || fstat(dir, &state) != 0 || state.st_dev != what->st_dev) {
		bu_cleanup_close(&dir);
		return 0;
	}
	return holds(dir, what, 1);
}

/* Whether a listed directory is, or lies in, the state directory. */
static int
is_in_state(int root)
{
	bu_autofree char *own = NULL;
	struct stat state, images;

	if (!confined.state || stat(confined.state, &state) != 0)
		return 0;
	own = bu_xasprintf("%s/images", confined.state);
	return is_under(root, &state, lstat(own, &images) == 0 ? &images : NULL);
}

/* --- lists --- */

static int
check_dir(const char *key, const char *dir, struct bu_err *err)
{
	bu_autoclose int root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bu_autoclose int state =
		confined.state ? open(confined.state, O_PATH | O_DIRECTORY | O_CLOEXEC)
			       : -1;
	struct stat st;

	if (root < 0 || state < 0 || fstat(root, &st) != 0)
		return 0; /* what is not there yet is looked at when it is used */
	if (is_under(state, &st, NULL) || is_in_state(root) || state_holds(&st))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "%s: '%s' is, holds or lies in the state directory "
				  "%s; profiles may name what is in it: choose another",
				  key, dir, confined.state);
	return 0;
}

static int
add_dirs(struct list *list, const char *text, struct bu_err *err)
{
	char *next = list->text = bu_xstrdup(text ? text : "");
	char *word;

	if (!*next)
		return 0;
	while ((word = strsep(&next, ","))) {
		size_t size;

		word += strspn(word, " \t");
		for (size = strlen(word); size && strchr(" \t/", word[size - 1]);)
			word[--size] = '\0';
		if (!bu_path_is_file(word) || list->count == DIRS_MAX)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "%s = %s: expected absolute directories, at "
					  "most %d, with commas between them",
					  list->key, text, DIRS_MAX);
		list->dirs[list->count++] = word;
		if (check_dir(list->key, word, err) != 0)
			return -1;
	}
	return 0;
}

int
bu_confine_begin(const struct bu_confine_opts *opts, struct bu_err *err)
{
	bu_confine_end();
	confined.state = opts->state ? bu_xstrdup(opts->state) : NULL;
	confined.begun = 1;
	if (add_dirs(&confined.lists[0], opts->secrets_dir, err) == 0 &&
	    add_dirs(&confined.lists[1], opts->image_dirs, err) == 0)
		return 0;
	bu_confine_end();
	return -1;
}

void
bu_confine_end(void)
{
	for (size_t i = 0; i < BU_LEN(confined.lists); i++) {
		free(confined.lists[i].text);
		confined.lists[i].text = NULL;
		confined.lists[i].count = 0;
	}
	free(confined.state);
	confined.state = NULL;
	confined.begun = 0;
}

/* --- opening --- */

/* "12": the mount that a descriptor is on. */
static void
mount_of(int fd, char *ret, size_t size)
{
	bu_autofree char *path = bu_xasprintf("/proc/self/fdinfo/%d", fd);
	bu_autofree char *text = bu_file_read(path, 4096, NULL, NULL);
	const char *line = text ? strstr(text, "mnt_id:") : NULL;

	snprintf(ret, size, "%.*s", line ? (int)strcspn(line, "\n") : 0,
		 line ? line : "");
}

/* For a kernel without openat2(): no link at all, no other mount. */
static int
walk(int root, const char *rest, int flags)
{
	bu_autofree char *parts = bu_xstrdup(rest);
	char *next = parts, *part, from[40], to[40];
	int at = fcntl(root, F_DUPFD_CLOEXEC, 3);

	mount_of(root, from, sizeof(from));
	while (at >= 0 && (part = strsep(&next, "/"))) {
		int fd = openat(at, part,
				next ? O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
				     : flags | O_NOFOLLOW | O_CLOEXEC);
		int why = errno;

		close(at);
		at = fd;
		errno = why == ENOTDIR ? ELOOP : why; /* so it says of a link */
		if (at < 0)
			break;
		mount_of(at, to, sizeof(to));
		if (!from[0] || strcmp(from, to) != 0) {
			close(at);
			at = -1;
			errno = EXDEV;
		}
	}
	return at;
}

static int
open_beneath(int root, const char *rest, int flags)
{
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
			       .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS |
					  RESOLVE_NO_XDEV};
	int fd = -1;

	for (int i = 0; i < TRIES && fd < 0; i++) {
		fd = (int)syscall(SYS_openat2, root, rest, &how, sizeof(how));
		if (fd < 0 && errno != EAGAIN && errno != EINTR)
			break;
	}
	/* Some filters of system calls say EPERM of one that they do not know. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = walk(root, rest, flags);
	return fd;
}

/* The path below dir, "." for dir itself; NULL = the path is not beneath dir. */
static const char *
rest_of(const char *path, const char *dir)
{
	size_t size = strlen(dir);

	if (strncmp(path, dir, size) != 0 || (path[size] && path[size] != '/'))
		return NULL;
	path += size + strspn(path + size, "/");
	return *path ? path : ".";
}

static const char *
find_dir(int lists, const char *path, const char **ret_rest)
{
	const char *found = NULL;

	for (size_t i = 0; i < BU_LEN(confined.lists); i++)
		for (size_t k = 0; lists & 1 << i && k < confined.lists[i].count; k++) {
			const char *dir = confined.lists[i].dirs[k];
			const char *rest = rest_of(path, dir);

			/* The nearest one: it may be a mount of its own. */
			if (rest && (!found || strlen(dir) > strlen(found))) {
				found = dir;
				*ret_rest = rest;
			}
		}
	return found;
}

static int
refuse_outside(int lists, const char *path, struct bu_err *err)
{
	bu_autofree char *allowed = NULL;

	for (size_t i = 0; i < BU_LEN(confined.lists); i++)
		for (size_t k = 0; lists & 1 << i && k < confined.lists[i].count; k++)
			bu_text_add(&allowed, ", ", "%s", confined.lists[i].dirs[k]);
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "'%s' is not beneath %s of bringupd.conf (%s); put it there, "
			  "or let the appliance's operator add its directory",
			  path,
			  lists == BU_CONFINE_SECRETS  ? "secrets_dir"
			  : lists == BU_CONFINE_IMAGES ? "image_dirs"
						       : "secrets_dir or image_dirs",
			  allowed ? allowed : "none");
}

static int
refuse_open(const char *path, const char *dir, struct bu_err *err)
{
	int why = errno;

	if (why == EXDEV)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "'%s' leads out of %s of bringupd.conf by a link, or "
				  "is on another mount",
				  path, dir);
	return bu_err_set(err,
			  why == ENOENT  ? BU_ERR_NOTFOUND
			  : why == ELOOP ? BU_ERR_DENIED
					 : BU_ERR_IO,
			  why, "'%s'", path);
}

static int
refuse_state(const char *path, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "'%s' is in the state directory %s, which no profile may "
			  "name",
			  path, confined.state);
}

int
bu_confine_open(int lists, const char *path, int flags, struct bu_err *err)
{
	const char *rest = NULL, *dir;
	bu_autoclose int root = -1;
	struct stat st;
	int fd;

	if (!(flags & O_DIRECTORY))
		flags |= O_NOFOLLOW;
	if (!confined.begun) {
		fd = open(path, flags | O_CLOEXEC);
		return fd < 0 ? refuse_open(path, "", err) : fd;
	}
	/* A path with a part ".." or "." is beneath no directory. */
	dir = bu_path_is_absolute(path) ? find_dir(lists, path, &rest) : NULL;
	if (!dir)
		return refuse_outside(lists, path, err);
	root = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return refuse_open(path, dir, err);
	if (is_in_state(root))
		return refuse_state(path, err);
	fd = open_beneath(root, rest, flags);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISLNK(st.st_mode)) {
		close(fd);
		fd = -1;
		errno = ELOOP;
	}
	if (fd < 0)
		return refuse_open(path, dir, err);
	if (fstat(fd, &st) == 0 &&
	    (S_ISDIR(st.st_mode) ? !is_in_state(fd)
				 : st.st_nlink < 2 || !state_holds(&st)))
		return fd;
	close(fd);
	return refuse_state(path, err);
}

char *
bu_confine_read(int lists, const char *path, size_t max, size_t *ret_size,
		struct bu_err *err)
{
	bu_autoclose int fd = bu_confine_open(lists, path, O_RDONLY | O_NONBLOCK, err);
	bu_autofree char *opened = NULL;
	struct stat st;
	char *text;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		bu_err_set(err, BU_ERR_DENIED, 0, "'%s' is not a plain file", path);
		return NULL;
	}
	opened = bu_xasprintf("/proc/self/fd/%d", fd);
	text = bu_file_read(opened, max, ret_size, err);
	if (!text)
		bu_err_wrap(err, "%s", path);
	return text;
}

int
bu_confine_check(int lists, const char *path, int flags, struct bu_err *err)
{
	struct bu_err why = {0};
	int fd = bu_confine_open(lists, path, O_PATH | flags, &why);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (why.kind != BU_ERR_DENIED)
		return 0;
	if (err)
		*err = why;
	return -1;
}
