/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits until the first correction after a boot is over; called by checks.c before the
 * clock is looked at, and so before anything is probed. Invariant: the wait is bounded,
 * also where nothing sets the clock.
 */
#include "agent/clock.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

/* SLEW_PPM: quartz is good to 200, a daemon that corrects fast goes to 83,333. */
enum { TICK_US = 10000, SLEW_PPM = 1000, LOOK_MS = 200 };

int
bu_clock_is_settled(const struct timex *kernel)
{
	/* A tick of 10,000 us that is 1 us longer is 100 ppm; freq is ppm << 16. */
	long fast_ppm = (kernel->tick - TICK_US) * 100 + kernel->freq / 65536;

	return !(kernel->status & STA_UNSYNC) && labs(fast_ppm) <= SLEW_PPM;
}

int
bu_clock_settle(int64_t limit_ms, int (*stop)(void *arg), void *arg)
{
	static const struct timespec nap = {.tv_nsec = LOOK_MS * 1000000L};
	int64_t end_ms = bu_mono_ms(bu_clock_system()) + limit_ms;

	for (;;) {
		struct timex kernel = {.modes = 0};

		if (adjtimex(&kernel) >= 0 && bu_clock_is_settled(&kernel))
			return 0;
		if (bu_mono_ms(bu_clock_system()) >= end_ms || (stop && stop(arg)))
			return -1;
		nanosleep(&nap, NULL);
	}
}
