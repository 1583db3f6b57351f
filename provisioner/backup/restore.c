/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Restores a backup. Called by the program's main(). Everything is made and verified in
 * STATE.restore beside the state directory, which takes its name at the very end.
 * Invariant: at any moment there is no state directory, or a whole one; killed, a
 * restore is simply begun again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/secret.h"
#include "provisioner/backup/backup.h"

enum { KEY_MAX = 1024 * 1024 };

/* Its name without slashes at the end; owned. */
static char *
plain_name(const char *path)
{
	char *name = bu_xstrdup(path);
	size_t length = strlen(name);

	while (length > 1 && name[length - 1] == '/')
		name[--length] = '\0';
	return name;
}

static int
check_free(const char *state, struct bu_err *err)
{
	bu_autofree char *log = bu_xasprintf("%s/journal.db", state);
	bu_autofree char *lock = bu_xasprintf("%s.lock", log);
	DIR *folder = opendir(state);
	struct dirent *entry;
	int found = 0, fd;

	if (!folder)
		return errno == ENOENT
			       ? 0
			       : bu_err_set(err, BU_ERR_STATE, errno, "'%s'", state);
	while ((entry = readdir(folder)))
		found |= strcmp(entry->d_name, ".") != 0 &&
			 strcmp(entry->d_name, "..") != 0;
	closedir(folder);
	if (!found)
		return 0;
	fd = open(lock, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "a bringupd runs on '%s'; stop it, and restore into "
				  "another directory",
				  state);
	}
	if (fd >= 0)
		close(fd);
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "'%s' %s; move it away, or restore into another directory",
			  state, bu_file_exists(log) ? "has a log" : "is not empty");
}

/* The one line of the identity's file that is no comment; owned, for
 * bu_secret_free(). */
static char *
read_identity(const char *path, struct bu_err *err)
{
	bu_autofree char *file = bu_xasprintf("file:%s", path);
	size_t size = 0;
	char *text = path[0] == '/' && bu_secret_form_ok(file)
			     ? bu_secret_resolve(file, &size, err)
			     : bu_file_read(path, BU_SECRET_MAX, &size, err);
	char *at = text ? strstr(text, "bringup-identity-") : NULL;

	if (!text)
		return NULL;
	if (!at) {
		bu_secret_free(text, size);
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "'%s' has no identity; bringup backup keygen makes one",
			   path);
		return NULL;
	}
	at[strcspn(at, " \t\r\n")] = '\0';
	memmove(text, at, strlen(at) + 1);
	return text;
}

static int
copy_key(const char *from, const char *to, const char *name, struct bu_err *err)
{
	bu_autofree char *source = bu_xasprintf("%s/%s", from, name);
	bu_autofree char *target = bu_xasprintf("%s/%s", to, name);
	struct stat st;
	size_t size;
	char *text;
	int rc;

	if (lstat(source, &st) != 0 || !S_ISREG(st.st_mode))
		return 0;
	text = bu_file_read(source, KEY_MAX, &size, err);
	if (!text)
		return -1;
	rc = bu_file_write(target, text, size, 0600, err);
	bu_secret_free(text, size);
	return rc;
}

static int
copy_keys(const char *from, const char *dir, struct bu_err *err)
{
	bu_autofree char *to = bu_xasprintf("%s/keys", dir);
	DIR *folder = opendir(from);
	struct dirent *entry;
	int rc = 0;

	if (!folder)
		return bu_err_set(err, BU_ERR_IO, errno, "open '%s'", from);
	if (bu_remove_tree(to, err) != 0 || bu_mkdir_p(to, 0700, err) != 0)
		rc = -1;
	while (rc == 0 && (entry = readdir(folder)))
		if (bu_path_is_name(entry->d_name))
			rc = copy_key(from, to, entry->d_name, err);
	closedir(folder);
	return rc;
}

/* An appliance without them would make new ones, which no node knows. */
static int
check_keys(const char *dir, struct bu_err *err)
{
	static const char *const needed[] = {"ca.key",   "ca.pem",     "sign.key",
					     "sign.pub", "server.key", "token.secret"};

	for (size_t i = 0; i < BU_LEN(needed); i++) {
		bu_autofree char *path = bu_xasprintf("%s/keys/%s", dir, needed[i]);

		if (!bu_file_exists(path))
			return bu_err_set(err, BU_ERR_NOTFOUND, 0,
					  "the key %s is not in the backup; give "
					  "--keys DIR, a copy of the appliance's keys",
					  needed[i]);
	}
	return 0;
}

static int
sync_path(const char *path, struct bu_err *err)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd >= 0 && (fsync(fd) == 0 || errno == EINVAL)
		       ? 0
		       : bu_err_set(err, BU_ERR_IO, errno, "sync '%s'", path);
}

/* All files of a folder, then the folder. */
static int
sync_folder(const char *dir, struct bu_err *err)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;
	int rc = 0;

	if (!folder)
		return bu_err_set(err, BU_ERR_IO, errno, "open '%s'", dir);
	while (rc == 0 && (entry = readdir(folder))) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, entry->d_name);

		if (entry->d_type == DT_REG)
			rc = sync_path(path, err);
	}
	closedir(folder);
	return rc == 0 ? sync_path(dir, err) : -1;
}

