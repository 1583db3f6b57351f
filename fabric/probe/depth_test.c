/* SPDX-License-Identifier: Apache-2.0 */
/* How much is under way, what is not timed, and how the engine waits. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "fabric/probe/verbs.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/unit.h"

enum { MESSAGE = 4096, PINGS = 20 };

static char root[] = "/tmp/depth_test.XXXXXX";
static struct bu_verbs *ends[2];
static struct bu_verbs_opts base;
static int yields;

int __wrap_sched_yield(void);
int
__wrap_sched_yield(void)
{
	__atomic_add_fetch(&yields, 1, __ATOMIC_SEQ_CST);
	usleep(1);
	return 0;
}

/* Both have a CPU of their own where cpus says one. */
static void
setup(const struct fakeverbs_device *machine, int delay_us, const char *cpus)
{
	const struct fakeverbs_faults faults = {.delay_us = delay_us};
	static const struct bu_work_rail rails[] = {FAKEVERBS_RAIL("127.0.0.1", -1),
						    FAKEVERBS_RAIL("127.0.0.2", -1)};
	struct bu_verbs_peer peers[2];
	int mtu;

	ck_assert_ptr_nonnull(mkdtemp(root));
	for (int i = 0; i < 2; i++) {
		bu_autofree char *dir =
			bu_xasprintf("%s/sys/class/infiniband/fake%d/device", root, i);
		bu_autofree char *path = bu_xasprintf("%s/local_cpulist", dir);
		struct bu_verbs_opts opts = base;
		struct bu_err err = {.text = ""};

		ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
		ck_assert_int_eq(bu_file_write(path, cpus, strlen(cpus), 0644, NULL),
				 0);
		opts.rail = rails[i];
		opts.root = root;
		opts.gpu = -1;
		opts.roles = i ? BU_VERBS_SINK : BU_VERBS_SOURCE;
		opts.message_bytes = opts.message_bytes ? opts.message_bytes : MESSAGE;
		opts.bytes = 64 * (uint64_t)opts.message_bytes;
		opts.runs = 1;
		opts.qps = opts.qps ? opts.qps : 2;
		fakeverbs_set(i, &faults);
		fakeverbs_device(i, machine ? &machine[i] : NULL);
		ends[i] = bu_verbs_create(&opts, &err);
		ck_assert_msg(ends[i] != NULL, "%s", err.text);
		bu_verbs_local(ends[i], &peers[i]);
	}
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(bu_verbs_connect(ends[i], &peers[!i], &mtu, NULL), 0);
}

static void
teardown(void)
{
	bu_autofree char *clean = bu_xasprintf("rm -rf %s", root);

	for (int i = 0; i < 2; i++) {
		bu_verbs_destroy(ends[i]);
		fakeverbs_device(i, NULL);
	}
	ck_assert_int_eq(system(clean), 0);
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	memset(&base, 0, sizeof(base));
	ck_assert_int_eq(fakeverbs_objects(), 0);
}

struct side {
	struct bu_verbs *verbs;
	struct bu_verbs_run run;
	int rc;
	struct bu_err err;
};

static void *
run_side(void *arg)
{
	struct side *side = arg;
	struct bu_wait wait = {.deadline_ns = bu_raw_ns() + INT64_C(10000000000)};

	side->rc = bu_verbs_run(side->verbs, &side->run, &wait, &side->err);
	return NULL;
}

static void
one_run(void)
{
	struct side sides[2] = {{.verbs = ends[0]}, {.verbs = ends[1]}};
	pthread_t thread;

	sides[0].run.stamp = sides[1].run.stamp = 9;
	sides[0].run.posts = 1;
	sides[1].run.takes = base.op == BU_OP_SEND;
	ck_assert_int_eq(bu_verbs_stamp(ends[0], &sides[0].run, NULL), 0);
	pthread_create(&thread, NULL, run_side, &sides[1]);
	run_side(&sides[0]);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++)
		ck_assert_msg(sides[i].rc == 0, "%s", sides[i].err.text);
	ck_assert_uint_eq(sides[0].run.ret_bytes, bu_verbs_messages(ends[0]) * MESSAGE);
	ck_assert_int_eq(bu_verbs_check(ends[1], &sides[1].run, NULL), 0);
}

