/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk with sectors of 4096 bytes, as fdisk, sfdisk, blkid, fsck.vfat and mtools see
 * it: on a file, and on a loop device where this machine lends one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/worker.h"
#include "images/install/disk.h"
#include "images/install/fat.h"
#include "images/install/gpt.h"
#include "tests/support/unit.h"

enum { ESP_BYTES = 260 << 20, SECTOR = 4096, ESP_AT = 1 << 20 };
#define DISK_BYTES (INT64_C(320) << 20)

static struct bu_manifest manifest = {
	.name = "test",
	.part_count = 2,
	.parts = {{.name = "esp",
		   .type = "C12A7328-F81F-11D2-BA4B-00A0C93EC93B",
		   .label = "ESP",
		   .size_bytes = ESP_BYTES},
		  {.name = "root",
		   .type = "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709",
		   .label = "root",
		   .size_bytes = 10 << 20,
		   .grow = 1}},
};
static const struct bu_install_opts opts = {
	.data =
		(const struct bu_install_data[]){
			{"lake", "a32df5c5-3e02-8064-8948-146e5481522a", 8 << 20}},
	.data_count = 1};

/* What a shell says, of which the tools are in sbin; owned. */
static char *
sh(const char *command, const char *path)
{
	bu_autofree char *line =
		bu_xasprintf("PATH=$PATH:/usr/sbin:/sbin; %s", command);
	const char *const argv[] = {"sh", "-c", line, "sh", path, NULL};
	const struct bu_job_opts job = {.argv = argv, .deadline_ms = 60000};
	char *out = NULL;
	struct bu_err err = {0};

	ck_assert_msg(!bu_job_run(&job, &out, &err), "%s: %s", command, err.text);
	return out;
}

static void
says(const char *command, const char *path, const char *want)
{
	bu_autofree char *out = sh(command, path);

	ck_assert_msg(strcmp(out, want) == 0, "%s:\n%s", command, out);
}

/* The table, and a system partition as recipes/lib.sh makes it, with two files. */
static void
write_disk(const struct bu_disk *disk, struct bu_layout *ret)
{
	struct bu_err err = {0};
	char raw[] = "/tmp/bringup-fat-XXXXXX";
	bu_autofree uint8_t *bytes = bu_xmalloc(1 << 20);
	bu_autoclose int fd = mkstemp(raw);

	ck_assert_int_eq(ftruncate(fd, ESP_BYTES), 0);
	free(sh("export MTOOLS_SKIP_CHECK=1; mkfs.vfat -F 32 -s 8 -R 32 -n ESP $1 && "
		"mmd -i $1 ::/EFI && seq 90000 >$1.x && mcopy -i $1 $1.x ::/EFI/long && "
		"echo short >$1.x && mcopy -i $1 $1.x ::/kargs && rm $1.x",
		raw));
	ck_assert_msg(!bu_layout_make(&manifest, &opts, disk->size_bytes,
				      disk->sector_bytes, ret, &err),
		      "%s", err.text);
	ck_assert_int_eq(bu_gpt_write(disk->fd, &manifest, ret, &err), 0);
	for (uint64_t at = 0; at < ESP_BYTES; at += 1 << 20) {
		ck_assert_int_eq(bu_read_at(fd, bytes, 1 << 20, at, &err), 0);
		if (!bytes[0] && !memcmp(bytes, bytes + 1, (1 << 20) - 1))
			continue;
		ck_assert_int_eq(
			bu_disk_write(disk->fd, bytes, 1 << 20, ESP_AT + at, &err), 0);
	}
	unlink(raw);
	ck_assert_msg(!bu_fat_fit(disk, ESP_AT, &err), "%s", err.text);
	ck_assert_int_eq(bu_disk_sync(disk, &err), 0);
}

/* In units of 512 bytes, as partx has them whatever the disk has. */
static const char parts_want[] =
	"1 2048 532480 ESP\n2 534528 102400 root\n3 636928 16384 lake\n";
static const char parts_ask[] =
	"partx -g -S 4096 --raw -o NR,START,SECTORS,NAME $1 | sed 's/ *$//'";

