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
				total++;
			}
		}
		ck_assert_int_eq(total, n * (n - 1) / 2);
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

struct todo {
	int left[9][9];
};

static int
todo_wanted(int a, int b, void *arg)
{
	const struct todo *todo = arg;

	return todo->left[a][b] || todo->left[b][a];
}

START_TEST(only_wanted_until_none)
{
	struct todo todo = {{{0}}};
	struct bu_pair pairs[4];
	int count, done = 0;

	todo.left[0][1] = todo.left[2][3] = todo.left[0][8] = todo.left[4][0] = 1;
	while ((count = bu_schedule_next(9, 5, todo_wanted, &todo, pairs)) > 0) {
		for (int i = 0; i < count; i++) {
			int a = pairs[i].a, b = pairs[i].b;

			ck_assert(todo_wanted(a, b, &todo));
			todo.left[a][b] = todo.left[b][a] = 0;
			done++;
		}
	}
	ck_assert_int_eq(done, 4);
	ck_assert_int_eq(bu_schedule_next(1, 5, todo_wanted, &todo, pairs), 0);
}
END_TEST

BU_UNIT("schedule", each_pair_once, the_seed_decides, only_wanted_until_none)
