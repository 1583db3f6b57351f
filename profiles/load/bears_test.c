/* SPDX-License-Identifier: Apache-2.0 */
/* Disks that no selector takes for the system's, whatever they are smaller than. */
#include <string.h>

#include "profiles/load/disk.h"
#include "tests/support/unit.h"

#define GB INT64_C(1000000000)
#define MIB INT64_C(1048576)
#define USB "pci-0000:00:14.0-usb-0:1:1.0-scsi-0:0:0"

static const struct bu_disk system_disk = {.name = "nvme0n1",
					   .path = "/dev/nvme0n1",
					   .serial = "S1",
					   .model = "MZQL23T8",
					   .by_path = "pci-0000:02:00.0-nvme-1",
					   .size_bytes = 960 * GB};

START_TEST(what_bears_no_system_is_never_chosen)
{
	static const char *const selectors[] = {"smallest", "first", "size:1GiB-",
						"rotational:no"};
	static const struct bu_disk disks[] = {
		{.name = "mmcblk0boot0", .by_path = "a", .size_bytes = 4 * MIB},
		{.name = "mmcblk0boot1", .by_path = "a", .size_bytes = 4096 * MIB},
		{.name = "mmcblk0rpmb", .by_path = "a", .size_bytes = 4096 * MIB},
		{.name = "mmcblk1gp0", .by_path = "a", .size_bytes = 4096 * MIB},
		{.name = "sda",
		 .by_path = USB,
		 .model = "Virtual HDisk0",
		 .size_bytes = 512 * MIB},
		{.name = "sda",
		 .by_path = USB,
		 .model = "Virtual HDisk0",
		 .size_bytes = 8192 * MIB},
		{.name = "sda",
		 .by_path = USB,
		 .model = "LCDRIVE",
		 .size_bytes = 4096 * MIB},
		{.name = "sda",
		 .by_path = USB,
		 .model = "Cruzer",
		 .size_bytes = 512 * MIB},
		{.name = "sdb", .by_path = "a", .removable = 1, .size_bytes = 64 * GB},
	};

	for (size_t i = 0; i < BU_LEN(disks) * BU_LEN(selectors); i++) {
		const char *selector = selectors[i % BU_LEN(selectors)];
		const struct bu_disk both[] = {disks[i / BU_LEN(selectors)],
					       system_disk};
		const struct bu_disk *chosen = NULL;

		ck_assert_msg(bu_disk_choose(selector, both, 2, &chosen) == 1 &&
				      chosen == &both[1],
			      "%s beside disk %zu", selector, i / BU_LEN(selectors));
	}
}
END_TEST

START_TEST(small_machines_have_their_disks)
{
	static const struct bu_disk disks[] = {
		{.name = "mmcblk0", .by_path = "a", .size_bytes = 16 * GB},
		{.name = "sda",
		 .by_path = "a",
		 .model = "Virtual disk",
		 .size_bytes = GB * 20},
		{.name = "sda",
		 .by_path = USB,
		 .model = "Cruzer",
		 .size_bytes = 32 * GB},
		{.name = "vda", .by_path = "a", .size_bytes = 2 * GB},
	};

	for (size_t i = 0; i < BU_LEN(disks); i++) {
		const struct bu_disk *chosen = NULL;

		ck_assert_msg(bu_disk_choose("smallest", &disks[i], 1, &chosen) == 1,
			      "disk %zu", i);
	}
}
END_TEST

BU_UNIT("disks that bear a system", what_bears_no_system_is_never_chosen,
	small_machines_have_their_disks)
