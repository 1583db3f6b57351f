/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot medium: an ISO image that is the same for all, with two blocks in which each
 * node's own boot configuration is sent. images/build/recipes/media.sh makes it.
 */
#ifndef BU_BOOT_MEDIA_H
#define BU_BOOT_MEDIA_H

#include <stdint.h>

#include "base/err.h"
#include "provisioner/boot/script.h"

enum { BU_MEDIA_BLOCK = 4096, BU_MEDIA_BLOCKS = 2 };
#define BU_MEDIA_FILE "boot.iso"

/* What stands in its place while the image is sent. */
struct bu_media_block {
	uint64_t offset;
	char text[BU_MEDIA_BLOCK]; /* no NUL at its end */
};

/* Where the blocks are in the image that is open; BU_ERR_VERIFY when it is none. */
bu_must int bu_media_find(int fd, struct bu_media_block ret[BU_MEDIA_BLOCKS],
			  struct bu_err *err);
/* Writes what the machine is told into them; BU_ERR_INVAL when that is too long. */
bu_must int bu_media_fill(const struct bu_script_agent *agent,
			  struct bu_media_block blocks[BU_MEDIA_BLOCKS],
			  struct bu_err *err);

#endif
