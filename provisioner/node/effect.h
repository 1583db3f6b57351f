/* SPDX-License-Identifier: Apache-2.0 */
/* A command under way for a step; shared by effect.c, effects.c and joining.c. */
#ifndef BU_NODE_EFFECT_H
#define BU_NODE_EFFECT_H

#include "provisioner/node/reconcile_impl.h"

struct bu_effect {
	struct bu_effect *next;
	struct bu_reconcile *rec;
	char node[BU_NAME_MAX];
	char step[112];
	int attempt;
	int switches; /* may switch the machine on or off; 0 = only queries */
	int restarts; /* restarts the BMC first */
	const struct bu_cluster_driver *driver; /* NULL = a command of bringup-power */
	struct bu_cluster_op *op;
	struct bu_joined joining; /* of a JOIN */
};

/* A cluster that is told before a restart; of gating.c. */
struct bu_gating {
	struct bu_gating *next;
	struct bu_reconcile *rec;
	int64_t seq; /* of the intent or of the person's command */
	const struct bu_cluster_driver *driver;
	struct bu_cluster_op *op;
	struct bu_timer *timer;
	char cluster[BU_NAME_MAX];
	char words[200]; /* the cluster's last ones; "" = none */
};

/* By the seq, for a node may get another name meanwhile; NULL = it has gone on. */
struct bu_node *bu_gating_node(const struct bu_gating *gating);
/* Cancels what is under way, and frees it. */
void bu_gating_end(struct bu_gating *gating);

struct bu_effect *bu_effect_of(struct bu_reconcile *rec, struct bu_node *node);
/* Frees the effect. NULL = the node has gone on to another step or attempt. */
struct bu_node *bu_effect_node(struct bu_effect *effect);

/* joining.c. The cluster that the node is in, or may be in since a join was broken off;
 * cluster "" = none. want: NULL = not in the profile. */
void bu_effect_joined(const struct bu_node *node, const struct bu_desired_node *want,
		      struct bu_joined *ret);
void bu_effect_cluster(struct bu_reconcile *rec, struct bu_node *node,
		       const struct bu_desired_node *want);

#endif
