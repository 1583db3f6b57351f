/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies an unpacked backup, and raises its epoch above that of the appliance that it
 * was made of, to be confirmed by an agent. Called by restore.c. Invariant: the epoch
 * is raised only in a log that was found whole.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "model/anchor.h"
#include "model/condition.h"
#include "model/event_body.h"
#include "provisioner/backup/backup.h"
#include "provisioner/store/store.h"

enum { LAST = 5, KEY_FILE_MAX = 65536 };

/* The rows of the log, read once from the first to the last. */
struct reading {
	int64_t rows;
	char *last[LAST]; /* a ring of lines */
};

void
bu_restored_fini(struct bu_restored *restored)
{
	free(restored->last);
	memset(restored, 0, sizeof(*restored));
}

static int
on_row(const struct bu_event *event, void *arg)
{
	struct reading *reading = arg;
	char **line = &reading->last[reading->rows++ % LAST];
	bu_autofree char *text = bu_event_text(event);
	char at[24];

	bu_text_clean(text);
	bu_time_iso(event->time_ms, at);
	free(*line);
	*line = bu_xasprintf("  %lld  %s  %s%s%s%s%.160s\n", (long long)event->seq, at,
			     event->node, *event->node ? "  " : "",
			     bu_event_name(event->kind), *text ? ": " : "", text);
	return 0;
}

/* The public half of the appliance's key; NULL = it is not there, or is no key (err).
 */
static char *
public_key(const char *dir, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/keys/sign.key", dir);
	bu_autofree char *key = NULL;

	if (!bu_file_exists(path))
		return NULL;
	key = bu_file_read(path, KEY_FILE_MAX, NULL, err);
	return key ? bu_sign_key_public(key, err) : NULL;
}

/* Without keys the anchor says what it says, and nothing is proven. */
static int
read_anchor(const char *dir, struct bu_restored *ret, struct bu_anchor *anchor,
	    struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/anchor.json", dir);
	bu_autojson json_t *document = bu_anchor_load(path, err), *body = NULL;
	bu_autofree char *pem = NULL;
	struct bu_err bad = {0};

	if (!document)
		return -1;
	pem = public_key(dir, &bad);
	if (bad.kind)
		return bu_err_set(err, BU_ERR_VERIFY, 0, "keys: %s", bad.text);
	if (pem) {
		ret->has_keys = 1;
		bu_sha256_hex(pem, strlen(pem), ret->key);
		return bu_anchor_open(document, pem, anchor, err);
	}
	body = bu_json_parse(bu_json_str(document, "text", ""),
			     strlen(bu_json_str(document, "text", "")), "anchor", err);
	if (!body)
		return -1;
	*anchor = (struct bu_anchor){.epoch = bu_json_int(body, "epoch", 0),
				     .seq = bu_json_int(body, "seq", 0),
				     .made_ms = bu_json_int(body, "made_ms", 0)};
	BU_TEXT_COPY(anchor->site, bu_json_str(body, "site", ""));
	BU_TEXT_COPY(anchor->hash, bu_json_str(body, "hash", ""));
	return 0;
}

static int
verify_log(struct bu_store *store, const struct bu_anchor *anchor, struct bu_err *err)
{
	struct bu_chain at = {0};
	int64_t after = 0;

	if (anchor->seq < 1 ||
	    bu_store_verify(store, &at, (size_t)anchor->seq, err) != 0)
		return anchor->seq < 1 ? bu_err_set(err, BU_ERR_VERIFY, 0,
						    "its anchor names no row")
				       : -1;
	if (at.seq != anchor->seq || strcmp(at.hash, anchor->hash) != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "its log does not have row %lld as its anchor names "
				  "it: the log was cut or written anew",
				  (long long)anchor->seq);
	if (bu_store_verify(store, &at, 0, err) != 0)
		return -1;
	return bu_store_verify_blobs(store, &after, 0, 0, err);
}

static void
on_raised(const struct bu_decided *decided, void *arg)
{
	struct bu_err *bad = arg;

	if (decided->err)
		*bad = *decided->err;
}

/* Above every epoch that any appliance of this log can have had until now. *ret: now,
 * Unix time in s. */
static int
raise_epoch(struct bu_loop *loop, struct bu_store *store, int64_t least, int64_t *ret,
	    struct bu_err *err)
{
	int64_t epoch = *ret;
	struct bu_err bad = {0};
	struct bu_event events[2];

	if (epoch <= least)
		epoch = least + 1;
	if (epoch > BU_EPOCH_MAX)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "its epoch %lld has none above it", (long long)least);
	BU_EVENT_MAKE(&events[0], BU_EVENT_EPOCH, "", epoch, .epoch = epoch, .ends = 1);
	BU_EVENT_MAKE(&events[1], BU_EVENT_CONDITION, "", condition,
		      .name = bu_condition_info(BU_CONDITION_EPOCH_UNCHECKED)->name,
		      .on = 1);
	bu_store_append(store, events, BU_LEN(events), epoch, on_raised, &bad);
	while (bu_store_committed(store) < bu_store_appended(store))
		bu_loop_step(loop, 100);
	if (bad.kind) {
		if (err)
			*err = bad;
		return -1;
	}
	*ret = epoch;
	return 0;
}

static void
tell(struct reading *reading, const struct bu_anchor *anchor, struct bu_restored *ret)
{
	int64_t first = reading->rows > LAST ? reading->rows - LAST : 0;

	for (int64_t i = first; i < reading->rows; i++)
		bu_text_add(&ret->last, "", "%s", reading->last[i % LAST]);
	for (size_t i = 0; i < LAST; i++)
		free(reading->last[i]);
	BU_TEXT_COPY(ret->site, anchor->site);
	ret->made_ms = anchor->made_ms;
	ret->rows = reading->rows;
}

int
bu_backup_check(const char *dir, int64_t now_ms, struct bu_restored *ret,
		int64_t *next_epoch, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/journal.db", dir);
	bu_autofree char *lock = bu_xasprintf("%s.lock", path);
	struct reading reading = {0};
	struct bu_anchor anchor;
	struct bu_store *store;
	struct bu_loop *loop;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (!bu_file_exists(path))
		return bu_err_set(err, BU_ERR_VERIFY, 0, "it has no log");
	if (read_anchor(dir, ret, &anchor, err) != 0)
		return -1;
	loop = bu_loop_create(NULL);
	store = bu_store_open_sqlite(loop, path, err);
	rc = store ? verify_log(store, &anchor, err) : -1;
	/* The store knows the highest epoch of the rows that it read. */
	if (rc == 0)
		rc = bu_store_read(store, 0, 0, on_row, &reading, err);
	tell(&reading, &anchor, ret);
	ret->epoch = store ? bu_store_lead(store).epoch : 0;
	if (anchor.epoch > ret->epoch)
		ret->epoch = anchor.epoch;
	if (rc == 0 && next_epoch) {
		*next_epoch = now_ms / 1000;
		rc = raise_epoch(loop, store, ret->epoch, next_epoch, err);
	}
	bu_store_destroy(store);
	bu_loop_destroy(loop);
	remove(lock);
	return rc;
}
