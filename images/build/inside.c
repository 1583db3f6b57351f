/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens files of a tree as from inside of it; the checks of an import and the list of
 * packages use it. Invariant: nothing outside of the root is opened, whatever links the
 * tree has (RESOLVE_IN_ROOT), and no open blocks.
 */
#include "images/build/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

int
bu_inside_open(int root_fd, const char *path, int flags)
{
	const struct open_how how = {
		.flags = (unsigned int)flags | O_CLOEXEC |
			 (flags & O_PATH ? 0u : (unsigned int)O_NONBLOCK),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
}

int
bu_inside_stat(int root_fd, const char *path, struct stat *ret)
{
	bu_autoclose int fd = bu_inside_open(root_fd, path, O_PATH);

	return fd < 0 || fstat(fd, ret) ? -1 : 0;
}

DIR *
bu_inside_folder(int root_fd, const char *path)
{
	int fd = bu_inside_open(root_fd, path, O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

int
bu_inside_program(int root_fd, const char *path)
{
	struct stat st;

	return !bu_inside_stat(root_fd, path, &st) && S_ISREG(st.st_mode) &&
	       (st.st_mode & 0111);
}

char *
bu_inside_read(int root_fd, const char *path, size_t max, size_t *ret_size,
	       struct bu_err *err)
{
	bu_autofree char *text = NULL;
	bu_autoclose int fd = -1;
	struct stat st;

	/* Not even opened when it is none: a device may do things then. */
	if (bu_inside_stat(root_fd, path, &st) || !S_ISREG(st.st_mode)) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "/%s: no such file", path);
		return NULL;
	}
	if ((uint64_t)st.st_size > max) {
		bu_err_set(err, BU_ERR_VERIFY, 0, "/%s: larger than %zu bytes", path,
			   max);
		return NULL;
	}
	fd = bu_inside_open(root_fd, path, O_RDONLY);
	text = bu_xmalloc((size_t)st.st_size + 1);
	if (fd < 0 || bu_read_at(fd, text, (size_t)st.st_size, 0, err)) {
		if (fd < 0)
			bu_err_set(err, BU_ERR_IO, errno, "/%s", path);
		return NULL;
	}
	text[st.st_size] = '\0';
	if (ret_size)
		*ret_size = (size_t)st.st_size;
	return bu_steal(&text);
}
