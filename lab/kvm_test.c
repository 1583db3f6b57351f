/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/kvm.h"

#include <string.h>
#include <unistd.h>

#include "tests/support/unit.h"

START_TEST(sector_is_a_boot_sector)
{
	uint8_t sector[BU_KVM_SECTOR_SIZE];

	bu_kvm_sector(sector);
	ck_assert_uint_eq(sector[0], 0xfa);
	ck_assert_uint_eq(sector[510], 0x55);
	ck_assert_uint_eq(sector[511], 0xaa);
}
END_TEST

/* Emulation always works: what fails under KVM is then KVM's, not the sector's. */
START_TEST(sector_runs_to_its_end_under_emulation)
{
	char why[400] = "";

	BU_NEEDS("/usr/bin/qemu-system-x86_64");
	ck_assert_msg(bu_kvm_run_sector("tcg", why, sizeof(why)) == 0, "%s", why);
}
END_TEST

START_TEST(unknown_accelerator_is_told)
{
	char why[400] = "";

	ck_assert_int_eq(bu_kvm_run_sector("no-such", why, sizeof(why)), -1);
	ck_assert_uint_gt(strlen(why), 0);
}
END_TEST

BU_UNIT("lab kvm", sector_is_a_boot_sector, sector_runs_to_its_end_under_emulation,
	unknown_accelerator_is_told)
