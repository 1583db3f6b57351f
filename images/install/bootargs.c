/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites one line in the file of each boot loader; called by target.c while
 * installing and by the agent in the installed system. Invariant: each file is the old
 * one or the new one at any moment, and a machine that loses power in between boots.
 */
#include "images/install/bootargs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mdraid.h"
#include "base/sysroot.h"
#include "base/text.h"

enum { FILE_MAX = 65536 };

/* Each names the arguments in a line that begins so. GRUB reads its line as a shell
 * does. */
static const struct {
	const char *path, *before;
	int shell;
} loaders[] = {
	{"syslinux.cfg", " APPEND ", 0},
	{"EFI/debian/grub.cfg", "linux /vmlinuz bringup.esp=$esp ", 1},
};

/* Where the line begins, behind `before`; NULL without such a line. */
static const char *
find_line(const char *text, const char *before)
{
	const char *at = text;

	while (at && strncmp(at, before, strlen(before)) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at ? at + strlen(before) : NULL;
}

/* The image's own arguments; "" when the image has none to add to. */
static char *
read_base(const char *esp_dir, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/kargs", esp_dir);
	char *text;

	if (!bu_file_exists(path)) {
		bu_err_set(err, BU_ERR_STATE, 0,
			   "the image has no file /kargs in its system partition and "
			   "takes no kernel arguments; build it again");
		return NULL;
	}
	text = bu_file_read(path, FILE_MAX, NULL, err);
	if (text)
		text[strcspn(text, "\r\n")] = '\0';
	return text;
}

static int
rewrite(const char *esp_dir, size_t which, const char *line, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", esp_dir, loaders[which].path);
	bu_autofree char *text = NULL, *fresh = NULL, *escaped = NULL;
	const char *at, *end;

	text = bu_file_read(path, FILE_MAX, NULL, err);
	if (!text)
		return -1;
	at = find_line(text, loaders[which].before);
	if (!at)
		return bu_err_set(err, BU_ERR_STATE, 0, "%s has no line '%s'",
				  loaders[which].path, loaders[which].before);
	if (loaders[which].shell)
		line = escaped = bu_text_grub(line);
	end = at + strcspn(at, "\r\n");
	fresh = bu_xasprintf("%.*s%s%s", (int)(at - text), text, line, end);
	if (strcmp(fresh, text) == 0)
		return 0;
	return bu_file_write(path, fresh, strlen(fresh), 0755, err);
}

static int
check_line(const char *line, struct bu_err *err)
{
	if (strlen(line) > BU_BOOTARGS_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "kernel arguments: %zu characters with the image's; "
				  "the kernel takes %d",
				  strlen(line), BU_BOOTARGS_MAX);
	for (const char *p = line; *p; p++)
		if ((unsigned char)*p < ' ')
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "kernel arguments: a control character");
	return 0;
}

int
bu_bootargs_write(const char *esp_dir, const char *kargs, struct bu_err *err)
{
	struct bu_err why = {0};
	bu_autofree char *base = read_base(esp_dir, &why), *line = NULL;

	if (!base && why.kind == BU_ERR_STATE && !kargs[0])
		return 0;
	if (!base) {
		if (err)
			*err = why;
		return -1;
	}
	line = bu_xasprintf("%s%s%s", base, kargs[0] ? " " : "", kargs);
	if (check_line(line, err))
		return -1;
	for (size_t i = 0; i < BU_LEN(loaders); i++)
		if (rewrite(esp_dir, i, line, err))
			return -1;
	return 0;
}

char *
bu_bootargs_line(const char *esp_dir, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", esp_dir, loaders[0].path);
	bu_autofree char *text = bu_file_read(path, FILE_MAX, NULL, err);
	const char *at = text ? find_line(text, loaders[0].before) : NULL;

	if (text && !at)
		bu_err_set(err, BU_ERR_STATE, 0, "%s has no line '%s'", loaders[0].path,
			   loaders[0].before);
	return at ? bu_xstrndup(at, strcspn(at, "\r\n")) : NULL;
}

