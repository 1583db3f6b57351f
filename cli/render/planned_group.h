/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a plan as people think of them: what happens to the same end for the
 * same reason is one group. Pure. */
#ifndef BU_CLI_RENDER_PLANNED_GROUP_H
#define BU_CLI_RENDER_PLANNED_GROUP_H

#include <jansson.h>

#include "model/class.h"

/* [{"pool","class","nodes":[names],"step": the first,"differ":{facet: true}}]: pools in
 * the order of the plan, in each the severest first. differ: facets whose values are
 * not the same for all nodes of the group, and "disk". New reference. */
json_t *bu_planned_groups(const json_t *steps);
/* Objects that say the same in all of these members: [{"first","nodes":[names]}]. New
 * reference. */
json_t *bu_planned_alike(const json_t *objects, const char *const *members,
			 size_t count);

struct bu_planned_time {
	int batches;    /* after the canaries */
	double minutes; /* of all batches, one after the other; negative = not known */
};
/* How the steps of one pool follow one another. */
struct bu_planned_time bu_planned_time(const json_t *steps, const char *pool);

#endif
