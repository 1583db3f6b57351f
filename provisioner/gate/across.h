/* SPDX-License-Identifier: Apache-2.0 */
/* What the gate asks of the campaigns between leaves, of a rail or across rails. */
#ifndef BU_GATE_ACROSS_H
#define BU_GATE_ACROSS_H

#include "provisioner/gate/internal.h"

/* across.c. Asks for pairs from leaf to leaf of those that are good on their rails, and
 * judges what came of them. */
void bu_across_look(struct bu_gate *gate);
/* across_wait.c. Good on all rails: does it wait for these tests still? Of others they
 * go on. */
int bu_across_holds(const struct bu_gate *gate, struct bu_node *node);
int bu_across_goes_on(const struct bu_gate *gate);
/* Somebody has these nodes measured: what stands accused between leaves
 * of one of them is tested anew, by all nodes that it names. Results of before count no
 * more for that; the accusation stands until there are new ones. */
void bu_across_again(struct bu_gate *gate, struct bu_node *const *nodes, size_t count);
/* across_keep.c. Texts about ways between leaves: of the site, or a node's leaves. */
void bu_across_warnings(const struct bu_gate *gate, const struct bu_node *node,
			json_t *list);
/* Is the leaf of one of these accused, and the other one at another leaf? */
int bu_across_explains(const struct bu_gate *gate, const struct bu_pair_log *log);

#endif
