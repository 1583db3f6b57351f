/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of disks and what each selector chooses of them, in any order of the kernel. */
#include "profiles/load/disk.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

#define TB INT64_C(1000000000000)
#define NVME(n, slot, size)                                                            \
	{                                                                              \
		.name = "nvme" n "n1", .path = "/dev/nvme" n "n1", .serial = "S" slot, \
		.wwn = "eui." slot, .model = "MZQL23T8",                               \
		.by_path = "pci-0000:" slot ":00.0-nvme-1", .size_bytes = size,        \
		.sector_bytes = 512                                                    \
	}

/* The same ten drives, found by the kernel in two orders. */
static const struct bu_disk ten[] = {NVME("0", "02", 3 * TB), NVME("1", "03", 3 * TB),
				     NVME("2", "04", TB),     NVME("3", "05", 3 * TB),
				     NVME("4", "06", 3 * TB), NVME("5", "07", 3 * TB),
				     NVME("6", "08", 3 * TB), NVME("7", "09", 3 * TB),
				     NVME("8", "0a", 3 * TB), NVME("9", "10", 3 * TB)};
static const struct bu_disk other_order[] = {
	NVME("0", "10", 3 * TB), NVME("1", "0a", 3 * TB), NVME("2", "09", 3 * TB),
	NVME("3", "05", 3 * TB), NVME("4", "02", 3 * TB), NVME("5", "08", 3 * TB),
	NVME("6", "03", 3 * TB), NVME("7", "06", 3 * TB), NVME("8", "07", 3 * TB),
	NVME("9", "04", TB)};
