/* SPDX-License-Identifier: Apache-2.0 */
/* Which proven nodes are partners of unproven ones: as `partners` of their pool says,
 * and as their cluster says of its jobs. And how often they are asked for. */
#include "provisioner/gate/gate.h"
#include "tests/support/gate.h"

/* The last of these nodes wants to be in the cluster, the others are; their pool says
 * this. */
static void
begin_nodes(struct rig *rig, int nodes, const char *partners)
{
	bu_autofree char *pool = bu_xasprintf("max_unavailable = 50 %%\n%s", partners);

	rig_begin(rig, nodes);
	rig_open_gate(rig);
	rig_apply(rig, nodes, BU_CLASS_INSTALL, "d-lend", "max_unavailable = 50 %\n",
		  pool);
	for (int i = 1; i <= nodes; i++)
		rig_to_validating(rig, i);
	for (int i = 1; i < nodes; i++)
		rig_join(rig, i);
}

static void
begin_with(struct rig *rig, const char *partners)
{
	begin_nodes(rig, 2, partners);
}

static void
remark_is(struct rig *rig, int number, const char *text)
{
	bu_autojson json_t *list = bu_gate_remarks(rig->gate, rig_node(rig, number));
	int found = 0;
	size_t i;
	json_t *one;

	json_array_foreach (list, i, one)
		found += strcmp(rig_sentence(one), text) == 0;
	{
		bu_autofree char *all = bu_said_lines(list);

		ck_assert_msg(found == 1, "node %d has no remark '%s': %s", number,
			      text, all);
	}
}

/* A pool that says nothing keeps its nodes with jobs to itself. */
START_TEST(a_node_with_a_job_is_lent_where_the_pool_says_any)
{
	static const char *const rows[] = {"", "partners = any\n"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct links links = good_links();

		begin_with(&rig, rows[i]);
		rig_write(&rig, "slurm.node001", "mixed\n");
		measure(&rig, &links, 2, 20);
		ck_assert_int_eq(rig_node(&rig, 2)->state,
				 i ? BU_STATE_JOINING : BU_STATE_VALIDATING);
		ck_assert_int_eq(events_of(&rig, BU_EVENT_LEASE), (int)i);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_node_of_a_cluster_is_no_spare)
{
	struct rig rig;
	struct links links = good_links();

	begin_with(&rig, "partners = spare\n");
	measure(&rig, &links, 2, 60);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_VALIDATING);
	rig_reason_is(rig_node(&rig, 2)->live.wait_reason, PARTNERS_IN_USE);
	ck_assert_int_eq(rig_node(&rig, 2)->live.wait_reason->number[0], 1);
	ck_assert_int_eq(links.probes, 0);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_LEASE), 0);
	rig_end(&rig);
}
END_TEST

/* Proven, and not in the cluster yet that they shall join. */
START_TEST(a_node_of_no_cluster_yet_is_a_spare)
{
	struct rig rig;
	struct links links = good_links();

	rig_begin(&rig, 3);
	rig_open_gate(&rig);
	rig_apply(&rig, 3, BU_CLASS_INSTALL, "d-spare", "max_unavailable = 50 %\n",
		  "max_unavailable = 50 %\npartners = spare\n");
	for (int i = 1; i <= 2; i++)
		rig_to_validating(&rig, i);
	measure(&rig, &links, 2, 20);
	for (int i = 1; i <= 2; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	rig_to_validating(&rig, 3);
	measure(&rig, &links, 3, 20);
	ck_assert_int_eq(rig_node(&rig, 3)->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* The others are there and cannot be measured: it says whose cause to look for. */
START_TEST(who_waits_for_those_who_are_away_is_told_of_them)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	begin(&rig, 3);
	node = rig_node(&rig, 1);
	links.silent[2] = links.silent[3] = 1;
	rig_pass(&rig, 100000); /* of these two nothing was heard for longer */
	measure(&rig, &links, 3, 5);
	rig_reason_is(node->live.wait_reason, PARTNERS_AWAY);
	ck_assert_str_eq(bu_reason_arg(node->live.wait_reason, "node"), "node002");
	ck_assert_int_eq(node->live.wait_reason->number[0], 2);
	ck_assert(bu_node_stands_still(node));
	rig_why_says(&rig, node, "bringup node why node002 says why");
	links.silent[2] = 0;
	measure(&rig, &links, 3, 10);
	for (int i = 1; i <= 2; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_with_a_job_is_lent_when_the_job_is_over)
{
	struct rig rig;
	struct links links = good_links();

	begin_with(&rig, "partners = idle\n");
	rig_write(&rig, "slurm.node001", "mixed\n");
	measure(&rig, &links, 2, 60);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_VALIDATING);
	rig_reason_is(rig_node(&rig, 2)->live.wait_reason, PARTNERS_IN_USE);
	ck_assert_int_eq(rig_node(&rig, 2)->live.wait_reason->number[0], 1);
	ck_assert_int_eq(links.probes, 0);
	rig_write(&rig, "slurm.node001", "idle\n");
	rig_write(&rig, "slurm.node007", "mixed\n");
	measure(&rig, &links, 2, 60);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_JOINING);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_LEASE), 1);
	rig_why_says(&rig, rig_node(&rig, 1), "it was used as a partner by node002");
	rig_end(&rig);
}
END_TEST

