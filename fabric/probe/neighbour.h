/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the kernel know a neighbour on the fabric. Used by verbs_connect.c. */
#ifndef BU_FABRIC_PROBE_NEIGHBOUR_H
#define BU_FABRIC_PROBE_NEIGHBOUR_H

#include <netinet/in.h>

/* Makes the kernel resolve the link address of `peer` from `local`, and waits at most
 * 50 ms. Does nothing where the peer is no neighbour. root: of /proc, NULL = the
 * system's. On failure, connecting resolves the address itself, or fails. */
void bu_neighbour_learn(const char *root, struct in_addr local, struct in_addr peer);

#endif
