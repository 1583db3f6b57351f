/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an incast: who takes part in one, what its ends move, what a result of
 * theirs comes to. */
#include "model/work.h"
#include "provisioner/gate/task/incast.h"
#include "provisioner/gate/terms/terms.h"
#include "tests/support/incast.h"
#include "tests/support/unfit.h"

/* None of them has a job that its cluster would be asked for. */
static void
begin_free(struct rig *rig, int nodes)
{
	begin_site(rig, nodes, "incast = 2\n");
	hear(rig, nodes);
	for (int i = 1; i <= nodes; i++)
		bu_node_joined(rig_node(rig, i))->cluster[0] = '\0';
}

/* All are heard now, and it is time for one; 1 = it begins. */
static int
look(struct rig *rig, int nodes)
{
	hear(rig, nodes);
	rig->gate->choose_ms[BU_TASK_INCAST] = 0;
	bu_tasks_choose(rig->gate);
	return rig->gate->tasks[BU_TASK_INCAST] != NULL;
}

/* Of three nodes all are needed: what keeps the last one out keeps all of them. */
START_TEST(only_nodes_that_can_take_part)
{
	enum { LEAF = UNFIT_CASES, POOL, UNASKED, CASES };

	for (int one = UNFIT_NOT; one < CASES; one++) {
		struct bu_desired_validation without;
		struct bu_desired_node *want;
		struct bu_desired_pool pool;
		struct bu_node *node;
		struct rig rig;

		begin_free(&rig, 3);
		node = rig_node(&rig, 3);
		want = &rig.fleet->desired->nodes[2];
		pool = *want->pool;
		without = *want->validation;
		without.incast = 0;
		make_unfit(&rig, node, one);
		if (one == LEAF)
			want->switch_ports = bu_xstrdup("fabric=leaf09:p1");
		if (one == POOL)
			want->pool = &pool;
		if (one == UNASKED)
			want->validation = &without;
		rig.gate->choose_ms[BU_TASK_INCAST] = bu_loop_now_ms(rig.loop);
		bu_tasks_choose(rig.gate);
		ck_assert_msg((rig.gate->tasks[BU_TASK_INCAST] != NULL) ==
				      (one == UNFIT_NOT),
			      "case %d", one);
		rig_end(&rig);
	}
}
END_TEST

/* Of this boot, and it said something, or there were three of them. */
START_TEST(who_had_one_does_not_receive)
{
	static const struct {
		int has_body, is_of_boot, test;
		enum bu_verdict verdict;
		int receives;
	} cases[] = {
		{0, 1, 1, BU_VERDICT_PASS, 1},
		{1, 1, 1, BU_VERDICT_PASS, 0},
		{1, 1, 1, BU_VERDICT_WARN, 0},
		{1, 0, 1, BU_VERDICT_PASS, 1},
		{1, 0, 3, BU_VERDICT_PASS, 1},
		{1, 1, 0, BU_VERDICT_PASS, 1},
		{1, 1, 1, BU_VERDICT_INCONCLUSIVE, 1},
		{1, 1, 2, BU_VERDICT_INCONCLUSIVE, 1},
		{1, 1, 3, BU_VERDICT_INCONCLUSIVE, 0},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct bu_node *node;
		struct rig rig;

		begin_free(&rig, 3);
		node = rig_node(&rig, 1);
		if (cases[i].has_body)
			node->incast.body = json_object();
		node->incast.is.boot_id = cases[i].is_of_boot ? node->boot_id : "old";
		node->incast.is.test = cases[i].test;
		node->incast.is.verdict = cases[i].verdict;
		ck_assert_int_eq(look(&rig, 3), 1);
		for (int k = 1; k <= 3; k++) {
			bu_autojson json_t *item =
				bu_task_work(rig.gate, rig_node(&rig, k));
			int listens =
				strcmp(bu_json_str(item, "role", ""), "listen") == 0;

			ck_assert_msg(listens == (k == (cases[i].receives ? 1 : 2)),
				      "case %zu, node %d", i, k);
		}
		rig_end(&rig);
	}
}
END_TEST

/* One a minute at most; another look changes nothing of one that is under way. */
START_TEST(one_is_begun_in_a_minute)
{
	struct rig rig;
	const struct bu_task *first;

	begin_free(&rig, 3);
	rig.gate->choose_ms[BU_TASK_INCAST] = bu_loop_now_ms(rig.loop) + 1;
	bu_tasks_choose(rig.gate);
	ck_assert_ptr_null(rig.gate->tasks[BU_TASK_INCAST]);
	rig.gate->choose_ms[BU_TASK_INCAST]--;
	bu_tasks_choose(rig.gate);
	first = rig.gate->tasks[BU_TASK_INCAST];
	ck_assert_ptr_nonnull(first);
	ck_assert_int_eq(rig.gate->choose_ms[BU_TASK_INCAST],
			 bu_loop_now_ms(rig.loop) + 60000);
	for (int i = 1; i <= 3; i++)
		ck_assert_int_eq(bu_task_is_busy(rig.gate, rig_node(&rig, i)->name), 1);
	ck_assert_int_eq(look(&rig, 3), 1);
	ck_assert_ptr_eq(rig.gate->tasks[BU_TASK_INCAST], first);
	rig_end(&rig);
}
END_TEST

