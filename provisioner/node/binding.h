/* SPDX-License-Identifier: Apache-2.0 */
/* Which machine is which node, as replay.c keeps it; only replay.c changes it. */
#ifndef BU_NODE_BINDING_H
#define BU_NODE_BINDING_H

#include "model/machine.h"
#include "provisioner/node/fleet.h"

/* "" = none. A machine is one node: the name that it had before has none then. */
void bu_binding_set(struct bu_fleet *fleet, struct bu_node *node, const char *machine);
/* Who the machine says that it is. */
void bu_binding_told(struct bu_fleet *fleet, struct bu_node *node,
		     const struct bu_machine *machine, int64_t time_ms);
/* The same by its inventory; value NULL = it is not there. */
void bu_binding_inventory(struct bu_fleet *fleet, struct bu_node *node,
			  const json_t *value, int64_t time_ms);
/* Nothing that is known of the machine holds for the node any more. */
void bu_binding_forget(struct bu_fleet *fleet, struct bu_node *node);
/* The node has this name from now on. One that has it without a machine takes the old
 * name; BU_ERR_INVAL when it has a machine. */
bu_must int bu_binding_rename(struct bu_fleet *fleet, struct bu_node *node,
			      const char *to, int64_t time_ms, struct bu_err *err);

#endif
