/* SPDX-License-Identifier: Apache-2.0 */
/* The wait for a clock that is on time; the kernel's word on it is the test's. */
#include "agent/clock.h"

#include "base/clock.h"
#include "base/err.h"
#include "tests/support/unit.h"

static int looks, settles_at;

/* Instead of the C library's. */
int
adjtimex(struct timex *ret)
{
	looks++;
	*ret = (struct timex){.tick = looks < settles_at ? 10833 : 10000};
	return 0;
}

static int
stops(void *arg)
{
	return looks >= *(const int *)arg;
}

START_TEST(a_clock_that_is_corrected_is_not_settled)
{
	static const struct {
		int status;
		long tick, freq;
		int settled;
	} rows[] = {
		{STA_UNSYNC, 10000, 0, 0}, /* nobody has set it yet */
		{0, 10833, 0, 0},          /* chronyd at its fastest */
		{0, 9167, 0, 0},           /* and at its slowest */
		{0, 10011, 0, 0},
		{0, 10000, 2000 << 16, 0},
		{0, 10010, 0, 1},
		{0, 10000, 150 << 16, 1}, /* quartz */
		{STA_NANO, 9999, -(30 << 16), 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct timex kernel = {.status = rows[i].status,
				       .tick = rows[i].tick,
				       .freq = rows[i].freq};

		ck_assert_msg(bu_clock_is_settled(&kernel) == rows[i].settled,
			      "row %zu", i);
	}
}
END_TEST

START_TEST(the_wait_ends_when_the_clock_is_settled)
{
	int64_t start_ms = bu_mono_ms(bu_clock_system());

	looks = 0;
	settles_at = 3;
	ck_assert_int_eq(bu_clock_settle(60000, NULL, NULL), 0);
	ck_assert_int_eq(looks, 3);
	ck_assert_int_lt(bu_mono_ms(bu_clock_system()) - start_ms, 30000);
}
END_TEST

START_TEST(the_wait_is_bounded)
{
	int enough = 2;

	looks = 0;
	settles_at = 1000000;
	ck_assert_int_eq(bu_clock_settle(300, NULL, NULL), -1);
	ck_assert_int_ge(looks, 2);
	looks = 0;
	ck_assert_int_eq(bu_clock_settle(600000, stops, &enough), -1);
	ck_assert_int_eq(looks, 2);
}
END_TEST

BU_UNIT("clock", a_clock_that_is_corrected_is_not_settled,
	the_wait_ends_when_the_clock_is_settled, the_wait_is_bounded)
