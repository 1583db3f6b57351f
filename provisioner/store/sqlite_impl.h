/* SPDX-License-Identifier: Apache-2.0 */
/* The SQLite driver: sqlite.c writes, sqlite_read.c reads and keeps blobs. */
#ifndef BU_STORE_SQLITE_IMPL_H
#define BU_STORE_SQLITE_IMPL_H

#include <sqlite3.h>

#include "base/crypto.h"
#include "provisioner/store/driver.h"

struct sqlite {
	struct bu_loop *loop;
	struct bu_store *store;
	struct bu_proposal *first; /* without an outcome, oldest first */
	struct bu_proposal **last;
	int64_t fence; /* of the present transaction: what is lower is left out */
	int in_doubt;  /* that transaction may be in the log */
	int64_t epoch, since_ms;
	char *path;
	int lock_fd;
	sqlite3 *db;
	sqlite3_stmt *insert;
	sqlite3_stmt *get; /* of blobs: a plan asks for many */
	sqlite3_stmt *put; /* of blobs */
	int64_t last_seq;
	char last_hash[BU_DIGEST_SIZE];
	char doubt_hash[BU_DIGEST_SIZE]; /* of the last row that may be there */
};

/* What the hash of a row is of, besides the hash before it. */
struct row {
	int64_t seq, time_ms;
	const char *kind, *node, *body;
};

void bu_sqlite_row_hash(const char *prev, const struct row *row,
			char ret[BU_DIGEST_SIZE]);
/* BU_ERR_IO in SQLite's words: what cannot be written, how much room there is and what
 * follows; or what cannot be read. */
int bu_sqlite_unwritten(struct sqlite *self, const char *doing, struct bu_err *err);
int bu_sqlite_failed(struct sqlite *self, const char *doing, struct bu_err *err);
void bu_sqlite_roll_back(struct sqlite *self);
sqlite3_stmt *bu_sqlite_prepare(struct sqlite *self, const char *sql,
				struct bu_err *err);
/* In the present transaction. */
int bu_sqlite_put_blob(struct sqlite *self, const struct bu_blob *blob,
		       struct bu_err *err);
/* "" for NULL. */
const char *bu_sqlite_column(sqlite3_stmt *row, int index);

/* Of struct bu_store_ops. */
int bu_sqlite_read(void *driver, int64_t after_seq, size_t max, bu_store_read_fn fn,
		   void *arg, struct bu_err *err);
int bu_sqlite_read_tail(void *driver, size_t count, bu_store_read_fn fn, void *arg,
			struct bu_err *err);
int bu_sqlite_find(void *driver, struct bu_search *search, bu_store_read_fn fn,
		   void *arg, struct bu_err *err);
int bu_sqlite_blobs_put(void *driver, const struct bu_blob *blobs, size_t count,
			struct bu_err *err);
char *bu_sqlite_blob_get(void *driver, const char *digest, struct bu_err *err);
int bu_sqlite_verify(void *driver, struct bu_chain *at, size_t max, struct bu_err *err);
int bu_sqlite_has(void *driver, const struct bu_chain *row, struct bu_err *err);

#endif
