/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster drivers' view of a cluster and of its nodes, made from the profile. */
#ifndef BU_NODE_MEMBERSHIP_H
#define BU_NODE_MEMBERSHIP_H

#include <arpa/inet.h>

#include "profiles/desired.h"
#include "provisioner/cluster/cluster.h"
#include "provisioner/node/node.h"

/* Borrows the profile's texts. */
void bu_membership_site(const struct bu_desired_cluster *cluster,
			struct bu_cluster_site *ret);
/* Likewise; ret->address is the buffer `address`. BU_ERR_INVAL when the node has no
 * address in a boot network. */
bu_must int bu_membership_member(const struct bu_desired_node *want,
				 char address[INET_ADDRSTRLEN],
				 struct bu_cluster_member *ret, struct bu_err *err);
/* What its validation wants to be run in its cluster; 0 = nothing. want: may be NULL.
 */
int bu_membership_acceptance(const struct bu_desired_node *want,
			     struct bu_cluster_acceptance *ret);
/* Of a join: how long that may take, with repetitions; 0 = there is none. */
int64_t bu_membership_acceptance_ms(const struct bu_desired_node *want);
/* The node's cluster as a JOIN keeps it. want->cluster is set. */
void bu_membership_joined(const struct bu_desired_node *want, struct bu_joined *ret);

#endif
