/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware's list of what it may boot from (UEFI specification 2.10, chapter 3):
 * after an install the network comes first, then the disks that were written, then what
 * else there was; on a machine that boots from a medium the disk comes first. A disk
 * that is installed often has one entry. Entries of others are neither changed nor
 * deleted.
 */
#ifndef BU_IMAGES_INSTALL_BOOTVARS_H
#define BU_IMAGES_INSTALL_BOOTVARS_H

#include "base/err.h"
#include "images/install/gpt.h"

/* Where Linux has the firmware's variables. */
#define BU_BOOTVARS_DIR "/sys/firmware/efi/efivars"

struct bu_gpt_esps {
	size_t count; /* 1 or 2 */
	struct bu_gpt_esp list[2];
};

/* Is there firmware with such a list? */
int bu_bootvars_there(const char *dir);
/* The disks that hold these system partitions, of one system, become the entries
 * "bringup", in their order. *ret_words (owned) gets the order for the log: "0003
 * network, 0001 bringup, 0000". Writes only what differs. BU_ERR_IO when the firmware
 * refuses a change, where what it took stays, or cannot tell its list, where nothing is
 * written. from_medium: of this boot.
 */
bu_must int bu_bootvars_order(const char *dir, const struct bu_gpt_esps *esps,
			      int from_medium, char **ret_words, struct bu_err *err);
/* All that with the disks that were installed now, the second NULL where there is one;
 * says in the log what came of it. */
void bu_bootvars_installed(const char *const disks[2], int from_medium);

#endif