/* One disk over two ports, and another. */
static const struct bu_disk multipath[] = {
	{.path = "/dev/sdb",
	 .serial = "P1",
	 .wwn = "naa.5000c500a1",
	 .rotational = 1,
	 .by_path = "pci-0000:3b:00.0-scsi-0:0:1:0",
	 .size_bytes = 4 * TB},
	{.path = "/dev/sdc",
	 .serial = "P2",
	 .wwn = "naa.5000c500b2",
	 .rotational = 1,
	 .by_path = "pci-0000:3b:00.0-scsi-0:0:2:0",
	 .size_bytes = 8 * TB},
	{.path = "/dev/sda",
	 .serial = "P1",
	 .wwn = "naa.5000c500a1",
	 .rotational = 1,
	 .by_path = "pci-0000:3b:00.0-scsi-0:0:0:0",
	 .size_bytes = 4 * TB},
};
/* Two of one RAID1, and a big one. What is on them is the grant's business. */
static const struct bu_disk md_pair[] = {
	{.path = "/dev/sda",
	 .serial = "M1",
	 .by_path = "pci-0000:00:17.0-ata-1",
	 .model = "INTEL SSDSC2KB48",
	 .size_bytes = TB / 2,
	 .signature = BU_SIGNATURE_PRESENT},
	{.path = "/dev/sdb",
	 .serial = "M2",
	 .by_path = "pci-0000:00:17.0-ata-2",
	 .model = "INTEL SSDSC2KB48",
	 .size_bytes = TB / 2,
	 .signature = BU_SIGNATURE_PRESENT},
	{.path = "/dev/sdc",
	 .serial = "M3",
	 .by_path = "pci-0000:00:17.0-ata-10",
	 .model = "ST8000NM000A",
	 .size_bytes = 8 * TB,
	 .rotational = 1},
};
/* The same pair while its array runs, and the same disk while multipathd has it. */
static const struct bu_disk md_runs[] = {
	{.path = "/dev/sda",
	 .serial = "M1",
	 .by_path = "pci-0000:00:17.0-ata-1",
	 .size_bytes = TB / 2,
	 .signature = BU_SIGNATURE_PRESENT,
	 .holds = "linux_raid_member",
	 .held_by = "md127"},
	{.path = "/dev/sdb",
	 .serial = "M2",
	 .by_path = "pci-0000:00:17.0-ata-2",
	 .size_bytes = TB / 2,
	 .signature = BU_SIGNATURE_PRESENT,
	 .holds = "linux_raid_member",
	 .held_by = "md127"},
	{.path = "/dev/sdc",
	 .serial = "M3",
	 .by_path = "pci-0000:00:17.0-ata-10",
	 .size_bytes = 8 * TB,
	 .rotational = 1},
};
static const struct bu_disk mapped[] = {
	{.path = "/dev/sda",
	 .serial = "P1",
	 .wwn = "naa.5000c500a1",
	 .by_path = "pci-0000:3b:00.0-scsi-0:0:0:0",
	 .size_bytes = 4 * TB,
	 .held_by = "dm-0"},
	{.path = "/dev/sdb",
	 .serial = "P1",
	 .wwn = "naa.5000c500a1",
	 .by_path = "pci-0000:3b:00.0-scsi-0:0:1:0",
	 .size_bytes = 4 * TB,
	 .held_by = "dm-0"},
};
/* One path of the map was lost and is back, and multipathd has not taken it yet. */
static const struct bu_disk one_path_back[] = {
	{.path = "/dev/sda",
	 .serial = "P1",
	 .wwn = "naa.5000c500a1",
	 .model = "LUN",
	 .by_path = "pci-0000:3b:00.0-scsi-0:0:0:0",
	 .size_bytes = 4 * TB,
	 .held_by = "dm-0"},
	{.path = "/dev/sdd",
	 .serial = "P1",
	 .wwn = "naa.5000c500a1",
	 .model = "LUN",
	 .by_path = "pci-0000:3b:00.0-scsi-0:0:1:0",
	 .size_bytes = 4 * TB},
	/* Its other path is gone, and the map is there. */
	{.path = "/dev/sdb",
	 .serial = "P2",
	 .wwn = "naa.5000c500b2",
	 .model = "LUN",
	 .by_path = "pci-0000:3b:00.0-scsi-0:0:0:1",
	 .size_bytes = 4 * TB,
	 .held_by = "dm-1"},
	/* NVMe's own multipath: one disk, whatever is left of its ways, in no place. */
	{.path = "/dev/nvme0n1",
	 .serial = "N1",
	 .wwn = "uuid.0a1b",
	 .model = "ARRAY",
	 .size_bytes = 8 * TB},
};
/* What LVM, ZFS and a RAID controller left. What is on a disk chooses nothing. */
static const struct bu_disk leftovers[] = {
	{.path = "/dev/sda",
	 .serial = "L1",
	 .by_path = "pci-0000:00:17.0-ata-1",
	 .size_bytes = TB,
	 .signature = BU_SIGNATURE_PRESENT,
	 .holds = "LVM2_member"},
	{.path = "/dev/sdb",
	 .serial = "L2",
	 .by_path = "pci-0000:00:17.0-ata-2",
	 .size_bytes = 2 * TB,
	 .signature = BU_SIGNATURE_PRESENT,
	 .holds = "gpt, zfs_member"},
	{.path = "/dev/sdc",
	 .serial = "L3",
	 .by_path = "pci-0000:00:17.0-ata-3",
	 .size_bytes = 2 * TB,
	 .signature = BU_SIGNATURE_PRESENT,
	 .holds = "ddf_raid_member"},
};
/* Sectors of 4096 bytes, of 512 that are 4096 inside (512e), and of 512; what was a
 * RAID controller's, a USB stick. */
static const struct bu_disk mixed[] = {
	{.path = "/dev/nvme0n1",
	 .serial = "K4",
	 .model = "KIOXIA CM7",
	 .by_path = "pci-0000:02:00.0-nvme-1",
	 .size_bytes = 2 * TB,
	 .sector_bytes = 4096},
	{.path = "/dev/sda",
	 .serial = "L1",
	 .model = "TOSHIBA MG08",
	 .by_path = "pci-0000:00:17.0-ata-1",
	 .size_bytes = 16 * TB,
	 .rotational = 1,
	 .signature = BU_SIGNATURE_PRESENT,
	 .sector_bytes = 512},
	{.path = "/dev/sdc",
	 .serial = "E5",
	 .model = "ST20000NM007D",
	 .by_path = "pci-0000:00:17.0-ata-2",
	 .size_bytes = 20 * TB,
	 .rotational = 1,
	 .sector_bytes = 512},
	{.path = "/dev/sdb",
	 .serial = "USB",
	 .model = "Cruzer",
	 .removable = 1,
	 .by_path = "pci-0000:00:14.0-usb",
	 .size_bytes = TB / 100},
};
/* Two M.2 to boot from, four drives for data, and what is no disk to boot from. */
#define M2(slot)                                                                       \
	{                                                                              \
		.serial = "B" slot, .wwn = "eui.b" slot, .model = "MZ1L2480",          \
		.by_path = "pci-0000:" slot ":00.0-nvme-1", .size_bytes = TB / 2       \
	}
