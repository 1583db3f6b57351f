/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of verbs: verbs.c asks the others. */
#ifndef BU_NODE_VERBS_IMPL_H
#define BU_NODE_VERBS_IMPL_H

#include "provisioner/node/verbs.h"

/* Its own system is there, by the word of its agent. */
int bu_verb_runs(const struct bu_reconcile *rec, const struct bu_node *node);

/* verbs_retry.c; as bu_verb_run() */
char *bu_verb_retry(struct bu_reconcile *rec, struct bu_node *node,
		    const struct bu_verb_ask *ask, struct bu_err *err);

#endif
