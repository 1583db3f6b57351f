/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors of logs of a fake site, of rows that are there and of others. */
#ifndef BU_TESTS_SUPPORT_ANCHORS_H
#define BU_TESTS_SUPPORT_ANCHORS_H

#include "base/json.h"
#include "model/anchor.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

/* Of that row of the log; "" = there is none. */
static inline const char *
hash_of(const struct rig *rig, int64_t seq)
{
	static struct bu_chain row;

	memset(&row, 0, sizeof(row));
	ck_assert_int_eq(bu_store_verify(rig->store, &row, (size_t)seq, NULL), 0);
	return row.seq == seq ? row.hash : "";
}

/* revoked is taken; NULL = an empty list. */
static inline json_t *
anchor_sign(const struct rig *rig, const struct bu_trust *trust, int64_t epoch,
	    int64_t seq, int64_t time_ms, json_t *revoked)
{
	struct bu_anchor anchor = {
		.site = "lab", .epoch = epoch, .seq = seq, .time_ms = time_ms};
	bu_autojson json_t *body = NULL;
	json_t *document;

	if (!revoked)
		revoked = json_object();
	bu_json_digest(revoked, anchor.revoked);
	snprintf(anchor.hash, sizeof(anchor.hash), "%s", hash_of(rig, seq));
	body = bu_anchor_to_json(&anchor);
	document = bu_trust_sign(trust, body, NULL);
	ck_assert_ptr_nonnull(document);
	json_object_set_new(document, "revoked", revoked);
	return document;
}

#endif
