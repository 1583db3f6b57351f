/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Called by the session after each greeting, so that what is encrypted is there before
 * the node gets work. cryptsetup does it, by a script (images/build/recipes/volume).
 * Invariant: a key is in memory and in a pipe, in no file and in no argument.
 */
#include "agent/volumes.h"

#include <blkid.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/worker.h"

#define WANTED "/etc/bringup/volumes"
#define SCRIPT "/usr/lib/bringup/volume"

enum { CALL_MS = 20000, OPEN_MS = 300000, FILE_MAX = 65536 };

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

/* "/dev/vda3"; owned. NULL when no disk has it. */
static char *
find_partition(const char *root, const char *guid)
{
	bu_autofree char *dir = bu_xasprintf("%s/sys/class/block", root);
	struct dirent *entry;
	DIR *list = opendir(dir);
	char *found = NULL;

	while (list && !found && (entry = readdir(list))) {
		bu_autofree char *mark =
			bu_xasprintf("%s/%s/partition", dir, entry->d_name);
		bu_autofree char *device =
			bu_xasprintf("%s/dev/%s", root, entry->d_name);

		for (char *p = device + strlen(root) + 5; *p; p++)
			if (*p == '!') /* sysfs' way to write '/' */
				*p = '/';
		if (bu_file_exists(mark) && is_partition(device, guid))
			found = bu_steal(&device);
	}
	if (list)
		closedir(list);
	return found;
}

static int
open_one(const char *root, const struct volume *volume, const char *key,
	 struct bu_err *err)
{
	bu_autofree char *script = bu_xasprintf("%s" SCRIPT, root);
	bu_autofree char *device = find_partition(root, volume->guid);
	const char *argv[] = {script,        device, volume->name, volume->fs,
			      volume->place, root,   NULL};
	struct bu_job_opts opts = {
		.argv = argv, .input = key, .deadline_ms = OPEN_MS, .secret = 1};
	bu_autofree char *said = NULL;
	char *rest, *line;

	if (!*key)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "volume %s: the appliance has no key for it",
				  volume->name);
	if (!device)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "volume %s: no disk has its partition %s",
				  volume->name, volume->guid);
	if (bu_job_run(&opts, &said, err) != 0)
		return bu_err_wrap(err, "volume %s", volume->name);
	rest = said;
	while ((line = strsep(&rest, "\n")))
		if (*line)
			bu_info("volumes", "%s", line);
	return 0;
}

static int
open_all(const char *root, char *lines, const json_t *keys, struct bu_err *err)
{
	char *line;
	int rc = 0;

	while ((line = strsep(&lines, "\n"))) {
		struct volume volume;

		if (*line == '#' ||
		    sscanf(line, "%39s %39s %15s %255[^\n]", volume.guid, volume.name,
			   volume.fs, volume.place) != 4)
			continue;
		if (open_one(root, &volume, bu_json_str(keys, volume.guid, ""),
			     rc ? NULL : err) != 0)
			rc = -1;
	}
	return rc;
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

int
bu_volumes_open(const char *root, struct bu_http *http, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s" WANTED, root);
	bu_autofree char *lines = bu_file_read(path, FILE_MAX, NULL, NULL);
	bu_autojson json_t *body = json_object(), *reply = NULL;
	json_t *keys;
	int rc;

	if (!lines)
		return 0;
	if (bu_http_json(
		    http,
		    &(struct bu_http_call){"POST", "/v1/agent/volumes", body, CALL_MS},
		    &reply, err) != 0)
		return bu_err_wrap(err, "keys of encrypted volumes");
	keys = json_object_get(reply, "keys");
	rc = open_all(root, lines, keys, err);
	forget(keys);
	return rc;
}
