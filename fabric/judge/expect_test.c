/* SPDX-License-Identifier: Apache-2.0 */
#include "fabric/judge/expect.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"

static const struct bu_expect demo = {.link_gbps = 0.02, .percent = 80};

static const struct {
	const char *what;
	double runs[4]; /* up to the first 0 */
	int lat_count;
	enum bu_err_kind error;
	enum bu_verdict verdict;
	const char *reason; /* holds this */
} rows[] = {
	{"healthy", {0.019, 0.019, 0.0189}, 200, 0, BU_VERDICT_PASS, "19.00 Mbit/s"},
	{"at the line", {0.016}, 200, 0, BU_VERDICT_PASS, "16.00 Mbit/s"},
	{"one low run", {0.019, 0.010, 0.019}, 200, 0, BU_VERDICT_WARN, "1 of 3 runs"},
	{"slow", {0.0047, 0.0048, 0.019}, 200, 0, BU_VERDICT_FAIL, "4.80 Mbit/s"},
	{"too fast",
	 {0.4, 0.4, 0.4},
	 200,
	 0,
	 BU_VERDICT_INCONCLUSIVE,
	 "more than the link"},
	{"none", {0}, 0, 0, BU_VERDICT_INCONCLUSIVE, "did not finish"},
	{"no latency", {0.019}, 0, 0, BU_VERDICT_INCONCLUSIVE, "did not finish"},
	{"lost", {0.019}, 0, BU_ERR_REMOTE, BU_VERDICT_FAIL, "boom"},
	{"stalled", {0}, 0, BU_ERR_TIMEOUT, BU_VERDICT_FAIL, "boom"},
	{"changed", {0.019, 0.019}, 0, BU_ERR_VERIFY, BU_VERDICT_FAIL, "boom"},
	{"no device", {0}, 0, BU_ERR_NOTFOUND, BU_VERDICT_INCONCLUSIVE, "boom"},
	{"broken", {0.019}, 200, BU_ERR_IO, BU_VERDICT_INCONCLUSIVE, "boom"},
};

START_TEST(judges_a_direction)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_pair_result r;
		struct bu_pair_dir *dir = &r.dir[BU_END_B];
		char reason[BU_REASON_SIZE];

		bu_pair_result_init(&r);
		dir->lat_count = rows[i].lat_count;
		for (int run = 0; run < 4 && rows[i].runs[run] > 0; run++)
			bu_pair_dir_add(dir, rows[i].runs[run]);
		dir->error.kind = rows[i].error;
		strcpy(dir->error.text, "boom");
		ck_assert_msg(bu_expect_judge(&demo, &r, BU_END_B, reason) ==
				      rows[i].verdict,
			      "%s: %s", rows[i].what, reason);
		ck_assert_msg(strstr(reason, rows[i].reason) != NULL, "%s: %s",
			      rows[i].what, reason);
	}
}
END_TEST

START_TEST(refuses_empty_expectations)
{
	static const struct bu_expect bad[] = {{.link_gbps = 0, .percent = 80},
					       {.link_gbps = -1, .percent = 80},
					       {.link_gbps = 0.02, .percent = 0},
					       {.link_gbps = 0.02, .percent = 101},
					       {.link_gbps = 0.02, .percent = -1}};
	struct bu_err err;

	ck_assert_int_eq(bu_expect_check(&demo, &err), 0);
	for (size_t i = 0; i < BU_LEN(bad); i++)
		ck_assert_int_eq(bu_expect_check(&bad[i], &err), -1);
}
END_TEST

START_TEST(the_worse_direction_counts)
{
	struct bu_pair_result r;

	bu_pair_result_init(&r);
	bu_pair_dir_add(&r.dir[0], 0.019);
	r.dir[0].lat_count = r.dir[1].lat_count = 1;
	ck_assert_int_eq(bu_expect_judge_pair(&demo, &r), BU_VERDICT_INCONCLUSIVE);
	bu_pair_dir_add(&r.dir[1], 0.019);
	ck_assert_int_eq(bu_expect_judge_pair(&demo, &r), BU_VERDICT_PASS);
	bu_pair_dir_add(&r.dir[1], 0.001);
	ck_assert_int_eq(bu_expect_judge_pair(&demo, &r), BU_VERDICT_FAIL);
}
END_TEST

