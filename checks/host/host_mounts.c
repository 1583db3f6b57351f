/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File systems of servers (NFS, Lustre): each is mounted, is the one that the profile
 * says, can be read and, where the profile names a folder for it, written. Called by
 * the host checks. Invariant: what hangs hangs in this process, which is watched; of
 * what is on the server, one file of our own is touched, and it is gone afterwards.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/sysroot.h"
#include "base/text.h"
#include "base/worker.h"
#include "checks/host/host_impl.h"

enum {
	MOUNT_MS = 100000, /* longer than systemd tries: 90 s */
	ANSWER_MS = 20000,
	STAMP_MAX = 128,
};

struct mount {
	const char *name, *source, *path, *fs, *write; /* write: NULL = only read */
	char *here;                                    /* path below the checks' root */
	char *subject; /* "home (lake1:/export/home on /home)" */
};

/* A Lustre client may name its servers otherwise, and never its file system. */
static const char *
said_of(const char *source, const char *fs)
{
	const char *colon = strrchr(source, ':');

	return strcmp(fs, "lustre") == 0 && colon ? colon : source;
}

static int
is_same(const struct mount *mount, const struct bu_sysroot_mount *found)
{
	const char *want = said_of(mount->source, mount->fs);
	const char *has = said_of(found->source, mount->fs);
	size_t size = strlen(want), has_size = strlen(has);

	size -= size && want[size - 1] == '/';
	has_size -= has_size && has[has_size - 1] == '/';
	/* mount(8) makes nfs4 of nfs where the server has it. */
	return size == has_size && strncmp(want, has, size) == 0 &&
	       strncmp(mount->fs, found->fs, strncmp(mount->fs, "nfs", 3) ? 32 : 3) ==
		       0;
}

static void
judge(struct bu_checks *out, const struct mount *mount, enum bu_verdict verdict,
      const char *seen)
{
	bu_host_add(out, BU_CHECK_MOUNT, verdict, mount->subject, seen,
		    verdict == BU_VERDICT_PASS ? ""
		    : mount->write             ? "mounted, can be read and written"
					       : "mounted, can be read");
}

static void
doing(const struct bu_checks_ctx *ctx, struct bu_checks *out, const struct mount *mount,
      const char *what, int64_t limit_ms)
{
	bu_checks_doing(ctx, out,
			&(struct bu_doing){.limit_ms = limit_ms,
					   .id = BU_CHECK_MOUNT,
					   .subject = mount->subject,
					   .what = what,
					   .hint = "look at its server, and at the "
						   "network to it"});
}

static int
read_folder(const char *path)
{
	DIR *dir = opendir(path);
	int rc;

	if (!dir)
		return -1;
	errno = 0;
	rc = readdir(dir) || errno == 0 ? 0 : -1;
	closedir(dir);
	return rc;
}

/* No longer than the checks as a whole have time, so that those after it are named. */
static int64_t
mount_ms(const struct bu_checks_ctx *ctx)
{
	int64_t left_ms = ctx->deadline_ms - bu_mono_ms(bu_clock_system());

	if (!ctx->deadline_ms || left_ms > MOUNT_MS)
		return MOUNT_MS;
	return left_ms > 0 ? left_ms : 1;
}

/* As fstab says it, which systemd has done already where it could, or does for the
 * first one who looks. */
static int
mount_it(const struct bu_checks_ctx *ctx, const struct mount *mount, int automount,
	 struct bu_err *err)
{
	const char *argv[] = {"mount", mount->path, NULL};
	struct bu_job_opts opts = {
		.argv = argv, .deadline_ms = mount_ms(ctx), .same_group = 1};

	if (!automount)
		return bu_job_run(&opts, NULL, err);
	return read_folder(mount->here) == 0
		       ? 0
		       : bu_err_set(err, BU_ERR_IO, errno, "its automount: %s",
				    strerror(errno));
}

/* Whatever somebody has laid there (a link, a pipe) is not opened: it is another file
 * that is made. */
