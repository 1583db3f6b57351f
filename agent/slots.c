/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of agents; agent_upgrade.c fills and switches, session.c ends trials.
 * Invariant: `current` is replaced in one step, only by a slot that is whole and
 * synced, and only after `previous` names the slot that was current and `trial` lies
 * there to lead back.
 */
#include "agent/slots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"

enum { NAME_LENGTH = 16, TRIAL_MAX = 4096 };

const char *
bu_slots_dir(void)
{
	const char *dir = getenv("BRINGUP_SLOTS");

	return dir && *dir && getenv("BRINGUP_SLOT") ? dir : NULL;
}

int
bu_slots_running(struct bu_bundle *ret, struct bu_err *err)
{
	const char *dir = bu_slots_dir();
	bu_autofree char *slot = NULL;

	memset(ret, 0, sizeof(*ret));
	if (!dir)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "this agent lies in no slot; it came with its image");
	slot = bu_xasprintf("%s/%s", dir, getenv("BRINGUP_SLOT"));
	return bu_bundle_load(slot, ret, err);
}

/* "slots/8c2f0a11d0cf1b22"; owned. */
static char *
slot_of(const struct bu_bundle *bundle)
{
	return bu_xasprintf("slots/%.*s", NAME_LENGTH, bundle->digest);
}

/* Where a link leads; "" = there is none. */
static void
read_link(const char *dir, const char *name, char ret[PATH_MAX])
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	ssize_t length = readlink(path, ret, PATH_MAX - 1);

	ret[length > 0 ? length : 0] = '\0';
}

static int
sync_dir(const char *path, struct bu_err *err)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "sync '%s'", path);
	return 0;
}

/* In one step, and on the disk. */
static int
put_link(const char *dir, const char *name, const char *target, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	bu_autofree char *beside = bu_xasprintf("%s.new", path);

	if ((unlink(beside) != 0 && errno != ENOENT) || symlink(target, beside) != 0 ||
	    rename(beside, path) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "link '%s'", path);
	return sync_dir(dir, err);
}

/* --- filling --- */

static int
is_content(const struct bu_bundle_file *file, const void *content, size_t size)
{
	char digest[BU_DIGEST_SIZE];

	if (!content || size != (size_t)file->size_bytes)
		return 0;
	bu_sha256_hex(content, size, digest);
	return strcmp(digest, file->sha256) == 0;
}

/* Of the slot that is current; owned, NULL when it has another one. */
static char *
content_here(const char *dir, const struct bu_bundle_file *file)
{
	bu_autofree char *path = bu_xasprintf("%s/current/%s", dir, file->path);
	size_t size = 0;
	bu_autofree char *content = bu_file_read(path, BU_BUNDLE_FILE_MAX, &size, NULL);

	return is_content(file, content, size) ? bu_steal(&content) : NULL;
}

static int
put_file(const char *dir, const char *into, const struct bu_bundle_file *file,
	 const struct bu_slot_source *source, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", into, file->path);
	bu_autofree char *folder = bu_path_folder(path);
	bu_autofree char *content = content_here(dir, file);

	if (!content) {
		content = source->fetch(source->arg, file, err);
		if (!content)
			return bu_err_wrap(err, "%s", file->path);
		if (!is_content(file, content, (size_t)file->size_bytes))
			return bu_err_set(err, BU_ERR_VERIFY, 0,
					  "%s: its bytes are not those of the signed "
					  "list",
					  file->path);
	}
	if (bu_mkdir_p(folder, 0755, err) != 0 ||
	    bu_file_write(path, content, (size_t)file->size_bytes, (mode_t)file->mode,
			  err) != 0)
		return -1;
	return 0;
}

/* It was filled before, by a change that did not come to its end. */
static int
is_filled(const char *slot, const struct bu_bundle *bundle)
{
	for (size_t i = 0; i < bundle->files_count; i++) {
		const struct bu_bundle_file *file = &bundle->files[i];
		bu_autofree char *path = bu_xasprintf("%s/%s", slot, file->path);
		char digest[BU_DIGEST_SIZE];

		if (bu_sha256_file(path, digest, NULL) != 0 ||
		    strcmp(digest, file->sha256) != 0)
			return 0;
	}
	return 1;
}

