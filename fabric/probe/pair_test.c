/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of a probe as two threads over the stand-in for libibverbs. */
#include "fabric/probe/pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "fabric/judge/expect.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/port.h"
#include "tests/support/probe.h"
#include "tests/support/unit.h"

enum { MESSAGE = 4096, BYTES = 16 * MESSAGE };

struct end {
	struct bu_pair_opts opts;
	struct bu_pair_result result;
	struct bu_err err;
	int rc;
	pthread_t thread;
};

static json_t *
make_item(int port, int listens)
{
	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:i, "
			 "s:i, s:i, s:i}",
			 "kind", "probe", "id", "w1", "attempt", 1, "probe", "p1",
			 "role", listens ? "listen" : "connect", "a", "node001", "b",
			 "node002", "addr", "127.0.0.1", "port", port, "secret",
			 "0123456789abcdef", "local_ip",
			 listens ? "127.0.0.2" : "127.0.0.1", "message_bytes", MESSAGE,
			 "bytes", BYTES, "runs", 3, "deadline_ms", 30000);
}

static void
prepare(struct end ends[2])
{
	static const struct fakeverbs_faults none;
	int port = free_port();

	memset(ends, 0, 2 * sizeof(*ends));
	for (int i = 0; i < 2; i++) {
		bu_autojson json_t *item = make_item(port, i);

		fakeverbs_set(i, &none);
		ck_assert_msg(probe_opts(item, &ends[i].opts, &ends[i].err) == 0, "%s",
			      ends[i].err.text);
	}
}

static void *
run_end(void *arg)
{
	struct end *end = arg;

	end->rc = bu_pair_run(&end->opts, &end->result, &end->err);
	return NULL;
}

