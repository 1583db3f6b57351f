/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is proposed to a driver, and what becomes of it.
 *
 * Invariants: a batch gets its callback when it is known whether it is in the log, and
 * not before; a follower has each row once and before that callback; after a failure
 * nothing is proposed until a batch of bu_store_resume() is in the log.
 */
#include <string.h>

#include "provisioner/store/store_impl.h"

struct batch {
	struct bu_proposal is; /* the first member: drivers have a pointer to it */
	struct batch *next;
	bu_store_done_fn fn;
	void *arg;
	int resumes; /* with it in the log the store is up; not counted */
};

static void
batch_free(struct batch *batch)
{
	for (size_t i = 0; i < batch->is.count; i++)
		bu_event_fini(&batch->is.events[i]);
	free(batch->is.events);
	free(batch);
}

static struct batch *
batch_create(struct bu_event *events, size_t count, int64_t fence, bu_store_done_fn fn,
	     void *arg)
{
	struct batch *batch = bu_xcalloc(1, sizeof(*batch));

	batch->is.events = bu_xcalloc(count, sizeof(*events));
	memcpy(batch->is.events, events, count * sizeof(*events));
	batch->is.count = count;
	batch->is.fence = fence;
	batch->fn = fn;
	batch->arg = arg;
	return batch;
}

static void
finish(struct batch *batch, const struct bu_err *err)
{
	struct bu_decided decided = {.err = err};

	if (!err && batch->is.count) {
		decided.seq = batch->is.events[0].seq;
		decided.time_ms = batch->is.events[0].time_ms;
	}
	if (batch->fn)
		batch->fn(&decided, batch->arg);
	batch_free(batch);
}

void
bu_store_fail(struct bu_store *store, const struct bu_err *err)
{
	if (store->down.kind)
		return;
	store->down = *err;
	if (store->down_fn)
		store->down_fn(store->down_arg);
}

/* The last one that was decided. */
static void
refuse(struct bu_store *store, const struct bu_err *err)
{
	if (store->refused_last != store->committed - 1)
		store->refused_first = store->committed;
	store->refused_last = store->committed;
	store->refusal = *err;
}

static void
hand_over(struct bu_store *store, const struct bu_event *events, size_t count)
{
	struct bu_err bad;

	if (bu_store_hand_over(store, events, count, &bad) != 0)
		bu_store_fail(store, &bad);
}

/* Tells the oldest batch; err NULL = it is in the log. */
static void
end_first(struct bu_store *store, const struct bu_err *err)
{
	struct batch *batch = store->first;

	store->first = batch->next;
	if (!store->first)
		store->last = &store->first;
	if (store->queued == batch)
		store->queued = batch->next;
	store->committed += !batch->resumes;
	if (err && !batch->resumes)
		refuse(store, err);
	if (!err && batch->resumes)
		store->down.kind = BU_ERR_NONE;
	if (!err)
		hand_over(store, batch->is.events, batch->is.count);
	finish(batch, err);
}

void
bu_store_decide(struct bu_store *store, struct bu_proposal *proposal,
		enum bu_proposal_end end, const struct bu_err *err)
{
	bu_assert(store->first && &store->first->is == proposal);
	bu_assert(store->first != store->queued);
	if (end == BU_PROPOSAL_UNKNOWN) {
		bu_store_fail(store, err);
		return;
	}
	end_first(store, end == BU_PROPOSAL_DONE ? NULL : err);
	/* They had to wait for what was not known. */
	if (store->queued)
		bu_timer_set(store->flush, 0);
}

void
bu_store_grew(struct bu_store *store)
{
	struct bu_follower *follower;
	struct bu_err err;

	for (follower = store->followers; follower; follower = follower->next)
		if (!follower->stuck && bu_store_catch_up(follower, &err) != 0)
			bu_store_fail(store, &err);
}

/* A store that is down takes nothing. Callbacks may append more; that waits. */
static void
refuse_queued(struct bu_store *store)
{
	size_t count = 0;

	/* What came after them comes after them. */
	if (store->first != store->queued)
		return;
	for (const struct batch *batch = store->queued; batch; batch = batch->next)
		count++;
	while (count-- > 0)
		end_first(store, &store->down);
}

static void
flush(struct bu_store *store)
{
	struct batch *batch = store->queued;

	if (store->down.kind) {
		refuse_queued(store);
		return;
	}
	if (!batch)
		return;
	store->queued = NULL;
	for (; batch; batch = batch->next)
		store->ops->propose(store->driver, &batch->is);
	store->ops->decide(store->driver);
}

