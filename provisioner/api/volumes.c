/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of encrypted partitions, which an installed node asks for at each start. Called
 * by agents. Invariant: a key is of the machine whose certificate asks, whatever GUIDs
 * it names, and of what is on its disk, whatever the profile says by now.
 */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "model/work.h"
#include "provisioner/api/api.h"
#include "provisioner/node/fence.h"

struct volumes {
	const char *guids[BU_WORK_DATA_MAX];
	size_t guids_count;
};

static const struct bu_field guid[] = {BU_FIELD_ONE(STRING, sizeof(const char *))};
static const struct bu_field volumes_fields[] = {
	BU_FIELD_MANY(ARRAY, struct volumes, guids, BU_WORK_DATA_MAX, guid,
		      .need = BU_SPARSE),
	BU_FIELD_END,
};

BU_HANDLER(bu_api_agent_volumes)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_api_peer_node(api, request, err);
	struct volumes volumes;
	json_t *keys;

	if (!node || bu_fence_check(api->fleet, BU_ERR_BUSY, err) != 0 ||
	    bu_request_read(request, volumes_fields, &volumes, err) != 0)
		return BU_ANSWER_ERROR;
	if (node->state == BU_STATE_RETIRED) {
		bu_err_set(err, BU_ERR_DENIED, 0, "%s is retired", node->name);
		return BU_ANSWER_ERROR;
	}
	keys = json_object();
	for (size_t i = 0; i < volumes.guids_count; i++) {
		char key[65];

		bu_trust_volume_key(api->trust, request->peer, volumes.guids[i], key);
		json_object_set_new(keys, volumes.guids[i], json_string(key));
		explicit_bzero(key, sizeof(key));
	}
	bu_info("volumes", "%s: gets the keys of %zu volumes", node->name,
		json_object_size(keys));
	reply->json = json_pack("{s:o}", "keys", keys);
	return BU_ANSWER_NOW;
}
