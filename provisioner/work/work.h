/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work for agents: made from the node's order, its profile and its machine's inventory.
 * Called by routes of api/. Nothing here is sent or written to the log.
 */
#ifndef BU_WORK_WORK_H
#define BU_WORK_WORK_H

#include "base/secrets.h"
#include "images/store.h"
#include "provisioner/config/render.h"
#include "provisioner/node/ram.h"
#include "provisioner/node/reconcile.h"
#include "provisioner/plan/plan.h"
#include "provisioner/rollout/agent_upgrade.h"

/* Sources of work besides the node; borrowed. */
struct bu_work_input {
	struct bu_fleet *fleet;
	const struct bu_trust *trust;
	struct bu_agent_upgrades *upgrades;
	struct bu_secrets *secrets;
	const char *images_dir;
	const char *image_key;    /* public key's path unless in the profile */
	const char *boot_address; /* ours in the boot network */
	const char *http_url;     /* plain listener for booting nodes */
};

/* The work of the node's open step; NULL and err = none can be made. New reference. */
json_t *bu_work_make_step(const struct bu_work_input *input, const struct bu_node *node,
			  struct bu_err *err);
/* The same for loading a system into memory from this image. */
json_t *bu_work_make_load(const struct bu_work_input *input, const struct bu_node *node,
			  const struct bu_ram_image *image, struct bu_err *err);

/* The node's configuration files. *ret_network is its network configuration for
 * cloud-init, owned; ret_network NULL = not wanted. */
struct bu_config *bu_work_config(const struct bu_work_input *input,
				 const struct bu_node *node,
				 const struct bu_target *target, char **ret_network,
				 struct bu_err *err);
/* Differences between the node and its profile: findings of provisioner/config/drift.h;
 * empty = none. New reference. */
json_t *bu_work_drift(const struct bu_work_input *input, const struct bu_node *node);
/* cloud-init's user data for the step's system; owned. */
char *bu_work_user_data(const struct bu_work_input *input, const struct bu_node *node,
			const struct bu_target *target, const char *step,
			struct bu_err *err);
/* 0 = the file holds only certificates, or is missing. BU_ERR_INVAL, BU_ERR_DENIED. */
bu_must int bu_work_check_directory_ca(const char *path, struct bu_err *err);

/* Loads the desired image, verified with its keys. */
bu_must int bu_work_load_image(const struct bu_work_input *input,
			       const struct bu_desired_image *image,
			       struct bu_image *ret, struct bu_err *err);
/* The plan's view of the image; kept_out stays as it is. */
bu_must int bu_work_plan_image(const struct bu_work_input *input,
			       const struct bu_desired_image *image,
			       struct bu_plan_image *ret, struct bu_err *err);
/* Public keys in PEM, one of which must have signed the image. "" = unsigned, and the
 * policy accepts that. digest: NULL = the image that has the name now. Owned. */
char *bu_work_image_keys(const struct bu_work_input *input,
			 const struct bu_desired_image *image, const char *digest,
			 struct bu_err *err);
/* The same for the image that the node's boot loads, by the revision of its install or
 * order. Owned. */
char *bu_work_loaded_keys(const struct bu_work_input *input, const struct bu_node *node,
			  const struct bu_target *target,
			  const struct bu_ram_image *image, struct bu_err *err);

#endif
