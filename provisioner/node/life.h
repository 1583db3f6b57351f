/* SPDX-License-Identifier: Apache-2.0 */
/* The time that bringup was at work, as a function of the log; for replay.c. */
#ifndef BU_NODE_LIFE_H
#define BU_NODE_LIFE_H

#include "provisioner/node/fleet.h"

/* The node's deadline counts from the present event. */
void bu_life_set_clock(const struct bu_fleet *fleet, struct bu_node *node);
/* Counts the time up to this row; called before the event is replayed. */
void bu_life_row(struct bu_fleet *fleet, const struct bu_event *event);
/* The event `started`, row `seq`. lasted_ms: the length of the life before. */
void bu_life_started(struct bu_fleet *fleet, int64_t seq, int64_t lasted_ms);
/* The log is loaded: makes the nodes' clocks those of this process. */
void bu_life_settle(struct bu_fleet *fleet);

#endif
