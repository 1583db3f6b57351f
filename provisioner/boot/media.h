/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot medium: one ISO image for all nodes, with two blocks that are replaced by
 * the node's boot configuration when sent. images/build/recipes/media.sh makes it.
 */
#ifndef BU_BOOT_MEDIA_H
#define BU_BOOT_MEDIA_H

#include <stdint.h>

#include "base/err.h"
#include "provisioner/boot/script.h"

enum { BU_MEDIA_BLOCK = 4096, BU_MEDIA_BLOCKS = 2 };
#define BU_MEDIA_FILE "boot.iso"

/* Text sent in place of a block of the image. */
struct bu_media_block {
	uint64_t offset;
	char text[BU_MEDIA_BLOCK]; /* not terminated by NUL */
};

/* Finds the blocks of the open image; BU_ERR_VERIFY = not a boot medium. */
bu_must int bu_media_find(int fd, struct bu_media_block ret[BU_MEDIA_BLOCKS],
			  struct bu_err *err);
/* Writes the node's configuration into the blocks; BU_ERR_INVAL = too long. */
bu_must int bu_media_fill(const struct bu_script_agent *agent,
			  struct bu_media_block blocks[BU_MEDIA_BLOCKS],
			  struct bu_err *err);

#endif
