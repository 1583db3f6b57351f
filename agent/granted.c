/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel names of disks are given anew at each boot: what was granted for one disk may
 * find another one under its name. Called before an install. Invariant: an order that
 * knows its disk is carried out on no other.
 */
#include "agent/granted.h"

#include <string.h>

#include "agent/disks.h"
#include "base/json.h"
#include "base/text.h"

/* The signed mark names each disk that may be written. */
static int
is_marked(const struct bu_work_install *work, const char *serial)
{
	bu_autojson json_t *mark =
		bu_json_parse(work->mark.text, strlen(work->mark.text), "mark", NULL);
	json_t *name;
	size_t i;

	json_array_foreach (json_object_get(mark, "disks"), i, name)
		if (json_is_string(name) &&
		    strcmp(json_string_value(name), serial) == 0)
			return 1;
	return 0;
}

/* A further disk is known by its serial number, or it is not written. */
static int
check_member(const char *root, const struct bu_work_install *work,
	     const struct bu_work_member *member, const char *what, struct bu_err *err)
{
	struct bu_disk disk = {.path = ""};

	if (bu_disk_identify(root, member->path, &disk, err) != 0)
		return bu_err_wrap(err, "%s", what);
	if (!*member->serial || strcmp(member->serial, disk.serial) != 0)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "%s: disk %s has serial number %s; the order is "
				  "for %s; nothing was written, plan again",
				  what, member->path,
				  disk.serial[0] ? disk.serial : "(none)",
				  *member->serial ? member->serial : "one without");
	if (!is_marked(work, member->serial))
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "%s: the order's signed mark does not name disk %s; "
				  "nothing was written",
				  what, member->serial);
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
	return check_member(root, work, &mirror, "mirror", err);
}

static int
check_system(const char *root, const struct bu_work_install *work, struct bu_err *err)
{
	const char *path = work->disk, *serial = work->disk_serial;
	int64_t size_bytes = work->disk_size_bytes;
	struct bu_disk disk = {.path = ""};

	if (!*serial && !size_bytes)
		return 0;
	if (bu_disk_identify(root, path, &disk, err) != 0)
		return -1;
	if (*serial && strcmp(serial, disk.serial) != 0)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "disk %s has serial number %s; the order is for %s; "
				  "nothing was written, plan again",
				  path, disk.serial[0] ? disk.serial : "(none)",
				  serial);
	if (!*serial && size_bytes != disk.size_bytes)
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
