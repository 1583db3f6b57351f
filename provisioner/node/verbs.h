/* SPDX-License-Identifier: Apache-2.0 */
/* What people ask of nodes (model/verb.h), carried out or only answered. */
#ifndef BU_NODE_VERBS_H
#define BU_NODE_VERBS_H

#include "provisioner/node/verbs_rules.h"

/* What happens to the node, for people: "ready -> draining, then parked"; owned. NULL:
 * it is refused, and nothing has changed: BU_ERR_STATE with what can be asked of it,
 * BU_ERR_BUSY while a change of it is on its way to the log, BU_ERR_INVAL. A rebuild is
 * a plan, and not asked here. */
char *bu_verb_run(struct bu_reconcile *rec, struct bu_node *node,
		  const struct bu_verb_ask *ask, struct bu_err *err);

#endif