/* Neither a failure nor words that cannot be read mean that nobody has jobs. */
START_TEST(of_a_cluster_that_does_not_answer_nobody_is_idle)
{
	for (int garbled = 0; garbled < 2; garbled++) {
		struct rig rig;
		struct links links = good_links();

		begin_with(&rig, "partners = idle\n");
		if (garbled)
			rig_write(&rig, "slurm.node001", "PARTYING\n");
		else
			rig_write(&rig, "slurm.fail", "no slurmctld\n");
		rig_pass(&rig, 60000); /* what it said before is too old by now */
		measure(&rig, &links, 2, 60);
		ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_VALIDATING);
		ck_assert_int_eq(links.probes, 0);
		rig_remove(&rig, garbled ? "slurm.node001" : "slurm.fail");
		measure(&rig, &links, 2, 60);
		ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_JOINING);
		rig_end(&rig);
	}
}
END_TEST

/* Three are proven; then the fourth comes with this fault, until its verdict. */
static void
judge_newcomer(struct rig *rig, struct links *links)
{
	begin(rig, 4);
	measure(rig, links, 3, 30);
	for (int i = 1; i <= 3; i++)
		ck_assert_int_eq(rig_node(rig, i)->state, BU_STATE_JOINING);
	measure(rig, links, 4, 90);
	ck_assert_int_eq(rig_node(rig, 4)->state, BU_STATE_QUARANTINED);
	for (int i = 1; i <= 3; i++)
		ck_assert_int_eq(rig_node(rig, i)->state, BU_STATE_JOINING);
}

/* Each proven one sees it, and three tests again stand: nothing more is measured, with
 * two bad halves little more. */
START_TEST(a_newcomers_fault_takes_no_more_than_its_tests)
{
	for (int halves = 1; halves <= 3; halves++) {
		struct rig rig;
		struct links links = good_links();

		if (halves & 1)
			links.sends[4] = SLOW;
		if (halves & 2)
			links.receives[4] = SLOW;
		judge_newcomer(&rig, &links);
		ck_assert_int_ge(links.probed[4], 6);
		ck_assert_int_le(links.probed[4], halves == 3 ? 9 : 6);
		rig_end(&rig);
	}
}
END_TEST

/* The link of a proven node went slow, or of two: the newcomer is good with the others.
 */
START_TEST(the_fault_of_proven_ones_is_no_newcomers)
{
	for (int slow = 1; slow <= 6; slow++) {
		struct rig rig;
		struct links links = good_links();
		int before;

		begin(&rig, 5);
		measure(&rig, &links, 4, 60);
		for (int i = 1; i <= 4; i++)
			ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
		for (int i = slow; i <= slow + slow / 4; i++)
			links.sends[i % 4 + 1] = links.receives[i % 4 + 1] = SLOW;
		before = links.probed[slow % 4 + 1];
		measure(&rig, &links, 5, 200);
		ck_assert_msg(rig_node(&rig, 5)->state == BU_STATE_JOINING,
			      "slow %d: %s, %d, says %s", slow,
			      bu_state_name(rig_node(&rig, 5)->state), links.probed[5],
			      bu_reason_info(rig_node(&rig, 5)->live.wait_reason->code)
				      ->name);
		/* they met, but for rare draws */
		if (slow < 4 && links.probed[slow + 1] > before) {
			bu_autofree char *said = bu_xasprintf(
				"slow with node%03d, good with others (rail fabric): "
				"check the cables of both",
				slow + 1);

			remark_is(&rig, 5, said);
			remark_is(&rig, slow + 1,
				  "slow with node005, good with others (rail fabric): "
				  "check the cables of both");
		}
		rig_end(&rig);
	}
}
END_TEST

