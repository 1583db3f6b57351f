/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neither Linux nor firmware reads a FAT whose sectors are smaller than the disk's.
 * Images have clusters of 4096 bytes, and everything before them a multiple of that:
 * then only the first sectors say how large a sector is, and no file moves. Called by
 * install.c when the parts are written.
 */
#include "images/install/fat.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"

enum {
	SMALL = 512,
	SECTORS_MIN = 3, /* boot, information, copy of boot */
	RESERVED_MAX = 65536,
	AT_SECTOR_BYTES = 11,
	AT_CLUSTER = 13,
	AT_RESERVED = 14,
	AT_OLD_TOTAL = 19,
	AT_OLD_FAT = 22,
	AT_HIDDEN = 28,
	AT_TOTAL = 32,
	AT_FAT = 36,
	AT_INFO = 48,
	AT_COPY = 50,
};

/* FAT32 with all of its parts on borders of large sectors. */
static int
can_fit(const uint8_t *boot, uint32_t times)
{
	uint64_t reserved = bu_le_get(boot + AT_RESERVED, 2);

	return boot[510] == 0x55 && boot[511] == 0xaa &&
	       bu_le_get(boot + AT_SECTOR_BYTES, 2) == SMALL &&
	       !bu_le_get(boot + AT_OLD_TOTAL, 2) && !bu_le_get(boot + AT_OLD_FAT, 2) &&
	       bu_le_get(boot + AT_INFO, 2) == 1 && boot[AT_CLUSTER] &&
	       boot[AT_CLUSTER] % times == 0 && reserved % times == 0 &&
	       reserved / times >= SECTORS_MIN && reserved * SMALL <= RESERVED_MAX &&
	       bu_le_get(boot + AT_FAT, 4) && bu_le_get(boot + AT_FAT, 4) % times == 0;
}

int
bu_fat_fit(const struct bu_disk *disk, uint64_t begin_bytes, struct bu_err *err)
{
	uint32_t sector = disk->sector_bytes, times = sector / SMALL, size;
	uint8_t boot[SMALL], info[SMALL];
	bu_autofree uint8_t *front = NULL;

	if (bu_read_at(disk->fd, boot, SMALL, begin_bytes, err) ||
	    bu_read_at(disk->fd, info, SMALL, begin_bytes + SMALL, err))
		return -1;
	if (!can_fit(boot, times))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the image's system partition is not made for disks "
				  "with sectors of %u bytes; build the image again",
				  sector);
	size = bu_le_get(boot + AT_RESERVED, 2) * SMALL;
	bu_le_put(boot + AT_SECTOR_BYTES, sector, 2);
	bu_le_put(boot + AT_CLUSTER, boot[AT_CLUSTER] / times, 1);
	bu_le_put(boot + AT_RESERVED, size / sector, 2);
	bu_le_put(boot + AT_HIDDEN, (uint32_t)(begin_bytes / sector), 4);
	bu_le_put(boot + AT_TOTAL, bu_le_get(boot + AT_TOTAL, 4) / times, 4);
	bu_le_put(boot + AT_FAT, bu_le_get(boot + AT_FAT, 4) / times, 4);
	bu_le_put(boot + AT_COPY, 2, 2);
	front = bu_xcalloc(1, size);
	memcpy(front, boot, SMALL);
	memcpy(front + sector, info, SMALL);
	memcpy(front + 2 * sector, boot, SMALL);
	return bu_disk_write(disk->fd, front, size, begin_bytes, err);
}