/* What a shell makes of it; in place. */
static void
unescape(char *line)
{
	char *to = line;

	for (const char *from = line; *from; from++) {
		from += *from == '\\' && from[1];
		*to++ = *from;
	}
	*to = '\0';
}

/* What another loader has instead of the first one's line; owned, NULL = all agree. */
static char *
odd_line(const char *esp_dir, const char *line)
{
	for (size_t i = 1; i < BU_LEN(loaders); i++) {
		bu_autofree char *text =
			bu_sysroot_read(esp_dir, FILE_MAX, NULL, "%s", loaders[i].path);
		const char *at = text ? find_line(text, loaders[i].before) : NULL;
		bu_autofree char *other =
			at ? bu_xstrndup(at, strcspn(at, "\r\n")) : NULL;

		if (other && loaders[i].shell)
			unescape(other);
		if (other && strcmp(other, line) != 0)
			return bu_steal(&other);
	}
	return NULL;
}

char *
bu_bootargs_read(const char *esp_dir, struct bu_err *err)
{
	bu_autofree char *base = read_base(esp_dir, err);
	bu_autofree char *line = base ? bu_bootargs_line(esp_dir, err) : NULL;
	bu_autofree char *odd = line ? odd_line(esp_dir, line) : NULL;
	size_t skip;

	if (!line)
		return NULL;
	skip = strlen(base);
	if (odd) /* whatever it begins with: that is not as it was written */
		return bu_xstrdup(odd + (strncmp(odd, base, skip) == 0
						 ? skip + (odd[skip] == ' ')
						 : 0));
	if (strncmp(line, base, skip) != 0) {
		bu_err_set(err, BU_ERR_STATE, 0,
			   "%s does not begin with the image's arguments",
			   loaders[0].path);
		return NULL;
	}
	return bu_xstrdup(line + skip + (line[skip] == ' '));
}

/* --- the partition --- */

static int
mounted(const char *device, unsigned long flags,
	int (*fn)(const char *esp_dir, void *arg, struct bu_err *err), void *arg,
	struct bu_err *err)
{
	char dir[] = "/run/bringup-esp-XXXXXX";
	int rc;

	if (!mkdtemp(dir))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", dir);
	/* quiet: FAT has no modes to set. */
	if (mount(device, dir, "vfat", MS_NOSUID | MS_NODEV | MS_NOEXEC | flags,
		  "quiet")) {
		rc = bu_err_set(err, BU_ERR_IO, errno, "mount %s", device);
	} else {
		rc = fn(dir, arg, err);
		sync();
		if (umount(dir) && !rc)
			rc = bu_err_set(err, BU_ERR_IO, errno, "umount %s", device);
	}
	rmdir(dir);
	return rc;
}

int
bu_bootargs_mounted(const char *device,
		    int (*fn)(const char *esp_dir, void *arg, struct bu_err *err),
		    void *arg, struct bu_err *err)
{
	return mounted(device, 0, fn, arg, err);
}

int
bu_bootargs_looked(const char *device,
		   int (*fn)(const char *esp_dir, void *arg, struct bu_err *err),
		   void *arg, struct bu_err *err)
{
	return mounted(device, MS_RDONLY, fn, arg, err);
}

/* The partition with this name of the disk with this folder in /sys, if it has one. */
static void
add_esp(const char *disk, const char *name, struct bu_bootargs_esps *esps)
{
	bu_autofree char *wanted = bu_xasprintf("PARTNAME=%s\n", name);
	struct dirent *entry;
	DIR *list = opendir(disk);

	while (list && esps->count < BU_LEN(esps->devices) && (entry = readdir(list))) {
		bu_autofree char *path =
			bu_xasprintf("%s/%s/uevent", disk, entry->d_name);
		bu_autofree char *text =
			bu_file_exists(path) ? bu_file_read(path, FILE_MAX, NULL, NULL)
					     : NULL;

		if (!text || !find_line(text, wanted))
			continue;
		esps->devices[esps->count++] = bu_xasprintf("/dev/%s", entry->d_name);
		break;
	}
	if (list)
		closedir(list);
}

