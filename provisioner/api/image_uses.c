/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which image is needed, by whom: for people, and for `bringup image gc`, which frees
 * no image that is named here.
 */
#include "base/json.h"
#include "images/store.h"
#include "provisioner/api/api.h"

static void
add_use(json_t *uses, const struct bu_node *node, const struct bu_image_id *id,
	const char *why)
{
	if (id->digest[0])
		json_array_append_new(uses, json_pack("{s:s, s:s, s:s, s:s}", "image",
						      id->name, "digest", id->digest,
						      "node", node->name, "why", why));
}

BU_HANDLER(bu_api_image_uses)
{
	const struct bu_api *api = arg;
	json_t *uses = json_array();

	for (size_t i = 0; i < api->fleet->count; i++) {
		const struct bu_node *node = api->fleet->nodes[i];
		const struct bu_order *order = &node->order;

		/* What failed can be retried, as it was ordered. */
		if (order->open || order->failed)
			add_use(uses, node,
				&(struct bu_image_id){order->image,
						      order->image_digest},
				"ordered");
		add_use(uses, node,
			&(struct bu_image_id){node->installed_image,
					      node->installed_digest},
			"installed");
		add_use(uses, node,
			&(struct bu_image_id){node->other.image, node->other.digest},
			"in its other root");
	}
	reply->json = json_pack("{s:o}", "uses", uses);
	return BU_ANSWER_NOW;
}
