/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a raw file system into the frames that nodes fetch and verify one by one. */
#ifndef BU_IMAGES_BUILD_FRAMES_H
#define BU_IMAGES_BUILD_FRAMES_H

#include "base/err.h"
#include "images/manifest.h"

/* Writes frames_path (synced) and fills part->size_bytes, frame_bytes, frame_count and
 * frames; the caller owns frames and has set the rest. The result depends on the
 * content alone. threads 1 to 16. */
bu_must int bu_frames_pack(const char *raw_path, const char *frames_path, int threads,
			   struct bu_part *part, struct bu_err *err);
/* Reads every stored frame again; BU_ERR_VERIFY names the first one that is wrong. */
bu_must int bu_frames_check(const char *frames_path, const struct bu_part *part,
			    struct bu_err *err);

#endif
