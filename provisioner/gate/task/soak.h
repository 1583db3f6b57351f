/* SPDX-License-Identifier: Apache-2.0 */
/* How long a machine soaks, and whose links it loads meanwhile. */
#ifndef BU_GATE_TASK_SOAK_H
#define BU_GATE_TASK_SOAK_H

#include "model/check.h"
#include "provisioner/gate/terms/state.h"

/* soak.c. 1 = the checks of this boot did not fail, and the profile's soak is complete.
 */
int bu_gate_is_checked(const struct bu_gate *gate, const struct bu_node *node);
/* 1 = the log has a report of checks of this boot. */
int bu_gate_has_checks(const struct bu_node *node);
/* 0 = the soak is complete, or the profile asks for none. */
int64_t bu_gate_soak_left_ms(const struct bu_gate *gate, const struct bu_node *node);
/* kinds.c: 1 = the node soaks. */
int bu_soak_is_eligible(struct bu_gate *gate, struct bu_node *node,
			const struct bu_desired_node *want);
/* Work item that loads the links between the node and a soaking neighbour at its leaf;
 * NULL = no neighbour. New reference. */
json_t *bu_gate_soak_link(struct bu_gate *gate, struct bu_node *node);

/* The neighbour of the node's present slice; NULL = none. */
const char *bu_gate_soak_peer(const struct bu_gate *gate, const struct bu_node *node);
/* Fails the row of changed payload once it came changed with three neighbours, unless
 * the profile only warns. */
void bu_gate_soak_accuse(const struct bu_gate *gate, const struct bu_node *node,
			 struct bu_checks *report);

#endif
