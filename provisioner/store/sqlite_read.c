/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the log in SQLite, looks at its chain, keeps blobs. Called by store.c through
 * sqlite.c's table. Invariant: nothing here writes a row.
 */
#include "provisioner/store/sqlite_impl.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/json.h"
#include "provisioner/store/sqlite_search.h"

static const char read_sql[] =
	"SELECT seq,time_ms,kind,node,body,hash FROM journal WHERE seq>? ORDER BY seq"
	" LIMIT ?";
static const char put_sql[] = "INSERT OR IGNORE INTO blob(digest,text) VALUES(?,?)";
static const char get_sql[] = "SELECT text FROM blob WHERE digest=?";

/* What cannot be written, how much room there is and what follows. */
int
bu_sqlite_unwritten(struct sqlite *self, const char *doing, struct bu_err *err)
{
	bu_autofree char *why = bu_xstrdup(sqlite3_errmsg(self->db));
	struct statvfs room;

	if (statvfs(self->path, &room) != 0)
		return bu_err_set(err, BU_ERR_IO, 0, "%s: %s: %s", self->path, doing,
				  why);
	return bu_err_set(err, BU_ERR_IO, 0,
			  "%s: %s: %s; %llu bytes are free there; bringup reads and "
			  "changes nothing until it can write again",
			  self->path, doing, why,
			  (unsigned long long)room.f_bavail * room.f_frsize);
}

int
bu_sqlite_failed(struct sqlite *self, const char *doing, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_IO, 0, "%s: %s", doing, sqlite3_errmsg(self->db));
}

void
bu_sqlite_row_hash(const char *prev, const struct row *row, char ret[BU_DIGEST_SIZE])
{
	bu_autofree char *text =
		bu_xasprintf("%s|%lld|%lld|%s|%s|%s", prev, (long long)row->seq,
			     (long long)row->time_ms, row->kind, row->node, row->body);

	bu_sha256_hex(text, strlen(text), ret);
}

/* After some failures it is gone already. */
void
bu_sqlite_roll_back(struct sqlite *self)
{
	if (!sqlite3_get_autocommit(self->db))
		sqlite3_exec(self->db, "ROLLBACK", NULL, NULL, NULL);
}

const char *
bu_sqlite_column(sqlite3_stmt *row, int index)
{
	const unsigned char *text = sqlite3_column_text(row, index);

	return text ? (const char *)text : "";
}

static int
event_of_row(sqlite3_stmt *row, struct bu_event *event, struct bu_err *err)
{
	enum bu_event_kind kind;
	json_t *body;
	char what[64];

	snprintf(what, sizeof(what), "log row %lld",
		 (long long)sqlite3_column_int64(row, 0));
	if (bu_event_from_name(bu_sqlite_column(row, 2), &kind, err) != 0)
		return bu_err_wrap(err, "%s", what);
	body = bu_json_parse(bu_sqlite_column(row, 4), strlen(bu_sqlite_column(row, 4)),
			     what, err);
	if (!body)
		return -1;
	bu_event_init(event, kind, bu_sqlite_column(row, 3), body);
	event->seq = sqlite3_column_int64(row, 0);
	event->time_ms = sqlite3_column_int64(row, 1);
	return 0;
}

