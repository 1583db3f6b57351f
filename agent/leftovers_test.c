/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What LVM, md, ZFS, LUKS and RAID controllers leave on disks, as those programs lay it
 * down: each is named, and a disk with a holder says who has it.
 */
#include "agent/leftovers.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/disks.h"
#include "base/file.h"
#include "base/worker.h"
#include "tests/support/unit.h"

enum { DISK_BYTES = 64 << 20 };

static char root[] = "/tmp/bringup-test-XXXXXX";

static void
put(const char *path, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", root, path);
	bu_autofree char *dir = bu_xstrdup(full);

	*strrchr(dir, '/') = '\0';
	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write(full, text, strlen(text), 0644, NULL), 0);
}

static void
add_disk(const char *name)
{
	bu_autofree char *size = bu_xasprintf("sys/block/%s/size", name);
	bu_autofree char *device = bu_xasprintf("sys/block/%s/device/x", name);
	bu_autofree char *dev = bu_xasprintf("dev/%s", name);
	bu_autofree char *path = bu_xasprintf("%s/%s", root, dev);
	bu_autofree char *sectors = bu_xasprintf("%d\n", DISK_BYTES / 512);

	put(size, sectors);
	put(device, "");
	put(dev, "");
	ck_assert_int_eq(truncate(path, DISK_BYTES), 0);
}

static void
write_at(const char *name, int64_t at, const void *bytes, size_t size)
{
	bu_autofree char *path = bu_xasprintf("%s/dev/%s", root, name);
	bu_autoclose int fd = open(path, O_WRONLY);

	ck_assert_int_eq(pwrite(fd, bytes, size, at < 0 ? DISK_BYTES + at : at),
			 (ssize_t)size);
}

/* --- as each of them writes it --- */

/* A superblock of md: magic, major version, where it says that it is, its checksum. */
static void
md(const char *name, int64_t at)
{
	uint8_t block[256] = {0xfc, 0x4e, 0x2b, 0xa9, 1};
	uint64_t sum = 0, sector = (uint64_t)(at < 0 ? DISK_BYTES + at : at) / 512;

	for (int i = 0; i < 8; i++)
		block[144 + i] = (uint8_t)(sector >> 8 * i);
	for (size_t i = 0; i < sizeof(block); i += 4)
		sum += block[i] | (uint64_t)block[i + 1] << 8 |
		       (uint64_t)block[i + 2] << 16 | (uint64_t)block[i + 3] << 24;
	sum = (sum & 0xffffffff) + (sum >> 32);
	for (int i = 0; i < 4; i++)
		block[216 + i] = (uint8_t)(sum >> 8 * i);
	write_at(name, at, block, sizeof(block));
}

