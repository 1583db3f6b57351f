/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: desired against actual, as steps per node with their consequence. Pure.
 *
 * {"v":1,"revision","commit","steps":[{"node","pool","class","image","digest","from",
 *  "why"}],"unchanged":N,"refused":[{"node","why"}],"left":[names not in the profile]}
 * Its digest names it; it holds as long as making it again gives the same.
 */
#ifndef BU_PLAN_PLAN_H
#define BU_PLAN_PLAN_H

#include <jansson.h>

#include "model/node.h"
#include "profiles/desired.h"

struct bu_plan_input {
	const struct bu_desired *desired;
	const char *revision;         /* digest of the tree */
	const char *commit;           /* "" = not from git */
	struct bu_node *const *nodes; /* sorted by name */
	size_t count;
	/* Digest of the image's manifest, NULL and err when it cannot be used. Borrowed
	 * until the next call. */
	const char *(*image_digest)(void *arg, const struct bu_desired_image *image,
				    struct bu_err *err);
	void *arg;
};

/* New reference; NULL when an image is missing or not signed by its key. */
json_t *bu_plan_make(const struct bu_plan_input *input, struct bu_err *err);
/* Nodes whose step needs a grant that `granted` does not give, as a list of names;
 * owned, NULL when there are none. */
char *bu_plan_ungranted(const json_t *plan, const char *granted);

#endif