#define DATA(slot) NVME(slot, slot, 3 * TB)
#define STICK                                                                          \
	{                                                                              \
		.serial = "U1", .model = "Ultra", .size_bytes = TB / 8,                \
		.by_path = "pci-0000:00:14.0-usb-0:2:1.0-scsi-0:0:0:0"                 \
	}
#define LUN(host)                                                                      \
	{                                                                              \
		.serial = "P9", .wwn = "naa.9", .model = "MZ1L2480",                   \
		.by_path = "pci-0000:3b:00.0-scsi-0:0:" host ":0",                     \
		.size_bytes = TB / 2                                                   \
	}
static const struct bu_disk m2_pair[] = {DATA("80"),
					 M2("10"),
					 DATA("82"),
					 STICK,
					 M2("2"),
					 LUN("1"),
					 DATA("83"),
					 LUN("2"),
					 DATA("84"),
					 {.serial = "F1",
					  .model = "MZ1L2480",
					  .removable = 1,
					  .by_path = "pci-0000:00:15.0",
					  .size_bytes = TB / 2}};
/* The other one has failed: what is left alone must not lead to the data. */
static const struct bu_disk one_of_m2[] = {M2("10"), DATA("80"), DATA("82")};
static const struct bu_disk three_m2[] = {M2("10"), M2("11"), M2("12"), DATA("80")};
static const struct bu_disk unlike_m2[] = {M2("10"),
					   {.serial = "X1",
					    .model = "OTHER",
					    .by_path = "pci-0000:11:00.0-nvme-1",
					    .size_bytes = TB / 2},
					   DATA("80")};
/* A virtual machine: it tells neither place nor number. */
static const struct bu_disk bare[] = {
	{.path = "/dev/vda", .size_bytes = TB},
	{.path = "/dev/vdb", .size_bytes = TB},
};

#define SET(set) #set, set, BU_LEN(set)
static const struct {
	const char *set;
	const struct bu_disk *disks;
	size_t count;
	const char *selector;
	size_t found;
	const char *serial; /* of the one that is chosen */
} rows[] = {
	{SET(ten), "smallest", 1, "S04"},
	{SET(ten), "serial:S10", 1, "S10"},
	{SET(ten), "wwn:EUI.0A", 1, "S0a"},
	{SET(ten), "path:pci-0000:05:00.0-nvme-1", 1, "S05"},
	{SET(ten), "size:-2TiB", 1, "S04"},
	{SET(ten), "size:2TiB-", 9, NULL},
	{SET(ten), "size:2TiB-, first", 1, "S02"},
	{SET(ten), "model:MZQL2*, size:900GiB-1TiB", 1, "S04"},
	{SET(ten), "model:MZQL2*", 10, NULL},
	{SET(ten), "first", 1, "S02"},
	{SET(ten), "smallest, serial:S02", 1, "S02"},
	{SET(ten), "rotational:yes", 0, NULL},
	{SET(ten), "serial:S0", 0, NULL},
	{SET(ten), "size:5TiB-", 0, NULL},
	{SET(multipath), "smallest", 1, "P1"},
	{SET(multipath), "serial:P1", 1, "P1"},
	{SET(multipath), "rotational:yes", 2, NULL},
	{SET(multipath), "wwn:naa.5000c500b2", 1, "P2"},
	{SET(md_pair), "smallest", 2, NULL},
	{SET(md_pair), "smallest, first", 1, "M1"},
	{SET(md_pair), "rotational:no", 2, NULL},
	{SET(md_pair), "rotational:no, path:pci-0000:00:17.0-ata-2", 1, "M2"},
	{SET(md_pair), "model:INTEL SSDSC2KB??, serial:M2", 1, "M2"},
	{SET(md_pair), "first", 1, "M1"},
	{SET(md_runs), "smallest", 1, "M3"},
	{SET(md_runs), "smallest, first", 1, "M3"},
	{SET(md_runs), "serial:M1", 0, NULL},
	{SET(md_runs), "first", 1, "M3"},
	{SET(md_runs), "/dev/sda", 0, NULL},
	{SET(mapped), "smallest", 0, NULL},
	{SET(mapped), "serial:P1", 0, NULL},
	{SET(mapped), "first", 0, NULL},
	{SET(one_path_back), "serial:P1", 0, NULL},
	{SET(one_path_back), "path:pci-0000:3b:00.0-scsi-0:0:1:0", 0, NULL},
	{SET(one_path_back), "wwn:naa.5000c500b2", 0, NULL},
	{SET(one_path_back), "smallest", 1, "N1"},
	{SET(one_path_back), "wwn:uuid.0a1b", 1, "N1"},
	{SET(one_path_back), "boot-pair", 0, NULL},
	{SET(leftovers), "smallest", 1, "L1"},
	{SET(leftovers), "size:1TiB-", 2, NULL},
	{SET(leftovers), "size:1TiB-, first", 1, "L2"},
	{SET(leftovers), "serial:L3", 1, "L3"},
	{SET(mixed), "smallest", 1, "K4"},
	{SET(mixed), "rotational:yes", 2, NULL},
	{SET(mixed), "serial:L1", 1, "L1"},
	{SET(mixed), "model:ST20000*", 1, "E5"},
	{SET(mixed), "size:18TiB-", 1, "E5"},
	{SET(mixed), "serial:USB", 0, NULL},
	{SET(mixed), "model:*", 3, NULL},
	{SET(mixed), "boot-pair", 0, NULL},
	{SET(m2_pair), "boot-pair", 1, "B2"},
	{SET(m2_pair), "boot-pair, size:1TiB-", 4, NULL},
	{SET(m2_pair), "boot-pair, path:pci-0000:8[02]:*", 1, "S80"},
	{SET(m2_pair), "boot-pair, serial:B2", 0, NULL},
	{SET(one_of_m2), "boot-pair", 0, NULL},
	{SET(three_m2), "boot-pair", 3, NULL},
	{SET(three_m2), "boot-pair, first", 3, NULL},
	{SET(unlike_m2), "boot-pair", 2, NULL},
	{SET(ten), "boot-pair", 0, NULL},
	{SET(md_pair), "boot-pair", 1, "M1"},
	{SET(md_runs), "boot-pair", 0, NULL},
	{SET(mapped), "boot-pair", 0, NULL},
	{SET(multipath), "boot-pair", 0, NULL},
	{SET(bare), "boot-pair", 0, NULL},
	{SET(bare), "smallest", 2, NULL},
	{SET(bare), "first", 2, NULL},
	{SET(bare), "model:*", 0, NULL},
	{SET(bare), "/dev/vdb", 1, ""},
	{SET(ten), "/dev/nvme2n1", 1, "S04"},
	{SET(ten), "path:pci-0000:04:*", 1, "S04"},
	{SET(ten), "path:pci-0000:04", 0, NULL},
	{SET(ten), "path:*-nvme-1", 10, NULL},
};

