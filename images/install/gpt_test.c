/* SPDX-License-Identifier: Apache-2.0 */
/* The table as util-linux reads it, from its front and, damaged, from its back. */
#include "images/install/gpt.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/worker.h"
#include "tests/support/unit.h"

enum { DISK_BYTES = 64 * 1024 * 1024 + 512 * 5 };

static struct bu_manifest manifest = {
	.name = "test",
	.part_count = 2,
	.parts = {{.name = "esp",
		   .type = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B",
		   .label = "ESP",
		   .attrs = 4,
		   .size_bytes = 8 * 1024 * 1024 + 4096},
		  {.name = "root",
		   .type = "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709",
		   .label = "root",
		   .size_bytes = 10 * 1024 * 1024,
		   .grow = 1}},
};

static const struct bu_install_opts plain = {.data_count = 0};

/* Begin, size, type, label and flags of each part, as partx prints them. */
static const char expected[] =
	"1 2048 18432 c12a7328-f81f-11d2-ba4b-00a0c93ec93b ESP 0x4\n"
	"2 20480 108544 4f68bce3-e8cd-4db1-96e7-fbcaf984b709 root 0x0\n";

static void
check_with_partx(const char *path)
{
	const char *const argv[] = {
		"partx", "-g", "--raw", "-o", "NR,START,SECTORS,TYPE,NAME,FLAGS",
		path,    NULL};
	const struct bu_job_opts opts = {.argv = argv, .deadline_ms = 20000};
	bu_autofree char *out = NULL;
	struct bu_err err = {0};

	ck_assert_msg(!bu_job_run(&opts, &out, &err), "%s", err.text);
	ck_assert_str_eq(out, expected);
}

/* Number, begin, size and name; of data partitions their GUID, too. */
static void
check_data(const char *path, const char *want)
{
	const char *const argv[] = {
		"sh",
		"-c",
		"partx -g --raw -o NR,START,SECTORS,NAME,UUID \"$1\" | "
		"awk '{ print $1, $2, $3, $4, ($1 > 2 ? $5 : \"\") }'",
		"sh",
		path,
		NULL};
	const struct bu_job_opts opts = {.argv = argv, .deadline_ms = 20000};
	bu_autofree char *out = NULL;
	struct bu_err err = {0};

	ck_assert_msg(!bu_job_run(&opts, &out, &err), "%s", err.text);
	ck_assert_str_eq(out, want);
}

START_TEST(others_read_what_we_write)
{
	char path[] = "/tmp/bringup-gpt-XXXXXX";
	bu_autoclose int fd = mkstemp(path);
	static const uint8_t protective[] = {0, 0, 2, 0, 0xee, 0xff, 0xff, 0xff,
					     1, 0, 0, 0, 4,    0,    2,    0};
	uint8_t sector[512], first[4];
	struct bu_layout layout;
	struct bu_err err = {0};

	ck_assert_int_eq(ftruncate(fd, DISK_BYTES), 0);
	ck_assert_int_eq(pwrite(fd, "mark", 4, 65536), 4);
	memset(manifest.boot_code, 0x90, sizeof(manifest.boot_code));
	ck_assert_int_eq(
		bu_layout_make(&manifest, &plain, DISK_BYTES, 512, &layout, &err), 0);
	ck_assert_int_eq(bu_gpt_write(fd, &manifest, &layout, &err), 0);
	check_with_partx(path);
	ck_assert_int_eq(pread(fd, sector, 512, 0), 512);
	ck_assert(!memcmp(sector, manifest.boot_code, BU_BOOT_CODE_SIZE));
	ck_assert(memcmp(sector + 440, "\0\0\0", 4) != 0);
	memcpy(first, sector + 440, 4);
	/* The protective entry, as UEFI has it. */
	ck_assert(!memcmp(sector + 446, protective, sizeof(protective)));
	ck_assert_int_eq(sector[510] << 8 | sector[511], 0x55aa);
	ck_assert_int_eq(pread(fd, sector, 512, 65536), 512);
	ck_assert(!memcmp(sector, "mark", 4));
	memset(sector, 0xff, sizeof(sector));
	ck_assert_int_eq(pwrite(fd, sector, 512, 512), 512);
	check_with_partx(path);
	/* No two disks are the same, not even of one image. */
	ck_assert_int_eq(bu_gpt_write(fd, &manifest, &layout, &err), 0);
	ck_assert_int_eq(pread(fd, sector, 512, 0), 512);
	ck_assert(memcmp(sector + 440, first, 4) != 0);
	unlink(path);
}
END_TEST

