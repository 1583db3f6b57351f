/* SPDX-License-Identifier: Apache-2.0 */
/* One frame of an image: bytes from a server that may be anybody's. */
#ifndef BU_IMAGES_INSTALL_FRAME_H
#define BU_IMAGES_INSTALL_FRAME_H

#include <zstd.h>

#include "base/err.h"
#include "images/manifest.h"

/* 1 when the frame's bytes have the digest that the manifest says; ret_digest gets
 * what they have. */
int bu_frame_is(const struct bu_frame *frame, const void *packed,
		char ret_digest[BU_DIGEST_SIZE]);
/* Unpacks bytes that are the frame's. plain has room for bu_part_frame_bytes() and is
 * all written; BU_ERR_VERIFY when they make fewer or more. */
bu_must int bu_frame_unpack(ZSTD_DCtx *zstd, const struct bu_part *part, size_t index,
			    const void *packed, void *plain, struct bu_err *err);

#endif
