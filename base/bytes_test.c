/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, check sums and GUIDs as they lie on disks, against the specifications. */
#include "base/bytes.h"

#include <string.h>

#include "tests/support/unit.h"

START_TEST(numbers_begin_with_their_lowest_byte)
{
	static const uint8_t want[] = {0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01};
	uint8_t at[10] = {0};

	for (int bytes = 1; bytes <= 8; bytes++) {
		uint64_t mask = bytes == 8 ? UINT64_MAX : (1ull << 8 * bytes) - 1;

		memset(at, 0x55, sizeof(at));
		bu_le_put(at + 1, 0x0123456789abcdefull, bytes);
		ck_assert_int_eq(memcmp(at + 1, want, (size_t)bytes), 0);
		ck_assert_uint_eq(at[0], 0x55);
		ck_assert_uint_eq(at[1 + bytes], 0x55);
		ck_assert_uint_eq(bu_le_get(at + 1, bytes),
				  0x0123456789abcdefull & mask);
	}
}
END_TEST

/* The check value of the catalogues of CRCs, and nothing. */
START_TEST(the_check_sum_is_that_of_ethernet)
{
	ck_assert_uint_eq(bu_crc32("123456789", 9), 0xcbf43926);
	ck_assert_uint_eq(bu_crc32("", 0), 0);
}
END_TEST

/* The type of an EFI system partition, as UEFI's specification has its bytes. */
START_TEST(a_guid_lies_in_its_mixed_order)
{
	static const uint8_t want[] = {0x28, 0x73, 0x2a, 0xc1, 0x1f, 0xf8, 0xd2, 0x11,
				       0xba, 0x4b, 0x00, 0xa0, 0xc9, 0x3e, 0xc9, 0x3b};
	uint8_t at[16];

	bu_guid_put(at, "C12A7328-F81F-11D2-BA4B-00A0C93EC93B");
	ck_assert_int_eq(memcmp(at, want, sizeof(want)), 0);
	bu_guid_put(at, "c12a7328f81f11d2ba4b00a0c93ec93b");
	ck_assert_int_eq(memcmp(at, want, sizeof(want)), 0);
}
END_TEST

BU_UNIT("bytes", numbers_begin_with_their_lowest_byte,
	the_check_sum_is_that_of_ethernet, a_guid_lies_in_its_mixed_order)
