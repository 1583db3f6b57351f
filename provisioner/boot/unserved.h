/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds machines whose firmware asks the boot network for a missing loader: dnsmasq
 * answers with an address and no file, and logs nothing.
 */
#ifndef BU_BOOT_UNSERVED_H
#define BU_BOOT_UNSERVED_H

#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"
#include "provisioner/boot/arch.h"
#include "provisioner/boot/loaders.h"

enum { BU_UNSERVED_MAC_SIZE = 18, BU_UNSERVED_ARCHS = 8 };

/* Called for such requests, rarely in a storm, and once after them. mac:
 * "52:54:00:77:00:01". asks: of bu_arch_words(); "" = the machine asked for a loader
 * that exists. */
typedef void (*bu_unserved_fn)(const char *mac, const char *asks, void *arg);

struct bu_unserved_opts {
	const char *interface;         /* "br-boot" */
	struct bu_loader_dirs loaders; /* borrowed */
	int proxy, relayed_only;       /* dnsmasq's mode: see enum bu_dhcp */
	bu_unserved_fn fn;             /* may be NULL: requests are logged */
	void *arg;
};

struct bu_unserved;
/* Listens; looks again for a missing interface. */
struct bu_unserved *bu_unserved_create(struct bu_loop *loop,
				       const struct bu_unserved_opts *opts);
void bu_unserved_destroy(struct bu_unserved *unserved);

/* A firmware's request for a boot file. */
struct bu_unserved_asks {
	char mac[BU_UNSERVED_MAC_SIZE];
	uint16_t archs[BU_UNSERVED_ARCHS]; /* option 93 */
	size_t count;                      /* at least 1 */
	int relayed;                       /* by a router */
};
/* packet: from its IP header on. -1 = not such a request. iPXE's requests are not: iPXE
 * gets a script. Pure. */
int bu_unserved_parse(const uint8_t *packet, size_t size, struct bu_unserved_asks *ret);
/* Takes a request as if it had been received. */
void bu_unserved_take(struct bu_unserved *unserved,
		      const struct bu_unserved_asks *asks);

#endif
