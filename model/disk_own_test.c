/* SPDX-License-Identifier: Apache-2.0 */
/* Which numbers of disks identify one of them. */
#include "model/disk_own.h"

#include <string.h>

#include "base/text.h"
#include "tests/support/unit.h"

struct tells {
	const char *serial, *wwn, *by_path;
	int64_t size_bytes;
	const char *own_serial, *own_wwn;
};

static void
check(const struct tells *rows, size_t count, const char *what)
{
	bu_autofree struct bu_disk *disks = bu_xcalloc(count, sizeof(*disks));

	for (size_t i = 0; i < count; i++) {
		disks[i].size_bytes = rows[i].size_bytes;
		BU_TEXT_COPY(disks[i].serial, rows[i].serial);
		BU_TEXT_COPY(disks[i].wwn, rows[i].wwn);
		BU_TEXT_COPY(disks[i].by_path, rows[i].by_path);
	}
	bu_disks_own(disks, count);
	for (size_t i = 0; i < count; i++) {
		ck_assert_msg(strcmp(disks[i].serial, rows[i].own_serial) == 0,
			      "%s %zu: serial '%s'", what, i, disks[i].serial);
		ck_assert_msg(strcmp(disks[i].wwn, rows[i].own_wwn) == 0,
			      "%s %zu: wwn '%s'", what, i, disks[i].wwn);
	}
}

#define RAID "PDNMF0ARH1R0AB"

START_TEST(what_two_disks_tell_is_neither_s)
{
	static const struct tells volumes[] = {
		{RAID, "naa.600508b1001ca", "", 4, "", "naa.600508b1001ca"},
		{RAID, "naa.600508b1001cb", "", 8, "", "naa.600508b1001cb"},
		{"S1", "", "", 8, "S1", ""},
	};
	/* spelled otherwise, and without a name of their own */
	static const struct tells bare[] = {
		{"abc123", "", "", 4, "", ""},
		{" ABC123", "", "", 4, "", ""},
	};
	static const struct tells namespaces[] = {
		{"S6X1", "eui.0025384c31b5a1f0", "pci-0000:02:00.0-nvme-1", 4, "",
		 "eui.0025384c31b5a1f0"},
		{"S6X1", "eui.0025384c31b5a1f1", "pci-0000:02:00.0-nvme-2", 4, "",
		 "eui.0025384c31b5a1f1"},
	};

	check(volumes, BU_LEN(volumes), "volumes");
	check(bare, BU_LEN(bare), "bare");
	check(namespaces, BU_LEN(namespaces), "namespaces");
}
END_TEST

START_TEST(one_disk_over_two_paths_keeps_its_numbers)
{
	static const struct tells paths[] = {
		{"S1", "naa.5000c500a1b2c3d4", "pci-0000:02:00.0-scsi-0:0:1:0", 4, "S1",
		 "naa.5000c500a1b2c3d4"},
		{"S1", "naa.5000c500a1b2c3d4", "pci-0000:03:00.0-scsi-0:0:1:0", 4, "S1",
		 "naa.5000c500a1b2c3d4"},
	};
	/* each volume over two paths */
	static const struct tells both[] = {
		{RAID, "naa.600508b1001ca", "", 4, "", "naa.600508b1001ca"},
		{RAID, "naa.600508b1001ca", "", 4, "", "naa.600508b1001ca"},
		{RAID, "naa.600508b1001cb", "", 4, "", "naa.600508b1001cb"},
		{RAID, "naa.600508b1001cb", "", 4, "", "naa.600508b1001cb"},
	};

	check(paths, BU_LEN(paths), "paths");
	check(both, BU_LEN(both), "both");
}
END_TEST

START_TEST(clones_are_two_disks)
{
	/* a port of SATA has one disk */
	static const struct tells sata[] = {
		{"AA01", "naa.5000c500a1b2c3d4", "pci-0000:00:1f.2-ata-1", 4, "", ""},
		{"AA01", "naa.5000c500a1b2c3d4", "pci-0000:00:1f.2-ata-2", 4, "", ""},
	};
	static const struct tells sizes[] = {
		{"AA01", "eui.002538aa01", "", 4, "", ""},
		{"AA01", "eui.002538aa01", "", 8, "", ""},
	};
	static const struct tells names[] = {
		{"AA01", "eui.002538aa01", "", 4, "AA01", ""},
		{"AA02", "EUI.002538AA01", "", 4, "AA02", ""},
	};

	check(sata, BU_LEN(sata), "sata");
	check(sizes, BU_LEN(sizes), "sizes");
	check(names, BU_LEN(names), "names");
}
END_TEST

START_TEST(placeholders_are_nothing)
{
	static const struct tells rows[] = {
		{"0000000000", "eui.0000000000000000", "", 4, "", ""},
		{"N/A", "eui.0100000000000000", "", 4, "", ""},
		{"0123456789", "naa.5000000000000000", "", 4, "", ""},
		{"none", "uuid.00000000-0000-0000-0000-000000000000", "", 4, "", ""},
		{"", "", "", 4, "", ""},
		{"drive-scsi0-0-0-0", "t10.ATA     QEMU HARDDISK QM00001", "", 4,
		 "drive-scsi0-0-0-0", "t10.ATA     QEMU HARDDISK QM00001"},
	};

	check(rows, BU_LEN(rows), "row");
}
END_TEST

START_TEST(nothing_that_both_tell_may_differ)
{
	static const struct {
		const char *serial, *wwn, *was_serial, *was_wwn;
		int agrees;
	} rows[] = {
		{"S1", "naa.1a", "S1", "naa.1a", 1},
		{"S1", "naa.1a", "S1", "", 1},
		{"", "naa.1a", "S1", "NAA.1A", 1},
		{"S1", "", "S1", "naa.1a", 1},
		{"S1", "naa.1b", "S1", "naa.1a", 0},
		{"S2", "naa.1a", "S1", "naa.1a", 0},
		{"", "naa.1b", "S1", "naa.1a", 0},
		{"S1", "", "", "naa.1a", 0},
		{"", "", "", "", 0},
		{"S1", "naa.1a", "", "", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_disk disk = {.path = "/dev/sda"};

		BU_TEXT_COPY(disk.serial, rows[i].serial);
		BU_TEXT_COPY(disk.wwn, rows[i].wwn);
		ck_assert_msg(bu_disk_agrees(&disk, rows[i].was_serial,
					     rows[i].was_wwn) == rows[i].agrees,
			      "row %zu", i);
	}
}
END_TEST

BU_UNIT("disk_own", what_two_disks_tell_is_neither_s,
	one_disk_over_two_paths_keeps_its_numbers, clones_are_two_disks,
	placeholders_are_nothing, nothing_that_both_tell_may_differ)
