/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the kernel know a neighbour on the fabric. Used by verbs_connect.c. */
#ifndef BU_FABRIC_PROBE_NEIGHBOUR_H
#define BU_FABRIC_PROBE_NEIGHBOUR_H

#include <netinet/in.h>

/* Has the kernel ask for the link address of `peer` from `local`, and waits a moment
 * for the answer; not when the peer is no neighbour. root: of /proc, NULL = the
 * system's. Failure is no error: what needs the address then waits for it or fails by
 * itself. */
void bu_neighbour_learn(const char *root, struct in_addr local, struct in_addr peer);

#endif
