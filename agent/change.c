/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journaled change of files; configure.c is the only caller. Invariant: before a
 * file is touched its old content is on the disk, and change.json is written last and
 * goes first, so that a journal that can be read is complete.
 */
#include "agent/change.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"

enum { FILE_MAX = 4 * 1024 * 1024, LINK_MAX = 4096 };

static const char folder[] = "/var/lib/bringup/change";

/* The path of a file below the change's root; owned. */
static char *
path_of(const struct bu_change *change, const char *path)
{
	return bu_xasprintf("%s%s", change->root, path);
}

/* 1 when the file is as it shall be. */
static int
holds(const struct bu_change *change, const struct bu_change_file *file)
{
	bu_autofree char *path = path_of(change, file->path);
	bu_autofree char *content = NULL;
	struct stat st;
	size_t size;

	if (lstat(path, &st) != 0)
		return !file->content;
	if (!file->content || !S_ISREG(st.st_mode) ||
	    (st.st_mode & 07777) != file->mode)
		return 0;
	content = bu_file_read(path, FILE_MAX, &size, NULL);
	return content && size == file->size &&
	       memcmp(content, file->content, size) == 0;
}

int
bu_change_add(struct bu_change *change, const struct bu_change_file *file,
	      struct bu_err *err)
{
	if (!bu_path_is_file(file->path))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "'%s' is not a clean absolute path", file->path);
	if (holds(change, file))
		return 0;
	change->files = bu_xgrow(change->files, &change->cap, change->count + 1,
				 sizeof(*change->files));
	change->files[change->count++] = *file;
	return 0;
}

static int
is_kept(const char *path, const struct bu_change_file *keep, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(keep[i].path, path) == 0)
			return 1;
	return 0;
}

/* What makes a kind of file hold: the group of those that the pattern is about. */
static const char *
group_of(const char *path)
{
	static const char *const groups[][2] = {
		{"/etc/systemd/network/", "network"},
		{"/etc/NetworkManager/", "network"},
		{"/etc/netplan/", "network"},
		{"/etc/bringup/rxe", "network"},
		{"/etc/sysctl.d/", "sysctl"},
		{"/etc/tmpfiles.d/", "tmpfiles"},
		{"/etc/modules-load.d/", "modules"},
		{"/etc/chrony/", "time"},
		{"/etc/bringup/passwd", "access"},
		{"/etc/bringup/group", "access"},
		{"/etc/ssh/sshd_config.d/", "access"},
		{"/etc/ssh/bringup_user_ca.pub", "access"},
	};

	for (size_t i = 0; i < BU_LEN(groups); i++)
		if (strncmp(path, groups[i][0], strlen(groups[i][0])) == 0)
			return groups[i][1];
	return "";
}

void
bu_change_add_old(struct bu_change *change, const char *pattern,
		  const struct bu_change_file *keep, size_t count)
{
	bu_autofree char *below = path_of(change, pattern);
	glob_t found = {0};

	if (bu_path_is_file(pattern) && glob(below, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			char *path =
				bu_xstrdup(found.gl_pathv[i] + strlen(change->root));
			struct bu_change_file gone = {.path = path,
						      .apply = group_of(path)};

			change->names = bu_xgrow(change->names, &change->names_cap,
						 change->names_count + 1,
						 sizeof(*change->names));
			change->names[change->names_count++] = path;
			if (!is_kept(path, keep, count))
				/* A name that no profile can give is not ours. */
				bu_ignore(bu_change_add(change, &gone, NULL));
		}
	}
	globfree(&found);
}

char *
bu_change_present(const struct bu_change *change, const char *path)
{
	bu_autofree char *full = path_of(change, path);

	return bu_file_read(full, FILE_MAX, NULL, NULL);
}

/* {"path",...} of what stands there now; its content goes into the journal. */
static json_t *
keep_old(const struct bu_change *change, const char *path, size_t number,
	 struct bu_err *err)
{
	bu_autofree char *full = path_of(change, path);
	bu_autofree char *content = NULL, *copy = NULL;
	char target[LINK_MAX] = "";
	struct stat st;
	size_t size;

	if (lstat(full, &st) != 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return json_pack("{s:s}", "path", path);
		bu_err_set(err, BU_ERR_IO, errno, "'%s'", path);
		return NULL;
	}
	if (S_ISLNK(st.st_mode)) {
		if (readlink(full, target, sizeof(target) - 1) < 0)
			bu_err_set(err, BU_ERR_IO, errno, "'%s'", path);
		else
			return json_pack("{s:s,s:s}", "path", path, "link", target);
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		bu_err_set(err, BU_ERR_STATE, 0, "'%s' exists and is not a file", path);
		return NULL;
	}
	content = bu_file_read(full, FILE_MAX, &size, err);
	copy = bu_xasprintf("%s%s/%zu", change->root, folder, number);
	if (!content || bu_file_write(copy, content, size, 0600, err) != 0)
		return NULL;
	return json_pack("{s:s,s:i,s:I,s:I,s:I}", "path", path, "mode",
			 (int)(st.st_mode & 07777), "uid", (json_int_t)st.st_uid, "gid",
			 (json_int_t)st.st_gid, "old", (json_int_t)number);
}