/* Together the senders move what one does alone, one message each at least. */
START_TEST(the_senders_share_what_one_moves)
{
	for (int tiny = 0; tiny < 2; tiny++) {
		struct bu_desired_validation *validation;
		const struct bu_desired_node *want;
		bu_autojson json_t *item = NULL;
		struct bu_work_probe work;
		struct bu_sizes sizes;
		struct rig rig;

		begin_free(&rig, 3);
		want = &rig.fleet->desired->nodes[0];
		validation =
			(struct bu_desired_validation *)(uintptr_t)want->validation;
		if (tiny)
			validation->run_bytes = validation->message_bytes;
		sizes = bu_gate_sizes(validation, want->pool->rails[0], 0);
		ck_assert_int_eq(look(&rig, 3), 1);
		item = bu_task_work(rig.gate, rig_node(&rig, 1));
		ck_assert_int_eq(bu_work_probe_from_json(item, &work, NULL), 0);
		ck_assert_uint_eq(work.bytes,
				  tiny ? sizes.message_bytes : sizes.bytes / 2);
		ck_assert_uint_eq(work.message_bytes, sizes.message_bytes);
		ck_assert_int_eq(work.qps, sizes.qps);
		ck_assert_int_eq(work.depth, sizes.depth);
		ck_assert_int_eq(work.runs, 3);
		ck_assert_int_eq(work.pings, 0);
		ck_assert_uint_eq(work.window_bytes, 64 << 20);
		ck_assert_int_eq(work.work.attempt, 1);
		ck_assert_int_eq(work.deadline_ms,
				 bu_gate_deadline_ms(rig.gate, validation,
						     want->pool->rails[0]));
		rig_end(&rig);
	}
}
END_TEST

/* What is wrong with the second sender's result, of one rail, says nothing of all; what
 * comes back to the senders is not looked at. */
START_TEST(a_result_that_is_wrong_says_nothing)
{
	enum { RIGHT, OTHER_PROBE, FAILED, NOT_SENT, NOT_BACK, MISSING, CASES };
	static const char *const errors[CASES] = {
		"",         "the result is of another probe",
		"it broke", "it was lost",
		"",         "expected an object"};

	for (int one = RIGHT; one < CASES; one++) {
		const struct bu_body_incast *body;
		struct bu_err err = {.kind = BU_ERR_IO};
		bu_autojson json_t *results = json_array(), *whole = NULL;
		struct incast incast;
		struct rig rig;

		begin_site(&rig, 3, "incast = 2\n");
		incast = find_incast(&rig, 3, 100);
		strcpy(err.text, "it broke");
		for (int i = 0; i < 2; i++) {
			struct bu_pair_result result;

			bu_pair_result_init(&result);
			strcpy(result.probe, incast.id);
			strcpy(result.end[0].node, "senders");
			strcpy(result.end[1].node, "node001");
			for (int dir = 0; dir < 2; dir++)
				bu_pair_dir_add(&result.dir[dir], i ? 0.0075 : 0.0095);
			if (i && one == OTHER_PROBE)
				strcpy(result.probe, "i-other");
			if (i && one == FAILED)
				bu_pair_error_set(&result.error, BU_END_A, &err);
			strcpy(err.text, "it was lost");
			if (i && (one == NOT_SENT || one == NOT_BACK))
				bu_pair_error_set(&result.dir[one == NOT_BACK].error,
						  BU_END_A, &err);
			strcpy(err.text, "it broke");
			result.dir[0].counters[1].count[BU_COUNTER_OUT_OF_SEQUENCE] =
				i ? 2 : 3;
			if (!i || one != MISSING)
				json_array_append_new(results,
						      bu_pair_result_to_json(&result));
		}
		whole = json_pack("{s:O}", "rails", results);
		for (int i = 1; i <= 3; i++)
			bu_gate_result(rig.gate, rig_node(&rig, i), incast.id, whole,
				       NULL);
		rig_pass(&rig, 2001);
		body = &rig_node(&rig, 1)->incast.is;
		ck_assert_msg(body->verdict == (*errors[one] ? BU_VERDICT_INCONCLUSIVE
							     : BU_VERDICT_PASS),
			      "case %d: %s", one, body->error);
		rig_text_has(body->error, errors[one]);
		ck_assert_int_eq(body->test, 1);
		ck_assert_uint_eq(json_array_size(body->senders), 2);
		ck_assert_str_eq(body->boot_id, rig_node(&rig, 1)->boot_id);
		if (!*errors[one]) {
			const json_t *rail = json_array_get(body->rails, 0);

			ck_assert_str_eq(bu_json_str(rail, "rail", ""), "fabric");
			ck_assert_double_eq_tol(bu_json_real(rail, "gbps", 0), 0.017,
						1e-9);
			ck_assert_double_eq_tol(bu_json_real(rail, "least_gbps", 0),
						0.016, 1e-9);
			ck_assert_double_eq(bu_json_real(rail, "lost", 0), 3);
		}
		rig_end(&rig);
	}
}
END_TEST

