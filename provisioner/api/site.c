/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person says of the site: that this appliance leads it, and that its machines
 * are to be switched on. Called by routes.c; fence.c and starting.c have what comes of
 * it.
 */
#include "base/log.h"
#include "provisioner/api/api.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/starting.h"

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

BU_HANDLER(bu_api_start)
{
	struct bu_api *api = arg;

	(void)request;
	(void)err;
	reply->json = bu_starting_json(api->rec);
	return BU_ANSWER_NOW;
}

static const struct bu_field start_fields[] = {
	BU_FIELD(STRING, struct bu_start_ask, op),
	BU_FIELD(INT, struct bu_start_ask, tier, .need = BU_SPARSE),
	BU_FIELD(STRING, struct bu_start_ask, reason, .need = BU_SPARSE, .unsaid = ""),
	BU_FIELD_END,
};

BU_HANDLER(bu_api_start_ask)
{
	struct bu_api *api = arg;
	struct bu_start_ask ask;

	if (bu_request_read(request, start_fields, &ask, err) != 0)
		return BU_ANSWER_ERROR;
	ask.by = bu_request_by(request);
	if (bu_starting_ask(api->rec, &ask, err) != 0)
		return BU_ANSWER_ERROR;
	bu_info("start", "%s by %s", ask.op, ask.by);
	reply->logged = api->fleet->store;
	reply->json = json_object();
	return BU_ANSWER_NOW;
}
