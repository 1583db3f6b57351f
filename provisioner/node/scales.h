/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many nodes of a pool are to be in service, where its profile has `max`: as count
 * says, or as a person, a program or idle_off has said since.
 */
#ifndef BU_NODE_SCALES_H
#define BU_NODE_SCALES_H

#include "model/event.h"
#include "profiles/desired.h"

struct bu_fleet;

/* The last word on a pool. */
struct bu_scale {
	char pool[BU_NAME_MAX];
	int count;
	int of;          /* the profile's count then; with another one it is over */
	char by[96];     /* whose word it is */
	char words[120]; /* and why; "" = not said */
	int64_t at_ms;   /* Unix time, by the appliance's clock */
};
struct bu_scales {
	struct bu_scale *list; /* one for each pool */
	size_t count, cap;
};
void bu_scales_fini(struct bu_scales *scales);

/* The word that counts; NULL = the profile's. */
const struct bu_scale *bu_scale_of(const struct bu_fleet *fleet,
				   const struct bu_desired_pool *pool);
/* Nodes that the pool is to have in service, within min and max; all of them without
 * max. */
int bu_scale_wanted(const struct bu_fleet *fleet, const struct bu_desired_pool *pool);

#endif
