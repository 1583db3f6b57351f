/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel names of disks are given anew at each boot: what was granted for one disk may
 * find another one under its name. Called before an install. Invariant: an order that
 * knows its disk is carried out on no other, and a number that two disks of the machine
 * tell, or a placeholder, is neither's.
 */
#include "agent/granted.h"

#include <string.h>

#include "agent/disks.h"
#include "base/json.h"
#include "base/sysroot.h"
#include "base/text.h"
#include "model/disk_own.h"

/* All disks of the machine as they tell of themselves. */
struct machine {
	const char *root;
	struct bu_disk *disks;
	size_t count;
};

static void
visit_disk(const char *name, void *arg)
{
	struct machine *machine = arg;
	bu_autofree char *path = bu_xasprintf("/dev/%s", name);
	struct bu_disk disk;

	for (char *p = path; *p; p++)
		if (*p == '!') /* sysfs' way to write '/' */
			*p = '/';
	if (bu_disk_identify(machine->root, path, &disk, NULL) != 0)
		return;
	machine->disks = bu_xrealloc(machine->disks,
				     (machine->count + 1) * sizeof(*machine->disks));
	machine->disks[machine->count++] = disk;
}

/* "S1", or "(none), as it tells PDNM, which /dev/sda, /dev/sdb tell"; owned. */
static char *
number_words(const struct machine *machine, const struct bu_disk *disk,
	     const struct bu_disk *raw)
{
	char *text = bu_disk_number_words(disk->serial, disk->wwn);
	size_t tell = 0;
	bu_autofree char *tellers =
		bu_disk_tellers(machine->disks, machine->count, raw->serial, "", &tell);

	if (*raw->serial && !*disk->serial)
		bu_text_add(&text, "", "; its %s identifies nothing: %s tell%s it",
			    raw->serial, tell ? tellers : raw->path,
			    tell > 1 ? "" : "s");
	return text;
}

/* Is the disk at this path the one that was known by these? */
static int
check_numbers(const char *root, const char *path, const char *serial, const char *wwn,
	      struct bu_err *err)
{
	struct machine machine = {.root = root};
	bu_autofree struct bu_disk *raw = NULL, *own = NULL;
	bu_autofree char *seen = NULL, *granted = NULL;
	size_t at = 0;

	bu_sysroot_each(root, visit_disk, &machine, "sys/block");
	raw = machine.disks;
	own = bu_xcalloc(machine.count + 1, sizeof(*own));
	if (machine.count)
		memcpy(own, raw, machine.count * sizeof(*own));
	bu_disks_own(own, machine.count);
	while (at < machine.count && strcmp(own[at].path, path) != 0)
		at++;
	if (at == machine.count)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no disk %s", path);
	if (bu_disk_agrees(&own[at], serial, wwn))
		return 0;
	seen = number_words(&machine, &own[at], &raw[at]);
	granted = *bu_disk_number(serial, wwn) ? bu_disk_number_words(serial, wwn)
					       : bu_xstrdup("one without");
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "disk %s has serial number %s; the order is for %s; nothing "
			  "was written, plan again",
			  path, seen, granted);
}

/* The signed mark names each disk that may be written. */
static int
is_marked(const struct bu_work_install *work, const char *number)
{
	bu_autojson json_t *mark =
		bu_json_parse(work->mark.text, strlen(work->mark.text), "mark", NULL);
	json_t *name;
	size_t i;

	json_array_foreach (json_object_get(mark, "disks"), i, name)
		if (json_is_string(name) &&
		    strcmp(json_string_value(name), number) == 0)
			return 1;
	return 0;
}

/* A further disk is known by a number of its own, or it is not written. */
static int
check_member(const char *root, const struct bu_work_install *work,
	     const struct bu_work_member *member, const char *what, struct bu_err *err)
{
	const char *number = bu_disk_number(member->serial, member->wwn);

	if (check_numbers(root, member->path, member->serial, member->wwn, err) != 0)
		return bu_err_wrap(err, "%s", what);
	if (!is_marked(work, number))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "%s: the order's signed mark does not name disk %s; "
				  "nothing was written",
				  what, number);
	return 0;
}

static int
check_members(const char *root, const struct bu_work_install *work, struct bu_err *err)
{
	for (size_t i = 0; i < work->scratch_count; i++)
		if (check_member(root, work, &work->scratch[i], "array", err) != 0)
			return -1;
	return 0;
}

static int
check_mirror(const char *root, const struct bu_work_install *work, struct bu_err *err)
{
	struct bu_work_member mirror = {.guid = ""};

	if (!work->mirror[0])
		return 0;
	BU_TEXT_COPY(mirror.path, work->mirror);
	BU_TEXT_COPY(mirror.serial, work->mirror_serial);
	BU_TEXT_COPY(mirror.wwn, work->mirror_wwn);
	return check_member(root, work, &mirror, "mirror", err);
}

static int
check_system(const char *root, const struct bu_work_install *work, struct bu_err *err)
{
	const char *path = work->disk, *serial = work->disk_serial;
	const char *wwn = work->disk_wwn ? work->disk_wwn : "";
	int64_t size_bytes = work->disk_size_bytes;
	struct bu_disk disk = {.path = ""};

	if (*bu_disk_number(serial, wwn))
		return check_numbers(root, path, serial, wwn, err);
	if (!size_bytes)
		return 0;
	if (bu_disk_identify(root, path, &disk, err) != 0)
		return -1;
	if (size_bytes != disk.size_bytes)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "disk %s has %lld bytes; the order is for one of "
				  "%lld; nothing was written, plan again",
				  path, (long long)disk.size_bytes,
				  (long long)size_bytes);
	return 0;
}

int
bu_granted_check(const char *root, const struct bu_work_install *work,
		 struct bu_err *err)
{
	return check_system(root, work, err) || check_mirror(root, work, err) ||
			       check_members(root, work, err)
		       ? -1
		       : 0;
}
