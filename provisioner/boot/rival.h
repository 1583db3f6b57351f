/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds another DHCP server in our boot network: machines that take its offer get an
 * address and nothing to boot. Sends a DHCPDISCOVER once a minute.
 */
#ifndef BU_BOOT_RIVAL_H
#define BU_BOOT_RIVAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"

enum { BU_RIVAL_SIZE = 16 };

/* Called on a change; address "" = no other server. */
typedef void (*bu_rival_fn)(const char *address, void *arg);

struct bu_rival;
/* own: our address. Answers from it or from another address of the interface do not
 * count. */
struct bu_rival *bu_rival_create(struct bu_loop *loop, const char *interface,
				 const char *own, bu_rival_fn fn, void *arg);
void bu_rival_destroy(struct bu_rival *rival);

/* The server in an offer to us. -1 = not such an offer. Pure. */
int bu_rival_parse(const uint8_t *packet, size_t size, uint32_t xid,
		   char ret[BU_RIVAL_SIZE]);

#endif
