/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot entries in efivarfs; the agent calls it after an install. Invariants: what is
 * written or deleted is named "bringup" and starts a disk's removable loader; the list
 * names a new entry before an old one goes, so that at any moment it leads to a disk.
 * What firmware has written may be anything: an entry that cannot be understood is left
 * as it is.
 */
#include "images/install/bootvars.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "images/install/bootoption.h"

#define GLOBAL "-8be4df61-93ca-11d2-aa0d-00e098032b8c"
enum {
	NUMBERS = 65536,
	VAR_MAX = 65536,
	VAR_HEAD = 4,       /* efivarfs: the variable's attributes */
	VAR_ATTRIBUTES = 7, /* kept, for boot services and for the system */
};

struct list {
	const char *dir;
	uint8_t kind[NUMBERS]; /* enum bu_bootoption */
	uint16_t *order;
	size_t count;
	int ours[2]; /* the entries of the system that was installed */
	size_t ours_count;
	char *old; /* BootOrder as it was, without the head */
	size_t old_size;
};

static char *
path_of(const char *dir, const char *name)
{
	return bu_xasprintf("%s/%s" GLOBAL, dir, name);
}

/* Without the head; NULL = there is none (BU_ERR_NOTFOUND), or it cannot be read.
 * Owned.
 */
static char *
read_var(const char *dir, const char *name, size_t *ret_size, struct bu_err *err)
{
	bu_autofree char *path = path_of(dir, name);
	size_t size = 0;
	bu_autofree char *data = bu_file_read(path, VAR_MAX, &size, err);

	*ret_size = 0;
	if (!data)
		return NULL;
	if (size < VAR_HEAD) {
		bu_err_set(err, BU_ERR_IO, 0, "%s has %zu bytes", name, size);
		return NULL;
	}
	*ret_size = size - VAR_HEAD;
	memmove(data, data + VAR_HEAD, *ret_size);
	return bu_steal(&data);
}

/* Linux protects variables from being removed by mistake. */
static void
unprotect(const char *path)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	int flags;

	if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 &&
	    (flags & FS_IMMUTABLE_FL)) {
		flags &= ~FS_IMMUTABLE_FL;
		bu_ignore(ioctl(fd, FS_IOC_SETFLAGS, &flags));
	}
}

/* efivarfs takes a variable in one write, whole. */
static int
write_var(const char *dir, const char *name, const void *data, size_t size,
	  struct bu_err *err)
{
	bu_autofree char *path = path_of(dir, name);
	bu_autofree uint8_t *all = bu_xcalloc(1, VAR_HEAD + size);
	bu_autoclose int fd = -1;

	all[0] = VAR_ATTRIBUTES;
	memcpy(all + VAR_HEAD, data, size);
	unprotect(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, all, VAR_HEAD + size) != (ssize_t)(VAR_HEAD + size) ||
	    ftruncate(fd, (off_t)(VAR_HEAD + size)) != 0)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "the firmware does not take %s; order its boot "
				  "entries by hand: network, then disk",
				  name);
	return 0;
}

static int
remove_var(const char *dir, const char *name, struct bu_err *err)
{
	bu_autofree char *path = path_of(dir, name);

	unprotect(path);
	if (unlink(path) != 0 && errno != ENOENT)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "the firmware does not let %s go", name);
	return 0;
}

/* The number in "Boot0001-8be4..."; -1 = it is another variable. */
static int
number_of(const char *name)
{
	if (strncmp(name, "Boot", 4) != 0)
		return -1;
	for (int i = 4; i < 8; i++)
		if (!isdigit((unsigned char)name[i]) &&
		    !(name[i] >= 'A' && name[i] <= 'F'))
			return -1;
	return strcmp(name + 8, GLOBAL) == 0 ? (int)strtol(name + 4, NULL, 16) : -1;
}

static void
name_of(unsigned number, char ret[9])
{
	snprintf(ret, 9, "Boot%04X", number & 0xffff);
}

