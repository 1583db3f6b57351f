// SPDX-License-Identifier: Apache-2.0
#include "fabric/measure/verbs.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/unit.h"

enum { MESSAGE = 65536, BYTES = 8 * MESSAGE, STAMP = 77, PINGS = 50 };

static struct bu_verbs *ends[2];

static struct bu_wait
wait_ms(int64_t ms)
{
	return (struct bu_wait){.deadline_ns = bu_mono_ns() + ms * 1000000};
}

static void
setup(const struct fakeverbs_faults *faults)
{
	static const struct fakeverbs_faults none;
	struct bu_verbs_peer peers[2];
	struct bu_err err;

	for (int i = 0; i < 2; i++) {
		const struct bu_verbs_opts opts = {.local_ip = i ? "127.0.0.2"
								 : "127.0.0.1",
						   .message_bytes = MESSAGE};

		fakeverbs_set(i, i == 0 && faults ? faults : &none);
		ends[i] = bu_verbs_create(&opts, &err);
		ck_assert_msg(ends[i] != NULL, "%s", err.text);
		bu_verbs_local(ends[i], &peers[i]);
	}
	for (int i = 0; i < 2; i++) {
		int mtu;

		ck_assert_int_eq(bu_verbs_connect(ends[i], &peers[!i], &mtu, &err), 0);
		ck_assert_int_eq(mtu, 1024);
	}
}

static void
teardown(void)
{
	bu_verbs_destroy(ends[0]);
	bu_verbs_destroy(ends[1]);
	ck_assert_int_eq(fakeverbs_objects(), 0);
}