/* A label of LVM2 in the second sector, with its own checksum. */
static void
lvm(const char *name)
{
	uint8_t label[512] = "LABELONE\1";
	uint32_t crc = 0xf597a6cf;

	label[20] = 32;
	memcpy(label + 24, "LVM2 001", 8);
	for (size_t i = 20; i < sizeof(label); i++) {
		crc ^= label[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	for (int i = 0; i < 4; i++)
		label[16 + i] = (uint8_t)(crc >> 8 * i);
	write_at(name, 512, label, sizeof(label));
}

/* The ring of uberblocks in the first label of a ZFS pool. */
static void
zfs(const char *name)
{
	static const uint8_t magic[] = {0x0c, 0xb1, 0xba, 0};

	for (int i = 0; i < 8; i++)
		write_at(name, (128 + 4 * i) << 10, magic, sizeof(magic));
}

static void
luks(const char *name)
{
	write_at(name, 0, "LUKS\xba\xbe\0\1", 8);
}

static void
intel(const char *name)
{
	write_at(name, -1024, "Intel Raid ISM Cfg Sig. 1.3.00", 30);
}

static void
ddf(const char *name)
{
	uint8_t header[512] = {0xde, 0x11, 0xde, 0x11};

	memcpy(header + 8, "LSI     1234567890123456", 24);
	memcpy(header + 32, "02.00.00", 8);
	write_at(name, -512, header, sizeof(header));
}

static void
run(const char *command, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/dev/%s", root, name);
	bu_autofree char *line = bu_xasprintf("PATH=$PATH:/usr/sbin; %s", command);
	const char *const argv[] = {"sh", "-c", line, "sh", path, NULL};
	const struct bu_job_opts job = {.argv = argv, .deadline_ms = 60000};
	struct bu_err err = {0};

	ck_assert_msg(!bu_job_run(&job, NULL, &err), "%s", err.text);
}

static void
md_end(const char *name)
{
	md(name, -8192);
}

static void
md_begin(const char *name)
{
	md(name, 4096);
}

static void
ext4(const char *name)
{
	run("mkfs.ext4 -q -F $1", name);
}

/* What was there before shines through. */
static void
md_over_ext4(const char *name)
{
	ext4(name);
	md_end(name);
}

static void
nothing_known(const char *name)
{
	write_at(name, 700, "x", 1);
}

/* A partition table, and LVM in one of its partitions. */
static void
gpt_with_lvm(const char *name)
{
	run("printf 'label: gpt\\nsize=8MiB\\nsize=16MiB\\n' | sfdisk -q $1", name);
	put("sys/block/sdh/sdh1/partition", "1\n");
	put("sys/block/sdh/sdh2/partition", "2\n");
	put("sys/block/sdh/queue/x", "");
	put("dev/sdh1", "");
	run("truncate -s 8M ${1}1; mkfs.vfat ${1}1 >/dev/null", name);
	put("dev/sdh2", "");
	run("truncate -s 16M ${1}2", name);
	lvm("sdh2");
}

static const struct {
	const char *name;
	void (*make)(const char *name);
	const char *holds;
	int signature;
} rows[] = {
	{"sda", md_end, "linux_raid_member", BU_SIGNATURE_PRESENT},
	{"sdb", md_begin, "linux_raid_member", BU_SIGNATURE_PRESENT},
	{"sdc", lvm, "LVM2_member", BU_SIGNATURE_PRESENT},
	{"sdd", zfs, "zfs_member", BU_SIGNATURE_PRESENT},
	{"sde", luks, "crypto_LUKS", BU_SIGNATURE_PRESENT},
	{"sdf", intel, "isw_raid_member", BU_SIGNATURE_PRESENT},
	{"sdg", ddf, "ddf_raid_member", BU_SIGNATURE_PRESENT},
	{"sdh", gpt_with_lvm, "LVM2_member, gpt, vfat", BU_SIGNATURE_PRESENT},
	{"sdi", md_over_ext4, "ext4, linux_raid_member", BU_SIGNATURE_PRESENT},
	{"sdj", nothing_known, "", BU_SIGNATURE_PRESENT},
	{"sdk", NULL, "", BU_SIGNATURE_NONE},
};

START_TEST(each_leftover_is_named)
{
	BU_NEEDS("/usr/sbin/mkfs.vfat", "/usr/sbin/sfdisk", "/usr/sbin/mkfs.ext4");
	ck_assert_ptr_nonnull(mkdtemp(root));
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_disk disk;

		add_disk(rows[i].name);
		if (rows[i].make)
			rows[i].make(rows[i].name);
		ck_assert_int_eq(bu_disk_read(root, rows[i].name, &disk), 1);
		bu_disk_look(root, &disk);
		ck_assert_msg(strcmp(disk.holds, rows[i].holds) == 0, "%s: '%s'",
			      rows[i].name, disk.holds);
		ck_assert_int_eq(disk.signature, rows[i].signature);
		ck_assert_str_eq(disk.held_by, "");
	}
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* What does not fit is left off as a whole. */
START_TEST(a_long_list_is_cut_between_words)
{
	char text[14];

	BU_NEEDS("/usr/sbin/mkfs.ext4");
	ck_assert_ptr_nonnull(mkdtemp(root));
	add_disk("sdi");
	md_over_ext4("sdi");
	bu_leftovers_read(root, "sdi", text, sizeof(text));
	ck_assert_str_eq(text, "ext4");
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(who_has_a_disk_is_told)
{
	static const struct {
		const char *name, *holders[3], *held_by;
	} disks[] = {{"sda", {"md127"}, "md127"},
		     {"sdb", {"dm-3", "dm-10"}, "dm-10"},
		     {"sdc", {NULL}, ""}};

	ck_assert_ptr_nonnull(mkdtemp(root));
	for (size_t i = 0; i < BU_LEN(disks); i++) {
		struct bu_disk disk;

		add_disk(disks[i].name);
		for (size_t k = 0; disks[i].holders[k]; k++) {
			bu_autofree char *path =
				bu_xasprintf("sys/block/%s/holders/%s", disks[i].name,
					     disks[i].holders[k]);

			put(path, "");
		}
		/* Of a partition alone: the disk itself is not taken. */
		put("sys/block/sdc/sdc1/holders/md0", "");
		ck_assert_int_eq(bu_disk_read(root, disks[i].name, &disk), 1);
		bu_disk_look(root, &disk);
		ck_assert_str_eq(disk.held_by, disks[i].held_by);
	}
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

BU_UNIT("leftovers", each_leftover_is_named, a_long_list_is_cut_between_words,
	who_has_a_disk_is_told)
