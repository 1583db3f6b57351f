/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log in SQLite: WAL with full sync. What was proposed in a turn of the loop is
 * decided at its end, in one transaction. The process that holds the lock (lock.h)
 * leads. Called by store.c alone.
 *
 * Each row holds the hash of the row before it and its own: SHA-256 over
 * "prev|seq|time|kind|node|body". A row changed by hand breaks the chain from there on.
 *
 * A COMMIT that failed may be on the disk all the same (the frames are written, then
 * comes the sync that failed): the log is opened anew, which reads it as a start does.
 * What such a log holds is copied into the database, with a sync of its own, before
 * anything is built on it.
 */
#include "provisioner/store/sqlite_impl.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "provisioner/store/lock.h"
#include "provisioner/store/sqlite_search.h"

/* Without the index in shared memory, for which a full disk has no room. */
static const char exclusive_sql[] = "PRAGMA locking_mode=EXCLUSIVE;";
static const char schema_sql[] =
	"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
	"CREATE TABLE IF NOT EXISTS journal(seq INTEGER PRIMARY KEY, time_ms INTEGER"
	" NOT NULL, kind TEXT NOT NULL, node TEXT NOT NULL, body TEXT NOT NULL,"
	" hash TEXT NOT NULL);" BU_SQLITE_SEARCH_INDEX
	"CREATE TABLE IF NOT EXISTS blob(digest TEXT PRIMARY KEY, text TEXT NOT NULL);";
static const char insert_sql[] =
	"INSERT INTO journal(seq,time_ms,kind,node,body,hash) VALUES(?,?,?,?,?,?)";
static const char last_sql[] = "SELECT seq,hash FROM journal ORDER BY seq DESC LIMIT 1";
static const char checkpoint_sql[] = "PRAGMA wal_checkpoint(TRUNCATE)";

enum { BUSY_MS = 2000 };
enum commit { DONE, NOT, UNKNOWN };

/* The text that an event has with it is in the log with its row, or neither is. */
static int
put_attached(struct sqlite *self, const struct bu_event *event, struct bu_err *err)
{
	struct bu_blob blob = {.text = event->blob.text};

	if (!blob.text)
		return 0;
	memcpy(blob.digest, event->blob.digest, sizeof(blob.digest));
	return bu_sqlite_put_blob(self, &blob, err);
}

static int
insert_row(struct sqlite *self, struct bu_event *event, int64_t seq, char *hash,
	   struct bu_err *err)
{
	bu_autofree char *body = bu_json_canonical(event->body);
	const char *kind = bu_event_name(event->kind);
	char next[BU_DIGEST_SIZE];

	bu_sqlite_row_hash(hash,
			   &(struct row){seq, event->time_ms, kind, event->node, body},
			   next);
	sqlite3_reset(self->insert);
	sqlite3_bind_int64(self->insert, 1, seq);
	sqlite3_bind_int64(self->insert, 2, event->time_ms);
	sqlite3_bind_text(self->insert, 3, kind, -1, SQLITE_STATIC);
	sqlite3_bind_text(self->insert, 4, event->node, -1, SQLITE_STATIC);
	sqlite3_bind_text(self->insert, 5, body, -1, SQLITE_STATIC);
	sqlite3_bind_text(self->insert, 6, next, -1, SQLITE_STATIC);
	if (sqlite3_step(self->insert) != SQLITE_DONE)
		return bu_sqlite_unwritten(self, "append to the log", err);
	sqlite3_reset(self->insert);
	memcpy(hash, next, sizeof(next));
	return 0;
}

static int
fits(const struct sqlite *self, const struct bu_proposal *proposal)
{
	return proposal->fence >= self->fence;
}