START_TEST(latency_counts_where_it_is_asked_for)
{
	struct bu_expect expect = demo;
	struct bu_pair_result r;
	char reason[BU_REASON_SIZE];

	bu_pair_result_init(&r);
	r.dir[0].lat_count = 200;
	r.dir[0].lat_median_us = 900;
	bu_pair_dir_add(&r.dir[0], 0.019);
	ck_assert_int_eq(bu_expect_judge(&expect, &r, BU_END_A, reason),
			 BU_VERDICT_PASS);
	expect.lat_max_us = 900;
	ck_assert_int_eq(bu_expect_judge(&expect, &r, BU_END_A, reason),
			 BU_VERDICT_PASS);
	expect.lat_max_us = 899;
	ck_assert_int_eq(bu_expect_judge(&expect, &r, BU_END_A, reason),
			 BU_VERDICT_FAIL);
	ck_assert_str_eq(reason, "median latency 900.0 us, at most 899.0 us wanted");
}
END_TEST

static void
make_good(struct bu_pair_result *r)
{
	bu_pair_result_init(r);
	r->mtu = 4096;
	for (int i = 0; i < 2; i++) {
		struct bu_pair_end *end = &r->end[i];

		snprintf(end->node, sizeof(end->node), "node00%d", i + 1);
		snprintf(end->device, sizeof(end->device), "mlx5_0");
		snprintf(end->address, sizeof(end->address), "10.78.0.1%d", i);
		snprintf(end->gid, sizeof(end->gid), "::ffff:10.78.0.1%d", i);
		end->gid_type = BU_GID_ROCE_V2;
		end->mtu = 4096;
		end->rate_gbps = 400;
		end->memory = BU_MEMORY_HOST;
		bu_pair_dir_add(&r->dir[i], 391.8);
		r->dir[i].lat_count = 200;
		r->dir[i].clock_seconds[0] = 2.01;
		r->dir[i].clock_seconds[1] = 2.0;
	}
}

static void
in_gpu(struct bu_pair_result *r, enum bu_memory way, enum bu_memory found)
{
	for (int i = 0; i < 2; i++) {
		r->end[i].memory = way;
		r->end[i].memory_found = i ? found : way;
	}
}

/* Each row turns one screw of a sound instrument; the verdict must not be a pass and
 * not a fail either. */
enum screw {
	SOUND,
	LOOP,
	LOOP_LOST,
	GID_V1,
	GID_ELSEWHERE,
	GID_SIX,
	GID_SIX_ELSEWHERE,
	MTU_LOW,
	MTU_LOST,
	MEMORY_HOST,
	MEMORY_GPU,
	MEMORY_UNPROVEN,
	MEMORY_FOUND_HOST,
	CLOCK,
	CLOCK_LATE,
	RATE_PORT,
	RATE_SHAPER,
	RATE_SHAPER_IN,
	RATE_IB,
	RATE_IB_IN,
	RATE_SLEWED,
	RATE_AND_CLOCK,
	SLOW
};

static const struct {
	enum screw screw;
	enum bu_verdict verdict;
	int doubt;
	const char *reason;
} screws[] = {
	{SOUND, BU_VERDICT_PASS, 0, "391.80 Gbit/s"},
	{LOOP, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_OTHER, "loopback"},
	{LOOP_LOST, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_OTHER, "loopback"},
	{GID_V1, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_OTHER, "wrong GID: node002"},
	{GID_ELSEWHERE, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_OTHER, "wrong GID: node001"},
	{GID_SIX, BU_VERDICT_PASS, 0, ""},
	{GID_SIX_ELSEWHERE, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_OTHER,
	 "expected RoCE v2 fd00:78:0::11"},
	{MTU_LOW, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_OTHER,
	 "the port of node002 has 1024"},
	{MTU_LOST, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_OTHER, "wrong MTU"},
	{MEMORY_HOST, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_OTHER,
	 "memory in the wrong place: node001"},
	{MEMORY_GPU, BU_VERDICT_PASS, 0, ""},
	{MEMORY_UNPROVEN, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_OTHER,
	 "peermem, reading it back shows n"},
	{MEMORY_FOUND_HOST, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_OTHER,
	 "dmabuf, reading it back shows h"},
	{CLOCK, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_CLOCK,
	 "clock in doubt: the runs took 10.000 s"},
	{CLOCK_LATE, BU_VERDICT_PASS, 0, ""},
	{RATE_PORT, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_LIMIT,
	 "framing leaves 392.15 Gbit/s"},
	{RATE_SHAPER, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_LIMIT, "more than the link"},
	{RATE_SHAPER_IN, BU_VERDICT_PASS, 0, ""},
	{RATE_IB, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_LIMIT,
	 "397.48"}, /* 399.7: once published */
	{RATE_IB_IN, BU_VERDICT_PASS, 0, ""},
	/* As it was seen: half a second was being corrected at one end. */
	{RATE_SLEWED, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_CLOCK,
	 "can carry, and the runs took 1.331 s by the sender's clock (node001) and "
	 "1.447 s"},
	{RATE_AND_CLOCK, BU_VERDICT_INCONCLUSIVE, BU_DOUBT_CLOCK,
	 "clock in doubt: the runs"},
	{SLOW, BU_VERDICT_FAIL, 0, "372"},
};

