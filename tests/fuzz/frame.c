/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer: the frames of an image, as a server sends them. What is taken has its
 * size and is what zstd's other reader makes of it; a wrong digest is never taken. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "images/install/frame.h"

enum { FRAME = 65536, LAST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* By another way: bytes come one buffer after the other. It refuses some frames that
 * the other reader takes (an offset beyond the window), and makes nothing else. */
static void
check_stream(const uint8_t *packed, size_t packed_size, const char *plain, size_t size)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	char *again = malloc(size + 1);
	ZSTD_inBuffer in = {packed, packed_size, 0};
	ZSTD_outBuffer out = {again, size + 1, 0};
	size_t rc = 0;

	bu_assert(zstd && again);
	while (in.pos < in.size && !ZSTD_isError(rc))
		rc = ZSTD_decompressStream(zstd, &out, &in);
	if (!ZSTD_isError(rc)) {
		bu_assert(rc == 0 && out.pos == size);
		bu_assert(!memcmp(again, plain, size));
	}
	free(again);
	ZSTD_freeDCtx(zstd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static ZSTD_DCtx *zstd; /* one for all frames, as a thread has */
	struct bu_frame frames[2] = {{.size = 0}};
	struct bu_part part = {.name = "root",
			       .size_bytes = FRAME + LAST,
			       .frame_bytes = FRAME,
			       .frame_count = 2,
			       .frames = frames};
	char digest[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	if (!size || size > bu_frame_bound(FRAME))
		return 0;
	if (!zstd)
		zstd = ZSTD_createDCtx();
	for (size_t i = 0; i < 2; i++) {
		size_t want = bu_part_frame_bytes(&part, i);
		char *plain = malloc(want); /* exactly, so that one more is seen */

		bu_assert(zstd && plain);
		frames[i].size = (uint32_t)size;
		bu_sha256_hex(data, size, frames[i].digest);
		bu_assert(bu_frame_is(&frames[i], data, digest));
		frames[i].digest[0] ^= 1;
		bu_assert(!bu_frame_is(&frames[i], data, digest));
		if (!bu_frame_unpack(zstd, &part, i, data, plain, &err))
			check_stream(data, size, plain, want);
		else
			bu_assert(err.kind == BU_ERR_VERIFY);
		free(plain);
	}
	return 0;
}
