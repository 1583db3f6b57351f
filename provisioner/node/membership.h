/* SPDX-License-Identifier: Apache-2.0 */
/* What the cluster drivers are told of a cluster and of its nodes, by the profile. */
#ifndef BU_NODE_MEMBERSHIP_H
#define BU_NODE_MEMBERSHIP_H

#include <arpa/inet.h>

#include "profiles/desired.h"
#include "provisioner/cluster/cluster.h"
#include "provisioner/node/node.h"

/* Borrows the profile's texts. */
void bu_membership_site(const struct bu_desired_cluster *cluster,
			struct bu_cluster_site *ret);
/* Likewise, and `address` of the caller. BU_ERR_INVAL where the node has none in a boot
 * network. */
bu_must int bu_membership_member(const struct bu_desired_node *want,
				 char address[INET_ADDRSTRLEN],
				 struct bu_cluster_member *ret, struct bu_err *err);
/* The cluster that a node should be in, as a join keeps it; it has one. */
void bu_membership_joined(const struct bu_desired_node *want, struct bu_joined *ret);

#endif