static void
turn(enum screw screw, struct bu_pair_result *r, struct bu_expect *expect)
{
	double *clocks = r->dir[0].clock_seconds;

	r->dir[0].runs = 0;
	switch (screw) {
	case LOOP_LOST:
	case LOOP:
		strcpy(r->end[1].gid, r->end[0].gid);
		break;
	case GID_V1:
		r->end[1].gid_type = BU_GID_ROCE_V1;
		break;
	case GID_ELSEWHERE:
		strcpy(r->end[0].gid, "::ffff:10.78.0.19");
		break;
	case GID_SIX:
	case GID_SIX_ELSEWHERE:
		strcpy(r->end[0].gid, screw == GID_SIX ? "fd00:78::11" : "fd00:78::12");
		strcpy(r->end[0].address, "fd00:78:0::11");
		break;
	case MTU_LOST:
	case MTU_LOW:
		r->mtu = r->end[1].mtu = 1024;
		break;
	case MEMORY_HOST:
		expect->gpu = 1;
		break;
	case MEMORY_GPU:
		expect->gpu = 1;
		in_gpu(r, BU_MEMORY_DMABUF, BU_MEMORY_DMABUF);
		break;
	case MEMORY_UNPROVEN:
		in_gpu(r, BU_MEMORY_PEERMEM, BU_MEMORY_UNKNOWN);
		break;
	case MEMORY_FOUND_HOST:
		in_gpu(r, BU_MEMORY_DMABUF, BU_MEMORY_HOST);
		break;
	case CLOCK:
		clocks[0] = 10;
		clocks[1] = 9.4;
		break;
	case CLOCK_LATE:
		clocks[0] = 1;
		clocks[1] = 1.45;
		break;
	case RATE_AND_CLOCK:
		clocks[0] = 9.4;
		clocks[1] = 10;
		break;
	case RATE_SLEWED:
		clocks[0] = 1.331;
		clocks[1] = 1.447;
		r->end[0].rate_gbps = 2.5;
		break;
	case RATE_SHAPER:
	case RATE_SHAPER_IN:
		r->end[0].rate_gbps = 2.5;
		break;
	case RATE_IB:
	case RATE_IB_IN:
		for (int i = 0; i < 2; i++) {
			r->end[i].infiniband = 1;
			r->end[i].gid_type = BU_GID_IB;
		}
		break;
	default:
		break;
	}
	if (screw == LOOP_LOST || screw == MTU_LOST)
		r->dir[0].error.kind = BU_ERR_REMOTE;
	bu_pair_dir_add(&r->dir[0], screw == RATE_PORT        ? 393.6
				    : screw == RATE_SHAPER    ? 412
				    : screw == RATE_SHAPER_IN ? 411
				    : screw == RATE_IB        ? 399.7
				    : screw == RATE_IB_IN     ? 398
				    : screw == RATE_SLEWED    ? 426
				    : screw == RATE_AND_CLOCK ? 426
				    : screw == SLOW           ? 370
							      : 391.8);
}

START_TEST(a_wrong_instrument_is_never_a_verdict)
{
	for (size_t i = 0; i < BU_LEN(screws); i++) {
		struct bu_expect expect = {
			.link_gbps = 400, .percent = 93.1, .mtu = 4096};
		struct bu_pair_result r;
		char reason[BU_REASON_SIZE];
		enum bu_verdict verdict;

		make_good(&r);
		turn(screws[i].screw, &r, &expect);
		verdict = bu_expect_judge(&expect, &r, BU_END_A, reason);
		ck_assert_msg(verdict == screws[i].verdict, "screw %d: %s %s",
			      screws[i].screw, bu_verdict_name(verdict), reason);
		ck_assert_msg(strstr(reason, screws[i].reason) != NULL, "screw %d: %s",
			      screws[i].screw, reason);
		ck_assert_int_eq(bu_expect_doubt(&expect, &r, BU_END_A, reason),
				 screws[i].doubt);
	}
}
END_TEST

/* The table's rows of a 400G RoCE port, where the profile has no MTU. */
static struct bu_expect
by_mtu(void)
{
	struct bu_expect expect = {.link_gbps = 400, .percent = 88};

	expect.percent_at[BU_EXPECT_AT_1024] = 88;
	expect.percent_at[BU_EXPECT_AT_2048] = 91.3;
	expect.percent_at[BU_EXPECT_AT_4096] = 93.1;
	return expect;
}