/* ret_hash is of the last row. */
static int
insert_rows(struct sqlite *self, char ret_hash[BU_DIGEST_SIZE], struct bu_err *err)
{
	int64_t seq = self->last_seq, now_ms = bu_wall_ms(bu_loop_clock(self->loop));

	memcpy(ret_hash, self->last_hash, BU_DIGEST_SIZE);
	if (sqlite3_exec(self->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
		return bu_sqlite_unwritten(self, "begin a commit", err);
	for (struct bu_proposal *at = self->first; at; at = at->next)
		for (size_t i = 0; fits(self, at) && i < at->count; i++) {
			at->events[i].time_ms = now_ms;
			if (put_attached(self, &at->events[i], err) != 0 ||
			    insert_row(self, &at->events[i], ++seq, ret_hash, err) != 0)
				return -1;
		}
	return 0;
}

/* The proposals that fit are in the log, and its last rows. */
static void
number_rows(struct sqlite *self, int64_t seq)
{
	for (struct bu_proposal *at = self->first; at; at = at->next)
		for (size_t i = 0; fits(self, at) && i < at->count; i++) {
			at->events[i].seq = ++seq;
			bu_epoch_learn(&self->epoch, &at->events[i]);
		}
	self->last_seq = seq;
}

static enum commit
commit(struct sqlite *self, struct bu_err *err)
{
	char hash[BU_DIGEST_SIZE];
	enum commit result = NOT;

	if (!self->db) {
		bu_err_set(err, BU_ERR_IO, 0, "%s is not open", self->path);
		return NOT;
	}
	if (insert_rows(self, hash, err) != 0)
		goto undo;
	if (sqlite3_exec(self->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
		bu_sqlite_unwritten(self, "commit to the log", err);
		memcpy(self->doubt_hash, hash, sizeof(hash));
		result = UNKNOWN;
		goto undo;
	}
	number_rows(self, self->last_seq);
	memcpy(self->last_hash, hash, sizeof(hash));
	return DONE;
undo:
	sqlite3_reset(self->insert);
	bu_sqlite_roll_back(self);
	return result;
}

static void
sqlite_end(void *driver, struct bu_chain *ret)
{
	const struct sqlite *self = driver;

	ret->seq = self->last_seq;
	memcpy(ret->hash, self->last_hash, sizeof(ret->hash));
}

static void
sqlite_attach(void *driver, struct bu_store *store)
{
	struct sqlite *self = driver;

	self->store = store;
}

static void
sqlite_propose(void *driver, struct bu_proposal *proposal)
{
	struct sqlite *self = driver;

	proposal->next = NULL;
	*self->last = proposal;
	self->last = &proposal->next;
}

/* err: why those that fit are not in the log; NULL = they are. */
static void
tell(struct sqlite *self, const struct bu_err *err)
{
	struct bu_proposal *list = bu_steal(&self->first), *next;
	struct bu_err low;

	self->last = &self->first;
	bu_err_set(&low, BU_ERR_DENIED, 0,
		   "the log is at epoch %lld: another appliance leads; stop this one",
		   (long long)self->fence);
	for (; list; list = next) {
		const struct bu_err *why = fits(self, list) ? err : &low;

		next = list->next;
		bu_store_decide(self->store, list,
				why ? BU_PROPOSAL_NOT : BU_PROPOSAL_DONE, why);
	}
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
	sqlite3_stmt *stmt = bu_sqlite_prepare(self, last_sql, err);
	int rc = stmt ? sqlite3_step(stmt) : SQLITE_ERROR;

	if (!stmt)
		return -1;
	self->last_seq = 0;
	self->last_hash[0] = '\0';
	if (rc == SQLITE_ROW) {
		self->last_seq = sqlite3_column_int64(stmt, 0);
		snprintf(self->last_hash, sizeof(self->last_hash), "%s",
			 bu_sqlite_column(stmt, 1));
	}
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW || rc == SQLITE_DONE
		       ? 0
		       : bu_sqlite_failed(self, "read the log", err);
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
	bu_sqlite_failed(self, "open the log", err);
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
make_safe(struct sqlite *self, struct bu_err *err)
{
	if (sqlite3_exec(self->db, checkpoint_sql, NULL, NULL, NULL) != SQLITE_OK)
		return bu_sqlite_unwritten(self, "write the log", err);
	return 0;
}

/* Finds out what became of a transaction of unknown end. */
static enum commit
settle(struct sqlite *self, struct bu_err *err)
{
	int64_t count = 0;

	if (open_anew(self, err) != 0)
		return UNKNOWN;
	if (strcmp(self->last_hash, self->doubt_hash) != 0)
		return NOT;
	if (make_safe(self, err) != 0)
		return UNKNOWN;
	for (const struct bu_proposal *at = self->first; at; at = at->next)
		count += fits(self, at) ? (int64_t)at->count : 0;
	number_rows(self, self->last_seq - count);
	return DONE;
}

/* why: of the failure that left it unknown. 0 = it is known. */
static int
end_doubt(struct sqlite *self, const struct bu_err *why, struct bu_err *err)
{
	enum commit result = settle(self, err);

	if (result == UNKNOWN)
		return -1;
	self->in_doubt = 0;
	tell(self, result == DONE ? NULL : why);
	return 0;
}

static int
has_fit(const struct sqlite *self)
{
	const struct bu_proposal *at = self->first;

	while (at && !fits(self, at))
		at = at->next;
	return at != NULL;
}

static void
sqlite_decide(void *driver)
{
	struct sqlite *self = driver;
	enum commit result = DONE;
	struct bu_err err;

	self->fence = self->epoch;
	if (has_fit(self))
		result = commit(self, &err);
	if (result != DONE)
		bu_store_fail(self->store, &err);
	if (result == UNKNOWN) {
		self->in_doubt = 1;
		bu_store_decide(self->store, self->first, BU_PROPOSAL_UNKNOWN, &err);
		bu_ignore(end_doubt(self, &err, NULL));
		return;
	}
	tell(self, result == DONE ? NULL : &err);
}

static int
sqlite_mend(void *driver, struct bu_err *err)
{
	struct sqlite *self = driver;
	const struct bu_err *down = bu_store_down(self->store);

	if (self->in_doubt && end_doubt(self, down, err) != 0)
		return -1;
	if (open_anew(self, err) != 0)
		return -1;
	return make_safe(self, err);
}

static struct bu_lead
sqlite_lead(void *driver)
{
	const struct sqlite *self = driver;

	return (struct bu_lead){.epoch = self->epoch, .since_ms = self->since_ms};
}

static void
sqlite_keep_lead(void *driver, int64_t seq, int64_t led_ms)
{
	const struct sqlite *self = driver;

	bu_store_lock_write(self->lock_fd, seq, led_ms);
}

static int64_t
sqlite_kept_lead(void *driver, int64_t seq)
{
	const struct sqlite *self = driver;

	return bu_store_lock_read(self->lock_fd, seq);
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
	.attach = sqlite_attach,
	.propose = sqlite_propose,
	.decide = sqlite_decide,
	.mend = sqlite_mend,
	.lead = sqlite_lead,
	.keep_lead = sqlite_keep_lead,
	.kept_lead = sqlite_kept_lead,
	.read = bu_sqlite_read,
	.read_tail = bu_sqlite_read_tail,
	.search = bu_sqlite_find,
	.blobs_put = bu_sqlite_blobs_put,
	.blob_get = bu_sqlite_blob_get,
	.verify = bu_sqlite_verify,
	.has = bu_sqlite_has,
	.end = sqlite_end,
	.close = sqlite_close,
};

struct bu_store *
bu_store_open_sqlite(struct bu_loop *loop, const char *path, struct bu_err *err)
{
	struct sqlite *self = bu_xcalloc(1, sizeof(*self));

	self->loop = loop;
	self->since_ms = bu_loop_now_ms(loop);
	self->last = &self->first;
	self->path = bu_xstrdup(path);
	self->lock_fd = bu_store_lock(path, err);
	if (self->lock_fd == -1 || open_anew(self, err) != 0) {
		sqlite_close(self);
		return NULL;
	}
	return bu_store_create(loop, &sqlite_ops, self);
}
