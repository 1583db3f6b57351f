/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TFTP folder. Invariant: a name in it that is a loader's leads to the file that
 * the boot table found at the start; no client can name anything outside, because
 * dnsmasq serves this folder alone and it holds only what is written here.
 */
#include "provisioner/boot/tftp.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "provisioner/boot/grub.h"

static int
link_file(const char *dir, const char *name, const char *target, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

	/* The table may have it twice. */
	if (symlink(target, path) != 0 && errno != EEXIST)
		return bu_err_set(err, BU_ERR_IO, errno, "link '%s'", path);
	return 0;
}

static int
link_row(const char *dir, const struct bu_boot_row *row,
	 const struct bu_loader_dirs *dirs, struct bu_err *err)
{
	const char *const files[] = {row->file, row->second};

	for (size_t i = 0; i < BU_LEN(files) && files[i]; i++) {
		bu_autofree char *target = bu_loader_path(dirs, files[i]);

		if (link_file(dir, files[i], target, err) != 0)
			return -1;
	}
	return 0;
}

static int
link_system(const char *dir, const char *ramdisk, struct bu_err *err)
{
	static const char *const files[] = {"vmlinuz", "agent.img"};

	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *target = bu_xasprintf("%s/%s", ramdisk, files[i]);

		if (link_file(dir, files[i], target, err) != 0)
			return -1;
	}
	return 0;
}

int
bu_tftp_make(const char *dir, const struct bu_loader_dirs *dirs, struct bu_err *err)
{
	bu_autofree char *grub = bu_xasprintf("%s/grub", dir);
	bu_autofree char *first_path = bu_xasprintf("%s/grub.cfg", grub);
	bu_autofree char *first = bu_grub_first();
	size_t count;
	const struct bu_boot_row *rows = bu_boot_rows(&count);

	if (bu_remove_tree(dir, err) != 0 || bu_mkdir_p(grub, 0700, err) != 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (rows[i].transport == BU_BY_TFTP &&
		    bu_boot_row_there(&rows[i], dirs) &&
		    link_row(dir, &rows[i], dirs, err) != 0)
			return -1;
	if (dirs->ramdisk && link_system(dir, dirs->ramdisk, err) != 0)
		return -1;
	return bu_file_write(first_path, first, strlen(first), 0644, err);
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
