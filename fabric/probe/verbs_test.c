/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of a connection in one program, over the stand-in for libibverbs. */
#include "fabric/probe/verbs.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "tests/support/fakedriver.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/unit.h"

enum { MESSAGE = 65536, TIMED = 8, BYTES = TIMED * MESSAGE, STAMP = 77, PINGS = 50 };

static struct bu_verbs *ends[2]; /* a is the source, b the sink */
static struct bu_verbs_opts base;

static struct bu_wait
wait_ms(int64_t ms)
{
	return (struct bu_wait){.deadline_ns = bu_raw_ns() + ms * 1000000};
}

static struct bu_verbs_opts
make_opts(int end)
{
	struct bu_verbs_opts opts = base;

	opts.rail = (struct bu_work_rail)FAKEVERBS_RAIL("", -1);
	strcpy(opts.rail.address, end ? "127.0.0.2" : "127.0.0.1");
	opts.gpu = -1;
	opts.roles = opts.roles ? opts.roles : end ? BU_VERBS_SINK : BU_VERBS_SOURCE;
	opts.message_bytes = opts.message_bytes ? opts.message_bytes : MESSAGE;
	opts.bytes = opts.bytes ? opts.bytes : TIMED * (uint64_t)opts.message_bytes;
	opts.runs = 2;
	opts.qps = opts.qps ? opts.qps : 1;
	return opts;
}

/* faults hit what the first end posts, or the second when it reads. */
static void
setup(const struct fakeverbs_faults *faults)
{
	static const struct fakeverbs_faults none;
	struct bu_verbs_peer peers[2];
	struct bu_err err;

	for (int i = 0; i < 2; i++) {
		const struct bu_verbs_opts opts = make_opts(i);

		fakeverbs_set(i,
			      i == (base.op == BU_OP_READ) && faults ? faults : &none);
		ends[i] = bu_verbs_create(&opts, &err);
		ck_assert_msg(ends[i] != NULL, "%s", err.text);
		bu_verbs_local(ends[i], &peers[i]);
	}
	for (int i = 0; i < 2; i++) {
		int mtu;

		ck_assert_msg(bu_verbs_connect(ends[i], &peers[!i], &mtu, &err) == 0,
			      "%s", err.text);
		ck_assert_int_eq(mtu, 1024);
	}
}

static void
teardown(void)
{
	bu_verbs_destroy(ends[0]);
	bu_verbs_destroy(ends[1]);
	memset(&base, 0, sizeof(base));
	ck_assert_int_eq(fakeverbs_objects(), 0);
}

struct side {
	struct bu_verbs *verbs;
	struct bu_verbs_run run;
	int64_t deadline_ms;
	int rc;
	struct bu_err err;
};

static void *
run_side(void *arg)
{
	struct side *side = arg;
	struct bu_wait wait = wait_ms(side->deadline_ms);

	side->err.kind = BU_ERR_NONE;
	side->rc = side->run.posts || side->run.takes
			   ? bu_verbs_run(side->verbs, &side->run, &wait, &side->err)
			   : 0;
	return NULL;
}

/* One run from a to b; both sides are told. */
static void
transfer(struct side sides[2], int number, int64_t deadline_ms)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		sides[i] = (struct side){.verbs = ends[i], .deadline_ms = deadline_ms};
		sides[i].run.number = number;
		sides[i].run.stamp = STAMP + (uint64_t)number;
		sides[i].run.posts = i == (base.op == BU_OP_READ);
		sides[i].run.takes = i == 1 && base.op == BU_OP_SEND;
	}
	ck_assert_int_eq(bu_verbs_stamp(ends[0], &sides[0].run, NULL), 0);
	pthread_create(&thread, NULL, run_side, &sides[1]);
	run_side(&sides[0]);
	pthread_join(thread, NULL);
}

/* Every way to move payload, and the sizes at which the engine works differently. */
static const struct {
	enum bu_op op;
	int qps;
	uint32_t message_bytes;
	uint64_t timed; /* messages */
	uint64_t window_bytes;
} manners[] = {
	{BU_OP_WRITE, 1, 65536, 8, 0},     {BU_OP_WRITE, 4, 65536, 40, 0},
	{BU_OP_WRITE, 3, 4096, 50, 65536}, {BU_OP_WRITE, 2, 64, 4000, 0},
	{BU_OP_WRITE, 16, 1024, 100, 0},   {BU_OP_WRITE, 1, 4194304, 2, 0},
	{BU_OP_READ, 1, 65536, 8, 0},      {BU_OP_READ, 4, 65536, 40, 0},
	{BU_OP_READ, 2, 64, 4000, 0},      {BU_OP_READ, 3, 4096, 50, 65536},
	{BU_OP_SEND, 1, 65536, 8, 0},      {BU_OP_SEND, 4, 65536, 40, 0},
	{BU_OP_SEND, 2, 64, 4000, 0},      {BU_OP_SEND, 3, 4096, 50, 65536},
	{BU_OP_SEND, 1, 1048576, 2, 0},
};

