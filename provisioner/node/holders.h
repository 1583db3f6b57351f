/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts that use a node's credential; finds out whether there is more than one. */
#ifndef BU_NODE_HOLDERS_H
#define BU_NODE_HOLDERS_H

#include "provisioner/node/reconcile.h"

/* A host made a request that was believed. Unknown fields of the host are "". */
void bu_holders_spoke(struct bu_reconcile *rec, struct bu_node *node,
		      const char *fingerprint, const struct bu_holder *who);
/* A host was refused for its certificate. */
void bu_holders_refused(struct bu_reconcile *rec, struct bu_node *node,
			const char *fingerprint, const struct bu_holder *who);

#endif
