/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From rows to memory. Called by store.c with what was decided. Invariant: a follower
 * has each row once, in order; after one that it could not take it gets none until that
 * was taken.
 */
#include "model/event_body.h"
#include "provisioner/store/store_impl.h"

void
bu_epoch_learn(int64_t *epoch, const struct bu_event *event)
{
	union bu_body body;

	/* Rows are read again: the epoch only ever rises. */
	if (event->kind == BU_EVENT_EPOCH && bu_event_read(event, &body, NULL) == 0 &&
	    body.epoch.epoch > *epoch)
		*epoch = body.epoch.epoch;
}

/* -1: the follower, which is not stuck, cannot take the row now, and is. */
static int
hand_over(struct bu_follower *follower, const struct bu_event *event,
	  struct bu_err *err)
{
	if (event->seq <= follower->seq)
		return 0;
	if (follower->fn(event, follower->arg, err) != 0) {
		follower->stuck = 1;
		return -1;
	}
	follower->seq = event->seq;
	return 0;
}

/* A gap before the event has rows of another appliance, which are read first. */
static int
hand_over_next(struct bu_follower *follower, const struct bu_event *event,
	       struct bu_err *err)
{
	return event->seq > follower->seq + 1 ? bu_store_catch_up(follower, err)
					      : hand_over(follower, event, err);
}

int
bu_store_hand_over(struct bu_store *store, const struct bu_event *events, size_t count,
		   struct bu_err *err)
{
	struct bu_follower *follower;
	int rc = 0;

	for (size_t i = 0; i < count; i++)
		for (follower = store->followers; follower; follower = follower->next)
			if (!follower->stuck &&
			    hand_over_next(follower, &events[i], err) != 0)
				rc = -1;
	return rc;
}

int
bu_store_read(struct bu_store *store, int64_t after_seq, size_t max,
	      bu_store_read_fn fn, void *arg, struct bu_err *err)
{
	return store->ops->read(store->driver, after_seq, max, fn, arg, err);
}

struct catching_up {
	struct bu_follower *follower;
	struct bu_err bad; /* of one that is stuck */
};

static int
on_missed(const struct bu_event *event, void *arg)
{
	struct catching_up *catching_up = arg;

	return hand_over(catching_up->follower, event, &catching_up->bad) != 0;
}

/* Rows that are in the log without being heard of. */
int
bu_store_catch_up(struct bu_follower *follower, struct bu_err *err)
{
	struct catching_up catching_up = {.follower = follower};
	int rc;

	follower->stuck = 0;
	rc = bu_store_read(follower->store, follower->seq, 0, on_missed, &catching_up,
			   err);
	if (follower->stuck && err)
		*err = catching_up.bad;
	return follower->stuck ? -1 : rc;
}

struct bu_follower *
bu_store_follow(struct bu_store *store, bu_store_row_fn fn, void *arg,
		struct bu_err *err)
{
	struct bu_follower *follower = bu_xcalloc(1, sizeof(*follower)), **at;

	*follower = (struct bu_follower){.store = store, .fn = fn, .arg = arg};
	if (bu_store_catch_up(follower, err) != 0) {
		free(follower);
		return NULL;
	}
	for (at = &store->followers; *at;)
		at = &(*at)->next;
	*at = follower;
	return follower;
}

void
bu_store_unfollow(struct bu_follower *follower)
{
	struct bu_follower **at;

	if (!follower)
		return;
	if (follower->store) {
		for (at = &follower->store->followers; *at != follower;)
			at = &(*at)->next;
		*at = follower->next;
	}
	free(follower);
}

int
bu_store_read_tail(struct bu_store *store, size_t count, bu_store_read_fn fn, void *arg,
		   struct bu_err *err)
{
	return store->ops->read_tail(store->driver, count, fn, arg, err);
}

int
bu_store_search(struct bu_store *store, struct bu_search *search, bu_store_read_fn fn,
		void *arg, struct bu_err *err)
{
	return store->ops->search(store->driver, search, fn, arg, err);
}