static void
start_both(struct end ends[2])
{
	for (int i = 0; i < 2; i++)
		pthread_create(&ends[i].thread, NULL, run_end, &ends[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(ends[i].thread, NULL);
}

static void
run_both(struct end ends[2])
{
	start_both(ends);
	ck_assert_int_eq(fakeverbs_objects(), 0);
}

static void
check_same(struct end ends[2])
{
	bu_autojson json_t *a = bu_pair_result_to_json(&ends[0].result);
	bu_autojson json_t *b = bu_pair_result_to_json(&ends[1].result);

	ck_assert(json_equal(a, b));
}

static void
check_good(const struct bu_pair_result *result, int direction)
{
	const struct bu_pair_dir *dir = &result->dir[direction];

	ck_assert_msg(dir->error.kind == BU_ERR_NONE, "%s", dir->error.text);
	ck_assert_int_eq(dir->runs, 3);
	ck_assert_double_gt(dir->bw_median_gbps, 0);
	ck_assert_uint_ge(dir->sent_bytes, 3 * BYTES);
	ck_assert_double_gt(dir->clock_seconds[0], 0);
	ck_assert_double_gt(dir->clock_seconds[1], 0);
	ck_assert_double_gt(dir->setup_seconds, 0);
	ck_assert_int_eq(dir->qps, result->qps);
	for (int i = 0; i < dir->qps; i++)
		ck_assert_int_eq(dir->sport[i], 0); /* its driver is nobody's */
	ck_assert_int_eq(dir->lat_count, BU_PAIR_PINGS);
	ck_assert_double_gt(dir->lat_median_us, 0);
	ck_assert_double_le(dir->lat_min_us, dir->lat_median_us);
	ck_assert_double_le(dir->lat_median_us, dir->lat_p90_us);
	ck_assert_double_le(dir->lat_p90_us, dir->lat_p99_us);
	ck_assert_double_le(dir->lat_p99_us, dir->lat_p999_us);
	ck_assert_double_le(dir->lat_p999_us, dir->lat_max_us);
}

START_TEST(both_ends_have_the_same_result)
{
	struct end ends[2];

	prepare(ends);
	run_both(ends);
	ck_assert_int_eq(ends[0].rc, 0);
	ck_assert_int_eq(ends[1].rc, 0);
	ck_assert_int_eq(ends[0].result.error.kind, BU_ERR_NONE);
	check_good(&ends[0].result, 0);
	check_good(&ends[0].result, 1);
	check_same(ends);
	ck_assert_str_eq(ends[1].result.end[0].device, "fake0");
	ck_assert_str_eq(ends[1].result.end[1].gid, "::ffff:127.0.0.2");
	ck_assert_int_eq(ends[1].result.mtu, 1024);
	ck_assert_int_eq(ends[1].result.verdict, BU_VERDICT_INCONCLUSIVE);
}
END_TEST

/* Every operation, one direction at a time and both at once. */
START_TEST(every_operation_both_paths)
{
	for (int i = 0; i < 6; i++) {
		struct end ends[2];

		prepare(ends);
		for (int end = 0; end < 2; end++) {
			ends[end].opts.op = (enum bu_op)(i % 3);
			ends[end].opts.lat_op = i % 2 ? BU_OP_SEND : BU_OP_WRITE;
			ends[end].opts.duplex = i >= 3;
			ends[end].opts.qps = 2;
		}
		run_both(ends);
		ck_assert_msg(ends[0].result.error.kind == BU_ERR_NONE, "%s",
			      ends[0].result.error.text);
		check_good(&ends[0].result, 0);
		check_good(&ends[0].result, 1);
		check_same(ends);
		ck_assert_int_eq(ends[1].result.op, i % 3);
		ck_assert_int_eq(ends[1].result.qps, 2);
	}
}
END_TEST

/* One process for several probes: what is kept serves either role and every operation,
 * not other needs, and after a fault all is opened anew. */
START_TEST(what_is_kept_serves_the_next_probe)
{
	static const struct {
		enum bu_op op;
		int swapped, pairs, duplex, lost;
	} rows[] = {
		{BU_OP_WRITE, 0, 1, 0, 0}, {BU_OP_WRITE, 1, 1, 0, 0},
		{BU_OP_SEND, 0, 2, 0, 0},  {BU_OP_SEND, 1, 2, 0, 0},
		{BU_OP_SEND, 1, 2, 0, 1},  {BU_OP_SEND, 0, 2, 0, 0},
		{BU_OP_SEND, 0, 2, 1, 0},  {BU_OP_READ, 1, 2, 1, 0},
		{BU_OP_READ, 0, 2, 1, 0},  {BU_OP_READ, 0, 1, 0, 0},
	};
	const struct fakeverbs_faults fault = {.lose_from = 25};
	struct bu_pair_kept kept[2] = {0};

	for (size_t row = 0; row < BU_LEN(rows); row++) {
		struct end ends[2];
		int before = fakeverbs_domains();

		prepare(ends);
		for (int i = 0; i < 2; i++) {
			struct bu_pair_opts *opts = &ends[i].opts;

			opts->op = rows[row].op;
			opts->lat_op =
				opts->op == BU_OP_SEND ? BU_OP_SEND : BU_OP_WRITE;
			opts->qps = rows[row].pairs;
			opts->duplex = rows[row].duplex;
			opts->self = i ^ rows[row].swapped;
			opts->kept = &kept[i];
		}
		if (rows[row].lost)
			fakeverbs_set(0, &fault);
		start_both(ends);
		check_same(ends);
		/* The same needs as before, and no fault: nothing is opened. */
		if (row > 0 && rows[row].op == rows[row - 1].op &&
		    rows[row].pairs == rows[row - 1].pairs &&
		    rows[row].duplex == rows[row - 1].duplex && !rows[row - 1].lost)
			ck_assert_int_eq(fakeverbs_domains(), before);
		else
			ck_assert_int_eq(fakeverbs_domains(), before + 2);
		for (int i = 0; i < 2; i++)
			ck_assert_int_eq(kept[i].set[0] == NULL, rows[row].lost);
		if (rows[row].lost)
			continue;
		check_good(&ends[0].result, 0);
		check_good(&ends[0].result, 1);
	}
	for (int i = 0; i < 2; i++)
		bu_pair_drop(&kept[i]);
	ck_assert_int_eq(fakeverbs_objects(), 0);
}
END_TEST

START_TEST(both_at_once_are_told_apart)
{
	const struct fakeverbs_faults fast = {.rate_gbps = 0.02};
	const struct fakeverbs_faults slow = {.rate_gbps = 0.005};
	struct end ends[2];

	prepare(ends);
	fakeverbs_set(0, &fast);
	fakeverbs_set(1, &slow);
	ends[0].opts.duplex = ends[1].opts.duplex = 1;
	run_both(ends);
	check_good(&ends[0].result, 0);
	check_good(&ends[0].result, 1);
	ck_assert_double_lt(ends[0].result.dir[1].bw_median_gbps, 0.0055);
	ck_assert_double_gt(ends[0].result.dir[0].bw_median_gbps,
			    ends[0].result.dir[1].bw_median_gbps);
	check_same(ends);
}
END_TEST

START_TEST(a_loop_is_labelled_and_no_pass)
{
	const struct bu_expect expect = {.link_gbps = 100, .percent = 0.0001};
	static const struct fakeverbs_faults none;
	char reason[BU_REASON_SIZE];
	bu_autojson json_t *item = make_item(1, 0);
	struct end ends[2];
	struct bu_pair_result result;

	prepare(ends);
	json_object_del(item, "b");
	json_object_del(item, "addr");
	json_object_del(item, "port");
	json_object_del(item, "secret");
	json_object_set_new(item, "role", json_string("loopback"));
	ck_assert_int_eq(probe_opts(item, &ends[0].opts, NULL), 0);
	for (int op = 0; op < 3; op++) {
		fakeverbs_set(0, &none);
		ends[0].opts.op = (enum bu_op)op;
		ck_assert_int_eq(bu_pair_run(&ends[0].opts, &result, NULL), 0);
		ck_assert_int_eq(result.error.kind, BU_ERR_NONE);
		check_good(&result, 0);
		check_good(&result, 1);
		ck_assert(bu_pair_is_loopback(&result));
		ck_assert_int_eq(bu_expect_judge(&expect, &result, BU_END_A, reason),
				 BU_VERDICT_INCONCLUSIVE);
		ck_assert_ptr_nonnull(strstr(reason, "loopback"));
		ck_assert_int_eq(fakeverbs_objects(), 0);
	}
}
END_TEST

START_TEST(a_wrong_gid_and_mtu_are_named)
{
	static const struct fakeverbs_device with_ipv6[] = {
		{.ports = 1,
		 .port = {{.gid = {"fe80::1", "::ffff:127.0.0.1", "v1 ::ffff:127.0.0.1",
				   "fd00::1"},
			   .pkey = {0xffff}}}},
		{.ports = 1,
		 .port = {{.gid = {"fe80::2", "::ffff:127.0.0.2", "v1 ::ffff:127.0.0.2",
				   "fd00::2"},
			   .pkey = {0xffff}}}},
	};
	const struct bu_expect expect = {
		.link_gbps = 100, .percent = 0.0001, .mtu = 1024};
	const struct fakeverbs_faults small = {.mtu = 512};
	char reason[BU_REASON_SIZE];
	struct end ends[2];

	prepare(ends);
	run_both(ends);
	ck_assert_msg(bu_expect_judge(&expect, &ends[0].result, BU_END_A, reason) !=
			      BU_VERDICT_INCONCLUSIVE,
		      "%s", reason);
	/* Of the other family than the port's address, as it was asked for. */
	prepare(ends);
	for (int i = 0; i < 2; i++) {
		fakeverbs_device(i, &with_ipv6[i]);
		ends[i].opts.rail.gid_family = 6;
	}
	run_both(ends);
	ck_assert_str_eq(ends[0].result.end[1].gid, "fd00::2");
	ck_assert_msg(bu_expect_judge(&expect, &ends[0].result, BU_END_A, reason) !=
			      BU_VERDICT_INCONCLUSIVE,
		      "%s", reason);
	prepare(ends);
	ends[1].opts.rail.gid_index = 2;
	run_both(ends);
	ck_assert_int_eq(bu_expect_judge(&expect, &ends[0].result, BU_END_A, reason),
			 BU_VERDICT_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(reason, "wrong GID: node002 used"));
	prepare(ends);
	fakeverbs_set(0, &small);
	run_both(ends);
	ck_assert_int_eq(bu_expect_judge(&expect, &ends[0].result, BU_END_B, reason),
			 BU_VERDICT_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(reason, "the port of node001 has 512"));
}
END_TEST

START_TEST(one_slow_direction_shows)
{
	const struct fakeverbs_faults fast = {.rate_gbps = 0.02};
	const struct fakeverbs_faults slow = {.rate_gbps = 0.005};
	struct end ends[2];

	prepare(ends);
	fakeverbs_set(0, &fast);
	fakeverbs_set(1, &slow);
	run_both(ends);
	check_good(&ends[1].result, 0);
	check_good(&ends[1].result, 1);
	/* A busy machine measures less than the cap, never more. */
	ck_assert_double_lt(ends[1].result.dir[0].bw_median_gbps, 0.022);
	ck_assert_double_lt(ends[1].result.dir[1].bw_median_gbps, 0.0055);
	ck_assert_double_gt(ends[1].result.dir[0].bw_median_gbps,
			    ends[1].result.dir[1].bw_median_gbps);
}
END_TEST

/* A fault of what a sends (in run 2, or in the pings) spoils a->b alone. */
static const struct {
	const char *what;
	struct fakeverbs_faults faults;
	enum bu_err_kind kind;
	int at, runs;
} spoiled[] = {
	{"lost", {.lose_from = 25}, BU_ERR_REMOTE, BU_END_A, 1},
	{"lost ping", {.lose_from = 80}, BU_ERR_REMOTE, BU_END_A, 3},
	{"hangs", {.hang_from = 25}, BU_ERR_TIMEOUT, BU_END_A, 1},
	{"changed", {.corrupt_from = 25}, BU_ERR_VERIFY, BU_END_B, 1},
	{"refused", {.fail_at = 25}, BU_ERR_IO, BU_END_A, 1},
};

START_TEST(a_spoiled_direction_leaves_the_other)
{
	for (size_t i = 0; i < BU_LEN(spoiled); i++) {
		struct end ends[2];
		const struct bu_pair_dir *dir = &ends[0].result.dir[0];

		prepare(ends);
		ends[0].opts.deadline_ms = 30000;
		fakeverbs_set(0, &spoiled[i].faults);
		run_both(ends);
		check_same(ends);
		ck_assert_int_eq(ends[0].result.error.kind, BU_ERR_NONE);
		ck_assert_msg(dir->error.kind == spoiled[i].kind, "%s: %s",
			      spoiled[i].what, dir->error.text);
		ck_assert_int_eq(dir->error.at, spoiled[i].at);
		ck_assert_int_eq(dir->runs, spoiled[i].runs);
		/* a's answers to b's pings are spoiled as well, the payload is not. */
		ck_assert_int_eq(ends[0].result.dir[1].runs, 3);
	}
}
END_TEST

/* With both directions at work, too; whichever end loses it says so, and both end. */
START_TEST(a_device_that_vanishes_is_named)
{
	static const struct {
		struct fakeverbs_faults faults;
		int duplex;
		enum bu_err_kind kind;
		const char *text;
	} rows[] = {
		{{.vanish_from = 25}, 0, BU_ERR_IO, "fake0 vanished in the middle"},
		{{.quiet_from = 25}, 0, BU_ERR_IO, "fake0 vanished in the middle"},
		{{.vanish_from = 25}, 1, BU_ERR_IO, "fake0 vanished in the middle"},
		{{.unplug_from = 25}, 0, BU_ERR_REMOTE, "port 1 went down"},
		{{.unplug_from = 25}, 1, BU_ERR_REMOTE, "port 1 went down"},
		{{.lose_from = 25}, 1, BU_ERR_REMOTE, "lost, no acknowledgement"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct end ends[2];
		const struct bu_pair_dir *dir = &ends[1].result.dir[0];
		int64_t start_ns = bu_raw_ns();

		prepare(ends);
		for (int end = 0; end < 2; end++) {
			ends[end].opts.duplex = rows[i].duplex;
			ends[end].opts.deadline_ms = 4000;
		}
		fakeverbs_set(0, &rows[i].faults);
		run_both(ends);
		ck_assert_int_lt(bu_raw_ns() - start_ns, 8 * INT64_C(1000000000));
		check_same(ends);
		ck_assert_msg(dir->error.kind == rows[i].kind &&
				      strstr(dir->error.text, rows[i].text),
			      "row %zu: %s", i, dir->error.text);
		ck_assert_int_eq(dir->error.at, BU_END_A);
	}
}
END_TEST

START_TEST(a_missing_device_is_the_ends_own)
{
	struct end ends[2];

	prepare(ends);
	strcpy(ends[1].opts.rail.address, "127.0.0.9");
	run_both(ends);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ends[i].result.dir[i].error.kind, BU_ERR_NOTFOUND);
		ck_assert_int_eq(ends[i].result.dir[i].error.at, BU_END_B);
	}
	check_same(ends);
}
END_TEST

/* A link that is dead while its carrier is up: nobody answers for the peer's address at
 * one end or at both, or nothing is ever acknowledged. Each is a finding about the
 * path, in both directions. */
START_TEST(a_dead_path_fails_both_paths)
{
	static const struct {
		struct fakeverbs_faults faults[2];
		const char *text;
	} rows[] = {
		{{{.rtr_errno = ETIMEDOUT}, {.rtr_errno = ETIMEDOUT}},
		 "nothing answers at ::ffff:127.0.0."},
		{{{.rtr_errno = EHOSTUNREACH}, {.rtr_errno = 0}},
		 "nothing answers at ::ffff:127.0.0.2"},
		{{{.rtr_errno = 0}, {.rtr_errno = ENETUNREACH}},
		 "nothing answers at ::ffff:127.0.0.1"},
		{{{.hang_from = 1}, {.rtr_errno = 0}}, "first word was lost"},
		{{{.lose_from = 1}, {.rtr_errno = 0}}, "lost, no acknowledgement"},
	};
	const struct bu_expect expect = {
		.link_gbps = 100, .percent = 0.0001, .mtu = 1024};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct end ends[2];
		char reason[BU_REASON_SIZE];

		prepare(ends);
		for (int end = 0; end < 2; end++)
			fakeverbs_set(end, &rows[i].faults[end]);
		run_both(ends);
		check_same(ends);
		ck_assert_int_eq(ends[0].result.error.kind, BU_ERR_NONE);
		ck_assert_msg(strstr(ends[0].result.dir[0].error.text, rows[i].text),
			      "row %zu: %s", i, ends[0].result.dir[0].error.text);
		for (int dir = 0; dir < 2; dir++) {
			ck_assert_int_eq(ends[0].result.dir[dir].runs, 0);
			ck_assert_int_eq(
				bu_expect_judge(&expect, &ends[0].result, dir, reason),
				BU_VERDICT_FAIL);
		}
	}
}
END_TEST

