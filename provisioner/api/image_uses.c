/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which image is needed, by whom: for people, and for `bringup image gc`, which frees
 * no image that is named here. Which pools name one is for people alone: what has its
 * name stays without that.
 */
#include <string.h>

#include "base/json.h"
#include "images/store.h"
#include "provisioner/api/api.h"

struct list {
	json_t *uses;
	const struct bu_fleet *fleet;
};

/* pool: "" of a node that has left the profile. */
static void
add_use(const struct list *list, const struct bu_node *node,
	const struct bu_image_id *id, const char *why)
{
	const struct bu_desired_node *want = bu_fleet_desired(list->fleet, node);

	if (id->digest[0])
		json_array_append_new(
			list->uses,
			json_pack("{s:s, s:s, s:s, s:s, s:s}", "image", id->name,
				  "digest", id->digest, "node", node->name, "pool",
				  want ? want->pool->name : "", "why", why));
}

static void
add_pool(json_t *pools, const struct bu_desired_pool *pool,
	 const struct bu_desired_image *image)
{
	json_t *its = json_object_get(pools, pool->name), *name;
	size_t i;

	if (image->path)
		return; /* it is not in the store */
	if (!its) {
		its = json_array();
		json_object_set_new(pools, pool->name, its);
	}
	json_array_foreach (its, i, name)
		if (!strcmp(json_string_value(name), image->name))
			return;
	json_array_append_new(its, json_string(image->name));
}

/* {"train": ["debian12"]} as the applied profile says it, of the pools and of nodes
 * that have another image than their pool. New reference. */
static json_t *
pools_of(const struct bu_desired *desired)
{
	json_t *pools = json_object();

	for (size_t i = 0; desired && i < desired->nodes_count; i++)
		add_pool(pools, desired->nodes[i].pool, desired->nodes[i].image);
	return pools;
}

BU_HANDLER(bu_api_image_uses)
{
	const struct bu_api *api = arg;
	json_t *uses = json_array();
	const struct list list = {uses, api->fleet};

	for (size_t i = 0; i < api->fleet->count; i++) {
		const struct bu_node *node = api->fleet->nodes[i];
		const struct bu_order *order = node->order;

		/* What failed can be retried, as it was ordered. */
		if (order->open || order->failed)
			add_use(&list, node,
				&(struct bu_image_id){order->image,
						      order->image_digest},
				"ordered");
		add_use(&list, node,
			&(struct bu_image_id){node->installed_image,
					      node->installed_digest},
			"installed");
		add_use(&list, node,
			&(struct bu_image_id){node->other->image, node->other->digest},
			"other-root");
	}
	reply->json = json_pack("{s:o, s:o}", "uses", uses, "pools",
				pools_of(api->fleet->desired));
	return BU_ANSWER_NOW;
}
