/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One process has the log open, by a lock on a file beside it (a file of SQLite's own
 * must not be opened once more): a second bringupd would act on the same machines
 * before its first row was refused. The file also says how long its process lived, for
 * the next one. Used by the SQLite driver. Invariant: writing to it needs no room, so
 * that a full disk does not stop it.
 */
#include "provisioner/store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/log.h"

int
bu_store_lock(const char *path, struct bu_err *err)
{
	bu_autofree char *lock = bu_xasprintf("%s.lock", path);
	int fd, busy;

	if (strcmp(path, ":memory:") == 0)
		return -2;
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "open '%s'", lock);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	busy = errno == EWOULDBLOCK;
	if (busy)
		bu_err_set(err, BU_ERR_STATE, 0,
			   "another bringupd has the log '%s' open", path);
	else
		bu_err_set(err, BU_ERR_IO, errno, "lock '%s'", lock);
	close(fd);
	return -1;
}

/* Always as long as it was, in its place. What is lost of it gives nodes more time. */
void
bu_store_lock_write(int fd, int64_t seq, int64_t alive_ms)
{
	char text[64];

	snprintf(text, sizeof(text), "%20lld %20lld\n", (long long)seq,
		 (long long)alive_ms);
	if (fd >= 0 && pwrite(fd, text, strlen(text), 0) < 0)
		bu_debug("log", "the lock's file: %s", strerror(errno));
}

int64_t
bu_store_lock_read(int fd, int64_t seq)
{
	long long of, alive_ms;
	char text[64] = "";

	if (fd < 0 || pread(fd, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%lld %lld", &of, &alive_ms) != 2 || of != seq || alive_ms < 0)
		return -1;
	return alive_ms;
}
