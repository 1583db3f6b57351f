/* SPDX-License-Identifier: Apache-2.0 */
/* A pair under way: who is given its item, what two ends say comes to, and how long
 * they are waited for. */
#include "provisioner/gate/campaign/campaign.h"
#include "provisioner/gate/task/probe.h"
#include "tests/support/between.h"
#include "tests/support/probes.h"

/* One probe of nodes 1 and 2, on so many rails. */
struct pair {
	struct between b;
	struct bu_probe *probe;
};

static int64_t
now_of(const struct pair *pair)
{
	return bu_loop_now_ms(pair->b.rig.fleet->loop);
}

static void
pair_begin(struct pair *pair, int rails)
{
	static const char *const names[] = {"fabric", "rail1"};
	struct bu_rail_ends list[2];

	between_begin(&pair->b, 2, rails, 2, NULL);
	pair->b.rig.clock.fake_mono_ms += 100000;
	for (int i = 0; i < rails; i++)
		for (int end = 0; end < 2; end++)
			list[i] = (struct bu_rail_ends){
				.of = {between_network(&pair->b, names[i]),
				       between_network(&pair->b, names[i])}};
	for (int end = 0; end < 2; end++)
		rig_node(&pair->b.rig, end + 1)->live.came_ms = now_of(pair);
	bu_probe_start(pair->b.gate, pair->b.rig.fleet->desired->nodes[0].validation,
		       list, (size_t)rails, rig_node(&pair->b.rig, 1),
		       rig_node(&pair->b.rig, 2));
	pair->probe = newest_probe(pair->b.gate);
	/* The looks of the gate have nothing to ask for. */
	bu_gate_roles_drop(pair->b.gate);
}

static void
pass_ms(struct pair *pair, int64_t ms)
{
	pair->b.rig.clock.fake_mono_ms += ms;
}

static json_t *
work_of(struct pair *pair, int end)
{
	return bu_task_work(pair->b.gate, rig_node(&pair->b.rig, end + 1));
}

/* gbps: 0 = it says this error instead; probe, a: NULL = as it should be. */
struct said {
	double gbps;
	enum bu_err_kind kind;
	const char *probe, *a, *b;
};

static json_t *
result_of(const struct pair *pair, const struct said *said)
{
	struct bu_pair_result result;
	struct bu_err err = {.kind = said->kind};

	bu_pair_result_init(&result);
	BU_TEXT_COPY(result.probe, said->probe ? said->probe : pair->probe->task.id);
	BU_TEXT_COPY(result.end[0].node, said->a ? said->a : "node001");
	BU_TEXT_COPY(result.end[1].node, said->b ? said->b : "node002");
	for (int dir = 0; dir < 2 && said->gbps > 0; dir++) {
		result.dir[dir].lat_count = 200;
		for (int run = 0; run < 5; run++)
			bu_pair_dir_add(&result.dir[dir], said->gbps);
	}
	strcpy(err.text, "it broke");
	if (said->kind)
		bu_pair_error_set(&result.error, BU_END_A, &err);
	return bu_pair_result_to_json(&result);
}

/* An end tells this of each rail; NULL = nothing, but a failure of this kind. */
static int
tell(struct pair *pair, int end, const struct said *said, enum bu_err_kind kind)
{
	struct bu_err failure = {.kind = kind};
	bu_autojson json_t *list = json_array(), *result = NULL;

	strcpy(failure.text, "no device");
	for (int i = 0; said && i < pair->probe->rails; i++)
		json_array_append_new(list, result_of(pair, said));
	if (said)
		result = json_pack("{s:O}", "rails", list);
	return bu_task_result(pair->b.gate, rig_node(&pair->b.rig, end + 1),
			      pair->probe->task.id, result, kind ? &failure : NULL);
}

static const struct bu_pair_log *
log_of(struct pair *pair)
{
	rig_pass(&pair->b.rig, 1);
	return pair->b.rig.fleet->measurements.count
		       ? &pair->b.rig.fleet->measurements.logs[0]
		       : NULL;
}

