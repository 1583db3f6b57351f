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
		   .type = "C12A7328-F81F-11D2-BA4B-00C04FC93EC9",
		   .label = "ESP",
		   .attrs = 4,
		   .size_bytes = 8 * 1024 * 1024 + 4096},
		  {.name = "root",
		   .type = "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709",
		   .label = "root",
		   .size_bytes = 10 * 1024 * 1024,
		   .grow = 1}},
};

/* Begin, size, type, label and flags of each part, as partx prints them. */
static const char expected[] =
	"1 2048 18432 c12a7328-f81f-11d2-ba4b-00c04fc93ec9 ESP 0x4\n"
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

START_TEST(others_read_what_we_write)
{
	char path[] = "/tmp/bringup-gpt-XXXXXX";
	bu_autoclose int fd = mkstemp(path);
	uint8_t sector[512], first[4];
	struct bu_layout layout;
	struct bu_err err = {0};

	ck_assert_int_eq(ftruncate(fd, DISK_BYTES), 0);
	ck_assert_int_eq(pwrite(fd, "mark", 4, 65536), 4);
	memset(manifest.boot_code, 0x90, sizeof(manifest.boot_code));
	ck_assert_int_eq(bu_layout_make(&manifest, DISK_BYTES, &layout, &err), 0);
	ck_assert_int_eq(bu_gpt_write(fd, &manifest, &layout, &err), 0);
	check_with_partx(path);
	ck_assert_int_eq(pread(fd, sector, 512, 0), 512);
	ck_assert(!memcmp(sector, manifest.boot_code, BU_BOOT_CODE_SIZE));
	ck_assert(memcmp(sector + 440, "\0\0\0", 4) != 0);
	memcpy(first, sector + 440, 4);
	ck_assert_int_eq(sector[450], 0xee);
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

START_TEST(small_disks_are_refused)
{
	struct bu_layout layout = {0};
	struct bu_err err = {0};

	ck_assert_int_eq(bu_layout_make(&manifest, 20 << 20, &layout, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_msg(strstr(err.text, "20 MiB") && strstr(err.text, "needs 21 MiB"),
		      "%s", err.text);
	ck_assert_int_eq(layout.count, 0);
	ck_assert_int_eq(bu_layout_make(&manifest, 21 << 20, &layout, &err), 0);
	ck_assert_int_eq(layout.parts[1].size_bytes, 10 << 20);
	ck_assert_int_eq(bu_layout_make(&manifest, 512, &layout, &err), -1);
}
END_TEST

BU_UNIT("gpt", others_read_what_we_write, small_disks_are_refused)
