/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work items of steps: what the agent has to do, complete, so that it needs to ask
 * nothing more. Made anew at each request from the log's facts: the same step gives the
 * same item. Invariant: what a step does to a node is what its order's revision says,
 * all of it, whatever was applied since.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "model/inventory.h"
#include "profiles/load/secret.h"
#include "provisioner/api/api.h"
#include "provisioner/config/drift.h"
#include "provisioner/config/render.h"
#include "provisioner/config/tuning.h"

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

static struct bu_config *
node_config(const struct bu_api *api, const struct bu_node *node,
	    const struct bu_target *target, struct bu_err *err)
{
	struct bu_config_input input;
	bu_autoinventory struct bu_inventory *inventory =
		config_input(api, node, target, &input, err);

	return inventory ? bu_config_render(&input, err) : NULL;
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

static json_t *
signed_note(const struct bu_api *api, const struct bu_node *node, const char *kind,
	    struct bu_err *err)
{
	bu_autojson json_t *body = json_pack(
		"{s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:I}", "v", 1, "kind", kind, "node",
		node->name, "machine", node->machine, "step", node->step.id, "image",
		node->order.image, "digest", node->order.image_digest, "epoch",
		(json_int_t)api->fleet->epoch);

	return bu_trust_sign(api->trust, body, err);
}

/* Which disk, as it was granted, and where its data partitions are. */
static void
add_disk(json_t *work, const struct bu_order *order, const struct bu_target *target)
{
	uint64_t root_bytes;
	json_t *data = bu_config_data(target->desired, target->node, &root_bytes);

	json_object_set_new(work, "disk",
			    json_string(order->disk[0] ? order->disk
						       : target->node->hardware->disk));
	json_object_set_new(work, "disk_serial", json_string(order->disk_serial));
	json_object_set_new(work, "disk_size_bytes",
			    json_integer((json_int_t)order->disk_size_bytes));
	json_object_set_new(work, "data", data);
	json_object_set_new(work, "root_bytes", json_integer((json_int_t)root_bytes));
}

static json_t *
install_work(const struct bu_api *api, const struct bu_node *node,
	     const struct bu_target *target, struct bu_err *err)
{
	bu_autofree char *key = bu_file_read(bu_api_image_key(api, target->node->image),
					     65536, NULL, err);
	/* Its image lies where this revision says, whatever is applied meanwhile. */
	bu_autofree char *url =
		bu_xasprintf("%s/revisions/%s", api->http_url, target->desired->digest);
	enum bu_disk_use disk = bu_class_info(node->order.class)->disk;
	struct bu_config *config = NULL;
	json_t *mark = NULL, *stamp = NULL, *work = NULL;

	if (!key)
		return NULL;
	config = node_config(api, node, target, err);
	if (config)
		mark = signed_note(api, node, "mark", err);
	if (mark)
		stamp = signed_note(api, node, "stamp", err);
	if (stamp)
		work = json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:b,s:s,s:O,s:O,s:o}",
				 "kind", "install", "base_url", url, "image",
				 node->order.image, "digest", node->order.image_digest,
				 "image_key", key, "appliance_key",
				 bu_trust_public_key(api->trust), "wipe",
				 disk == BU_DISK_ALL, "keep", disk == BU_DISK_ROOT,
				 "kargs", config->kargs, "mark", mark, "stamp", stamp,
				 "files", bu_config_to_json(config));
	if (work)
		add_disk(work, &node->order, target);
	bu_config_destroy(config);
	json_decref(mark);
	json_decref(stamp);
	return work;
}

/* What a reboot needs is written now and holds with it; everything else holds at once,
 * also on a node that has left its cluster for a restart. */
static json_t *
configure_work(const struct bu_api *api, const struct bu_node *node,
	       const struct bu_target *target, struct bu_err *err)
{
	int reboots = bu_class_info(node->order.class)->next == BU_STATE_BOOTING;
	struct bu_config *config = node_config(api, node, target, err);
	json_t *patterns = json_array(), *work = NULL;

	for (size_t i = 0; bu_config_patterns[i]; i++)
		json_array_append_new(patterns, json_string(bu_config_patterns[i]));
	if (config)
		work = json_pack("{s:s,s:b,s:s,s:I,s:s,s:O,s:o}", "kind", "configure",
				 "live", !reboots, "then", reboots ? "off" : "",
				 "confirm_ms",
				 (json_int_t)target->node->pool->confirm_deadline_ms,
				 "kargs", config->kargs, "patterns", patterns, "files",
				 bu_config_to_json(config));
	json_decref(patterns);
	bu_config_destroy(config);
	return work;
}

/* Nodes without a cluster have nothing to start; their certificates are kept as well.
 */
static json_t *
join_work(const struct bu_api *api, const struct bu_node *node,
	  const struct bu_desired_node *want, struct bu_err *err)
{
	json_t *work =
		json_pack("{s:s,s:[],s:[],s:O,s:O}", "kind", "join", "files",
			  "services", "full", node->full_cert, "boot", node->boot_cert);
	struct bu_config *config;
	size_t size = 0;
	char *key;

	if (!want->cluster)
		return work;
	key = bu_secrets_get(api->secrets, want->cluster->munge_key, &size, err);
	config = key ? bu_config_render_cluster(want, key, size, err) : NULL;
	bu_secret_free(key, size);
	if (!config) {
		bu_err_wrap(err, "cluster %s", want->cluster->name);
		json_decref(work);
		return NULL;
	}
	json_object_set_new(work, "files", bu_config_to_json(config));
	json_object_set_new(work, "services", json_pack("[s,s]", "munge", "slurmd"));
	bu_config_destroy(config);
	return work;
}

json_t *
bu_api_step_work(const struct bu_api *api, const struct bu_node *node,
		 struct bu_err *err)
{
	struct bu_target target;
	json_t *work;

	if (bu_fleet_target(api->fleet, node, &target, err) != 0)
		return NULL;
	if (node->step.action == BU_ACTION_INSTALL)
		work = install_work(api, node, &target, err);
	else if (node->step.action == BU_ACTION_CONFIGURE)
		work = configure_work(api, node, &target, err);
	else
		work = join_work(api, node, target.node, err);
	if (!work)
		return NULL;
	json_object_set_new(work, "id", json_string(node->step.id));
	json_object_set_new(work, "attempt", json_integer(node->step.attempt));
	return work;
}
