/* SPDX-License-Identifier: Apache-2.0 */
/* What the log keeps of a pair's result: what was lost, what counts for nothing and
 * why, and how often that was. */
#include "tests/support/between.h"

/* One counter of an end. */
struct told {
	int end;
	enum bu_counter counter;
	int count;
};

static struct bu_pair_result
result_of(const struct told *told, size_t count)
{
	struct bu_pair_result result;

	bu_pair_result_init(&result);
	result.mtu = 1024;
	for (int dir = 0; dir < 2; dir++) {
		result.dir[dir].lat_count = 200;
		result.dir[dir].lat_median_us = 3 + dir;
		result.dir[dir].lat_p99_us = 5 + dir;
		result.dir[dir].lat_min_us = 1 + dir;
		for (int run = 0; run < 5; run++)
			bu_pair_dir_add(&result.dir[dir], dir ? 0.75 : 0.625);
	}
	for (size_t i = 0; i < count && told[i].count; i++)
		result.dir[0].counters[told[i].end].count[told[i].counter] =
			told[i].count;
	return result;
}

/* The largest one, of losses; of errors of a link what a good one does not count. */
START_TEST(the_counter_that_weighs_most_is_named)
{
	static const struct {
		struct told told[3];
		double seconds[2];
		int losses, lost, end;
		enum bu_counter counter;
	} rows[] = {
		{{{.count = 0}}, {1, 1}, 0, 0, -1, 0},
		{{{1, BU_COUNTER_OUT_OF_SEQUENCE, 7}},
		 {1, 1},
		 7,
		 7,
		 1,
		 BU_COUNTER_OUT_OF_SEQUENCE},
		{{{1, BU_COUNTER_OUT_OF_SEQUENCE, 7},
		  {0, BU_COUNTER_COMPLETER_RETRY_ERR, 8}},
		 {1, 1},
		 8,
		 8,
		 0,
		 BU_COUNTER_COMPLETER_RETRY_ERR},
		/* What came twice was not lost. */
		{{{1, BU_COUNTER_DUPLICATE_REQUEST, 9}}, {1, 1}, 0, 0, -1, 0},
		/* A few errors of a link are as many as packets by chance. */
		{{{0, BU_COUNTER_LINK_DOWNED, 1}},
		 {1, 1},
		 0,
		 16,
		 0,
		 BU_COUNTER_LINK_DOWNED},
		{{{0, BU_COUNTER_LINK_DOWNED, 16}},
		 {1, 1},
		 0,
		 16,
		 0,
		 BU_COUNTER_LINK_DOWNED},
		{{{0, BU_COUNTER_LINK_DOWNED, 17}},
		 {1, 1},
		 0,
		 17,
		 0,
		 BU_COUNTER_LINK_DOWNED},
		/* Five, and five a minute, by the longer one of two clocks. */
		{{{1, BU_COUNTER_LINK_ERROR_RECOVERY, 10}}, {60, 1}, 0, 0, -1, 0},
		{{{1, BU_COUNTER_LINK_ERROR_RECOVERY, 10}}, {1, 60}, 0, 0, -1, 0},
		{{{1, BU_COUNTER_LINK_ERROR_RECOVERY, 11}},
		 {60, 1},
		 0,
		 16,
		 1,
		 BU_COUNTER_LINK_ERROR_RECOVERY},
		{{{1, BU_COUNTER_LINK_ERROR_RECOVERY, 11},
		  {0, BU_COUNTER_OUT_OF_SEQUENCE, 20}},
		 {60, 1},
		 20,
		 20,
		 0,
		 BU_COUNTER_OUT_OF_SEQUENCE},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_pair_result result = result_of(rows[i].told, 3);
		enum bu_counter counter = BU_COUNTER_COUNT;
		int end = -1;

		for (int clock = 0; clock < 2; clock++)
			result.dir[0].clock_seconds[clock] = rows[i].seconds[clock];
		ck_assert_msg(bu_probe_losses(&result.dir[0]) == rows[i].losses,
			      "row %zu", i);
		ck_assert_msg(bu_probe_lost(&result.dir[0], &counter, &end) ==
				      rows[i].lost,
			      "row %zu", i);
		ck_assert_int_eq(end, rows[i].end);
		ck_assert_int_eq(counter,
				 rows[i].lost ? rows[i].counter : BU_COUNTER_COUNT);
	}
}
END_TEST

static const struct bu_expect expect = {.link_gbps = 1, .percent = 50};

static json_t *
body_of(struct between *b, const struct bu_probe *probe,
	const struct bu_pair_result *result)
{
	const struct bu_node *const ends[2] = {rig_node(&b->rig, 1),
					       rig_node(&b->rig, 2)};

	struct bu_event event;
	json_t *body;

	bu_probe_event(b->gate, probe, "fabric", ends, &expect, result, &event);
	body = json_incref(event.body);
	ck_assert_str_eq(bu_json_str(body, "result", ""), event.blob.digest);
	bu_event_fini(&event);
	return body;
}