/* Each end speaks once, of this one; it is over when all have. What counts is what the
 * receiver measured. */
START_TEST(it_is_over_when_all_have_spoken)
{
	struct bu_err failure = {.kind = BU_ERR_IO};
	struct bu_node *nodes[4];
	bu_autojson json_t *item = NULL, *other = json_object();
	struct rig rig;
	const char *id;

	begin_free(&rig, 4);
	ck_assert_int_eq(look(&rig, 4), 1);
	for (int i = 0; i < 4; i++)
		nodes[i] = rig_node(&rig, i + 1);
	item = bu_task_work(rig.gate, nodes[0]);
	id = bu_json_str(item, "id", "");
	ck_assert_ptr_null(bu_task_work(rig.gate, nodes[3])); /* not in it */
	ck_assert_int_eq(bu_task_result(rig.gate, nodes[3], id, NULL, NULL), 0);
	ck_assert_int_eq(bu_task_result(rig.gate, nodes[0], "i-0", NULL, NULL), 0);
	strcpy(failure.text, "no device");
	for (int i = 0; i < 3; i++) {
		ck_assert_ptr_nonnull(rig.gate->tasks[BU_TASK_INCAST]);
		ck_assert_int_eq(bu_task_result(rig.gate, nodes[i], id,
						i == 1 ? other : NULL,
						i == 1 ? &failure : NULL),
				 1);
		ck_assert_ptr_null(bu_task_work(rig.gate, nodes[i]));
		ck_assert_int_eq(look(&rig, 4), 1);
		if (i < 2)
			ck_assert_int_eq(events_of(&rig, BU_EVENT_INCAST), 0);
	}
	rig_pass(&rig, 1);
	ck_assert_str_eq(nodes[0]->incast.is.error, "node002: no device");
	ck_assert_int_eq(nodes[0]->incast.is.test, 1);
	rig_end(&rig);
}
END_TEST

/* The first rail that is bad, of a finding in this boot. */
START_TEST(the_first_bad_rail_is_said)
{
	static const struct {
		double gbps[2], lost[2];
		enum bu_verdict verdict;
		int is_of_boot;
		const char *rail; /* NULL = nothing is said */
	} cases[] = {
		{{15, 20}, {0, 0}, BU_VERDICT_WARN, 1, "rail a"},
		{{16, 15}, {0, 0}, BU_VERDICT_WARN, 1, "rail b"},
		{{16, 16}, {4, 5}, BU_VERDICT_WARN, 1, "rail b"},
		{{16, 16}, {5, 5}, BU_VERDICT_WARN, 1, "rail a"},
		{{16, 16}, {4, 4}, BU_VERDICT_WARN, 1, NULL},
		{{15, 15}, {9, 9}, BU_VERDICT_PASS, 1, NULL},
		{{15, 15}, {9, 9}, BU_VERDICT_INCONCLUSIVE, 1, NULL},
		{{15, 15}, {9, 9}, BU_VERDICT_WARN, 0, NULL},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		static struct bu_node node;
		bu_autojson json_t *senders = json_pack("[s,s]", "x", "y");
		bu_autojson json_t *rails = json_array(), *body = json_object();
		bu_autojson json_t *said = NULL;

		for (int k = 0; k < 2; k++)
			json_array_append_new(
				rails,
				json_pack("{s:s,s:f,s:f,s:f}", "rail", k ? "b" : "a",
					  "gbps", cases[i].gbps[k], "least_gbps", 16.0,
					  "lost", cases[i].lost[k]));
		bu_node_parts_init(&node);
		bu_node_set_boot_id(&node, "boot");
		node.incast.body = body;
		node.incast.is = (struct bu_body_incast){
			.boot_id = cases[i].is_of_boot ? "boot" : "old",
			.verdict = cases[i].verdict,
			.test = 1,
			.rails = rails,
			.senders = senders};
		said = bu_incast_said(&node);
		ck_assert_msg((said != NULL) == (cases[i].rail != NULL), "case %zu", i);
		if (said) {
			rig_text_has(rig_sentence(said), cases[i].rail);
			rig_text_has(rig_sentence(said),
				     "2 nodes that sent to it at once");
		}
		node.incast.body = NULL;
		ck_assert_ptr_null(bu_incast_said(&node));
		bu_node_parts_fini(&node);
	}
}
END_TEST

RIG_UNIT("incast_parts", only_nodes_that_can_take_part, who_had_one_does_not_receive,
	 one_is_begun_in_a_minute, the_senders_share_what_one_moves,
	 a_result_that_is_wrong_says_nothing, it_is_over_when_all_have_spoken,
	 the_first_bad_rail_is_said)
