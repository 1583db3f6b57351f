/* SPDX-License-Identifier: Apache-2.0 */
/* One disk: what sysfs says of it, where it is, and whether it is empty. */
#include "agent/disks.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/leftovers.h"
#include "base/file.h"
#include "tests/support/unit.h"

#define MIB (1024LL * 1024)

static char root[] = "/tmp/bringup-disks-XXXXXX";

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, name);
	bu_autofree char *dir = bu_xstrndup(path, strrchr(path, '/') - path);

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "%s", text), 0);
}

/* A file of sysfs for a disk. */
static void
put_of(const char *disk, const char *file, const char *text)
{
	bu_autofree char *name = bu_xasprintf("sys/block/%s/%s", disk, file);

	put(name, text);
}

static void
begin(void)
{
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void
end(void)
{
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}

/* As many bytes as it has, of one kind, and one other. */
static int
signature_of(int64_t size_bytes, char all, int64_t at, char byte)
{
	struct bu_disk disk = {
		.name = "vda", .path = "/dev/vda", .size_bytes = size_bytes};
	bu_autofree char *path = bu_xasprintf("%s/dev/vda", root);
	bu_autofree char *bytes = bu_xmalloc((size_t)size_bytes);

	memset(bytes, all, (size_t)size_bytes);
	if (at >= 0)
		bytes[at] = byte;
	ck_assert_int_eq(bu_file_write(path, bytes, (size_t)size_bytes, 0600, NULL), 0);
	bu_disk_look(root, &disk);
	ck_assert_str_eq(disk.holds, "");
	return disk.signature;
}

START_TEST(zeros_at_both_ends_are_an_empty_disk)
{
	static const struct {
		int64_t size_bytes, at;
		int signature;
	} rows[] = {
		{4 * MIB, -1, BU_SIGNATURE_NONE},
		{4 * MIB, 0, BU_SIGNATURE_PRESENT},
		{4 * MIB, MIB - 1, BU_SIGNATURE_PRESENT},
		{4 * MIB, MIB, BU_SIGNATURE_NONE},
		{4 * MIB, 3 * MIB - 1, BU_SIGNATURE_NONE},
		{4 * MIB, 3 * MIB, BU_SIGNATURE_PRESENT},
		{4 * MIB, 4 * MIB - 1, BU_SIGNATURE_PRESENT},
		/* both ends of a small one are all of it */
		{1536, -1, BU_SIGNATURE_NONE},
		{1536, 0, BU_SIGNATURE_PRESENT},
		{1536, 1535, BU_SIGNATURE_PRESENT},
	};

	begin();
	put("dev/x", "");
	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(signature_of(rows[i].size_bytes, 0, rows[i].at, 1) ==
				      rows[i].signature,
			      "row %zu", i);
	/* all the same is not all zeros */
	ck_assert_int_eq(signature_of(4 * MIB, 1, -1, 0), BU_SIGNATURE_PRESENT);
	end();
}
END_TEST

/* There is none, it is none, or it ends before its end. */
START_TEST(what_cannot_be_read_is_not_empty)
{
	static const char *const names[] = {"none", "folder", "short"};

	begin();
	put("dev/folder/x", "");
	put("dev/short", "");
	for (size_t i = 0; i < BU_LEN(names); i++) {
		struct bu_disk disk = {.size_bytes = 4096};

		strcpy(disk.name, names[i]);
		snprintf(disk.path, sizeof(disk.path), "/dev/%s", names[i]);
		bu_disk_look(root, &disk);
		ck_assert_int_eq(disk.signature, BU_SIGNATURE_PRESENT);
		ck_assert_str_eq(disk.holds, "");
	}
	end();
}
END_TEST

START_TEST(a_disk_is_what_sysfs_says)
{
	static const char name[] = "cciss!c0d0";
	struct bu_disk disk;

	begin();
	put_of(name, "size", "16\n");
	ck_assert_int_eq(bu_disk_read(root, name, &disk), 0); /* no hardware */
	put_of(name, "device/model", "ACME 9000 \n");
	put_of(name, "device/wwid", "naa.5\n");
	ck_assert_int_eq(bu_disk_read(root, name, &disk), 1);
	ck_assert_str_eq(disk.name, name);
	ck_assert_str_eq(disk.path, "/dev/cciss/c0d0");
	ck_assert_str_eq(disk.wwn, "naa.5");
	ck_assert_str_eq(disk.model, "ACME 9000");
	ck_assert_str_eq(disk.serial, "");
	ck_assert_int_eq(disk.size_bytes, 8192);
	ck_assert_int_eq(disk.sector_bytes, 0);
	ck_assert_int_eq(disk.rotational + disk.removable, 0);
	ck_assert_int_eq(disk.signature, BU_SIGNATURE_PRESENT);
	put_of(name, "wwid", "eui.7\n");
	put_of(name, "serial", "S1\n");
	put_of(name, "queue/logical_block_size", "512\n");
	put_of(name, "queue/rotational", "1\n");
	ck_assert_int_eq(bu_disk_read(root, name, &disk), 1);
	ck_assert_str_eq(disk.wwn, "eui.7");
	ck_assert_str_eq(disk.serial, "S1");
	ck_assert_int_eq(disk.sector_bytes, 512);
	ck_assert_int_eq(disk.rotational, 1);
	ck_assert_int_eq(disk.removable, 0);
	put_of(name, "queue/rotational", "0\n");
	put_of(name, "removable", "1\n");
	ck_assert_int_eq(bu_disk_read(root, name, &disk), 1);
	ck_assert_int_eq(disk.rotational, 0);
	ck_assert_int_eq(disk.removable, 1);
	put_of(name, "hidden", "1\n");
	ck_assert_int_eq(bu_disk_read(root, name, &disk), 0);
	end();
}
END_TEST

START_TEST(no_system_is_put_on_these)
{
	static const char *const names[] = {"loop0", "ram0", "zram0", "sr0",  "fd0",
					    "dm-0",  "md0",  "nbd0",  "rbd0", "drbd0"};
	struct bu_disk disk;

	begin();
	for (size_t i = 0; i < BU_LEN(names); i++) {
		put_of(names[i], "size", "16\n");
		put_of(names[i], "device/model", "x\n");
		ck_assert_msg(bu_disk_read(root, names[i], &disk) == 0, "%s", names[i]);
	}
	put_of("sda", "device/model", "x\n");
	put_of("sda", "size", "0\n"); /* a reader without a card */
	ck_assert_int_eq(bu_disk_read(root, "sda", &disk), 0);
	put_of("sda", "size", "16\n");
	ck_assert_int_eq(bu_disk_read(root, "sda", &disk), 1);
	end();
}
END_TEST

/* The last of the PCI functions on the way is the card; other names are none. */
START_TEST(a_disk_is_behind_its_card)
{
	static const char *const rows[][3] = {
		{"vda",
		 "pci0000:00/0000:00:01.0/0000:02:00.0/face-00:03.0/0000:00-03.0/"
		 "0000:00:03-0/0000:00:03.0x/g000:00:03.0/virtio1",
		 "pci-0000:02:00.0"},
		{"sda", "pci0000:00/0000:00:17.0/atari/ata3/host2/target2:0:0/2:0:0:0",
		 "pci-0000:00:17.0-scsi-0:0:0:0"},
		{"sdb", "pci0000:00/0000:00:17.0/ata4/host3/target3:0:0/3:0:0:0",
		 "pci-0000:00:17.0-ata-4"},
		{"nvme0n2", "pci0000:00/0000:00:05.0/nvme/nvme0",
		 "pci-0000:00:05.0-nvme-2"},
		{"sdc", "pci0000:00/0000:00:06.0/host1/1:0:2", "pci-0000:00:06.0"},
		{"vdb", "platform/a003e00.virtio_mmio/virtio3", ""},
	};

	begin();
	put_of("nvme0n2", "nsid", "2\n");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *folder =
			bu_xasprintf("sys/devices/%s/model", rows[i][1]);
		bu_autofree char *link =
			bu_xasprintf("%s/sys/block/%s/device", root, rows[i][0]);
		bu_autofree char *target = bu_xasprintf("../../devices/%s", rows[i][1]);
		struct bu_disk disk;

		put(folder, "x\n");
		put_of(rows[i][0], "size", "16\n");
		ck_assert_int_eq(symlink(target, link), 0);
		ck_assert_int_eq(bu_disk_read(root, rows[i][0], &disk), 1);
		ck_assert_str_eq(disk.by_path, rows[i][2]);
	}
	end();
}
END_TEST

