/* SPDX-License-Identifier: Apache-2.0 */
/* The disk that an image goes to: what is on it, and the mark of the install. */
#ifndef BU_IMAGES_INSTALL_DISK_H
#define BU_IMAGES_INSTALL_DISK_H

#include <stdint.h>

#include "base/err.h"
#include "images/install/install.h"

enum {
	BU_MARK_OFFSET = 65536,
	BU_MARK_SIZE = 4096,
	BU_MARK_TEXT_MAX = 3900,
	BU_EDGE_BYTES = 1024 * 1024, /* where signatures of any kind are looked for */
};

struct bu_disk {
	const char *path; /* borrowed */
	int fd;           /* through the page cache; exclusive for block devices */
	int direct_fd;    /* O_DIRECT; -1 where that is refused */
	int is_block;
	uint64_t size_bytes;
	uint32_t sector_bytes;        /* logical: 512 or 4096 */
	const struct bu_disk *mirror; /* gets the same frames; borrowed, NULL = none */
};

/* BU_ERR_NOTFOUND, BU_ERR_BUSY (mounted or in use), BU_ERR_INVAL (no disk with sectors
 * of 512 or 4096 bytes). */
bu_must int bu_disk_open(const char *path, struct bu_disk *ret, struct bu_err *err);
void bu_disk_close(struct bu_disk *disk);
/* The kernel reads the partition table again; BU_ERR_BUSY when a partition is in use.
 */
bu_must int bu_disk_reread(const struct bu_disk *disk, struct bu_err *err);
/* The part with this number, from 0 on, of a disk: "/dev/nvme0n1p2"; owned. */
char *bu_disk_part(const char *disk, size_t which);
/* 1 when the disk has the mark of the present step's unfinished install. */
int bu_disk_is_unfinished(const struct bu_disk *disk,
			  const struct bu_install_opts *opts);

/* What is left for bu_gpt_check_data(). A step that goes on may find its own table
 * torn.
 */
enum bu_look { BU_LOOK_NOT, BU_LOOK_IF_LEGIBLE, BU_LOOK };
/* BU_ERR_STATE unless both edges are zero, or the mark is of this step, or allow_wipe;
 * with keep_data what else there is, is for *ret_look. */
bu_must int bu_disk_check(const struct bu_disk *disk,
			  const struct bu_install_opts *opts, enum bu_look *ret_look,
			  struct bu_err *err);
/* 1 when that text, found on a disk, is signed by the appliance and of the present
 * step.
 */
int bu_disk_is_note(const struct bu_install_opts *opts, const char *text,
		    const char *sig);
/* BU_ERR_VERIFY unless the mark in opts is signed and of the step. */
bu_must int bu_mark_check(const struct bu_install_opts *opts, struct bu_err *err);
/* Written and synced. at: the byte of the disk where the mark is: BU_MARK_OFFSET, or
 * that of a slot of two roots. */
bu_must int bu_mark_write(const struct bu_disk *disk, uint64_t at,
			  const struct bu_install_opts *opts, struct bu_err *err);
/* From now on it says that the install of its step is finished. */
bu_must int bu_mark_finish(const struct bu_disk *disk, uint64_t at, struct bu_err *err);
/* 1 when the appliance has signed that a finished install of that image is there. */
int bu_slot_has_image(const struct bu_disk *disk, uint64_t at,
		      const struct bu_install_opts *opts);

/* The range reads as zeros afterwards; multiples of 4096. */
bu_must int bu_disk_zero(const struct bu_disk *disk, uint64_t offset, uint64_t size,
			 struct bu_err *err);
/* All that an install discards. */
struct bu_discard {
	const struct bu_install_hooks *hooks; /* borrowed */
	uint64_t done_bytes;
	uint64_t total_bytes; /* of the disks: no more than that is discarded */
	int64_t told_ms;
};

/* Tells the disk that nobody needs the range any more: a full SSD writes slowly. What
 * it reads afterwards is the disk's choice; one that cannot do it stays as it is. In
 * slices, with the hooks between them: BU_ERR_CANCELLED, and nothing else. */
bu_must int bu_disk_discard(const struct bu_disk *disk, uint64_t offset, uint64_t size,
			    struct bu_discard *discard, struct bu_err *err);
/* Zeros both edges but the mark; with keep_table only what is between the partition
 * table, the mark and the first part. Then the kernel reads the table again. */
bu_must int bu_disk_clear(const struct bu_disk *disk, int keep_table,
			  struct bu_err *err);
/* All of it at its place. */
bu_must int bu_disk_write(int fd, const void *data, size_t size, uint64_t offset,
			  struct bu_err *err);
bu_must int bu_disk_sync(const struct bu_disk *disk, struct bu_err *err);

#endif
