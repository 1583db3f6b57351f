/* SPDX-License-Identifier: Apache-2.0 */
/* What half of a mirror says of itself and of the others: the superblock that Linux MD
 * keeps near the end of a partition (metadata 1.0; struct mdp_superblock_1 of the
 * kernel's raid/md_p.h). */
#ifndef BU_BASE_MDRAID_H
#define BU_BASE_MDRAID_H

#include <stdint.h>

enum { BU_MD_SUPER_SIZE = 512, BU_MD_NUMBERS = 128 };

struct bu_md {
	uint8_t uuid[16]; /* of the array */
	uint32_t number;  /* its own place in the table of roles */
	uint16_t roles[BU_MD_NUMBERS];
};

/* root: "" or a test's tree; disk and part by the kernel's names ("vda", "vda2").
 * 0, or -1 where no such superblock can be read. */
int bu_md_read(const char *root, const char *disk, const char *part, struct bu_md *ret);
/* 1 when both are of one array, and `one` was written when the other was gone. */
int bu_md_lost(const struct bu_md *one, const struct bu_md *other);

#endif
