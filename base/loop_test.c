/* SPDX-License-Identifier: Apache-2.0 */
#include "base/loop.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/unit.h"

static char order[16];

static void
note(void *arg)
{
	strcat(order, arg);
}

START_TEST(timers_fire_in_order_of_a_moved_clock)
{
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_timer *late, *early, *stopped;

	order[0] = '\0';
	bu_clock_fake(&clock, 0);
	loop = bu_loop_create(&clock);
	late = bu_timer_create(loop, note, "L");
	early = bu_timer_create(loop, note, "E");
	stopped = bu_timer_create(loop, note, "S");
	bu_timer_set(late, 3600 * 1000);
	bu_timer_set(early, 60 * 1000);
	bu_timer_set(stopped, 1000);
	bu_timer_stop(stopped);
	bu_loop_step(loop, 0);
	ck_assert_str_eq(order, "");
	bu_clock_advance(&clock, 60 * 1000);
	bu_loop_step(loop, 0);
	ck_assert_str_eq(order, "E");
	bu_clock_advance(&clock, 3600 * 1000);
	bu_loop_step(loop, 0);
	ck_assert_str_eq(order, "EL");
	bu_timer_destroy(late);
	bu_timer_destroy(early);
	bu_timer_destroy(stopped);
	bu_loop_destroy(loop);
}
END_TEST

/* Of two minutes at most: an old delay is none of today's. */
START_TEST(the_longest_delay_is_kept_for_a_while)
{
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_timer *timer;
	static const struct {
		int set_ms, pass_ms, late_ms;
	} rows[] = {
		{10, 10, 0},        {10, 260, 250},        {10, 110, 250},
		{10, 60010, 60000}, {30000, 30000, 60000}, {60000, 60000, 60000},
		{70000, 70000, 0},  {1000, 1300, 300},     {600000, 600000, 0},
	};

	bu_clock_fake(&clock, 0);
	loop = bu_loop_create(&clock);
	timer = bu_timer_create(loop, note, "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bu_timer_set(timer, rows[i].set_ms);
		bu_clock_advance(&clock, rows[i].pass_ms);
		bu_loop_step(loop, 0);
		ck_assert_msg(bu_loop_late_ms(loop) == rows[i].late_ms, "row %zu: %d",
			      i, (int)bu_loop_late_ms(loop));
	}
	bu_timer_destroy(timer);
	bu_loop_destroy(loop);
}
END_TEST

struct echo {
	struct bu_loop *loop;
	struct bu_watch *watch;
	char got;
};

static void
on_byte(int fd, int what, void *arg)
{
	struct echo *echo = arg;

	ck_assert_int_eq(what, BU_READABLE);
	ck_assert_int_eq(read(fd, &echo->got, 1), 1);
	bu_watch_destroy(echo->watch);
	bu_loop_stop(echo->loop);
}

START_TEST(a_watch_sees_bytes_and_may_free_itself)
{
	struct echo echo = {.loop = bu_loop_create(NULL)};
	int pair[2];

	ck_assert_int_eq(pipe(pair), 0);
	echo.watch = bu_watch_create(echo.loop, pair[0], BU_READABLE, on_byte, &echo);
	ck_assert_int_eq(write(pair[1], "x", 1), 1);
	bu_loop_run(echo.loop);
	ck_assert_int_eq(echo.got, 'x');
	close(pair[0]);
	close(pair[1]);
	bu_loop_destroy(echo.loop);
}
END_TEST

static void
on_signal(int signo, void *arg)
{
	ck_assert_int_eq(signo, SIGUSR1);
	bu_loop_stop(arg);
}

START_TEST(a_signal_ends_the_run)
{
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_sigwatch *watch = bu_sigwatch_create(loop, SIGUSR1, on_signal, loop);

	raise(SIGUSR1);
	bu_loop_run(loop);
	bu_sigwatch_destroy(watch);
	bu_loop_destroy(loop);
}
END_TEST

BU_UNIT("loop", timers_fire_in_order_of_a_moved_clock,
	the_longest_delay_is_kept_for_a_while, a_watch_sees_bytes_and_may_free_itself,
	a_signal_ends_the_run)
