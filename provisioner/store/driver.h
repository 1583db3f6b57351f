/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a driver of the log is to do: propose and decide. bringupd proposes batches, the
 * driver puts each of them into the log as a whole or not at all, and says which. It
 * may do so in the same turn of the loop (SQLite) or many turns later.
 *
 * The driver also knows who leads. It refuses a batch whose fence is below the epoch of
 * the log, so that an appliance that was replaced writes nothing more.
 *
 * Calls of a driver go to its store: bu_store_decide() for each proposal, in the order
 * in which they were proposed; bu_store_grew() for rows that this process did not
 * write; bu_store_fail() when it can write no more, before it refuses what was
 * proposed.
 */
#ifndef BU_STORE_DRIVER_H
#define BU_STORE_DRIVER_H

#include "provisioner/store/store.h"

/* A batch; the store's until bu_store_decide() has said that it is in the log or not.
 * Each event has seq 0 then, and the driver fills seq and time_ms in. The text that an
 * event has with it (blob) is in the log with its row, or neither is. */
struct bu_proposal {
	struct bu_proposal *next; /* the driver's, for its queue */
	struct bu_event *events;
	size_t count;
	int64_t fence;
};

/* UNKNOWN: it may be in the log; DONE or NOT follows. */
enum bu_proposal_end { BU_PROPOSAL_DONE, BU_PROPOSAL_NOT, BU_PROPOSAL_UNKNOWN };

struct bu_blob {
	char digest[65]; /* SHA-256 of text */
	const char *text;
};

struct bu_store_ops {
	const char *name;
	/* Comes before all others. */
	void (*attach)(void *driver, struct bu_store *store);
	/* Takes a proposal. Reports nothing yet. */
	void (*propose)(void *driver, struct bu_proposal *proposal);
	/* No more proposals come in this turn: those that are there may go into the log
	 * together, now or later. */
	void (*decide)(void *driver);
	/* After bu_store_fail(): makes what is in the log readable and safe, and finds
	 * out what was UNKNOWN. -1: it cannot yet; the caller comes again. */
	int (*mend)(void *driver, struct bu_err *err);
	struct bu_lead (*lead)(void *driver);
	/* bu_store_keep_lead(), bu_store_kept_lead(). */
	void (*keep_lead)(void *driver, int64_t seq, int64_t led_ms);
	int64_t (*kept_lead)(void *driver, int64_t seq);
	int (*read)(void *driver, int64_t after_seq, size_t max, bu_store_read_fn fn,
		    void *arg, struct bu_err *err);
	int (*read_tail)(void *driver, size_t count, bu_store_read_fn fn, void *arg,
			 struct bu_err *err);
	int (*search)(void *driver, struct bu_search *search, bu_store_read_fn fn,
		      void *arg, struct bu_err *err);
	/* All of them or none. */
	int (*blobs_put)(void *driver, const struct bu_blob *blobs, size_t count,
			 struct bu_err *err);
	char *(*blob_get)(void *driver, const char *digest, struct bu_err *err);
	int (*verify)(void *driver, struct bu_chain *at, size_t max,
		      struct bu_err *err);
	/* bu_store_has(). */
	int (*has)(void *driver, const struct bu_chain *row, struct bu_err *err);
	/* The last row of the log, as this process wrote or read it. */
	void (*end)(void *driver, struct bu_chain *ret);
	/* Proposals without an outcome are gone by then. */
	void (*close)(void *driver);
};

/* Takes driver. */
struct bu_store *bu_store_create(struct bu_loop *loop, const struct bu_store_ops *ops,
				 void *driver);
/* What became of the oldest proposal that has no outcome. err: why it is not in the
 * log, or why that is not known. DONE and NOT end the proposal. */
void bu_store_decide(struct bu_store *store, struct bu_proposal *proposal,
		     enum bu_proposal_end end, const struct bu_err *err);
/* Another appliance wrote rows. */
void bu_store_grew(struct bu_store *store);

/* Raises the epoch to that of the row, if it is of one. */
void bu_epoch_learn(int64_t *epoch, const struct bu_event *event);

#endif