START_TEST(a_file_with_large_sectors)
{
	char path[] = "/tmp/bringup-disk-XXXXXX";
	bu_autoclose int fd = mkstemp(path);
	const struct bu_disk disk = {.path = path,
				     .fd = fd,
				     .direct_fd = -1,
				     .size_bytes = DISK_BYTES,
				     .sector_bytes = SECTOR};
	struct bu_layout layout;
	uint8_t zeros[SECTOR] = {0};
	struct bu_err err = {0};

	BU_NEEDS("mtype", "/usr/sbin/mkfs.vfat", "/usr/sbin/sfdisk");
	ck_assert_int_eq(ftruncate(fd, DISK_BYTES), 0);
	write_disk(&disk, &layout);
	says(parts_ask, path, parts_want);
	/* Whatever fdisk does not like about the two tables, it says in red or not. */
	says("fdisk -b 4096 -l $1 2>&1 | grep -ciE "
	     "'mismatch|corrupt|error|invalid|not properly|overlap' || true",
	     path, "0\n");
	ck_assert(bu_gpt_is_ours(fd, SECTOR) && !bu_gpt_is_ours(fd, 512));
	ck_assert_int_eq(bu_gpt_check_data(fd, &layout, &err), 0);
	/* Without its front, from the copy in the last sectors. */
	ck_assert_int_eq(pwrite(fd, zeros, sizeof(zeros), SECTOR), SECTOR);
	says(parts_ask, path, parts_want);
	free(sh("dd if=$1 of=$1.esp bs=1M skip=1 count=260 2>/dev/null", path));
	says("fsck.vfat -n $1.esp >$1.says 2>&1 || cat $1.says", path, "");
	says("fsck.vfat -nv $1.esp | grep -E 'per logical|per cluster' | "
	     "tr -s ' '",
	     path, " 4096 bytes per logical sector\n 4096 bytes per cluster\n");
	/* Sectors before it, as a BIOS counts them. */
	says("od -An -tu4 -j28 -N4 $1.esp | tr -d ' '", path, "256\n");
	says("blkid -p -o value -s LABEL -s VERSION $1.esp", path, "ESP\nFAT32\n");
	says("export MTOOLS_SKIP_CHECK=1; seq 90000 >$1.want; mtype -i $1.esp ::/EFI/long "
	     "| cmp - $1.want && mtype -i $1.esp ::/kargs",
	     path, "short\n");
	/* Made for large sectors now, it is not made for small ones. */
	ck_assert_int_eq(bu_fat_fit(&disk, ESP_AT, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	free(sh("rm -f $1.*", path));
	unlink(path);
}
END_TEST

START_TEST(a_partition_that_cannot_be_fitted_is_left_alone)
{
	static const char *const made[] = {
		"mkfs.vfat -F 32 -s 1 -R 32", "mkfs.vfat -F 32 -s 8 -R 15 -a",
		"mkfs.vfat -F 32 -s 8 -R 8", "mkfs.vfat -F 16 -s 8", "truncate -s 40M"};
	char path[] = "/tmp/bringup-disk-XXXXXX";
	bu_autoclose int fd = mkstemp(path);
	const struct bu_disk disk = {.path = path, .fd = fd, .sector_bytes = SECTOR};

	BU_NEEDS("mtype", "/usr/sbin/mkfs.vfat", "/usr/sbin/sfdisk");
	for (size_t i = 0; i < BU_LEN(made); i++) {
		bu_autofree char *command =
			bu_xasprintf("truncate -s 0 $1; truncate -s 40M $1; %s $1 "
				     ">/dev/null 2>&1; sha256sum $1",
				     made[i]);
		bu_autofree char *before = sh(command, path);
		struct bu_err err = {0};

		ck_assert_msg(bu_fat_fit(&disk, 0, &err) == -1, "%s", made[i]);
		ck_assert_str_eq(err.text,
				 "the image's system partition is not made "
				 "for disks with sectors of 4096 bytes; build "
				 "the image again");
		says("sha256sum $1", path, before);
	}
	unlink(path);
}
END_TEST

/* With tools that ask the kernel how large a sector is. */
START_TEST(a_device_with_large_sectors)
{
	char path[] = "/tmp/bringup-disk-XXXXXX";
	bu_autoclose int fd = mkstemp(path);
	bu_autofree char *device = NULL;
	bu_autoclose int held = -1;
	struct bu_gpt_esp esp;
	struct bu_disk disk;
	struct bu_layout layout;
	struct bu_err err = {0};

	BU_NEEDS("mtype", "/usr/sbin/mkfs.vfat", "/usr/sbin/sfdisk");
	ck_assert_int_eq(ftruncate(fd, DISK_BYTES), 0);
	device = sh("losetup -P -f --show --sector-size 4096 $1 2>/dev/null || "
		    "true",
		    path);
	device[strcspn(device, "\n")] = '\0';
	if (!*device) {
		printf("skipped: %s needs a loop device\n", __func__);
		unlink(path);
		return;
	}
	unlink(path);
	/* It goes when nobody has it open, whichever way this ends. */
	held = open(device, O_RDONLY | O_CLOEXEC);
	free(sh("losetup -d $1", device));
	ck_assert_msg(!bu_disk_open(device, &disk, &err), "%s", err.text);
	ck_assert_uint_eq(disk.sector_bytes, SECTOR);
	write_disk(&disk, &layout);
	ck_assert_int_eq(bu_disk_clear(&disk, 1, &err), 0);
	bu_disk_close(&disk);
	/* Firmware counts as the disk does. */
	ck_assert_int_eq(bu_gpt_find_esp(device, &esp, &err), 0);
	ck_assert_uint_eq(esp.first_sector, ESP_AT / SECTOR);
	ck_assert_uint_eq(esp.sectors, ESP_BYTES / SECTOR);
	says("sfdisk --verify $1 2>&1 | grep errors", device, "No errors detected.\n");
	says("sfdisk -l -q -o Start,Sectors,Name $1 | tail -n +2 | tr -s ' ' | "
	     "sed 's/^ //; s/ $//'",
	     device, "256 66560 ESP\n66816 12800 root\n79616 2048 lake\n");
	says("partx -u $1; blkid -p -o value -s LABEL -s TYPE ${1}p1", device,
	     "ESP\nvfat\n");
}
END_TEST

BU_UNIT("large_sectors", a_file_with_large_sectors,
	a_partition_that_cannot_be_fitted_is_left_alone, a_device_with_large_sectors)