/* Two of three runs under the limit: the third could not lift their median. */
START_TEST(runs_end_when_the_median_is_decided)
{
	const struct fakeverbs_faults slow = {.rate_gbps = 0.005};

	for (int duplex = 0; duplex < 2; duplex++) {
		struct end ends[2];

		prepare(ends);
		fakeverbs_set(0, &slow);
		for (int i = 0; i < 2; i++) {
			ends[i].opts.min_gbps = 0.006;
			ends[i].opts.duplex = duplex;
		}
		run_both(ends);
		check_same(ends);
		ck_assert_int_eq(ends[0].result.error.kind, BU_ERR_NONE);
		ck_assert_int_eq(ends[0].result.dir[0].runs, duplex ? 3 : 2);
		ck_assert_int_eq(ends[0].result.dir[0].lat_count, BU_PAIR_PINGS);
		ck_assert_int_eq(ends[0].result.dir[1].runs, 3);
	}
}
END_TEST

START_TEST(a_wrong_secret_measures_nothing)
{
	struct end ends[2];

	prepare(ends);
	ends[1].opts.deadline_ms = 1000;
	ends[0].opts.secret[0] = 'x';
	run_both(ends);
	ck_assert_int_eq(ends[0].result.error.kind, BU_ERR_DENIED);
	ck_assert_int_eq(ends[1].result.error.kind, BU_ERR_TIMEOUT);
	ck_assert_int_eq(ends[0].result.dir[0].runs, 0);
}
END_TEST

