/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files and directories, called everywhere. A file is written whole or not at all;
 * a tree is removed through descriptors, so that a link or a mount inside it, or one
 * that appears meanwhile, leads nowhere.
 */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_MAX = 64 * 1024 * 1024 };

static int
fail_path(struct bu_err *err, const char *verb, const char *path)
{
	return bu_err_set(err, errno == ENOENT ? BU_ERR_NOTFOUND : BU_ERR_IO, errno,
			  "%s '%s'", verb, path);
}

char *
bu_file_read(const char *path, size_t max, size_t *ret_size, struct bu_err *err)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	bu_autofree char *text = NULL;
	size_t cap = 0;
	size_t used = 0;
	ssize_t got;

	if (fd < 0) {
		fail_path(err, "open", path);
		return NULL;
	}
	max = max ? max : READ_MAX;
	/* Sizes of files in /proc and /sys are no sizes: read to the end. */
	for (;;) {
		text = bu_xgrow(text, &cap, used + 4096, 1);
		got = read(fd, text + used, cap - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += (size_t)got;
		if (used > max) {
			bu_err_set(err, BU_ERR_INVAL, 0,
				   "'%s' is larger than %zu bytes", path, max);
			return NULL;
		}
	}
	if (got < 0) {
		fail_path(err, "read", path);
		return NULL;
	}
	text[used] = '\0';
	if (ret_size)
		*ret_size = used;
	return bu_steal(&text);
}

int
bu_write_all(int fd, const void *data, size_t size, struct bu_err *err)
{
	const char *bytes = data;

	while (size > 0) {
		ssize_t put = write(fd, bytes, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return bu_err_set(err, BU_ERR_IO, errno, "write %zu bytes",
					  size);
		bytes += put;
		size -= (size_t)put;
	}
	return 0;
}

/* The folder of a path; owned. */
static char *
parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return bu_xstrdup(".");
	return slash == path ? bu_xstrdup("/")
			     : bu_xstrndup(path, (size_t)(slash - path));
}

static int
sync_parent(const char *path, struct bu_err *err)
{
	bu_autofree char *parent = parent_of(path);
	bu_autoclose int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* A filesystem that cannot sync a folder says EINVAL; there is no more to do.
	 */
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		return fail_path(err, "sync the folder", parent);
	return 0;
}

int
bu_file_write(const char *path, const void *data, size_t size, mode_t mode,
	      struct bu_err *err)
{
	bu_autofree char *beside = bu_xasprintf("%s.XXXXXX", path);
	bu_autoclose int fd = mkostemp(beside, O_CLOEXEC);

	if (fd < 0)
		return fail_path(err, "write", path);
	if (bu_write_all(fd, data, size, err)) {
		unlink(beside);
		return bu_err_wrap(err, "'%s'", path);
	}
	if (fchmod(fd, mode) < 0 || fsync(fd) < 0 || rename(beside, path) < 0) {
		fail_path(err, "write", path);
		unlink(beside);
		return -1;
	}
	return sync_parent(path, err);
}

int
bu_file_write_text(const char *path, mode_t mode, struct bu_err *err, const char *fmt,
		   ...)
{
	bu_autofree char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	return bu_file_write(path, text, strlen(text), mode, err);
}

void
bu_file_line(const char *path, char *ret_text, size_t size)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, ret_text, size - 1);

	ret_text[got < 0 ? 0 : got] = '\0';
	ret_text[strcspn(ret_text, "\n")] = '\0';
}

int
bu_mkdir_p(const char *path, mode_t mode, struct bu_err *err)
{
	bu_autofree char *part = bu_xstrdup(path);
	struct stat st;

	for (char *end = part; *end;) {
		char saved;

		end += strspn(end, "/");
		end += strcspn(end, "/");
		saved = *end;
		*end = '\0';
		if (mkdir(part, mode) < 0 && errno != EEXIST)
			return fail_path(err, "make the folder", part);
		*end = saved;
	}
	if (stat(path, &st) < 0)
		return fail_path(err, "make the folder", path);
	if (!S_ISDIR(st.st_mode))
		return bu_err_set(err, BU_ERR_IO, ENOTDIR, "make the folder '%s'",
				  path);
	return 0;
}

