/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of the event `state` on a node; called by replay.c alone. */
#ifndef BU_NODE_MOVED_H
#define BU_NODE_MOVED_H

#include "provisioner/node/replay_impl.h"

bu_must int bu_moved(BU_REPLAY_ARGS);

#endif
