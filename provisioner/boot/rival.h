/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another DHCP server in a boot network that is ours: machines that take its offer get
 * an address and nothing to boot. Asked for once a minute, as a machine asks.
 */
#ifndef BU_BOOT_RIVAL_H
#define BU_BOOT_RIVAL_H

#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"

enum { BU_RIVAL_SIZE = 16 };

/* When it changes; address "" = none is known any more. */
typedef void (*bu_rival_fn)(const char *address, void *arg);

struct bu_rival;
/* own: our address, whose answers do not count; nor do those of others that the
 * interface has. */
struct bu_rival *bu_rival_create(struct bu_loop *loop, const char *interface,
				 const char *own, bu_rival_fn fn, void *arg);
void bu_rival_destroy(struct bu_rival *rival);

/* The server that says so in this answer to us; 0, or -1 for what is no offer. Pure. */
int bu_rival_parse(const uint8_t *packet, size_t size, uint32_t xid,
		   char ret[BU_RIVAL_SIZE]);

#endif
