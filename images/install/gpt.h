/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a GUID partition table. An own writer instead of sfdisk: the boot ramdisk
 * needs no program and no libfdisk, it works the same on a file in a test, and it
 * leaves the mark's block alone.
 */
#ifndef BU_IMAGES_INSTALL_GPT_H
#define BU_IMAGES_INSTALL_GPT_H

#include <stdint.h>

#include "base/err.h"
#include "images/install/install.h"
#include "images/manifest.h"

enum { BU_SECTOR = 512, BU_PARTS_BEGIN = 1024 * 1024, BU_GPT_BYTES = 34 * 512 };

struct bu_layout {
	uint64_t disk_bytes;
	size_t count;
	struct {
		uint64_t begin_bytes, size_bytes; /* on the disk */
	} parts[BU_IMAGE_PARTS_MAX];
	size_t data_count;
	struct {
		uint64_t begin_bytes, size_bytes;
		const char *name, *guid; /* of the options */
	} data[BU_INSTALL_DATA_MAX];
};

/* Places the parts one after the other from 1 MiB on, aligned to 1 MiB; one that grows
 * takes what data leaves. Where data lies follows from the disk's size and the options
 * alone, so that another image finds it. BU_ERR_INVAL when the disk is too small, with
 * both sizes. */
bu_must int bu_layout_make(const struct bu_manifest *manifest,
			   const struct bu_install_opts *opts, uint64_t disk_bytes,
			   struct bu_layout *ret, struct bu_err *err);
/* The protective MBR with the boot code, both tables with new random GUIDs. Not synced.
 */
bu_must int bu_gpt_write(int fd, const struct bu_manifest *manifest,
			 const struct bu_layout *layout, struct bu_err *err);
/* The same with data partitions alone and nothing that boots: what a disk has while its
 * system is written anew. */
bu_must int bu_gpt_write_data(int fd, const struct bu_layout *layout,
			      struct bu_err *err);
/* The disk has a whole table as we write it. */
int bu_gpt_is_ours(int fd);
/* BU_ERR_STATE unless the table on the disk has each data partition of the layout where
 * it is there, and besides nothing but parts named as the image's. */
bu_must int bu_gpt_check_data(int fd, const struct bu_manifest *manifest,
			      const struct bu_layout *layout, struct bu_err *err);

/* A system partition as boot entries name it. */
struct bu_gpt_esp {
	uint32_t number; /* from 1 on */
	uint64_t first_sector, sectors;
	uint8_t guid[16]; /* as it is on the disk */
};
/* Of a disk with our table; BU_ERR_STATE when it has none. */
bu_must int bu_gpt_find_esp(const char *disk, struct bu_gpt_esp *ret,
			    struct bu_err *err);

#endif
