/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop: descriptors, timers, signals. libevent is included in loop.c alone.
 * All callbacks run on the loop's thread; a watch or timer may free itself in its own
 * callback.
 */
#ifndef BU_BASE_LOOP_H
#define BU_BASE_LOOP_H

#include <stdint.h>

#include "base/clock.h"

struct bu_loop;
struct bu_watch; /* one descriptor */
struct bu_timer;
struct bu_sigwatch;

enum { BU_READABLE = 1, BU_WRITABLE = 2 };

typedef void (*bu_watch_fn)(int fd, int what, void *arg);
typedef void (*bu_timer_fn)(void *arg);
typedef void (*bu_signal_fn)(int signo, void *arg);

/* clock is borrowed; NULL takes the system's. Aborts when the system gives no loop. */
struct bu_loop *bu_loop_create(const struct bu_clock *clock);
void bu_loop_destroy(struct bu_loop *loop);
const struct bu_clock *bu_loop_clock(const struct bu_loop *loop);
int64_t bu_loop_now_ms(const struct bu_loop *loop); /* monotonic */
/* Runs until bu_loop_stop(). */
void bu_loop_run(struct bu_loop *loop);
/* Runs what is ready, waiting at most wait_ms for something to become so. Returns how
 * many callbacks ran. */
int bu_loop_step(struct bu_loop *loop, int wait_ms);
void bu_loop_stop(struct bu_loop *loop);

/* The longest time by which a timer fired too late in the last one or two minutes: so
 * long nothing else was answered, either. */
int64_t bu_loop_late_ms(const struct bu_loop *loop);

/* What is still owed to this loop, counted by base/worker.h and base/http_async.h: what
 * simulates time waits for that in real time, not by guess. */
struct bu_awaited {
	int exchanges; /* over HTTP, without an answer */
	int jobs;      /* that have not ended */
	int calls;     /* of services, without an answer */
	int64_t asked; /* calls ever made */
};
struct bu_awaited *bu_loop_awaited(struct bu_loop *loop);

/* what: BU_READABLE | BU_WRITABLE. Level-triggered, until freed. */
struct bu_watch *bu_watch_create(struct bu_loop *loop, int fd, int what, bu_watch_fn fn,
				 void *arg);
void bu_watch_set(struct bu_watch *watch, int what); /* 0 = paused */
void bu_watch_destroy(struct bu_watch *watch);

/* Created idle; set starts it once, in_ms from now (0 = next turn). */
struct bu_timer *bu_timer_create(struct bu_loop *loop, bu_timer_fn fn, void *arg);
void bu_timer_set(struct bu_timer *timer, int64_t in_ms);
void bu_timer_stop(struct bu_timer *timer);
void bu_timer_destroy(struct bu_timer *timer);

struct bu_sigwatch *bu_sigwatch_create(struct bu_loop *loop, int signo, bu_signal_fn fn,
				       void *arg);
void bu_sigwatch_destroy(struct bu_sigwatch *watch);

#endif
