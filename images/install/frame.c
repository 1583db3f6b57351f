/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies and unpacks one frame; the threads of an install (part_writer.c) call it.
 * Invariant: the manifest alone says how many bytes a frame makes, the frame's own
 * header does not; not one more is written.
 */
#include "images/install/frame.h"

#include <string.h>

int
bu_frame_is(const struct bu_frame *frame, const void *packed,
	    char ret_digest[BU_DIGEST_SIZE])
{
	bu_sha256_hex(packed, frame->size, ret_digest);
	return !strcmp(ret_digest, frame->digest);
}

int
bu_frame_unpack(ZSTD_DCtx *zstd, const struct bu_part *part, size_t index,
		const void *packed, void *plain, struct bu_err *err)
{
	size_t want = bu_part_frame_bytes(part, index);
	size_t got = ZSTD_decompressDCtx(zstd, plain, want, packed,
					 part->frames[index].size);

	if (ZSTD_isError(got) || got != want)
		return bu_err_set(
			err, BU_ERR_VERIFY, 0,
			"part %s, frame %zu: does not unpack to %zu bytes: %s",
			part->name, index, want,
			ZSTD_isError(got) ? ZSTD_getErrorName(got) : "it is shorter");
	return 0;
}
