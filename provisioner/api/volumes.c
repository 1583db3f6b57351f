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

BU_HANDLER(bu_api_agent_volumes)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_api_peer_node(api, request, err);
	const json_t *guids = json_object_get(request->body, "guids");
	json_t *keys, *guid;
	size_t i;

	if (!node)
		return BU_ANSWER_ERROR;
	if (node->state == BU_STATE_RETIRED) {
		bu_err_set(err, BU_ERR_DENIED, 0, "%s is retired", node->name);
		return BU_ANSWER_ERROR;
	}
	if (json_array_size(guids) > BU_WORK_DATA_MAX) {
		bu_err_set(err, BU_ERR_INVAL, 0, "more than %d volumes",
			   BU_WORK_DATA_MAX);
		return BU_ANSWER_ERROR;
	}
	keys = json_object();
	json_array_foreach ((json_t *)(uintptr_t)guids, i, guid) {
		char key[65];

		if (!json_is_string(guid))
			continue;
		bu_trust_volume_key(api->trust, request->peer, json_string_value(guid),
				    key);
		json_object_set_new(keys, json_string_value(guid), json_string(key));
		explicit_bzero(key, sizeof(key));
	}
	bu_info("volumes", "%s: gets the keys of %zu volumes", node->name,
		json_object_size(keys));
	reply->json = json_pack("{s:o}", "keys", keys);
	return BU_ANSWER_NOW;
}
