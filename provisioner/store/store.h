/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: append, read, blobs. Not a database: nothing in it is ever changed.
 *
 * append() queues a batch; all batches of one turn of the loop are proposed together to
 * the driver (driver.h), which decides them. follow() is the only way from a row to
 * memory, for rows of this process as for those of another one; the callbacks of the
 * batches run after it, in order, and tell only what was decided. Effects follow what
 * was applied, so that state is a function of the log. Rows are hash-chained.
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

/* Which rows are looked for, and how far. */
struct bu_search {
	const json_t *nodes; /* their names as keys; NULL = rows of any node or none */
	int64_t after, before; /* rows between these two; before 0 = no end */
	int newest;            /* the newest first; else the oldest */
	size_t max;            /* rows that are handed over; 0 = none */
	size_t look;           /* rows that are looked at, where the nodes are many */
	/* Returned. Where to go on: the last row that was decided on. With the newest
	 * first `after` = there are no others; else `last` = there are none yet. */
	int64_t at;
	int64_t last; /* of the log */
};

/* A row that was looked at, and its hash; {0} = none was. */
struct bu_chain {
	int64_t seq;
	char hash[65];
};

/* The SQLite driver, at this path; made when missing. BU_ERR_STATE while another
 * process has it open. */
struct bu_store *bu_store_open_sqlite(struct bu_loop *loop, const char *path,
				      struct bu_err *err);
/* Proposes what is queued, calls all callbacks, closes. A batch that the driver has not
 * decided by then gets an error, and may be in the log all the same. Followers get
 * nothing more, and stay their owners'. */
void bu_store_destroy(struct bu_store *store);

/* Hands each row over, in order and once: those that are there before it returns, those
 * that come when they are in. NULL: they cannot be read, or fn said -1. */
struct bu_follower *bu_store_follow(struct bu_store *store, bu_store_row_fn fn,
				    void *arg, struct bu_err *err);
void bu_store_unfollow(struct bu_follower *follower);

/* fence: the epoch of the writer; one below the log's is refused with BU_ERR_DENIED.
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
/* Mends a store that is down as far as that it can be read, finds out what was not
 * known and hands over what was not taken. It may be up after that: a batch of
 * bu_store_resume() was among those that were not known. */
bu_must int bu_store_mend(struct bu_store *store, struct bu_err *err);
/* After that: proposes this batch, as bu_store_append() does and before all that is
 * queued. When it is in the log the store is up. fn may be called before this returns.
 */
void bu_store_resume(struct bu_store *store, struct bu_event *events, size_t count,
		     int64_t fence, bu_store_done_fn fn, void *arg);

/* Whether this process may write. */
struct bu_lead {
	int64_t epoch;    /* the highest in the log, as far as it was read */
	int64_t since_ms; /* monotonic; -1 = another appliance leads, or none does */
};
struct bu_lead bu_store_lead(const struct bu_store *store);
/* For how long the leader whose life began with row seq was able to write: kept beside
 * the log, without a row. -1 = it did not say. */
void bu_store_keep_lead(struct bu_store *store, int64_t seq, int64_t led_ms);
int64_t bu_store_kept_lead(const struct bu_store *store, int64_t seq);
/* Events after seq, in order, at most max (0 = all). */
bu_must int bu_store_read(struct bu_store *store, int64_t after_seq, size_t max,
			  bu_store_read_fn fn, void *arg, struct bu_err *err);
/* The last `count` events, oldest first. */
bu_must int bu_store_read_tail(struct bu_store *store, size_t count,
			       bu_store_read_fn fn, void *arg, struct bu_err *err);
/* The rows of some nodes, in the order of the search. Of BU_SEARCH_FEW nodes at most
 * exactly these are read, by an index, however long the log is; of more nodes each row
 * is looked at, without its body. */
enum { BU_SEARCH_FEW = 64 };
bu_must int bu_store_search(struct bu_store *store, struct bu_search *search,
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
/* 1 = the log's row of this number has this hash, 0 = not, or there is none; -1 =
 * error. */
int bu_store_has(struct bu_store *store, const struct bu_chain *row,
		 struct bu_err *err);
/* The last row; {0} = the log is empty. */
void bu_store_end(const struct bu_store *store, struct bu_chain *ret);
/* named.c. Looks at the blobs that the rows after *after name, at most max rows (0 =
 * all) and about max_bytes of blobs (0 = all), and moves *after to the last of these
 * rows. BU_ERR_VERIFY: a blob is missing or was changed; err names its row. */
bu_must int bu_store_verify_blobs(struct bu_store *store, int64_t *after, size_t max,
				  size_t max_bytes, struct bu_err *err);
/* snapshot.c. A copy of the log at `path`, which another process has open, as of one
 * moment, into the new file `to`. Blocks: for children. */
bu_must int bu_store_snapshot(const char *path, const char *to, struct bu_err *err);

#endif
