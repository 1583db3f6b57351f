/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a GUID partition table. An own writer instead of libfdisk: that one takes a
 * damaged table's copy from the back without saying so, where a reimage must know that
 * the front was torn; and it writes neither boot code nor the MBR's signature.
 */
#ifndef BU_IMAGES_INSTALL_GPT_H
#define BU_IMAGES_INSTALL_GPT_H

#include <stdint.h>

#include "base/err.h"
#include "images/install/install.h"
#include "images/manifest.h"

enum { BU_PARTS_BEGIN = 1024 * 1024 };

#define BU_ESP_TYPE "C12A7328-F81F-11D2-BA4B-00A0C93EC93B"
/* What images that an old bringup built say, and the disks written from them then. */
#define BU_OLD_ESP_TYPE "C12A7328-F81F-11D2-BA4B-00C04FC93EC9"
/* The type "Linux filesystem data". */
#define BU_DATA_TYPE "0FC63DAF-8483-4772-8E79-3D69D8477DE4"
/* A partition of an array, and the root that is one: it has its own name because each
 * of the two looks like a whole root, and must be mounted as none. */
#define BU_RAID_TYPE "A19D880F-05FC-4D3B-A006-743F0F84911E"
#define BU_MIRROR_LABEL "bringup-root"

/* A disk with two roots: the boot partition, which chooses one of two slots, and of
 * each slot a system partition and a root. In front of a slot is a gap without a
 * partition, which holds its mark. */
enum {
	BU_ROOTS_PARTS = 5,
	BU_ROOTS_ESP_BYTES = 320 * 1024 * 1024,
	BU_ROOTS_GAP_BYTES = 1024 * 1024,
};

struct bu_layout {
	uint64_t disk_bytes;
	uint32_t sector_bytes; /* 512 or 4096: of the disk, and so of its tables */
	size_t count;
	struct {
		uint64_t begin_bytes, size_bytes; /* on the disk */
		const char *name, *type;          /* as the table has them */
		uint64_t attrs;
	} parts[BU_IMAGE_PARTS_MAX];
	size_t skip_frames; /* of the first part, which are written otherwise */
	size_t data_count;
	struct {
		uint64_t begin_bytes, size_bytes;
		const char *name, *guid; /* of the options */
		const char *type;        /* NULL = Linux filesystem data */
	} data[BU_INSTALL_DATA_MAX];
};

/* Places the parts one after the other from 1 MiB on, aligned to 1 MiB; one that grows
 * takes what data leaves. A root that is mirrored has 1 MiB more, for what the array
 * knows of itself. With two roots both have the same size. Where data lies follows from
 * the disk's size and the options alone, so that another image finds it. BU_ERR_INVAL
 * when the disk is too small, with both sizes. */
bu_must int bu_layout_make(const struct bu_manifest *manifest,
			   const struct bu_install_opts *opts, uint64_t disk_bytes,
			   uint32_t sector_bytes, struct bu_layout *ret,
			   struct bu_err *err);
/* What MBR, header and table take at the front of a disk with such sectors. */
size_t bu_gpt_front_bytes(uint32_t sector_bytes);
/* What table and header take at its end. */
size_t bu_gpt_tail_bytes(uint32_t sector_bytes);
/* The protective MBR with the boot code, both tables with new random GUIDs. Not synced.
 */
bu_must int bu_gpt_write(int fd, const struct bu_manifest *manifest,
			 const struct bu_layout *layout, struct bu_err *err);
/* The same with data partitions alone and nothing that boots: what a disk has while its
 * system is written anew. */
bu_must int bu_gpt_write_data(int fd, const struct bu_layout *layout,
			      struct bu_err *err);
/* The disk has a whole table as we write it. */
int bu_gpt_is_ours(int fd, uint32_t sector_bytes);
/* BU_ERR_STATE unless the table on the disk has each data partition of the layout where
 * it is there, and besides nothing but parts named as the layout's. */
bu_must int bu_gpt_check_data(int fd, const struct bu_layout *layout,
			      struct bu_err *err);

/* The table on the disk has each part of the layout, by its name, in its place. */
int bu_gpt_has_parts(int fd, const struct bu_layout *layout);

/* A system partition as boot entries name it. */
struct bu_gpt_esp {
	uint32_t number;                /* from 1 on */
	uint64_t first_sector, sectors; /* of the disk's size */
	uint8_t guid[16];               /* as it is on the disk */
};
/* Of a disk with our table; BU_ERR_STATE when it has none. */
bu_must int bu_gpt_find_esp(const char *disk, struct bu_gpt_esp *ret,
			    struct bu_err *err);
/* The same of the partition with that name. */
bu_must int bu_gpt_find_part(const char *disk, const char *name, struct bu_gpt_esp *ret,
			     struct bu_err *err);

#endif
