/* SPDX-License-Identifier: Apache-2.0 */
/* A store and its followers; used by store.c, follow.c and blobs.c alone. */
#ifndef BU_STORE_STORE_IMPL_H
#define BU_STORE_STORE_IMPL_H

#include "provisioner/store/driver.h"

struct bu_follower {
	struct bu_follower *next;
	struct bu_store *store; /* NULL = it is gone */
	bu_store_row_fn fn;
	void *arg;
	int64_t seq; /* the last row that it took */
	int stuck;   /* it could not take the one after that */
};

struct bu_store {
	struct bu_loop *loop;
	const struct bu_store_ops *ops;
	void *driver;
	struct bu_timer *flush;
	struct batch *first; /* without an outcome, oldest first */
	struct batch **last;
	struct batch *queued; /* the first of them that was not proposed; NULL = none */
	int64_t appended, committed; /* batches */
	int64_t bytes;               /* handed over */
	struct bu_err down;          /* kind NONE: it takes rows */
	struct bu_err refusal;
	int64_t refused_first, refused_last; /* batches that got the refusal */
	void (*down_fn)(void *arg);
	void *down_arg;
	struct bu_follower *followers;
};

/* Rows that have come into the log, to all followers. -1: not all could take them; err
 * is of the last. */
bu_must int bu_store_hand_over(struct bu_store *store, const struct bu_event *events,
			       size_t count, struct bu_err *err);
/* Rows that are in the log without being heard of. -1: they cannot be read or taken. */
bu_must int bu_store_catch_up(struct bu_follower *follower, struct bu_err *err);

#endif
