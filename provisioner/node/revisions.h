/* SPDX-License-Identifier: Apache-2.0 */
/* Applied revisions that orders under way are carried out by; called by replay.c and
 * orders.c. What they are asked for is in fleet.h. */
#ifndef BU_NODE_REVISIONS_H
#define BU_NODE_REVISIONS_H

#include "provisioner/node/fleet.h"

/* The checked tree of this digest; owned. */
struct bu_desired *bu_revision_load(const struct bu_fleet *fleet, const char *digest,
				    struct bu_err *err);
/* Another one is applied; takes desired. What the old one is needed for goes on. */
void bu_revisions_apply(struct bu_fleet *fleet, const char *digest,
			struct bu_desired *desired);
/* An order of this revision begins, and ends. */
void bu_revisions_hold(struct bu_fleet *fleet, const char *digest);
void bu_revisions_drop(struct bu_fleet *fleet, const char *digest);
/* The node's system in memory is of this revision, which is held for as long; "" =
 * of none. */
void bu_revisions_install(struct bu_fleet *fleet, struct bu_node *node,
			  const char *digest);

#endif
