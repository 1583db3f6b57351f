/* SPDX-License-Identifier: Apache-2.0 */
/* Rollouts for people and tools: the room itself decides, this only hands over. */
#include "base/json.h"
#include "provisioner/api/api.h"

enum { MOVING_MS = 5000 };

BU_HANDLER(bu_api_rollouts)
{
	struct bu_api *api = arg;

	reply->json = json_pack("{s:o}", "rollouts", bu_rollouts_list(api->rollouts));
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_rollout)
{
	struct bu_api *api = arg;

	reply->json = bu_rollouts_show(api->rollouts, request->params[0], err);
	return reply->json ? BU_ANSWER_NOW : BU_ANSWER_ERROR;
}

typedef int (*verb_fn)(struct bu_rollouts *rollouts, const char *id, const char *by,
		       struct bu_err *err);

static enum bu_answer
change(struct bu_api *api, const struct bu_request *request, verb_fn verb,
       struct bu_reply *reply, struct bu_err *err)
{
	if (verb(api->rollouts, request->params[0], bu_request_by(request), err) != 0)
		return BU_ANSWER_ERROR;
	reply->logged = api->fleet->store;
	reply->json = json_object();
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_rollout_pause)
{
	return change(arg, request, bu_rollouts_pause, reply, err);
}

BU_HANDLER(bu_api_rollout_resume)
{
	return change(arg, request, bu_rollouts_resume, reply, err);
}

/* Says what the rest of it does: what was called back is on its way to where it was. */
BU_HANDLER(bu_api_rollout_abort)
{
	struct bu_api *api = arg;
	const char *id = request->params[0];
	bu_autojson json_t *recalled = NULL;

	/* Of one that is changing it is not known whether it may be called back. */
	if (request->waited_ms < MOVING_MS && bu_rollouts_is_moving(api->rollouts, id))
		return BU_ANSWER_LATER;
	recalled = bu_rollouts_recalled(api->rollouts, id);
	if (change(api, request, bu_rollouts_abort, reply, err) != BU_ANSWER_NOW)
		return BU_ANSWER_ERROR;
	json_object_update(reply->json, recalled);
	return BU_ANSWER_NOW;
}