static int
write_stamp(const char *path, const char *stamp, size_t size)
{
	bu_autoclose int fd = -1;

	if (unlink(path) != 0 && errno != ENOENT)
		return -1;
	fd = open(path,
		  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return -1;
	errno = 0;
	if (write(fd, stamp, size) != (ssize_t)size || fsync(fd) != 0) {
		errno = errno ? errno : EIO;
		return -1;
	}
	return 0;
}

/* Past what this machine remembers of it. */
static int
read_stamp(const char *path, const char *stamp, size_t size)
{
	bu_autoclose int fd =
		open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char back[STAMP_MAX];
	ssize_t got;

	if (fd < 0)
		return -1;
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	got = read(fd, back, sizeof(back));
	if (got < 0)
		return -1;
	errno = EILSEQ;
	return got == (ssize_t)size && memcmp(back, stamp, size) == 0 ? 0 : -1;
}

/* NULL when it could be written; else what went wrong, owned. A name for each node:
 * they do this at the same time. */
static char *
try_write(const struct bu_checks_ctx *ctx, const struct mount *mount)
{
	struct utsname host;
	bu_autofree char *path = NULL;
	char *trouble = NULL;
	char stamp[STAMP_MAX];

	uname(&host);
	path = bu_xasprintf("%s%s/.bringup-check-%s", ctx->root ? ctx->root : "",
			    mount->write, host.nodename);
	snprintf(stamp, sizeof(stamp), "%.63s %ld\n", host.nodename, (long)getpid());
	if (write_stamp(path, stamp, strlen(stamp)) != 0)
		trouble = bu_xasprintf("cannot write %s: %s", path, strerror(errno));
	else if (read_stamp(path, stamp, strlen(stamp)) != 0)
		trouble = bu_xasprintf(errno == EILSEQ
					       ? "%s does not hold what was written"
					       : "cannot read %s again: %m",
				       path);
	if (unlink(path) != 0 && errno != ENOENT && !trouble)
		trouble = bu_xasprintf("cannot remove %s: %s", path, strerror(errno));
	return trouble;
}

static void
check(const struct bu_checks_ctx *ctx, struct bu_checks *out, const struct mount *mount)
{
	bu_autofree char *trouble = NULL;
	struct bu_err err = {0};
	struct bu_sysroot_mount found;
	int tried = 0;

	doing(ctx, out, mount, "mount", MOUNT_MS + ANSWER_MS);
	bu_sysroot_mounted(ctx->root, mount->path, &found);
	if (!found.fs[0]) {
		tried = mount_it(ctx, mount, found.automount, &err);
		bu_sysroot_mounted(ctx->root, mount->path, &found);
	}
	if (!found.fs[0]) {
		trouble = bu_xasprintf("is not mounted%s%s", tried ? ": " : "",
				       tried ? err.text : "");
	} else if (!is_same(mount, &found)) {
		trouble = bu_xasprintf("%s (%s) is mounted there", found.source,
				       found.fs);
	} else {
		doing(ctx, out, mount, "reads", ANSWER_MS);
		if (read_folder(mount->here) != 0)
			trouble = bu_xasprintf("cannot be read: %s", strerror(errno));
	}
	if (!trouble && mount->write) {
		doing(ctx, out, mount, "writes", ANSWER_MS);
		trouble = try_write(ctx, mount);
	}
	judge(out, mount, trouble ? BU_VERDICT_FAIL : BU_VERDICT_PASS,
	      trouble        ? trouble
	      : mount->write ? "reads and writes"
			     : "reads");
}

void
bu_host_mounts(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(ctx->expect, "mounts"), i, one) {
		struct mount mount = {.name = bu_json_str(one, "name", ""),
				      .source = bu_json_str(one, "source", ""),
				      .path = bu_json_str(one, "path", "/"),
				      .fs = bu_json_str(one, "fs", ""),
				      .write = bu_json_str(one, "write", NULL)};

		mount.here =
			bu_xasprintf("%s%s", ctx->root ? ctx->root : "", mount.path);
		mount.subject = bu_xasprintf("%s (%s on %s)", mount.name, mount.source,
					     mount.path);
		if (bu_checks_stop(ctx))
			judge(out, &mount, BU_VERDICT_FAIL,
			      "was not looked at: the time ran out");
		else
			check(ctx, out, &mount);
		free(mount.here);
		free(mount.subject);
	}
}
