/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings a finished backup to its place. Called by make.c. Invariant: under the name of
 * a backup there is a whole one, and none is written over.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/spawn.h"
#include "base/text.h"
#include "base/upload.h"
#include "provisioner/backup/backup.h"

enum { BLOCK = 256 * 1024 };

static int
copy_to(int from, int to, struct bu_err *err)
{
	bu_autofree char *block = bu_xmalloc(BLOCK);
	ssize_t got;

	while ((got = read(from, block, BLOCK)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return bu_err_set(err, BU_ERR_IO, errno, "read");
		if (bu_write_all(to, block, (size_t)got, err) != 0)
			return -1;
	}
	return fsync(to) == 0 ? 0 : bu_err_set(err, BU_ERR_IO, errno, "sync");
}

/* From the disk again: the copy may lie on another one. */
static int
check_copy(int fd, const char *path, const char *digest, struct bu_err *err)
{
	char seen[BU_DIGEST_SIZE];

	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (bu_sha256_file(path, seen, err) != 0)
		return -1;
	return strcmp(seen, digest) == 0
		       ? 0
		       : bu_err_set(err, BU_ERR_VERIFY, 0,
				    "'%s' is not what was written; look at that disk",
				    path);
}

static int
sync_folder(const char *path, struct bu_err *err)
{
	bu_autofree char *folder =
		bu_xstrndup(path, (size_t)(strrchr(path, '/') - path) + 1);
	bu_autoclose int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && (fsync(fd) == 0 || errno == EINVAL)
		       ? 0
		       : bu_err_set(err, BU_ERR_IO, errno, "sync '%s'", folder);
}

/* A second name takes the place of no other file, as a rename would. */
static int
give_name(const char *beside, const char *path, struct bu_err *err)
{
	if (link(beside, path) == 0) {
		unlink(beside);
		return sync_folder(path, err);
	}
	if (errno == EPERM || errno == EOPNOTSUPP) {
		if (renameat2(AT_FDCWD, beside, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
			return sync_folder(path, err);
	}
	return errno == EEXIST
		       ? bu_err_set(err, BU_ERR_STATE, 0,
				    "'%s' is there already; give another name", path)
		       : bu_err_set(err, BU_ERR_IO, errno, "write '%s'", path);
}

static int
copy_file(const char *from, const char *path, const char *digest, struct bu_err *err)
{
	bu_autofree char *beside = bu_xasprintf("%s.part", path);
	bu_autoclose int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	int rc;

	if (bu_file_exists(path))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "'%s' is there already; give another name", path);
	/* One before may have been killed there. */
	unlink(beside);
	out = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (in < 0 || out < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "write '%s'", beside);
	rc = copy_to(in, out, err);
	if (rc == 0)
		rc = check_copy(out, beside, digest, err);
	if (rc == 0)
		rc = give_name(beside, path, err);
	if (rc != 0)
		unlink(beside);
	return rc;
}

static int
to_path(const struct bu_backup_ask *ask, const char *path, struct bu_backup_made *made,
	struct bu_err *err)
{
	bu_autofree char *target = bu_xstrdup(ask->to);
	struct stat st;

	if (stat(ask->to, &st) == 0 && S_ISDIR(st.st_mode)) {
		free(target);
		target = bu_xasprintf("%s/%s", ask->to, ask->name);
	}
	BU_TEXT_COPY(made->to, target);
	return copy_file(path, target, made->digest, err);
}

static int
to_url(const struct bu_backup_ask *ask, const char *path, struct bu_backup_made *made,
       struct bu_err *err)
{
	size_t length = strlen(ask->to);
	const char *slash = length && ask->to[length - 1] == '/' ? "" : "/";
	bu_autofree char *url = bu_xasprintf("%s%s%s", ask->to, slash, ask->name);

	BU_TEXT_COPY(made->to, url);
	return bu_upload(url, path, err);
}

/* The program gets the backup on its standard input and its name as a word. */
static int
to_program(const struct bu_backup_ask *ask, const char *path,
	   struct bu_backup_made *made, struct bu_err *err)
{
	const char *program = ask->to + strlen("exec:");
	const char *const argv[] = {program, ask->name, NULL};
	bu_autoclose int in = open(path, O_RDONLY | O_CLOEXEC);
	int status = 0;
	pid_t pid;

	BU_TEXT_COPY(made->to, ask->to);
	if (in < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "open '%s'", path);
	pid = bu_spawn(&(struct bu_spawn){.argv = argv,
					  .stdin_fd = in,
					  .stdout_fd = STDERR_FILENO,
					  .stderr_fd = STDERR_FILENO,
					  .extra_fd = -1},
		       NULL, err);
	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return bu_err_set(err, BU_ERR_IO, errno, "wait for %s",
					  program);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_REMOTE, 0,
			  "%s did not take the backup: it ended with %s %d", program,
			  WIFEXITED(status) ? "status" : "signal",
			  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

int
bu_deliver(const struct bu_backup_ask *ask, const char *path,
	   struct bu_backup_made *made, struct bu_err *err)
{
	static const struct {
		const char *begins;
		int (*fn)(const struct bu_backup_ask *ask, const char *path,
			  struct bu_backup_made *made, struct bu_err *err);
	} ways[] = {
		{"/", to_path},
		{"http://", to_url},
		{"https://", to_url},
		{"exec:/", to_program},
	};

	for (size_t i = 0; i < BU_LEN(ways); i++)
		if (strncmp(ask->to, ways[i].begins, strlen(ways[i].begins)) == 0)
			return ways[i].fn(ask, path, made, err);
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "a backup cannot go to '%.100s'; give /path, http://..., "
			  "https://... or exec:/path",
			  ask->to);
}
