/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the profile wants of one node, flattened: a list of named values, each with what
 * a change of it costs and where it was said. It holds exactly the keys whose class in
 * the table of keys (bu_key.change) is not none, and of them only those that are set to
 * something else than their default, so that a new key changes no node. Two nodes with
 * the same facets need the same files; a plan compares what a node has with what it
 * should have by them.
 *
 * Names: a key of a node as it is ("kargs", "labels"), "data" and "cluster" of its
 * pool, "site.dns", "hardware.disk", "cluster.controller", "network.NAME.mtu", and
 * "network.NAME.address", the node's own; "user.NAME.keys" as fingerprints. The image
 * is no facet: its digest tells. Secrets appear as their references.
 */
#ifndef BU_PROFILES_EXPORT_FACETS_H
#define BU_PROFILES_EXPORT_FACETS_H

#include <jansson.h>

#include "model/class.h"
#include "profiles/desired.h"

enum { BU_FACET_NAME_MAX = 160 };

struct bu_facet {
	char *name;
	char *value; /* as a profile would say it: "9000", "performance" */
	enum bu_class change;
	struct bu_origin origin; /* line 0: not set in a file, file is NULL then */
};

struct bu_facets {
	struct bu_facet *items; /* sorted by name */
	size_t count, cap;
	/* Of a node of this pool that has no section of its own; NULL = of another. */
	const struct bu_desired_pool *plain_of;
	char *text; /* room for bu_facets_digest() */
	size_t text_size, text_cap;
};

/* Starts zeroed. Forgets what was in it; texts are owned by it. */
void bu_facets_collect(struct bu_facets *facets, const struct bu_desired *desired,
		       const struct bu_desired_node *node);
void bu_facets_clear(struct bu_facets *facets);
/* NULL when there is none of the name. */
const struct bu_facet *bu_facets_find(const struct bu_facets *facets, const char *name);
/* {"kargs":"iommu=pt",...}. New reference. */
json_t *bu_facets_to_json(const struct bu_facets *facets);
/* Of bu_facets_to_json(), as bu_json_digest() makes it, without making that. */
void bu_facets_digest(struct bu_facets *facets, char ret_hex[65]);
/* The two at once. */
json_t *bu_facets_json(const struct bu_desired *desired,
		       const struct bu_desired_node *node);

/* Instead of facets: what the profile says of how the node's machine is reached and
 * known (BU_KEY_REACH); change is NONE. Secrets appear as their references. */
void bu_facets_reach(struct bu_facets *facets, const struct bu_desired *desired,
		     const struct bu_desired_node *node);

/* reach.c. Do two revisions say the same of it? 0 also where a node has its own value
 * of what its pools say otherwise. */
int bu_reach_same(const struct bu_desired_node *a, const struct bu_desired_node *b);

/* What a change of a facet of this name costs; NONE for a name that no key has (of
 * another version). */
enum bu_class bu_facet_change(const char *name);
/* What holds when there is no facet of this name: the key's default, or "". */
const char *bu_facet_default(const char *name);

#endif
