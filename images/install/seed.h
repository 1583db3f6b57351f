/* SPDX-License-Identifier: Apache-2.0 */
/* The small file system by which cloud-init on a disk that somebody else made finds out
 * who it is (NoCloud): FAT16 with the label CIDATA. */
#ifndef BU_IMAGES_INSTALL_SEED_H
#define BU_IMAGES_INSTALL_SEED_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "images/install/disk.h"
#include "images/install/install.h"

#define BU_SEED_LABEL "CIDATA"

enum { BU_SEED_BYTES = 32 * 1024 * 1024 };

/* Makes it at this byte of the disk, with these files (their names alone, no folders);
 * not synced. BU_ERR_INVAL when they do not fit. */
bu_must int bu_seed_write(const struct bu_disk *disk, uint64_t begin_bytes,
			  const struct bu_install_file *files, size_t count,
			  struct bu_err *err);
/* 1 when at this byte of the disk the files of the present step were written: its
 * signed stamp is among them, and behind it its signature. */
int bu_seed_is_own(const struct bu_disk *disk, uint64_t begin_bytes,
		   const struct bu_install_opts *opts);

#endif
