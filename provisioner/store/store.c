/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group commit over a driver. The one place where bringupd waits for a disk.
 *
 * Invariants: a batch gets its callback when it is known whether it is in the log, and
 * not before; a follower has each row once and before that callback; after a failure
 * nothing is written until bu_store_resume() has written something.
 */
#include <string.h>

#include "provisioner/store/lock.h"
#include "provisioner/store/store_impl.h"

struct batch {
	struct batch *next;
	struct bu_event *events;
	size_t count;
	int64_t fence;
	bu_store_done_fn fn;
	void *arg;
};

static void
batch_free(struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		bu_event_fini(&batch->events[i]);
	free(batch->events);
	free(batch);
}

static void
finish(struct batch *batch, const struct bu_err *err)
{
	struct bu_decided decided = {.err = err};

	if (!err && batch->count) {
		decided.seq = batch->events[0].seq;
		decided.time_ms = batch->events[0].time_ms;
	}
	if (batch->fn)
		batch->fn(&decided, batch->arg);
	batch_free(batch);
}

/* Takes the batches whose fence holds out of the queue, in order. */
static struct batch *
take_fit(struct bu_store *store, struct batch **ret_refused)
{
	struct batch *fit = NULL, **fit_end = &fit, **refused_end = ret_refused;
	struct batch *batch;

	while ((batch = store->first)) {
		struct batch ***end =
			batch->fence >= store->epoch ? &fit_end : &refused_end;

		store->first = batch->next;
		batch->next = NULL;
		**end = batch;
		*end = &batch->next;
	}
	store->last = &store->first;
	return fit;
}

/* All events of the batches in one array; borrowed bodies, the array is the caller's.
 */
static struct bu_event *
flatten(const struct batch *batch, int64_t now_ms, size_t *ret_count)
{
	struct bu_event *all = NULL;
	size_t count = 0, cap = 0;

	for (; batch; batch = batch->next) {
		all = bu_xgrow(all, &cap, count + batch->count, sizeof(*all));
		for (size_t i = 0; i < batch->count; i++) {
			all[count] = batch->events[i];
			all[count++].time_ms = now_ms;
		}
	}
	*ret_count = count;
	return all;
}

/* Writes the batches, or finds out what became of them. */
static enum bu_commit
commit(struct bu_store *store, const struct batch *fit, int settle, struct bu_err *err)
{
	int64_t now_ms = fit->events[0].time_ms;
	bu_autofree struct bu_event *all = NULL;
	size_t count, at = 0;
	enum bu_commit result;

	if (!settle)
		now_ms = bu_wall_ms(bu_loop_clock(store->loop));
	all = flatten(fit, now_ms, &count);
	result = (settle ? store->ops->settle : store->ops->commit)(store->driver, all,
								    count, err);
	for (const struct batch *batch = fit; batch; batch = batch->next)
		for (size_t i = 0; i < batch->count; i++, at++) {
			batch->events[i].time_ms = all[at].time_ms;
			if (result != BU_COMMIT_DONE)
				continue;
			batch->events[i].seq = all[at].seq;
			bu_store_learn_epoch(store, &all[at]);
		}
	return result;
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

/* Tells all of them; err NULL = they are in the log. */
static void
finish_all(struct bu_store *store, struct batch *batch, const struct bu_err *err)
{
	struct batch *next;

	for (; batch; batch = next) {
		next = batch->next;
		store->committed++;
		if (err)
			refuse(store, err);
		else
			hand_over(store, batch->events, batch->count);
		finish(batch, err);
	}
}

/* 0 when it is known of each batch whether it is in the log. */
static int
settle(struct bu_store *store, struct bu_err *err)
{
	struct batch *limbo = store->limbo;
	enum bu_commit result;

	if (!limbo)
		return 0;
	result = commit(store, limbo, 1, err);
	if (result == BU_COMMIT_UNKNOWN)
		return -1;
	store->limbo = NULL;
	finish_all(store, limbo, result == BU_COMMIT_DONE ? NULL : &store->down);
	return 0;
}

static void
write_batches(struct bu_store *store, struct batch *fit)
{
	struct bu_err err = {0};
	enum bu_commit result = BU_COMMIT_NOT;

	if (!store->down.kind)
		result = commit(store, fit, 0, &err);
	if (result == BU_COMMIT_DONE) {
		finish_all(store, fit, NULL);
		return;
	}
	bu_store_fail(store, &err);
	if (result == BU_COMMIT_NOT) {
		finish_all(store, fit, &store->down);
		return;
	}
	store->limbo = fit;
	settle(store, NULL);
}

static void
flush(struct bu_store *store)
{
	struct batch *refused = NULL, *fit;
	struct bu_err err;

	/* What came after them comes after them. */
	if (store->limbo)
		return;
	fit = take_fit(store, &refused);
	if (fit)
		write_batches(store, fit);
	bu_err_set(&err, BU_ERR_DENIED, 0,
		   "the log is at epoch %lld: another appliance leads; stop this one",
		   (long long)store->epoch);
	finish_all(store, refused, &err);
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
	store->lock_fd = -2;
	store->flush = bu_timer_create(loop, on_flush, store);
	return store;
}

void
bu_store_destroy(struct bu_store *store)
{
	if (!store)
		return;
	do {
		finish_all(store, bu_steal(&store->limbo), &store->down);
		flush(store);
	} while (store->limbo || store->first);
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
	struct batch *batch = bu_xcalloc(1, sizeof(*batch));

	batch->events = bu_xcalloc(count, sizeof(*events));
	memcpy(batch->events, events, count * sizeof(*events));
	batch->count = count;
	batch->fence = fence;
	batch->fn = fn;
	batch->arg = arg;
	for (size_t i = 0; i < count; i++) {
		const char *text = events[i].blob.text;

		store->bytes +=
			(int64_t)json_dumpb(events[i].body, NULL, 0, JSON_COMPACT);
		store->bytes += text ? (int64_t)strlen(text) : 0;
	}
	store->appended++;
	/* Those that come after it do not put its commit off. */
	if (!store->first)
		bu_timer_set(store->flush, 0);
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
	bu_assert(store->down.kind);
	if (settle(store, err) != 0)
		return -1;
	flush(store);
	if (store->ops->mend(store->driver, err) != 0)
		return -1;
	for (struct bu_follower *one = store->followers; one; one = one->next)
		if (bu_store_catch_up(one, err) != 0)
			return -1;
	return 0;
}

int
bu_store_resume(struct bu_store *store, struct bu_event *events, size_t count,
		struct bu_err *err)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(store->loop));

	for (size_t i = 0; i < count; i++)
		events[i].time_ms = now_ms;
	if (store->ops->commit(store->driver, events, count, err) != BU_COMMIT_DONE)
		return -1;
	store->down.kind = BU_ERR_NONE;
	hand_over(store, events, count);
	return 0;
}

void
bu_store_set_alive(struct bu_store *store, int64_t seq, int64_t alive_ms)
{
	bu_store_lock_write(store->lock_fd, seq, alive_ms);
}

int64_t
bu_store_get_alive(struct bu_store *store, int64_t seq)
{
	return bu_store_lock_read(store->lock_fd, seq);
}

void
bu_store_use_lock(struct bu_store *store, int fd)
{
	store->lock_fd = fd;
}

int64_t
bu_store_epoch(const struct bu_store *store)
{
	return store->epoch;
}

int
bu_store_verify(struct bu_store *store, struct bu_chain *at, size_t max,
		struct bu_err *err)
{
	return store->ops->verify(store->driver, at, max, err);
}
