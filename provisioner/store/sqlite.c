/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log in SQLite: WAL with full sync, one transaction per commit.
 *
 * Each row holds the hash of the row before it and its own: SHA-256 over
 * "prev|seq|time|kind|node|body". A row changed by hand breaks the chain from there on.
 *
 * A COMMIT that failed may be on the disk all the same (the frames are written, then
 * comes the sync that failed): the log is opened anew, which reads it as a start does.
 * What such a log holds is copied into the database, with a sync of its own, before
 * anything is built on it.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/json.h"
#include "provisioner/store/lock.h"
#include "provisioner/store/store.h"

/* Without the index in shared memory, for which a full disk has no room. */
static const char exclusive_sql[] = "PRAGMA locking_mode=EXCLUSIVE;";
static const char schema_sql[] =
	"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
	"CREATE TABLE IF NOT EXISTS journal(seq INTEGER PRIMARY KEY, time_ms INTEGER"
	" NOT NULL, kind TEXT NOT NULL, node TEXT NOT NULL, body TEXT NOT NULL,"
	" hash TEXT NOT NULL);"
	"CREATE TABLE IF NOT EXISTS blob(digest TEXT PRIMARY KEY, text TEXT NOT NULL);";
static const char insert_sql[] =
	"INSERT INTO journal(seq,time_ms,kind,node,body,hash) VALUES(?,?,?,?,?,?)";
static const char read_sql[] =
	"SELECT seq,time_ms,kind,node,body,hash FROM journal WHERE seq>? ORDER BY seq"
	" LIMIT ?";
static const char last_sql[] = "SELECT seq,hash FROM journal ORDER BY seq DESC LIMIT 1";
static const char put_sql[] = "INSERT OR IGNORE INTO blob(digest,text) VALUES(?,?)";
static const char checkpoint_sql[] = "PRAGMA wal_checkpoint(TRUNCATE)";
static const char get_sql[] = "SELECT text FROM blob WHERE digest=?";

enum { BUSY_MS = 2000 };

struct sqlite {
	char *path;
	int lock_fd;
	sqlite3 *db;
	sqlite3_stmt *insert;
	sqlite3_stmt *get; /* of blobs: a plan asks for many */
	sqlite3_stmt *put; /* of blobs that come with rows */
	int64_t last_seq;
	char last_hash[BU_DIGEST_SIZE];
	char doubt_hash[BU_DIGEST_SIZE]; /* of the last row that may be there */
};

/* What cannot be written, how much room there is and what follows. */
static int
unwritten(struct sqlite *self, const char *doing, struct bu_err *err)
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

static int
failed(struct sqlite *self, const char *doing, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_IO, 0, "%s: %s", doing, sqlite3_errmsg(self->db));
}

/* What the hash of a row is of, besides the hash before it. */
struct row {
	int64_t seq, time_ms;
	const char *kind, *node, *body;
};

static void
row_hash(const char *prev, const struct row *row, char ret[BU_DIGEST_SIZE])
{
	bu_autofree char *text =
		bu_xasprintf("%s|%lld|%lld|%s|%s|%s", prev, (long long)row->seq,
			     (long long)row->time_ms, row->kind, row->node, row->body);

	bu_sha256_hex(text, strlen(text), ret);
}

