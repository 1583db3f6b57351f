/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rollouts: an applied plan becomes orders, and nodes get their turn under the limits
 * of their pool.
 *
 * Nodes that are out of service start at once. Of those in service the pool's canaries
 * come first, alone; when they are done, the others, as long as at most max_unavailable
 * nodes of the pool are away or under way, in its maintenance windows. A canary that
 * fails, or failures up to the pool's failure_budget, stop the rollout. Relabelling
 * disturbs no node and waits for nothing but its rollout. All of it is a function of
 * the log: nothing is kept here.
 */
#ifndef BU_ROLLOUT_ROLLOUT_H
#define BU_ROLLOUT_ROLLOUT_H

#include "model/plan.h"
#include "provisioner/node/reconcile.h"

struct bu_rollouts;

/* Sets the brake on rec, too. */
struct bu_rollouts *bu_rollouts_create(struct bu_fleet *fleet,
				       struct bu_reconcile *rec);
void bu_rollouts_destroy(struct bu_rollouts *rollouts);
/* Something changed: gives turns soon. */
void bu_rollouts_kick(struct bu_rollouts *rollouts);

/*
 * May the plan be applied? grants: [{"class":"reset|reimage|wipe", "nodes": nodeset
 * without groups, absent = all of the plan}], NULL = none; a wipe includes a reimage,
 * and both include a reset. BU_ERR_DENIED names the nodes whose step lacks its grant.
 * BU_ERR_BUSY while bu_rollouts_changing().
 */
bu_must int bu_rollouts_check(struct bu_rollouts *rollouts, const struct bu_plan *plan,
			      const json_t *grants, struct bu_err *err);
/* All of it is so already: applying it leaves no event. */
int bu_rollouts_is_done(const struct bu_rollouts *rollouts, const struct bu_plan *plan);
struct bu_consent {
	const struct bu_plan *plan;
	const char *digest; /* of the plan */
	const json_t *grants;
	const char *by;
};
/*
 * Journals the revision, the plan, that they are applied, and the orders, in one
 * commit; their blobs are in the store by then. A plan without steps is no rollout:
 * *ret_id is "". Errors of bu_rollouts_check(). ret_id holds 40 bytes.
 */
bu_must int bu_rollouts_apply(struct bu_rollouts *rollouts,
			      const struct bu_consent *consent, char *ret_id,
			      struct bu_err *err);

/* A node with a step of the plan about which something is on its way to the log: an
 * order after it would rest on what is no longer so. NULL = none. */
const struct bu_node *bu_rollouts_changing(const struct bu_rollouts *rollouts,
					   const struct bu_plan *plan);

/* BU_ERR_NOTFOUND; BU_ERR_STATE where it means nothing (pause what is done). by: who
 * asked. Resume of one that stopped itself forgives the failures so far. */
bu_must int bu_rollouts_pause(struct bu_rollouts *rollouts, const char *id,
			      const char *by, struct bu_err *err);
bu_must int bu_rollouts_resume(struct bu_rollouts *rollouts, const char *id,
			       const char *by, struct bu_err *err);
/* What has not begun is withdrawn, and what has not written or left yet is called back
 * in the same commit. */
bu_must int bu_rollouts_abort(struct bu_rollouts *rollouts, const char *id,
			      const char *by, struct bu_err *err);
/* What an abort would mean now for orders that are under way: {"called_back":[node],
 * "going_on":[{"node","why"}]}. New reference. */
json_t *bu_rollouts_recalled(struct bu_rollouts *rollouts, const char *id);
/* A change of one of its nodes is on its way to the log. */
int bu_rollouts_is_moving(const struct bu_rollouts *rollouts, const char *id);

/* As model/shown_rollout.h has them; new references. bu_rollouts_json: the last one of
 * which an order is open, else the last with orders, or null. */
json_t *bu_rollouts_json(const struct bu_rollouts *rollouts);
/* [rollout], newest first. */
json_t *bu_rollouts_list(const struct bu_rollouts *rollouts);
/* One, with its lists. NULL: BU_ERR_NOTFOUND. */
json_t *bu_rollouts_show(const struct bu_rollouts *rollouts, const char *id,
			 struct bu_err *err);
/* Why this node's order has not begun, a line for people; NULL when it waits for no
 * turn. Owned. */
char *bu_rollouts_why(const struct bu_rollouts *rollouts, const struct bu_node *node);
/* nodes: their JSON with "order"; each order that waits for its turn gets the "reason".
 */
void bu_rollouts_tell(const struct bu_rollouts *rollouts, json_t *nodes);

#endif
