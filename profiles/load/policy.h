/* SPDX-License-Identifier: Apache-2.0 */
/*
 * [policy] as far as a profile alone tells: zones of nodes, images, clusters and
 * backups, registries and keys of images. `check` and the plan judge by the same
 * functions.
 */
#ifndef BU_PROFILES_LOAD_POLICY_H
#define BU_PROFILES_LOAD_POLICY_H

#include "profiles/desired.h"

struct bu_violation {
	const char *rule;    /* the key of [policy]: "residency" */
	const char *node;    /* hostlist; "" = it is about no node alone */
	struct bu_origin at; /* the line that breaks the rule */
	/* "[node gpu001] is in zone eu-1; [policy] residency = ae-* (site.ini:9) allows
	 * no other" */
	const char *text;
};

/* Calls fn for each violation; what it gets is borrowed until it returns. */
void bu_policy_judge(const struct bu_desired *desired,
		     void (*fn)(const struct bu_violation *violation, void *arg),
		     void *arg);

/* The same of one registry that an image was made from, whatever the profile says: by
 * its host, with its port. */
void bu_policy_judge_registry(const struct bu_desired *desired,
			      const struct bu_desired_image *image, const char *host,
			      void (*fn)(const struct bu_violation *violation,
					 void *arg),
			      void *arg);

#endif