/* What a shell says; owned. */
static char *
sh(const char *command, const char *path)
{
	const char *const argv[] = {"sh", "-c", command, "sh", path, NULL};
	const struct bu_job_opts opts = {.argv = argv, .deadline_ms = 20000};
	char *out = NULL;
	struct bu_err err = {0};

	ck_assert_msg(!bu_job_run(&opts, &out, &err), "%s: %s", command, err.text);
	return out;
}

/* A disk whose system partition has the type that the recipes write; sfdisk has its own
 * list of what they mean. Then what old recipes wrote, in a disk written now and in one
 * written then. */
START_TEST(firmware_knows_the_system_partition)
{
	static const char ask[] =
		"/usr/sbin/sfdisk -l -q -o Type $1 | tail -n +2 | sed 's/ *$//'";
	static const char old[] = "C12A7328-F81F-11D2-BA4B-00C04FC93EC9";
	char path[] = "/tmp/bringup-gpt-XXXXXX";
	bu_autoclose int fd = mkstemp(path);
	bu_autofree char *type = sh(
		"sed -n 's/.*\"name\": \"esp\", \"type\": \"\\([^\"]*\\)\".*/\\1/p' $1",
		BU_SRCDIR "/images/build/recipes/lib.sh");
	const char *const types[] = {strtok(type, "\n"), old};
	struct bu_manifest image = manifest;
	struct bu_layout layout;
	struct bu_gpt_esp esp;
	struct bu_err err = {0};

	BU_NEEDS("/usr/sbin/sfdisk");
	ck_assert_int_eq(ftruncate(fd, DISK_BYTES), 0);
	for (size_t i = 0; i < BU_LEN(types); i++) {
		bu_autofree char *says = NULL, *retype = NULL, *foreign = NULL;

		ck_assert_ptr_nonnull(types[i]);
		strcpy(image.parts[0].type, types[i]);
		ck_assert_int_eq(
			bu_layout_make(&image, &plain, DISK_BYTES, 512, &layout, &err),
			0);
		ck_assert_int_eq(bu_gpt_write(fd, &image, &layout, &err), 0);
		says = sh(ask, path);
		ck_assert_str_eq(says, "EFI System\nLinux root (x86-64)\n");
		/* By another program, as it stands there. */
		retype = bu_xasprintf("/usr/sbin/sfdisk -q --part-type $1 1 %s && %s",
				      types[i], ask);
		foreign = sh(retype, path);
		ck_assert_int_eq(!strncmp(foreign, "EFI System\n", 11), i == 0);
		ck_assert_msg(bu_gpt_find_esp(path, &esp, &err) == 0, "%s", err.text);
		ck_assert_uint_eq(esp.number, 1);
		ck_assert_uint_eq(esp.first_sector, 2048);
		ck_assert_uint_eq(esp.sectors, layout.parts[0].size_bytes / 512);
	}
	unlink(path);
}
END_TEST

