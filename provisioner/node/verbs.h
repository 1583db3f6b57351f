/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out the verbs that people ask of nodes (model/verb.h), or only answers. */
#ifndef BU_NODE_VERBS_H
#define BU_NODE_VERBS_H

#include "provisioner/node/verbs_rules.h"

/* The effect on the node, for people: "ready -> draining, then parked"; owned. NULL =
 * the verb is refused, and nothing has changed. BU_ERR_STATE: err names the verbs that
 * the node takes. BU_ERR_BUSY: a change of the node is on its way to the log.
 * BU_ERR_INVAL. A rebuild is a plan, and not asked here. */
char *bu_verb_run(struct bu_reconcile *rec, struct bu_node *node,
		  const struct bu_verb_ask *ask, struct bu_err *err);

#endif