START_TEST(both_must_be_told_the_same)
{
	struct end ends[2];

	prepare(ends);
	ends[0].opts.runs = 4;
	run_both(ends);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ends[i].result.error.kind, BU_ERR_INVAL);
		ck_assert_ptr_nonnull(strstr(ends[i].result.error.text, "'runs'"));
	}
	prepare(ends);
	ends[1].opts.self = BU_END_A;
	run_both(ends);
	ck_assert_int_eq(ends[0].result.error.kind, BU_ERR_INVAL);
}
END_TEST

static int
cancelled_soon(void *arg)
{
	return bu_raw_ns() > *(int64_t *)arg;
}

START_TEST(a_cancelled_probe_ends_at_both)
{
	const struct fakeverbs_faults slow = {.rate_gbps = 0.001};
	int64_t at_ns = bu_raw_ns() + 500000000;
	struct end ends[2];

	prepare(ends);
	fakeverbs_set(0, &slow);
	ends[1].opts.cancelled = cancelled_soon;
	ends[1].opts.arg = &at_ns;
	run_both(ends);
	ck_assert_int_eq(ends[1].rc, -1);
	ck_assert_int_eq(ends[1].err.kind, BU_ERR_CANCELLED);
	ck_assert_int_eq(ends[0].rc, 0);
	ck_assert_int_ne(ends[0].result.error.kind, BU_ERR_NONE);
	ck_assert_int_lt(bu_raw_ns() - at_ns, 3 * INT64_C(1000000000));
}
END_TEST