/* Where a directory is: device, and the mount when the kernel tells it (bind mounts
 * share a device). */
struct place {
	dev_t dev;
	ino_t ino;
	uint64_t mount_id;
};

static int
place_of(int fd, struct place *ret)
{
	struct statx stx;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -1;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	ret->mount_id = 0;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) == 0 &&
	    (stx.stx_mask & STATX_MNT_ID))
		ret->mount_id = stx.stx_mnt_id;
	return 0;
}

static int remove_content(int fd, const struct place *root, const char *path,
			  struct bu_err *err);

static int
remove_entry(int parent_fd, const struct place *root, const char *name,
	     const char *path, struct bu_err *err)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", path, name);
	struct place place;
	int fd;

	if (unlinkat(parent_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return fail_path(err, "remove", full);
	fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail_path(err, "remove", full);
	if (place_of(fd, &place) < 0 || place.dev != root->dev ||
	    place.mount_id != root->mount_id) {
		close(fd);
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "'%s' is a mount; unmount it first", full);
	}
	if (remove_content(fd, root, full, err))
		return -1;
	if (unlinkat(parent_fd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return fail_path(err, "remove", full);
	return 0;
}

/* Takes fd. Reads again until nothing is left: removing may make readdir skip. */
static int
remove_content(int fd, const struct place *root, const char *path, struct bu_err *err)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int rc = 0;
	int seen;

	if (!dir) {
		fail_path(err, "read the folder", path);
		close(fd);
		return -1;
	}
	do {
		seen = 0;
		rewinddir(dir);
		while (rc == 0 && (entry = readdir(dir))) {
			if (strcmp(entry->d_name, ".") == 0 ||
			    strcmp(entry->d_name, "..") == 0)
				continue;
			seen = 1;
			rc = remove_entry(dirfd(dir), root, entry->d_name, path, err);
		}
	} while (rc == 0 && seen);
	closedir(dir);
	return rc;
}

int
bu_remove_tree(const char *path, struct bu_err *err)
{
	bu_autofree char *plain = bu_xstrdup(path);
	size_t length = strlen(plain);
	struct place root;
	struct stat top;
	int fd;

	/* With a slash at its end a link would be followed after all. */
	while (length > 1 && plain[length - 1] == '/')
		plain[--length] = '\0';
	fd = open(plain, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && length > 0)
		return 0;
	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "remove '%s': only a real directory is removed",
				  path);
	if (place_of(fd, &root) < 0 || stat("/", &top) < 0 ||
	    (top.st_dev == root.dev && top.st_ino == root.ino)) {
		close(fd);
		return bu_err_set(err, BU_ERR_INVAL, 0, "remove '%s': is the root",
				  path);
	}
	if (remove_content(fd, &root, plain, err))
		return -1;
	if (rmdir(plain) < 0 && errno != ENOENT)
		return fail_path(err, "remove", plain);
	return 0;
}

int
bu_file_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

int
bu_read_at(int fd, void *buf, size_t size, uint64_t offset, struct bu_err *err)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = pread(fd, (char *)buf + done, size - done,
				    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return bu_err_set(err, BU_ERR_IO, got < 0 ? errno : 0,
					  "reading at byte %llu%s",
					  (unsigned long long)(offset + done),
					  got < 0 ? "" : ": it ends there");
		done += (size_t)got;
	}
	return 0;
}

int
bu_set_cloexec(int fd, int on)
{
	return fcntl(fd, F_SETFD, on ? FD_CLOEXEC : 0);
}

void
bu_raise_open_files(unsigned long count)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= count)
		return;
	files.rlim_cur = files.rlim_max < count ? files.rlim_max : count;
	setrlimit(RLIMIT_NOFILE, &files);
}

int
bu_file_is_version(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
	       a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}
