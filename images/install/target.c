/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts the new root by telling the kernel where it is (the partition table is not on
 * the disk yet), grows it with one ioctl, writes the files; used by install.c.
 * Invariant: no path leaves the new root, whatever symbolic links the image holds.
 */
#include "images/install/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "images/install/array.h"
#include "images/install/bootargs.h"
#include "images/install/mirror.h"

/* Of fs/ext4/ext4.h; the kernel's headers for programs do not have it. */
#define RESIZE_FS _IOW('f', 16, uint64_t)

/* The directory that holds the path's last name, made on the way. */
static int
open_parent(int root_fd, const char *path, const char **ret_name, struct bu_err *err)
{
	int dir = fcntl(root_fd, F_DUPFD_CLOEXEC, 3);
	const char *slash;

	for (path++; dir >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
		bu_autofree char *name = bu_xstrndup(path, slash - path);
		int next;

		if (mkdirat(dir, name, 0755) && errno != EEXIST) {
			close(dir);
			return bu_err_set(err, BU_ERR_IO, errno, "directory '%s'",
					  name);
		}
		next = openat(dir, name,
			      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(dir);
		dir = next;
	}
	*ret_name = path;
	if (dir < 0)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "a directory is missing or a symbolic link");
	return dir;
}

/* Below the directory root_fd, through no symbolic link. */
static int
write_file(int root_fd, const struct bu_install_file *file, struct bu_err *err)
{
	bu_autoclose int dir = -1;
	bu_autoclose int fd = -1;
	const char *name = NULL;

	if (!bu_path_is_file(file->path))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "file '%.200s': not an absolute path without '.', "
				  "'..' and '//'",
				  file->path);
	dir = open_parent(root_fd, file->path, &name, err);
	if (dir < 0)
		return bu_err_wrap(err, "file %s", file->path);
	if (unlinkat(dir, name, 0) && errno != ENOENT)
		return bu_err_set(err, BU_ERR_IO, errno, "file %s", file->path);
	if (S_ISLNK(file->mode)) {
		if (symlinkat(file->content, dir, name))
			return bu_err_set(err, BU_ERR_IO, errno, "link %s", file->path);
		return 0;
	}
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0600);
	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "file %s", file->path);
	if (bu_write_all(fd, file->content, file->size, err))
		return bu_err_wrap(err, "file %s", file->path);
	if (fchmod(fd, file->mode & 07777) || fsync(fd))
		return bu_err_set(err, BU_ERR_IO, errno, "file %s", file->path);
	return 0;
}

/* Below the root, through no symbolic link. */
int
bu_target_forget(int root_fd, struct bu_err *err)
{
	bu_autofree char *path = NULL;
	const char *name = NULL;
	bu_autoclose int dir = open_parent(root_fd, "/var/lib/bringup", &name, err);

	if (dir < 0)
		return bu_err_wrap(err, "/var/lib/bringup");
	path = bu_xasprintf("/proc/self/fd/%d/%s", dir, name);
	if (bu_remove_tree(path, err) || bu_mkdir_p(path, 0700, err))
		return bu_err_wrap(err, "/var/lib/bringup");
	return 0;
}

int
bu_target_write(const struct bu_install_opts *opts, int root_fd, struct bu_err *err)
{
	const struct bu_install_file stamps[] = {
		{"/var/lib/bringup/stamp.json", 0600, opts->stamp_text,
		 strlen(opts->stamp_text)},
		{"/var/lib/bringup/stamp.sig", 0600, opts->stamp_sig,
		 strlen(opts->stamp_sig)},
	};

	for (size_t i = 0; i < opts->file_count; i++)
		if (write_file(root_fd, &opts->files[i], err))
			return -1;
	for (size_t i = 0; i < opts->agent_file_count; i++)
		if (write_file(root_fd, &opts->agent_files[i], err))
			return -1;
	for (size_t i = 0; i < BU_LEN(stamps); i++)
		if (write_file(root_fd, &stamps[i], err))
			return -1;
	if (syncfs(root_fd))
		return bu_err_set(err, BU_ERR_IO, errno, "sync of the new root");
	return 0;
}

static int
grow(int root_fd, const char *device, struct bu_err *err)
{
	bu_autoclose int fd = open(device, O_RDONLY | O_CLOEXEC);
	uint64_t blocks, size_bytes;
	struct statfs fs;

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &size_bytes))
		return bu_err_set(err, BU_ERR_IO, errno, "size of %s", device);
	if (fstatfs(root_fd, &fs))
		return bu_err_set(err, BU_ERR_IO, errno, "new root");
	blocks = size_bytes / fs.f_bsize;
	if (ioctl(root_fd, RESIZE_FS, &blocks))
		return bu_err_set(err, BU_ERR_IO, errno,
				  "growing the new root to %llu blocks",
				  (unsigned long long)blocks);
	return 0;
}

int
bu_target_add(const char *path, const struct bu_layout *layout, struct bu_err *err)
{
	bu_autoclose int fd = open(path, O_RDWR | O_CLOEXEC);

	for (size_t i = 0; i < layout->count; i++) {
		struct blkpg_partition where = {
			.start = layout->parts[i].begin_bytes,
			.length = layout->parts[i].size_bytes,
			.pno = i + 1,
		};
		struct blkpg_ioctl_arg arg = {
			.op = BLKPG_ADD_PARTITION,
			.datalen = sizeof(where),
			.data = &where,
		};

		if (ioctl(fd, BLKPG, &arg))
			return bu_err_set(err, BU_ERR_IO, errno, "partition %zu of %s",
					  i + 1, path);
	}
	return 0;
}

