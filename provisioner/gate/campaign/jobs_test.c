/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes with jobs, where their pool lends them all the same: they are seldom disturbed,
 * and what their jobs do to a link is held against nobody. */
#include "provisioner/gate/task/probe.h"
#include "tests/support/gate.h"

/* Those up to `working` are in the cluster and have jobs, the others want to be. */
static void
begin_lent(struct rig *rig, int nodes, int working, const char *settings)
{
	rig_begin(rig, nodes);
	rig_open_gate(rig);
	rig_apply(rig, nodes, BU_CLASS_INSTALL, "d-any", "max_unavailable = 50 %\n",
		  settings);
	for (int i = 1; i <= nodes; i++)
		rig_to_validating(rig, i);
	for (int i = 1; i <= working; i++) {
		bu_autofree char *name = bu_xasprintf("slurm.node%03d", i);

		rig_join(rig, i);
		rig_write(rig, name, "mixed\n");
	}
}

static void
begin_beside(struct rig *rig, int nodes, int working)
{
	begin_lent(rig, nodes, working, "max_unavailable = 50 %\npartners = any\n");
}

/* Three newcomers want it as a partner. */
START_TEST(a_node_with_jobs_is_in_one_probe_a_minute)
{
	struct rig rig;
	struct links links = good_links();
	int before;

	begin_beside(&rig, 4, 1);
	measure(&rig, &links, 4, 50);
	before = links.probed[1];
	ck_assert_int_eq(before, 1);
	measure(&rig, &links, 4, 120);
	ck_assert_int_le(links.probed[1] - before, 2);
	for (int i = 2; i <= 4; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* It needs two partners: one rests, and what the other one shows is half the proof. */
START_TEST(who_needs_a_partner_that_rests_waits_for_it)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	begin_beside(&rig, 3, 2);
	rig_node(&rig, 2)->live.disturbed_ms = bu_loop_now_ms(rig.loop);
	measure(&rig, &links, 3, 30);
	node = rig_node(&rig, 3);
	ck_assert_int_eq(links.probed[1], 1);
	ck_assert_int_eq(links.probed[2], 0);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_reason_is(node->live.wait_reason, NO_FREE_PARTNER);
	measure(&rig, &links, 3, 60);
	ck_assert_int_eq(links.probed[2], 1);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* Without jobs it is as busy as anybody. */
START_TEST(an_idle_node_is_not_spared)
{
	struct rig rig;
	struct links links = good_links();

	begin_beside(&rig, 4, 1);
	rig_write(&rig, "slurm.node001", "idle\n");
	rig_pass(&rig, 40000); /* its cluster has said so */
	measure(&rig, &links, 4, 50);
	ck_assert_int_gt(links.probed[1], 1);
	rig_end(&rig);
}
END_TEST

/* The jobs of all others take most of their links: the newcomer is slow with each. It
 * is neither accused nor let in, it says why; when the jobs are over it is let in. */
START_TEST(a_slow_result_with_a_node_with_jobs_accuses_nobody)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	begin_beside(&rig, 4, 3);
	for (int i = 1; i <= 3; i++)
		links.sends[i] = links.receives[i] = SLOW;
	measure(&rig, &links, 4, 400);
	node = rig_node(&rig, 4);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_why_says(&rig, node,
		     "has jobs, which use the link, too: a slow result with it says "
		     "nothing");
	for (int i = 1; i <= 3; i++) {
		bu_autofree char *name = bu_xasprintf("slurm.node%03d", i);

		links.sends[i] = links.receives[i] = GOOD;
		rig_write(&rig, name, "idle\n");
	}
	measure(&rig, &links, 4, 180);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* The first `count` nodes of a run, by the pairs that it measures. */
static json_t *
run_of(struct rig *rig, int count, struct links *links, int seconds)
{
	struct bu_node *nodes[4];
	struct bu_err err;
	const char *id;

	for (int i = 0; i < count; i++)
		nodes[i] = rig_node(rig, i + 1);
	measure(rig, links, count, 60); /* they and their cluster are heard */
	id = bu_gate_run(rig->gate, nodes, (size_t)count, &err);
	ck_assert_msg(id != NULL, "%s", err.text);
	measure(rig, links, count, seconds);
	return bu_gate_run_json(rig->gate, id);
}

/* Four in service, of which two have jobs: a run measures the other two, and says whom
 * it left out and what to do. */
START_TEST(a_run_disturbs_no_jobs)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_err err;

	begin_lent(&rig, 4, 4, "max_unavailable = 50 %\n");
	rig_write(&rig, "slurm.node003", "idle\n");
	rig_write(&rig, "slurm.node004", "idle\n");
	rig_pass(&rig, 40000);
	bu_autojson json_t *run = run_of(&rig, 4, &links, 30);
	const json_t *refused = json_object_get(run, "refused");

	ck_assert_int_eq(links.probed[1] + links.probed[2], 0);
	ck_assert_int_eq(links.probed[3], 1);
	ck_assert_int_eq(bu_json_bool(run, "done", 0), 1);
	ck_assert_uint_eq(json_array_size(json_object_get(run, "pairs")), 1);
	ck_assert_uint_eq(json_array_size(refused), 2);
	ck_assert_str_eq(
		bu_json_str(json_array_get(refused, 0), "why", ""),
		"node node001 has jobs, or its cluster does not say that it has none, "
		"and a probe takes its links; drain it first (bringup node drain "
		"node001), or give pool train partners = any");
	/* A job that begins before a pair does leaves it out. */
	struct bu_node *idle[] = {rig_node(&rig, 3), rig_node(&rig, 4)};
	const char *id = bu_gate_run(rig.gate, idle, 2, &err);

	ck_assert_msg(id != NULL, "%s", err.text);
	bu_node_cluster(idle[0])->jobs = 1;
	measure(&rig, &links, 4, 2);
	bu_autojson json_t *late = bu_gate_run_json(rig.gate, id);
	const json_t *missed = json_object_get(late, "missed");

	ck_assert_int_eq(links.probed[3], 1);
	ck_assert_ptr_nonnull(strstr(bu_json_str(json_array_get(missed, 0), "why", ""),
				     "node003 has jobs"));
	struct bu_node *two[] = {rig_node(&rig, 1), rig_node(&rig, 3)};

	ck_assert_ptr_null(bu_gate_run(rig.gate, two, 2, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "drain it first"));
	rig_end(&rig);
}
END_TEST

/* Where they are lent they are measured, each once a minute. */
START_TEST(a_run_spares_jobs_that_it_may_disturb)
{
	struct rig rig;
	struct links links = good_links();

	begin_beside(&rig, 3, 3);
	bu_autojson json_t *run = run_of(&rig, 3, &links, 50);

	ck_assert_uint_eq(json_array_size(json_object_get(run, "refused")), 0);
	for (int i = 1; i <= 3; i++)
		ck_assert_int_le(links.probed[i], 1);
	ck_assert_int_eq(links.probed[1] + links.probed[2] + links.probed[3], 2);
	ck_assert_int_eq(bu_json_bool(run, "done", 1), 0);
	measure(&rig, &links, 3, 150);
	for (int i = 1; i <= 3; i++)
		ck_assert_int_eq(links.probed[i], 2);
	rig_end(&rig);
}
END_TEST

/* Its cluster still believes that its jobs run: it is measured anew all the same, and
 * its fault is its own. */
START_TEST(who_restarted_has_no_jobs)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	begin_beside(&rig, 4, 3);
	rig_write(&rig, "slurm.node001", "idle\n");
	rig_write(&rig, "slurm.node002", "idle\n");
	rig_pass(&rig, 40000);
	rig_come_up(&rig, 3, "boot-again");
	node = rig_node(&rig, 3);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	links.sends[3] = SLOW;
	measure(&rig, &links, 4, 180);
	ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
	ck_assert_int_eq(rig_node(&rig, 4)->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* Packets that an end counted as lost, and which of the ends had jobs: what the
 * campaign reads of it. */
static const struct {
	int counted_by, works[2];
	double lost;
	enum bu_counter counter;
	int64_t count;
} counts[] = {
	{0, {0, 0}, 20, BU_COUNTER_OUT_OF_SEQUENCE, 20},
	{1, {0, 0}, 20, BU_COUNTER_OUT_OF_SEQUENCE, 20},
	{0, {1, 0}, 0, BU_COUNTER_OUT_OF_SEQUENCE, 20},
	{1, {1, 0}, 20, BU_COUNTER_OUT_OF_SEQUENCE, 20},
	{1, {0, 1}, 0, BU_COUNTER_OUT_OF_SEQUENCE, 20},
	{0, {1, 1}, 0, BU_COUNTER_OUT_OF_SEQUENCE, 20},
	/* Errors of a link, as in a soak: what a good one has is nothing. */
	{1, {0, 0}, 0, BU_COUNTER_SYMBOL_ERROR, 20},
	{1, {0, 0}, 40, BU_COUNTER_SYMBOL_ERROR, 40},
	{1, {0, 1}, 0, BU_COUNTER_SYMBOL_ERROR, 40},
	{0, {0, 0}, 0, BU_COUNTER_LINK_ERROR_RECOVERY, 5},
	{0, {0, 0}, 16, BU_COUNTER_LINK_ERROR_RECOVERY, 7},
	{0, {0, 0}, 16, BU_COUNTER_LINK_DOWNED, 1},
	{0, {1, 0}, 0, BU_COUNTER_LINK_DOWNED, 1},
	{1, {0, 0}, 16, BU_COUNTER_CARRIER_CHANGES, 2},
	{0, {0, 0}, 0, BU_COUNTER_RX_ERRORS, 50},
	{0, {0, 0}, 0, BU_COUNTER_NP_CNP_SENT, 50},
	{0, {0, 0}, 0, BU_COUNTER_DUPLICATE_REQUEST, 50},
};

START_TEST(counters_that_jobs_move_are_no_evidence)
{
	const struct bu_expect expect = {.link_gbps = 0.02, .percent = 80};
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 2);
	for (size_t i = 0; i < BU_LEN(counts); i++) {
		const struct bu_node *const ends[2] = {rig_node(&rig, 1),
						       rig_node(&rig, 2)};
		struct bu_probe probe = {.task.name = {"node001", "node002"}};
		bu_autojson json_t *item = json_pack("{s:s,s:s,s:s}", "probe", "p-1",
						     "a", "node001", "b", "node002");
		bu_autojson json_t *value = result_of_rail(&links, item, 0);
		struct bu_event event;
		struct bu_pair_result result;
		const json_t *flow;

		memcpy(probe.works, counts[i].works, sizeof(probe.works));
		ck_assert_int_eq(bu_pair_result_from_json(value, &result, NULL), 0);
		result.dir[0].counters[counts[i].counted_by].count[counts[i].counter] =
			counts[i].count;
		event = bu_probe_event(rig.gate, &probe, "fabric", ends, &expect,
				       &result);
		flow = json_array_get(json_object_get(event.body, "flows"), 0);
		ck_assert_ptr_nonnull(flow);
		ck_assert_msg(bu_json_real(flow, "lost", -1) == counts[i].lost,
			      "row %zu: %g", i, bu_json_real(flow, "lost", -1));
		bu_event_fini(&event);
	}
	rig_end(&rig);
}
END_TEST

/* Both have their items: one is given a job, and packets are lost to it. What the log
 * has of that is nothing, for the other end's job neither. */
START_TEST(a_job_that_begins_while_it_is_measured_counts)
{
	for (int end = 1; end <= 3; end++) {
		struct links links = good_links();
		struct bu_node *nodes[2];
		json_t *items[2];
		const struct bu_pair_log *log;
		struct rig rig;
		float lost = 0;

		links.probes = 3; /* of those no direction is slow besides */
		begin(&rig, 2);
		check_all(&rig, 2);
		rig_pass(&rig, 2000);
		links.lossy = end < 3 ? end : 1;
		for (int i = 0; i < 2; i++) {
			nodes[i] = rig_node(&rig, i + 1);
			nodes[i]->live.last_seen_ms = rig.clock.fake_wall_ms;
		}
		rig_pass(&rig, 2000);
		for (int i = 0; i < 2; i++) {
			items[i] = bu_gate_work(rig.gate, nodes[i]);
			ck_assert_ptr_nonnull(items[i]);
		}
		if (end < 3) {
			nodes[end - 1]->state = BU_STATE_READY;
			BU_TEXT_COPY(bu_node_joined(nodes[end - 1])->cluster, "slurm");
			bu_node_cluster(nodes[end - 1])->jobs = 1;
		}
		for (int i = 0; i < 2; i++) {
			bu_autojson json_t *item = items[i];
			bu_autojson json_t *result = result_of(&links, item);

			bu_gate_result(rig.gate, nodes[i], bu_json_str(item, "id", ""),
				       result, NULL);
		}
		rig_pass(&rig, 100);
		log = &rig.fleet->measurements.logs[0];
		ck_assert_uint_eq(log->count, 1);
		for (int dir = 0; dir < 2; dir++)
			lost += log->list[0].dir[dir].lost;
		ck_assert_msg((lost > 0) == (end == 3), "end %d: %g", end,
			      (double)lost);
		rig_end(&rig);
	}
}
END_TEST

RIG_UNIT("jobs", a_job_that_begins_while_it_is_measured_counts, a_run_disturbs_no_jobs,
	 a_run_spares_jobs_that_it_may_disturb,
	 who_needs_a_partner_that_rests_waits_for_it,
	 a_node_with_jobs_is_in_one_probe_a_minute, an_idle_node_is_not_spared,
	 a_slow_result_with_a_node_with_jobs_accuses_nobody, who_restarted_has_no_jobs,
	 counters_that_jobs_move_are_no_evidence)
