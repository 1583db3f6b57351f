/* SPDX-License-Identifier: Apache-2.0 */
#include "model/mtu.h"

#include "base/err.h"
#include "tests/support/unit.h"

/* What is on both sides of each border. */
START_TEST(headers_are_kept_free)
{
	static const struct {
		int64_t mtu;
		enum bu_mtu_headers headers;
		int path;
	} cases[] = {
		{9000, BU_MTU_ROCE, 4096},
		{4192, BU_MTU_ROCE, 4096},
		{4191, BU_MTU_ROCE, 2048},
		{2144, BU_MTU_ROCE, 2048},
		{2143, BU_MTU_ROCE, 1024},
		{1500, BU_MTU_ROCE, 1024},
		{1119, BU_MTU_ROCE, 512},
		{607, BU_MTU_ROCE, 256},
		{352, BU_MTU_ROCE, 256},
		{351, BU_MTU_ROCE, 0},
		{0, BU_MTU_ROCE, 0},
		{-1, BU_MTU_ROCE, 0},
		{4176, BU_MTU_SOFT_ROCE, 4096},
		{4175, BU_MTU_SOFT_ROCE, 2048},
		{1500, BU_MTU_SOFT_ROCE, 1024},
		{65520, BU_MTU_IPOIB, 4096},
		{4092, BU_MTU_IPOIB, 4096},
		{4091, BU_MTU_IPOIB, 2048},
		{2044, BU_MTU_IPOIB, 2048},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++)
		ck_assert_int_eq(bu_path_mtu(cases[i].mtu, cases[i].headers),
				 cases[i].path);
}
END_TEST

BU_UNIT("mtu", headers_are_kept_free)