static int
read_entries(struct list *list, struct bu_err *err)
{
	DIR *dir = opendir(list->dir);
	struct dirent *entry;

	if (!dir)
		return bu_err_set(err, BU_ERR_IO, errno, "'%s'", list->dir);
	while ((entry = readdir(dir)) != NULL) {
		int number = number_of(entry->d_name);
		char name[9];
		size_t size = 0;

		if (number < 0)
			continue;
		name_of((unsigned)number, name);
		bu_autofree char *option = read_var(list->dir, name, &size, NULL);

		list->kind[number] = (uint8_t)(option ? bu_bootoption_kind(option, size)
						      : BU_BOOT_OTHER);
	}
	closedir(dir);
	return 0;
}

/* A number in the list without an entry is taken, too: it is not ours to give. */
static void
take_named(struct list *list)
{
	for (size_t i = 0; i + 2 <= list->old_size; i += 2)
		if (list->kind[bu_bootoption_le16(list->old + i)] == BU_BOOT_NONE)
			list->kind[bu_bootoption_le16(list->old + i)] = BU_BOOT_OTHER;
}

static int
is_used(const struct list *list, int number)
{
	for (size_t i = 0; i < list->ours_count; i++)
		if (list->ours[i] == number)
			return 1;
	return 0;
}

static int
find_kind(const struct list *list, enum bu_bootoption kind)
{
	for (int i = 0; i < NUMBERS; i++)
		if (list->kind[i] == kind && !is_used(list, i))
			return i;
	return -1;
}

/* Old entries of ours are used again, else the first numbers that are free. */
static int
choose(struct list *list, size_t count, struct bu_err *err)
{
	while (list->ours_count < count) {
		int number = find_kind(list, BU_BOOT_OURS);

		if (number < 0)
			number = find_kind(list, BU_BOOT_NONE);
		if (number < 0)
			return bu_err_set(err, BU_ERR_IO, 0,
					  "the firmware has no free boot entry");
		list->ours[list->ours_count++] = number;
	}
	return 0;
}

static void
add(struct list *list, unsigned number)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->order[i] == number)
			return;
	list->order[list->count++] = (uint16_t)number;
}

static void
add_kind(struct list *list, enum bu_bootoption kind)
{
	for (size_t i = 0; i + 2 <= list->old_size; i += 2)
		if (list->kind[bu_bootoption_le16(list->old + i)] == kind)
			add(list, bu_bootoption_le16(list->old + i));
}

/* First what this boot came by, which is proven; when that is no card (the firmware's
 * shell), all cards in their order. Then the disk, then all else: each card that gets
 * no answer costs a minute. A machine that boots from a medium needs no card, and who
 * answers them may be another team: its disk is first. */
static void
arrange(struct list *list, int from_medium)
{
	size_t size = 0;
	bu_autofree char *current = read_var(list->dir, "BootCurrent", &size, NULL);

	if (!from_medium && size >= 2 &&
	    list->kind[bu_bootoption_le16(current)] == BU_BOOT_NETWORK)
		add(list, bu_bootoption_le16(current));
	else if (!from_medium)
		add_kind(list, BU_BOOT_NETWORK);
	for (size_t i = 0; i < list->ours_count; i++)
		add(list, (unsigned)list->ours[i]);
	for (size_t i = 0; i + 2 <= list->old_size; i += 2)
		if (list->kind[bu_bootoption_le16(list->old + i)] != BU_BOOT_OURS)
			add(list, bu_bootoption_le16(list->old + i));
}

/* Variables are in flash: what is there already is not written again. */
static int
put_var(const char *dir, const char *name, const char *data, size_t size,
	struct bu_err *err)
{
	size_t old_size = 0;
	bu_autofree char *old = read_var(dir, name, &old_size, NULL);

	if (old && old_size == size && memcmp(old, data, size) == 0)
		return 0;
	return write_var(dir, name, data, size, err);
}