START_TEST(what_arrives_is_checked)
{
	struct bu_wait wait = wait_ms(10000);
	double gbps = 0;
	struct bu_err err;

	setup(NULL);
	ck_assert_int_eq(bu_verbs_write(ends[0], STAMP, BYTES, &wait, &gbps, &err), 0);
	ck_assert_double_gt(gbps, 0.01);
	ck_assert_int_eq(bu_verbs_check(ends[1], STAMP, BYTES, &err), 0);
	/* Another run's payload, and a pass that never came, are not taken for this
	 * one. */
	ck_assert_int_eq(bu_verbs_check(ends[1], STAMP + 1, BYTES, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(bu_verbs_check(ends[1], STAMP, BYTES + 16 * MESSAGE, &err),
			 -1);
	teardown();
}
END_TEST

START_TEST(one_changed_bit_is_found)
{
	const struct fakeverbs_faults faults = {.corrupt_from = 12};
	struct bu_wait wait = wait_ms(10000);
	double gbps;
	struct bu_err err;

	setup(&faults);
	ck_assert_int_eq(bu_verbs_write(ends[0], STAMP, BYTES, &wait, &gbps, &err), 0);
	ck_assert_int_eq(bu_verbs_check(ends[1], STAMP, BYTES, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_str_eq(err.text, "message 11: byte 32768 is not what was sent");
	teardown();
}
END_TEST

START_TEST(measures_a_limited_link)
{
	const struct fakeverbs_faults faults = {.rate_gbps = 0.05};
	struct bu_wait wait = wait_ms(10000);
	double gbps;
	struct bu_err err;

	setup(&faults);
	ck_assert_int_eq(bu_verbs_write(ends[0], STAMP, 4 * BYTES, &wait, &gbps, &err),
			 0);
	ck_assert_double_lt(gbps, 0.055); /* the cap; a busy machine is below */
	teardown();
}
END_TEST

START_TEST(a_lost_write_is_the_paths_fault)
{
	const struct fakeverbs_faults faults = {.lose_from = 3};
	struct bu_wait wait = wait_ms(10000);
	double gbps = 7;
	struct bu_err err;

	setup(&faults);
	ck_assert_int_eq(bu_verbs_write(ends[0], STAMP, BYTES, &wait, &gbps, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	ck_assert_double_eq(gbps, 7);
	teardown();
}
END_TEST

START_TEST(a_write_that_never_completes_ends)
{
	const struct fakeverbs_faults faults = {.hang_from = 3};
	struct bu_wait wait = wait_ms(300);
	int64_t start_ms = bu_mono_ms(bu_clock_system());
	double gbps;
	struct bu_err err;

	setup(&faults);
	ck_assert_int_eq(bu_verbs_write(ends[0], STAMP, BYTES, &wait, &gbps, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_TIMEOUT);
	ck_assert_int_lt(bu_mono_ms(bu_clock_system()) - start_ms, 3000);
	teardown();
}
END_TEST

static void *
answer(void *arg)
{
	struct bu_wait wait = wait_ms(10000);

	*(int *)arg = bu_verbs_ping(ends[1], 0, PINGS, &wait, NULL, NULL);
	return NULL;
}

START_TEST(pings_give_each_round_trip)
{
	struct bu_wait wait = wait_ms(10000);
	double samples[PINGS];
	pthread_t thread;
	int rc = -1;

	setup(NULL);
	pthread_create(&thread, NULL, answer, &rc);
	ck_assert_int_eq(bu_verbs_ping(ends[0], 1, PINGS, &wait, samples, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(rc, 0);
	for (int i = 0; i < PINGS; i++)
		ck_assert_double_gt(samples[i], 0.5);
	teardown();
}
END_TEST

START_TEST(a_ping_without_answer_ends)
{
	struct bu_wait wait = wait_ms(200);
	double samples[PINGS];
	struct bu_err err;

	setup(NULL);
	ck_assert_int_eq(bu_verbs_ping(ends[0], 1, PINGS, &wait, samples, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_TIMEOUT);
	teardown();
}
END_TEST

START_TEST(ports_are_found_or_refused)
{
	static const struct {
		const char *device, *ip;
		uint32_t message_bytes;
		enum bu_err_kind kind;
	} rows[] = {
		{NULL, "127.0.0.1", 64, BU_ERR_NONE},
		{"fake1", NULL, 64, BU_ERR_NONE},
		{"fake0", "127.0.0.1", 64, BU_ERR_NONE},
		{"fake1", "127.0.0.1", 64, BU_ERR_NOTFOUND},
		{"fake2", NULL, 64, BU_ERR_NOTFOUND},
		{NULL, "127.0.0.3", 64, BU_ERR_NOTFOUND},
		{NULL, "localhost", 64, BU_ERR_INVAL},
		{NULL, NULL, 64, BU_ERR_INVAL},
		{NULL, "127.0.0.1", 60, BU_ERR_INVAL},
		{NULL, "127.0.0.1", 0, BU_ERR_INVAL},
		{NULL, "127.0.0.1", UINT32_MAX, BU_ERR_INVAL},
	};
	const struct fakeverbs_faults down = {.port_down = 1};
	const struct bu_verbs_opts opts = {.local_ip = "127.0.0.1",
					   .message_bytes = 64};
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_verbs_opts row = {rows[i].device, rows[i].ip,
						  rows[i].message_bytes};
		struct bu_verbs *verbs = bu_verbs_create(&row, &err);

		ck_assert_msg((verbs != NULL) == (rows[i].kind == BU_ERR_NONE),
			      "row %zu", i);
		ck_assert(verbs || err.kind == rows[i].kind);
		bu_verbs_destroy(verbs);
	}
	fakeverbs_set(0, &down);
	ck_assert_ptr_null(bu_verbs_create(&opts, &err));
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_int_eq(fakeverbs_objects(), 0);
}
END_TEST

START_TEST(a_loop_is_refused)
{
	const struct bu_verbs_opts opts = {.local_ip = "127.0.0.1",
					   .message_bytes = 64};
	struct bu_verbs *verbs = bu_verbs_create(&opts, NULL);
	struct bu_verbs_peer own, read;
	bu_autojson json_t *value = NULL;
	struct bu_err err;
	int mtu;

	bu_verbs_local(verbs, &own);
	value = bu_verbs_peer_to_json(&own);
	memset(&read, 0, sizeof(read));
	ck_assert_int_eq(bu_verbs_peer_from_json(value, &read, &err), 0);
	ck_assert_str_eq(own.gid, read.gid);
	ck_assert(own.addr == read.addr && own.qpn == read.qpn &&
		  own.rkey == read.rkey);
	ck_assert_int_eq(bu_verbs_connect(verbs, &read, &mtu, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "loop"));
	json_object_set_new(value, "mtu", json_integer(1000));
	ck_assert_int_eq(bu_verbs_peer_from_json(value, &read, &err), -1);
	bu_verbs_destroy(verbs);
}
END_TEST

BU_UNIT("verbs", what_arrives_is_checked, one_changed_bit_is_found,
	measures_a_limited_link, a_lost_write_is_the_paths_fault,
	a_write_that_never_completes_ends, pings_give_each_round_trip,
	a_ping_without_answer_ends, ports_are_found_or_refused, a_loop_is_refused)
