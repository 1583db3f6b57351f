/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of verbs: verbs.c asks the others. */
#ifndef BU_NODE_VERBS_IMPL_H
#define BU_NODE_VERBS_IMPL_H

#include "provisioner/node/verbs.h"

/* Its own system is there, by the word of its agent. */
int bu_verb_runs(const struct bu_reconcile *rec, const struct bu_node *node);

/* A hold of bringup's, or of an outside system, gives way to what a person wants. */
int bu_verb_is_held(const struct bu_node *node);

/* verbs_power.c; as bu_verb_run() */
char *bu_verb_power(struct bu_reconcile *rec, struct bu_node *node,
		    const struct bu_verb_ask *ask, struct bu_err *err);
/* verbs_retry.c; as bu_verb_run() */
char *bu_verb_retry(struct bu_reconcile *rec, struct bu_node *node,
		    const struct bu_verb_ask *ask, struct bu_err *err);

#endif
