/* SPDX-License-Identifier: Apache-2.0 */
/* What the event `state` does to a node; called by replay.c alone. */
#ifndef BU_NODE_MOVED_H
#define BU_NODE_MOVED_H

#include "provisioner/node/fleet.h"

bu_must int bu_moved(struct bu_fleet *fleet, struct bu_node *node,
		     const struct bu_event *event, struct bu_err *err);

#endif
