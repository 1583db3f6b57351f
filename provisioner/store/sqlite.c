/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log in SQLite: WAL with full sync, one transaction per commit.
 *
 * Each row holds the hash of the row before it and its own: SHA-256 over
 * "prev|seq|time|kind|node|body". A row changed by hand breaks the chain from there on.
 *
 * One process has the log open, by a lock on the file beside it (a file of SQLite's own
 * must not be opened once more): a second bringupd would act on the same machines
 * before its first row was refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/json.h"
#include "provisioner/store/store.h"

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
static const char get_sql[] = "SELECT text FROM blob WHERE digest=?";

struct sqlite {
	int lock_fd;
	sqlite3 *db;
	sqlite3_stmt *insert;
	sqlite3_stmt *get; /* of blobs: a plan asks for many */
	int64_t last_seq;
	char last_hash[BU_DIGEST_SIZE];
};

static int
failed(struct sqlite *self, const char *doing, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_IO, 0, "%s: %s", doing, sqlite3_errmsg(self->db));
}

static void
row_hash(const char *prev, int64_t seq, int64_t time_ms, const char *kind,
	 const char *node, const char *body, char ret[BU_DIGEST_SIZE])
{
	bu_autofree char *text =
		bu_xasprintf("%s|%lld|%lld|%s|%s|%s", prev, (long long)seq,
			     (long long)time_ms, kind, node, body);

	bu_sha256_hex(text, strlen(text), ret);
}

static int
insert_row(struct sqlite *self, struct bu_event *event, int64_t seq, char *hash,
	   struct bu_err *err)
{
	bu_autofree char *body = bu_json_canonical(event->body);
	const char *kind = bu_event_name(event->kind);
	char next[BU_DIGEST_SIZE];

	row_hash(hash, seq, event->time_ms, kind, event->node, body, next);
	sqlite3_reset(self->insert);
	sqlite3_bind_int64(self->insert, 1, seq);
	sqlite3_bind_int64(self->insert, 2, event->time_ms);
	sqlite3_bind_text(self->insert, 3, kind, -1, SQLITE_STATIC);
	sqlite3_bind_text(self->insert, 4, event->node, -1, SQLITE_STATIC);
	sqlite3_bind_text(self->insert, 5, body, -1, SQLITE_STATIC);
	sqlite3_bind_text(self->insert, 6, next, -1, SQLITE_STATIC);
	if (sqlite3_step(self->insert) != SQLITE_DONE)
		return failed(self, "append to the log", err);
	sqlite3_reset(self->insert);
	memcpy(hash, next, sizeof(next));
	return 0;
}

