/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer between SQLite and its files. Each file is the system's own one with another
 * table of methods before it.
 */
#include "tests/support/baddisk.h"

#include <sqlite3.h>
#include <string.h>

struct bad_disk bad_disk;

struct bad_file {
	sqlite3_file base;
	sqlite3_file *real; /* directly behind this struct */
};

static sqlite3_vfs bad_vfs;

static sqlite3_file *
real_of(sqlite3_file *file)
{
	return ((struct bad_file *)(void *)file)->real;
}

static sqlite3_vfs *
system_vfs(void)
{
	return bad_vfs.pAppData;
}

static int
bad_close(sqlite3_file *file)
{
	return real_of(file)->pMethods->xClose(real_of(file));
}

static int
bad_read(sqlite3_file *file, void *data, int size, sqlite3_int64 at)
{
	if (bad_disk.unread)
		return SQLITE_IOERR_READ;
	return real_of(file)->pMethods->xRead(real_of(file), data, size, at);
}

static int
bad_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 at)
{
	if (bad_disk.full)
		return SQLITE_FULL;
	if (bad_disk.read_only)
		return SQLITE_IOERR_WRITE;
	bad_disk.writes++;
	return real_of(file)->pMethods->xWrite(real_of(file), data, size, at);
}

static int
bad_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	if (bad_disk.read_only)
		return SQLITE_IOERR_TRUNCATE;
	return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int
bad_sync(sqlite3_file *file, int flags)
{
	if (bad_disk.syncs_ok > 0) {
		bad_disk.syncs_ok--;
	} else if (bad_disk.syncs) {
		bad_disk.syncs -= bad_disk.syncs > 0;
		return SQLITE_IOERR_FSYNC;
	}
	return real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int
bad_size(sqlite3_file *file, sqlite3_int64 *ret)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), ret);
}

static int
bad_lock(sqlite3_file *file, int kind)
{
	return real_of(file)->pMethods->xLock(real_of(file), kind);
}

static int
bad_unlock(sqlite3_file *file, int kind)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), kind);
}

static int
bad_check_lock(sqlite3_file *file, int *ret)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret);
}

static int
bad_control(sqlite3_file *file, int op, void *arg)
{
	return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int
bad_sector(sqlite3_file *file)
{
	return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int
bad_traits(sqlite3_file *file)
{
	return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int
bad_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
	if ((bad_disk.full || bad_disk.read_only) && extend)
		return SQLITE_IOERR_SHMSIZE;
	return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret);
}

static int
bad_shm_lock(sqlite3_file *file, int at, int count, int flags)
{
	return real_of(file)->pMethods->xShmLock(real_of(file), at, count, flags);
}

static void
bad_shm_barrier(sqlite3_file *file)
{
	real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int
bad_shm_unmap(sqlite3_file *file, int remove)
{
	return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2,
	.xClose = bad_close,
	.xRead = bad_read,
	.xWrite = bad_write,
	.xTruncate = bad_truncate,
	.xSync = bad_sync,
	.xFileSize = bad_size,
	.xLock = bad_lock,
	.xUnlock = bad_unlock,
	.xCheckReservedLock = bad_check_lock,
	.xFileControl = bad_control,
	.xSectorSize = bad_sector,
	.xDeviceCharacteristics = bad_traits,
	.xShmMap = bad_shm_map,
	.xShmLock = bad_shm_lock,
	.xShmBarrier = bad_shm_barrier,
	.xShmUnmap = bad_shm_unmap,
};

static int
bad_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret)
{
	struct bad_file *self = (struct bad_file *)(void *)file;
	int rc;

	memset(self, 0, sizeof(*self));
	self->real = (sqlite3_file *)(void *)(self + 1);
	rc = system_vfs()->xOpen(system_vfs(), name, self->real, flags, ret);
	if (rc == SQLITE_OK)
		self->base.pMethods = &methods;
	return rc;
}

static int
bad_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	if (bad_disk.read_only)
		return SQLITE_IOERR_DELETE;
	return system_vfs()->xDelete(system_vfs(), name, sync);
}

void
bad_disk_install(void)
{
	memset(&bad_disk, 0, sizeof(bad_disk));
	if (bad_vfs.pAppData)
		return;
	bad_vfs = *sqlite3_vfs_find(NULL);
	bad_vfs.pAppData = sqlite3_vfs_find(NULL);
	bad_vfs.zName = "bad-disk";
	bad_vfs.szOsFile += (int)sizeof(struct bad_file);
	bad_vfs.xOpen = bad_open;
	bad_vfs.xDelete = bad_delete;
	sqlite3_vfs_register(&bad_vfs, 1);
}
