/* SPDX-License-Identifier: Apache-2.0 */
/* How long bringup has been at work, as a function of the log; for replay.c. */
#ifndef BU_NODE_LIFE_H
#define BU_NODE_LIFE_H

#include "provisioner/node/fleet.h"

/* The node's deadline counts from the event that is replayed. */
void bu_life_set_clock(const struct bu_fleet *fleet, struct bu_node *node);
/* Before the event is replayed: a row says that so much time has passed. */
void bu_life_row(struct bu_fleet *fleet, const struct bu_event *event);
/* The event `started`, which is row `seq`. */
void bu_life_started(struct bu_fleet *fleet, int64_t seq, int64_t lasted_ms);
/* All is loaded: the clocks of nodes become those of this process. */
void bu_life_settle(struct bu_fleet *fleet);

#endif
