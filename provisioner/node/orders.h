/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of events on orders and rollouts; called by replay.c alone. */
#ifndef BU_NODE_ORDERS_H
#define BU_NODE_ORDERS_H

#include "provisioner/node/fleet.h"
#include "provisioner/node/replay_impl.h"

/* The events `applied`, `order`, `rollout` and `brake`. */
void bu_orders_applied(struct bu_fleet *fleet, const struct bu_event *event,
		       const union bu_body *body);
/* Withdraws orders that have not begun on nodes that left the profile. Called when
 * node->live.in_profile is of the new profile. */
void bu_orders_left(struct bu_fleet *fleet, int64_t time_ms);
/* The node is adopted: withdraws its order, begun or not. */
void bu_orders_adopted(struct bu_fleet *fleet, struct bu_node *node, int64_t time_ms);
/* A later epoch begins: withdraws orders that have not begun, and ends what others
 * allow. A grant is of its epoch. */
void bu_orders_epoch(struct bu_fleet *fleet, int64_t time_ms,
		     const struct bu_reason *why);
void bu_orders_open(struct bu_fleet *fleet, struct bu_node *node,
		    const struct bu_event *event, const union bu_body *body);
bu_must int bu_orders_rollout(BU_REPLAY_ARGS);
bu_must int bu_orders_brake(BU_REPLAY_ARGS);

/* The effect of a node's events on its order. Before node->state changes: */
void bu_orders_moved(struct bu_fleet *fleet, struct bu_node *node,
		     const struct bu_event *event, const union bu_body *body,
		     enum bu_trigger on, enum bu_state to);
/* After node->step was opened or ended: */
void bu_orders_step(struct bu_fleet *fleet, struct bu_node *node,
		    const struct bu_event *event);

#endif
