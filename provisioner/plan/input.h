/* SPDX-License-Identifier: Apache-2.0 */
/* Input of a plan: the desired and the applied state, the known nodes, and queries. */
#ifndef BU_PLAN_INPUT_H
#define BU_PLAN_INPUT_H

#include <jansson.h>

#include "images/origin.h"
#include "profiles/desired.h"
#include "profiles/load/compat.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/node/node.h"

enum bu_plan_disk {
	BU_PLAN_DISK_UNKNOWN, /* no inventory; the agent refuses a disk with content */
	BU_PLAN_DISK_EMPTY,
	BU_PLAN_DISK_WRITTEN,
};

struct bu_plan_image {
	char digest[65]; /* of the manifest */
	char kernel[64]; /* "6.1.0-28-amd64", by the manifest */
	/* Further versions in the manifest; "" = none, or unknown unless `described`.
	 */
	char driver[64], fabric_manager[64];
	int described;
	/* Cluster clients in the image: bits by place in bu_cluster_drivers. */
	unsigned int clients;
	int is_disk;       /* a whole-disk image that bringup did not build */
	int mirrors;       /* its systems start from a mirrored root */
	int slots;         /* its systems start from one of two roots */
	uint32_t programs; /* images/programs.h; 0 = unknown */
	struct bu_image_origin origin; /* the sources of the image */
	char kept_out[400]; /* the refusal of [policy] scanner; "" = accepted */
};

struct bu_plan_input {
	const struct bu_desired *desired;
	/* The applied state: facets of nodes whose own are unknown. NULL = none. */
	const struct bu_desired *applied;
	const char *revision;           /* digest of the tree */
	const char *base;               /* the applied revision; "" = none */
	const char *commit;             /* "" = not from git */
	const struct bu_nodeset *limit; /* NULL = all nodes */
	/* Nodes whose orders under way are withdrawn and begin anew; NULL = none. */
	const struct bu_nodeset *restart;
	enum bu_class rebuild; /* class by which all of them are written anew; NONE = as
				  needed */
	struct bu_node *const *nodes; /* sorted by name */
	size_t count;
	const struct bu_compat *compat; /* versions that fit together; NULL = any */
	const char *
		ramdisk_kernel; /* kernel release of the boot ramdisk; NULL = unknown */

	/* Queries; each gets arg. image() is called once per image: NULL and err = not
	 * usable. The answer is borrowed until the next call. */
	const struct bu_plan_image *(*image)(void *arg,
					     const struct bu_desired_image *image,
					     struct bu_err *err);
	/* {"name":"value"} of the digest; NULL = not in the store. New reference. */
	json_t *(*facets)(void *arg, const char *digest);
	/* wanted: the selector of a profile (profiles/load/disk.h). */
	enum bu_plan_disk (*disk)(void *arg, const struct bu_node *node,
				  const char *wanted);
	/* {"path","serial","wwn","size_bytes"} of the inventory; NULL, or no function =
	 * unknown. New reference. */
	json_t *(*disk_id)(void *arg, const struct bu_node *node, const char *wanted);
	/* The disk that `wanted` selects besides the first one of the class's system:
	 * {"path", "serial","wwn","size_bytes","holds","written"}; NULL, or no function
	 * = unknown. New reference. */
	json_t *(*mirror)(void *arg, const struct bu_node *node,
			  const struct bu_desired_hardware *class, const char *wanted);
	/* The disks that `wanted` selects besides the system's, as a list of the same.
	 * No function = none. New reference. */
	json_t *(*scratch)(void *arg, const struct bu_node *node,
			   const struct bu_desired_hardware *class, const char *wanted);
	/* 1 = the node's system runs, and is adopted as it is. No function = none is.
	 */
	int (*adopts)(void *arg, const struct bu_node *node);
	/* Minutes that steps of this class took in the past; negative = not known. */
	double (*minutes)(void *arg, const char *pool, enum bu_class class);
	void *arg;
};

#endif
