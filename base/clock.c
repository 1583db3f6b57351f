/* SPDX-License-Identifier: Apache-2.0 */
/* The system's clocks and one that tests move by hand. */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t
read_ms(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t
system_mono(const struct bu_clock *clock)
{
	(void)clock;
	return read_ms(CLOCK_MONOTONIC);
}

static int64_t
system_wall(const struct bu_clock *clock)
{
	(void)clock;
	return read_ms(CLOCK_REALTIME);
}

static int64_t
fake_mono(const struct bu_clock *clock)
{
	return clock->fake_mono_ms;
}

static int64_t
fake_wall(const struct bu_clock *clock)
{
	return clock->fake_wall_ms;
}

const struct bu_clock *
bu_clock_system(void)
{
	static const struct bu_clock system_clock = {
		.mono_ms = system_mono,
		.wall_ms = system_wall,
	};

	return &system_clock;
}

void
bu_clock_fake(struct bu_clock *clock, int64_t wall_ms)
{
	*clock = (struct bu_clock){
		.mono_ms = fake_mono,
		.wall_ms = fake_wall,
		.fake_mono_ms = 1000,
		.fake_wall_ms = wall_ms,
	};
}

void
bu_clock_advance(struct bu_clock *clock, int64_t ms)
{
	clock->fake_mono_ms += ms;
	clock->fake_wall_ms += ms;
}

int64_t
bu_mono_ms(const struct bu_clock *clock)
{
	return clock->mono_ms(clock);
}

int64_t
bu_wall_ms(const struct bu_clock *clock)
{
	return clock->wall_ms(clock);
}

int64_t
bu_raw_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t
bu_wall_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void
bu_time_iso(int64_t wall_ms, char text[24])
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm parts;

	gmtime_r(&seconds, &parts);
	strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

void
bu_time_minute(int64_t wall_ms, char text[24])
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm parts;

	*text = '\0';
	if (gmtime_r(&seconds, &parts))
		strftime(text, 24, "%Y-%m-%d %H:%M UTC", &parts);
}
