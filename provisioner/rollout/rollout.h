/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rollouts: an applied plan becomes orders, and nodes get their turn under the limits
 * of their pool. Nodes that are out of service anyway start at once; of those in
 * service at most max_unavailable are away at a time.
 */
#ifndef BU_ROLLOUT_ROLLOUT_H
#define BU_ROLLOUT_ROLLOUT_H

#include "provisioner/node/reconcile.h"

struct bu_rollouts;

struct bu_rollouts *bu_rollouts_create(struct bu_world *world,
				       struct bu_reconcile *rec);
void bu_rollouts_destroy(struct bu_rollouts *rollouts);
/* Something changed: gives turns soon. */
void bu_rollouts_kick(struct bu_rollouts *rollouts);

/* Journals the plan as applied and its orders. granted: "wipe" or NULL. BU_ERR_DENIED
 * names the nodes whose step lacks its grant. ret_id holds 40 bytes. */
int bu_rollouts_apply(struct bu_rollouts *rollouts, const json_t *plan,
		      const char *plan_digest, const char *granted, const char *by,
		      char *ret_id, struct bu_err *err);
/* {"id","plan","total","ready","failed","quarantined","turn","under_way"} or null.
 * turn: wait for their turn. */
json_t *bu_rollouts_json(const struct bu_rollouts *rollouts);

#endif
