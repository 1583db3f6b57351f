/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that somebody with a key has signed and that are none: each has the digest
 * that the manifest says. They are refused by part and frame, and nothing is written
 * behind what the manifest gives them.
 */
#include "images/install/frame.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

enum { FRAME = 65536, LAST = 4096, ROOM = 4 * FRAME };

static char plain[2 * FRAME], packed[ROOM];
static size_t packed_size;

/* So many bytes in one frame, behind what is there. */
static void
pack(size_t size)
{
	size_t got =
		ZSTD_compress(packed + packed_size, ROOM - packed_size, plain, size, 3);

	ck_assert(!ZSTD_isError(got));
	packed_size += got;
}

static void
cut(size_t bytes)
{
	ck_assert_uint_gt(packed_size, bytes);
	packed_size -= bytes;
}

/* A frame that holds no content: of the format, for whoever reads it. */
static void
skippable(uint32_t size)
{
	const uint8_t head[8] = {0x50, 0x2a,      0x4d,       0x18,
				 size, size >> 8, size >> 16, size >> 24};

	memcpy(packed + packed_size, head, sizeof(head));
	packed_size += sizeof(head);
}

/* By a stream, so that its header does not say how much it holds. */
static void
pack_unsaid(size_t size)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_inBuffer in = {plain, size, 0};
	ZSTD_outBuffer out = {packed, ROOM, 0};

	ck_assert_int_eq(
		ZSTD_isError(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_continue)),
		0);
	ck_assert_uint_eq(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_end), 0);
	ZSTD_freeCCtx(zstd);
	packed_size = out.pos;
}

/* Its checksum is of other content. */
static void
pack_wrong_sum(void)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
	packed_size = ZSTD_compress2(zstd, packed, ROOM, plain, FRAME);
	ck_assert(!ZSTD_isError(packed_size));
	packed[packed_size - 1] ^= 1;
	ZSTD_freeCCtx(zstd);
}

static void
make_short(void)
{
	pack(FRAME - 1);
}
static void
make_long(void)
{
	pack(FRAME + 1);
}
static void
make_double(void)
{
	pack(2 * FRAME);
}
static void
make_unsaid_long(void)
{
	pack_unsaid(FRAME + 1);
}
static void
make_unsaid_short(void)
{
	pack_unsaid(FRAME - 1);
}
static void
make_cut(void)
{
	pack(FRAME), cut(1);
}
static void
make_half(void)
{
	pack(FRAME), cut(packed_size / 2);
}
static void
make_head(void)
{
	pack(FRAME), packed_size = 5;
}
static void
make_tail(void)
{
	pack(FRAME), packed[packed_size++] = 'x';
}
static void
make_second(void)
{
	pack(FRAME), pack(1);
}
static void
make_nothing(void)
{
	pack(0);
}
static void
make_skip(void)
{
	skippable(0);
}
static void
make_skip_far(void)
{
	pack(FRAME), skippable(UINT32_MAX);
}
static void
make_noise(void)
{
	memset(packed, 'x', packed_size = 1000);
}

/* It claims 2^62 bytes: a header of eight bytes of size, and one block. */
static void
make_huge(void)
{
	static const uint8_t head[] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0,
				       0,    0,    0,    0,    0x40, 1, 0, 0};

	memcpy(packed, head, packed_size = sizeof(head));
}

static const struct {
	const char *name;
	void (*make)(void);
} hostile[] = {
	{"one byte less", make_short},
	{"one byte more", make_long},
	{"twice as much", make_double},
	{"more, unsaid", make_unsaid_long},
	{"less, unsaid", make_unsaid_short},
	{"its last byte is gone", make_cut},
	{"half of it is gone", make_half},
	{"its header alone", make_head},
	{"a byte behind it", make_tail},
	{"a second one behind it", make_second},
	{"of nothing", make_nothing},
	{"skipped, and no other", make_skip},
	{"one that skips beyond the end", make_skip_far},
	{"no zstd", make_noise},
	{"2^62 bytes", make_huge},
	{"a wrong checksum", pack_wrong_sum},
};

static struct bu_frame frames[2];
static const struct bu_part part = {.name = "root",
				    .size_bytes = FRAME + LAST,
				    .frame_bytes = FRAME,
				    .frame_count = 2,
				    .frames = frames};

/* As its thread does: by the digest first. */
static int
unpack(ZSTD_DCtx *zstd, char *out, struct bu_err *err)
{
	char digest[BU_DIGEST_SIZE];

	frames[0].size = (uint32_t)packed_size;
	bu_sha256_hex(packed, packed_size, frames[0].digest);
	ck_assert(bu_frame_is(&frames[0], packed, digest));
	memset(err, 0, sizeof(*err));
	return bu_frame_unpack(zstd, &part, 0, packed, out, err);
}

START_TEST(a_signed_frame_that_is_none_is_refused_by_name)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	bu_autofree char *out = bu_xmalloc(FRAME + 16);

	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (char)(i * 2654435761u >> 13);
	for (size_t i = 0; i < BU_LEN(hostile); i++) {
		struct bu_err err;

		packed_size = 0;
		hostile[i].make();
		memset(out, '!', FRAME + 16);
		ck_assert_msg(unpack(zstd, out, &err) == -1, "%s was taken",
			      hostile[i].name);
		ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
		ck_assert_msg(strstr(err.text, "part root, frame 0: does not unpack "
					       "to 65536 bytes: "),
			      "%s: %s", hostile[i].name, err.text);
		for (size_t at = FRAME; at < FRAME + 16; at++)
			ck_assert_int_eq(out[at], '!');
		/* The next frame of the same thread is none the worse. */
		packed_size = 0;
		pack(FRAME);
		ck_assert_msg(!unpack(zstd, out, &err), "after %s: %s", hostile[i].name,
			      err.text);
		ck_assert_mem_eq(out, plain, FRAME);
	}
	ZSTD_freeDCtx(zstd);
}
END_TEST

/* The last frame of a part is as long as the part says. */
START_TEST(the_last_frame_is_shorter)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	bu_autofree char *out = bu_xmalloc(FRAME);
	struct bu_err err = {0};

	packed_size = 0;
	pack(LAST);
	frames[1].size = (uint32_t)packed_size;
	ck_assert_msg(!bu_frame_unpack(zstd, &part, 1, packed, out, &err), "%s",
		      err.text);
	ck_assert_mem_eq(out, plain, LAST);
	packed_size = 0;
	pack(FRAME);
	frames[1].size = (uint32_t)packed_size;
	memset(out, '!', FRAME);
	ck_assert_int_eq(bu_frame_unpack(zstd, &part, 1, packed, out, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "frame 1: does not unpack to 4096"));
	ck_assert_int_eq(out[LAST], '!');
	ZSTD_freeDCtx(zstd);
}
END_TEST

BU_UNIT("frame", a_signed_frame_that_is_none_is_refused_by_name,
	the_last_frame_is_shorter)
