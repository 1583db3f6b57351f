/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log looked at by a person: its chain, its blobs, its anchor. Each request does a
 * part that holds up nobody else, and the caller asks for the next one.
 */
#include "base/text.h"
#include "provisioner/api/api.h"
#include "provisioner/node/anchor.h"

enum { ROWS_MAX = 2000, BLOB_BYTES = 4 * 1024 * 1024 };

BU_HANDLER(bu_api_audit)
{
	struct bu_api *api = arg;
	const char *hash = bu_request_query(request, "hash");
	struct bu_chain at = {.seq = bu_request_number(request, "after", 0, INT64_MAX)};
	size_t max = (size_t)bu_request_number(request, "max", ROWS_MAX, ROWS_MAX);
	int64_t from = at.seq;

	bu_text_copy(at.hash, sizeof(at.hash), hash ? hash : "");
	if (bu_store_verify(api->fleet->store, &at, max ? max : 1, err) != 0)
		return BU_ANSWER_ERROR;
	reply->json = json_pack("{s:I,s:s,s:b}", "after", (json_int_t)at.seq, "hash",
				at.hash, "more", max && at.seq - from == (int64_t)max);
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_audit_blobs)
{
	struct bu_api *api = arg;
	int64_t from = bu_request_number(request, "after", 0, INT64_MAX), after = from;

	if (bu_store_verify_blobs(api->fleet->store, &after, ROWS_MAX, BLOB_BYTES,
				  err) != 0)
		return BU_ANSWER_ERROR;
	reply->json = json_pack("{s:I,s:b}", "after", (json_int_t)after, "more",
				after != from);
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_anchor)
{
	struct bu_api *api = arg;
	json_t *anchor = bu_anchor_make(api->fleet, api->trust, err);

	if (!anchor)
		return BU_ANSWER_ERROR;
	reply->json = json_pack("{s:o,s:s}", "anchor", anchor, "public",
				bu_trust_public_key(api->trust));
	return BU_ANSWER_NOW;
}
