/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks over the C library's contexts; called by drivers that speak to a device in
 * sequences. Invariant: exactly one of the loop's stack and the tasks' runs at a time,
 * and what wakes a task gets the processor back when it waits or ends.
 */
#include "base/task.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/mem.h"

enum { STACK_SIZE = 256 * 1024 }; /* only pages that are touched take memory */

struct bu_task {
	ucontext_t own, waker;
	struct bu_task *outer; /* that ran when this one was woken */
	bu_task_fn fn;
	void *arg;
	void *stack; /* its lowest page is no memory: running over ends the program */
	int running, ended;
};

static struct bu_task *current;

static void
run(void)
{
	struct bu_task *task = current;

	task->fn(task->arg);
	task->ended = 1;
}

static void
resume(struct bu_task *task)
{
	bu_assert(!task->running && !task->ended);
	task->running = 1;
	task->outer = current;
	current = task;
	bu_assert(swapcontext(&task->waker, &task->own) == 0);
	current = task->outer;
	task->running = 0;
	if (!task->ended)
		return;
	munmap(task->stack, STACK_SIZE);
	free(task);
}

void
bu_task_start(bu_task_fn fn, void *arg)
{
	struct bu_task *task = bu_xcalloc(1, sizeof(*task));

	task->fn = fn;
	task->arg = arg;
	task->stack =
		mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	bu_assert(task->stack != MAP_FAILED);
	bu_assert(mprotect(task->stack, (size_t)getpagesize(), PROT_NONE) == 0);
	bu_assert(getcontext(&task->own) == 0);
	task->own.uc_stack.ss_sp = task->stack;
	task->own.uc_stack.ss_size = STACK_SIZE;
	task->own.uc_link = &task->waker;
	makecontext(&task->own, run, 0);
	resume(task);
}

struct bu_task *
bu_task_self(void)
{
	return current;
}

void
bu_task_wait(void)
{
	struct bu_task *task = current;

	bu_assert(task != NULL);
	bu_assert(swapcontext(&task->own, &task->waker) == 0);
}

void
bu_task_wake(struct bu_task *task)
{
	resume(task);
}

static void
on_time(void *arg)
{
	bu_task_wake(arg);
}

void
bu_task_sleep(struct bu_loop *loop, int64_t for_ms)
{
	struct bu_timer *timer = bu_timer_create(loop, on_time, current);

	bu_timer_set(timer, for_ms);
	bu_task_wait();
	bu_timer_destroy(timer);
}

int
bu_task_queue(struct bu_task_lock *lock, struct bu_task_turn *turn)
{
	struct bu_task_turn **link = &lock->first;

	while (*link)
		link = &(*link)->next;
	*link = turn;
	turn->next = NULL;
	turn->task = current;
	return bu_task_has(lock, turn);
}

int
bu_task_has(const struct bu_task_lock *lock, const struct bu_task_turn *turn)
{
	return lock->first == turn;
}

void
bu_task_leave(struct bu_task_lock *lock, struct bu_task_turn *turn)
{
	struct bu_task_turn **link = &lock->first;
	int had = lock->first == turn;

	while (*link != turn)
		link = &(*link)->next;
	*link = turn->next;
	if (had && lock->first)
		bu_task_wake(lock->first->task);
}