/* Half of an array (by its name, vda3) that failed in service is still among its
 * slaves; nothing can be written to its disk. */
static int
is_failed(const char *device, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/md/dev-%s/state", device, name);
	bu_autofree char *state = bu_file_read(path, FILE_MAX, NULL, NULL);

	return state && !strstr(state, "in_sync");
}

/* One of two roots has a system partition of its own. */
static const char *
esp_beside(const char *device)
{
	bu_autofree char *path = bu_xasprintf("%s/uevent", device);
	bu_autofree char *text = bu_file_read(path, FILE_MAX, NULL, NULL);

	if (text && find_line(text, "PARTNAME=root-a\n"))
		return "ESP-a";
	return text && find_line(text, "PARTNAME=root-b\n") ? "ESP-b" : "ESP";
}

void
bu_bootargs_find(const char *device, struct bu_bootargs_esps *ret)
{
	bu_autofree char *slaves = bu_xasprintf("%s/slaves", device);
	struct dirent **names = NULL;
	int count = scandir(slaves, &names, NULL, alphasort);

	*ret = (struct bu_bootargs_esps){0};
	for (int i = 0; i < count; i++) {
		bu_autofree char *disk =
			bu_xasprintf("%s/%s/..", slaves, names[i]->d_name);

		if (names[i]->d_name[0] != '.' && !is_failed(device, names[i]->d_name))
			add_esp(disk, "ESP", ret);
		free(names[i]);
	}
	free(names);
	if (count < 0) {
		bu_autofree char *disk = bu_xasprintf("%s/..", device);

		add_esp(disk, esp_beside(device), ret);
	}
}

struct halves {
	const char *root, *array, *disk;
	struct bu_md ours; /* of the half that the array has */
	int is_known;
	struct bu_bootargs_esps *found;
};

static int
is_slave(const struct halves *halves, const char *part)
{
	return bu_sysroot_exists(halves->root, "sys/block/%s/slaves/%s", halves->array,
				 part);
}

static void
visit_slave(const char *part, void *arg)
{
	struct halves *halves = arg;
	bu_autofree char *path = bu_sysroot_real(
		halves->root, "sys/block/%s/slaves/%s/..", halves->array, part);
	const char *disk = path ? strrchr(path, '/') + 1 : "";
	bu_autofree char *device =
		bu_xasprintf("%s/sys/block/%s", halves->root, halves->array);

	if (!halves->is_known && !is_failed(device, part))
		halves->is_known =
			bu_md_read(halves->root, disk, part, &halves->ours) == 0;
}

static void
visit_part(const char *part, void *arg)
{
	struct halves *halves = arg;
	bu_autofree char *text =
		bu_sysroot_read(halves->root, FILE_MAX, NULL, "sys/block/%s/%s/uevent",
				halves->disk, part);
	bu_autofree char *disk =
		bu_xasprintf("%s/sys/block/%s", halves->root, halves->disk);
	struct bu_md half;

	if (text && find_line(text, "PARTNAME=bringup-root\n") &&
	    !is_slave(halves, part) &&
	    bu_md_read(halves->root, halves->disk, part, &half) == 0 &&
	    memcmp(half.uuid, halves->ours.uuid, sizeof(half.uuid)) == 0)
		add_esp(disk, "ESP", halves->found);
}

static void
visit_disk(const char *disk, void *arg)
{
	struct halves *halves = arg;

	halves->disk = disk;
	bu_sysroot_each(halves->root, visit_part, halves, "sys/block/%s", disk);
}

