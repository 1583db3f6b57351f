/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of one node, of its profile and what its machine told: the files
 * that go to it, its network for cloud-init, and where it is not what the profile says.
 */
#include <string.h>

#include "base/confine.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/secret.h"
#include "base/text.h"
#include "model/inventory.h"
#include "provisioner/config/drift.h"
#include "provisioner/config/nocloud.h"
#include "provisioner/config/render.h"
#include "provisioner/node/drifted.h"
#include "provisioner/work/work.h"

enum { CA_MAX = 1 << 20 };

/* What the node's configuration is made of; NULL when its machine is not known. */
static struct bu_inventory *
config_input(const struct bu_work_input *work, const struct bu_node *node,
	     const struct bu_target *target, struct bu_config_input *ret,
	     struct bu_err *err)
{
	bu_autojson json_t *value = bu_fleet_inventory(work->fleet, node);
	struct bu_inventory *inventory = bu_inventory_from_json(value, err);

	*ret = (struct bu_config_input){
		.desired = target->desired,
		.node = target->node,
		.nics = inventory ? inventory->nics : NULL,
		.nic_count = inventory ? inventory->nics_count : 0,
		.appliance = work->boot_address,
	};
	return inventory;
}

/* What sssd is to be told, which has a line for it. Owned; NULL with *err. */
static char *
directory_key(const struct bu_work_input *work, const char *reference, size_t *ret_size,
	      struct bu_err *err)
{
	char *key = bu_secrets_get(work->secrets, reference, ret_size, err);
	size_t size;

	if (!key)
		return NULL;
	for (size = *ret_size; size && strchr("\r\n", key[size - 1]); size--)
		key[size - 1] = '\0';
	if (size && size == strlen(key) && bu_text_is_ascii(key) && key[0] != ' ' &&
	    key[size - 1] != ' ')
		return key;
	bu_secret_free(key, *ret_size);
	bu_err_set(
		err, BU_ERR_INVAL, 0,
		"[access] directory_key: %s is not one line of ASCII without a blank at "
		"its ends",
		reference);
	return NULL;
}

/* Certificates alone, as they are written anew: nodes get them, and anybody there may
 * read them. Owned. */
static char *
directory_ca(const char *path, struct bu_err *err)
{
	bu_autofree char *text = bu_confine_read(BU_CONFINE_SECRETS | BU_CONFINE_IMAGES,
						 path, CA_MAX, NULL, err);
	char *certs = text ? bu_certs_only(text, err) : NULL;

	if (text && !certs)
		bu_err_wrap(err, "'%s'", path);
	return certs;
}

int
bu_work_check_directory_ca(const char *path, struct bu_err *err)
{
	struct bu_err why = {0};
	bu_autofree char *certs = directory_ca(path, &why);

	if (certs || why.kind == BU_ERR_NOTFOUND)
		return 0;
	if (err)
		*err = why;
	return -1;
}

/* With what the profile only names. */
static struct bu_config *
render(const struct bu_work_input *work, struct bu_config_input *input,
       struct bu_err *err)
{
	const struct bu_desired_access *access = &input->desired->access;
	bu_autofree char *ca = NULL;
	struct bu_config *config = NULL;
	char *key = NULL;
	size_t size = 0;

	if (access->directory) {
		input->directory_ca = ca = directory_ca(access->directory_ca, err);
		if (!ca) {
			bu_err_wrap(err, "[access] directory_ca");
			return NULL;
		}
	}
	if (access->directory_key)
		input->directory_key = key =
			directory_key(work, access->directory_key, &size, err);
	if (key || !access->directory_key)
		config = bu_config_render(input, err);
	bu_secret_free(key, size);
	return config;
}

struct bu_config *
bu_work_config(const struct bu_work_input *work, const struct bu_node *node,
	       const struct bu_target *target, char **ret_network, struct bu_err *err)
{
	struct bu_config_input input;
	bu_autoinventory struct bu_inventory *inventory =
		config_input(work, node, target, &input, err);
	bu_autofree char *network = NULL;
	struct bu_config *config = NULL;

	if (inventory && (!ret_network || (network = bu_nocloud_network(&input, err))))
		config = render(work, &input, err);
	if (config && ret_network)
		*ret_network = bu_steal(&network);
	return config;
}

json_t *
bu_work_drift(const struct bu_work_input *work, const struct bu_node *node)
{
	bu_autoinventory struct bu_inventory *inventory = NULL;
	struct bu_config_input input;
	struct bu_target target;
	json_t *drift = NULL;

	/* Until an order is done the node need not be what the profile says. */
	if (node->boot_installed && !node->order->open &&
	    bu_fleet_target(work->fleet, node, &target, NULL) == 0)
		inventory = config_input(work, node, &target, &input, NULL);
	if (inventory)
		drift = bu_config_drift(&input, inventory, NULL);
	if (!drift)
		drift = json_array();
	if (node->boot_installed)
		bu_drifted_list(work->fleet, node, drift);
	return drift;
}
