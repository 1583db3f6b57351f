/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts of the rack; called once by the keeper, in a mount namespace of its own. The
 * first step makes every mount private, so nothing of this reaches the host.
 *
 * libvirt's directories are compiled into it and need not exist on this machine, and
 * the host's /var must not gain any. Their parents are therefore replaced by a small
 * tmpfs into which everything that was there is bound again.
 */
#include "lab/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static int
do_mount(const char *source, const char *target, const char *type, unsigned long flags,
	 const char *data, struct bu_err *err)
{
	if (mount(source, target, type, flags, data) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "mount %s on %s", source,
				  target);
	return 0;
}

/* Gives one entry of the directory `dir` (a descriptor) its place below `parent`. */
static int
bind_entry(int dir, const char *parent, const struct dirent *entry, struct bu_err *err)
{
	bu_autofree char *target = bu_xasprintf("%s/%s", parent, entry->d_name);
	bu_autofree char *source =
		bu_xasprintf("/proc/self/fd/%d/%s", dir, entry->d_name);
	struct stat st;
	char link[4096];
	ssize_t size;
	int fd;

	if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0; /* gone meanwhile */
	if (S_ISLNK(st.st_mode)) {
		size = readlinkat(dir, entry->d_name, link, sizeof(link) - 1);
		if (size < 0)
			return 0;
		link[size] = '\0';
		return symlink(link, target) == 0
			       ? 0
			       : bu_err_set(err, BU_ERR_IO, errno, "link '%s'", target);
	}
	if (S_ISDIR(st.st_mode)) {
		if (mkdir(target, 0755) != 0)
			return bu_err_set(err, BU_ERR_IO, errno, "make '%s'", target);
	} else {
		fd = open(target, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0)
			return bu_err_set(err, BU_ERR_IO, errno, "make '%s'", target);
		close(fd);
	}
	return do_mount(source, target, NULL, MS_BIND | MS_REC, NULL, err);
}

static int
bind_entries(int fd, const char *parent, const char *except, struct bu_err *err)
{
	int dup_fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = dup_fd >= 0 ? fdopendir(dup_fd) : NULL;
	struct dirent *entry;
	int rc = 0;

	if (!stream)
		return bu_err_set(err, BU_ERR_IO, errno, "list '%s'", parent);
	while (rc == 0 && (entry = readdir(stream))) {
		if (strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0 ||
		    strcmp(entry->d_name, except) == 0)
			continue;
		rc = bind_entry(fd, parent, entry, err);
	}
	closedir(stream);
	return rc;
}

/* parent/child becomes `source`, the rest of parent stays as it is. */
static int
place(const char *parent, const char *child, const char *source, struct bu_err *err)
{
	bu_autofree char *target = bu_xasprintf("%s/%s", parent, child);
	bu_autoclose int fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "open '%s'", parent);
	if (do_mount("tmpfs", parent, "tmpfs", MS_NOSUID | MS_NODEV,
		     "mode=0755,size=1m", err) != 0 ||
	    bind_entries(fd, parent, child, err) != 0)
		return -1;
	if (mkdir(target, 0755) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "make '%s'", target);
	return do_mount(source, target, NULL, MS_BIND, NULL, err);
}

static int
make_kernel_views(struct bu_err *err)
{
	unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

	/* The new /sys shows this network namespace and hides the cgroups, in which
	 * libvirt would leave directories behind. */
	if (do_mount("none", "/", NULL, MS_PRIVATE | MS_REC, NULL, err) != 0 ||
	    do_mount("proc", "/proc", "proc", flags, NULL, err) != 0)
		return -1;
	return do_mount("sysfs", "/sys", "sysfs", flags, NULL, err);
}

int
bu_mounts_make(const struct bu_rack *rack, struct bu_err *err)
{
	static const struct {
		const char *source, *parent, *child;
	} places[] = {
		{"var/lib", "/var/lib", "libvirt"},
		{"var/log", "/var/log", "libvirt"},
		{"var/cache", "/var/cache", "libvirt"},
	};
	bu_autofree char *etc = bu_rack_path(rack, "etc");
	bu_autofree char *run = bu_rack_path(rack, "run");

	if (make_kernel_views(err) != 0)
		return -1;
	for (size_t i = 0; i < BU_LEN(places); i++) {
		bu_autofree char *source =
			bu_rack_path(rack, "%s/%s", places[i].source, places[i].child);

		if (place(places[i].parent, places[i].child, source, err) != 0)
			return -1;
	}
	if (do_mount(etc, "/etc", NULL, MS_BIND, NULL, err) != 0)
		return -1;
	return do_mount(run, "/run", NULL, MS_BIND, NULL, err);
}

int
bu_mounts_poke(const char *path, const char *value, struct bu_err *err)
{
	bu_autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "open '%s'", path);
	if (bu_write_all(fd, value, strlen(value), err) != 0)
		return bu_err_wrap(err, "'%s'", path);
	return 0;
}
