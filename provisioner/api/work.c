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
#include "base/secret.h"
#include "model/inventory.h"
#include "model/work.h"
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

static struct bu_work
work_of(const struct bu_node *node)
{
	return (struct bu_work){.id = node->step.id, .attempt = node->step.attempt};
}

/* A signed note that lives as long as `ret_json`. */
static int
sign_note(const struct bu_api *api, const struct bu_node *node, const char *kind,
	  json_t **ret_json, struct bu_work_note *ret, struct bu_err *err)
{
	*ret_json = signed_note(api, node, kind, err);
	return *ret_json ? bu_record_from_json(bu_work_note_fields, *ret_json, ret, err)
			 : -1;
}

/* Which disk, as it was granted, and where its data partitions are. The kernel of this
 * boot may have given the disk another name: its number counts. What was not granted by
 * its number is what the profile means; the agent holds it to what is named here. */
static void
set_disk(struct bu_work_install *work, const struct bu_api *api,
	 const struct bu_node *node, const struct bu_target *target,
	 struct bu_seen_disk *seen)
{
	const struct bu_order *order = &node->order;
	bu_autofree char *granted = bu_xasprintf("serial:%s", order->disk_serial);
	const char *wanted = order->disk_serial[0] ? granted
			     : order->disk[0]      ? order->disk
						   : target->node->hardware->disk;
	int found = bu_fleet_disk(api->fleet, node, wanted, seen) == 0;

	work->disk = found ? seen->path : order->disk[0] ? order->disk : wanted;
	work->disk_serial =
		order->disk_serial[0] || !found ? order->disk_serial : seen->serial;
	work->disk_size_bytes = (int64_t)order->disk_size_bytes;
	work->data_count = bu_config_data(target->desired, target->node, work->data,
					  &work->root_bytes);
}

static json_t *
install_work(const struct bu_api *api, const struct bu_node *node,
	     const struct bu_target *target, struct bu_err *err)
{
	bu_autofree char *key = bu_api_image_keys(api, target->node->image,
						  node->order.image_digest, err);
	/* The image that was ordered, whatever is built or applied meanwhile. */
	bu_autofree char *url =
		bu_xasprintf("%s/digests/%s", api->http_url, node->order.image_digest);
	struct bu_work_install work = {
		.work = work_of(node),
		.base_url = url,
		.image = node->order.image,
		.digest = node->order.image_digest,
		.image_key = key,
		.appliance_key = bu_trust_public_key(api->trust),
		.wipe = node->order.class == BU_CLASS_WIPE,
		.keep = node->order.class == BU_CLASS_REIMAGE,
		.kexec = strcmp(target->node->hardware->kexec, "yes") == 0,
	};
	bu_autojson json_t *mark = NULL, *stamp = NULL;
	struct bu_seen_disk seen;
	struct bu_config *config = key ? node_config(api, node, target, err) : NULL;
	json_t *item = NULL;

	if (config && sign_note(api, node, "mark", &mark, &work.mark, err) == 0 &&
	    sign_note(api, node, "stamp", &stamp, &work.stamp, err) == 0) {
		set_disk(&work, api, node, target, &seen);
		work.kargs = config->kargs;
		work.files = bu_config_rows(config);
		work.files_count = config->count;
		item = bu_record_to_json(bu_work_install_fields, &work);
	}
	bu_config_destroy(config);
	return item;
}

/* What a reboot needs is written now and holds with it; everything else holds at once,
 * also on a node that has left its cluster for a restart. */
static json_t *
configure_work(const struct bu_api *api, const struct bu_node *node,
	       const struct bu_target *target, struct bu_err *err)
{
	int reboots = node->order.class == BU_CLASS_REBOOT;
	struct bu_config *config = node_config(api, node, target, err);
	struct bu_work_configure work = {
		.work = work_of(node),
		.live = !reboots,
		.then = reboots ? "off" : "",
		.confirm_ms = target->node->pool->confirm_deadline_ms,
	};
	json_t *item;

	if (!config)
		return NULL;
	while (bu_config_patterns[work.patterns_count]) {
		work.patterns[work.patterns_count] =
			bu_config_patterns[work.patterns_count];
		work.patterns_count++;
	}
	work.kargs = config->kargs;
	work.files = bu_config_rows(config);
	work.files_count = config->count;
	item = bu_record_to_json(bu_work_configure_fields, &work);
	bu_config_destroy(config);
	return item;
}

/* Nodes without a cluster have nothing to start; their certificates are kept as well.
 */
static struct bu_config *
cluster_config(const struct bu_api *api, const struct bu_desired_node *want,
	       struct bu_err *err)
{
	struct bu_config *config;
	size_t size = 0;
	char *key = bu_secrets_get(api->secrets, want->cluster->munge_key, &size, err);

	config = key ? bu_config_render_cluster(want, key, size, err) : NULL;
	bu_secret_free(key, size);
	if (!config)
		bu_err_wrap(err, "cluster %s", want->cluster->name);
	return config;
}

static json_t *
join_work(const struct bu_api *api, const struct bu_node *node,
	  const struct bu_desired_node *want, struct bu_err *err)
{
	struct bu_work_join work = {.work = work_of(node)};
	struct bu_config *config = NULL;
	json_t *item;

	if (bu_record_from_json(bu_work_cert_fields, node->full_cert, &work.full,
				err) != 0 ||
	    bu_record_from_json(bu_work_cert_fields, node->boot_cert, &work.boot,
				err) != 0)
		return NULL;
	if (want->cluster) {
		config = cluster_config(api, want, err);
		if (!config)
			return NULL;
		work.services[work.services_count++] = "munge";
		work.services[work.services_count++] = "slurmd";
		work.files = bu_config_rows(config);
		work.files_count = config->count;
	}
	item = bu_record_to_json(bu_work_join_fields, &work);
	bu_config_destroy(config);
	return item;
}

json_t *
bu_api_step_work(const struct bu_api *api, const struct bu_node *node,
		 struct bu_err *err)
{
	struct bu_target target;

	if (bu_fleet_target(api->fleet, node, &target, err) != 0)
		return NULL;
	if (node->step.action == BU_ACTION_INSTALL)
		return install_work(api, node, &target, err);
	if (node->step.action == BU_ACTION_CONFIGURE)
		return configure_work(api, node, &target, err);
	return join_work(api, node, target.node, err);
}
