/* SPDX-License-Identifier: Apache-2.0 */
/* Which disks of a machine can bear a system, and which serial numbers and world-wide
 * names identify one. */
#ifndef BU_MODEL_DISK_OWN_H
#define BU_MODEL_DISK_OWN_H

#include "model/inventory.h"

/* 1 when a system can live on it. None can on a removable disk, on what a BMC shows the
 * machine as a disk, on the boot partitions of an eMMC, and on less than this. */
enum { BU_DISK_LEAST_BYTES = 1 << 30 };
int bu_disk_bears(const struct bu_disk *disk);
/* 1 when both are paths to one disk: one world-wide name, and nothing else that differs
 * but the path. Two ports of SATA or USB are two disks, whatever they tell. */
int bu_disk_is_same(const struct bu_disk *a, const struct bu_disk *b);
/* Empties each serial number and world-wide name that identifies no disk of the machine
 * whose disks these are: one that another disk tells as well, and a placeholder. */
void bu_disks_own(struct bu_disk *disks, size_t count);
/* 1 when the disk, of bu_disks_own(), is the one that was known by these, "" = it had
 * none: of what both have, nothing differs and something is equal. */
int bu_disk_agrees(const struct bu_disk *disk, const char *serial, const char *wwn);
/* One text that names such a disk: its serial number, else its world-wide name; "" = it
 * has neither. Borrowed from either. */
const char *bu_disk_number(const char *serial, const char *wwn);
/* "S6X1, WWN eui.0025", "(none)"; owned. */
char *bu_disk_number_words(const char *serial, const char *wwn);
/* Paths of the disks that tell this serial number, or this world-wide name, as they
 * came; owned, NULL = none does. ret_count: how many. */
char *bu_disk_tellers(const struct bu_disk *disks, size_t count, const char *serial,
		      const char *wwn, size_t *ret_count);

#endif
