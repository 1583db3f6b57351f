/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a plan as people think of them: what happens to the same end for the
 * same reason is one group. Pure. */
#ifndef BU_CLI_RENDER_PLANNED_GROUP_H
#define BU_CLI_RENDER_PLANNED_GROUP_H

#include <jansson.h>

#include "model/class.h"
#include "model/plan.h"

struct bu_planned_group {
	const struct bu_plan_step *step; /* the first of it */
	json_t *nodes;                   /* names */
	int disks_differ;
	char *differ; /* by change of the step: not the same for all nodes */
};
/* Pools in the order of the plan, in each the severest first; a list on the heap. */
struct bu_planned_group *bu_planned_groups(const struct bu_plan *plan,
					   size_t *ret_count);
void bu_planned_groups_free(struct bu_planned_group *groups, size_t count);
/* Those of `count` that have the same key: [{"places": [in all], "nodes": [names]}].
 * key: owned. New reference. */
json_t *bu_planned_alike(const void *all, size_t count,
			 char *(*key)(const void *, size_t),
			 const char *(*name)(const void *, size_t));

/* Why the node's last order failed; "" = it did not. Owned. */
char *bu_planned_last(const struct bu_plan_step *step);

/* The place of its first one. */
size_t bu_planned_first(const json_t *group);

struct bu_planned_time {
	int batches;    /* after the canaries */
	double minutes; /* of all batches, one after the other; negative = not known */
};
/* How the steps of one pool follow one another. */
struct bu_planned_time bu_planned_time(const struct bu_plan *plan, const char *pool);

#endif