START_TEST(each_set_and_selector_in_the_table)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_disk *disk;
		size_t found = bu_disk_choose(rows[i].selector, rows[i].disks,
					      rows[i].count, &disk);

		ck_assert_msg(found == rows[i].found, "%s, %s: %zu", rows[i].set,
			      rows[i].selector, found);
		ck_assert_msg(!disk == !rows[i].serial, "%s, %s", rows[i].set,
			      rows[i].selector);
		if (disk)
			ck_assert_msg(strcmp(disk->serial, rows[i].serial) == 0,
				      "%s, %s: %s", rows[i].set, rows[i].selector,
				      disk->serial);
	}
}
END_TEST

START_TEST(the_kernels_order_changes_nothing)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_disk *disk;
		size_t found;

		if (rows[i].disks != ten || rows[i].selector[0] == '/')
			continue;
		found = bu_disk_choose(rows[i].selector, other_order,
				       BU_LEN(other_order), &disk);
		ck_assert_uint_eq(found, rows[i].found);
		if (rows[i].serial)
			ck_assert_str_eq(disk->serial, rows[i].serial);
	}
}
END_TEST

/* Over which of the ports it is written is the same each time. */
START_TEST(two_ways_to_a_disk_are_one)
{
	const struct bu_disk *disk;

	ck_assert_uint_eq(
		bu_disk_choose("serial:P1", multipath, BU_LEN(multipath), &disk), 1);
	ck_assert_str_eq(disk->by_path, "pci-0000:3b:00.0-scsi-0:0:0:0");
}
END_TEST

