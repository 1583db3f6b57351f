/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets that clusters have made for nodes that join now; in memory only. */
#ifndef BU_NODE_ISSUED_H
#define BU_NODE_ISSUED_H

#include "provisioner/node/fleet.h"

/* Keeps a copy for the node's open step; an earlier one is wiped. */
void bu_issued_keep(struct bu_fleet *fleet, const struct bu_node *node,
		    const void *secret, size_t size);
/* Of the node's open step and its attempt; NULL = none. Borrowed. */
const char *bu_issued_secret(const struct bu_fleet *fleet, const struct bu_node *node,
			     size_t *ret_size);
void bu_issued_forget(struct bu_fleet *fleet, const char *node);
void bu_issued_clear(struct bu_fleet *fleet);

#endif
