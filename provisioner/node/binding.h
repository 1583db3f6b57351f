/* SPDX-License-Identifier: Apache-2.0 */
/* The binding of machines to nodes. Only replay.c changes a binding. */
#ifndef BU_NODE_BINDING_H
#define BU_NODE_BINDING_H

#include "model/machine.h"
#include "provisioner/node/fleet.h"

/* machine "" = none. The former node of the machine is left without one. */
void bu_binding_set(struct bu_fleet *fleet, struct bu_node *node, const char *machine);
/* Keeps the identity that the machine reports. */
void bu_binding_told(struct bu_fleet *fleet, struct bu_node *node,
		     const struct bu_machine *machine, int64_t time_ms);
/* Clears all facts about the machine. */
void bu_binding_forget(struct bu_fleet *fleet, struct bu_node *node);
/* Renames the node. A node that has the name `to` and no machine takes the old name;
 * BU_ERR_INVAL when that node has a machine. */
bu_must int bu_binding_rename(struct bu_fleet *fleet, struct bu_node *node,
			      const char *to, int64_t time_ms, struct bu_err *err);

#endif