START_TEST(without_an_mtu_the_measured_one_decides)
{
	static const struct {
		int mtu;
		double gbps;
		enum bu_verdict verdict;
		const char *reason;
	} rows_of[] = {
		{4096, 371, BU_VERDICT_FAIL, "at least 372.40 Gbit/s"},
		{4096, 373, BU_VERDICT_PASS, "at least 372.40 Gbit/s"},
		{2048, 365, BU_VERDICT_FAIL, "at least 365.20 Gbit/s"},
		{2048, 366, BU_VERDICT_PASS, "at least 365.20 Gbit/s"},
		{1024, 353, BU_VERDICT_PASS, "at least 352.00 Gbit/s"},
		{1024, 351, BU_VERDICT_FAIL, "at least 352.00 Gbit/s"},
		{0, 353, BU_VERDICT_PASS, "at least 352.00 Gbit/s"},
	};
	struct bu_expect expect = by_mtu(), read;
	bu_autojson json_t *value = bu_expect_to_json(&expect);
	char reason[BU_REASON_SIZE];
	struct bu_pair_result r;

	/* So does a certificate that is read. */
	ck_assert_int_eq(bu_expect_from_json(value, &read, NULL), 0);
	for (size_t i = 0; i < BU_LEN(rows_of); i++) {
		make_good(&r);
		r.mtu = r.end[0].mtu = r.end[1].mtu = rows_of[i].mtu;
		bu_pair_dir_drop(&r.dir[0], 0);
		bu_pair_dir_add(&r.dir[0], rows_of[i].gbps);
		ck_assert_msg(bu_expect_judge(&read, &r, 0, reason) ==
				      rows_of[i].verdict,
			      "row %zu: %s", i, reason);
		ck_assert_msg(strstr(reason, rows_of[i].reason) != NULL, "row %zu: %s",
			      i, reason);
	}
	bu_expect_settle(&expect, 4096);
	ck_assert_double_eq(bu_expect_min_gbps(&expect, 1024), 372.4);
	json_object_set_new(json_object_get(value, "percent_at"), "1024",
			    json_real(101));
	ck_assert_int_eq(bu_expect_from_json(value, &read, NULL), -1);
}
END_TEST

/* An interface of 1500 bytes among those of 9000: the path takes the smaller one. */
START_TEST(without_an_mtu_both_ends_have_the_same)
{
	static const struct {
		int mtu[2];
		const char *rail[2];
		int doubt, infiniband;
	} rows_of[] = {
		{{4096, 1024}, {"rail0", "rail0"}, BU_DOUBT_OTHER, 0},
		{{1024, 4096}, {"", ""}, BU_DOUBT_OTHER, 0},
		{{4096, 1024}, {"rail0", "rail1"}, 0, 0}, /* networks of their own */
		{{1024, 1024}, {"rail0", "rail0"}, 0, 0},
		{{0, 1024}, {"rail0", "rail0"}, 0, 0}, /* one does not tell */
		{{4096, 1024}, {"rail0", "rail0"}, 0, 1},
	};

	for (size_t i = 0; i < BU_LEN(rows_of); i++) {
		struct bu_expect expect = by_mtu();
		char reason[BU_REASON_SIZE], named[BU_REASON_SIZE];
		struct bu_pair_result r;

		make_good(&r);
		for (int end = 0; end < 2; end++) {
			r.end[end].mtu = rows_of[i].mtu[end];
			r.end[end].infiniband = rows_of[i].infiniband;
			strcpy(r.end[end].rail, rows_of[i].rail[end]);
		}
		r.mtu = 1024;
		bu_pair_dir_drop(&r.dir[0], 0);
		bu_pair_dir_add(&r.dir[0], 360);
		ck_assert_int_eq(bu_expect_doubt(&expect, &r, 0, reason),
				 rows_of[i].doubt);
		ck_assert_int_eq(bu_expect_judge(&expect, &r, 0, reason),
				 rows_of[i].doubt ? BU_VERDICT_INCONCLUSIVE
						  : BU_VERDICT_PASS);
		snprintf(named, sizeof(named),
			 "wrong MTU: the port of node001 has %d, the one of node002 "
			 "%d; both must have the same",
			 rows_of[i].mtu[0], rows_of[i].mtu[1]);
		if (rows_of[i].doubt)
			ck_assert_str_eq(reason, named);
	}
}
END_TEST

BU_UNIT("expect", without_an_mtu_the_measured_one_decides,
	without_an_mtu_both_ends_have_the_same, judges_a_direction,
	refuses_empty_expectations, the_worse_direction_counts,
	latency_counts_where_it_is_asked_for, a_wrong_instrument_is_never_a_verdict)
