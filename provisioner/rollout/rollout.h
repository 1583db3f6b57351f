/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rollouts: an applied plan becomes orders, and nodes get their turn under the limits
 * of their pool.
 *
 * Nodes that are out of service start at once. Of the nodes in service, the pool's
 * canaries come first, alone. When the canaries are done, the others follow, while
 * fewer than max_unavailable nodes of the pool are away or under way. Turns of nodes in
 * service begin in maintenance windows only. A canary that fails stops the rollout, and
 * so do as many failures as the pool's failure_budget. Relabelling disturbs no node and
 * waits only for its rollout. All state is a function of the log.
 */
#ifndef BU_ROLLOUT_ROLLOUT_H
#define BU_ROLLOUT_ROLLOUT_H

#include "model/plan.h"
#include "provisioner/node/reconcile.h"

struct bu_rollouts;

/* Also sets the brake on rec. */
struct bu_rollouts *bu_rollouts_create(struct bu_fleet *fleet,
				       struct bu_reconcile *rec);
void bu_rollouts_destroy(struct bu_rollouts *rollouts);
/* State has changed: gives turns soon. */
void bu_rollouts_kick(struct bu_rollouts *rollouts);

/*
 * May the plan be applied? grants: [{"class":"reset|reimage|wipe", "nodes": nodeset
 * without groups, absent = all nodes of the plan}], NULL = none. A wipe includes a
 * reimage, and both include a reset. BU_ERR_DENIED: err names the nodes whose step
 * lacks its grant. BU_ERR_BUSY: see bu_rollouts_changing().
 */
bu_must int bu_rollouts_check(struct bu_rollouts *rollouts, const struct bu_plan *plan,
			      const json_t *grants, struct bu_err *err);
/* 1 = the plan is applied already: another apply leaves no event. */
int bu_rollouts_is_done(const struct bu_rollouts *rollouts, const struct bu_plan *plan);
struct bu_consent {
	const struct bu_plan *plan;
	const char *digest; /* of the plan */
	const json_t *grants;
	const char *by;
};
/*
 * Journals the revision, the plan, their application and the orders in one commit.
 * Their blobs are already in the store. A plan without steps is no rollout: *ret_id is
 * "". Errors of bu_rollouts_check(). ret_id holds 40 bytes.
 */
bu_must int bu_rollouts_apply(struct bu_rollouts *rollouts,
			      const struct bu_consent *consent, char *ret_id,
			      struct bu_err *err);

/* A node of the plan with an event on its way to the log: an order would rest on
 * outdated facts. NULL = none. */
const struct bu_node *bu_rollouts_changing(const struct bu_rollouts *rollouts,
					   const struct bu_plan *plan);

/* BU_ERR_NOTFOUND; BU_ERR_STATE: not possible in this state (pause of a done rollout).
 * by: who asked. A resume forgives the failures so far. */
bu_must int bu_rollouts_pause(struct bu_rollouts *rollouts, const char *id,
			      const char *by, struct bu_err *err);
bu_must int bu_rollouts_resume(struct bu_rollouts *rollouts, const char *id,
			       const char *by, struct bu_err *err);
/* Withdraws orders that have not begun. Recalls those that have not written the disk or
 * left the cluster, in the same commit. */
bu_must int bu_rollouts_abort(struct bu_rollouts *rollouts, const char *id,
			      const char *by, struct bu_err *err);
/* Effect that an abort would have now on orders under way: {"called_back":[node],
 * "going_on":[{"node","why"}]}. New reference. */
json_t *bu_rollouts_recalled(struct bu_rollouts *rollouts, const char *id);
/* 1 = a change of one of the rollout's nodes is on its way to the log. */
int bu_rollouts_is_moving(const struct bu_rollouts *rollouts, const char *id);

/* Views of model/shown_rollout.h; new references. bu_rollouts_json(): the last rollout
 * with an open order, else the last with orders, else null. */
json_t *bu_rollouts_json(const struct bu_rollouts *rollouts);
/* [rollout], newest first. */
json_t *bu_rollouts_list(const struct bu_rollouts *rollouts);
/* One rollout with its lists. NULL: BU_ERR_NOTFOUND. */
json_t *bu_rollouts_show(const struct bu_rollouts *rollouts, const char *id,
			 struct bu_err *err);
/* Why the node's order has not begun, as a line; NULL = no order waits.
 * New reference. */
json_t *bu_rollouts_why(const struct bu_rollouts *rollouts, const struct bu_node *node);
/* Marks as changed in the present version the nodes whose reason to wait for their turn
 * is another one than when this was called last: it follows from what other nodes do.
 * Called before anybody is told of this version. */
void bu_rollouts_mark(const struct bu_rollouts *rollouts);
/* Sets the "reason" of orders that wait for their turn. nodes: views with "order". */
void bu_rollouts_tell(const struct bu_rollouts *rollouts, json_t *nodes);

#endif