sqlite3_stmt *
bu_sqlite_prepare(struct sqlite *self, const char *sql, struct bu_err *err)
{
	sqlite3_stmt *stmt = NULL;

	if (!self->db)
		bu_err_set(err, BU_ERR_IO, 0, "%s cannot be opened", self->path);
	else if (sqlite3_prepare_v2(self->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		bu_sqlite_failed(self, "read the log", err);
	return stmt;
}

int
bu_sqlite_read(void *driver, int64_t after_seq, size_t max, bu_store_read_fn fn,
	       void *arg, struct bu_err *err)
{
	struct sqlite *self = driver;
	sqlite3_stmt *stmt = bu_sqlite_prepare(self, read_sql, err);
	int rc = SQLITE_DONE, stop = 0;

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, after_seq);
	sqlite3_bind_int64(stmt, 2, max ? (int64_t)max : -1);
	while (!stop && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct bu_event event;

		if (event_of_row(stmt, &event, err) != 0)
			break;
		bu_epoch_learn(&self->epoch, &event);
		stop = fn(&event, arg);
		bu_event_fini(&event);
	}
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		bu_sqlite_failed(self, "read the log", err);
	sqlite3_finalize(stmt);
	return stop || rc == SQLITE_DONE ? 0 : -1;
}

int
bu_sqlite_read_tail(void *driver, size_t count, bu_store_read_fn fn, void *arg,
		    struct bu_err *err)
{
	struct sqlite *self = driver;

	return bu_sqlite_read(driver, self->last_seq - (int64_t)count, count, fn, arg,
			      err);
}

int
bu_sqlite_find(void *driver, struct bu_search *search, bu_store_read_fn fn, void *arg,
	       struct bu_err *err)
{
	struct sqlite *self = driver;

	if (!self->db)
		return bu_err_set(err, BU_ERR_IO, 0, "%s cannot be opened", self->path);
	search->last = self->last_seq;
	return bu_sqlite_search(
		&(struct bu_sqlite_search){self->db, event_of_row, search, fn, arg},
		err);
}

int
bu_sqlite_put_blob(struct sqlite *self, const struct bu_blob *blob, struct bu_err *err)
{
	int rc;

	if (!self->put)
		self->put = bu_sqlite_prepare(self, put_sql, err);
	if (!self->put)
		return -1;
	sqlite3_bind_text(self->put, 1, blob->digest, -1, SQLITE_STATIC);
	sqlite3_bind_text(self->put, 2, blob->text, -1, SQLITE_STATIC);
	rc = sqlite3_step(self->put);
	sqlite3_reset(self->put);
	return rc == SQLITE_DONE ? 0 : bu_sqlite_unwritten(self, "store a blob", err);
}

int
bu_sqlite_blobs_put(void *driver, const struct bu_blob *blobs, size_t count,
		    struct bu_err *err)
{
	struct sqlite *self = driver;
	int rc = 0;

	if (!self->put)
		self->put = bu_sqlite_prepare(self, put_sql, err);
	if (!self->put)
		return -1;
	if (sqlite3_exec(self->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		rc = bu_sqlite_unwritten(self, "begin", err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = bu_sqlite_put_blob(self, &blobs[i], err);
	if (rc == 0 && sqlite3_exec(self->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		rc = bu_sqlite_unwritten(self, "commit", err);
	if (rc != 0)
		bu_sqlite_roll_back(self);
	return rc;
}

char *
bu_sqlite_blob_get(void *driver, const char *digest, struct bu_err *err)
{
	struct sqlite *self = driver;
	sqlite3_stmt *stmt = self->get;
	char *text = NULL;
	int rc;

	if (!stmt)
		stmt = self->get = bu_sqlite_prepare(self, get_sql, err);
	if (!stmt)
		return NULL;
	sqlite3_bind_text(stmt, 1, digest, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		text = bu_xstrdup(bu_sqlite_column(stmt, 0));
	else if (rc != SQLITE_DONE)
		bu_sqlite_failed(self, "read a blob", err);
	else
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "no blob %s in the store", digest);
	sqlite3_reset(stmt);
	return text;
}

int
bu_sqlite_verify(void *driver, struct bu_chain *at, size_t max, struct bu_err *err)
{
	struct sqlite *self = driver;
	sqlite3_stmt *stmt = bu_sqlite_prepare(self, read_sql, err);
	int rc = 0, step = SQLITE_ROW;

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, at->seq);
	sqlite3_bind_int64(stmt, 2, max ? (int64_t)max : -1);
	while (rc == 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
		const struct row row = {at->seq + 1, sqlite3_column_int64(stmt, 1),
					bu_sqlite_column(stmt, 2),
					bu_sqlite_column(stmt, 3),
					bu_sqlite_column(stmt, 4)};
		struct bu_chain next = {.seq = row.seq};

		bu_sqlite_row_hash(at->hash, &row, next.hash);
		if (sqlite3_column_int64(stmt, 0) != row.seq ||
		    strcmp(next.hash, bu_sqlite_column(stmt, 5)) != 0)
			rc = bu_err_set(err, BU_ERR_VERIFY, 0,
					"log row %lld is missing or was changed",
					(long long)row.seq);
		else
			*at = next;
	}
	if (rc == 0 && step != SQLITE_DONE)
		rc = bu_sqlite_failed(self, "read the log", err);
	sqlite3_finalize(stmt);
	return rc;
}

int
bu_sqlite_has(void *driver, const struct bu_chain *row, struct bu_err *err)
{
	struct sqlite *self = driver;
	sqlite3_stmt *stmt = bu_sqlite_prepare(
		self, "SELECT 1 FROM journal WHERE seq=? AND hash=?", err);
	int step;

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, row->seq);
	sqlite3_bind_text(stmt, 2, row->hash, -1, SQLITE_STATIC);
	step = sqlite3_step(stmt);
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		bu_sqlite_failed(self, "read the log", err);
	sqlite3_finalize(stmt);
	return step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : -1;
}
