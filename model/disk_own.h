/* SPDX-License-Identifier: Apache-2.0 */
/* The disks of a machine that can hold a system, and the serial numbers and world-wide
 * names that identify a disk. */
#ifndef BU_MODEL_DISK_OWN_H
#define BU_MODEL_DISK_OWN_H

#include "model/inventory.h"

/* 1 = the disk can hold a system. 0: removable disks, media that the BMC shows as
 * disks, boot partitions of an eMMC, and disks smaller than this. */
enum { BU_DISK_LEAST_BYTES = 1 << 30 };
int bu_disk_bears(const struct bu_disk *disk);
/* 1 = two paths to one disk: the same world-wide name, and no difference but the path.
 * Two ports of SATA or USB are always two disks. */
int bu_disk_is_same(const struct bu_disk *a, const struct bu_disk *b);
/* Empties each serial number and world-wide name that does not identify one of these
 * disks, all of one machine: placeholders, and values of two disks. */
void bu_disks_own(struct bu_disk *disks, size_t count);
/* 1 = the disk (after bu_disks_own()) agrees with these identifiers, "" = none: at
 * least one is compared, and none differs. */
int bu_disk_agrees(const struct bu_disk *disk, const char *serial, const char *wwn);
/* The disk's serial number, else its world-wide name; "" = neither. Borrowed. */
const char *bu_disk_number(const char *serial, const char *wwn);
/* "S6X1, WWN eui.0025", "(none)"; owned. */
char *bu_disk_number_words(const char *serial, const char *wwn);
/* Paths of the disks with this serial number or this world-wide name, in their order;
 * owned, NULL = none. ret_count: their number. */
char *bu_disk_tellers(const struct bu_disk *disks, size_t count, const char *serial,
		      const char *wwn, size_t *ret_count);

#endif
