/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group commit over a driver. The one place where bringupd waits for a disk.
 *
 * A failed commit leaves the log as it was and every batch of it gets the error; the
 * owner decides (bringupd stops: it must not act on what is not in the log).
 */
#include "provisioner/store/store.h"

#include <string.h>

#include "base/crypto.h"
#include "base/json.h"

struct batch {
	struct batch *next;
	struct bu_event *events;
	size_t count;
	int64_t fence;
	bu_store_done_fn fn;
	void *arg;
};

struct bu_store {
	struct bu_loop *loop;
	const struct bu_store_ops *ops;
	void *driver;
	struct bu_timer *flush;
	struct batch *first;
	struct batch **last;
	int64_t epoch;
	int64_t appended, committed; /* batches */
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
	if (batch->fn)
		batch->fn(batch->events, batch->count, err, batch->arg);
	batch_free(batch);
}

static void
learn_epoch(struct bu_store *store, const struct bu_event *event)
{
	int64_t epoch = event->kind == BU_EVENT_EPOCH
				? bu_json_int(event->body, "epoch", 0)
				: 0;

	/* Old rows are read again, too: it only ever rises. */
	if (epoch > store->epoch)
		store->epoch = epoch;
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

static int
commit(struct bu_store *store, const struct batch *fit, struct bu_err *err)
{
	struct bu_event *all = NULL;
	size_t count = 0, cap = 0, at = 0;
	int64_t now_ms = bu_wall_ms(bu_loop_clock(store->loop));
	int rc;

	for (const struct batch *batch = fit; batch; batch = batch->next) {
		all = bu_xgrow(all, &cap, count + batch->count, sizeof(*all));
		for (size_t i = 0; i < batch->count; i++) {
			all[count] = batch->events[i];
			all[count++].time_ms = now_ms;
		}
	}
	rc = store->ops->commit(store->driver, all, count, err);
	for (const struct batch *batch = fit; rc == 0 && batch; batch = batch->next)
		for (size_t i = 0; i < batch->count; i++, at++) {
			batch->events[i].seq = all[at].seq;
			batch->events[i].time_ms = all[at].time_ms;
			learn_epoch(store, &all[at]);
		}
	free(all);
	return rc;
}

static void
flush(struct bu_store *store)
{
	struct batch *refused = NULL, *fit, *next;
	struct bu_err err = {0};

	fit = take_fit(store, &refused);
	if (fit)
		commit(store, fit, &err);
	for (; fit; fit = next) {
		next = fit->next;
		store->committed++;
		finish(fit, err.kind ? &err : NULL);
	}
	bu_err_set(&err, BU_ERR_DENIED, 0,
		   "the log is at epoch %lld: another appliance leads; stop this one",
		   (long long)store->epoch);
	for (; refused; refused = next) {
		next = refused->next;
		store->committed++;
		finish(refused, &err);
	}
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
	return store;
}

void
bu_store_destroy(struct bu_store *store)
{
	if (!store)
		return;
	while (store->first)
		flush(store);
	bu_timer_destroy(store->flush);
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
	store->appended++;
	/* Those that come after it do not put its commit off. */
	if (!store->first)
		bu_timer_set(store->flush, 0);
	*store->last = batch;
	store->last = &batch->next;
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

int64_t
bu_store_epoch(const struct bu_store *store)
{
	return store->epoch;
}

struct reading {
	struct bu_store *store;
	bu_store_read_fn fn;
	void *arg;
};

static int
on_row(const struct bu_event *event, void *arg)
{
	struct reading *reading = arg;

	learn_epoch(reading->store, event);
	return reading->fn(event, reading->arg);
}

int
bu_store_read(struct bu_store *store, int64_t after_seq, size_t max,
	      bu_store_read_fn fn, void *arg, struct bu_err *err)
{
	struct reading reading = {store, fn, arg};

	return store->ops->read(store->driver, after_seq, max, on_row, &reading, err);
}

int
bu_store_read_tail(struct bu_store *store, size_t count, bu_store_read_fn fn, void *arg,
		   struct bu_err *err)
{
	return store->ops->read_tail(store->driver, count, fn, arg, err);
}

int
bu_store_put_blob(struct bu_store *store, const char *text, char *ret_digest,
		  struct bu_err *err)
{
	struct bu_blob blob = {.text = text};

	bu_sha256_hex(text, strlen(text), blob.digest);
	if (store->ops->blobs_put(store->driver, &blob, 1, err) != 0)
		return -1;
	memcpy(ret_digest, blob.digest, sizeof(blob.digest));
	return 0;
}

int
bu_store_put_blobs(struct bu_store *store, const char *const *texts, size_t count,
		   struct bu_err *err)
{
	bu_autofree struct bu_blob *blobs = bu_xcalloc(count + 1, sizeof(*blobs));

	for (size_t i = 0; i < count; i++) {
		blobs[i].text = texts[i];
		bu_sha256_hex(texts[i], strlen(texts[i]), blobs[i].digest);
	}
	return store->ops->blobs_put(store->driver, blobs, count, err);
}

char *
bu_store_get_blob(struct bu_store *store, const char *digest, struct bu_err *err)
{
	char *text = store->ops->blob_get(store->driver, digest, err);
	char seen[BU_DIGEST_SIZE];

	if (!text)
		return NULL;
	bu_sha256_hex(text, strlen(text), seen);
	if (strcmp(seen, digest) == 0)
		return text;
	free(text);
	bu_err_set(err, BU_ERR_VERIFY, 0, "blob %s was changed in the store", digest);
	return NULL;
}

int
bu_store_verify(struct bu_store *store, struct bu_err *err)
{
	return store->ops->verify(store->driver, err);
}
