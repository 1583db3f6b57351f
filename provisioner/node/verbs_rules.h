/* SPDX-License-Identifier: Apache-2.0 */
/* What a verb (model/verb.h) may be asked of. */
#ifndef BU_NODE_VERBS_RULES_H
#define BU_NODE_VERBS_RULES_H

#include "model/verb.h"
#include "provisioner/node/reconcile.h"

struct bu_verb_ask {
	enum bu_verb verb;
	const char *by;     /* who asks */
	const char *reason; /* "" = none was given */
	const char *grant;  /* of a rebuild: a class; "" = none was given */
	const char *op;     /* of power: on, off, cycle or status */
	int force;          /* of power: also of a node in service */
	int dry_run;        /* only says what would happen */
};

/* Whether the verb means something to this node; BU_ERR_STATE says what does. */
bu_must int bu_verb_check(const struct bu_node *node, enum bu_verb verb,
			  struct bu_err *err);

/* Its own system is there, by the word of its agent. */
int bu_verb_runs(const struct bu_reconcile *rec, const struct bu_node *node);

/* A hold of bringup's, or of an outside system, gives way to what a person wants. */
int bu_verb_is_held(const struct bu_node *node);
/* No cluster has it: it has left for an order, which goes no further on a node that has
 * left the profile, too. */
int bu_verb_is_out(const struct bu_node *node);

#endif