static sqlite3_stmt *
prepare(struct sqlite *self, const char *sql, struct bu_err *err)
{
	sqlite3_stmt *stmt = NULL;

	if (!self->db)
		bu_err_set(err, BU_ERR_IO, 0, "%s cannot be opened", self->path);
	else if (sqlite3_prepare_v2(self->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		failed(self, "read the log", err);
	return stmt;
}

static int
put_blob(struct sqlite *self, sqlite3_stmt *stmt, const struct bu_blob *blob,
	 struct bu_err *err)
{
	int rc;

	sqlite3_bind_text(stmt, 1, blob->digest, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 2, blob->text, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? 0 : unwritten(self, "store a blob", err);
}

/* The text that an event has with it is in the log with its row, or neither is. */
static int
put_attached(struct sqlite *self, const struct bu_event *event, struct bu_err *err)
{
	struct bu_blob blob = {.text = event->blob.text};

	if (!blob.text)
		return 0;
	memcpy(blob.digest, event->blob.digest, sizeof(blob.digest));
	if (!self->put)
		self->put = prepare(self, put_sql, err);
	return self->put ? put_blob(self, self->put, &blob, err) : -1;
}

static int
insert_row(struct sqlite *self, struct bu_event *event, int64_t seq, char *hash,
	   struct bu_err *err)
{
	bu_autofree char *body = bu_json_canonical(event->body);
	const char *kind = bu_event_name(event->kind);
	char next[BU_DIGEST_SIZE];

	row_hash(hash, &(struct row){seq, event->time_ms, kind, event->node, body},
		 next);
	sqlite3_reset(self->insert);
	sqlite3_bind_int64(self->insert, 1, seq);
	sqlite3_bind_int64(self->insert, 2, event->time_ms);
	sqlite3_bind_text(self->insert, 3, kind, -1, SQLITE_STATIC);
	sqlite3_bind_text(self->insert, 4, event->node, -1, SQLITE_STATIC);
	sqlite3_bind_text(self->insert, 5, body, -1, SQLITE_STATIC);
	sqlite3_bind_text(self->insert, 6, next, -1, SQLITE_STATIC);
	if (sqlite3_step(self->insert) != SQLITE_DONE)
		return unwritten(self, "append to the log", err);
	sqlite3_reset(self->insert);
	memcpy(hash, next, sizeof(next));
	return 0;
}

/* After some failures it is gone already. */
static void
roll_back(struct sqlite *self)
{
	if (!sqlite3_get_autocommit(self->db))
		sqlite3_exec(self->db, "ROLLBACK", NULL, NULL, NULL);
}

static int
insert_rows(struct sqlite *self, struct bu_event *events, size_t count,
	    char hash[BU_DIGEST_SIZE], struct bu_err *err)
{
	memcpy(hash, self->last_hash, BU_DIGEST_SIZE);
	if (sqlite3_exec(self->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		return unwritten(self, "begin a commit", err);
	for (size_t i = 0; i < count; i++)
		if (put_attached(self, &events[i], err) != 0 ||
		    insert_row(self, &events[i], self->last_seq + (int64_t)i + 1, hash,
			       err) != 0)
			return -1;
	return 0;
}

static enum bu_commit
sqlite_commit(void *driver, struct bu_event *events, size_t count, struct bu_err *err)
{
	struct sqlite *self = driver;
	enum bu_commit result = BU_COMMIT_NOT;
	char hash[BU_DIGEST_SIZE];

	if (!self->db) {
		bu_err_set(err, BU_ERR_IO, 0, "%s is not open", self->path);
		return BU_COMMIT_NOT;
	}
	if (insert_rows(self, events, count, hash, err) != 0)
		goto undo;
	if (sqlite3_exec(self->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
		unwritten(self, "commit to the log", err);
		memcpy(self->doubt_hash, hash, sizeof(hash));
		result = BU_COMMIT_UNKNOWN;
		goto undo;
	}
	for (size_t i = 0; i < count; i++)
		events[i].seq = ++self->last_seq;
	memcpy(self->last_hash, hash, sizeof(hash));
	return BU_COMMIT_DONE;
undo:
	sqlite3_reset(self->insert);
	roll_back(self);
	return result;
}

static const char *
column(sqlite3_stmt *row, int index)
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
	if (bu_event_from_name(column(row, 2), &kind, err) != 0)
		return bu_err_wrap(err, "%s", what);
	body = bu_json_parse(column(row, 4), strlen(column(row, 4)), what, err);
	if (!body)
		return -1;
	bu_event_init(event, kind, column(row, 3), body);
	event->seq = sqlite3_column_int64(row, 0);
	event->time_ms = sqlite3_column_int64(row, 1);
	return 0;
}

static int
sqlite_read(void *driver, int64_t after_seq, size_t max, bu_store_read_fn fn, void *arg,
	    struct bu_err *err)
{
	struct sqlite *self = driver;
	sqlite3_stmt *stmt = prepare(self, read_sql, err);
	int rc = SQLITE_DONE, stop = 0;

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, after_seq);
	sqlite3_bind_int64(stmt, 2, max ? (int64_t)max : -1);
	while (!stop && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct bu_event event;

		if (event_of_row(stmt, &event, err) != 0)
			break;
		stop = fn(&event, arg);
		bu_event_fini(&event);
	}
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		failed(self, "read the log", err);
	sqlite3_finalize(stmt);
	return stop || rc == SQLITE_DONE ? 0 : -1;
}

static int
sqlite_read_tail(void *driver, size_t count, bu_store_read_fn fn, void *arg,
		 struct bu_err *err)
{
	struct sqlite *self = driver;

	return sqlite_read(driver, self->last_seq - (int64_t)count, count, fn, arg,
			   err);
}

static int
sqlite_blobs_put(void *driver, const struct bu_blob *blobs, size_t count,
		 struct bu_err *err)
{
	struct sqlite *self = driver;
	sqlite3_stmt *stmt = prepare(self, put_sql, err);
	int rc = 0;

	if (!stmt)
		return -1;
	if (sqlite3_exec(self->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		rc = unwritten(self, "begin", err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = put_blob(self, stmt, &blobs[i], err);
	sqlite3_finalize(stmt);
	if (rc == 0 && sqlite3_exec(self->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		rc = unwritten(self, "commit", err);
	if (rc != 0)
		roll_back(self);
	return rc;
}

static char *
sqlite_blob_get(void *driver, const char *digest, struct bu_err *err)
{
	struct sqlite *self = driver;
	sqlite3_stmt *stmt = self->get;
	char *text = NULL;
	int rc;

	if (!stmt)
		stmt = self->get = prepare(self, get_sql, err);
	if (!stmt)
		return NULL;
	sqlite3_bind_text(stmt, 1, digest, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		text = bu_xstrdup(column(stmt, 0));
	else if (rc != SQLITE_DONE)
		failed(self, "read a blob", err);
	else
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "no blob %s in the store", digest);
	sqlite3_reset(stmt);
	return text;
}

static int
sqlite_verify(void *driver, struct bu_chain *at, size_t max, struct bu_err *err)
{
	struct sqlite *self = driver;
	sqlite3_stmt *stmt = prepare(self, read_sql, err);
	int rc = 0, step = SQLITE_ROW;

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, at->seq);
	sqlite3_bind_int64(stmt, 2, max ? (int64_t)max : -1);
	while (rc == 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
		const struct row row = {at->seq + 1, sqlite3_column_int64(stmt, 1),
					column(stmt, 2), column(stmt, 3),
					column(stmt, 4)};
		struct bu_chain next = {.seq = row.seq};

		row_hash(at->hash, &row, next.hash);
		if (sqlite3_column_int64(stmt, 0) != row.seq ||
		    strcmp(next.hash, column(stmt, 5)) != 0)
			rc = bu_err_set(err, BU_ERR_VERIFY, 0,
					"log row %lld is missing or was changed",
					(long long)row.seq);
		else
			*at = next;
	}
	if (rc == 0 && step != SQLITE_DONE)
		rc = failed(self, "read the log", err);
	sqlite3_finalize(stmt);
	return rc;
}

static void
disconnect(struct sqlite *self)
{
	sqlite3_finalize(bu_steal(&self->insert));
	sqlite3_finalize(bu_steal(&self->get));
	sqlite3_finalize(bu_steal(&self->put));
	sqlite3_close(bu_steal(&self->db));
}

static int
load_last(struct sqlite *self, struct bu_err *err)
{
	sqlite3_stmt *stmt = prepare(self, last_sql, err);
	int rc = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;

	if (!stmt)
		return -1;
	self->last_seq = 0;
	self->last_hash[0] = '\0';
	if (rc == SQLITE_ROW) {
		self->last_seq = sqlite3_column_int64(stmt, 0);
		snprintf(self->last_hash, sizeof(self->last_hash), "%s",
			 column(stmt, 1));
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW || rc == SQLITE_DONE
		       ? 0
		       : failed(self, "read the log", err);
}

static int
connect(struct sqlite *self, const char *first_sql, struct bu_err *err)
{
	if (sqlite3_open(self->path, &self->db) == SQLITE_OK &&
	    sqlite3_busy_timeout(self->db, BUSY_MS) == SQLITE_OK &&
	    sqlite3_exec(self->db, first_sql, NULL, NULL, NULL) == SQLITE_OK &&
	    sqlite3_exec(self->db, schema_sql, NULL, NULL, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(self->db, insert_sql, -1, &self->insert, NULL) ==
		    SQLITE_OK)
		return load_last(self, err);
	failed(self, "open the log", err);
	bu_err_wrap(err, "%s", self->path);
	return -1;
}

/* On a full disk it may still be read. */
static int
open_anew(struct sqlite *self, struct bu_err *err)
{
	disconnect(self);
	if (connect(self, "", err) == 0)
		return 0;
	disconnect(self);
	if (connect(self, exclusive_sql, NULL) == 0)
		return 0;
	disconnect(self);
	return -1;
}

/* What a log that was read anew holds becomes safe on the disk. */
static int
sqlite_mend(void *driver, struct bu_err *err)
{
	struct sqlite *self = driver;

	if (open_anew(self, err) != 0)
		return -1;
	if (sqlite3_exec(self->db, checkpoint_sql, NULL, NULL, NULL) != SQLITE_OK)
		return unwritten(self, "write the log", err);
	return 0;
}

static enum bu_commit
sqlite_settle(void *driver, struct bu_event *events, size_t count, struct bu_err *err)
{
	struct sqlite *self = driver;
	int64_t seq;

	if (open_anew(self, err) != 0)
		return BU_COMMIT_UNKNOWN;
	if (strcmp(self->last_hash, self->doubt_hash) != 0)
		return BU_COMMIT_NOT;
	if (sqlite_mend(self, err) != 0)
		return BU_COMMIT_UNKNOWN;
	seq = self->last_seq - (int64_t)count;
	for (size_t i = 0; i < count; i++)
		events[i].seq = ++seq;
	return BU_COMMIT_DONE;
}

static void
sqlite_close(void *driver)
{
	struct sqlite *self = driver;

	disconnect(self);
	if (self->lock_fd >= 0)
		close(self->lock_fd);
	free(self->path);
	free(self);
}

static const struct bu_store_ops sqlite_ops = {
	.name = "sqlite",
	.commit = sqlite_commit,
	.settle = sqlite_settle,
	.mend = sqlite_mend,
	.read = sqlite_read,
	.read_tail = sqlite_read_tail,
	.blobs_put = sqlite_blobs_put,
	.blob_get = sqlite_blob_get,
	.verify = sqlite_verify,
	.close = sqlite_close,
};

struct bu_store *
bu_store_open_sqlite(struct bu_loop *loop, const char *path, struct bu_err *err)
{
	struct sqlite *self = bu_xcalloc(1, sizeof(*self));
	struct bu_store *store;

	self->path = bu_xstrdup(path);
	self->lock_fd = bu_store_lock(path, err);
	if (self->lock_fd == -1 || open_anew(self, err) != 0) {
		sqlite_close(self);
		return NULL;
	}
	store = bu_store_create(loop, &sqlite_ops, self);
	bu_store_use_lock(store, self->lock_fd);
	return store;
}
