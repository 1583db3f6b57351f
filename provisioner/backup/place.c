/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a state directory comes to be: all of it is made and verified in STATE.restore
 * beside it, which takes its name at the very end. Called by restore.c and init.c.
 * Invariant: at any moment there is no state directory, or a whole one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/secret.h"
#include "provisioner/backup/backup.h"

enum { KEY_MAX = 1024 * 1024 };

/* An appliance without them would make new ones, which no node knows. The last name is
 * NULL. */
const char *const bu_place_keys[] = {
	"ca.key", "ca.pem", "sign.key", "sign.pub", "server.key", "token.secret", NULL};

/* The place's name without slashes at the end; owned. */
char *
bu_place_name(const char *path)
{
	char *name = bu_xstrdup(path);
	size_t length = strlen(name);

	while (length > 1 && name[length - 1] == '/')
		name[--length] = '\0';
	return name;
}

int
bu_place_check_free(const char *state, struct bu_err *err)
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
				  "a bringupd runs on '%s'; stop it, or name "
				  "another directory",
				  state);
	}
	if (fd >= 0)
		close(fd);
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "'%s' %s; move it away, or name another directory", state,
			  bu_file_exists(log) ? "has a log" : "is not empty");
}

/* The one line of the identity's file that is no comment; owned, for
 * bu_secret_free(). */
char *
bu_place_identity(const char *path, struct bu_err *err)
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

int
bu_place_copy_keys(const char *from, const char *dir, struct bu_err *err)
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

int
bu_place_check_keys(const char *dir, struct bu_err *err)
{
	for (size_t i = 0; bu_place_keys[i]; i++) {
		bu_autofree char *path =
			bu_xasprintf("%s/keys/%s", dir, bu_place_keys[i]);

		if (!bu_file_exists(path))
			return bu_err_set(err, BU_ERR_NOTFOUND, 0,
					  "the key %s is not in the backup; give "
					  "--keys DIR, a copy of the appliance's keys",
					  bu_place_keys[i]);
	}
	return 0;
}

int
bu_place_sync(const char *path, struct bu_err *err)
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
			rc = bu_place_sync(path, err);
	}
	closedir(folder);
	return rc == 0 ? bu_place_sync(dir, err) : -1;
}

int
bu_place_put(const char *work, const char *state, struct bu_err *err)
{
	bu_autofree char *keys = bu_xasprintf("%s/keys", work);
	bu_autofree char *parent = bu_xasprintf("%s/..", state);

	if (sync_folder(keys, err) != 0 || sync_folder(work, err) != 0)
		return -1;
	/* Only over nothing, or an empty folder. */
	if (rename(work, state) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "rename '%s' to '%s'", work,
				  state);
	return bu_place_sync(parent, err);
}

int
bu_place_begin(const char *work, struct bu_err *err)
{
	int fd = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		close(fd);
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "another restore or init works in '%s'", work);
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