/* Which of both it is nobody can tell, until there is a third. */
START_TEST(the_word_of_one_partner_is_a_doubt)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;
	struct bu_reason reason;
	struct bu_event event;

	begin(&rig, 3);
	measure(&rig, &links, 2, 30);
	BU_REASON_SET(&reason, PERSON, .text = {"I look at it"});
	bu_hold_event(&event, "node002", BU_OWNER_PERSON, "ann", &reason);
	bu_reconcile_note(rig.rec, &event, 1);
	links.sends[1] = links.receives[1] = SLOW;
	measure(&rig, &links, 3, 90);
	node = rig_node(&rig, 3);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_reason_is(node->live.wait_reason, NO_THIRD);
	rig_reason_has(node->live.wait_reason, "slow pair with node001 (");
	rig_why_says(&rig, node, "bringup node validate node003 measures it again");
	ck_assert_int_eq(bu_reconcile_release(rig.rec, rig_node(&rig, 2), "ann", NULL),
			 0);
	measure(&rig, &links, 3, 200);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* Good with one proven node, slow with the two others whose links became slow; then the
 * good one is held: what was measured with it still counts. */
START_TEST(good_tests_count_when_their_partner_has_gone)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;
	struct bu_reason reason;
	struct bu_event event;
	int place;

	begin(&rig, 4);
	measure(&rig, &links, 3, 30);
	for (int i = 1; i <= 3; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	links.sends[1] = links.receives[1] = SLOW;
	links.sends[2] = links.receives[2] = SLOW;
	node = rig_node(&rig, 4);
	for (int i = 0; i < 60; i++) {
		place = bu_measurements_find(rig.fleet, "node003", "node004", "fabric");
		if (place >= 0 && rig.fleet->measurements.logs[place].count >= 2)
			break;
		measure(&rig, &links, 4, 1);
	}
	ck_assert_int_lt(place, (int)rig.fleet->measurements.count);
	ck_assert_uint_ge(rig.fleet->measurements.logs[place].count, 2);
	BU_REASON_SET(&reason, PERSON, .text = {"I look at it"});
	bu_hold_event(&event, "node003", BU_OWNER_PERSON, "ann", &reason);
	bu_reconcile_note(rig.rec, &event, 1);
	measure(&rig, &links, 4, 200);
	ck_assert_msg(node->state == BU_STATE_VALIDATING, "%s",
		      bu_state_name(node->state));
	rig_reason_is(node->live.wait_reason, NO_THIRD);
	ck_assert_int_eq(bu_reconcile_release(rig.rec, rig_node(&rig, 3), "ann", NULL),
			 0);
	measure(&rig, &links, 4, 200);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* The third proven one's port is dead by now: two are enough then. */
START_TEST(a_partner_that_is_silent_shields_no_newcomer)
{
	struct rig rig;
	struct links links = good_links();

	begin(&rig, 4);
	measure(&rig, &links, 3, 30);
	for (int i = 1; i <= 3; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	links.dead = 3;
	links.sends[4] = SLOW;
	measure(&rig, &links, 4, 200);
	ck_assert_msg(rig_node(&rig, 4)->state == BU_STATE_QUARANTINED, "%s, says %s",
		      bu_state_name(rig_node(&rig, 4)->state),
		      bu_reason_info(rig_node(&rig, 4)->live.wait_reason->code)->name);
	rig_end(&rig);
}
END_TEST

/* Those that could tell have jobs: the node says what it waits for. */
START_TEST(a_doubt_waits_for_those_that_are_in_use)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;

	begin_nodes(&rig, 3, "partners = idle\n");
	rig_write(&rig, "slurm.node001", "idle\n");
	rig_write(&rig, "slurm.node002", "mixed\n");
	links.sends[1] = links.receives[1] = SLOW;
	measure(&rig, &links, 3, 120);
	node = rig_node(&rig, 3);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_reason_is(node->live.wait_reason, NO_THIRD_IN_USE);
	ck_assert_int_eq(node->live.wait_reason->number[0], 1);
	rig_reason_has(node->live.wait_reason, "slow pair with node001 (");
	remark_is(&rig, 1, "slow with node003 (rail fabric): check the cables of both");
	rig_write(&rig, "slurm.node002", "idle\n");
	measure(&rig, &links, 3, 300);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* Its rates are good, and its link is not: the port says so itself. */
START_TEST(who_loses_its_link_is_accused)
{
	struct rig rig;
	struct links links = good_links();

	links.erring = 4;
	judge_newcomer(&rig, &links);
	rig_reason_has(rig_node(&rig, 4)->reason,
		       "errors of the link in one probe, link_downed 1 at node004");
	rig_end(&rig);
}
END_TEST

/* What alternates beside a fault that stands is not followed until it decides, too. */
START_TEST(what_alternates_beside_a_lasting_fault_takes_no_longer)
{
	struct rig rig;
	struct links links = good_links();
	bu_autojson json_t *shown = NULL;
	const json_t *loss;
	int found = 0;

	links.lossy = 4;
	judge_newcomer(&rig, &links);
	ck_assert_int_ge(links.probed[4], 6);
	ck_assert_int_le(links.probed[4], 12);
	rig_reason_has(rig_node(&rig, 4)->reason,
		       "20 packets lost or sent again in one probe, out_of_sequence 20 "
		       "at node004, latency p99 ");
	rig_reason_has(rig_node(&rig, 4)->reason, " tests again");
	shown = bu_gate_show(rig.gate, rig_node(&rig, 4), NULL);
	loss = json_object_get(json_object_get(shown, "accusation"), "symptoms");
	for (size_t i = 0; i < json_array_size(loss); i++) {
		const json_t *sign = json_array_get(loss, i);

		if (strcmp(bu_json_str(sign, "symptom", ""), "loss") != 0)
			continue;
		/* a partner that another symptom is tested with may come twice */
		ck_assert_int_ge(bu_json_int(sign, "bad", 0), 3);
		ck_assert_int_le(bu_json_int(sign, "tests", 9), 5);
		ck_assert_int_eq(bu_json_int(sign, "tests", 9),
				 bu_json_int(sign, "bad", 0));
		found++;
	}
	ck_assert_int_eq(found, 1);
	says(bu_json_str(shown, "hint", ""), "clean or swap the cable");
	rig_end(&rig);
}
END_TEST

/* One late acknowledgement of a busy machine: its counters at both ends. */
START_TEST(a_late_acknowledgement_is_no_loss)
{
	struct rig rig;
	struct links links = good_links();

	links.late = 1;
	begin(&rig, 2);
	measure(&rig, &links, 2, 10);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_JOINING);
	ck_assert_int_eq(links.probed[1], 1);
	rig_end(&rig);
}
END_TEST

/* What two proven nodes once saw of each other is no reason to ask a third one more. */
START_TEST(a_past_whim_of_proven_nodes_costs_a_newcomer_nothing)
{
	struct rig rig;
	struct links links = good_links();

	links.every = 100;
	links.until = 1;
	rig_begin(&rig, 3);
	rig_open_gate(&rig);
	rig_to_validating(&rig, 1);
	rig_to_validating(&rig, 2);
	measure(&rig, &links, 2, 100);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_JOINING);
	ck_assert_int_gt(links.probed[1], 8); /* it was tested again and again */
	rig_to_validating(&rig, 3);
	measure(&rig, &links, 3, 30);
	ck_assert_int_eq(rig_node(&rig, 3)->state, BU_STATE_JOINING);
	ck_assert_int_le(links.probed[3], 2);
	rig_end(&rig);
}
END_TEST

