/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items of work: what a node is told to do, made of its order, its profile and what its
 * machine told. Called by routes of api/. Nothing here is sent or written to the log.
 */
#ifndef BU_WORK_WORK_H
#define BU_WORK_WORK_H

#include "base/secrets.h"
#include "images/store.h"
#include "provisioner/config/render.h"
#include "provisioner/node/ram.h"
#include "provisioner/node/reconcile.h"
#include "provisioner/plan/plan.h"
#include "provisioner/rollout/travel.h"

/* What items are made of beside their node; all of it is borrowed. */
struct bu_work_input {
	struct bu_fleet *fleet;
	const struct bu_trust *trust;
	struct bu_travels *travels;
	struct bu_secrets *secrets;
	const char *images_dir;
	const char *image_key; /* path of the public key when the profile names none */
	const char *boot_address; /* ours in the boot network */
	const char *http_url;     /* plain listener for booting nodes */
};

/* The item of the node's open step; NULL and err when none can be made. New reference.
 */
json_t *bu_work_make_step(const struct bu_work_input *input, const struct bu_node *node,
			  struct bu_err *err);
/* The same for a system that is loaded into memory from this image. */
json_t *bu_work_make_load(const struct bu_work_input *input, const struct bu_node *node,
			  const struct bu_ram_image *image, struct bu_err *err);

/* The files of the node's configuration; *ret_network (owned; NULL = not asked for) is
 * its network for cloud-init. */
struct bu_config *bu_work_config(const struct bu_work_input *input,
				 const struct bu_node *node,
				 const struct bu_target *target, char **ret_network,
				 struct bu_err *err);
/* How the node differs from its profile: findings of provisioner/config/drift.h, empty
 * when there are none. New reference. */
json_t *bu_work_drift(const struct bu_work_input *input, const struct bu_node *node);
/* The user data of what this step installs, for cloud-init; owned. */
char *bu_work_user_data(const struct bu_work_input *input, const struct bu_node *node,
			const struct bu_target *target, const char *step,
			struct bu_err *err);
/* BU_ERR_INVAL, BU_ERR_DENIED unless the file holds certificates alone or is not there.
 */
bu_must int bu_work_check_directory_ca(const char *path, struct bu_err *err);

/* The desired image, checked with its keys. */
bu_must int bu_work_load_image(const struct bu_work_input *input,
			       const struct bu_desired_image *image,
			       struct bu_image *ret, struct bu_err *err);
/* What a plan needs of it; borrowed until the next call. */
const struct bu_plan_image *bu_work_plan_image(const struct bu_work_input *input,
					       const struct bu_desired_image *image,
					       struct bu_err *err);
/* The keys of which one must have signed the image, PEM; "": it has no signature, and
 * the policy lets it pass. digest: NULL = the one that has the name now. Owned. */
char *bu_work_image_keys(const struct bu_work_input *input,
			 const struct bu_desired_image *image, const char *digest,
			 struct bu_err *err);
/* The same for the image that a node's boot loads: its own ones, whatever the profile
 * says since it was installed. Owned. */
char *bu_work_loaded_keys(const struct bu_work_input *input, const struct bu_node *node,
			  const struct bu_target *target,
			  const struct bu_ram_image *image, struct bu_err *err);

#endif