START_TEST(a_peer_that_dies_ends_the_probe)
{
	const struct fakeverbs_faults slow = {.rate_gbps = 0.001};
	struct end ends[2];
	int64_t start_ns;
	pid_t pid;

	prepare(ends);
	fakeverbs_set(0, &slow);
	pid = fork();
	if (pid == 0) {
		run_end(&ends[1]);
		_exit(0);
	}
	pthread_create(&ends[0].thread, NULL, run_end, &ends[0]);
	usleep(700000);
	kill(pid, SIGKILL);
	start_ns = bu_raw_ns();
	waitpid(pid, NULL, 0);
	pthread_join(ends[0].thread, NULL);
	ck_assert_int_lt(bu_raw_ns() - start_ns, 2 * INT64_C(1000000000));
	ck_assert_int_eq(ends[0].rc, 0);
	/* The instrument's fault, none of the path. */
	ck_assert_int_eq(ends[0].result.error.kind, BU_ERR_REMOTE);
	ck_assert_int_eq(ends[0].result.dir[0].error.kind, BU_ERR_NONE);
	ck_assert_int_eq(fakeverbs_objects(), 0);
}
END_TEST

BU_UNIT("pair", both_ends_have_the_same_result, every_operation_both_paths,
	what_is_kept_serves_the_next_probe, both_at_once_are_told_apart,
	a_loop_is_labelled_and_no_pass, a_wrong_gid_and_mtu_are_named,
	one_slow_direction_shows, a_spoiled_direction_leaves_the_other,
	a_device_that_vanishes_is_named, a_missing_device_is_the_ends_own,
	a_dead_path_fails_both_paths, runs_end_when_the_median_is_decided,
	a_wrong_secret_measures_nothing, both_must_be_told_the_same,
	a_cancelled_probe_ends_at_both, a_peer_that_dies_ends_the_probe)
