/* SPDX-License-Identifier: Apache-2.0 */
/* Several idle nodes send to one at once: who takes part, what they are told, and that
 * a finding is a remark and nothing else. */
#include "provisioner/gate/task/task.h"
#include "tests/support/incast.h"

/* Each sender sends so much on each rail; the receiver lost so many packets, and its
 * link has so many errors. */
static void
answer_with(struct rig *rig, const struct incast *incast, double gbps, int lost,
	    int errors)
{
	const struct bu_work_probe *work = &incast->work[incast->receiver];
	json_t *results = json_array();
	bu_autojson json_t *whole = json_pack("{s:o}", "rails", results);

	for (size_t i = 0; i < work->rails_count; i++) {
		struct bu_pair_result result;

		bu_pair_result_init(&result);
		strcpy(result.probe, work->probe);
		for (int end = 0; end < 2; end++)
			strcpy(result.end[end].node, work->node[end]);
		for (int dir = 0; dir < 2; dir++)
			bu_pair_dir_add(&result.dir[dir], gbps);
		result.dir[0].counters[1].count[BU_COUNTER_OUT_OF_SEQUENCE] = lost;
		result.dir[0].counters[1].count[BU_COUNTER_SYMBOL_ERROR] = errors;
		json_array_append_new(results, bu_pair_result_to_json(&result));
	}
	for (int i = 1; i <= NODES_MAX; i++)
		if (incast->work[i].work.id)
			bu_gate_result(rig->gate, rig_node(rig, i), incast->id, whole,
				       NULL);
	rig_pass(rig, 2001);
}

static void
answer(struct rig *rig, const struct incast *incast, double gbps)
{
	answer_with(rig, incast, gbps, 0, 0);
}

static int
remarks_of(struct rig *rig, int number, const char *part)
{
	bu_autofree char *all =
		rig_lines(bu_gate_remarks(rig->gate, rig_node(rig, number)));

	return strstr(all, part) != NULL;
}

START_TEST(idle_nodes_send_to_one_where_the_profile_asks_for_it)
{
	static const char *const rows[] = {"", "incast = 3\n"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct incast incast;

		begin_site(&rig, 5, rows[i]);
		incast = find_incast(&rig, 5, 100);
		ck_assert_int_eq(incast.receiver, i ? 1 : 0);
		ck_assert_int_eq(incast.senders, i ? 3 : 0);
		rig_end(&rig);
	}
}
END_TEST

/* Each sender finds its own connection at the receiver, by its port. */
START_TEST(the_ends_are_told_the_same)
{
	struct rig rig;
	struct incast incast;
	const struct bu_work_probe *to;

	begin_site(&rig, 3, "incast = 2\n");
	rig_give_rails(&rig, 3, 1); /* without incast: nothing */
	incast = find_incast(&rig, 3, 5);
	ck_assert_int_eq(incast.receiver, 0);
	rig_end(&rig);
	begin_site(&rig, 3, "incast = 2\n");
	incast = find_incast(&rig, 3, 100);
	to = &incast.work[1];
	ck_assert_int_eq(incast.receiver, 1);
	ck_assert_uint_eq(to->rails_count, 2);
	for (int i = 2; i <= 3; i++) {
		const struct bu_work_probe *from = &incast.work[i];

		ck_assert_int_eq(from->role, BU_PROBE_CONNECT);
		ck_assert_int_eq(from->port, to->port + i - 2);
		ck_assert_uint_eq(from->rails_count, 1);
		ck_assert_str_eq(from->addr, "10.77.0.11");
		ck_assert_str_eq(from->secret, to->secret);
		ck_assert_str_eq(from->probe, to->probe);
		ck_assert_uint_eq(from->bytes, to->bytes);
		for (int end = 0; end < 2; end++)
			ck_assert_str_eq(from->node[end], to->node[end]);
		ck_assert_str_eq(from->self, from->node[BU_END_A]);
		ck_assert_str_eq(to->self, to->node[BU_END_B]);
		ck_assert_str_eq(from->rails[0].address,
				 i == 2 ? "10.78.0.12" : "10.78.0.13");
	}
	rig_end(&rig);
}
END_TEST

/* Together they must reach what one does: 16 of 20 Mbit/s. */
static const struct {
	double gbps;
	int lost, errors;
	const char *verdict, *remark;
} rows[] = {
	{0.0095, 0, 0, "pass", NULL},
	{0.0095, 3, 0, "pass", NULL},
	{0.0095, 500, 0, "warn",
	 "2 nodes that sent to it at once (rail fabric) reached "},
	/* errors of the link are no losses, and hide none */
	{0.0095, 0, 100000, "pass", NULL},
	{0.0095, 500, 100000, "warn", "reached "},
	{0.0025, 0, 0, "warn", "reached 5.00 Mbit/s (at least 16.00 Mbit/s wanted)"},
	/* one after the other, each with the whole link */
	{0.019, 0, 0, "inconclusive", NULL},
};