static int
put_in_place(const char *work, const char *state, struct bu_err *err)
{
	bu_autofree char *keys = bu_xasprintf("%s/keys", work);
	bu_autofree char *parent = bu_xasprintf("%s/..", state);

	if (sync_folder(keys, err) != 0 || sync_folder(work, err) != 0)
		return -1;
	/* Only over nothing, or an empty folder. */
	if (rename(work, state) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "rename '%s' to '%s'", work,
				  state);
	return sync_path(parent, err);
}

static void
tell_age(const struct bu_restored *restored, int64_t now_ms, FILE *out)
{
	int64_t minutes = (now_ms - restored->made_ms) / 60000;
	char at[24];

	bu_time_iso(restored->made_ms, at);
	fprintf(out, "site %s, backup of %s", *restored->site ? restored->site : "-",
		at);
	if (minutes >= 0)
		fprintf(out, " (%lld h %lld min ago)", (long long)minutes / 60,
			(long long)minutes % 60);
	fprintf(out, ", %lld rows, epoch %lld\n", (long long)restored->rows,
		(long long)restored->epoch);
	if (restored->has_keys)
		fprintf(out,
			"the log and its blobs are whole, signed by the key with the "
			"SHA-256 %s\n",
			restored->key);
	else
		fputs("the log and its blobs are whole; without the appliance's keys "
		      "(--keys DIR) nothing says that the log is this appliance's\n",
		      out);
	fprintf(out, "the last rows:\n%s", restored->last ? restored->last : "");
}

static void
tell_next(const char *state, int64_t epoch, FILE *out)
{
	fprintf(out,
		"restored into %s with epoch %lld\n"
		"what happened after the backup is not in it. Next:\n"
		"  1. keep the old appliance off: two would act on the same "
		"machines\n"
		"  2. copy %s/bringupd.conf to /etc/bringup, and correct its "
		"addresses\n"
		"  3. put images and ramdisk where it says; they are not in a backup\n"
		"  4. start bringupd; bringup status, bringup audit verify --anchor "
		"FILE\n"
		"     with the newest anchor of the syslog; retire again what that "
		"lists\n"
		"  5. nothing is switched until an agent confirms this epoch; if none "
		"can:\n"
		"     bringup site take-over\n",
		state, (long long)epoch, state);
}

static int
restore_in(const struct bu_restore_ask *ask, const char *work, const char *state,
	   FILE *out, struct bu_err *err)
{
	bu_autoclose int fd = open(ask->file, O_RDONLY | O_CLOEXEC);
	char *identity = read_identity(ask->identity, err);
	struct bu_restored restored = {0};
	int64_t epoch = 0;
	int rc = -1;

	if (identity && fd < 0)
		bu_err_set(err, BU_ERR_IO, errno, "open '%s'", ask->file);
	else if (identity && bu_unpack(fd, identity, work, err) != 0)
		bu_err_wrap(err, "%s", ask->file);
	else if (identity)
		rc = 0;
	if (identity)
		bu_secret_free(identity, strlen(identity));
	if (rc == 0 && ask->keys)
		rc = copy_keys(ask->keys, work, err);
	if (rc == 0 && !ask->dry_run)
		rc = check_keys(work, err);
	if (rc == 0) {
		rc = bu_backup_check(work, ask->now_ms, &restored,
				     ask->dry_run ? NULL : &epoch, err);
		if (rc != 0)
			bu_err_wrap(err, "%s", ask->file);
	}
	if (rc == 0 && !ask->dry_run)
		rc = put_in_place(work, state, err);
	if (rc == 0) {
		tell_age(&restored, ask->now_ms, out);
		if (!ask->dry_run)
			tell_next(state, epoch, out);
	}
	bu_restored_fini(&restored);
	return rc;
}

/* The folder for the work, held by a lock; -1. */
static int
begin_work(const char *work, struct bu_err *err)
{
	int fd = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		return bu_err_set(err, BU_ERR_STATE, 0, "another restore works in '%s'",
				  work);
	}
	if (fd >= 0)
		close(fd);
	/* One before that was killed. */
	if (bu_remove_tree(work, err) != 0)
		return -1;
	if (mkdir(work, 0700) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "make the folder '%s'", work);
	fd = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
		bu_err_set(err, BU_ERR_IO, errno, "lock '%s'", work);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	return fd;
}

int
bu_restore(const struct bu_restore_ask *ask, FILE *out, struct bu_err *err)
{
	bu_autofree char *state = plain_name(ask->state);
	bu_autofree char *work = bu_xasprintf("%s.restore", state);
	bu_autoclose int lock = -1;
	int rc;

	if (!ask->dry_run && check_free(state, err) != 0)
		return -1;
	lock = begin_work(work, err);
	if (lock < 0)
		return -1;
	rc = restore_in(ask, work, state, out, err);
	if (rc != 0 || ask->dry_run)
		bu_ignore(bu_remove_tree(work, NULL));
	return rc;
}
