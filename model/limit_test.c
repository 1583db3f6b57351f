/* SPDX-License-Identifier: Apache-2.0 */
/* Meters: what is within a limit, what comes back, and what is said of the rest. */
#include "model/limit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "tests/support/unit.h"

struct bench {
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_meter *meter;
};

static void
begin(struct bench *bench, enum bu_limit id)
{
	bu_clock_fake(&bench->clock, 1000);
	bench->loop = bu_loop_create(&bench->clock);
	bench->meter = bu_meter_create(bench->loop, id);
}

static void
finish(struct bench *bench)
{
	bu_meter_destroy(bench->meter);
	bu_loop_destroy(bench->loop);
}

static int
take_all(struct bench *bench, const char *key)
{
	int count = 0;

	while (bu_meter_take(bench->meter, key, 1) == 0)
		count++;
	return count;
}

START_TEST(each_row_says_what_is_counted_and_what_comes_of_it)
{
	for (int id = 0; id < BU_LIMIT_COUNT; id++) {
		const struct bu_limit_info *info = bu_limit_info(id);

		ck_assert_int_gt(info->most, 0);
		ck_assert_uint_gt(strlen(info->name), 0);
		ck_assert_uint_gt(strlen(info->unit), 0);
		ck_assert_uint_gt(strlen(info->counted), 0);
		ck_assert_uint_gt(strlen(info->over), 0);
	}
}
END_TEST

START_TEST(each_key_has_its_own_and_gets_back_what_ended)
{
	struct bench bench;

	begin(&bench, BU_LIMIT_CONNECTIONS);
	ck_assert_int_eq(take_all(&bench, "10.0.0.1"), 64);
	ck_assert_int_eq(take_all(&bench, "10.0.0.2"), 64);
	bu_clock_advance(&bench.clock, 3600 * 1000);
	ck_assert_int_gt(bu_meter_take(bench.meter, "10.0.0.1", 1), 0);
	bu_meter_give(bench.meter, "10.0.0.1", 3);
	ck_assert_int_eq(take_all(&bench, "10.0.0.1"), 3);
	ck_assert_int_eq(take_all(&bench, "10.0.0.2"), 0);
	finish(&bench);
}
END_TEST

/* However often somebody asks meanwhile. */
START_TEST(what_comes_back_comes_by_the_hour)
{
	struct bench bench;
	int got = 0;

	begin(&bench, BU_LIMIT_INVENTORIES);
	ck_assert_int_eq(take_all(&bench, "node001"), 8);
	ck_assert_int_ge(bu_meter_take(bench.meter, "node001", 1), 600);
	for (int i = 0; i < 2 * 3600 * 10; i++) {
		bu_clock_advance(&bench.clock, 100);
		got += bu_meter_take(bench.meter, "node001", 1) == 0;
	}
	ck_assert_int_ge(got, 11);
	ck_assert_int_le(got, 12);
	finish(&bench);
}
END_TEST

START_TEST(what_was_charged_beyond_it_is_waited_for)
{
	struct bench bench;

	begin(&bench, BU_LIMIT_LOG_BYTES);
	ck_assert_int_eq(bu_meter_take(bench.meter, "m", 0), 0);
	bu_meter_charge(bench.meter, "m", (4 << 20) + 40960);
	ck_assert_int_eq(bu_meter_take(bench.meter, "m", 0), 11);
	bu_clock_advance(&bench.clock, 11 * 1000);
	ck_assert_int_eq(bu_meter_take(bench.meter, "m", 0), 0);
	finish(&bench);
}
END_TEST

/* Lines on standard error meanwhile. */
static int
lines_of(struct bench *bench, int refusals, int seconds)
{
	char path[] = "/tmp/bringup-limit-XXXXXX";
	int old = dup(STDERR_FILENO), fd = mkstemp(path), lines = 0;
	bu_autofree char *text = NULL;

	dup2(fd, STDERR_FILENO);
	for (int i = 0; i < refusals; i++)
		ck_assert_int_gt(bu_meter_take(bench->meter, "10.0.0.9", 1), 0);
	for (int i = 0; i < seconds; i++) {
		bu_clock_advance(&bench->clock, 1000);
		bu_loop_step(bench->loop, 0);
	}
	dup2(old, STDERR_FILENO);
	close(old);
	text = bu_file_read(path, 0, NULL, NULL);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	if (lines)
		ck_assert_ptr_nonnull(
			strstr(text, "connections: 10.0.0.9 is over 64 connections"));
	close(fd);
	unlink(path);
	return lines;
}

START_TEST(who_is_over_it_is_said_once_a_minute)
{
	struct bench bench;

	begin(&bench, BU_LIMIT_CONNECTIONS);
	for (int i = 0; i < 64; i++)
		ck_assert_int_eq(bu_meter_take(bench.meter, "10.0.0.9", 1), 0);
	ck_assert_int_eq(lines_of(&bench, 1000, 1), 1);
	ck_assert_int_eq(lines_of(&bench, 1000, 30), 0);
	ck_assert_int_eq(lines_of(&bench, 0, 60), 1);
	ck_assert_int_eq(lines_of(&bench, 0, 600), 0);
	finish(&bench);
}
END_TEST

/* As many senders as there are addresses cost no more memory than some. */
START_TEST(keys_without_number_share_one)
{
	struct bench bench;
	char key[32];
	int refused = 0;

	begin(&bench, BU_LIMIT_HELLOS);
	for (int i = 0; i < 66000; i++) {
		snprintf(key, sizeof(key), "machine %d", i);
		refused += bu_meter_take(bench.meter, key, 1) != 0;
	}
	ck_assert_int_gt(refused, 0);
	bu_clock_advance(&bench.clock, 3600 * 1000);
	ck_assert_int_eq(bu_meter_take(bench.meter, "one more", 1), 0);
	finish(&bench);
}
END_TEST

BU_UNIT("limit", each_row_says_what_is_counted_and_what_comes_of_it,
	each_key_has_its_own_and_gets_back_what_ended,
	what_comes_back_comes_by_the_hour, what_was_charged_beyond_it_is_waited_for,
	who_is_over_it_is_said_once_a_minute, keys_without_number_share_one)
