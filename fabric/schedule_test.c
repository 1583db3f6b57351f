/* SPDX-License-Identifier: Apache-2.0 */
#include "fabric/schedule.h"

#include <string.h>

#include "tests/support/unit.h"

enum { N_MAX = 65 };

START_TEST(each_pair_once)
{
	for (int n = 0; n <= N_MAX; n++) {
		unsigned char seen[N_MAX][N_MAX] = {{0}};
		int total = 0;

		for (int round = 0; round < bu_schedule_rounds(n); round++) {
			struct bu_pair pairs[N_MAX];
			unsigned char busy[N_MAX] = {0};
			int count = bu_schedule_round(n, 7, round, pairs);

			ck_assert_int_eq(count, n / 2);
			for (int i = 0; i < count; i++) {
				int a = pairs[i].a, b = pairs[i].b;

				ck_assert(a >= 0 && a < n && b >= 0 && b < n && a != b);
				ck_assert(!busy[a]++ && !busy[b]++);
				ck_assert(!seen[a][b]++ && !seen[b][a]);
				ck_assert_int_eq(bu_schedule_round_of(n, 7, a, b),
						 round);
				ck_assert_int_eq(bu_schedule_round_of(n, 7, b, a),
						 round);
				total++;
			}
		}
		ck_assert_int_eq(total, n * (n - 1) / 2);
		ck_assert_int_eq(bu_schedule_round_of(n, 7, 0, n), -1);
		ck_assert_int_eq(bu_schedule_round_of(n, 7, 0, 0), -1);
	}
}
END_TEST

START_TEST(the_seed_decides)
{
	struct bu_pair a[8], b[8], c[8];

	ck_assert_int_eq(bu_schedule_round(16, 1, 3, a), 8);
	ck_assert_int_eq(bu_schedule_round(16, 1, 3, b), 8);
	ck_assert_int_eq(bu_schedule_round(16, 2, 3, c), 8);
	ck_assert_int_eq(memcmp(a, b, sizeof(a)), 0);
	ck_assert_int_ne(memcmp(a, c, sizeof(a)), 0);
}
END_TEST

/* As its authors' program has it. */
START_TEST(a_state_fixes_what_follows)
{
	uint64_t state = 1234567;

	ck_assert_uint_eq(bu_schedule_random(&state), UINT64_C(6457827717110365317));
	ck_assert_uint_eq(bu_schedule_random(&state), UINT64_C(3203168211198807973));
}
END_TEST

BU_UNIT("schedule", each_pair_once, the_seed_decides, a_state_fixes_what_follows)
