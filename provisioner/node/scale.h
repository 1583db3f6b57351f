/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of pools that are scaled: counted, drained, taken back, switched off. */
#ifndef BU_NODE_SCALE_H
#define BU_NODE_SCALE_H

#include "provisioner/node/reconcile.h"

struct bu_scale_tally {
	int in;     /* in service, or on their way there */
	int spares; /* scaled down, or draining for that; nobody holds them */
};
void bu_scale_count(const struct bu_fleet *fleet, const struct bu_desired_pool *pool,
		    struct bu_scale_tally *ret);
/* Puts the word into the log. BU_ERR_STATE: the pool has no `max`. BU_ERR_INVAL: the
 * number is not within min and max. */
bu_must int bu_scale_ask(struct bu_reconcile *rec, const struct bu_desired_pool *pool,
			 int64_t count, const char *by, const char *words,
			 struct bu_err *err);
/* Does the next things that lead to what is wanted; at each tick of reconcile.c. */
void bu_scale_tick(struct bu_reconcile *rec);

#endif
