/* SPDX-License-Identifier: Apache-2.0 */
/* Who speaks with a node's credential, and whether there is more than one of them. */
#ifndef BU_NODE_HOLDERS_H
#define BU_NODE_HOLDERS_H

#include "provisioner/node/reconcile.h"

/* A request was believed: who made it. What is not known of it is "". */
void bu_holders_spoke(struct bu_reconcile *rec, struct bu_node *node,
		      const char *fingerprint, const struct bu_holder *who);
/* One was refused for its certificate. */
void bu_holders_refused(struct bu_reconcile *rec, struct bu_node *node,
			const char *fingerprint, const struct bu_holder *who);

#endif
