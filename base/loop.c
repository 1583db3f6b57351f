/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop over libevent, which is included here alone.
 *
 * Timers are kept by ourselves in a sorted list and one libevent timer wakes us: with a
 * fake clock they fire when the clock was moved, so that tests run hours in
 * milliseconds. The list is short (hundreds), insertion is linear.
 */
#include "base/loop.h"

#include <event2/event.h>
#include <stdlib.h>

#include "base/err.h"

enum { LATE_MS = 60 * 1000 };

struct bu_loop {
	struct event_base *base;
	struct event *wake; /* fires when the first timer is due */
	const struct bu_clock *clock;
	struct bu_timer *first; /* by due_ms */
	int ran;                /* callbacks of the present step */
	int watches;            /* of descriptors and signals */
	struct bu_awaited awaited;
	int64_t late_ms[2];    /* the longest of this minute, and of the last one */
	int64_t late_since_ms; /* the start of this minute */
};

struct bu_watch {
	struct event *event;
	int fd;
	bu_watch_fn fn;
	void *arg;
	struct bu_loop *loop;
};

struct bu_timer {
	struct bu_loop *loop;
	struct bu_timer *next;
	int64_t due_ms;
	int armed;
	bu_timer_fn fn;
	void *arg;
};

struct bu_sigwatch {
	struct bu_loop *loop;
	struct event *event;
	bu_signal_fn fn;
	void *arg;
};

static void
arm_wake(struct bu_loop *loop)
{
	int64_t in_ms;
	struct timeval tv;

	if (!loop->first) {
		event_del(loop->wake);
		return;
	}
	in_ms = loop->first->due_ms - bu_mono_ms(loop->clock);
	if (in_ms < 0)
		in_ms = 0;
	tv.tv_sec = in_ms / 1000;
	tv.tv_usec = (in_ms % 1000) * 1000;
	event_add(loop->wake, &tv);
}

static void
turn_late(struct bu_loop *loop, int64_t now_ms)
{
	int64_t minutes = (now_ms - loop->late_since_ms) / LATE_MS;

	if (minutes < 1)
		return;
	loop->late_ms[1] = minutes == 1 ? loop->late_ms[0] : 0;
	loop->late_ms[0] = 0;
	loop->late_since_ms = now_ms;
}

static void
note_late(struct bu_loop *loop, int64_t now_ms)
{
	int64_t late_ms = loop->first ? now_ms - loop->first->due_ms : 0;

	turn_late(loop, now_ms);
	if (late_ms > loop->late_ms[0])
		loop->late_ms[0] = late_ms;
}

static void
run_due(struct bu_loop *loop)
{
	int64_t now_ms = bu_mono_ms(loop->clock);

	note_late(loop, now_ms);
	/* A timer set again for "now" by its own callback waits for the next turn. */
	while (loop->first && loop->first->due_ms <= now_ms) {
		struct bu_timer *timer = loop->first;

		loop->first = timer->next;
		timer->armed = 0;
		loop->ran++;
		timer->fn(timer->arg);
	}
	arm_wake(loop);
}

static void
on_wake(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	run_due(arg);
}

struct bu_loop *
bu_loop_create(const struct bu_clock *clock)
{
	struct bu_loop *loop = bu_xcalloc(1, sizeof(*loop));

	loop->clock = clock ? clock : bu_clock_system();
	loop->base = event_base_new();
	bu_assert(loop->base);
	loop->wake = event_new(loop->base, -1, 0, on_wake, loop);
	bu_assert(loop->wake);
	return loop;
}

void
bu_loop_destroy(struct bu_loop *loop)
{
	if (!loop)
		return;
	event_free(loop->wake);
	event_base_free(loop->base);
	free(loop);
}

const struct bu_clock *
bu_loop_clock(const struct bu_loop *loop)
{
	return loop->clock;
}

int64_t
bu_loop_now_ms(const struct bu_loop *loop)
{
	return bu_mono_ms(loop->clock);
}

int64_t
bu_loop_late_ms(const struct bu_loop *loop)
{
	return loop->late_ms[0] > loop->late_ms[1] ? loop->late_ms[0]
						   : loop->late_ms[1];
}

void
bu_loop_run(struct bu_loop *loop)
{
	event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
}

static void
on_step_over(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
}

