/* SPDX-License-Identifier: Apache-2.0 */
/* Applied revisions that orders under way still use; called by replay.c and orders.c.
 * fleet.h has the queries. */
#ifndef BU_NODE_REVISIONS_H
#define BU_NODE_REVISIONS_H

#include "provisioner/node/fleet.h"

/* The checked profile tree with this digest; owned. */
struct bu_desired *bu_revision_load(const struct bu_fleet *fleet, const char *digest,
				    struct bu_err *err);
/* Makes this the applied revision; takes desired. Orders keep the old revision. */
void bu_revisions_apply(struct bu_fleet *fleet, const char *digest,
			struct bu_desired *desired);
/* An order by this revision begins; ends. */
void bu_revisions_hold(struct bu_fleet *fleet, const char *digest);
void bu_revisions_drop(struct bu_fleet *fleet, const char *digest);
/* Holds the revision for as long as the node's system in memory is of it; "" = none. */
void bu_revisions_install(struct bu_fleet *fleet, struct bu_node *node,
			  const char *digest);

#endif