START_TEST(a_finding_is_a_remark_and_nobody_is_accused)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct incast incast;

		begin_site(&rig, 3, "incast = 2\n");
		incast = find_incast(&rig, 3, 100);
		answer_with(&rig, &incast, rows[i].gbps, rows[i].lost, rows[i].errors);
		ck_assert_int_eq(events_of(&rig, BU_EVENT_INCAST), 1);
		ck_assert_str_eq(
			bu_verdict_name(
				(enum bu_verdict)rig_node(&rig, 1)->incast.is.verdict),
			rows[i].verdict);
		ck_assert_int_eq(remarks_of(&rig, 1,
					    rows[i].remark ? rows[i].remark
							   : "sent to it at once"),
				 rows[i].remark != NULL);
		for (int k = 1; k <= 3; k++) {
			ck_assert_int_eq(rig_node(&rig, k)->state, BU_STATE_READY);
			ck_assert_int_eq(
				bu_task_is_busy(rig.gate, rig_node(&rig, k)->name), 0);
		}
		rig_end(&rig);
	}
}
END_TEST

/* One a minute; each node receives once in its boot, whatever comes between. */
START_TEST(each_receives_once_in_its_boot)
{
	struct rig rig;
	int received[4] = {0};
	bu_autojson json_t *names = json_object();

	begin_site(&rig, 3, "incast = 2\n");
	for (int i = 0; i < 3; i++) {
		struct incast incast = find_incast(&rig, 3, 70);

		ck_assert_int_gt(incast.receiver, 0);
		received[incast.receiver]++;
		json_object_set_new(names, incast.id, json_true());
		json_object_set_new(names, incast.work[1].secret, json_true());
		answer(&rig, &incast, 0.0095);
		ck_assert_int_eq(find_incast(&rig, 3, 50).receiver, 0);
	}
	for (int i = 1; i <= 3; i++)
		ck_assert_int_eq(received[i], 1);
	/* A late answer of one is none of another's. */
	ck_assert_uint_eq(json_object_size(names), 6);
	ck_assert_int_eq(find_incast(&rig, 3, 200).receiver, 0);
	rig_restart(&rig);
	ck_assert_int_eq(find_incast(&rig, 3, 200).receiver, 0);
	rig_end(&rig);
}
END_TEST

/* Two that are left are no incast; a node with a job is left alone. */
START_TEST(nodes_with_jobs_take_no_part)
{
	struct rig rig;
	struct incast incast;

	begin_site(&rig, 4, "incast = 3\n");
	rig_write(&rig, "slurm.node001", "mixed\n");
	rig_pass(&rig, 40000);
	incast = find_incast(&rig, 4, 100);
	ck_assert_int_eq(incast.receiver, 2);
	ck_assert_int_eq(incast.senders, 2);
	ck_assert_ptr_null(incast.work[1].work.id);
	rig_end(&rig);
	begin_site(&rig, 3, "incast = 3\n");
	rig_write(&rig, "slurm.node001", "mixed\n");
	rig_pass(&rig, 40000);
	ck_assert_int_eq(find_incast(&rig, 3, 150).receiver, 0);
	rig_end(&rig);
}
END_TEST

/* It falls silent: the others are free again, and nothing is said of anybody. */
START_TEST(a_silent_node_ends_an_incast_in_time)
{
	struct rig rig;
	struct incast incast;

	begin_site(&rig, 3, "incast = 2\n");
	incast = find_incast(&rig, 3, 100);
	ck_assert_int_eq(incast.receiver, 1);
	rig_pass(&rig, 180000);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_INCAST), 1);
	ck_assert_int_eq(rig_node(&rig, 1)->incast.is.verdict, BU_VERDICT_INCONCLUSIVE);
	ck_assert_str_eq(rig_node(&rig, 1)->incast.is.error, "no result in time");
	for (int i = 1; i <= 3; i++)
		ck_assert_int_eq(bu_task_is_busy(rig.gate, rig_node(&rig, i)->name), 0);
	ck_assert_int_eq(remarks_of(&rig, 1, "at once"), 0);
	rig_end(&rig);
}
END_TEST

/* What says nothing is done again, with the node as receiver, a few times in its boot:
 * counted in the log. What says something ends it. */
START_TEST(what_says_nothing_is_done_again_a_few_times)
{
	static const struct {
		int nothing, incasts; /* of the first receiver */
	} counts[] = {{0, 1}, {1, 2}, {9, 3}};

	for (size_t i = 0; i < BU_LEN(counts); i++) {
		struct rig rig;
		int received = 0;

		begin_site(&rig, 3, "incast = 2\n");
		for (int k = 0; k < 5; k++) {
			struct incast incast = find_incast(&rig, 3, 200);

			ck_assert_int_gt(incast.receiver, 0);
			answer(&rig, &incast,
			       incast.receiver == 1 && received < counts[i].nothing
				       ? 0.019
				       : 0.0095);
			received += incast.receiver == 1;
			if (k == 0)
				rig_restart(&rig);
			if (received == counts[i].incasts && incast.receiver != 1)
				break;
		}
		ck_assert_int_eq(received, counts[i].incasts);
		rig_end(&rig);
	}
}
END_TEST

RIG_UNIT("incast", idle_nodes_send_to_one_where_the_profile_asks_for_it,
	 the_ends_are_told_the_same, a_finding_is_a_remark_and_nobody_is_accused,
	 each_receives_once_in_its_boot, nodes_with_jobs_take_no_part,
	 a_silent_node_ends_an_incast_in_time,
	 what_says_nothing_is_done_again_a_few_times)
