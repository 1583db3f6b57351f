/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: append, read, blobs. Not a database: nothing in it is ever changed.
 *
 * append() queues a batch; all batches of one turn of the loop are committed together.
 * follow() is the only way from a row to memory, for rows of this process as for those
 * of another one; the callbacks of the batches run after it, in order, and tell only
 * what was decided. Effects follow what was applied, so that state is a function of the
 * log. Rows are hash-chained.
 *
 * A store that could not write (a full disk) is down: it takes nothing more, and its
 * owner tries again by bu_store_mend() and bu_store_resume(). Reading goes on.
 */
#ifndef BU_STORE_STORE_H
#define BU_STORE_STORE_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "model/event.h"

struct bu_store;

/* What became of a batch. */
struct bu_decided {
	int64_t seq;              /* of its first row; 0 = it is not in the log */
	int64_t time_ms;          /* of all of its rows */
	const struct bu_err *err; /* why it is not; NULL = it is */
};
typedef void (*bu_store_done_fn)(const struct bu_decided *decided, void *arg);
/* A row that is in the log. -1: what it needs cannot be read now; the store is down
 * then, and the row comes again, and those after it, with the next mending. */
typedef int (*bu_store_row_fn)(const struct bu_event *event, void *arg,
			       struct bu_err *err);
/* Return other than 0 stops the reading. */
typedef int (*bu_store_read_fn)(const struct bu_event *event, void *arg);

struct bu_blob {
	char digest[65]; /* SHA-256 of text */
	const char *text;
};

enum bu_commit {
	BU_COMMIT_DONE,
	BU_COMMIT_NOT,     /* none of its rows is in the log */
	BU_COMMIT_UNKNOWN, /* settle() finds out */
};

/* A row that was looked at, and its hash; {0} = none was. */
struct bu_chain {
	int64_t seq;
	char hash[65];
};

/* A driver (sqlite, later etcd). commit writes all rows or none. */
struct bu_store_ops {
	const char *name;
	enum bu_commit (*commit)(void *driver, struct bu_event *events, size_t count,
				 struct bu_err *err);
	/* After a commit with an unknown end: reads what a start would read. UNKNOWN:
	 * it cannot be read. */
	enum bu_commit (*settle)(void *driver, struct bu_event *events, size_t count,
				 struct bu_err *err);
	/* After a failure: opens anew, and makes what is in the log safe on the disk.
	 */
	int (*mend)(void *driver, struct bu_err *err);
	int (*read)(void *driver, int64_t after_seq, size_t max, bu_store_read_fn fn,
		    void *arg, struct bu_err *err);
	int (*read_tail)(void *driver, size_t count, bu_store_read_fn fn, void *arg,
			 struct bu_err *err);
	/* All of them or none. */
	int (*blobs_put)(void *driver, const struct bu_blob *blobs, size_t count,
			 struct bu_err *err);
	char *(*blob_get)(void *driver, const char *digest, struct bu_err *err);
	int (*verify)(void *driver, struct bu_chain *at, size_t max,
		      struct bu_err *err);
	void (*close)(void *driver);
};

/* Takes driver. clock stamps the rows. */
struct bu_store *bu_store_create(struct bu_loop *loop, const struct bu_store_ops *ops,
				 void *driver);
/* The SQLite driver, at this path; made when missing. BU_ERR_STATE while another
 * process has it open. */
struct bu_store *bu_store_open_sqlite(struct bu_loop *loop, const char *path,
				      struct bu_err *err);
/* Commits what is queued, calls its callbacks, closes. Followers get nothing more, and
 * stay their owners'. */
void bu_store_destroy(struct bu_store *store);

/* Hands each row over, in order and once: those that are there before it returns, those
 * that come when they are in. NULL: they cannot be read, or fn said -1. */
struct bu_follower *bu_store_follow(struct bu_store *store, bu_store_row_fn fn,
				    void *arg, struct bu_err *err);
void bu_store_unfollow(struct bu_follower *follower);

/* fence: the epoch of the writer; one below the store's is refused with BU_ERR_DENIED.
 * Takes the bodies of the events; the array itself is copied. */
void bu_store_append(struct bu_store *store, struct bu_event *events, size_t count,
		     int64_t fence, bu_store_done_fn fn, void *arg);
/* How many batches were handed over, and of how many of them is known whether they are
 * in the log. */
int64_t bu_store_appended(const struct bu_store *store);
int64_t bu_store_committed(const struct bu_store *store);
/* Bytes of the bodies and blobs that were handed over since the start. */
int64_t bu_store_bytes(const struct bu_store *store);
/* Why one of the batches after `after`, up to `until`, is not in the log; NULL = all
 * that are decided are. Of the last failure only. */
const struct bu_err *bu_store_refused(const struct bu_store *store, int64_t after,
				      int64_t until);

/* Why the store takes nothing; NULL = it does. */
const struct bu_err *bu_store_down(const struct bu_store *store);
/* fn is called when it goes down, before the callbacks of what was not written. */
void bu_store_on_down(struct bu_store *store, void (*fn)(void *arg), void *arg);
/* As if a write had failed, for what could not read what it needs. */
void bu_store_fail(struct bu_store *store, const struct bu_err *err);
/* Mends a store that is down as far as that it can be read, decides what was not known
 * and hands over what was not taken. */
bu_must int bu_store_mend(struct bu_store *store, struct bu_err *err);
/* After that: writes these events, which then carry seq and time_ms (their bodies stay
 * the caller's); rows are taken again. Where it fails they may be in the log all the
 * same: the next mending shows it. */
bu_must int bu_store_resume(struct bu_store *store, struct bu_event *events,
			    size_t count, struct bu_err *err);

/* For how long the process that began with row seq was able to write: kept in the file
 * of the store's lock, without a row. -1 = it did not say. */
void bu_store_set_alive(struct bu_store *store, int64_t seq, int64_t alive_ms);
int64_t bu_store_get_alive(struct bu_store *store, int64_t seq);
/* The file for that (lock.h); -2 = none, as at first. Stays the caller's. */
void bu_store_use_lock(struct bu_store *store, int fd);
/* The highest epoch that was appended or read; 0 before that. */
int64_t bu_store_epoch(const struct bu_store *store);
/* Events after seq, in order, at most max (0 = all). */
bu_must int bu_store_read(struct bu_store *store, int64_t after_seq, size_t max,
			  bu_store_read_fn fn, void *arg, struct bu_err *err);
/* The last `count` events, oldest first. */
bu_must int bu_store_read_tail(struct bu_store *store, size_t count,
			       bu_store_read_fn fn, void *arg, struct bu_err *err);
/* Blobs are named by the SHA-256 of their text. ret_digest holds 65 bytes. */
bu_must int bu_store_put_blob(struct bu_store *store, const char *text,
			      char *ret_digest, struct bu_err *err);
/* Many at once: one write to the disk. */
bu_must int bu_store_put_blobs(struct bu_store *store, const char *const *texts,
			       size_t count, struct bu_err *err);
/* Owned; NULL when there is none (BU_ERR_NOTFOUND) or it was changed (VERIFY). */
char *bu_store_get_blob(struct bu_store *store, const char *digest, struct bu_err *err);
/* Looks at the hashes of the rows after *at, at most max (0 = all), and moves *at to
 * the last of them. BU_ERR_VERIFY names the first row that does not follow from those
 * before it. */
bu_must int bu_store_verify(struct bu_store *store, struct bu_chain *at, size_t max,
			    struct bu_err *err);

#endif
