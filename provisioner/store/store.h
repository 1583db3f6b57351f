/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: append, read, blobs. Not a database: nothing in it is ever changed.
 *
 * append() queues a batch; all batches of one turn of the loop are committed together
 * and then their callbacks run in order. Memory changes in the callback and effects
 * follow it, so that state is a function of the log. Rows are hash-chained.
 */
#ifndef BU_STORE_STORE_H
#define BU_STORE_STORE_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "model/event.h"

struct bu_store;

/* err is NULL when the batch is in the log (its events then carry seq and time_ms). */
typedef void (*bu_store_done_fn)(struct bu_event *events, size_t count,
				 const struct bu_err *err, void *arg);
/* Return other than 0 stops the reading. */
typedef int (*bu_store_read_fn)(const struct bu_event *event, void *arg);

struct bu_blob {
	char digest[65]; /* SHA-256 of text */
	const char *text;
};

/* A driver (sqlite, later etcd). commit writes all rows or none. */
struct bu_store_ops {
	const char *name;
	int (*commit)(void *driver, struct bu_event *events, size_t count,
		      struct bu_err *err);
	int (*read)(void *driver, int64_t after_seq, size_t max, bu_store_read_fn fn,
		    void *arg, struct bu_err *err);
	int (*read_tail)(void *driver, size_t count, bu_store_read_fn fn, void *arg,
			 struct bu_err *err);
	/* All of them or none. */
	int (*blobs_put)(void *driver, const struct bu_blob *blobs, size_t count,
			 struct bu_err *err);
	char *(*blob_get)(void *driver, const char *digest, struct bu_err *err);
	/* BU_ERR_VERIFY naming the first row whose hash does not match. */
	int (*verify)(void *driver, struct bu_err *err);
	void (*close)(void *driver);
};

/* Takes driver. clock stamps the rows. */
struct bu_store *bu_store_create(struct bu_loop *loop, const struct bu_store_ops *ops,
				 void *driver);
/* The SQLite driver, at this path; made when missing. BU_ERR_STATE while another
 * process has it open. */
struct bu_store *bu_store_open_sqlite(struct bu_loop *loop, const char *path,
				      struct bu_err *err);
/* Commits what is queued, calls its callbacks, closes. */
void bu_store_destroy(struct bu_store *store);

/* fence: the epoch of the writer; one below the store's is refused with BU_ERR_DENIED.
 * Takes the bodies of the events; the array itself is copied. */
void bu_store_append(struct bu_store *store, struct bu_event *events, size_t count,
		     int64_t fence, bu_store_done_fn fn, void *arg);
/* How many batches were handed over, and how many of them are in the log. */
int64_t bu_store_appended(const struct bu_store *store);
int64_t bu_store_committed(const struct bu_store *store);
/* The highest epoch that was appended or read; 0 before that. */
int64_t bu_store_epoch(const struct bu_store *store);
/* Events after seq, in order, at most max (0 = all). */
int bu_store_read(struct bu_store *store, int64_t after_seq, size_t max,
		  bu_store_read_fn fn, void *arg, struct bu_err *err);
/* The last `count` events, oldest first. */
int bu_store_read_tail(struct bu_store *store, size_t count, bu_store_read_fn fn,
		       void *arg, struct bu_err *err);
/* Blobs are named by the SHA-256 of their text. ret_digest holds 65 bytes. */
int bu_store_put_blob(struct bu_store *store, const char *text, char *ret_digest,
		      struct bu_err *err);
/* Many at once: one write to the disk. */
int bu_store_put_blobs(struct bu_store *store, const char *const *texts, size_t count,
		       struct bu_err *err);
/* Owned; NULL when there is none (BU_ERR_NOTFOUND) or it was changed (VERIFY). */
char *bu_store_get_blob(struct bu_store *store, const char *digest, struct bu_err *err);
int bu_store_verify(struct bu_store *store, struct bu_err *err);

#endif
