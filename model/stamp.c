/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stamps of settled nodes: made by the daemon, kept by agents, opened by another
 * daemon. Invariant: nothing of a stamp is used before its signature was right.
 */
#include "model/stamp.h"

#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/record.h"
#include "base/text.h"
#include "model/anchor.h"

/* The appliance signs other texts with the same key. */
static const char *const its_kind[] = {"settled", NULL};
#define TEXT(member) BU_FIELD(TEXT, struct bu_stamp, member)
static const struct bu_field fields[] = {
	{.key = "kind", .kind = BU_FIELD_IS, .words = its_kind},
	BU_FIELD_V(1, 1),
	TEXT(site),
	TEXT(node),
	TEXT(machine),
	TEXT(cert),
	TEXT(next),
	BU_FIELD(INT, struct bu_stamp, cert_until_ms, BU_ANY),
	BU_FIELD(INT, struct bu_stamp, next_until_ms, BU_ANY),
	TEXT(state),
	TEXT(step),
	TEXT(image),
	TEXT(digest),
	TEXT(slot),
	BU_FIELD(FLAG, struct bu_stamp, raw),
	TEXT(facets),
	TEXT(commit),
	TEXT(revision),
	TEXT(called),
	TEXT(boot_id),
	TEXT(cluster),
	TEXT(driver),
	TEXT(handle),
	TEXT(member),
	TEXT(full),
	TEXT(boot),
	TEXT(of),
	BU_FIELD(INT, struct bu_stamp, epoch, .max = BU_EPOCH_MAX),
	BU_FIELD(INT, struct bu_stamp, seq, .max = INT64_MAX),
	BU_FIELD(INT, struct bu_stamp, time_ms, BU_ANY),
	BU_FIELD_END,
};

void
bu_stamp_set_of(struct bu_stamp *stamp)
{
	struct bu_stamp plain = *stamp;
	bu_autojson json_t *body = NULL;

	plain.of[0] = '\0';
	plain.seq = plain.time_ms = 0;
	body = bu_stamp_to_json(&plain);
	bu_json_digest(body, stamp->of);
}

json_t *
bu_stamp_to_json(const struct bu_stamp *stamp)
{
	return bu_record_to_json(fields, stamp);
}

int
bu_stamp_from_json(const json_t *body, struct bu_stamp *ret, struct bu_err *err)
{
	return bu_record_from_json(fields, body, ret, err);
}

int
bu_stamp_read(const json_t *document, struct bu_stamp *ret, struct bu_err *err)
{
	const char *text = bu_json_str(document, "text", "");
	struct bu_err bad = {0};
	bu_autojson json_t *body = bu_json_parse(text, strlen(text), "stamp", &bad);

	if (body && bu_stamp_from_json(body, ret, &bad) == 0)
		return 0;
	return bu_err_set(err, BU_ERR_VERIFY, 0, "this is not a stamp: %s", bad.text);
}

static int
check_text(const json_t *document, const char *name, const char *digest,
	   struct bu_err *err)
{
	const char *text = bu_json_str(document, name, "");
	char found[BU_DIGEST_SIZE] = "";

	if (*text)
		bu_sha256_hex(text, strlen(text), found);
	if (strcmp(found, digest) == 0)
		return 0;
	return bu_err_set(
		err, BU_ERR_VERIFY, 0,
		"the text '%s' beside the stamp is not the one that was signed", name);
}

int
bu_stamp_open(const json_t *document, const char *public_pem, struct bu_stamp *ret,
	      struct bu_err *err)
{
	const char *text = bu_json_str(document, "text", "");
	const char *sig = bu_json_str(document, "sig", "");
	struct bu_stamp stamp;
	struct bu_err bad = {0};

	if (bu_verify(public_pem, text, strlen(text), sig, &bad) != 0)
		return bu_err_set(
			err, BU_ERR_VERIFY, 0,
			"the stamp was altered, or another site's keys signed "
			"it: %s",
			bad.text);
	if (bu_stamp_read(document, &stamp, err) != 0 ||
	    (json_object_get(document, "facets") &&
	     check_text(document, "facets", stamp.facets, err) != 0) ||
	    check_text(document, "full", stamp.full, err) != 0 ||
	    check_text(document, "boot", stamp.boot, err) != 0)
		return -1;
	*ret = stamp;
	return 0;
}