static int
write_order(const struct list *list, struct bu_err *err)
{
	bu_autofree char *data = bu_xmalloc(2 * list->count);

	for (size_t i = 0; i < list->count; i++)
		bu_bootoption_put(data + 2 * i, list->order[i], 2);
	return put_var(list->dir, "BootOrder", data, 2 * list->count, err);
}

static int
remove_stale(const struct list *list, struct bu_err *err)
{
	char name[9];

	for (int i = 0; i < NUMBERS; i++) {
		if (list->kind[i] != BU_BOOT_OURS || is_used(list, i))
			continue;
		name_of((unsigned)i, name);
		if (remove_var(list->dir, name, err) != 0)
			return -1;
	}
	return 0;
}

static char *
words_of(const struct list *list)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out);
	for (size_t i = 0; i < list->count; i++)
		fprintf(out, "%s%04X%s", i ? ", " : "", list->order[i],
			is_used(list, list->order[i])                   ? " bringup"
			: list->kind[list->order[i]] == BU_BOOT_NETWORK ? " network"
									: "");
	fclose(out);
	return text;
}

/* One that cannot be read is not replaced: it may be good. */
static int
read_order(struct list *list, struct bu_err *err)
{
	struct bu_err why = {0};

	list->old = read_var(list->dir, "BootOrder", &list->old_size, &why);
	if (list->old || why.kind == BU_ERR_NOTFOUND)
		return 0;
	return bu_err_set(err, BU_ERR_IO, 0,
			  "the firmware's BootOrder cannot be read, and its boot "
			  "entries stay as they are; order them by hand: %s",
			  why.text);
}

static int
put_entries(const struct list *list, const struct bu_gpt_esps *esps, struct bu_err *err)
{
	char option[BU_BOOTOPTION_SIZE], name[9];

	for (size_t i = 0; i < esps->count; i++) {
		bu_bootoption_make(&esps->list[i], option);
		name_of((unsigned)list->ours[i], name);
		if (put_var(list->dir, name, option, sizeof(option), err) != 0)
			return -1;
	}
	return 0;
}

static int
order(struct list *list, const struct bu_gpt_esps *esps, int from_medium,
      char **ret_words, struct bu_err *err)
{
	if (read_entries(list, err) != 0 || read_order(list, err) != 0)
		return -1;
	take_named(list);
	if (choose(list, esps->count, err) != 0)
		return -1;
	/* All of before, ours, and a card that was not in the list. */
	list->order = bu_xcalloc(list->old_size / 2 + 3, sizeof(*list->order));
	arrange(list, from_medium);
	if (put_entries(list, esps, err) != 0 || write_order(list, err) != 0 ||
	    remove_stale(list, err) != 0)
		return -1;
	*ret_words = words_of(list);
	return 0;
}

int
bu_bootvars_there(const char *dir)
{
	bu_autofree char *path = path_of(dir, "BootOrder");

	return bu_file_exists(path);
}

int
bu_bootvars_order(const char *dir, const struct bu_gpt_esps *esps, int from_medium,
		  char **ret_words, struct bu_err *err)
{
	struct list *list = bu_xcalloc(1, sizeof(*list));
	int rc;

	list->dir = dir;
	rc = order(list, esps, from_medium, ret_words, err);
	free(list->order);
	free(list->old);
	free(list);
	return rc;
}

/* A system that is installed is installed, whatever the firmware says to this. */
void
bu_bootvars_installed(const char *const disks[2], int from_medium)
{
	struct bu_gpt_esps esps = {.count = disks[1] ? 2 : 1};
	bu_autofree char *words = NULL;
	struct bu_err err = {0};

	if (!bu_bootvars_there(BU_BOOTVARS_DIR))
		return;
	if (bu_gpt_find_esp(disks[0], &esps.list[0], &err) != 0 ||
	    (disks[1] && bu_gpt_find_esp(disks[1], &esps.list[1], &err) != 0) ||
	    bu_bootvars_order(BU_BOOTVARS_DIR, &esps, from_medium, &words, &err) != 0)
		bu_warn("install", "boot entries: %s", err.text);
	else
		bu_info("install", "the firmware boots from: %s", words);
}