static int
sqlite_commit(void *driver, struct bu_event *events, size_t count, struct bu_err *err)
{
	struct sqlite *self = driver;
	char hash[BU_DIGEST_SIZE];

	memcpy(hash, self->last_hash, sizeof(hash));
	if (sqlite3_exec(self->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		return failed(self, "begin a commit", err);
	for (size_t i = 0; i < count; i++)
		if (insert_row(self, &events[i], self->last_seq + (int64_t)i + 1, hash,
			       err) != 0)
			goto undo;
	if (sqlite3_exec(self->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
		failed(self, "commit to the log", err);
		goto undo;
	}
	for (size_t i = 0; i < count; i++)
		events[i].seq = ++self->last_seq;
	memcpy(self->last_hash, hash, sizeof(hash));
	return 0;
undo:
	sqlite3_reset(self->insert);
	sqlite3_exec(self->db, "ROLLBACK", NULL, NULL, NULL);
	return -1;
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

static sqlite3_stmt *
prepare(struct sqlite *self, const char *sql, struct bu_err *err)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(self->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		failed(self, "read the log", err);
	return stmt;
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
put_blob(struct sqlite *self, sqlite3_stmt *stmt, const struct bu_blob *blob,
	 struct bu_err *err)
{
	int rc;

	sqlite3_bind_text(stmt, 1, blob->digest, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 2, blob->text, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? 0 : failed(self, "store a blob", err);
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
		rc = failed(self, "begin", err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = put_blob(self, stmt, &blobs[i], err);
	sqlite3_finalize(stmt);
	if (rc == 0 && sqlite3_exec(self->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		rc = failed(self, "commit", err);
	if (rc != 0)
		sqlite3_exec(self->db, "ROLLBACK", NULL, NULL, NULL);
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
sqlite_verify(void *driver, struct bu_err *err)
{
	struct sqlite *self = driver;
	sqlite3_stmt *stmt = prepare(self, read_sql, err);
	char hash[BU_DIGEST_SIZE] = "", next[BU_DIGEST_SIZE];
	int64_t seq = 0;
	int rc = 0, step = SQLITE_ROW;

	if (!stmt)
		return -1;
	sqlite3_bind_int64(stmt, 1, 0);
	sqlite3_bind_int64(stmt, 2, -1);
	while (rc == 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
		row_hash(hash, ++seq, sqlite3_column_int64(stmt, 1), column(stmt, 2),
			 column(stmt, 3), column(stmt, 4), next);
		if (sqlite3_column_int64(stmt, 0) != seq ||
		    strcmp(next, column(stmt, 5)) != 0)
			rc = bu_err_set(err, BU_ERR_VERIFY, 0,
					"log row %lld is missing or was changed",
					(long long)seq);
		memcpy(hash, next, sizeof(hash));
	}
	if (rc == 0 && step != SQLITE_DONE)
		rc = failed(self, "read the log", err);
	sqlite3_finalize(stmt);
	return rc;
}

static void
sqlite_close(void *driver)
{
	struct sqlite *self = driver;

	sqlite3_finalize(self->insert);
	sqlite3_finalize(self->get);
	sqlite3_close(self->db);
	if (self->lock_fd >= 0)
		close(self->lock_fd);
	free(self);
}

static const struct bu_store_ops sqlite_ops = {
	.name = "sqlite",
	.commit = sqlite_commit,
	.read = sqlite_read,
	.read_tail = sqlite_read_tail,
	.blobs_put = sqlite_blobs_put,
	.blob_get = sqlite_blob_get,
	.verify = sqlite_verify,
	.close = sqlite_close,
};

static int
load_last(struct sqlite *self, struct bu_err *err)
{
	sqlite3_stmt *stmt = prepare(self, last_sql, err);

	if (!stmt)
		return -1;
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		self->last_seq = sqlite3_column_int64(stmt, 0);
		snprintf(self->last_hash, sizeof(self->last_hash), "%s",
			 column(stmt, 1));
	}
	sqlite3_finalize(stmt);
	return 0;
}

static int
take_lock(struct sqlite *self, const char *path, struct bu_err *err)
{
	bu_autofree char *lock = bu_xasprintf("%s.lock", path);

	self->lock_fd = -1;
	if (strcmp(path, ":memory:") == 0)
		return 0;
	self->lock_fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (self->lock_fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "open '%s'", lock);
	if (flock(self->lock_fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "another bringupd has the log '%s' open", path);
	return bu_err_set(err, BU_ERR_IO, errno, "lock '%s'", lock);
}

struct bu_store *
bu_store_open_sqlite(struct bu_loop *loop, const char *path, struct bu_err *err)
{
	struct sqlite *self = bu_xcalloc(1, sizeof(*self));

	if (take_lock(self, path, err) != 0) {
		sqlite_close(self);
		return NULL;
	}
	if (sqlite3_open(path, &self->db) != SQLITE_OK ||
	    sqlite3_busy_timeout(self->db, 2000) != SQLITE_OK ||
	    sqlite3_exec(self->db, schema_sql, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(self->db, insert_sql, -1, &self->insert, NULL) !=
		    SQLITE_OK) {
		failed(self, "open the log", err);
		bu_err_wrap(err, "%s", path);
		sqlite_close(self);
		return NULL;
	}
	if (load_last(self, err) != 0) {
		sqlite_close(self);
		return NULL;
	}
	return bu_store_create(loop, &sqlite_ops, self);
}