/* Of an array: all that fit but the system's disk, whichever order the kernel has. */
static const struct {
	const char *system, *selector, *serials;
} arrays[] = {
	{"smallest", "path:pci-*-nvme-1", "S02 S03 S05 S06 S07 S08 S09 S0a S10 "},
	{"smallest", "rotational:no", "S02 S03 S05 S06 S07 S08 S09 S0a S10 "},
	{"serial:S03", "path:pci-0000:0[2-4]:*", "S02 S04 "},
	{"serial:S03", "size:2TiB-, model:MZ*", "S02 S05 S06 S07 S08 S09 S0a S10 "},
	{"serial:S03", "rotational:yes", ""},
};

static void
check_array(const struct bu_disk *disks, size_t count, const char *system,
	    const char *selector, const char *serials)
{
	const struct bu_disk *its[2] = {NULL, NULL}, *chosen[16];
	char text[100] = "";
	size_t found;

	ck_assert_uint_eq(bu_disk_choose(system, disks, count, &its[0]), 1);
	found = bu_disk_choose_all(selector, disks, count, its, chosen);
	for (size_t i = 0; i < found; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ",
			 chosen[i]->serial);
	ck_assert_str_eq(text, serials);
}

START_TEST(an_array_takes_all_but_the_systems_disk)
{
	struct bu_disk held[BU_LEN(ten)];

	for (size_t i = 0; i < BU_LEN(arrays); i++) {
		check_array(ten, BU_LEN(ten), arrays[i].system, arrays[i].selector,
			    arrays[i].serials);
		check_array(other_order, BU_LEN(other_order), arrays[i].system,
			    arrays[i].selector, arrays[i].serials);
	}
	/* a disk over two ports is one member; over its second one it is the system's
	 */
	check_array(multipath, BU_LEN(multipath), "serial:P2", "rotational:yes", "P1 ");
	check_array(multipath, BU_LEN(multipath), "serial:P1", "rotational:yes", "P2 ");
	/* removable, or another's */
	memcpy(held, ten, sizeof(held));
	held[0].removable = 1;
	strcpy(held[1].held_by, "dm-0");
	check_array(held, 4, "smallest", "path:*", "S05 ");
}
END_TEST

/* The system's disk, the mirror's selector -> how many, and which. */
static const struct {
	const char *system, *selector;
	size_t found;
	const char *serial;
} mirrors[] = {
	{"serial:S03", "serial:S04", 1, "S04"},
	{"serial:S03", "serial:S03", 0, ""},
	{"serial:S03", "path:pci-0000:0[2-4]:*", 2, ""},
	{"serial:S03", "path:pci-0000:0[2-4]:*, first", 1, "S02"},
	{"serial:S02", "path:pci-0000:0[2-4]:*, first", 1, "S03"},
	{"serial:S03", "rotational:yes", 0, ""},
};

static void
check_mirror(const struct bu_disk *disks, size_t count, size_t row)
{
	const struct bu_disk *its, *second;

	ck_assert_uint_eq(bu_disk_choose(mirrors[row].system, disks, count, &its), 1);
	ck_assert_uint_eq(
		bu_disk_choose_other(mirrors[row].selector, disks, count, its, &second),
		mirrors[row].found);
	ck_assert_int_eq(second != NULL, mirrors[row].found == 1);
	if (second) {
		ck_assert(second >= disks && second < disks + count);
		ck_assert_str_eq(second->serial, mirrors[row].serial);
	}
}

START_TEST(a_mirror_is_another_disk)
{
	const struct bu_disk *its, *second, *chosen[16];

	for (size_t i = 0; i < BU_LEN(mirrors); i++) {
		check_mirror(ten, BU_LEN(ten), i);
		check_mirror(other_order, BU_LEN(other_order), i);
	}
	/* The second way to the system's disk is none to a mirror of it. */
	ck_assert_uint_eq(
		bu_disk_choose("serial:P1", multipath, BU_LEN(multipath), &its), 1);
	ck_assert_uint_eq(bu_disk_choose_other("rotational:yes", multipath,
					       BU_LEN(multipath), its, &second),
			  1);
	ck_assert_str_eq(second->serial, "P2");
	/* An array takes neither of them. */
	ck_assert_uint_eq(bu_disk_choose_all(
				  "rotational:yes", multipath, BU_LEN(multipath),
				  (const struct bu_disk *const[]){its, second}, chosen),
			  0);
}
END_TEST

