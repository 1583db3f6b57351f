/* SPDX-License-Identifier: Apache-2.0 */
/* Frames: zeros are flagged, the rest comes back, and threads do not change a byte. */
#include "images/build/frames.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "tests/support/unit.h"

enum { SIZE = 5 * BU_FRAME_BYTES + 8192 };

static char dir[] = "/tmp/bringup-frames-XXXXXX";
static char raw[64], one[64], two[64];

/* Frame 0 text, 1 hole, 2 written zeros, 3 a single byte at its end, 4 hole, 5 short.
 */
static void
make_raw(void)
{
	bu_autofree char *zeros = bu_xcalloc(1, BU_FRAME_BYTES);
	int fd;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(raw, sizeof(raw), "%s/raw", dir);
	snprintf(one, sizeof(one), "%s/one", dir);
	snprintf(two, sizeof(two), "%s/two", dir);
	fd = open(raw, O_RDWR | O_CREAT, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, SIZE), 0);
	for (int i = 0; i < 1000; i++)
		ck_assert_int_eq(pwrite(fd, "some text ", 10, i * 1000), 10);
	ck_assert_int_eq(pwrite(fd, zeros, BU_FRAME_BYTES, 2 * BU_FRAME_BYTES),
			 BU_FRAME_BYTES);
	ck_assert_int_eq(pwrite(fd, "x", 1, 4 * BU_FRAME_BYTES - 1), 1);
	ck_assert_int_eq(pwrite(fd, "y", 1, SIZE - 1), 1);
	close(fd);
}

static void
remove_raw(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static void
check_content(const struct bu_part *part)
{
	bu_autofree char *plain = bu_xmalloc(BU_FRAME_BYTES);
	size_t raw_size, packed_size;
	bu_autofree char *want = bu_file_read(raw, 64 << 20, &raw_size, NULL);
	bu_autofree char *packed = bu_file_read(one, 64 << 20, &packed_size, NULL);

	ck_assert_int_eq(packed_size, bu_part_stored_bytes(part));
	for (size_t i = 0; i < part->frame_count; i++) {
		size_t size = bu_part_frame_bytes(part, i);
		const struct bu_frame *frame = &part->frames[i];

		memset(plain, 0, size);
		if (frame->size)
			ck_assert_int_eq(ZSTD_decompress(plain, size,
							 packed + frame->offset,
							 frame->size),
					 size);
		ck_assert(!memcmp(plain, want + i * BU_FRAME_BYTES, size));
	}
}

START_TEST(packs_and_flags_zeros)
{
	struct bu_part a = {0}, b = {0};
	char digest_a[BU_DIGEST_SIZE], digest_b[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	make_raw();
	ck_assert_msg(!bu_frames_pack(raw, one, 1, &a, &err), "%s", err.text);
	ck_assert_msg(!bu_frames_pack(raw, two, 3, &b, &err), "%s", err.text);
	ck_assert_int_eq(a.size_bytes, SIZE);
	ck_assert_int_eq(a.frame_count, 6);
	ck_assert(a.frames[0].size && a.frames[3].size && a.frames[5].size);
	ck_assert(!a.frames[1].size && !a.frames[2].size && !a.frames[4].size);
	ck_assert_int_eq(bu_sha256_file(one, digest_a, &err), 0);
	ck_assert_int_eq(bu_sha256_file(two, digest_b, &err), 0);
	ck_assert_str_eq(digest_a, digest_b);
	ck_assert(!memcmp(a.frames, b.frames, 6 * sizeof(*a.frames)));
	check_content(&a);
	free(a.frames);
	free(b.frames);
	remove_raw();
}
END_TEST

START_TEST(check_finds_a_flipped_byte)
{
	struct bu_part part = {0};
	struct bu_err err = {0};
	char byte;
	int fd;

	make_raw();
	ck_assert_int_eq(bu_frames_pack(raw, one, 2, &part, &err), 0);
	ck_assert_int_eq(bu_frames_check(one, &part, &err), 0);
	fd = open(one, O_RDWR);
	ck_assert_int_eq(pread(fd, &byte, 1, part.frames[3].offset), 1);
	byte ^= 1;
	ck_assert_int_eq(pwrite(fd, &byte, 1, part.frames[3].offset), 1);
	ck_assert_int_eq(bu_frames_check(one, &part, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_msg(strstr(err.text, "frame 3") != NULL, "%s", err.text);
	ck_assert_int_eq(ftruncate(fd, part.frames[3].offset), 0);
	ck_assert_int_eq(bu_frames_check(one, &part, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	close(fd);
	free(part.frames);
	remove_raw();
}
END_TEST

START_TEST(refuses_odd_sizes)
{
	struct bu_part part = {0};
	struct bu_err err = {0};

	make_raw();
	ck_assert_int_eq(truncate(raw, 5000), 0);
	ck_assert_int_eq(bu_frames_pack(raw, one, 2, &part, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert(!bu_file_exists(one));
	ck_assert_int_eq(truncate(raw, 0), 0);
	ck_assert_int_eq(bu_frames_pack(raw, one, 2, &part, &err), -1);
	remove_raw();
}
END_TEST

BU_UNIT("frames", packs_and_flags_zeros, check_finds_a_flipped_byte, refuses_odd_sizes)