/* --- the boot loaders' configuration --- */

static size_t
find_part(const struct bu_manifest *manifest, const char *name)
{
	size_t which = 0;

	while (which < manifest->part_count &&
	       strcmp(manifest->parts[which].name, name) != 0)
		which++;
	return which;
}

static int
write_kargs(const char *esp_dir, void *arg, struct bu_err *err)
{
	return bu_bootargs_write(esp_dir, arg, err);
}

static int
fill_esp(const struct bu_install_opts *opts, const struct bu_manifest *manifest,
	 const char *disk, struct bu_err *err)
{
	bu_autofree char *kargs = bu_xstrdup(opts->kargs ? opts->kargs : "");
	bu_autofree char *node = NULL;
	size_t which = find_part(manifest, "esp");
	struct stat st;

	if (!kargs[0])
		return 0;
	if (!stat(disk, &st) && !S_ISBLK(st.st_mode))
		return opts->esp_dir ? write_kargs(opts->esp_dir, kargs, err) : 0;
	if (which == manifest->part_count)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "image %s has no part 'esp' to take kernel arguments",
				  manifest->name);
	node = bu_disk_part(disk, which);
	return bu_bootargs_mounted(node, write_kargs, kargs, err);
}

/* --- the root --- */

static int
write_root(const struct bu_install_opts *opts, int root_fd, struct bu_err *err)
{
	if (opts->forget && bu_target_forget(root_fd, err))
		return -1;
	return bu_target_write(opts, root_fd, err);
}

static int
fill_mounted(const struct bu_install_opts *opts, const struct bu_part *part,
	     const char *device, const char *dir, struct bu_err *err)
{
	bu_autoclose int root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root_fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", dir);
	if (part->grow && grow(root_fd, device, err))
		return -1;
	return write_root(opts, root_fd, err);
}

static int
fill_device(const struct bu_install_opts *opts, const struct bu_part *part,
	    const char *device, struct bu_err *err)
{
	char dir[] = "/tmp/bringup-root-XXXXXX";
	int rc;

	if (!mkdtemp(dir))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", dir);
	if (mount(device, dir, "ext4", 0, NULL)) {
		rc = bu_err_set(err, BU_ERR_IO, errno, "mount %s", device);
	} else {
		rc = fill_mounted(opts, part, device, dir, err);
		if (umount(dir) && !rc)
			rc = bu_err_set(err, BU_ERR_IO, errno, "umount %s", dir);
	}
	rmdir(dir);
	return rc;
}

static int
fill_directory(const struct bu_install_opts *opts, struct bu_err *err)
{
	const char *dir = opts->root_dir ? opts->root_dir : "";
	bu_autoclose int root_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root_fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "%s is a file, and root_dir '%s' is not a directory",
				  opts->disk, dir);
	return write_root(opts, root_fd, err);
}

int
bu_target_root(const struct bu_install_opts *opts, const struct bu_part *part,
	       const char *device, struct bu_err *err)
{
	return device ? fill_device(opts, part, device, err)
		      : fill_directory(opts, err);
}

static int
fill_mirrored(const struct bu_install_opts *opts, const struct bu_part *part,
	      size_t which, int is_block, struct bu_err *err)
{
	int rc = bu_mirror_begin(opts, which, err);

	if (rc)
		return rc;
	rc = bu_target_root(opts, part, is_block ? BU_ARRAY_DEVICE : NULL, err);
	return bu_mirror_end(opts, which, rc ? NULL : err) || rc ? -1 : 0;
}

static int
fill_part(const struct bu_install_opts *opts, const struct bu_manifest *manifest,
	  const struct bu_layout *layout, size_t which, struct bu_err *err)
{
	const struct bu_part *part = &manifest->parts[which];
	bu_autofree char *device = NULL;
	struct stat st;
	int is_block;

	if (stat(opts->disk, &st))
		return bu_err_set(err, BU_ERR_IO, errno, "disk %s", opts->disk);
	is_block = S_ISBLK(st.st_mode);
	if (is_block && (bu_target_add(opts->disk, layout, err) ||
			 (opts->mirror && bu_target_add(opts->mirror, layout, err))))
		return -1;
	if (opts->mirror)
		return fill_mirrored(opts, part, which, is_block, err);
	device = is_block ? bu_disk_part(opts->disk, which) : NULL;
	return bu_target_root(opts, part, device, err);
}

int
bu_target_fill(const struct bu_install_opts *opts, const struct bu_manifest *manifest,
	       const struct bu_layout *layout, struct bu_err *err)
{
	size_t which = find_part(manifest, "root");

	if (which == manifest->part_count)
		return bu_err_set(err, BU_ERR_INVAL, 0, "image %s has no part 'root'",
				  manifest->name);
	if (fill_part(opts, manifest, layout, which, err) ||
	    fill_esp(opts, manifest, opts->disk, err))
		return -1;
	return opts->mirror ? fill_esp(opts, manifest, opts->mirror, err) : 0;
}
