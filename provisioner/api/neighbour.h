/* SPDX-License-Identifier: Apache-2.0 */
/* Whose card answers for an address, by the kernel's own table. */
#ifndef BU_API_NEIGHBOUR_H
#define BU_API_NEIGHBOUR_H

#include "model/machine.h"

/* -1: it is on no wire with us (behind a router, or ourselves), or no IPv4 address. */
bu_must int bu_neighbour_mac(const char *address, char ret_mac[BU_MAC_SIZE]);

#endif
