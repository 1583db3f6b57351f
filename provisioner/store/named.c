/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies the blobs that rows of the log name: for the audit of a running appliance
 * and for a restore. The chain of hashes covers the names alone. Invariant: a blob that
 * was looked at in a call is not read again in that call.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/store/store_impl.h"

/* Fields of bodies that are names of blobs; model/event_body.h has the bodies. */
static const struct {
	enum bu_event_kind kind;
	const char *key;
} fields[] = {
	{BU_EVENT_REVISION, "digest"},  {BU_EVENT_PLAN, "digest"},
	{BU_EVENT_PLAN, "revision"},    {BU_EVENT_APPLIED, "plan"},
	{BU_EVENT_APPLIED, "revision"}, {BU_EVENT_ORDER, "revision"},
	{BU_EVENT_ORDER, "facets"},     {BU_EVENT_BOUND, "inventory"},
	{BU_EVENT_CHECKS, "digest"},    {BU_EVENT_SOAK, "digest"},
	{BU_EVENT_EVIDENCE, "digest"},  {BU_EVENT_CRASH, "digest"},
};

struct looking {
	struct bu_store *store;
	json_t *seen; /* digests as keys */
	int64_t last;
	size_t bytes, max_bytes;
	struct bu_err *err;
	int rc;
};

static int
look(struct looking *looking, const char *digest)
{
	char *text;

	if (json_object_get(looking->seen, digest))
		return 0;
	json_object_set_new(looking->seen, digest, json_true());
	text = bu_store_get_blob(looking->store, digest, looking->err);
	looking->bytes += text ? strlen(text) : 0;
	free(text);
	return text ? 0 : -1;
}

static int
bad_blob(const struct looking *looking, const struct bu_event *event)
{
	if (looking->err && looking->err->kind == BU_ERR_NOTFOUND)
		looking->err->kind = BU_ERR_VERIFY;
	return bu_err_wrap(looking->err, "log row %lld (%s)", (long long)event->seq,
			   bu_event_name(event->kind));
}

static int
on_row(const struct bu_event *event, void *arg)
{
	struct looking *looking = arg;

	for (size_t i = 0; i < BU_LEN(fields); i++) {
		const char *digest = bu_json_str(event->body, fields[i].key, "");

		if (fields[i].kind != event->kind || !*digest)
			continue;
		if (look(looking, digest) != 0) {
			looking->rc = bad_blob(looking, event);
			return 1;
		}
	}
	looking->last = event->seq;
	return looking->max_bytes && looking->bytes >= looking->max_bytes;
}

int
bu_store_verify_blobs(struct bu_store *store, int64_t *after, size_t max,
		      size_t max_bytes, struct bu_err *err)
{
	struct bu_err bad = {0};
	struct looking looking = {.store = store,
				  .seen = json_object(),
				  .last = *after,
				  .max_bytes = max_bytes,
				  .err = &bad};
	int rc = bu_store_read(store, *after, max, on_row, &looking, err);

	json_decref(looking.seen);
	*after = looking.last;
	if (looking.rc != 0 && err)
		*err = bad;
	return rc != 0 ? rc : looking.rc;
}