static const json_t *
flow_of(const json_t *body, size_t dir)
{
	return json_array_get(json_object_get(body, "flows"), dir);
}

START_TEST(the_log_has_all_that_was_measured)
{
	static const struct told told = {1, BU_COUNTER_OUT_OF_SEQUENCE, 7};
	struct bu_pair_result result = result_of(&told, 1);
	struct bu_probe probe = {.id = "p-1", .single = 1};
	bu_autojson json_t *body = NULL;
	struct between b;

	result.verdict = BU_VERDICT_WARN;
	between_begin(&b, 2, 1, 2, NULL);
	body = body_of(&b, &probe, &result);
	ck_assert_str_eq(bu_json_str(body, "probe", ""), "p-1");
	ck_assert_str_eq(bu_json_str(body, "rail", ""), "fabric");
	ck_assert_str_eq(bu_json_str(body, "a", ""), "node001");
	ck_assert_str_eq(bu_json_str(body, "b", ""), "node002");
	ck_assert_str_eq(bu_json_str(body, "boot_a", ""), "boot-1");
	ck_assert_str_eq(bu_json_str(body, "boot_b", ""), "boot-2");
	ck_assert_str_eq(bu_json_str(body, "verdict", ""), "warn");
	ck_assert_double_eq(bu_json_real(body, "ab_gbps", 0), 0.625);
	ck_assert_double_eq(bu_json_real(body, "ba_gbps", 0), 0.75);
	ck_assert_double_eq(bu_json_real(body, "expect_gbps", 0), 0.5);
	ck_assert_double_eq(bu_json_real(body, "lat_us", 0), 3);
	ck_assert_int_eq(bu_json_int(body, "mtu", 0), 1024);
	ck_assert(json_is_true(json_object_get(body, "single")));
	ck_assert_ptr_null(json_object_get(body, "errors"));
	for (int dir = 0; dir < 2; dir++) {
		const json_t *flow = flow_of(body, (size_t)dir);

		ck_assert_double_eq(bu_json_real(flow, "rate_gbps", 0),
				    dir ? 0.75 : 0.625);
		ck_assert_double_eq(bu_json_real(flow, "lat_us", 0), 3 + dir);
		ck_assert_double_eq(bu_json_real(flow, "lat99_us", 0), 5 + dir);
		ck_assert_double_eq(bu_json_real(flow, "lat_min_us", 0), 1 + dir);
		ck_assert_double_eq(bu_json_real(flow, "lost", -1), dir ? 0 : 7);
		ck_assert_int_eq(bu_json_int(flow, "doubt", -1), 0);
	}
	between_end(&b);
}
END_TEST

