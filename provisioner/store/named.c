/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies the blobs that rows of the log name: for the audit of a running appliance
 * and for a restore. The chain of hashes covers the names alone. Invariant: a blob that
 * was looked at in a call is not read again in that call.
 */
#include <stddef.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "model/event_body.h"
#include "provisioner/store/store_impl.h"

/* Fields of bodies that are names of blobs. */
#define AT(event, body, field)                                                         \
	{                                                                              \
		BU_EVENT_##event, offsetof(union bu_body, body.field)                  \
	}
static const struct {
	enum bu_event_kind kind;
	size_t offset; /* of a const char * */
} fields[] = {
	AT(REVISION, revision, digest),
	AT(PLAN, plan, digest),
	AT(PLAN, plan, revision),
	AT(APPLIED, applied, plan),
	AT(APPLIED, applied, revision),
	AT(ORDER, order, revision),
	AT(ORDER, order, facets),
	AT(BOUND, bound, inventory),
	AT(CHECKS, checks, digest),
	AT(SOAK, soak, digest),
	AT(EVIDENCE, evidence, digest),
	AT(CRASH, crash, digest),
	AT(CERTIFICATE, certificate, digest),
	AT(ADOPTED, adopted, facets),
};

struct looking {
	struct bu_store *store;
	json_t *seen; /* digests as keys */
	int64_t last;
	size_t bytes, max_bytes;
	struct bu_err *err;
	int rc;
};

/* Blobs are named by digests, and by nothing else. */
static int
is_digest(const char *text)
{
	return strlen(text) == BU_DIGEST_SIZE - 1 &&
	       strspn(text, "0123456789abcdef") == BU_DIGEST_SIZE - 1;
}

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

/* The text of the field; "" = it names none. */
static const char *
name_in(const union bu_body *body, size_t offset)
{
	const char *name;

	memcpy(&name, (const char *)body + offset, sizeof(name));
	return name && is_digest(name) ? name : "";
}

static int
look_at_row(struct looking *looking, const struct bu_event *event)
{
	union bu_body body;

	for (size_t i = 0; i < BU_LEN(fields); i++) {
		if (fields[i].kind != event->kind)
			continue;
		if (bu_event_read(event, &body, looking->err) != 0)
			return -1;
		if (*name_in(&body, fields[i].offset) &&
		    look(looking, name_in(&body, fields[i].offset)) != 0)
			return -1;
	}
	return 0;
}

static int
on_row(const struct bu_event *event, void *arg)
{
	struct looking *looking = arg;

	if (look_at_row(looking, event) != 0) {
		looking->rc = bad_blob(looking, event);
		return 1;
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
