/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines whose firmware asks the boot network for a loader that is not there: dnsmasq
 * answers them with an address and no file, and says nothing of it.
 */
#ifndef BU_BOOT_UNSERVED_H
#define BU_BOOT_UNSERVED_H

#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"
#include "provisioner/boot/arch.h"
#include "provisioner/boot/loaders.h"

enum { BU_UNSERVED_MAC_SIZE = 18, BU_UNSERVED_ARCHS = 8 };

/* At such requests, but not at each of a storm, and once after them. mac:
 * "52:54:00:77:00:01"; asks: bu_arch_words(), "" = the machine has asked for a loader
 * that is there. */
typedef void (*bu_unserved_fn)(const char *mac, const char *asks, void *arg);

struct bu_unserved_opts {
	const char *interface;         /* "br-boot" */
	struct bu_loader_dirs loaders; /* borrowed */
	int proxy, relayed_only;       /* the mode of dnsmasq: see enum bu_dhcp */
	bu_unserved_fn fn;             /* may be NULL: the log has it */
	void *arg;
};

struct bu_unserved;
/* Listens; an interface that is not there yet is looked for again. */
struct bu_unserved *bu_unserved_create(struct bu_loop *loop,
				       const struct bu_unserved_opts *opts);
void bu_unserved_destroy(struct bu_unserved *unserved);

/* A request of firmware for what to boot. */
struct bu_unserved_asks {
	char mac[BU_UNSERVED_MAC_SIZE];
	uint16_t archs[BU_UNSERVED_ARCHS]; /* option 93 */
	size_t count;                      /* 1 at least */
	int relayed;                       /* a router has passed it on */
};
/* packet: from its IP header on. 0; -1 for all that is no such request; iPXE's are
 * none, because they get a script. Pure. */
int bu_unserved_parse(const uint8_t *packet, size_t size, struct bu_unserved_asks *ret);
/* Takes such a request as one that was heard. */
void bu_unserved_take(struct bu_unserved *unserved,
		      const struct bu_unserved_asks *asks);

#endif
