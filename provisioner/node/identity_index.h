/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index of the identities that bound machines report: finds the node of a MAC, and
 * nodes with the same identity. A function of the log; called by replay.c and
 * binding.c.
 */
#ifndef BU_NODE_IDENTITY_INDEX_H
#define BU_NODE_IDENTITY_INDEX_H

#include "model/machine.h"
#include "provisioner/node/fleet.h"

/* Removes the node's machine from the index. Called before the identity changes. */
void bu_identity_index_forget(struct bu_fleet *fleet, struct bu_node *node);
/* Adds the node's machine. Nodes with the same identity get the condition
 * `shared-identity` since time_ms. */
void bu_identity_index_learn(struct bu_fleet *fleet, struct bu_node *node,
			     int64_t time_ms);
/* The node with this machine (bu_machine_recognize()), `first` before others; NULL =
 * none. */
struct bu_node *bu_identity_index_owner(const struct bu_fleet *fleet,
					const struct bu_node *first,
					const struct bu_machine *machine);
/* 1 = another bound node's machine has this serial number, of any part: the number does
 * not identify a machine. */
int bu_identity_index_tells_another(const struct bu_fleet *fleet,
				    const struct bu_node *node, const char *serial);
/* 1 = another bound node's machine has this UUID, in either byte order. */
int bu_identity_index_has_uuid(const struct bu_fleet *fleet, const struct bu_node *node,
			       const char *uuid);
/* The bound node number `index` whose machine has this MAC, in any form; NULL = no
 * more. */
struct bu_node *bu_identity_index_mac_at(const struct bu_fleet *fleet, const char *mac,
					 size_t index);
/* The one bound node whose machine has this MAC, in any form; NULL = none or several.
 */
struct bu_node *bu_identity_index_by_mac(const struct bu_fleet *fleet, const char *mac);

#endif
