/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of one node, of its profile and what its machine told: the files
 * that go to it, its network for cloud-init, and where it is not what the profile says.
 */
#include "base/json.h"
#include "base/text.h"
#include "model/inventory.h"
#include "provisioner/api/api.h"
#include "provisioner/config/drift.h"
#include "provisioner/config/nocloud.h"
#include "provisioner/config/render.h"

/* What the node's configuration is made of; NULL when its machine is not known. */
static struct bu_inventory *
config_input(const struct bu_api *api, const struct bu_node *node,
	     const struct bu_target *target, struct bu_config_input *ret,
	     struct bu_err *err)
{
	bu_autojson json_t *value = bu_fleet_inventory(api->fleet, node);
	struct bu_inventory *inventory = bu_inventory_from_json(value, err);

	*ret = (struct bu_config_input){
		.desired = target->desired,
		.node = target->node,
		.nics = inventory ? inventory->nics : NULL,
		.nic_count = inventory ? inventory->nics_count : 0,
		.appliance = api->boot_address,
	};
	return inventory;
}

struct bu_config *
bu_api_node_config(const struct bu_api *api, const struct bu_node *node,
		   const struct bu_target *target, char **ret_network,
		   struct bu_err *err)
{
	struct bu_config_input input;
	bu_autoinventory struct bu_inventory *inventory =
		config_input(api, node, target, &input, err);
	bu_autofree char *network = NULL;
	struct bu_config *config = NULL;

	if (inventory && (!ret_network || (network = bu_nocloud_network(&input, err))))
		config = bu_config_render(&input, err);
	if (config && ret_network)
		*ret_network = bu_steal(&network);
	return config;
}

json_t *
bu_api_drift(const struct bu_api *api, const struct bu_node *node)
{
	bu_autoinventory struct bu_inventory *inventory = NULL;
	struct bu_config_input input;
	struct bu_target target;
	json_t *drift = NULL;

	/* Until an order is done the node need not be what the profile says. */
	if (node->boot_installed && !node->order.open &&
	    bu_fleet_target(api->fleet, node, &target, NULL) == 0)
		inventory = config_input(api, node, &target, &input, NULL);
	if (inventory)
		drift = bu_config_drift(&input, inventory, NULL);
	return drift ? drift : json_array();
}