static void
on_flush(void *arg)
{
	flush(arg);
}

struct bu_store *
bu_store_create(struct bu_loop *loop, const struct bu_store_ops *ops, void *driver)
{
	struct bu_store *store = bu_xcalloc(1, sizeof(*store));

	store->loop = loop;
	store->ops = ops;
	store->driver = driver;
	store->last = &store->first;
	store->flush = bu_timer_create(loop, on_flush, store);
	ops->attach(driver, store);
	return store;
}

void
bu_store_destroy(struct bu_store *store)
{
	if (!store)
		return;
	do
		flush(store);
	while (store->queued && !store->down.kind);
	if (!store->down.kind)
		bu_err_set(&store->down, BU_ERR_STATE, 0, "the log was closed");
	while (store->first)
		end_first(store, &store->down);
	bu_timer_destroy(store->flush);
	for (struct bu_follower *one = store->followers; one; one = one->next)
		one->store = NULL;
	store->ops->close(store->driver);
	free(store);
}

void
bu_store_append(struct bu_store *store, struct bu_event *events, size_t count,
		int64_t fence, bu_store_done_fn fn, void *arg)
{
	struct batch *batch = batch_create(events, count, fence, fn, arg);

	for (size_t i = 0; i < count; i++) {
		const char *text = events[i].blob.text;

		store->bytes +=
			(int64_t)json_dumpb(events[i].body, NULL, 0, JSON_COMPACT);
		store->bytes += text ? (int64_t)strlen(text) : 0;
	}
	store->appended++;
	/* Those that come after it do not put its commit off. */
	if (!store->queued) {
		bu_timer_set(store->flush, 0);
		store->queued = batch;
	}
	*store->last = batch;
	store->last = &batch->next;
}

int64_t
bu_store_bytes(const struct bu_store *store)
{
	return store->bytes;
}

int64_t
bu_store_appended(const struct bu_store *store)
{
	return store->appended;
}

int64_t
bu_store_committed(const struct bu_store *store)
{
	return store->committed;
}

const struct bu_err *
bu_store_refused(const struct bu_store *store, int64_t after, int64_t until)
{
	return store->refused_last > after && store->refused_first <= until
		       ? &store->refusal
		       : NULL;
}

const struct bu_err *
bu_store_down(const struct bu_store *store)
{
	return store->down.kind ? &store->down : NULL;
}

void
bu_store_on_down(struct bu_store *store, void (*fn)(void *arg), void *arg)
{
	store->down_fn = fn;
	store->down_arg = arg;
}

int
bu_store_mend(struct bu_store *store, struct bu_err *err)
{
	int rc;

	bu_assert(store->down.kind);
	rc = store->ops->mend(store->driver, err);
	if (store->down.kind)
		refuse_queued(store);
	if (rc != 0)
		return -1;
	for (struct bu_follower *one = store->followers; one; one = one->next)
		if (bu_store_catch_up(one, err) != 0)
			return -1;
	return 0;
}

void
bu_store_resume(struct bu_store *store, struct bu_event *events, size_t count,
		int64_t fence, bu_store_done_fn fn, void *arg)
{
	struct batch *batch = batch_create(events, count, fence, fn, arg);

	bu_assert(store->down.kind && store->first == store->queued);
	batch->resumes = 1;
	batch->next = store->first;
	store->first = batch;
	if (!batch->next)
		store->last = &batch->next;
	store->ops->propose(store->driver, &batch->is);
	store->ops->decide(store->driver);
}

struct bu_lead
bu_store_lead(const struct bu_store *store)
{
	return store->ops->lead(store->driver);
}

void
bu_store_keep_lead(struct bu_store *store, int64_t seq, int64_t led_ms)
{
	store->ops->keep_lead(store->driver, seq, led_ms);
}

int64_t
bu_store_kept_lead(const struct bu_store *store, int64_t seq)
{
	return store->ops->kept_lead(store->driver, seq);
}

int
bu_store_verify(struct bu_store *store, struct bu_chain *at, size_t max,
		struct bu_err *err)
{
	return store->ops->verify(store->driver, at, max, err);
}

int
bu_store_has(struct bu_store *store, const struct bu_chain *row, struct bu_err *err)
{
	return store->ops->has(store->driver, row, err);
}

void
bu_store_end(const struct bu_store *store, struct bu_chain *ret)
{
	store->ops->end(store->driver, ret);
}