/* All in a folder of no slot's name, which gets it when it is whole. */
int
bu_slots_fill(const char *dir, const struct bu_bundle *bundle, const char *text,
	      const struct bu_slot_source *source, struct bu_err *err)
{
	bu_autofree char *name = slot_of(bundle);
	bu_autofree char *slot = bu_xasprintf("%s/%s", dir, name);
	bu_autofree char *slots = bu_xasprintf("%s/slots", dir);
	bu_autofree char *fresh = bu_xasprintf("%s/.new", slots);
	bu_autofree char *list = bu_xasprintf("%s/bundle.json", fresh);

	if (is_filled(slot, bundle))
		return 0;
	if (bu_remove_tree(fresh, err) != 0 || bu_mkdir_p(fresh, 0755, err) != 0)
		return -1;
	for (size_t i = 0; i < bundle->files_count; i++)
		if (put_file(dir, fresh, &bundle->files[i], source, err) != 0)
			return -1;
	if (bu_file_write(list, text, strlen(text), 0644, err) != 0 ||
	    sync_dir(fresh, err) != 0 || bu_remove_tree(slot, err) != 0)
		return -1;
	if (rename(fresh, slot) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "'%s'", slot);
	return sync_dir(slots, err);
}

/* --- the change --- */

int
bu_slots_switch(const char *dir, const struct bu_bundle *bundle, struct bu_err *err)
{
	bu_autofree char *slot = slot_of(bundle);
	bu_autofree char *trial = bu_xasprintf("%s/trial", dir);
	char now[PATH_MAX];

	read_link(dir, "current", now);
	if (!*now || strcmp(now, slot) == 0)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  *now ? "this agent runs already"
				       : "no agent is current in '%s'",
				  dir);
	if (bu_file_exists(trial))
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "this agent is on trial itself; the next one comes "
				  "after it");
	if (put_link(dir, "previous", now, err) != 0 ||
	    bu_file_write_text(trial, 0644, err, "%s %s\n", bundle->digest,
			       bundle->version) != 0 ||
	    put_link(dir, "current", slot, err) != 0)
		return -1;
	return 0;
}

/* --- the trial --- */

void
bu_slots_work(const char *dir, int done)
{
	const char *line = done ? "worked\n" : "work\n";
	bu_autofree char *path = bu_xasprintf("%s/trial", dir);
	bu_autoclose int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd >= 0)
		bu_ignore(bu_write_all(fd, line, strlen(line), NULL));
}

static void
remove_slots(const char *dir)
{
	bu_autofree char *slots = bu_xasprintf("%s/slots", dir);
	char current[PATH_MAX], previous[PATH_MAX];
	DIR *list = opendir(slots);
	const struct dirent *entry;

	read_link(dir, "current", current);
	read_link(dir, "previous", previous);
	while (list && (entry = readdir(list))) {
		bu_autofree char *name = bu_xasprintf("slots/%s", entry->d_name);
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0 && strcmp(name, current) != 0 &&
		    strcmp(name, previous) != 0)
			bu_ignore(bu_remove_tree(path, NULL));
	}
	if (list)
		closedir(list);
}

int
bu_slots_on_trial(const char *dir)
{
	bu_autofree char *path = bu_xasprintf("%s/trial", dir);

	return bu_file_exists(path);
}

void
bu_slots_settle(const char *dir)
{
	bu_autofree char *path = bu_xasprintf("%s/trial", dir);

	bu_info("slots", "the trial of this agent has ended well");
	if (unlink(path) != 0 || sync_dir(dir, NULL) != 0)
		bu_warn("slots", "'%s' stays: %s", path, strerror(errno));
	else
		remove_slots(dir);
}

json_t *
bu_slots_failed(const char *dir)
{
	bu_autofree char *path = bu_xasprintf("%s/back", dir);
	bu_autofree char *text = bu_file_read(path, TRIAL_MAX, NULL, NULL);
	char digest[BU_DIGEST_SIZE], version[BU_BUNDLE_VERSION_SIZE];

	if (!text || sscanf(text, "%64s %39s", digest, version) != 2)
		return NULL;
	return json_pack("{s:s,s:s,s:s}", "digest", digest, "version", version, "why",
			 strstr(text, "\nsilent\n") ? "silent" : "ended");
}

void
bu_slots_told(const char *dir)
{
	bu_autofree char *path = bu_xasprintf("%s/back", dir);

	if (unlink(path) != 0 && errno != ENOENT)
		bu_warn("slots", "'%s' stays: %s", path, strerror(errno));
}
