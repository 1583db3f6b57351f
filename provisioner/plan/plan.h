/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: desired against actual, as steps per node with their consequence. Pure.
 *
 * {"v":2,"revision","base","commit","limit","observed","steps","unchanged","refused",
 *  "left","left_out","pools","renames","warnings","drift"}; docs/plan.md says what each
 * is. Its digest names it; it holds as long as making it again gives the same.
 */
#ifndef BU_PLAN_PLAN_H
#define BU_PLAN_PLAN_H

#include <jansson.h>

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
};

struct bu_plan_input {
	const struct bu_desired *desired;
	/* The applied state, NULL = none: what a node has whose facets are unknown. */
	const struct bu_desired *applied;
	const char *revision;           /* digest of the tree */
	const char *base;               /* the applied revision; "" = none */
	const char *commit;             /* "" = not from git */
	const struct bu_nodeset *limit; /* NULL = all nodes */
	enum bu_class
		rebuild; /* that all of them are written anew by; NONE = as needed */
	struct bu_node *const *nodes; /* sorted by name */
	size_t count;
	const struct bu_compat *compat; /* versions that fit together; NULL = any */

	/* Each gets arg. Asked once for each image: NULL and err when it cannot be
	 * used; borrowed until the next call. */
	const struct bu_plan_image *(*image)(void *arg,
					     const struct bu_desired_image *image,
					     struct bu_err *err);
	/* {"name":"value"} of the digest, NULL when it is not there. New reference. */
	json_t *(*facets)(void *arg, const char *digest);
	enum bu_plan_disk (*disk)(void *arg, const struct bu_node *node,
				  const char *path);
	/* {"serial","size_bytes"} as its inventory has them; NULL, or no function =
	 * unknown. New reference. */
	json_t *(*disk_id)(void *arg, const struct bu_node *node, const char *path);
	/* What such a step took in the past; negative = nobody knows. */
	double (*minutes)(void *arg, const char *pool, enum bu_class class);
	void *arg;
};

/* New reference; NULL when an image is missing or not signed by its key. */
json_t *bu_plan_make(const struct bu_plan_input *input, struct bu_err *err);
/* BU_ERR_DENIED with the first violations when policy forbids the plan as a whole. */
int bu_plan_allowed(const json_t *plan, struct bu_err *err);
/* BU_ERR_STATE says what has moved between a plan and the same one made again: the
 * revision, the nodes (which), the images. Expected minutes may differ. */
int bu_plan_same(const json_t *plan, const json_t *again, struct bu_err *err);

#endif
