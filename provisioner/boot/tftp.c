/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TFTP folder. Invariant: no client can name anything outside, because dnsmasq
 * serves this folder alone and it holds only what is written here. The files are
 * copies: the user of dnsmasq reaches neither the state directory nor a home directory,
 * where the ramdisk may be.
 */
#include "provisioner/boot/tftp.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "provisioner/boot/grub.h"

enum { COPIED_AT_ONCE = 1 << 30 };

/* A copy has the time of its file. */
static int
is_copy(const char *path, const struct stat *of)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_size == of->st_size &&
	       st.st_mtim.tv_sec == of->st_mtim.tv_sec &&
	       st.st_mtim.tv_nsec == of->st_mtim.tv_nsec;
}

static int
copy_bytes(int from, int to, const struct stat *of)
{
	const struct timespec times[] = {of->st_mtim, of->st_mtim};
	ssize_t got;

	do {
		got = sendfile(to, from, NULL, COPIED_AT_ONCE);
	} while (got > 0);
	return got == 0 && fchmod(to, 0644) == 0 && futimens(to, times) == 0 ? 0 : -1;
}

/* A transfer that runs goes on with the file that it began. */
static int
copy_file(const char *dir, const char *name, const char *from, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	bu_autofree char *beside = bu_xasprintf("%s.new", path);
	bu_autoclose int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	struct stat st;

	if (in < 0 || fstat(in, &st) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "copy '%s'", from);
	if (is_copy(path, &st))
		return 0;
	out = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (out < 0 || copy_bytes(in, out, &st) != 0 || rename(beside, path) != 0) {
		bu_err_set(err, BU_ERR_IO, errno, "copy '%s' to '%s'", from, path);
		unlink(beside);
		return -1;
	}
	return 0;
}

static int
copy_row(const char *dir, const struct bu_boot_row *row,
	 const struct bu_loader_dirs *dirs, struct bu_err *err)
{
	const char *const files[] = {row->file, row->second};

	for (size_t i = 0; i < BU_LEN(files) && files[i]; i++) {
		bu_autofree char *from = bu_loader_path(dirs, files[i]);

		if (copy_file(dir, files[i], from, err) != 0)
			return -1;
	}
	return 0;
}

/* The umask is bringupd's. */
static int
make_folder(const char *path, struct bu_err *err)
{
	if (bu_mkdir_p(path, 0755, err) != 0)
		return -1;
	if (chmod(path, 0755) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "folder '%s'", path);
	return 0;
}

int
bu_tftp_folder(const char *dir, struct bu_err *err)
{
	bu_autofree char *grub = bu_xasprintf("%s/grub", dir);

	return make_folder(dir, err) == 0 ? make_folder(grub, err) : -1;
}

int
bu_tftp_make(const char *dir, const struct bu_loader_dirs *dirs, struct bu_err *err)
{
	bu_autofree char *first_path = bu_xasprintf("%s/grub/grub.cfg", dir);
	bu_autofree char *first = bu_grub_first();
	size_t count;
	const struct bu_boot_row *rows = bu_boot_rows(&count);

	if (bu_remove_tree(dir, err) != 0 || bu_tftp_folder(dir, err) != 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (rows[i].transport == BU_BY_TFTP &&
		    bu_boot_row_there(&rows[i], dirs) &&
		    copy_row(dir, &rows[i], dirs, err) != 0)
			return -1;
	return bu_file_write(first_path, first, strlen(first), 0644, err);
}

int
bu_tftp_system(const char *dir, const char *ramdisk, struct bu_err *err)
{
	static const char *const files[] = {"vmlinuz", "agent.img"};

	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *from = bu_xasprintf("%s/%s", ramdisk, files[i]);

		if (copy_file(dir, files[i], from, err) != 0)
			return -1;
	}
	return 0;
}

int
bu_tftp_put(const char *dir, const char *mac, const char *text, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/grub/%s.cfg", dir, mac);

	if (text)
		return bu_file_write(path, text, strlen(text), 0644, err);
	if (unlink(path) != 0 && errno != ENOENT)
		return bu_err_set(err, BU_ERR_IO, errno, "remove '%s'", path);
	return 0;
}

int
bu_tftp_prune(const char *dir, int (*keeps)(const char *mac, void *arg), void *arg,
	      struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/grub", dir);
	struct dirent *entry;
	DIR *grub = opendir(path);
	int rc = 0;

	if (!grub)
		return bu_err_set(err, BU_ERR_IO, errno, "'%s'", path);
	while ((entry = readdir(grub)) != NULL) {
		bu_autofree char *mac = bu_xstrdup(entry->d_name);

		mac[strcspn(mac, ".")] = '\0';
		if (!*mac || strcmp(mac, "grub") == 0 || keeps(mac, arg))
			continue;
		if (unlinkat(dirfd(grub), entry->d_name, 0) != 0)
			rc = bu_err_set(err, BU_ERR_IO, errno, "remove '%s/%s'", path,
					entry->d_name);
	}
	closedir(grub);
	return rc;
}