/* So many minutes of agents that come for work at the beginning of each. */
static void
measure_minutes(struct rig *rig, struct links *links, int count, int minutes)
{
	for (int i = 0; i < minutes; i++) {
		measure(rig, links, count, 6);
		rig_pass(rig, 54000);
	}
}

/* Too rare for a fault, too often for a whim: the tests go on, once a minute, and when
 * it stays away they decide. */
START_TEST(tests_that_do_not_decide_go_on_slowly)
{
	struct rig rig;
	struct links links = good_links();
	struct bu_node *node;
	int before;

	links.every = 16;
	links.until = 40;
	begin(&rig, 2);
	measure(&rig, &links, 2, 150);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_reason_is(node->live.wait_reason, UNDECIDED_YET);
	before = links.probed[1];
	ck_assert_int_ge(before, 32);
	measure_minutes(&rig, &links, 2, 10);
	ck_assert_int_ge(links.probed[1] - before, 9);
	ck_assert_int_le(links.probed[1] - before, 11);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	measure_minutes(&rig, &links, 2, 40);
	for (int i = 1; i <= 2; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("lend", who_loses_its_link_is_accused,
	 a_past_whim_of_proven_nodes_costs_a_newcomer_nothing,
	 a_late_acknowledgement_is_no_loss, tests_that_do_not_decide_go_on_slowly,
	 a_newcomers_fault_takes_no_more_than_its_tests,
	 the_fault_of_proven_ones_is_no_newcomers, the_word_of_one_partner_is_a_doubt,
	 good_tests_count_when_their_partner_has_gone,
	 what_alternates_beside_a_lasting_fault_takes_no_longer,
	 a_partner_that_is_silent_shields_no_newcomer,
	 a_doubt_waits_for_those_that_are_in_use, a_node_of_a_cluster_is_no_spare,
	 a_node_of_no_cluster_yet_is_a_spare,
	 who_waits_for_those_who_are_away_is_told_of_them,
	 a_node_with_a_job_is_lent_when_the_job_is_over,
	 a_node_with_a_job_is_lent_where_the_pool_says_any,
	 of_a_cluster_that_does_not_answer_nobody_is_idle)
