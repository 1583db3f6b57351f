/* SPDX-License-Identifier: Apache-2.0 */
/* Where payload lies, over stand-ins for libibverbs and libcuda. */
#include "fabric/probe/buffer.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fabric/judge/expect.h"
#include "fabric/probe/pair.h"
#include "fabric/probe/verbs.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/unit.h"

static const char library[] = BU_BUILDDIR "/tests/support"
					  "/fakecuda.so";

static struct bu_pair_opts
make_opts(void)
{
	return (struct bu_pair_opts){.probe = "p1",
				     .node = {"node001", "node002"},
				     .rail = FAKEVERBS_RAIL("127.0.0.1", -1),
				     .message_bytes = 4096,
				     .bytes = 64 * 4096,
				     .runs = 2,
				     .pings = 20,
				     .qps = 2,
				     .deadline_ms = 10000,
				     .loopback = 1,
				     .gpu = 0,
				     .cuda = library};
}

/* Each mood of the library, the way that memory gets to the adapter, and what reading
 * it back shows. */
static const struct {
	const char *mood;
	enum bu_memory memory, found;
} moods[] = {
	{"", BU_MEMORY_DMABUF, BU_MEMORY_DMABUF},
	{"peermem", BU_MEMORY_PEERMEM, BU_MEMORY_PEERMEM},
	{"host", BU_MEMORY_PEERMEM, BU_MEMORY_HOST},
	{"managed", BU_MEMORY_DMABUF, BU_MEMORY_HOST},
	{"liar", BU_MEMORY_DMABUF, BU_MEMORY_UNKNOWN},
	{"pcie", BU_MEMORY_DMABUF, BU_MEMORY_DMABUF},
	{"old", BU_MEMORY_PEERMEM, BU_MEMORY_PEERMEM},
};

START_TEST(the_place_of_memory_is_proven)
{
	for (size_t i = 0; i < BU_LEN(moods); i++) {
		struct bu_verbs_opts opts = {.rail = FAKEVERBS_RAIL("127.0.0.1", -1),
					     .message_bytes = 4096,
					     .bytes = 65536,
					     .runs = 1,
					     .qps = 1,
					     .roles = BU_VERBS_SOURCE,
					     .cuda = library};
		struct bu_pair_end end = {.numa = 0};
		struct bu_verbs *verbs;
		struct bu_err err;

		setenv("FAKECUDA", moods[i].mood, 1);
		verbs = bu_verbs_create(&opts, &err);
		ck_assert_msg(verbs != NULL, "%s: %s", moods[i].mood, err.text);
		bu_verbs_describe(verbs, &end);
		ck_assert_msg(end.memory == moods[i].memory &&
				      end.memory_found == moods[i].found,
			      "'%s': %s, %s", moods[i].mood, bu_memory_name(end.memory),
			      bu_memory_name(end.memory_found));
		bu_verbs_destroy(verbs);
	}
	ck_assert_int_eq(fakeverbs_objects(), 0);
}
END_TEST

/* The payload of a probe travels from GPU memory to GPU memory, by every operation, and
 * is checked through CUDA. */
START_TEST(payload_travels_between_gpus)
{
	struct bu_pair_opts opts = make_opts();

	setenv("FAKECUDA", "", 1);
	for (int op = BU_OP_WRITE; op <= BU_OP_SEND; op++) {
		const struct fakeverbs_faults spoil = {.corrupt_from = 40};
		static const struct fakeverbs_faults none;
		struct bu_pair_result result;

		opts.op = (enum bu_op)op;
		fakeverbs_set(0, &none);
		ck_assert_int_eq(bu_pair_run(&opts, &result, NULL), 0);
		ck_assert_msg(result.dir[0].error.kind == BU_ERR_NONE, "%s",
			      result.dir[0].error.text);
		ck_assert_int_eq(result.dir[0].runs, 2);
		ck_assert_int_eq(result.end[1].memory_found, BU_MEMORY_DMABUF);
		fakeverbs_set(0, &spoil);
		ck_assert_int_eq(bu_pair_run(&opts, &result, NULL), 0);
		ck_assert_int_eq(result.dir[0].error.kind, BU_ERR_VERIFY);
		ck_assert_int_eq(fakeverbs_objects(), 0);
	}
}
END_TEST

START_TEST(host_memory_in_a_gpus_place_is_no_verdict)
{
	const struct bu_expect expect = {.link_gbps = 100, .percent = 0.0001, .gpu = 1};
	static const struct fakeverbs_faults none;
	struct bu_pair_opts opts = make_opts();
	char reason[BU_REASON_SIZE];
	struct bu_pair_result result;

	fakeverbs_set(0, &none);
	setenv("FAKECUDA", "host", 1);
	ck_assert_int_eq(bu_pair_run(&opts, &result, NULL), 0);
	ck_assert_int_eq(result.dir[0].error.kind, BU_ERR_NONE);
	strcpy(result.end[1].gid, "::ffff:127.0.0.2"); /* else it is a loop first */
	strcpy(result.end[1].address, "127.0.0.2");
	ck_assert_int_eq(bu_expect_judge(&expect, &result, BU_END_A, reason),
			 BU_VERDICT_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(reason, "memory in the wrong place: node001"));
	ck_assert_ptr_nonnull(strstr(reason, "shows host"));
	/* And without CUDA at all. */
	opts.gpu = -1;
	ck_assert_int_eq(bu_pair_run(&opts, &result, NULL), 0);
	strcpy(result.end[1].gid, "::ffff:127.0.0.2");
	strcpy(result.end[1].address, "127.0.0.2");
	ck_assert_int_eq(bu_expect_judge(&expect, &result, BU_END_A, reason),
			 BU_VERDICT_INCONCLUSIVE);
	ck_assert_ptr_nonnull(strstr(reason, "memory in the wrong place"));
}
END_TEST

START_TEST(what_is_no_cuda_is_said)
{
	static const struct {
		const char *mood, *library, *text;
		int gpu;
	} rows[] = {
		{"", "/nowhere/libcuda.so.1", "driver installed", 0},
		{"", "libm.so.6", "has no cuInit", 0},
		{"none", library, "cuInit: error 100", 0},
		{"", library, "no GPU 3", 3},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err;

		setenv("FAKECUDA", rows[i].mood, 1);
		ck_assert_ptr_null(bu_cuda_open(rows[i].library, rows[i].gpu, &err));
		ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
		ck_assert_msg(strstr(err.text, rows[i].text) != NULL, "%s", err.text);
	}
}
END_TEST

BU_UNIT("buffer", the_place_of_memory_is_proven, payload_travels_between_gpus,
	host_memory_in_a_gpus_place_is_no_verdict, what_is_no_cuda_is_said)
