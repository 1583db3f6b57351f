/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that fdisk makes are read and moved, and sgdisk and sfdisk judge the result;
 * each kind of nonsense is refused by name. */
#include "images/whole.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/unit.h"

#define MIB (UINT64_C(1) << 20)

static char dir[40], disk[64];
static uint8_t *front;

static char *
said(const char *const *argv)
{
	const struct bu_job_opts opts = {.argv = argv, .deadline_ms = 60000};
	struct bu_err err = {0};
	char *out = NULL;

	ck_assert_msg(bu_job_run(&opts, &out, &err) == 0, "%s", err.text);
	return out;
}

/* A disk with partitions of 8 and 16 MiB from its first MiB on. */
static void
make(uint64_t bytes, const char *sector)
{
	static const char layout[] = "g\nn\n1\n\n+8M\nn\n2\n\n+16M\nw\n";
	const char *const argv[] = {"fdisk", "-b", sector, disk, NULL};
	const struct bu_job_opts opts = {
		.argv = argv, .input = layout, .deadline_ms = 60000};
	struct bu_err err = {0};
	int fd = open(disk, O_RDWR | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
	close(fd);
	ck_assert_msg(bu_job_run(&opts, NULL, &err) == 0, "%s", err.text);
	fd = open(disk, O_RDONLY);
	ck_assert_int_eq(bu_read_at(fd, front, BU_WHOLE_FRONT_BYTES, 0, NULL), 0);
	close(fd);
}

static void
setup(void)
{
	strcpy(dir, "/tmp/bringup-whole-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(disk, sizeof(disk), "%s/disk", dir);
	front = bu_xcalloc(1, BU_WHOLE_FRONT_BYTES);
}

static void
teardown(void)
{
	free(front);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

/* The disk gets the table at both ends. */
static void
put(const struct bu_whole *whole)
{
	size_t size;
	bu_autofree uint8_t *back = bu_whole_make_back(whole, &size);
	int fd = open(disk, O_RDWR);

	bu_whole_put_front(whole, front);
	ck_assert_int_eq(ftruncate(fd, (off_t)whole->size_bytes), 0);
	ck_assert_int_eq(pwrite(fd, front, BU_WHOLE_FRONT_BYTES, 0),
			 BU_WHOLE_FRONT_BYTES);
	ck_assert_int_eq(pwrite(fd, back, size, (off_t)(whole->size_bytes - size)),
			 (ssize_t)size);
	close(fd);
}

static void
judged_good(void)
{
	const char *const sgdisk[] = {"sgdisk", "--verify", disk, NULL};
	const char *const sfdisk[] = {"sfdisk", "--verify", disk, NULL};
	bu_autofree char *one = said(sgdisk), *two = said(sfdisk);

	ck_assert_msg(strstr(one, "No problems found") != NULL, "%s", one);
	ck_assert_msg(strstr(two, "No errors detected") != NULL, "%s", two);
}

static char *
dump(void)
{
	const char *const argv[] = {"sfdisk", "--dump", disk, NULL};

	return said(argv);
}

/* All that sfdisk knows but where the last sector is stays. */
START_TEST(a_larger_disk_has_its_copy_at_the_end)
{
	bu_autofree char *before = NULL, *after = NULL;
	struct bu_whole whole;
	char *at;

	BU_NEEDS("fdisk", "sfdisk", "sgdisk");
	setup();
	make(40 * MIB, "512");
	before = dump();
	ck_assert_int_eq(bu_whole_read(front, 40 * MIB, &whole, NULL), 0);
	ck_assert_uint_eq(whole.sector_bytes, 512);
	ck_assert_uint_eq(whole.parts_end, 25 * MIB);
	ck_assert_int_eq(bu_whole_uses(&whole, 65536, 4096), 0);
	ck_assert_int_eq(bu_whole_uses(&whole, MIB - 1, 2), 1);
	ck_assert_int_eq(bu_whole_uses(&whole, 1024, 1), 1);
	ck_assert_int_eq(bu_whole_move(&whole, 100 * MIB + 512, 512, NULL), 0);
	put(&whole);
	judged_good();
	after = dump();
	ck_assert_ptr_nonnull(strstr(after, "last-lba: 204767\n"));
	at = strstr(before, "last-lba:");
	ck_assert(strncmp(before, after, (size_t)(at - before)) == 0);
	ck_assert_str_eq(strchr(at, '\n'), strchr(strstr(after, "last-lba:"), '\n'));
	bu_whole_fini(&whole);
	teardown();
}
END_TEST

/* The same size: not a byte differs. */
START_TEST(its_own_disk_stays_as_it_is)
{
	bu_autofree char *before = NULL, *after = NULL;
	struct bu_whole whole;
	size_t size;

	BU_NEEDS("fdisk");
	setup();
	make(40 * MIB, "512");
	before = bu_file_read(disk, 0, &size, NULL);
	ck_assert_int_eq(bu_whole_read(front, 40 * MIB, &whole, NULL), 0);
	ck_assert_int_eq(bu_whole_move(&whole, 40 * MIB, 512, NULL), 0);
	put(&whole);
	after = bu_file_read(disk, 0, &size, NULL);
	ck_assert(memcmp(before, after, size) == 0);
	bu_whole_fini(&whole);
	teardown();
}
END_TEST

START_TEST(sizes_that_differ_are_named)
{
	struct bu_whole whole;
	struct bu_err err = {0};

	BU_NEEDS("fdisk");
	setup();
	make(40 * MIB, "4096");
	ck_assert_int_eq(bu_whole_read(front, 40 * MIB, &whole, NULL), 0);
	ck_assert_uint_eq(whole.sector_bytes, 4096);
	ck_assert_int_eq(bu_whole_move(&whole, 80 * MIB, 512, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "sectors of 4096 bytes"));
	ck_assert_int_eq(bu_whole_move(&whole, 40 * MIB - 4096, 4096, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_int_eq(bu_whole_move(&whole, 80 * MIB, 4096, NULL), 0);
	bu_whole_fini(&whole);
	teardown();
}
END_TEST

START_TEST(a_partition_of_ours_is_behind_all_others)
{
	static const struct bu_whole_part part = {
		.type = "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7",
		.guid = "01234567-89ab-4def-8123-456789abcdef",
		.label = "CIDATA",
		.size_bytes = 32 * MIB,
	};
	struct bu_whole whole;
	struct bu_err err = {0};
	bu_autofree char *text = NULL;
	uint64_t begin = 0;

	BU_NEEDS("fdisk", "sfdisk", "sgdisk");
	setup();
	make(40 * MIB, "512");
	ck_assert_int_eq(bu_whole_read(front, 40 * MIB, &whole, NULL), 0);
	ck_assert_int_eq(bu_whole_add(&whole, &part, &begin, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "no room for the partition CIDATA"));
	ck_assert_int_eq(bu_whole_move(&whole, 100 * MIB, 512, NULL), 0);
	ck_assert_int_eq(bu_whole_add(&whole, &part, &begin, &err), 0);
	ck_assert_uint_eq(begin, 67 * MIB);
	put(&whole);
	judged_good();
	text = dump();
	ck_assert_msg(strstr(text, "disk3 : start=      137216, size=       65536, "
				   "type=EBD0A0A2-B9E5-4433-87C0-68B6B72699C7, "
				   "uuid=01234567-89AB-4DEF-8123-456789ABCDEF, "
				   "name=\"CIDATA\"") != NULL,
		      "%s", text);
	bu_whole_fini(&whole);
	teardown();
}
END_TEST

/* --- nonsense --- */

static uint32_t
crc32(const uint8_t *at, size_t size)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < size; i++) {
		crc ^= at[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void
put_le(size_t at, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		front[at + (size_t)i] = (uint8_t)(value >> 8 * i);
}

enum { HEADER = 512, TABLE = 1024, SUMS = 1, HEADER_SUM = 2 };

static const struct {
	size_t at;
	uint64_t value;
	int bytes;
	int sums; /* which are right again afterwards */
	const char *text;
} wrongs[] = {
	{HEADER, 0, 8, 0, "has none (GPT)"},
	{HEADER + 12, 91, 4, 0, "no known size"},
	{HEADER + 12, 513, 4, 0, "no known size"},
	{HEADER + 12, UINT32_MAX, 4, 0, "no known size"},
	{HEADER + 60, 7, 1, 0, "sum over its header"},
	{HEADER + 24, 2, 8, HEADER_SUM, "lies elsewhere"},
	{HEADER + 72, 1, 8, HEADER_SUM, "is invalid"},
	{HEADER + 72, UINT64_MAX, 8, HEADER_SUM, "is invalid"},
	{HEADER + 72, 2047, 8, HEADER_SUM, "first MiB"},
	{HEADER + 80, 0, 4, HEADER_SUM, "is invalid"},
	{HEADER + 80, UINT32_MAX, 4, HEADER_SUM, "is invalid"},
	{HEADER + 80, 8192, 4, HEADER_SUM, "first MiB"},
	{HEADER + 84, 0, 4, HEADER_SUM, "is invalid"},
	{HEADER + 84, 64, 4, HEADER_SUM, "is invalid"},
	{HEADER + 84, 129, 4, HEADER_SUM, "is invalid"},
	{HEADER + 84, UINT32_MAX, 4, HEADER_SUM, "is invalid"},
	{TABLE + 56, 7, 1, 0, "sum over its entries"},
	{TABLE + 32, 2, 8, SUMS, "partition 1 is not inside"},
	{TABLE + 40, 81920, 8, SUMS, "partition 1 is not inside"},
	{TABLE + 40, UINT64_MAX, 8, SUMS, "partition 1 is not inside"},
	{TABLE + 40, 2047, 8, SUMS, "partition 1 is not inside"},
	{TABLE + 40, 20000, 8, SUMS, "partitions 1 and 2 overlap"},
	{TABLE + 128 + 32, 2048, 8, SUMS, "partitions 1 and 2 overlap"},
	{510, 0, 2, 0, "protective MBR"},
	{450, 0x83, 1, 0, "protective MBR"},
};

START_TEST(nonsense_is_refused_by_name)
{
	const uint8_t *header;

	BU_NEEDS("fdisk");
	setup();
	for (size_t i = 0; i < BU_LEN(wrongs); i++) {
		struct bu_whole whole;
		struct bu_err err = {0};

		make(40 * MIB, "512");
		put_le(wrongs[i].at, wrongs[i].value, wrongs[i].bytes);
		if (wrongs[i].sums == SUMS)
			put_le(HEADER + 88, crc32(front + TABLE, 16384), 4);
		if (wrongs[i].sums) {
			header = front + HEADER;
			put_le(HEADER + 16, 0, 4);
			put_le(HEADER + 16, crc32(header, 92), 4);
		}
		ck_assert_int_eq(bu_whole_read(front, 40 * MIB, &whole, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
		ck_assert_msg(strstr(err.text, wrongs[i].text) != NULL, "%zu: %s", i,
			      err.text);
	}
	teardown();
}
END_TEST

START_TEST(what_cannot_be_a_disk_is_none)
{
	struct bu_whole whole;
	struct bu_err err = {0};

	setup();
	ck_assert_int_eq(bu_whole_read(front, 2 * MIB - 512, &whole, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "a disk with partitions has more"));
	ck_assert_int_eq(bu_whole_read(front, 2 * MIB, &whole, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "has none (GPT)"));
	teardown();
}
END_TEST

BU_UNIT("whole", a_larger_disk_has_its_copy_at_the_end, its_own_disk_stays_as_it_is,
	sizes_that_differ_are_named, a_partition_of_ours_is_behind_all_others,
	nonsense_is_refused_by_name, what_cannot_be_a_disk_is_none)
