/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person says of the appliance itself: that it leads the site. Called by
 * routes.c; fence.c has what comes of it.
 */
#include "base/log.h"
#include "provisioner/api/api.h"
#include "provisioner/node/fence.h"

struct word {
	const char *reason;
};
static const struct bu_field word_fields[] = {
	BU_FIELD(STRING, struct word, reason, .need = BU_SPARSE, .unsaid = ""),
	BU_FIELD_END,
};

BU_HANDLER(bu_api_take_over)
{
	struct bu_api *api = arg;
	const char *by = bu_request_by(request);
	struct word word;
	int64_t epoch;

	if (bu_request_read(request, word_fields, &word, err) != 0)
		return BU_ANSWER_ERROR;
	if (bu_fence_take_over(api->rec, by, word.reason, &epoch, err) != 0)
		return BU_ANSWER_ERROR;
	bu_warn("fence", "%s says that this appliance leads: epoch %lld", by,
		(long long)epoch);
	reply->logged = api->fleet->store;
	reply->json = json_pack("{s:I}", "epoch", (json_int_t)epoch);
	return BU_ANSWER_NOW;
}