/* One direction that says nothing is enough; it counts on from what was before. */
START_TEST(what_says_nothing_counts_as_an_error_of_its_boots)
{
	static const struct {
		enum bu_err_kind kind; /* of direction `dir` */
		int dir;
		const char *boot[2];
		int flows, errors;
	} rows[] = {
		{BU_ERR_IO, 0, {NULL, NULL}, 0, 3},
		{BU_ERR_IO, 1, {NULL, NULL}, 0, 3},
		{BU_ERR_IO, 1, {"old", NULL}, 0, 1},
		{BU_ERR_IO, 1, {NULL, "old"}, 0, 1},
		/* The path lost it: a finding. */
		{BU_ERR_REMOTE, 1, {NULL, NULL}, 2, 0},
		{BU_ERR_NONE, 1, {NULL, NULL}, 2, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct probed failed = {1, 2, "fabric", .failed = 1};
		struct bu_pair_result result = result_of(NULL, 0);
		struct bu_probe probe = {.id = "p-1"};
		bu_autojson json_t *body = NULL;
		struct between b;

		between_begin(&b, 2, 1, 2, NULL);
		for (int end = 0; end < 2; end++)
			failed.boot[end] = rows[i].boot[end];
		between_log(&b, &failed);
		between_log(&b, &failed);
		result.dir[rows[i].dir].error.kind = rows[i].kind;
		strcpy(result.dir[rows[i].dir].error.text, "broken");
		body = body_of(&b, &probe, &result);
		ck_assert_msg(json_array_size(json_object_get(body, "flows")) ==
				      (size_t)rows[i].flows,
			      "row %zu", i);
		ck_assert_int_eq(bu_json_int(body, "errors", 0), rows[i].errors);
		/* What did not arrive has no rate, whatever came before. */
		if (rows[i].flows && rows[i].kind)
			ck_assert_double_eq(
				bu_json_real(flow_of(body, 1), "rate_gbps", -1), 0);
		between_end(&b);
	}
}
END_TEST

/* A slow direction is held against nobody while one of both has jobs; nor are counters
 * of that end. */
START_TEST(jobs_excuse_a_slow_direction)
{
	static const struct told told[] = {{0, BU_COUNTER_OUT_OF_SEQUENCE, 7},
					   {1, BU_COUNTER_OUT_OF_SEQUENCE, 9}};
	static const struct {
		int works[2], slow, excused;
		double lost;
		const char *says;
	} rows[] = {
		{{0, 0}, 1, 0, 9, ""},
		{{0, 0}, 0, 0, 9, ""},
		{{1, 0}, 1, 1, 9, "node001 has jobs"},
		{{0, 1}, 1, 1, 7, "node002 has jobs"},
		{{1, 1}, 1, 1, 0, "node001, node002 has jobs"},
		{{1, 1}, 0, 0, 0, ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_pair_result result = result_of(told, 2);
		struct bu_probe probe = {.id = "p-1", .name = {"node001", "node002"}};
		bu_autojson json_t *body = NULL;
		struct between b;

		between_begin(&b, 2, 1, 2, NULL);
		for (int end = 0; end < 2; end++)
			probe.works[end] = rows[i].works[end];
		if (rows[i].slow) {
			bu_pair_dir_drop(&result.dir[0], 0);
			for (int run = 0; run < 5; run++)
				bu_pair_dir_add(&result.dir[0], 0.25);
		}
		body = body_of(&b, &probe, &result);
		ck_assert_msg(bu_json_int(flow_of(body, 0), "doubt", -1) ==
				      (rows[i].excused ? BU_DOUBT_OTHER : 0),
			      "row %zu", i);
		ck_assert_int_eq(bu_json_int(flow_of(body, 1), "doubt", -1), 0);
		ck_assert_double_eq(bu_json_real(flow_of(body, 0), "lost", -1),
				    rows[i].lost);
		result.verdict = BU_VERDICT_FAIL;
		bu_probe_excuse(&probe, &expect, &result);
		ck_assert_int_eq(result.verdict, rows[i].excused
							 ? BU_VERDICT_INCONCLUSIVE
							 : BU_VERDICT_FAIL);
		rig_text_has(result.error.text, rows[i].says);
		ck_assert_int_eq(result.error.kind,
				 rows[i].excused ? BU_ERR_BUSY : BU_ERR_NONE);
		between_end(&b);
	}
}
END_TEST

/* An error that its ends name stands; what has a fault of its own needs no excuse. */
START_TEST(an_error_of_the_ends_stands)
{
	struct bu_probe probe = {.works = {1, 1}};

	for (int dir = 0; dir < 2; dir++) {
		struct bu_pair_result named = result_of(NULL, 0), lost = named;

		bu_pair_dir_drop(&named.dir[dir], 0);
		for (int run = 0; run < 5; run++)
			bu_pair_dir_add(&named.dir[dir], 0.25);
		lost.dir[dir].error.kind = BU_ERR_REMOTE;
		bu_probe_excuse(&probe, &expect, &lost);
		ck_assert_int_eq(lost.error.kind, BU_ERR_NONE);
		named.error.kind = BU_ERR_IO;
		bu_probe_excuse(&probe, &expect, &named);
		ck_assert_int_eq(named.error.kind, BU_ERR_IO);
		bu_probe_explain(&expect, &named);
		ck_assert_int_eq(named.error.kind, BU_ERR_IO);
	}
}
END_TEST

/* Where nobody names an error, the first direction that says nothing does. */
START_TEST(what_says_nothing_says_why)
{
	for (int bad = 0; bad < 4; bad++) {
		struct bu_pair_result result = result_of(NULL, 0);

		for (int dir = 0; dir < 2; dir++) {
			if (!(bad >> dir & 1))
				continue;
			result.dir[dir].error.kind = BU_ERR_IO;
			snprintf(result.dir[dir].error.text,
				 sizeof(result.dir[dir].error.text), "broken %d", dir);
		}
		bu_probe_explain(&expect, &result);
		ck_assert_int_eq(result.error.kind, bad ? BU_ERR_REMOTE : BU_ERR_NONE);
		rig_text_has(result.error.text, bad == 2  ? "broken 1"
						: bad > 0 ? "broken 0"
							  : "");
	}
}
END_TEST

RIG_UNIT("result", the_counter_that_weighs_most_is_named,
	 the_log_has_all_that_was_measured,
	 what_says_nothing_counts_as_an_error_of_its_boots,
	 jobs_excuse_a_slow_direction, an_error_of_the_ends_stands,
	 what_says_nothing_says_why)
