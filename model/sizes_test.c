/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of a probe from the rate of its link. */
#include "model/sizes.h"

#include "base/mem.h"
#include "model/work.h"
#include "tests/support/unit.h"

static const struct {
	double gbps;
	uint32_t message_bytes;
	int qps, depth;
	double ms, warm_ms; /* of a direction of five runs; 0 = a fixed size */
} rows[] = {
	{0, 65536, 1, 0, 0, 0},          {0.02, 65536, 1, 0, 0, 0},
	{0.999, 65536, 1, 0, 0, 0},      {1, 65536, 1, 32, 500, 50},
	{25, 65536, 2, 32, 1000, 100},   {99.9, 65536, 2, 32, 1000, 100},
	{100, 131072, 4, 32, 2000, 200}, {400, 131072, 4, 32, 2000, 200},
	{800, 131072, 4, 32, 2000, 200},
};

START_TEST(sizes_follow_from_the_link)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_sizes sizes = bu_sizes_of(rows[i].gbps, 5);
		double per_ms = rows[i].gbps * 1e6 / 8;

		ck_assert_uint_eq(sizes.message_bytes, rows[i].message_bytes);
		ck_assert_int_eq(sizes.qps, rows[i].qps);
		ck_assert_int_eq(sizes.depth, rows[i].depth);
		if (rows[i].ms == 0) { /* as it was before there was a table */
			ck_assert_uint_eq(sizes.bytes, BU_PAIR_BYTES);
			ck_assert_uint_eq(sizes.warm_bytes, 0);
			continue;
		}
		ck_assert_double_eq_tol((double)sizes.bytes * 5 / per_ms, rows[i].ms,
					0.01);
		ck_assert_double_eq_tol((double)sizes.warm_bytes * 5 / per_ms,
					rows[i].warm_ms, 0.01);
	}
}
END_TEST

/* More is under way than the link holds in 5 us (the bandwidth-delay product of a
 * fabric), and every row says where it is from. */
START_TEST(each_row_fills_its_link)
{
	for (int i = 0; i < bu_sizes_rows_count; i++) {
		const struct bu_sizes_row *row = &bu_sizes_rows[i];
		double most = i + 1 < bu_sizes_rows_count ? row[1].from_gbps : 800;

		ck_assert_int_gt((int)strlen(row->source), 20);
		ck_assert(i == 0 || row->from_gbps > row[-1].from_gbps);
		if (row->depth)
			ck_assert_double_gt((double)row->message_bytes * row->qps *
						    row->depth,
					    4 * most * 1e9 / 8 * 5e-6);
		ck_assert_int_le(row->qps, BU_QPS_MAX);
		ck_assert_int_eq(row->message_bytes % 8, 0);
	}
}
END_TEST

BU_UNIT("sizes", sizes_follow_from_the_link, each_row_fills_its_link)
