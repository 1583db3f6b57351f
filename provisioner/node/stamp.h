/* SPDX-License-Identifier: Apache-2.0 */
/* Stamps for the agents of settled nodes (model/stamp.h). */
#ifndef BU_NODE_STAMP_H
#define BU_NODE_STAMP_H

#include <jansson.h>

#include "provisioner/node/reconcile.h"

/* The stamp for the node's agent, which keeps one with this `of`; NULL = the agent has
 * it, or the node is not settled, or its system runs from memory. A node that is about
 * to join gets its stamp first. New reference. */
json_t *bu_stamp_tell(struct bu_reconcile *rec, const struct bu_node *node,
		      const char *of);

#endif
