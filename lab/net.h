/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rack's networks, made by the keeper inside its network namespace: bridges br-boot
 * and br-fabric, a tap for each NIC. The fabric cable of node N is
 *
 *	tap f00N - bridge s00N - veth u00N = p00N - br-fabric
 *
 * so that a plain tbf shapes each direction: on p00N what goes to the node, on u00N
 *what comes from it. (Not on the tap: libvirt takes a tap's qdisc away at every start.)
 */
#ifndef BU_LAB_NET_H
#define BU_LAB_NET_H

#include "lab/rack.h"

bu_must int bu_net_make(const struct bu_rack *rack, struct bu_err *err);
/* Both directions of one node's fabric cable. */
bu_must int bu_net_set_rate(const struct bu_rack_node *node, int rate_mbit,
			    struct bu_err *err);

#endif
