/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan is made of: desired, applied, known nodes, and questions to the log. */
#ifndef BU_PLAN_INPUT_H
#define BU_PLAN_INPUT_H

#include <jansson.h>

#include "images/origin.h"
#include "profiles/desired.h"
#include "profiles/load/compat.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/node/node.h"

enum bu_plan_disk {
	BU_PLAN_DISK_UNKNOWN, /* no inventory; the agent refuses one that is not empty
			       */
	BU_PLAN_DISK_EMPTY,
	BU_PLAN_DISK_WRITTEN,
};

struct bu_plan_image {
	char digest[65]; /* of the manifest */
	char kernel[64]; /* "6.1.0-28-amd64", as the manifest says it */
	/* What else it says; "" = nothing. Without `described` nothing looked. */
	char driver[64], fabric_manager[64];
	int described;
	/* Clients of clusters that it holds: bits by place in bu_cluster_drivers. */
	unsigned int clients;
	int is_disk;                   /* all of somebody else's disk */
	int mirrors;                   /* its systems start from a mirrored root */
	int slots;                     /* they start from one of two roots */
	uint32_t programs;             /* images/programs.h; 0 = nobody looked */
	struct bu_image_origin origin; /* what it was made of */
	char kept_out[400]; /* why [policy] scanner does not accept it; "" = it does */
};

struct bu_plan_input {
	const struct bu_desired *desired;
	/* The applied state, NULL = none: what a node has whose facets are unknown. */
	const struct bu_desired *applied;
	const char *revision;           /* digest of the tree */
	const char *base;               /* the applied revision; "" = none */
	const char *commit;             /* "" = not from git */
	const struct bu_nodeset *limit; /* NULL = all nodes */
	/* Whose orders under way are withdrawn and begin anew; NULL = nobody's. */
	const struct bu_nodeset *restart;
	enum bu_class
		rebuild; /* that all of them are written anew by; NONE = as needed */
	struct bu_node *const *nodes; /* sorted by name */
	size_t count;
	const struct bu_compat *compat; /* versions that fit together; NULL = any */
	const char *ramdisk_kernel; /* release of the boot ramdisk's; NULL = unknown */

	/* Each gets arg. Asked once for each image: NULL and err when it cannot be
	 * used; borrowed until the next call. */
	const struct bu_plan_image *(*image)(void *arg,
					     const struct bu_desired_image *image,
					     struct bu_err *err);
	/* {"name":"value"} of the digest, NULL when it is not there. New reference. */
	json_t *(*facets)(void *arg, const char *digest);
	/* wanted: as a profile says it (profiles/load/disk.h). */
	enum bu_plan_disk (*disk)(void *arg, const struct bu_node *node,
				  const char *wanted);
	/* {"path","serial","wwn","size_bytes"} as its inventory has them; NULL, or no
	 * function = unknown. New reference. */
	json_t *(*disk_id)(void *arg, const struct bu_node *node, const char *wanted);
	/* The one that `wanted` says besides the first of the class's system: {"path",
	 * "serial","wwn","size_bytes","holds","written"}; NULL, or no function =
	 * unknown. New reference. */
	json_t *(*mirror)(void *arg, const struct bu_node *node,
			  const struct bu_desired_hardware *class, const char *wanted);
	/* Those that `wanted` says besides the system's: a list of the same. No
	 * function: none. New reference. */
	json_t *(*scratch)(void *arg, const struct bu_node *node,
			   const struct bu_desired_hardware *class, const char *wanted);
	/* What such a step took in the past; negative = not known. */
	double (*minutes)(void *arg, const char *pool, enum bu_class class);
	void *arg;
};

#endif