static int
write_journal(struct bu_change *change, json_t *journal, struct bu_err *err)
{
	bu_autofree char *dir = path_of(change, folder);
	bu_autofree char *path = bu_xasprintf("%s/change.json", dir);
	bu_autofree char *text = NULL;
	json_t *files = json_array();

	json_object_set_new(journal, "v", json_integer(1));
	json_object_set_new(journal, "files", files);
	if (bu_mkdir_p(dir, 0700, err) != 0)
		return -1;
	for (size_t i = 0; i < change->count; i++) {
		json_t *file = keep_old(change, change->files[i].path, i, err);

		if (!file)
			return -1;
		json_array_append_new(files, file);
	}
	text = json_dumps(journal, JSON_INDENT(1));
	return bu_file_write(path, text, strlen(text), 0600, err);
}

int
bu_change_begin(struct bu_change *change, json_t *head, struct bu_err *err)
{
	if (write_journal(change, head, err) != 0) {
		json_decref(head);
		bu_ignore(bu_change_close(change, NULL));
		return bu_err_wrap(err, "keep the old files");
	}
	change->journal = head;
	return 0;
}

static int
remove_file(const struct bu_change *change, const char *path, struct bu_err *err)
{
	bu_autofree char *full = path_of(change, path);

	if (unlink(full) != 0 && errno != ENOENT && errno != ENOTDIR)
		return bu_err_set(err, BU_ERR_IO, errno, "remove '%s'", path);
	return 0;
}

static int
put_file(const struct bu_change *change, const char *path, const void *content,
	 size_t size, mode_t mode, struct bu_err *err)
{
	bu_autofree char *full = path_of(change, path);
	bu_autofree char *dir = bu_xstrndup(full, (size_t)(strrchr(full, '/') - full));

	if (bu_mkdir_p(*dir ? dir : "/", 0755, err) != 0)
		return -1;
	return bu_file_write(full, content, size, mode, err);
}

int
bu_change_write(const struct bu_change *change, struct bu_err *err)
{
	for (size_t i = 0; i < change->count; i++) {
		const struct bu_change_file *file = &change->files[i];
		int rc = file->content ? put_file(change, file->path, file->content,
						  file->size, file->mode, err)
				       : remove_file(change, file->path, err);

		if (rc != 0)
			return -1;
	}
	return 0;
}

int
bu_change_load(struct bu_change *change)
{
	bu_autofree char *dir = path_of(change, folder);
	bu_autofree char *path = bu_xasprintf("%s/change.json", dir);

	if (!bu_file_exists(path))
		return 0;
	change->journal = bu_json_load(path, NULL);
	return change->journal != NULL;
}

char *
bu_change_old(const struct bu_change *change, const json_t *file, size_t *ret_size,
	      struct bu_err *err)
{
	bu_autofree char *copy = bu_xasprintf("%s%s/%lld", change->root, folder,
					      (long long)bu_json_int(file, "old", -1));

	return bu_file_read(copy, FILE_MAX, ret_size, err);
}

static int
restore_link(const struct bu_change *change, const char *path, const char *target,
	     struct bu_err *err)
{
	bu_autofree char *full = path_of(change, path);

	if (remove_file(change, path, err) != 0)
		return -1;
	if (symlink(target, full) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "link '%s'", path);
	return 0;
}

static int
restore_file(const struct bu_change *change, const json_t *file, struct bu_err *err)
{
	const char *path = bu_json_str(file, "path", "");
	const char *target = bu_json_str(file, "link", NULL);
	int64_t number = bu_json_int(file, "old", -1);
	bu_autofree char *full = path_of(change, path);
	bu_autofree char *content = NULL;
	size_t size;

	if (target)
		return restore_link(change, path, target, err);
	if (number < 0)
		return remove_file(change, path, err);
	content = bu_change_old(change, file, &size, err);
	if (!content || put_file(change, path, content, size,
				 (mode_t)bu_json_int(file, "mode", 0644), err) != 0)
		return -1;
	if (chown(full, (uid_t)bu_json_int(file, "uid", 0),
		  (gid_t)bu_json_int(file, "gid", 0)) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "chown '%s'", path);
	return 0;
}

int
bu_change_restore(const struct bu_change *change, struct bu_err *err)
{
	int rc = 0;
	size_t i;
	json_t *file;

	/* One that cannot be put back must not keep the others away. */
	json_array_foreach (json_object_get(change->journal, "files"), i, file)
		if (restore_file(change, file, rc == 0 ? err : NULL) != 0)
			rc = -1;
	return rc;
}

int
bu_change_close(struct bu_change *change, struct bu_err *err)
{
	bu_autofree char *dir = path_of(change, folder);
	bu_autofree char *path = bu_xasprintf("%s/change.json", dir);

	bu_autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	json_decref(change->journal);
	change->journal = NULL;
	/* Once it was reported, a power cut must not bring it back. */
	if ((unlink(path) != 0 && errno != ENOENT) || (fd >= 0 && fsync(fd) != 0))
		return bu_err_set(err, BU_ERR_IO, errno, "remove '%s'", path);
	return bu_remove_tree(dir, err);
}

void
bu_change_fini(struct bu_change *change)
{
	for (size_t i = 0; i < change->names_count; i++)
		free(change->names[i]);
	free(change->names);
	free(change->files);
	json_decref(change->journal);
	memset(change, 0, sizeof(*change));
}
