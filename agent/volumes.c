/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Called by main at the start of an installed system, for what the machine's TPM opens,
 * and by the session after each greeting, so that what is encrypted is there before the
 * node gets work. cryptsetup does it, by a script (images/build/recipes/volume).
 * Invariant: a key is in memory and in a pipe, in no file and in no argument.
 */
#include "agent/volumes.h"

#include <blkid.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/sysroot.h"
#include "base/worker.h"
#include "model/work.h"

#define WANTED "/etc/bringup/volumes"
#define SEALED "/run/bringup/volumes"
#define CLOSED "/run/bringup/volumes.closed" /* why one is, for the audit */
#define SCRIPT "/usr/lib/bringup/volume"

enum { CALL_MS = 20000, OPEN_MS = 300000, OPEN_TIB_MS = 900000, FILE_MAX = 65536 };

struct volume {
	char guid[40], name[40], fs[16], place[256];
};

static int
is_partition(const char *device, const char *guid)
{
	bu_autoclose int fd = open(device, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	blkid_probe probe = blkid_new_probe();
	const char *word;
	int same = 0;

	if (probe && fd >= 0 && blkid_probe_set_device(probe, fd, 0, 0) == 0) {
		blkid_probe_enable_superblocks(probe, 0);
		blkid_probe_enable_partitions(probe, 1);
		blkid_probe_set_partitions_flags(probe, BLKID_PARTS_ENTRY_DETAILS);
		same = blkid_do_safeprobe(probe) >= 0 &&
		       blkid_probe_lookup_value(probe, "PART_ENTRY_UUID", &word,
						NULL) == 0 &&
		       strcasecmp(word, guid) == 0;
	}
	blkid_free_probe(probe);
	return same;
}

/* "/dev/vda3"; owned. NULL when no disk has it, or two have: an old disk beside the one
 * that it was copied to. */
static char *
find_partition(const char *root, const struct volume *volume, struct bu_err *err)
{
	bu_autofree char *dir = bu_xasprintf("%s/sys/class/block", root);
	struct dirent *entry;
	DIR *list = opendir(dir);
	char *found = NULL;
	int twice = 0;

	while (list && !twice && (entry = readdir(list))) {
		bu_autofree char *mark =
			bu_xasprintf("%s/%s/partition", dir, entry->d_name);
		bu_autofree char *device =
			bu_xasprintf("%s/dev/%s", root, entry->d_name);

		for (char *p = device + strlen(root) + 5; *p; p++)
			if (*p == '!') /* sysfs' way to write '/' */
				*p = '/';
		if (!bu_file_exists(mark) || !is_partition(device, volume->guid))
			continue;
		twice = found != NULL;
		if (twice)
			bu_err_set(err, BU_ERR_STATE, 0,
				   "volume %s: %s and %s have the same GUID; take the "
				   "disk out that is not this system's",
				   volume->name, found, device);
		else
			found = bu_steal(&device);
	}
	if (list)
		closedir(list);
	if (!found)
		bu_err_set(err, BU_ERR_NOTFOUND, 0,
			   "volume %s: no disk has its partition %s", volume->name,
			   volume->guid);
	if (twice)
		free(bu_steal(&found));
	return found;
}

int64_t
bu_volume_limit_ms(const char *device)
{
	bu_autoclose int fd = open(device, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

	return OPEN_MS + (size > 0 ? ((int64_t)size >> 30) * OPEN_TIB_MS >> 10 : 0);
}

/* key: NULL = there is none, and the TPM may do. */
static int
open_one(const char *root, const struct volume *volume, const char *key,
	 struct bu_err *err)
{
	bu_autofree char *script = bu_xasprintf("%s" SCRIPT, root);
	bu_autofree char *device = find_partition(root, volume, err);
	const char *argv[] = {script,        device, volume->name, volume->fs,
			      volume->place, root,   NULL};
	struct bu_job_opts opts = {.argv = argv, .input = key ? key : "", .secret = 1};
	bu_autofree char *said = NULL;
	char *rest, *line;

	if (key && !*key)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "volume %s: the appliance has no key for it",
				  volume->name);
	if (!device)
		return -1;
	opts.deadline_ms = bu_volume_limit_ms(device);
	if (bu_job_run(&opts, &said, err) != 0)
		return bu_err_wrap(err, "volume %s", volume->name);
	rest = said;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			bu_info("volumes", "%s", line);
	return 0;
}

/* -1: that is not known. */
static int
is_mounted(const char *root, const struct volume *volume)
{
	struct bu_sysroot_mount found;

	return bu_sysroot_mounted(root, volume->place, &found) == 0
		       ? found.fs[0] != '\0'
		       : -1;
}

static int
is_for_tpm(const char *root)
{
	bu_autofree char *path = bu_xasprintf("%s" WANTED ".tpm", root);

	return bu_file_exists(path);
}

/* It is open, and where the TPM is to open it, that can. */
static int
is_settled(const char *root, const struct volume *volume)
{
	bu_autofree char *mark = bu_xasprintf("%s" SEALED "/%s", root, volume->name);

	return is_mounted(root, volume) > 0 &&
	       (!is_for_tpm(root) || bu_file_exists(mark));
}

/* Those that are not settled. */
static size_t
read_volumes(const char *root, char *lines, struct volume ret[BU_WORK_DATA_MAX])
{
	size_t count = 0;
	char *line;

	while (count < BU_WORK_DATA_MAX && (line = strsep(&lines, "\n"))) {
		struct volume *volume = &ret[count];

		count += *line != '#' &&
			 sscanf(line, "%39s %39s %15s %255[^\n]", volume->guid,
				volume->name, volume->fs, volume->place) == 4 &&
			 !is_settled(root, volume);
	}
	return count;
}

/* Nobody writes to the system's disk where a volume belongs that is not open. Not every
 * file system can keep root from it. */
static void
seal(const char *root, const struct volume *volume)
{
	bu_autofree char *place = bu_xasprintf("%s%s", root, volume->place);
	bu_autoclose int fd = -1;
	int flags;

	if (is_mounted(root, volume) != 0)
		return;
	if (bu_mkdir_p(place, 0755, NULL) == 0)
		fd = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0)
		flags = 0;
	if (flags & FS_IMMUTABLE_FL)
		return;
	flags |= FS_IMMUTABLE_FL;
	if (fd < 0 || fchmod(fd, 0) != 0 || ioctl(fd, FS_IOC_SETFLAGS, &flags) != 0)
		bu_warn("volumes", "%s can be written to while it is closed", place);
}

