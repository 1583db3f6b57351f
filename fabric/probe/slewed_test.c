/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A probe of which one end's monotonic clock is being corrected: it runs ten times too
 * slow, as no daemon lets it, so that whatever is timed by it shows however loaded this
 * machine is. What the line carries and how late it is are lower bounds of every time.
 */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "fabric/probe/pair.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/port.h"
#include "tests/support/probe.h"
#include "tests/support/unit.h"

enum { MESSAGE = 4096, BYTES = 16 * MESSAGE, RUNS = 3, LATE_US = 2000, SLOWED = 10 };
static const double line_gbps = 0.004;

static __thread int slowed;

/* Instead of the C library's. */
int
clock_gettime(clockid_t id, struct timespec *ret)
{
	int rc = (int)syscall(SYS_clock_gettime, id, ret);
	int64_t ns = (int64_t)ret->tv_sec * 1000000000 + ret->tv_nsec;

	if (rc == 0 && slowed && id == CLOCK_MONOTONIC) {
		ret->tv_sec = ns / SLOWED / 1000000000;
		ret->tv_nsec = ns / SLOWED % 1000000000;
	}
	return rc;
}

struct end {
	struct bu_pair_opts opts;
	struct bu_pair_result result;
	int slowed, rc;
	pthread_t thread;
};

static void *
run_end(void *arg)
{
	struct end *end = arg;

	slowed = end->slowed;
	end->rc = bu_pair_run(&end->opts, &end->result, NULL);
	return NULL;
}

static void
start_end(struct end *end, int port, int listens)
{
	static const struct fakeverbs_faults line = {.rate_gbps = line_gbps,
						     .delay_us = LATE_US};
	bu_autojson json_t *item = json_pack(
		"{s:s,s:s,s:i,s:s,s:s,s:s,s:s,s:s,s:i,s:s,s:s,s:i,s:i,s:i,s:i,s:i}",
		"kind", "probe", "id", "w1", "attempt", 1, "probe", "p1", "role",
		listens ? "listen" : "connect", "a", "node001", "b", "node002", "addr",
		"127.0.0.1", "port", port, "secret", "0123456789abcdef", "local_ip",
		listens ? "127.0.0.2" : "127.0.0.1", "message_bytes", MESSAGE, "bytes",
		BYTES, "runs", RUNS, "deadline_ms", 60000, "pings", 20);
	struct bu_err err = {0};

	fakeverbs_set(listens, &line);
	ck_assert_msg(probe_opts(item, &end->opts, &err) == 0, "%s", err.text);
	pthread_create(&end->thread, NULL, run_end, end);
}

static void
check_direction(const struct bu_pair_dir *dir)
{
	double least_s = RUNS * BYTES * 8 / (line_gbps * 1e9);

	ck_assert_msg(dir->error.kind == BU_ERR_NONE, "%s", dir->error.text);
	ck_assert_int_eq(dir->runs, RUNS);
	/* What a clock that is ten times too slow makes of it is far beyond. */
	ck_assert_double_lt(dir->bw_median_gbps, 3 * line_gbps);
	ck_assert_double_gt(dir->lat_median_us, LATE_US / 2.0);
	ck_assert_double_gt(dir->lat_min_us, LATE_US / 2.0);
	ck_assert_double_gt(dir->seconds, least_s);
	for (int end = 0; end < 2; end++)
		ck_assert_double_gt(dir->clock_seconds[end], least_s);
}

START_TEST(a_corrected_clock_measures_what_the_other_does)
{
	for (int bad = 0; bad < 2; bad++) {
		static struct end ends[2];
		int port = free_port();

		memset(ends, 0, sizeof(ends));
		ends[bad].slowed = 1;
		for (int i = 0; i < 2; i++)
			start_end(&ends[i], port, i);
		for (int i = 0; i < 2; i++) {
			pthread_join(ends[i].thread, NULL);
			ck_assert_int_eq(ends[i].rc, 0);
		}
		for (int dir = 0; dir < 2; dir++)
			check_direction(&ends[0].result.dir[dir]);
	}
}
END_TEST

/* The seam itself: without it the other test could not fail. */
START_TEST(the_slowed_clock_is_slow)
{
	int64_t raw_ns, mono_ms;

	slowed = 1;
	raw_ns = bu_raw_ns();
	mono_ms = bu_mono_ms(bu_clock_system());
	usleep(200000);
	raw_ns = bu_raw_ns() - raw_ns;
	mono_ms = bu_mono_ms(bu_clock_system()) - mono_ms;
	slowed = 0;
	ck_assert_int_ge(raw_ns, 190000000);
	ck_assert_int_le(mono_ms, raw_ns / 1000000 / 4);
}
END_TEST

BU_UNIT("slewed", a_corrected_clock_measures_what_the_other_does,
	the_slowed_clock_is_slow)