START_TEST(every_manner_moves_payload)
{
	for (size_t i = 0; i < BU_LEN(manners); i++) {
		base = (struct bu_verbs_opts){.op = manners[i].op,
					      .qps = manners[i].qps,
					      .message_bytes = manners[i].message_bytes,
					      .bytes = manners[i].timed *
						       manners[i].message_bytes,
					      .window_bytes = manners[i].window_bytes};
		setup(NULL);
		for (int run = 0; run < 2; run++) {
			struct side sides[2];
			struct side *poster = &sides[base.op == BU_OP_READ];
			struct bu_err err;

			transfer(sides, run, 10000);
			for (int k = 0; k < 2; k++)
				ck_assert_msg(sides[k].rc == 0, "row %zu: %s", i,
					      sides[k].err.text);
			ck_assert_double_gt(poster->run.ret_gbps, 0);
			ck_assert_uint_eq(poster->run.ret_bytes,
					  bu_verbs_messages(ends[0]) *
						  manners[i].message_bytes);
			ck_assert_msg(bu_verbs_check(ends[1], &sides[1].run, &err) == 0,
				      "row %zu: %s", i, err.text);
		}
		teardown();
	}
}
END_TEST

START_TEST(another_run_is_not_taken_for_this_one)
{
	struct side sides[2];
	struct bu_err err;

	setup(NULL);
	transfer(sides, 0, 10000);
	ck_assert_int_eq(bu_verbs_check(ends[1], &sides[1].run, &err), 0);
	sides[1].run.stamp++;
	ck_assert_int_eq(bu_verbs_check(ends[1], &sides[1].run, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	sides[1].run.stamp--;
	sides[1].run.number++; /* a pass that never came */
	ck_assert_int_eq(bu_verbs_check(ends[1], &sides[1].run, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	teardown();
}
END_TEST

/* Whichever byte of whichever message in the window, by whichever operation. */
START_TEST(one_flipped_bit_is_found)
{
	static const long bytes[] = {1, 7, 8, 9, 1023, 2048, 4087, 4088, 4094, 4095};
	struct bu_err err;

	for (int op = BU_OP_WRITE; op <= BU_OP_SEND; op++) {
		for (size_t i = 0; i < BU_LEN(bytes); i++) {
			struct fakeverbs_faults faults = {.corrupt_byte = bytes[i]};
			struct side sides[2];
			char wanted[64];
			long last;

			base.op = (enum bu_op)op;
			base.message_bytes = 4096;
			setup(NULL);
			last = (long)bu_verbs_messages(ends[0]);
			teardown();
			base.op = (enum bu_op)op;
			base.message_bytes = 4096;
			faults.corrupt_from = last - (long)(i % 3);
			setup(&faults);
			transfer(sides, 0, 10000);
			ck_assert_int_eq(bu_verbs_check(ends[1], &sides[1].run, &err),
					 -1);
			ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
			snprintf(wanted, sizeof(wanted),
				 "message %ld: byte %ld is not what was sent",
				 faults.corrupt_from - 1, bytes[i]);
			ck_assert_str_eq(err.text, wanted);
			teardown();
		}
	}
}
END_TEST

START_TEST(measures_a_limited_link)
{
	const struct fakeverbs_faults faults = {.rate_gbps = 0.05};

	for (int op = BU_OP_WRITE; op <= BU_OP_SEND; op++) {
		struct side sides[2];

		base.op = (enum bu_op)op;
		base.qps = 2;
		base.bytes = 4 * BYTES;
		setup(&faults);
		transfer(sides, 0, 10000);
		/* The cap; a busy machine is below. */
		ck_assert_double_lt(sides[op == BU_OP_READ].run.ret_gbps, 0.055);
		ck_assert_double_gt(sides[op == BU_OP_READ].run.ret_gbps, 0);
		teardown();
	}
}
END_TEST

/* Faults of what is posted, and what they are called. All end in bounded time. */
static const struct {
	struct fakeverbs_faults faults;
	enum bu_err_kind kind;
	const char *text;
} failures[] = {
	{{.lose_from = 3}, BU_ERR_REMOTE, "lost, no acknowledgement"},
	{{.fail_at = 3}, BU_ERR_IO, "2: remote operation error"},
	{{.hang_from = 3}, BU_ERR_TIMEOUT, "it did not end within the deadline"},
	{{.vanish_from = 3}, BU_ERR_IO, "vanished in the middle"},
	{{.quiet_from = 3}, BU_ERR_IO, "vanished in the middle"},
	{{.unplug_from = 3}, BU_ERR_REMOTE, "port 1 went down"},
};

START_TEST(failures_are_named_and_end)
{
	for (int op = BU_OP_WRITE; op <= BU_OP_SEND; op++) {
		for (size_t i = 0; i < BU_LEN(failures); i++) {
			struct side sides[2], *poster = &sides[op == BU_OP_READ];

			base.op = (enum bu_op)op;
			setup(&failures[i].faults);
			transfer(sides, 0, 400);
			ck_assert_int_eq(poster->rc, -1);
			ck_assert_msg(
				poster->err.kind == failures[i].kind &&
					strstr(poster->err.text, failures[i].text),
				"%s", poster->err.text);
			ck_assert_double_eq(poster->run.ret_gbps, 0);
			teardown();
		}
	}
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
	const struct fakeverbs_faults late = {.delay_us = 2000};

	for (int op = BU_OP_WRITE; op <= BU_OP_SEND; op += BU_OP_SEND) {
		struct bu_wait wait = wait_ms(10000);
		double samples[PINGS];
		pthread_t thread;
		int rc = -1;

		base.lat_op = (enum bu_op)op;
		setup(&late);
		for (int again = 0; again < 2; again++) {
			pthread_create(&thread, NULL, answer, &rc);
			ck_assert_int_eq(
				bu_verbs_ping(ends[0], 1, PINGS, &wait, samples, NULL),
				0);
			pthread_join(thread, NULL);
			ck_assert_int_eq(rc, 0);
			/* Half of what is late in one direction. */
			for (int i = 0; i < PINGS; i++)
				ck_assert_double_gt(samples[i], 1000);
		}
		teardown();
	}
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
		{"", "127.0.0.1", 64, BU_ERR_NONE},
		{"fake1", "", 64, BU_ERR_NONE},
		{"fake0", "127.0.0.1", 64, BU_ERR_NONE},
		{"fake1", "127.0.0.1", 64, BU_ERR_NOTFOUND},
		{"fake9", "", 64, BU_ERR_NOTFOUND},
		{"", "127.0.0.9", 64, BU_ERR_NOTFOUND},
		{"", "localhost", 64, BU_ERR_INVAL},
		{"", "", 64, BU_ERR_INVAL},
		{"", "127.0.0.1", 60, BU_ERR_INVAL},
		{"", "127.0.0.1", 4, BU_ERR_INVAL},
		{"", "127.0.0.1", UINT32_MAX, BU_ERR_INVAL},
	};
	const struct fakeverbs_faults down = {.port_down = 1};
	struct bu_verbs_opts opts;
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_verbs *verbs;

		opts = make_opts(0);
		strcpy(opts.rail.port, rows[i].device);
		strcpy(opts.rail.address, rows[i].ip);
		opts.message_bytes = rows[i].message_bytes;
		verbs = bu_verbs_create(&opts, &err);
		ck_assert_msg((verbs != NULL) == (rows[i].kind == BU_ERR_NONE),
			      "row %zu", i);
		ck_assert(verbs || err.kind == rows[i].kind);
		bu_verbs_destroy(verbs);
	}
	opts = make_opts(0);
	opts.qps = BU_QPS_MAX + 1;
	ck_assert_ptr_null(bu_verbs_create(&opts, &err));
	fakeverbs_set(0, &down);
	opts = make_opts(0);
	ck_assert_ptr_null(bu_verbs_create(&opts, &err));
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_int_eq(fakeverbs_objects(), 0);
}
END_TEST

START_TEST(a_port_is_described)
{
	const struct fakeverbs_faults jumbo = {.mtu = 4096};
	char root[] = "/tmp/verbs_test.XXXXXX";
	struct bu_verbs_opts opts = make_opts(0);
	struct bu_pair_end end = {.numa = 7};
	struct bu_pair_dir dir = {.qps = 0};
	struct bu_verbs *verbs;

	fakeverbs_set(0, &jumbo);
	opts.qps = 3;
	opts.sport = 0xfffe;
	opts.rail.gid_index = 2;
	opts.window_bytes = 64 * MESSAGE;
	fakedriver_make(root, "mlx5_core");
	opts.root = root;
	verbs = bu_verbs_create(&opts, NULL);
	bu_verbs_describe(verbs, &end);
	bu_verbs_paths(verbs, &dir);
	ck_assert_str_eq(end.device, "fake0");
	ck_assert_str_eq(end.gid, "::ffff:127.0.0.1");
	ck_assert_int_eq(end.gid_index, 2);
	ck_assert_int_eq(end.gid_type, BU_GID_ROCE_V1);
	ck_assert_int_eq(end.mtu, 4096);
	ck_assert_int_eq(end.infiniband, 0);
	ck_assert_double_eq(end.rate_gbps, 100);
	ck_assert_int_eq(end.memory, BU_MEMORY_HOST);
	ck_assert_int_eq(end.memory_found, BU_MEMORY_HOST);
	ck_assert_int_eq(end.window_bytes, 63 * MESSAGE); /* a third for each */
	ck_assert_int_eq(dir.qps, 3);
	ck_assert_int_eq(dir.sport[0], 0xfffe);
	ck_assert_int_eq(dir.sport[1], 0xffff);
	ck_assert_int_eq(dir.sport[2], 0xc000); /* it wraps within its range */
	ck_assert_int_ne(dir.flow_label[2], 0);
	bu_verbs_destroy(verbs);
	fakedriver_remove(root);
}
END_TEST

START_TEST(a_loop_is_refused)
{
	struct bu_verbs_opts opts = make_opts(0);
	struct bu_verbs *verbs = bu_verbs_create(&opts, NULL);
	struct bu_verbs_peer own, read;
	bu_autojson json_t *value = NULL;
	struct bu_err err;
	int mtu;

	bu_verbs_local(verbs, &own);
	value = bu_verbs_peer_to_json(&own);
	memset(&read, 0, sizeof(read));
	ck_assert_int_eq(bu_verbs_peer_from_json(value, &read, &err), 0);
	ck_assert_int_eq(memcmp(&own, &read, sizeof(own)), 0);
	ck_assert_int_eq(bu_verbs_connect(verbs, &read, &mtu, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "loop"));
	bu_verbs_destroy(verbs);
}
END_TEST

/* Each row spoils one field of a good peer. */
static const struct {
	const char *key, *json;
} bad[] = {
	{"gid", "7"},
	{"mtu", "1000"},
	{"qpn", "[]"},
	{"qpn", "[0]"},
	{"qpn", "[16777216]"},
	{"qpn", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"},
	{"psn", "-1"},
	{"slots", "4294967296"},
	{"rd", "256"},
	{"recv", "{\"addr\":\"xyz\",\"rkey\":1}"},
	{"recv", "{\"addr\":\"1ffffffffffffffff\",\"rkey\":1}"},
	{"send", "{}"},
	{"ping", "null"},
};

START_TEST(peers_are_read_strictly)
{
	struct bu_verbs_opts opts = make_opts(0);
	struct bu_verbs *verbs = bu_verbs_create(&opts, NULL);
	bu_autojson json_t *value = NULL;
	struct bu_verbs_peer own, peer;
	struct bu_err err;
	int mtu;

	bu_verbs_local(verbs, &own);
	value = bu_verbs_peer_to_json(&own);
	for (size_t i = 0; i < BU_LEN(bad); i++) {
		bu_autojson json_t *copy = json_deep_copy(value);

		json_object_set_new(copy, bad[i].key,
				    json_loads(bad[i].json, JSON_DECODE_ANY, NULL));
		ck_assert_msg(bu_verbs_peer_from_json(copy, &peer, NULL) == -1,
			      "%s = %s was taken", bad[i].key, bad[i].json);
	}
	/* Numbers that are well-formed and do not fit this end. */
	strcpy(own.gid, "::ffff:127.0.0.2");
	peer = own;
	peer.slots = 1;
	ck_assert_int_eq(bu_verbs_connect(verbs, &peer, &mtu, &err), -1);
	peer = own;
	peer.qps = 2;
	ck_assert_int_eq(bu_verbs_connect(verbs, &peer, &mtu, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "2 queue pairs"));
	bu_verbs_destroy(verbs);
}
END_TEST

BU_UNIT("verbs", every_manner_moves_payload, another_run_is_not_taken_for_this_one,
	one_flipped_bit_is_found, measures_a_limited_link, failures_are_named_and_end,
	pings_give_each_round_trip, a_ping_without_answer_ends,
	ports_are_found_or_refused, a_port_is_described, a_loop_is_refused,
	peers_are_read_strictly)