/* Which of them is first is what their places say, not the kernel's order. */
START_TEST(a_boot_pair_is_two_disks)
{
	struct bu_disk turned[BU_LEN(m2_pair)];
	const struct bu_disk *its, *second;

	for (size_t i = 0; i < BU_LEN(m2_pair); i++)
		turned[i] = m2_pair[BU_LEN(m2_pair) - 1 - i];
	for (int i = 0; i < 2; i++) {
		const struct bu_disk *disks = i ? turned : m2_pair;

		ck_assert_uint_eq(
			bu_disk_choose("boot-pair", disks, BU_LEN(turned), &its), 1);
		ck_assert_str_eq(its->serial, "B2");
		ck_assert_uint_eq(bu_disk_choose_other("boot-pair", disks,
						       BU_LEN(turned), its, &second),
				  1);
		ck_assert_str_eq(second->serial, "B10");
	}
	ck_assert_uint_eq(bu_disk_choose_other("boot-pair", one_of_m2,
					       BU_LEN(one_of_m2), one_of_m2, &second),
			  0);
	ck_assert_ptr_null(second);
}
END_TEST

START_TEST(what_there_is_in_words)
{
	bu_autofree char *all = bu_disk_words(m2_pair, BU_LEN(m2_pair));
	bu_autofree char *held = bu_disk_words(one_path_back, BU_LEN(one_path_back));
	bu_autofree char *none = bu_disk_words(NULL, 0);

	ck_assert_str_eq(all, "4 of 2793 GiB (MZQL23T8), 2 of 465 GiB (MZ1L2480), "
			      "1 of 116 GiB (Ultra, on USB), "
			      "2 of 465 GiB (MZ1L2480, over several paths), "
			      "1 of 465 GiB (MZ1L2480, removable)");
	ck_assert_str_eq(held, "3 of 3725 GiB (LUN, in use by an array or a map), "
			       "1 of 7450 GiB (ARRAY, in a place that it does not "
			       "tell)");
	ck_assert_str_eq(none, "none");
}
END_TEST

START_TEST(one_disk_or_many)
{
	ck_assert(bu_disk_is_for_one("boot-pair, model:MZ1*"));
	ck_assert(bu_disk_is_boot_pair("model:MZ1*, boot-pair"));
	ck_assert(!bu_disk_is_boot_pair("smallest, model:boot-pair"));
	ck_assert(bu_disk_is_for_one("rotational:no, smallest"));
	ck_assert(bu_disk_is_for_one("first"));
	ck_assert(!bu_disk_is_for_one("serial:S1"));
	ck_assert(!bu_disk_is_for_one("path:*-nvme-*, size:1TiB-"));
	ck_assert(bu_disk_is_named("rotational:no, path:pci-0000:02:00.0-nvme-1"));
	ck_assert(bu_disk_is_named("wwn:eui.0025"));
	ck_assert(!bu_disk_is_named("path:pci-0000:02:00.?-nvme-1"));
	ck_assert(!bu_disk_is_named("path:pci-*, first"));
	ck_assert(!bu_disk_is_named("model:wwn, smallest"));
}
END_TEST

START_TEST(forms)
{
	static const char *const good[] = {
		"serial:S6X1",
		"smallest",
		"smallest,first",
		"boot-pair",
		"size:1GiB-",
		"size:-10TiB",
		"size:400GiB-1TiB, rotational:no , model:A B?*",
		"path:pci-0000:02:00.0-nvme-1"};
	static const char *const bad[] = {"",
					  "sda",
					  "nvme0n1",
					  "serial:",
					  "serial",
					  "size:1GiB",
					  "size:-",
					  "size:2TiB-1TiB",
					  "size:1GB-",
					  "size:1-2",
					  "size:x-",
					  "rotational:maybe",
					  "largest",
					  "smallest,",
					  ",smallest",
					  "smallest:1",
					  "/etc/x",
					  "boot-pair:2",
					  "size:9999999999TiB-",
					  "Serial:S1",
					  "/dev/sda",
					  "/dev/disk/by-path/pci-0000:02:00.0"};

	for (size_t i = 0; i < BU_LEN(good); i++)
		ck_assert_msg(bu_disk_form_ok(good[i]), "%s", good[i]);
	for (size_t i = 0; i < BU_LEN(bad); i++)

		ck_assert_msg(!bu_disk_form_ok(bad[i]), "%s", bad[i]);
}
END_TEST

BU_UNIT("disk", each_set_and_selector_in_the_table, the_kernels_order_changes_nothing,
	two_ways_to_a_disk_are_one, a_mirror_is_another_disk,
	an_array_takes_all_but_the_systems_disk, a_boot_pair_is_two_disks,
	what_there_is_in_words, one_disk_or_many, forms)