START_TEST(small_disks_are_refused)
{
	struct bu_layout layout = {0};
	struct bu_err err = {0};

	ck_assert_int_eq(
		bu_layout_make(&manifest, &plain, 20 << 20, 512, &layout, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_msg(strstr(err.text, "20 MiB") && strstr(err.text, "needs 21 MiB"),
		      "%s", err.text);
	ck_assert_int_eq(layout.count, 0);
	ck_assert_int_eq(
		bu_layout_make(&manifest, &plain, 21 << 20, 512, &layout, &err), 0);
	ck_assert_int_eq(layout.parts[1].size_bytes, 10 << 20);
	ck_assert_int_eq(bu_layout_make(&manifest, &plain, 512, 512, &layout, &err),
			 -1);
}
END_TEST

#define GUID_A "96f62889-af4e-8f85-861b-0b5cbec056e2"
#define GUID_B "a32df5c5-3e02-8064-8948-146e5481522a"
static const struct bu_install_data two[] = {{"scratch", GUID_A, (8 << 20) - 5},
					     {"lake", GUID_B, 4 << 20}};
static const struct bu_install_data rest[] = {{"scratch", GUID_A, 8 << 20},
					      {"lake", GUID_B, 0}};

START_TEST(data_lies_behind_the_image)
{
	static const struct {
		struct bu_install_opts opts;
		const char *want;
	} rows[] = {
		/* at the end of the disk; root has what is left */
		{{.data = two, .data_count = 2},
		 "1 2048 18432 ESP \n2 20480 83968 root \n"
		 "3 104448 16384 scratch " GUID_A "\n4 120832 8192 lake " GUID_B "\n"},
		/* from a place on; the last takes the rest */
		{{.data = rest, .data_count = 2, .root_bytes = 30 << 20},
		 "1 2048 18432 ESP \n2 20480 40960 root \n"
		 "3 61440 16384 scratch " GUID_A "\n4 77824 51200 lake " GUID_B "\n"},
		{{.root_bytes = 30 << 20}, "1 2048 18432 ESP \n2 20480 40960 root \n"},
	};
	char path[] = "/tmp/bringup-gpt-XXXXXX";
	bu_autoclose int fd = mkstemp(path);

	ck_assert_int_eq(ftruncate(fd, DISK_BYTES), 0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_install_opts *opts = &rows[i].opts;
		bu_autofree char *want = bu_xstrdup(rows[i].want);
		struct bu_layout layout;
		struct bu_err err = {0};

		ck_assert_msg(!bu_layout_make(&manifest, opts, DISK_BYTES, 512, &layout,
					      &err),
			      "%s", err.text);
		ck_assert_int_eq(bu_gpt_write(fd, &manifest, &layout, &err), 0);
		ck_assert_int_eq(bu_gpt_check_data(fd, &layout, &err), 0);
		check_data(path, want);
		if (!opts->data_count)
			continue;
		/* Data alone keeps number and place, and nothing boots. */
		ck_assert_int_eq(bu_gpt_write_data(fd, &layout, &err), 0);
		ck_assert_int_eq(bu_gpt_check_data(fd, &layout, &err), 0);
		check_data(path, strchr(strchr(want, '\n') + 1, '\n') + 1);
	}
	unlink(path);
}
END_TEST

/* The disk has `two`; what a reimage with other options must refuse. */
START_TEST(a_disk_that_is_not_as_the_profile_says_keeps_its_data)
{
	static const struct bu_install_data moved[] = {{"scratch", GUID_A, 9 << 20},
						       {"lake", GUID_B, 4 << 20}};
	static const struct bu_install_data other[] = {{"scratch", GUID_A, 8 << 20},
						       {"lake", GUID_A, 4 << 20}};
	static const struct {
		const struct bu_install_data *data;
		size_t count;
		const char *text;
	} rows[] = {
		{two, 2, NULL},
		{two + 1, 1,
		 "the disk has a partition 'scratch' that is neither the image's nor "
		 "described by the profile's data"},
		{moved, 2,
		 "the disk has a partition 'scratch' that is neither the image's nor "
		 "described by the profile's data"},
		{other, 2,
		 "the disk has a partition 'lake' that is neither the image's nor "
		 "described by the profile's data"},
	};
	char path[] = "/tmp/bringup-gpt-XXXXXX";
	bu_autoclose int fd = mkstemp(path);
	struct bu_install_opts opts = {.data = two, .data_count = 2};
	struct bu_layout layout;
	struct bu_err err = {0};

	ck_assert_int_eq(ftruncate(fd, DISK_BYTES), 0);
	ck_assert_int_eq(
		bu_layout_make(&manifest, &opts, DISK_BYTES, 512, &layout, &err), 0);
	ck_assert_int_eq(bu_gpt_check_data(fd, &layout, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_int_eq(bu_gpt_write(fd, &manifest, &layout, &err), 0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		opts.data = rows[i].data;
		opts.data_count = rows[i].count;
		ck_assert_int_eq(bu_layout_make(&manifest, &opts, DISK_BYTES, 512,
						&layout, &err),
				 0);
		ck_assert_int_eq(bu_gpt_check_data(fd, &layout, &err),
				 rows[i].text ? -1 : 0);
		if (rows[i].text)
			ck_assert_str_eq(err.text, rows[i].text);
	}
	/* More than the disk had. */
	opts.data_count = 0;
	ck_assert_int_eq(
		bu_layout_make(&manifest, &opts, DISK_BYTES, 512, &layout, &err), 0);
	ck_assert_int_eq(bu_gpt_write(fd, &manifest, &layout, &err), 0);
	opts.data = two;
	opts.data_count = 2;
	ck_assert_int_eq(
		bu_layout_make(&manifest, &opts, DISK_BYTES, 512, &layout, &err), 0);
	ck_assert_int_eq(bu_gpt_check_data(fd, &layout, &err), -1);
	ck_assert_str_eq(err.text, "the disk does not have the data partition "
				   "'scratch' where the profile puts it");
	unlink(path);
}
END_TEST

static uint32_t
crc32(const uint8_t *at, size_t size)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < 8 * size; i++) {
		int bit = (crc ^ at[i / 8] >> i % 8) & 1;

		crc = crc >> 1 ^ (bit ? 0xedb88320 : 0);
	}
	return ~crc;
}

/* One byte of the table or its header is another one; with its checksums mended it is a
 * table of another program. */
START_TEST(a_torn_table_and_one_of_others_are_none_of_ours)
{
	static const struct {
		size_t at; /* from the header on */
		int mend;
	} rows[] = {
		{0, 0},  {0, 1},  {7, 1},   {12, 1},       {16, 0},
		{40, 0}, {60, 0}, {72, 1},  {80, 1},       {84, 1},
		{88, 0}, {88, 1}, {512, 0}, {512 + 56, 0}, {512 + 128 * 128 - 1, 0}};
	char path[] = "/tmp/bringup-gpt-XXXXXX";
	bu_autoclose int fd = mkstemp(path);
	uint8_t good[33 * 512], bad[92];
	struct bu_layout layout;
	struct bu_err err = {0};

	ck_assert_int_eq(ftruncate(fd, DISK_BYTES), 0);
	ck_assert_int_eq(
		bu_layout_make(&manifest, &plain, DISK_BYTES, 512, &layout, &err), 0);
	ck_assert_int_eq(bu_gpt_write(fd, &manifest, &layout, &err), 0);
	ck_assert_int_eq(pread(fd, good, sizeof(good), 512), sizeof(good));
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		uint8_t byte = good[rows[i].at] ^ 1;

		ck_assert_int_eq(bu_gpt_is_ours(fd, 512), 1);
		ck_assert_int_eq(pwrite(fd, &byte, 1, 512 + (off_t)rows[i].at), 1);
		if (rows[i].mend) {
			uint32_t crc;

			memcpy(bad, good, sizeof(bad));
			bad[rows[i].at] = byte;
			memset(bad + 16, 0, sizeof(crc));
			crc = crc32(bad, sizeof(bad));
			ck_assert_int_eq(pwrite(fd, &crc, 4, 512 + 16), 4);
		}
		ck_assert_msg(!bu_gpt_is_ours(fd, 512), "row %zu", i);
		ck_assert_int_eq(bu_gpt_check_data(fd, &layout, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_STATE);
		ck_assert_int_eq(pwrite(fd, good, sizeof(good), 512), sizeof(good));
	}
	unlink(path);
}
END_TEST

START_TEST(data_that_does_not_fit_is_refused)
{
	static const struct bu_install_data bad[] = {{"scratch", "no guid", 1 << 20}};
	struct bu_install_opts opts = {.data = two, .data_count = 2};
	struct bu_layout layout;
	struct bu_err err = {0};

	ck_assert_int_eq(bu_layout_make(&manifest, &opts, 24 << 20, 512, &layout, &err),
			 -1);
	ck_assert_str_eq(err.text, "the disk has 24 MiB, most of them for data, image "
				   "test needs 21 MiB");
	opts.root_bytes = 60 << 20;
	ck_assert_int_eq(
		bu_layout_make(&manifest, &opts, DISK_BYTES, 512, &layout, &err), -1);
	ck_assert_str_eq(err.text, "the disk has 64 MiB, the system's part 60 MiB; 2 "
				   "data partitions need 12 MiB");
	opts.data = bad;
	opts.data_count = 1;
	ck_assert_int_eq(
		bu_layout_make(&manifest, &opts, DISK_BYTES, 512, &layout, &err), -1);
	ck_assert_str_eq(err.text, "data partition 'scratch': name or GUID is wrong");
}
END_TEST

BU_UNIT("gpt", others_read_what_we_write, firmware_knows_the_system_partition,
	small_disks_are_refused, data_lies_behind_the_image,
	a_disk_that_is_not_as_the_profile_says_keeps_its_data,
	a_torn_table_and_one_of_others_are_none_of_ours,
	data_that_does_not_fit_is_refused)