int
bu_loop_step(struct bu_loop *loop, int wait_ms)
{
	struct timeval tv = {wait_ms / 1000, (wait_ms % 1000) * 1000};
	struct event *over;

	loop->ran = 0;
	run_due(loop);
	/* Nothing but time is waited for, and that is handed in. */
	if (wait_ms == 0 && loop->watches == 0)
		return loop->ran;
	over = event_new(loop->base, -1, 0, on_step_over, NULL);
	bu_assert(over);
	event_add(over, &tv);
	event_base_loop(loop->base, EVLOOP_ONCE);
	event_free(over);
	run_due(loop);
	return loop->ran;
}

struct bu_awaited *
bu_loop_awaited(struct bu_loop *loop)
{
	return &loop->awaited;
}

void
bu_loop_stop(struct bu_loop *loop)
{
	event_base_loopbreak(loop->base);
}

static void
end_event(struct bu_loop *loop, struct event *event)
{
	if (!event)
		return;
	event_free(event);
	loop->watches--;
}

static void
on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct bu_watch *watch = arg;
	int seen = 0;

	if (what & EV_READ)
		seen |= BU_READABLE;
	if (what & EV_WRITE)
		seen |= BU_WRITABLE;
	watch->loop->ran++;
	watch->fn((int)fd, seen, watch->arg);
}

struct bu_watch *
bu_watch_create(struct bu_loop *loop, int fd, int what, bu_watch_fn fn, void *arg)
{
	struct bu_watch *watch = bu_xcalloc(1, sizeof(*watch));

	watch->loop = loop;
	watch->fd = fd;
	watch->fn = fn;
	watch->arg = arg;
	bu_watch_set(watch, what);
	return watch;
}

void
bu_watch_set(struct bu_watch *watch, int what)
{
	short flags = EV_PERSIST;

	end_event(watch->loop, watch->event);
	watch->event = NULL;
	if (!what)
		return;
	if (what & BU_READABLE)
		flags |= EV_READ;
	if (what & BU_WRITABLE)
		flags |= EV_WRITE;
	watch->event = event_new(watch->loop->base, watch->fd, flags, on_watch, watch);
	bu_assert(watch->event);
	event_add(watch->event, NULL);
	watch->loop->watches++;
}

void
bu_watch_destroy(struct bu_watch *watch)
{
	if (!watch)
		return;
	end_event(watch->loop, watch->event);
	free(watch);
}

struct bu_timer *
bu_timer_create(struct bu_loop *loop, bu_timer_fn fn, void *arg)
{
	struct bu_timer *timer = bu_xcalloc(1, sizeof(*timer));

	timer->loop = loop;
	timer->fn = fn;
	timer->arg = arg;
	return timer;
}

void
bu_timer_stop(struct bu_timer *timer)
{
	struct bu_timer **link = &timer->loop->first;

	if (!timer->armed)
		return;
	while (*link != timer)
		link = &(*link)->next;
	*link = timer->next;
	timer->armed = 0;
}

void
bu_timer_set(struct bu_timer *timer, int64_t in_ms)
{
	struct bu_timer **link = &timer->loop->first;

	bu_timer_stop(timer);
	/* Never due in the turn that set it: a callback that re-arms itself with 0
	 * must not starve the loop. */
	timer->due_ms = bu_mono_ms(timer->loop->clock) + (in_ms > 0 ? in_ms : 1);
	while (*link && (*link)->due_ms <= timer->due_ms)
		link = &(*link)->next;
	timer->next = *link;
	*link = timer;
	timer->armed = 1;
	if (timer->loop->first == timer)
		arm_wake(timer->loop);
}

void
bu_timer_destroy(struct bu_timer *timer)
{
	if (!timer)
		return;
	bu_timer_stop(timer);
	free(timer);
}

static void
on_signal(evutil_socket_t fd, short what, void *arg)
{
	struct bu_sigwatch *watch = arg;

	(void)what;
	watch->loop->ran++;
	watch->fn((int)fd, watch->arg);
}

struct bu_sigwatch *
bu_sigwatch_create(struct bu_loop *loop, int signo, bu_signal_fn fn, void *arg)
{
	struct bu_sigwatch *watch = bu_xcalloc(1, sizeof(*watch));

	watch->loop = loop;
	watch->fn = fn;
	watch->arg = arg;
	watch->event = evsignal_new(loop->base, signo, on_signal, watch);
	bu_assert(watch->event);
	event_add(watch->event, NULL);
	watch->loop->watches++;
	return watch;
}

void
bu_sigwatch_destroy(struct bu_sigwatch *watch)
{
	if (!watch)
		return;
	end_event(watch->loop, watch->event);
	free(watch);
}
