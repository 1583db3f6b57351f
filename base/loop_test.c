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
	a_watch_sees_bytes_and_may_free_itself, a_signal_ends_the_run)
