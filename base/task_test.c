/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: they wait while others run, end by themselves, and take turns. */
#include "base/task.h"

#include <string.h>

#include "base/mem.h"
#include "tests/support/unit.h"

static char seen[64];

struct walker {
	const char *steps;
	struct bu_task *task;
	struct bu_task_lock *lock;
	struct bu_task_turn turn;
};

static void
say(char what)
{
	size_t size = strlen(seen);

	ck_assert_uint_lt(size, sizeof(seen) - 1);
	seen[size] = what;
	seen[size + 1] = '\0';
}

static void
walk(void *arg)
{
	struct walker *walker = arg;

	walker->task = bu_task_self();
	for (const char *step = walker->steps; *step; step++) {
		say(*step);
		if (step[1])
			bu_task_wait();
	}
	walker->task = NULL;
}

START_TEST(a_task_runs_until_it_waits)
{
	struct walker one = {.steps = "abc"}, two = {.steps = "xy"};

	seen[0] = '\0';
	ck_assert_ptr_null(bu_task_self());
	bu_task_start(walk, &one);
	ck_assert_str_eq(seen, "a");
	bu_task_start(walk, &two);
	bu_task_wake(one.task);
	bu_task_wake(two.task);
	ck_assert_ptr_null(two.task);
	bu_task_wake(one.task);
	ck_assert_ptr_null(one.task);
	ck_assert_str_eq(seen, "axbyc");
	ck_assert_ptr_null(bu_task_self());
}
END_TEST

static void
wake_another(void *arg)
{
	struct walker *walker = arg;

	say('<');
	bu_task_wake(walker->task);
	say('>');
	ck_assert_ptr_ne(bu_task_self(), walker->task);
}

START_TEST(a_task_wakes_another_one)
{
	struct walker one = {.steps = "ab"};

	seen[0] = '\0';
	bu_task_start(walk, &one);
	bu_task_start(wake_another, &one);
	ck_assert_str_eq(seen, "a<b>");
}
END_TEST

static void
take_turn(void *arg)
{
	struct walker *walker = arg;

	walker->task = bu_task_self();
	bu_task_queue(walker->lock, &walker->turn);
	while (!bu_task_has(walker->lock, &walker->turn) && walker->steps[1])
		bu_task_wait();
	if (bu_task_has(walker->lock, &walker->turn))
		say(walker->steps[0]);
	bu_task_wait();
	bu_task_leave(walker->lock, &walker->turn);
}

START_TEST(the_first_in_the_queue_has_the_lock)
{
	struct bu_task_lock lock = {0};
	struct walker one = {.steps = "1.", .lock = &lock};
	struct walker two = {.steps = "2.", .lock = &lock};
	struct walker three = {.steps = "3.", .lock = &lock};

	seen[0] = '\0';
	bu_task_start(take_turn, &one);
	bu_task_start(take_turn, &two);
	bu_task_start(take_turn, &three);
	ck_assert_str_eq(seen, "1");
	two.steps = "2"; /* gives up waiting */
	bu_task_wake(two.task);
	bu_task_wake(two.task); /* leaves out of its turn */
	ck_assert_str_eq(seen, "1");
	bu_task_wake(one.task);
	ck_assert_str_eq(seen, "13");
	bu_task_wake(three.task);
	ck_assert_ptr_null(lock.first);
}
END_TEST

static void
nap(void *arg)
{
	bu_task_sleep(arg, 20);
	bu_loop_stop(arg);
}

START_TEST(a_task_sleeps)
{
	struct bu_loop *loop = bu_loop_create(NULL);
	int64_t before_ms = bu_loop_now_ms(loop);

	bu_task_start(nap, loop);
	bu_loop_run(loop);
	ck_assert_int_ge(bu_loop_now_ms(loop) - before_ms, 20);
	bu_loop_destroy(loop);
}
END_TEST

BU_UNIT("task", a_task_runs_until_it_waits, a_task_wakes_another_one,
	the_first_in_the_queue_has_the_lock, a_task_sleeps)
