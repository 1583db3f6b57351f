/* SPDX-License-Identifier: Apache-2.0 */
/* What the gate asks of the campaign across the rails of a switch fabric. */
#ifndef BU_GATE_ACROSS_H
#define BU_GATE_ACROSS_H

#include "provisioner/gate/internal.h"

/* across.c. Looks at each switch fabric: asks for pairs across rails of those that are
 * good on their rails, and judges what came of them. */
void bu_across_look(struct bu_gate *gate);
/* Good on all rails: does it wait for these tests still? Of others they go on. */
int bu_across_holds(const struct bu_gate *gate, struct bu_node *node);
int bu_across_goes_on(const struct bu_gate *gate);
/* across_words.c. Texts about ways between rails: of the site, or a node's leaves. */
void bu_across_warnings(const struct bu_gate *gate, const struct bu_node *node,
			json_t *list);

#endif
