/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anchors, made by the daemon and opened by the command line and by a restore.
 * Invariant: nothing of an anchor is used before its signature was right.
 */
#include "model/anchor.h"

#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/record.h"

enum { FILE_MAX = 16 * 1024 * 1024 };

/* The appliance signs other texts with the same key. */
static const char *const its_kind[] = {"anchor", NULL};
static const struct bu_field fields[] = {
	{.key = "kind", .kind = BU_FIELD_IS, .words = its_kind},
	BU_FIELD_V(1, 1),
	BU_FIELD(TEXT, struct bu_anchor, site),
	BU_FIELD(INT, struct bu_anchor, epoch, .max = BU_EPOCH_MAX),
	BU_FIELD(INT, struct bu_anchor, seq, .min = 1, .max = INT64_MAX),
	BU_FIELD(TEXT, struct bu_anchor, hash),
	BU_FIELD(INT, struct bu_anchor, time_ms, BU_ANY),
	BU_FIELD(INT, struct bu_anchor, made_ms, BU_ANY),
	BU_FIELD(TEXT, struct bu_anchor, revoked),
	BU_FIELD_END,
};

json_t *
bu_anchor_to_json(const struct bu_anchor *anchor)
{
	return bu_record_to_json(fields, anchor);
}

static int
check_list(const json_t *document, const struct bu_anchor *anchor, struct bu_err *err)
{
	const json_t *revoked = json_object_get(document, "revoked");
	char digest[BU_DIGEST_SIZE];

	if (!revoked)
		return 0;
	bu_json_digest(revoked, digest);
	if (strcmp(digest, anchor->revoked) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "the anchor's list of what is revoked was changed");
}

int
bu_anchor_read(const json_t *document, struct bu_anchor *ret, struct bu_err *err)
{
	const char *text = bu_json_str(document, "text", "");
	struct bu_err bad = {0};
	bu_autojson json_t *body = bu_json_parse(text, strlen(text), "anchor", &bad);

	if (body && bu_record_from_json(fields, body, ret, &bad) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_VERIFY, 0, "this is not an anchor: %s", bad.text);
}

int
bu_anchor_open(const json_t *document, const char *public_pem, struct bu_anchor *ret,
	       struct bu_err *err)
{
	const char *text = bu_json_str(document, "text", "");
	const char *sig = bu_json_str(document, "sig", "");
	struct bu_anchor anchor;
	struct bu_err bad = {0};

	if (bu_verify(public_pem, text, strlen(text), sig, &bad) != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "the anchor is not signed by this appliance: %s",
				  bad.text);
	if (bu_anchor_read(document, &anchor, err) != 0)
		return -1;
	if (check_list(document, &anchor, err) != 0)
		return -1;
	*ret = anchor;
	return 0;
}

json_t *
bu_anchor_load(const char *path, struct bu_err *err)
{
	bu_autofree char *text = bu_file_read(path, FILE_MAX, NULL, err);
	const char *begin = text ? strchr(text, '{') : NULL;
	json_t *document;

	if (!text)
		return NULL;
	if (!begin) {
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "'%s' has no anchor; bringup audit anchor prints one", path);
		return NULL;
	}
	document = bu_json_parse(begin, strlen(begin), path, err);
	if (document && !json_object_get(document, "text")) {
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "'%s' has no anchor; bringup audit anchor prints one", path);
		json_decref(document);
		return NULL;
	}
	return document;
}