/* What is sent before the clock starts, by depth and by bytes. */
START_TEST(warm_up_and_depth_are_as_asked_for)
{
	static const struct {
		int qps, depth;
		uint64_t warm_bytes, messages;
	} rows[] = {
		{2, 0, 0, 64 + 8}, /* an eighth of the run */
		{2, 16, 0, 64 + 32},
		{4, 32, 0, 64 + 128},
		{2, 16, 100 * MESSAGE, 64 + 100},
		{3, 16, 100 * MESSAGE + 1, 66 + 102},
		{1, 1, 0, 64 + 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		base.qps = rows[i].qps;
		base.depth = rows[i].depth;
		base.warm_bytes = rows[i].warm_bytes;
		setup(NULL, 0, "");
		ck_assert_uint_eq(bu_verbs_messages(ends[0]), rows[i].messages);
		ck_assert_uint_eq(bu_verbs_messages(ends[1]), rows[i].messages);
		one_run();
		teardown();
	}
}
END_TEST

/* Queues that hold less than is asked for, at one end alone: both still count the
 * same. */
START_TEST(adapters_are_not_asked_for_more_than_they_hold)
{
	for (int op = BU_OP_WRITE; op <= BU_OP_SEND; op += BU_OP_SEND) {
		struct fakeverbs_device machine[2];

		for (int small = 0; small < 4; small++) {
			memset(machine, 0, sizeof(machine));
			for (int i = 0; i < 2; i++) {
				machine[i].ports = 1;
				machine[i].port[0].gid[1] =
					i ? "::ffff:127.0.0.2" : "::ffff:127.0.0.1";
				machine[i].port[0].pkey[0] = 0xffff;
			}
			machine[small & 1].max_qp_wr = small & 2 ? 0 : 12;
			machine[small & 1].max_cqe = small & 2 ? 40 : 0;
			base.op = base.lat_op = (enum bu_op)op;
			base.depth = 64;
			setup(machine, 0, "");
			ck_assert_uint_eq(bu_verbs_messages(ends[0]), 64 + 128);
			ck_assert_uint_eq(bu_verbs_messages(ends[1]), 64 + 128);
			one_run();
			teardown();
		}
	}
}
END_TEST

/* 0.54 s, or what a link a sixteenth as fast as it must be needs; 2.1 s at most. A lone
 * queue of reads notices what was lost by its timer alone. */
START_TEST(nothing_slow_is_sent_again)
{
	static const struct {
		double min_gbps;
		int qps, depth;
		uint32_t message;
		int op, timeout;
	} rows[] = {
		{0, 4, 2, 65536, BU_OP_WRITE, 17},
		{90, 4, 32, 131072, BU_OP_WRITE, 17},
		{0.016, 1, 2, 32768, BU_OP_WRITE, 17}, /* 0.52 s */
		{0.015, 1, 2, 32768, BU_OP_WRITE, 18}, /* 0.56 s */
		{0.016, 1, 2, 65536, BU_OP_SEND, 18},
		{0.016, 1, 4, 65536, BU_OP_WRITE, 19},
		{0.004, 4, 2, 8192, BU_OP_WRITE, 19}, /* 2.10 s */
		{0.0005, 4, 2, 65536, BU_OP_WRITE, 19},
		{0.004, 1, 8, 16384, BU_OP_READ, 14},
		{0.004, 4, 2, 8192, BU_OP_READ, 19},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		base.op = (enum bu_op)rows[i].op;
		base.min_gbps = rows[i].min_gbps;
		base.qps = rows[i].qps;
		base.depth = rows[i].depth;
		base.message_bytes = rows[i].message;
		setup(NULL, 0, "");
		for (int end = 0; end < 2; end++)
			ck_assert_int_eq(fakeverbs_route(end).timeout, rows[i].timeout);
		teardown();
	}
}
END_TEST

static void *
answer(void *arg)
{
	struct bu_wait wait = {.deadline_ns = bu_raw_ns() + INT64_C(10000000000)};

	*(int *)arg = bu_verbs_ping(ends[1], 0, PINGS, &wait, NULL, NULL);
	return NULL;
}

static void
ping(void)
{
	struct bu_wait wait = {.deadline_ns = bu_raw_ns() + INT64_C(10000000000)};
	double samples[PINGS];
	pthread_t thread;
	int rc = -1;

	yields = 0;
	pthread_create(&thread, NULL, answer, &rc);
	ck_assert_int_eq(bu_verbs_ping(ends[0], 1, PINGS, &wait, samples, NULL), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(rc, 0);
}

/* On a CPU of its own an end that waits for a ping does nothing else, until it has
 * waited for a millisecond. */
START_TEST(a_bound_ping_does_not_yield)
{
	setup(NULL, 100, "0-4095");
	ping();
	ck_assert_int_eq(yields, 0);
	teardown();
	setup(NULL, 100, "");
	ping();
	ck_assert_int_gt(yields, 0);
	teardown();
}
END_TEST

START_TEST(small_words_travel_in_the_post)
{
	struct fakeverbs_device plain[2];
	long before;

	setup(NULL, 0, "");
	before = fakeverbs_inlined(0);
	ping();
	ck_assert_int_ge(fakeverbs_inlined(0) - before, PINGS);
	before = fakeverbs_inlined(0);
	one_run();
	ck_assert_int_eq(fakeverbs_inlined(0) - before, 0);
	teardown();
	memset(plain, 0, sizeof(plain));
	for (int i = 0; i < 2; i++) {
		plain[i].ports = plain[i].no_inline = 1;
		plain[i].port[0].gid[1] = i ? "::ffff:127.0.0.2" : "::ffff:127.0.0.1";
		plain[i].port[0].pkey[0] = 0xffff;
	}
	setup(plain, 0, "");
	before = fakeverbs_inlined(0);
	ping();
	ck_assert_int_eq(fakeverbs_inlined(0) - before, 0);
	teardown();
}
END_TEST

BU_UNIT("depth", warm_up_and_depth_are_as_asked_for,
	adapters_are_not_asked_for_more_than_they_hold, a_bound_ping_does_not_yield,
	small_words_travel_in_the_post, nothing_slow_is_sent_again)