/* The other end must be there for its own, or have it already. */
START_TEST(an_item_goes_out_when_the_other_end_is_there)
{
	static const struct {
		int came_ms; /* of the other, before the probe was made */
		int is_there;
	} rows[] = {{0, 1}, {3000, 1}, {3001, 0}, {-1, 1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *item = NULL, *other = NULL;
		struct pair pair;

		pair_begin(&pair, 1);
		rig_node(&pair.b.rig, 2)->live.came_ms =
			pair.probe->task.since_ms - rows[i].came_ms;
		item = work_of(&pair, 0);
		ck_assert_msg((item != NULL) == rows[i].is_there, "row %zu", i);
		ck_assert_int_eq(pair.probe->took[0], rows[i].is_there);
		ck_assert_int_eq(pair.probe->both_ms, 0);
		/* Who has one is waited for, wherever its agent is. */
		rig_node(&pair.b.rig, 1)->live.came_ms =
			rows[i].is_there ? 0 : pair.probe->task.since_ms;
		pass_ms(&pair, 5);
		other = work_of(&pair, 1);
		ck_assert_ptr_nonnull(other);
		ck_assert_int_eq(pair.probe->both_ms,
				 rows[i].is_there ? now_of(&pair) : 0);
		between_end(&pair.b);
	}
}
END_TEST

/* An agent that never came is not there. */
START_TEST(who_never_came_is_not_there)
{
	struct pair pair;

	pair_begin(&pair, 1);
	pair.probe->task.since_ms = 1;
	rig_node(&pair.b.rig, 2)->live.came_ms = 0;
	ck_assert_ptr_null(work_of(&pair, 0));
	ck_assert_int_eq(bu_probe_is_here(pair.probe, NULL), 0);
	between_end(&pair.b);
}
END_TEST

START_TEST(the_terms_of_an_item_are_the_probes)
{
	bu_autojson json_t *a = NULL, *b = NULL;
	struct bu_work_probe work[2];
	struct pair pair;
	struct bu_err err;

	pair_begin(&pair, 1);
	a = work_of(&pair, 0);
	b = work_of(&pair, 1);
	for (int end = 0; end < 2; end++) {
		const struct bu_work_probe *one = &work[end];

		ck_assert_msg(bu_work_probe_from_json(end ? b : a, &work[end], &err) ==
				      0,
			      "%s", err.text);
		ck_assert_int_eq(one->role, end ? BU_PROBE_LISTEN : BU_PROBE_CONNECT);
		ck_assert_str_eq(one->self, pair.probe->task.name[end]);
		ck_assert_uint_eq(one->bytes, pair.probe->sizes.bytes);
		ck_assert_int_eq(one->sport, pair.probe->sport);
		ck_assert_int_eq(one->depth, pair.probe->sizes.depth);
		ck_assert_int_eq(one->qps, pair.probe->sizes.qps);
		ck_assert_str_eq(one->rails[0].address,
				 end ? "10.78.0.12" : "10.78.0.11");
		ck_assert_str_eq(one->peer, end ? "10.77.0.11" : "10.77.0.12");
		ck_assert_double_eq_tol(one->rails[0].min_gbps, 0.8, 1e-9);
		ck_assert_double_eq_tol(one->min_gbps, 0.8, 1e-9);
		ck_assert_int_eq(bu_task_wants(pair.b.gate,
					       rig_node(&pair.b.rig, end + 1),
					       pair.probe->task.id),
				 1);
		ck_assert_int_eq(bu_task_wants(pair.b.gate,
					       rig_node(&pair.b.rig, end + 1), "p-0"),
				 0);
	}
	ck_assert_int_eq(tell(&pair, 0, &(struct said){.gbps = 1}, 0), 1);
	ck_assert_ptr_null(work_of(&pair, 0));
	ck_assert_int_eq(bu_task_wants(pair.b.gate, rig_node(&pair.b.rig, 1),
				       pair.probe->task.id),
			 0);
	between_end(&pair.b);
}
END_TEST

/* What is measured no more is no work, nor what cannot be found. */
START_TEST(what_the_profile_measures_no_more_is_not_given)
{
	for (int row = 0; row < 3; row++) {
		bu_autojson json_t *item = NULL;
		struct bu_desired_node *wants;
		struct pair pair;

		pair_begin(&pair, 1);
		wants = pair.b.rig.fleet->desired->nodes;
		if (row)
			wants[row - 1].validation = NULL;
		item = work_of(&pair, 0);
		ck_assert_int_eq(item != NULL, !row);
		ck_assert_int_eq(pair.probe->took[0], !row);
		between_end(&pair.b);
	}
}
END_TEST

/* The first end that measured something counts; else what was said first. */
START_TEST(what_two_ends_say_comes_to_one_result)
{
	static const struct {
		struct said ends[2];
		enum bu_err_kind kind[2]; /* of a failure instead */
		int count;
		float gbps;
		const char *error; /* NULL = none */
	} rows[] = {
		{{{.gbps = 1}, {.gbps = 0.875}}, {0, 0}, 1, 1, NULL},
		{{{.gbps = 0}, {.gbps = 0.875}}, {BU_ERR_IO, 0}, 1, 0.875, NULL},
		{{{.gbps = 1}, {.gbps = 0}}, {0, BU_ERR_IO}, 1, 1, NULL},
		{{{.gbps = 1}, {.kind = BU_ERR_IO}}, {0, 0}, 1, 1, NULL},
		{{{.kind = BU_ERR_IO}, {.gbps = 0.875}}, {0, 0}, 1, 0.875, NULL},
		{{{.kind = BU_ERR_IO}, {.kind = BU_ERR_IO}},
		 {0, 0},
		 0,
		 0,
		 "node001: it broke"},
		{{{.gbps = 0}, {.gbps = 0}},
		 {BU_ERR_IO, BU_ERR_IO},
		 0,
		 0,
		 "node001: no device"},
		{{{.gbps = 1, .probe = "p-9"}, {.gbps = 1, .probe = "p-9"}},
		 {0, 0},
		 0,
		 0,
		 "the result is of probe p-9 between node001 and node002"},
		{{{.gbps = 1, .a = "node009"}, {.gbps = 1}},
		 {0, 0},
		 0,
		 0,
		 "between node009 and node002"},
		{{{.gbps = 1, .b = "node009"}, {.gbps = 1}},
		 {0, 0},
		 0,
		 0,
		 "between node001 and node009"},
		/* It was measured, however bad, and is of both. */
		{{{.gbps = 0.25}, {.gbps = 1}}, {0, 0}, 1, 0.25, NULL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_pair_log *log;
		struct pair pair;

		pair_begin(&pair, 1);
		for (int end = 0; end < 2; end++) {
			bu_autojson json_t *item = work_of(&pair, end);

			ck_assert_ptr_nonnull(item);
		}
		for (int end = 0; end < 2; end++)
			ck_assert_int_eq(
				tell(&pair, end,
				     rows[i].kind[end] ? NULL : &rows[i].ends[end],
				     rows[i].kind[end]),
				1);
		log = log_of(&pair);
		ck_assert_ptr_nonnull(log);
		ck_assert_msg(log->count == (size_t)rows[i].count, "row %zu", i);
		ck_assert_int_eq(log->errors, !rows[i].count);
		if (rows[i].count)
			ck_assert_float_eq(log->list[0].dir[0].rate_gbps, rows[i].gbps);
		ck_assert_msg((log->last.error != NULL) == (rows[i].error != NULL),
			      "row %zu: %s", i, log->last.error ? log->last.error : "");
		if (rows[i].error)
			rig_text_has(log->last.error, rows[i].error);
		between_end(&pair.b);
	}
}
END_TEST

/* A result of each rail in their order; of one that is missing there is none. */
START_TEST(each_rail_has_its_result)
{
	for (int count = 1; count <= 2; count++) {
		bu_autojson json_t *list = json_array();
		bu_autojson json_t *result = json_pack("{s:O}", "rails", list);
		struct pair pair;
		const struct bu_measurements *all;

		pair_begin(&pair, 2);
		for (int i = 0; i < count; i++)
			json_array_append_new(
				list, result_of(&pair,
						&(struct said){.gbps = i ? 0.875 : 1}));
		for (int end = 0; end < 2; end++)
			bu_task_result(pair.b.gate, rig_node(&pair.b.rig, end + 1),
				       pair.probe->task.id, result, NULL);
		log_of(&pair);
		all = &pair.b.rig.fleet->measurements;
		ck_assert_uint_eq(all->count, 2);
		for (size_t i = 0; i < 2; i++) {
			int second = strcmp(all->logs[i].rail, "rail1") == 0;

			ck_assert_uint_eq(all->logs[i].count, second < count);
			if (all->logs[i].count)
				ck_assert_double_eq(all->logs[i].last.ab_gbps,
						    second ? 0.875 : 1);
			else
				ck_assert_str_eq(all->logs[i].last.error,
						 "neither end reported a result");
		}
		between_end(&pair.b);
	}
}
END_TEST

/* Only of this probe, and once of each end. */
START_TEST(an_end_speaks_once)
{
	struct pair pair;

	pair_begin(&pair, 1);
	ck_assert_int_eq(bu_task_result(pair.b.gate, rig_node(&pair.b.rig, 1), "p-0",
					NULL, NULL),
			 0);
	ck_assert_int_eq(pair.probe->task.spoke[0], 0);
	ck_assert_int_eq(tell(&pair, 0, &(struct said){.gbps = 1}, 0), 1);
	ck_assert_int_eq(tell(&pair, 0, NULL, BU_ERR_IO), 1);
	ck_assert_int_eq(pair.probe->task.failure.kind, BU_ERR_NONE);
	ck_assert_int_eq(pair.probe->task.spoke[0], 1);
	ck_assert_int_eq(pair.probe->task.spoke[1], 0);
	ck_assert_ptr_null(log_of(&pair));
	between_end(&pair.b);
}
END_TEST

/* Who waited for the other one in vain is free; that one gets a moment more. */
START_TEST(who_was_left_alone_is_free)
{
	static const struct {
		struct said said;
		enum bu_err_kind kind;
		int is_free;
	} rows[] = {{{.kind = BU_ERR_TIMEOUT}, 0, 1},
		    {{.kind = BU_ERR_IO}, 0, 0},
		    {{.gbps = 1}, 0, 0},
		    {{.gbps = 0}, BU_ERR_TIMEOUT, 1},
		    {{.gbps = 0}, BU_ERR_IO, 0}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct pair pair;
		int64_t until_ms;

		pair_begin(&pair, 1);
		until_ms = pair.probe->task.until_ms;
		tell(&pair, 0, rows[i].kind ? NULL : &rows[i].said, rows[i].kind);
		ck_assert_msg(bu_task_is_busy(pair.b.gate, "node001") ==
				      !rows[i].is_free,
			      "row %zu", i);
		ck_assert_int_eq(bu_task_is_busy(pair.b.gate, "node002"), 1);
		ck_assert_int_eq(pair.probe->task.until_ms,
				 rows[i].is_free ? now_of(&pair) + BU_GATE_GRACE_MS
						 : until_ms);
		between_end(&pair.b);
	}
	for (int left = -1; left <= 1; left++) {
		struct pair pair;

		/* It is never put off by that. */
		pair_begin(&pair, 1);
		pair.probe->task.until_ms = now_of(&pair) + BU_GATE_GRACE_MS + left;
		tell(&pair, 0, &(struct said){.kind = BU_ERR_TIMEOUT}, 0);
		ck_assert_int_eq(pair.probe->task.until_ms - now_of(&pair),
				 BU_GATE_GRACE_MS + (left < 0 ? left : 0));
		between_end(&pair.b);
	}
}
END_TEST

/* Ten seconds for an item that nobody takes, its deadline for what is taken. */
START_TEST(a_silent_end_is_given_up)
{
	static const struct {
		int took, spoke; /* bits of ends */
		int here;        /* as of now */
		int64_t ms;      /* -1 = until its deadline */
		const char *error;
		int unanswered;
	} rows[] = {
		{0, 0, 3, 9999, NULL, 0},
		{0, 0, 2, 10000, "node001 did not come for its work in time", 1},
		{0, 0, 1, 10000, "node002 did not come for its work in time", 2},
		{0, 0, 3, 10000, "node001 did not come for its work in time", 0},
		{1, 0, 3, 10000, NULL, 0},
		{2, 0, 3, 10000, NULL, 0},
		{3, 0, 3, -2, NULL, 0},
		{3, 0, 3, -1, "no result from node002 in time", 3},
		{3, 1, 3, -1, "no result from node002 in time", 2},
		{3, 2, 3, -1, "no result from node001 in time", 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_pair_log *log;
		struct pair pair;
		int64_t all_ms;

		pair_begin(&pair, 1);
		all_ms = pair.probe->task.until_ms - now_of(&pair);
		for (int end = 0; end < 2; end++) {
			pair.probe->took[end] = rows[i].took >> end & 1;
			pair.probe->task.spoke[end] = rows[i].spoke >> end & 1;
			if (!(rows[i].here >> end & 1))
				rig_node(&pair.b.rig, end + 1)->live.came_ms = 0;
		}
		pass_ms(&pair, rows[i].ms < 0 ? all_ms + rows[i].ms + 1 : rows[i].ms);
		bu_tasks_late(pair.b.gate);
		ck_assert_msg(pair.probe->task.told == (rows[i].error != NULL),
			      "row %zu", i);
		log = rows[i].error ? log_of(&pair) : NULL;
		if (log)
			rig_text_has(log->last.error, rows[i].error);
		for (int end = 0; end < 2; end++)
			ck_assert_msg(rig_node(&pair.b.rig, end + 1)->live.unanswered ==
					      (rows[i].unanswered >> end & 1),
				      "row %zu, end %d", i, end);
		between_end(&pair.b);
	}
}
END_TEST

/* Both ends are busy until the log has it. */
START_TEST(ends_are_free_when_the_log_has_it)
{
	struct pair pair;

	pair_begin(&pair, 1);
	for (int end = 0; end < 2; end++)
		tell(&pair, end, &(struct said){.gbps = 1}, 0);
	ck_assert_int_eq(pair.probe->task.told, 1);
	ck_assert_int_eq(bu_probe_is_in_log(pair.b.gate, pair.probe), 0);
	bu_tasks_late(pair.b.gate);
	ck_assert_int_eq(bu_task_is_busy(pair.b.gate, "node001"), 1);
	/* What it does not take is measured again. */
	pass_ms(&pair, 59999);
	bu_tasks_late(pair.b.gate);
	ck_assert_int_eq(bu_task_is_busy(pair.b.gate, "node002"), 1);
	pass_ms(&pair, 1);
	bu_tasks_late(pair.b.gate);
	for (int end = 0; end < 2; end++)
		ck_assert_int_eq(bu_task_is_busy(pair.b.gate,
						 rig_node(&pair.b.rig, end + 1)->name),
				 0);
	ck_assert_ptr_null(newest_probe(pair.b.gate));
	between_end(&pair.b);
}
END_TEST

/* By its share of the deadline, of whole results of all rails. */
START_TEST(the_usual_time_is_of_whole_results)
{
	static const struct {
		struct said said;
		double before, share, after;
		int slow[2]; /* before and after */
	} rows[] = {
		{{.gbps = 1}, 0, 0.5, 0.5, {1, 0}},
		{{.gbps = 1}, 0.25, 0.5, 0.25 + 0.25 / 16, {1, 2}},
		{{.gbps = 1}, 0.25, 0.375, 0.25 + 0.125 / 16, {1, 0}},
		{{.gbps = 1}, 0.25, 0.125, 0.25 - 0.125 / 16, {2, 0}},
		/* How long something waited in vain is no pace. */
		{{.kind = BU_ERR_TIMEOUT}, 0.25, 0.5, 0.25, {1, 1}},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct pair pair;

		pair_begin(&pair, 1);
		pair.b.gate->usual_share = rows[i].before;
		pair.probe->task.deadline_ms = 8000;
		pair.probe->both_ms = now_of(&pair);
		for (int end = 0; end < 2; end++)
			rig_node(&pair.b.rig, end + 1)->live.slow_probe =
				rows[i].slow[0];
		pass_ms(&pair, (int64_t)(8000 * rows[i].share));
		pair.probe->task.result[0] =
			json_pack("{s:[o]}", "rails", result_of(&pair, &rows[i].said));
		bu_probe_note_pace(pair.b.gate, pair.probe);
		ck_assert_msg(pair.b.gate->usual_share == rows[i].after, "row %zu: %g",
			      i, pair.b.gate->usual_share);
		for (int end = 0; end < 2; end++)
			ck_assert_int_eq(
				rig_node(&pair.b.rig, end + 1)->live.slow_probe,
				rows[i].slow[1]);
		between_end(&pair.b);
	}
}
END_TEST

/* Without items of both, or without a result, there is none. */
START_TEST(what_was_not_measured_has_no_pace)
{
	for (int row = 0; row < 3; row++) {
		bu_autojson json_t *list = json_array();
		struct pair pair;

		pair_begin(&pair, 2);
		pair.probe->both_ms = row == 0 ? 0 : now_of(&pair);
		pass_ms(&pair, 1000);
		if (row != 1)
			json_array_append_new(
				list, result_of(&pair, &(struct said){.gbps = 1}));
		if (row == 2)
			json_array_append_new(
				list,
				result_of(&pair, &(struct said){.kind = BU_ERR_IO}));
		pair.probe->task.result[0] = json_pack("{s:O}", "rails", list);
		bu_probe_note_pace(pair.b.gate, pair.probe);
		ck_assert_double_eq(pair.b.gate->usual_share, 0);
		between_end(&pair.b);
	}
}
END_TEST

RIG_UNIT("probe", an_item_goes_out_when_the_other_end_is_there,
	 who_never_came_is_not_there, the_terms_of_an_item_are_the_probes,
	 what_the_profile_measures_no_more_is_not_given,
	 what_two_ends_say_comes_to_one_result, each_rail_has_its_result,
	 an_end_speaks_once, who_was_left_alone_is_free, a_silent_end_is_given_up,
	 ends_are_free_when_the_log_has_it, the_usual_time_is_of_whole_results,
	 what_was_not_measured_has_no_pace)