/* As the kernel lays it out with nvme_core.multipath: the disk is the subsystem's,
 * which links to its controllers. */
START_TEST(a_disk_of_native_multipath_is_behind_its_controller)
{
#define CARD "sys/devices/pci0000:00/0000:00:01.0/0000:"
	static const struct {
		const char *controllers[3]; /* where they are; NULL = no more */
		const char *by_path;
	} rows[] = {
		{{CARD "81:00.0/nvme"}, "pci-0000:81:00.0-nvme-1"},
		{{CARD "c1:00.0/nvme", CARD "81:00.0/nvme"}, "pci-0000:81:00.0-nvme-1"},
		{{"sys/devices/virtual/nvme-fabrics/ctl"}, ""},
		{{NULL}, ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		static const char subsystem[] =
			"sys/devices/virtual/nvme-subsystem/nvme-subsys0";
		bu_autofree char *link = NULL;
		struct bu_disk disk;

		begin();
		put("sys/devices/virtual/nvme-subsystem/nvme-subsys0/model", "M\n");
		put("sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme0n1/x", "");
		for (size_t j = 0; rows[i].controllers[j]; j++) {
			bu_autofree char *path = bu_xasprintf(
				"%s/nvme%zu/model", rows[i].controllers[j], j);
			bu_autofree char *at =
				bu_xasprintf("%s/%s/nvme%zu", root, subsystem, j);
			bu_autofree char *to = bu_xasprintf("%s/%s/nvme%zu", root,
							    rows[i].controllers[j], j);

			put(path, "M\n");
			ck_assert_int_eq(symlink(to, at), 0);
		}
		put_of("nvme0n1", "size", "16\n");
		put_of("nvme0n1", "nsid", "1\n");
		link = bu_xasprintf("%s/sys/block/nvme0n1/device", root);
		ck_assert_int_eq(symlink("../../devices/virtual/nvme-subsystem/"
					 "nvme-subsys0",
					 link),
				 0);
		ck_assert_int_eq(bu_disk_read(root, "nvme0n1", &disk), 1);
		ck_assert_str_eq(disk.by_path, rows[i].by_path);
		ck_assert_str_eq(disk.model, "M");
		end();
	}
}
END_TEST

/* Each that the inventory names, before it is written. */
START_TEST(a_disk_is_found_by_its_path)
{
	static const struct {
		const char *name, *path;
		int is_found;
	} rows[] = {
		{"sda", "/dev/sda", 1},
		{"sda", "/dev/sdb", 0},
		{"sda", "sda", 0},
		{"sda", "/tmp/sda", 0},
		{"cciss!c0d0", "/dev/cciss/c0d0", 1},
		{"a123456789012345678901234567890",
		 "/dev/a123456789012345678901234567890", 1},
		{"a1234567890123456789012345678901",
		 "/dev/a1234567890123456789012345678901", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_disk disk = {.path = ""};
		struct bu_err err = {0};
		int rc;

		begin();
		put_of(rows[i].name, "size", "16\n");
		put_of(rows[i].name, "serial", "S1\n");
		rc = bu_disk_identify(root, rows[i].path, &disk, &err);
		ck_assert_msg(rc == (rows[i].is_found ? 0 : -1), "%s", rows[i].path);
		if (rc == 0) {
			ck_assert_str_eq(disk.name, rows[i].name);
			ck_assert_str_eq(disk.path, rows[i].path);
			ck_assert_str_eq(disk.serial, "S1");
			ck_assert_int_eq(disk.size_bytes, 8192);
		} else {
			ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
		}
		end();
	}
}
END_TEST

/* Of the disk and of its partition, once, and whole or not at all. */
START_TEST(what_is_left_is_named_once)
{
	static const char *const paths[] = {"dev/cciss/c0d0", "dev/cciss/c0d0p1"};
	static const struct {
		size_t size;
		const char *holds;
	} rows[] = {
		{96, "crypto_LUKS"},
		{12, "crypto_LUKS"},
		{11, ""},
		{1, ""},
	};
	char text[96];

	begin();
	put("sys/block/cciss!c0d0/cciss!c0d0p1/partition", "1\n");
	put("sys/block/cciss!c0d0/queue/x", "");
	for (size_t i = 0; i < BU_LEN(paths); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", root, paths[i]);

		put(paths[i], "");
		ck_assert_int_eq(bu_file_write(path, "LUKS\xba\xbe\0\1", 8, 0600, NULL),
				 0);
		ck_assert_int_eq(truncate(path, 4 * MIB), 0);
		if (i == 0) {
			bu_leftovers_read(root, "cciss!c0d0", text, sizeof(text));
			ck_assert_str_eq(text, "crypto_LUKS");
		}
	}
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		memset(text, 'x', sizeof(text));
		bu_leftovers_read(root, "cciss!c0d0", text, rows[i].size);
		ck_assert_str_eq(text, rows[i].holds);
	}
	put("dev/cciss/c0d0", "");
	bu_leftovers_read(root, "cciss!c0d0", text, sizeof(text));
	ck_assert_str_eq(text, "crypto_LUKS");
	end();
}
END_TEST

BU_UNIT("disks", zeros_at_both_ends_are_an_empty_disk, what_cannot_be_read_is_not_empty,
	a_disk_is_what_sysfs_says, no_system_is_put_on_these, a_disk_is_behind_its_card,
	a_disk_of_native_multipath_is_behind_its_controller,
	a_disk_is_found_by_its_path, what_is_left_is_named_once)
