/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task: a function with a stack of its own that waits without keeping the loop from
 * its work. For sequences of many answers (ask, look, write, read back), where a chain
 * of callbacks would hide the order. One thread; a task runs until it waits or ends.
 */
#ifndef BU_BASE_TASK_H
#define BU_BASE_TASK_H

#include <stdint.h>

#include "base/loop.h"

struct bu_task;
typedef void (*bu_task_fn)(void *arg);

/* Runs fn until it waits for the first time; then returns. The task frees itself when
 * fn returns: fn must tell its owner. Nothing that recurses deeply runs in a task. */
void bu_task_start(bu_task_fn fn, void *arg);
/* The task that runs; NULL outside of one. */
struct bu_task *bu_task_self(void);
/* In a task: waits until it is woken. What waits for something looks whether
 * it has come, and waits again. */
void bu_task_wait(void);
/* Runs a task that waits until it waits again or ends. */
void bu_task_wake(struct bu_task *task);
/* In a task: waits so long, or until it is woken before. */
void bu_task_sleep(struct bu_loop *loop, int64_t for_ms);

/* The first in the queue has it. All zero is a free one. */
struct bu_task_lock {
	struct bu_task_turn *first;
};
struct bu_task_turn { /* on the stack of the one that waits */
	struct bu_task_turn *next;
	struct bu_task *task;
};
/* In a task: joins the queue; 1 when it is this one's turn at once. Otherwise it waits
 * until bu_task_has(). */
int bu_task_queue(struct bu_task_lock *lock, struct bu_task_turn *turn);
int bu_task_has(const struct bu_task_lock *lock, const struct bu_task_turn *turn);
/* Leaves the queue, in turn or not; the next one in it is woken when it has the lock
 * thereby. */
void bu_task_leave(struct bu_task_lock *lock, struct bu_task_turn *turn);

#endif
