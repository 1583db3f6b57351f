/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time. Deadlines use the monotonic clock, records the wall clock, measurements the raw
 * one. A program asks a struct bu_clock, so that tests run hours in milliseconds.
 */
#ifndef BU_BASE_CLOCK_H
#define BU_BASE_CLOCK_H

#include <stdint.h>

struct bu_clock {
	int64_t (*mono_ms)(const struct bu_clock *clock); /* never goes back */
	int64_t (*wall_ms)(const struct bu_clock *clock); /* Unix time */
	int64_t fake_mono_ms; /* used by the fake clock only */
	int64_t fake_wall_ms;
};

/* The system's clocks. */
const struct bu_clock *bu_clock_system(void);
/* A clock that stands still until bu_clock_advance(). */
void bu_clock_fake(struct bu_clock *clock, int64_t wall_ms);
void bu_clock_advance(struct bu_clock *clock, int64_t ms);

int64_t bu_mono_ms(const struct bu_clock *clock);
int64_t bu_wall_ms(const struct bu_clock *clock);
/* Nanoseconds of the system's raw clock (CLOCK_MONOTONIC_RAW): whatever is measured is
 * timed by this one, and its deadlines with it. While a time daemon corrects the
 * system's time it lets CLOCK_MONOTONIC run fast or slow, chronyd by up to 8.3 %: for
 * seconds after a boot a rate or a latency is wrong by that much, at one end only. */
int64_t bu_raw_ns(void);
/* Unix time of the system in microseconds, to compare two machines' clocks. */
int64_t bu_wall_us(void);
/* "2026-11-21T15:04:05Z"; text holds at least 24 bytes. */
void bu_time_iso(int64_t wall_ms, char text[24]);
/* For people: "2026-11-21 15:04 UTC"; the same. */
void bu_time_minute(int64_t wall_ms, char text[24]);

#endif
