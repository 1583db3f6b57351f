/* SPDX-License-Identifier: Apache-2.0 */
/* The system partition on a disk with large sectors. */
#ifndef BU_IMAGES_INSTALL_FAT_H
#define BU_IMAGES_INSTALL_FAT_H

#include <stdint.h>

#include "base/err.h"
#include "images/install/disk.h"

/* The FAT32 at this byte of the disk, made for sectors of 512 bytes, gets the disk's;
 * not synced. BU_ERR_INVAL when it is none, or its parts lie where only small sectors
 * begin. */
bu_must int bu_fat_fit(const struct bu_disk *disk, uint64_t begin_bytes,
		       struct bu_err *err);

#endif
