/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of one entry of the firmware's boot list. */
#ifndef BU_IMAGES_INSTALL_BOOTOPTION_H
#define BU_IMAGES_INSTALL_BOOTOPTION_H

#include <stddef.h>
#include <stdint.h>

#include "images/install/gpt.h"

enum bu_bootoption {
	BU_BOOT_NONE,
	BU_BOOT_OTHER,   /* of another system, or not to be understood */
	BU_BOOT_NETWORK, /* a card */
	BU_BOOT_OURS     /* named "bringup", starts a disk's removable loader */
};
enum bu_bootoption bu_bootoption_kind(const char *option, size_t size);

/* Our entry for the disk of this system partition. */
enum { BU_BOOTOPTION_SIZE = 116 };
void bu_bootoption_make(const struct bu_gpt_esp *esp, char option[BU_BOOTOPTION_SIZE]);

/* Little-endian numbers. */
unsigned bu_bootoption_le16(const char *at);
void bu_bootoption_put(char *at, uint64_t value, int bytes);

#endif
