/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of a log that a running bringupd writes. Called by bringup-backup, a process
 * of its own: SQLite's locks are of a process. Invariant: the log is only read, and the
 * copy is one moment of it, with what is in the WAL.
 */
#include <sqlite3.h>
#include <unistd.h>

#include "provisioner/store/store.h"

enum { BUSY_MS = 20 * 1000 };

static int
failed(sqlite3 *db, const char *doing, const char *path, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_IO, 0, "%s '%s': %s", doing, path,
			  sqlite3_errmsg(db));
}

/* One statement, so one read transaction. */
static int
copy(sqlite3 *db, const char *path, const char *to, struct bu_err *err)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, "VACUUM INTO ?", -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(stmt, 1, to, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc != SQLITE_DONE)
		failed(db, "copy the log", path, err);
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? 0 : -1;
}

int
bu_store_snapshot(const char *path, const char *to, struct bu_err *err)
{
	sqlite3 *db = NULL;
	int rc = -1;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    sqlite3_busy_timeout(db, BUSY_MS) != SQLITE_OK)
		failed(db, "open the log", path, err);
	else
		rc = copy(db, path, to, err);
	sqlite3_close(db);
	if (rc != 0)
		unlink(to);
	return rc;
}