/* Jansson frees what it has as it is. */
static void
forget(json_t *keys)
{
	const char *guid;
	json_t *key;

	json_object_foreach (keys, guid, key)
		if (json_is_string(key))
			explicit_bzero((char *)(uintptr_t)json_string_value(key),
				       json_string_length(key));
}

/* New reference. */
static json_t *
ask(struct bu_http *http, const struct volume *volumes, size_t count,
    struct bu_err *err)
{
	bu_autojson json_t *guids = json_array();
	bu_autojson json_t *body = json_pack("{s:O}", "guids", guids);
	json_t *reply = NULL;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(guids, json_string(volumes[i].guid));
	if (bu_http_json(
		    http,
		    &(struct bu_http_call){"POST", "/v1/agent/volumes", body, CALL_MS},
		    &reply, err) != 0)
		bu_err_wrap(err, "keys of encrypted volumes");
	return reply;
}

/* Its check says it, and with the check the node's reason. */
static void
note_closed(const char *root, const char *why)
{
	bu_autofree char *path = bu_xasprintf("%s" CLOSED, root);
	bu_autofree char *folder = bu_xasprintf("%s/run/bringup", root);
	struct bu_err err = {0};

	if (!why)
		unlink(path);
	else if (bu_mkdir_p(folder, 0755, &err) ||
		 bu_file_write_text(path, 0644, &err, "%s\n", why))
		bu_warn("volumes", "%s", err.text);
}

static int
open_all(const char *root, struct bu_http *http, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s" WANTED, root);
	bu_autofree char *lines = bu_file_read(path, FILE_MAX, NULL, NULL);
	struct volume volumes[BU_WORK_DATA_MAX];
	size_t count = lines ? read_volumes(root, lines, volumes) : 0;
	bu_autojson json_t *reply = NULL;
	json_t *keys;
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		seal(root, &volumes[i]);
	if (!count || (!http && !is_for_tpm(root)))
		return 0;
	reply = http ? ask(http, volumes, count, err) : NULL;
	if (http && !reply)
		return -1;
	keys = json_object_get(reply, "keys");
	for (size_t i = 0; i < count; i++) {
		const char *key = bu_json_str(keys, volumes[i].guid, "");

		if (open_one(root, &volumes[i], http ? key : NULL, rc ? NULL : err))
			rc = -1;
	}
	forget(keys);
	return rc;
}

int
bu_volumes_open(const char *root, struct bu_http *http, struct bu_err *err)
{
	struct bu_err why = {0};
	int rc = open_all(root, http, &why);

	note_closed(root, rc ? why.text : NULL);
	if (rc && err)
		*err = why;
	return rc;
}