void
bu_bootargs_left_out(const char *root, const char *array, struct bu_bootargs_esps *ret)
{
	struct halves halves = {.root = root, .array = array, .found = ret};

	*ret = (struct bu_bootargs_esps){0};
	bu_sysroot_each(root, visit_slave, &halves, "sys/block/%s/slaves", array);
	if (halves.is_known)
		bu_sysroot_each(root, visit_disk, &halves, "sys/block");
}

/* Its folder in /sys; owned. */
static char *
device_of_root(struct bu_err *err)
{
	struct stat st;

	if (stat("/", &st) == 0)
		return bu_xasprintf("/sys/dev/block/%u:%u", major(st.st_dev),
				    minor(st.st_dev));
	bu_err_set(err, BU_ERR_IO, errno, "/");
	return NULL;
}

static int
find_esps(struct bu_bootargs_esps *ret, struct bu_bootargs_esps *ret_left,
	  struct bu_err *err)
{
	bu_autofree char *device = device_of_root(err), *real = NULL;

	*ret = *ret_left = (struct bu_bootargs_esps){0};
	if (!device)
		return -1;
	bu_bootargs_find(device, ret);
	if (!ret->count)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "the disk of / has no system partition of bringup");
	real = bu_sysroot_real("", "%s", device + 1);
	if (real)
		bu_bootargs_left_out("", strrchr(real, '/') + 1, ret_left);
	return 0;
}

struct change {
	const char *kargs;
	char **ret_old;
};

static int
change_mounted(const char *esp_dir, void *arg, struct bu_err *err)
{
	const struct change *change = arg;
	char *old = bu_bootargs_read(esp_dir, err);

	if (!old)
		return -1;
	/* Of two files the first tells what is there: a change that was cut off in
	 * between is made whole. */
	if (change->kargs && bu_bootargs_write(esp_dir, change->kargs, err)) {
		free(old);
		return -1;
	}
	if (change->ret_old)
		*change->ret_old = old;
	else
		free(old);
	return 0;
}

/* A disk that the array has left out may be the one whose loader starts next; the
 * array does not wait for it. */
static void
change_left_out(struct bu_bootargs_esps *left, const char *kargs)
{
	struct change change = {kargs, NULL};

	for (size_t i = 0; i < left->count; i++) {
		struct bu_err err = {0};

		if (kargs && bu_bootargs_mounted(left->devices[i], change_mounted,
						 &change, &err) != 0)
			bu_warn("bootargs",
				"%s is of a disk that was left out of the mirror, and "
				"keeps its kernel arguments: %s",
				left->devices[i], err.text);
		free(left->devices[i]);
	}
}

/* Where it is mounted for writing, too, it cannot be for reading alone. */
static int
change_or_look(const char *device, struct change *change, struct bu_err *err)
{
	if (!change->kargs &&
	    bu_bootargs_looked(device, change_mounted, change, NULL) == 0)
		return 0;
	return bu_bootargs_mounted(device, change_mounted, change, err);
}

int
bu_bootargs_system(const char *kargs, char **ret_old, struct bu_err *err)
{
	struct change change = {kargs, ret_old};
	struct bu_bootargs_esps esps, left;
	int rc = find_esps(&esps, &left, err);

	for (size_t i = 0; i < esps.count; i++) {
		if (!rc && (i == 0 || kargs))
			rc = change_or_look(esps.devices[i], &change, err);
		change.ret_old = NULL; /* as the first has it */
		free(esps.devices[i]);
	}
	change_left_out(&left, rc ? NULL : kargs);
	return rc;
}

char *
bu_bootargs_boot(struct bu_err *err)
{
	bu_autofree char *device = device_of_root(err), *disk = NULL;
	struct bu_bootargs_esps esps = {0};

	if (!device)
		return NULL;
	disk = bu_xasprintf("%s/..", device);
	add_esp(disk, "ESP", &esps);
	if (!esps.count)
		bu_err_set(err, BU_ERR_NOTFOUND, 0,
			   "the disk of / has no boot partition of bringup");
	return esps.devices[0];
}
