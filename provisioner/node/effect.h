/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by effects.c and joining.c: one thing that is being done for a step. */
#ifndef BU_NODE_EFFECT_H
#define BU_NODE_EFFECT_H

#include "provisioner/node/reconcile_impl.h"

struct bu_effect {
	struct bu_effect *next;
	struct bu_reconcile *rec;
	char node[BU_NAME_MAX];
	char step[112];
	int attempt;
	int switches; /* a machine on or off; else it only looks */
	int restarts; /* its BMC, before that */
	const struct bu_cluster_driver *driver; /* NULL: of bringup-power */
	struct bu_cluster_op *op;
	struct bu_joined joining; /* of a join */
};

struct bu_effect *bu_effect_of(struct bu_reconcile *rec, struct bu_node *node);
/* Frees the effect; NULL when the node has gone on without it. */
struct bu_node *bu_effect_node(struct bu_effect *effect);

/* joining.c */
void bu_effect_cluster(struct bu_reconcile *rec, struct bu_node *node,
		       const struct bu_desired_node *want);

#endif
