/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of a probe trace the ways of their flows, and have each other's. The ports
 * are of the loopback network: no router is between them. */
#include <pthread.h>
#include <string.h>

#include "base/json.h"
#include "fabric/probe/pair.h"
#include "tests/support/fakedriver.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/port.h"
#include "tests/support/probe.h"
#include "tests/support/unit.h"

enum { MESSAGE = 4096, QPS = 2 };

struct end {
	struct bu_pair_opts opts;
	struct bu_pair_result result;
	struct bu_err err;
	int rc;
	pthread_t thread;
};

static char root[32];

/* It makes source ports of flow labels, or does not. */
static void
prepare_with(struct end ends[2], const int traces[2], const char *driver)
{
	static const struct fakeverbs_faults none;
	int port = free_port();

	strcpy(root, "/tmp/pair_trace.XXXXXX");
	fakedriver_make(root, driver);
	memset(ends, 0, 2 * sizeof(*ends));
	for (int i = 0; i < 2; i++) {
		bu_autojson json_t *item = json_pack(
			"{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:i, "
			"s:i, s:i, s:i, s:i, s:i}",
			"kind", "probe", "id", "w1", "attempt", 1, "probe", "p1",
			"role", i ? "listen" : "connect", "a", "node001", "b",
			"node002", "addr", "127.0.0.1", "port", port, "secret",
			"0123456789abcdef", "local_ip", i ? "127.0.0.2" : "127.0.0.1",
			"message_bytes", MESSAGE, "bytes", 16 * MESSAGE, "runs", 2,
			"deadline_ms", 8000, "pings", 5, "qps", QPS);

		fakeverbs_set(i, &none);
		fakeverbs_device(i, NULL);
		if (traces[i])
			json_object_set_new(item, "trace", json_true());
		ck_assert_msg(probe_opts(item, &ends[i].opts, &ends[i].err) == 0, "%s",
			      ends[i].err.text);
		ends[i].opts.root = root;
	}
}

static void
prepare(struct end ends[2], const int traces[2])
{
	prepare_with(ends, traces, "mlx5_core");
}

static void *
run_end(void *arg)
{
	struct end *end = arg;

	end->rc = bu_pair_run(&end->opts, &end->result, &end->err);
	return NULL;
}

