/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that a verb (model/verb.h) may be asked of. */
#ifndef BU_NODE_VERBS_RULES_H
#define BU_NODE_VERBS_RULES_H

#include "model/verb.h"
#include "provisioner/node/reconcile.h"

struct bu_verb_ask {
	enum bu_verb verb;
	const char *by;              /* the person who asks */
	const char *reason;          /* "" = none given */
	const char *grant;           /* of a rebuild: a class; "" = none given */
	const char *op;              /* of power: on, off, cycle or status */
	const struct bu_reason *why; /* of a move; NULL = verb, by and reason */
	int force;                   /* of power: also for a node in service */
	int dry_run;                 /* only answers with the effect */
};

/* 0 = the node takes the verb. BU_ERR_STATE: err names the verbs that it takes. */
bu_must int bu_verb_check(const struct bu_node *node, enum bu_verb verb,
			  struct bu_err *err);

/* 1 = the installed system's agent was heard within 30 s. */
int bu_verb_runs(const struct bu_reconcile *rec, const struct bu_node *node);

/* 1 = a person holds the node. Holds of bringup or an outside system refuse no verb. */
int bu_verb_is_held(const struct bu_node *node);
/* 1 = the node is in no cluster. Also of a node that left its cluster for an order and
 * the profile since: the order goes no further. */
int bu_verb_is_out(const struct bu_node *node);

#endif
