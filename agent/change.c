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
#include "model/applied.h"

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
		{"/etc/sssd/", "access"},
	};

	for (size_t i = 0; i < BU_LEN(groups); i++)
		if (strncmp(path, groups[i][0], strlen(groups[i][0])) == 0)
			return groups[i][1];
	return "";
}

const char *
bu_change_own(struct bu_change *change, char *text)
{
	change->texts = bu_xgrow(change->texts, &change->texts_cap,
				 change->texts_count + 1, sizeof(*change->texts));
	change->texts[change->texts_count++] = text;
	return text;
}

void
bu_change_add_old(struct bu_change *change, const char *pattern,
		  const struct bu_change_file *keep, size_t count)
{
	bu_autofree char *below = path_of(change, pattern);
	glob_t found = {0};

	if (bu_path_is_file(pattern) && glob(below, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++) {
			const char *path =
				bu_change_own(change, bu_xstrdup(found.gl_pathv[i] +
								 strlen(change->root)));
			struct bu_change_file gone = {.path = path,
						      .apply = group_of(path)};

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

/* The path of the journal's file `number`; owned. */
static char *
copy_of(const struct bu_change *change, int64_t number)
{
	return bu_xasprintf("%s%s/%lld", change->root, folder, (long long)number);
}

static int
keep_link(struct bu_change *change, const char *full, struct bu_note_file *ret,
	  struct bu_err *err)
{
	char target[LINK_MAX] = "";

	if (readlink(full, target, sizeof(target) - 1) < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "'%s'", ret->path);
	ret->was = BU_WAS_LINK;
	ret->link = bu_change_own(change, bu_xstrdup(target));
	return 0;
}

/* What stands there now; its content goes into the journal. */
static int
keep_old(struct bu_change *change, int64_t number, struct bu_note_file *ret,
	 struct bu_err *err)
{
	bu_autofree char *full = path_of(change, ret->path);
	bu_autofree char *copy = copy_of(change, number);
	bu_autofree char *content = NULL;
	struct stat st;
	size_t size;

	if (lstat(full, &st) != 0) {
		ret->was = BU_WAS_NOTHING;
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : bu_err_set(err, BU_ERR_IO, errno, "'%s'", ret->path);
	}
	if (S_ISLNK(st.st_mode))
		return keep_link(change, full, ret, err);
	if (!S_ISREG(st.st_mode))
		return bu_err_set(err, BU_ERR_STATE, 0, "'%s' exists and is not a file",
				  ret->path);
	ret->was = BU_WAS_FILE;
	ret->old = number;
	ret->mode = st.st_mode & 07777;
	ret->uid = st.st_uid;
	ret->gid = st.st_gid;
	content = bu_file_read(full, FILE_MAX, &size, err);
	return content ? bu_file_write(copy, content, size, 0600, err) : -1;
}

static int
keep_all(struct bu_change *change, struct bu_note *note, struct bu_err *err)
{
	note->files = bu_xcalloc(change->count, sizeof(*note->files));
	for (size_t i = 0; i < change->count; i++) {
		note->files[i] = (struct bu_note_file){.path = change->files[i].path,
						       .old = -1,
						       .mode = -1,
						       .uid = -1,
						       .gid = -1};
		note->files_count = i + 1;
		if (keep_old(change, (int64_t)i, &note->files[i], err) != 0)
			return -1;
	}
	return 0;
}

/* As a later start would read it: a path that does not survive that is not touched. */
static int
read_back(struct bu_change *change, struct bu_err *err)
{
	if (bu_note_from_json(change->journal_json, &change->journal, err) != 0)
		return -1;
	change->has_journal = 1;
	for (size_t i = 0; i < change->count; i++)
		if (strcmp(change->journal.files[i].path, change->files[i].path) != 0)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "the path '%s' is not valid UTF-8",
					  change->journal.files[i].path);
	return 0;
}

static int
write_journal(struct bu_change *change, struct bu_note *note, struct bu_err *err)
{
	bu_autofree char *dir = path_of(change, folder);
	bu_autofree char *path = bu_xasprintf("%s/change.json", dir);
	bu_autofree char *text = NULL;

	if (bu_mkdir_p(dir, 0700, err) != 0 || keep_all(change, note, err) != 0)
		return -1;
	change->journal_json = bu_note_to_json(note);
	if (read_back(change, err) != 0)
		return -1;
	text = json_dumps(change->journal_json, JSON_INDENT(1));
	return bu_file_write(path, text, strlen(text), 0600, err);
}

int
bu_change_begin(struct bu_change *change, struct bu_note *note, struct bu_err *err)
{
	if (write_journal(change, note, err) == 0)
		return 0;
	bu_ignore(bu_change_close(change, NULL));
	return bu_err_wrap(err, "keep the old files");
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
	bu_autofree char *dir = bu_path_folder(full);

	if (bu_mkdir_p(dir, 0755, err) != 0)
		return -1;
	return bu_file_write(full, content, size, mode, err);
}

static int
write_files(const struct bu_change *change, int record, struct bu_err *err)
{
	for (size_t i = 0; i < change->count; i++) {
		const struct bu_change_file *file = &change->files[i];
		int rc = 0;

		if ((strcmp(file->path, BU_APPLIED_PATH) == 0) == record)
			rc = file->content ? put_file(change, file->path, file->content,
						      file->size, file->mode, err)
					   : remove_file(change, file->path, err);
		if (rc != 0)
			return -1;
	}
	return 0;
}

int
bu_change_write(const struct bu_change *change, struct bu_err *err)
{
	return write_files(change, 0, err);
}

int
bu_change_write_record(const struct bu_change *change, struct bu_err *err)
{
	return write_files(change, 1, err);
}

int
bu_change_load(struct bu_change *change, struct bu_err *err)
{
	bu_autofree char *dir = path_of(change, folder);
	bu_autofree char *path = bu_xasprintf("%s/change.json", dir);

	if (!bu_file_exists(path))
		return 0;
	change->journal_json = bu_json_load(path, err);
	if (!change->journal_json ||
	    bu_note_from_json(change->journal_json, &change->journal, err) != 0)
		return bu_err_wrap(err,
				   "put the files right by hand and remove '%s': the "
				   "journal of the last change cannot be read, so no "
				   "file was touched",
				   dir);
	change->has_journal = 1;
	return 0;
}

char *
bu_change_old(const struct bu_change *change, const struct bu_note_file *file,
	      size_t *ret_size, struct bu_err *err)
{
	bu_autofree char *copy = copy_of(change, file->old);

	return file->was == BU_WAS_FILE ? bu_file_read(copy, FILE_MAX, ret_size, err)
					: NULL;
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
restore_content(const struct bu_change *change, const struct bu_note_file *file,
		struct bu_err *err)
{
	bu_autofree char *full = path_of(change, file->path);
	bu_autofree char *content = NULL;
	size_t size;

	content = bu_change_old(change, file, &size, err);
	if (!content ||
	    put_file(change, file->path, content, size, (mode_t)file->mode, err) != 0)
		return -1;
	if (chown(full, (uid_t)file->uid, (gid_t)file->gid) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "chown '%s'", file->path);
	return 0;
}

static int
restore_file(const struct bu_change *change, const struct bu_note_file *file,
	     struct bu_err *err)
{
	switch (file->was) {
	case BU_WAS_NOTHING:
		return remove_file(change, file->path, err);
	case BU_WAS_FILE:
		return restore_content(change, file, err);
	case BU_WAS_LINK:
		return restore_link(change, file->path, file->link, err);
	}
	return -1;
}

int
bu_change_restore(const struct bu_change *change, struct bu_err *err)
{
	int rc = 0;

	/* One that cannot be put back must not keep the others away. */
	for (size_t i = 0; i < change->journal.files_count; i++)
		if (restore_file(change, &change->journal.files[i],
				 rc == 0 ? err : NULL) != 0)
			rc = -1;
	return rc;
}

static void
forget_journal(struct bu_change *change)
{
	if (change->has_journal)
		bu_note_fini(&change->journal);
	json_decref(change->journal_json);
	change->journal_json = NULL;
	change->has_journal = 0;
}

int
bu_change_close(struct bu_change *change, struct bu_err *err)
{
	bu_autofree char *dir = path_of(change, folder);
	bu_autofree char *path = bu_xasprintf("%s/change.json", dir);

	bu_autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	forget_journal(change);
	/* Once it was reported, a power cut must not bring it back. */
	if ((unlink(path) != 0 && errno != ENOENT) || (fd >= 0 && fsync(fd) != 0))
		return bu_err_set(err, BU_ERR_IO, errno, "remove '%s'", path);
	return bu_remove_tree(dir, err);
}

void
bu_change_fini(struct bu_change *change)
{
	for (size_t i = 0; i < change->texts_count; i++)
		free(change->texts[i]);
	free(change->texts);
	free(change->files);
	forget_journal(change);
	memset(change, 0, sizeof(*change));
}
