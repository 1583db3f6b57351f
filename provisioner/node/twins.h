/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bound machines tell of themselves, by what they tell: who has this MAC, and
 * which two tell the same. A function of the log; called by replay.c and binding.c.
 */
#ifndef BU_NODE_TWINS_H
#define BU_NODE_TWINS_H

#include "model/machine.h"
#include "provisioner/node/fleet.h"

/* From now on no node tells what this node's machine has told. Before it changes. */
void bu_twins_forget(struct bu_fleet *fleet, struct bu_node *node);
/* What it tells from now on; those that tell the same have the condition
 * `shared-identity` since time_ms. */
void bu_twins_learn(struct bu_fleet *fleet, struct bu_node *node, int64_t time_ms);
/* The node whose machine this is (bu_machine_recognize()), `first` before others; NULL
 * = none. */
struct bu_node *bu_twins_owner(const struct bu_fleet *fleet,
			       const struct bu_node *first,
			       const struct bu_machine *machine);
/* 1 when the machine of another bound node tells this serial number, of whatever part:
 * then the number tells none of them from another. */
int bu_twins_tells_another(const struct bu_fleet *fleet, const struct bu_node *node,
			   const char *serial);
/* One after the other, the bound nodes whose machines have told this MAC, in any form;
 * NULL = no more. */
struct bu_node *bu_twins_mac_at(const struct bu_fleet *fleet, const char *mac,
				size_t index);
/* The only bound node whose machine has told this MAC, in any form; NULL = none, or
 * more than one. */
struct bu_node *bu_twins_by_mac(const struct bu_fleet *fleet, const char *mac);

#endif
