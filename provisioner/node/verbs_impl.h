/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of verbs; verbs.c calls the others. */
#ifndef BU_NODE_VERBS_IMPL_H
#define BU_NODE_VERBS_IMPL_H

#include "provisioner/node/verbs_rules.h"

/* verbs_power.c; as bu_verb_run(). */
char *bu_verb_power(struct bu_reconcile *rec, struct bu_node *node,
		    const struct bu_verb_ask *ask, struct bu_err *err);
char *bu_verb_bmc_reset(struct bu_reconcile *rec, struct bu_node *node,
			const struct bu_verb_ask *ask, struct bu_err *err);
/* verbs_retry.c; as bu_verb_run(). */
char *bu_verb_retry(struct bu_reconcile *rec, struct bu_node *node,
		    const struct bu_verb_ask *ask, struct bu_err *err);

#endif