static void
run_both(struct end ends[2])
{
	for (int i = 0; i < 2; i++)
		pthread_create(&ends[i].thread, NULL, run_end, &ends[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(ends[i].thread, NULL);
	for (int i = 0; i < 2; i++)
		ck_assert_msg(ends[i].rc == 0, "%s", ends[i].err.text);
	ck_assert_int_eq(fakeverbs_objects(), 0);
	fakedriver_remove(root);
}

static void
check_same(const struct end ends[2])
{
	bu_autojson json_t *a = bu_pair_result_to_json(&ends[0].result);
	bu_autojson json_t *b = bu_pair_result_to_json(&ends[1].result);

	ck_assert(json_equal(a, b));
}

/* Of each direction the way of each of its flows. */
START_TEST(both_ends_have_all_paths)
{
	struct end ends[2];

	prepare(ends, (const int[]){1, 1});
	run_both(ends);
	check_same(ends);
	for (int dir = 0; dir < 2; dir++) {
		const struct bu_pair_dir *of = &ends[0].result.dir[dir];

		ck_assert_str_eq(of->untraced, "");
		ck_assert_int_eq(of->paths, QPS);
		ck_assert_int_eq(of->qps, QPS);
		for (int i = 0; i < QPS; i++)
			ck_assert_int_eq(of->path[i].hops, 0);
		ck_assert_int_eq(of->runs, 2);
	}
}
END_TEST

/* And nothing is said of it. */
START_TEST(what_was_not_asked_is_not_traced)
{
	struct end ends[2];

	prepare(ends, (const int[]){0, 0});
	run_both(ends);
	check_same(ends);
	for (int dir = 0; dir < 2; dir++) {
		ck_assert_int_eq(ends[0].result.dir[dir].paths, 0);
		ck_assert_str_eq(ends[0].result.dir[dir].untraced, "");
	}
}
END_TEST

START_TEST(both_ends_are_told_the_same)
{
	struct end ends[2];

	prepare(ends, (const int[]){1, 0});
	run_both(ends);
	ck_assert_msg(strstr(ends[0].result.error.text, "another 'trace'") ||
			      strstr(ends[1].result.error.text, "another 'trace'"),
		      "%s", ends[1].result.error.text);
}
END_TEST

/* The address of one end cannot be bound: its result says so, the other end's flows
 * are traced, and the rates stand. */
START_TEST(a_trace_that_fails_costs_no_result)
{
	static const struct fakeverbs_device elsewhere = {
		.ports = 1,
		.port = {{.gid = {"::ffff:203.0.113.9"}, .pkey = {0xffff}}}};
	struct end ends[2];

	prepare(ends, (const int[]){1, 1});
	fakeverbs_device(1, &elsewhere);
	strcpy(ends[1].opts.rail.address, "203.0.113.9");
	run_both(ends);
	check_same(ends);
	for (int dir = 0; dir < 2; dir++) {
		const struct bu_pair_dir *of = &ends[0].result.dir[dir];

		ck_assert_msg(of->error.kind == BU_ERR_NONE, "%s", of->error.text);
		ck_assert_int_eq(of->runs, 2);
	}
	ck_assert_int_eq(ends[0].result.dir[1].paths, 0);
	ck_assert_msg(strstr(ends[0].result.dir[1].untraced, "UDP port 0") != NULL,
		      "%s", ends[0].result.dir[1].untraced);
	fakeverbs_device(1, NULL);
}
END_TEST

/* Broadcom's firmware makes its ports of more than the flow label: a trace of those
 * that the label would give goes another way. */
START_TEST(source_ports_that_nobody_knows_are_not_traced)
{
	struct end ends[2];

	prepare_with(ends, (const int[]){1, 1}, "bnxt_en");
	run_both(ends);
	check_same(ends);
	for (int dir = 0; dir < 2; dir++) {
		const struct bu_pair_dir *of = &ends[0].result.dir[dir];

		ck_assert_int_eq(of->runs, 2);
		ck_assert_int_eq(of->qps, QPS);
		ck_assert_int_eq(of->sport[0], 0);
		ck_assert_int_ne(of->flow_label[1], 0);
		ck_assert_int_eq(of->paths, 0);
		ck_assert_str_eq(of->untraced,
				 "the adapter does not tell its UDP source ports");
	}
}
END_TEST

START_TEST(infiniband_has_no_paths)
{
	static const struct fakeverbs_device machines[2] = {
		{.ports = 1,
		 .port = {{.lid = 11, .gid = {"fe80::1"}, .pkey = {0xffff}}}},
		{.ports = 1,
		 .port = {{.lid = 12, .gid = {"fe80::2"}, .pkey = {0xffff}}}}};
	struct end ends[2];

	prepare(ends, (const int[]){1, 1});
	for (int i = 0; i < 2; i++) {
		fakeverbs_device(i, &machines[i]);
		ends[i].opts.rail.address[0] = '\0';
		strcpy(ends[i].opts.rail.port, i ? "fake1" : "fake0");
	}
	run_both(ends);
	check_same(ends);
	for (int dir = 0; dir < 2; dir++) {
		ck_assert_int_eq(ends[0].result.dir[dir].paths, 0);
		ck_assert_str_eq(ends[0].result.dir[dir].untraced,
				 "InfiniBand has no UDP ports");
	}
	for (int i = 0; i < 2; i++)
		fakeverbs_device(i, NULL);
}
END_TEST

BU_UNIT("pair_trace", both_ends_have_all_paths, what_was_not_asked_is_not_traced,
	both_ends_are_told_the_same, a_trace_that_fails_costs_no_result,
	source_ports_that_nobody_knows_are_not_traced, infiniband_has_no_paths)
