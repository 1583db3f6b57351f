/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of encrypted partitions, which an installed node asks for at each start. Called
 * by agents. Invariant: a machine gets those of its own node's partitions alone, and
 * only while its certificate is valid.
 */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "model/work.h"
#include "provisioner/api/api.h"
#include "provisioner/config/tuning.h"

BU_HANDLER(bu_api_agent_volumes)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_api_peer_node(api, request, err);
	struct bu_work_data list[BU_WORK_DATA_MAX];
	struct bu_target target;
	json_t *keys;
	int64_t ignored;
	size_t count = 0;

	if (!node || bu_fleet_target(api->fleet, node, &target, err) != 0)
		return BU_ANSWER_ERROR;
	if (bu_config_encrypts(target.node))
		count = bu_config_data(target.desired, target.node, list, &ignored);
	keys = json_object();
	for (size_t i = 0; i < count; i++) {
		char key[65];

		bu_trust_volume_key(api->trust, list[i].guid, key);
		json_object_set_new(keys, list[i].guid, json_string(key));
		explicit_bzero(key, sizeof(key));
	}
	bu_info("volumes", "%s: gets the keys of %zu volumes", node->name, count);
	reply->json = json_pack("{s:o}", "keys", keys);
	return BU_ANSWER_NOW;
}
