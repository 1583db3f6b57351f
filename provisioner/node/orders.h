/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and rollouts as replay.c keeps them; called by replay.c alone. */
#ifndef BU_NODE_ORDERS_H
#define BU_NODE_ORDERS_H

#include "provisioner/node/fleet.h"
#include "provisioner/node/replay_impl.h"

/* By events: applied, order, rollout, brake. */
void bu_orders_applied(struct bu_fleet *fleet, const struct bu_event *event,
		       const union bu_body *body);
/* After the nodes of the new profile are known: */
void bu_orders_left(struct bu_fleet *fleet, int64_t time_ms);
void bu_orders_open(struct bu_fleet *fleet, struct bu_node *node,
		    const struct bu_event *event, const union bu_body *body);
bu_must int bu_orders_rollout(BU_REPLAY_ARGS);
bu_must int bu_orders_brake(BU_REPLAY_ARGS);

/* What the events of a node mean for its order. Before node->state changes: */
void bu_orders_moved(struct bu_fleet *fleet, struct bu_node *node,
		     const struct bu_event *event, const union bu_body *body,
		     enum bu_trigger on, enum bu_state to);
/* After node->step was opened, or ended. */
void bu_orders_step(struct bu_fleet *fleet, struct bu_node *node,
		    const struct bu_event *event);

#endif
