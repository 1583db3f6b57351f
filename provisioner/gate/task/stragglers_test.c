/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes whose probes take longer than others': whom they are measured with, and what
 * the gate finds of it in the log. */
#include "provisioner/gate/campaign/campaign.h"
#include "provisioner/gate/task/probe.h"
#include "tests/support/gate.h"
#include "tests/support/probes.h"

enum { NODES = 4, PROBE_S = 5 };

/* Agents that are at work for a while. */
struct timed {
	json_t *item[NODES + 1];
	int due_s[NODES + 1];
	int slow, slow_s; /* this node, and whoever is with it; so long */
	int now_s;
};

static int
is_with(const json_t *item, int node)
{
	return number_of(bu_json_str(item, "a", "")) == node ||
	       number_of(bu_json_str(item, "b", "")) == node;
}

static void
work(struct rig *rig, struct links *links, struct timed *timed, int number)
{
	struct bu_node *node = rig_node(rig, number);
	json_t *item = timed->item[number];

	if (item && timed->now_s >= timed->due_s[number]) {
		bu_autojson json_t *result = result_of(links, item);

		bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), result,
			       NULL);
		json_decref(item);
		timed->item[number] = NULL;
	} else if (!item && node->checks.body) {
		timed->item[number] = item = bu_gate_work(rig->gate, node);
		timed->due_s[number] =
			timed->now_s +
			(item && is_with(item, timed->slow) ? timed->slow_s : PROBE_S);
	}
}

static void
run(struct rig *rig, struct links *links, struct timed *timed, int seconds)
{
	for (int second = 0; second < seconds; second++) {
		for (int i = 1; i <= NODES; i++)
			work(rig, links, timed, i);
		rig_pass(rig, 1000);
		timed->now_s++;
	}
}

static void
end(struct rig *rig, struct timed *timed)
{
	for (int i = 1; i <= NODES; i++)
		json_decref(timed->item[i]);
	rig_end(rig);
}

static int
slow_count(const struct rig *rig)
{
	int count = 0;

	for (int i = 1; i <= NODES; i++)
		count += rig_node(rig, i)->live.slow_probe > 0;
	return count;
}

/* Nobody knows which of the two it was, until the other one's next probe. */
START_TEST(a_slow_probe_is_remembered_until_the_next)
{
	struct rig rig;
	struct links links = good_links();
	struct timed timed = {.slow = 4, .slow_s = 2 * PROBE_S};

	begin(&rig, NODES);
	check_all(&rig, NODES);
	for (int i = 0; i < 60 && !slow_count(&rig); i++)
		run(&rig, &links, &timed, 1);
	ck_assert_int_eq(slow_count(&rig), 2);
	ck_assert_int_eq(rig_node(&rig, 4)->live.slow_probe, 1);
	run(&rig, &links, &timed, 120);
	for (int i = 1; i <= NODES; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_node(&rig, 4)->live.slow_probe, NODES - 1);
	/* Its first partner had others after it. */
	ck_assert_int_lt(slow_count(&rig), NODES);
	end(&rig, &timed);
}
END_TEST

static void
note(struct rig *rig, const char *failed, int took_ms)
{
	struct bu_pair_result result;
	struct bu_err err;
	struct bu_probe probe = {.rails = 1, .task.deadline_ms = 60000};

	bu_pair_result_init(&result);
	BU_TEXT_COPY(result.probe, "p1");
	for (int i = 0; i < 2; i++) {
		BU_TEXT_COPY(result.end[i].node, i ? "node002" : "node001");
		BU_TEXT_COPY(result.end[i].device, "rxe0");
	}
	bu_err_set(&err, BU_ERR_TIMEOUT, 0, "nobody came");
	if (strcmp(failed, "probe") == 0)
		bu_pair_error_set(&result.error, 0, &err);
	if (strcmp(failed, "direction") == 0)
		bu_pair_error_set(&result.dir[1].error, 0, &err);
	BU_TEXT_COPY(probe.task.name[0], "node001");
	BU_TEXT_COPY(probe.task.name[1], "node002");
	probe.both_ms = bu_loop_now_ms(rig->loop) - took_ms;
	if (strcmp(failed, "silent") != 0)
		probe.task.result[0] =
			json_pack("{s:[o]}", "rails", bu_pair_result_to_json(&result));
	bu_probe_note_pace(rig->gate, &probe);
	json_decref(probe.task.result[0]);
}

/* How long somebody waited for nothing makes nobody slow, and later nobody quick. */
START_TEST(what_failed_is_no_pace)
{
	static const char *const failed[] = {"probe", "direction", "silent"};
	struct rig rig;

	begin(&rig, NODES);
	for (size_t i = 0; i < BU_LEN(failed); i++) {
		note(&rig, failed[i], 30000);
		ck_assert(rig.gate->usual_share == 0);
	}
	note(&rig, "", 3000);
	ck_assert_double_eq_tol(rig.gate->usual_share, 0.05, 1e-9);
	for (size_t i = 0; i < BU_LEN(failed); i++) {
		note(&rig, failed[i], 30000);
		ck_assert_double_eq_tol(rig.gate->usual_share, 0.05, 1e-9);
		ck_assert_int_eq(slow_count(&rig), 0);
	}
	note(&rig, "", 6000);
	ck_assert_int_eq(slow_count(&rig), 2);
	rig_come_up(&rig, 1, "boot-again");
	ck_assert_int_eq(slow_count(&rig), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_little_longer_is_not_slow)
{
	struct rig rig;
	struct links links = good_links();
	struct timed timed = {.slow = 4, .slow_s = PROBE_S + 2};

	begin(&rig, NODES);
	check_all(&rig, NODES);
	for (int i = 0; i < 60; i++) {
		run(&rig, &links, &timed, 1);
		ck_assert_int_eq(slow_count(&rig), 0);
	}
	for (int i = 1; i <= NODES; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	end(&rig, &timed);
}
END_TEST

/* With whom node 1 is measured now; 0 = with nobody. */
static int
partner_now(const struct rig *rig)
{
	for (const struct bu_probe *probe = newest_probe(rig->gate); probe;
	     probe = next_probe(probe))
		if (number_of(probe->task.name[0]) == 1)
			return number_of(probe->task.name[1]);
	return 0;
}

/* The first partner of node 1. It and node 2 come when the others are being measured;
 * so many of their last probes were slow. */
static int
first_partner(int of_first, int of_second)
{
	static const int order[] = {3, 4, 1, 2};
	struct rig rig;
	struct links links = good_links();
	struct timed timed = {.slow = 0};
	int partner = 0;

	begin(&rig, NODES);
	for (int i = 0; i < NODES; i++) {
		rig_node(&rig, order[i])->live.slow_probe = i == 2   ? of_first
							    : i == 3 ? of_second
								     : 0;
		check(&rig, order[i], "nic-mtu", BU_VERDICT_PASS, "");
		if (i == 1)
			run(&rig, &links, &timed, 3);
	}
	for (int i = 0; i < 20 && !partner; i++) {
		run(&rig, &links, &timed, 1);
		partner = partner_now(&rig);
	}
	run(&rig, &links, &timed, 120);
	/* When nobody else is left, they meet. */
	for (int i = 1; i <= NODES; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_JOINING);
	end(&rig, &timed);
	return partner;
}

START_TEST(two_that_were_slow_meet_others_first)
{
	ck_assert_int_eq(first_partner(0, 0), 2);
	ck_assert_int_eq(first_partner(0, 1), 2);
	ck_assert_int_ge(first_partner(1, 1), 3);
}
END_TEST

START_TEST(who_was_slow_twice_waits_for_who_needs_it)
{
	ck_assert_int_ge(first_partner(0, 2), 3);
}
END_TEST

static const struct bu_desired_network *
fabric_of(const struct rig *rig)
{
	const struct bu_desired *desired = rig->fleet->desired;

	for (size_t i = 0; i < desired->networks_count; i++)
		if (desired->networks[i].role == BU_ROLE_FABRIC)
			return &desired->networks[i];
	return NULL;
}

/* Pairs that a campaign of the present profile finds in the log with this node. */
static int
met_by(struct rig *rig, int number)
{
	struct bu_campaign_state campaign;
	int own, count = 0, dir;

	for (int i = 1; i <= NODES; i++)
		rig_node(rig, i)->live.last_seen_ms = rig->clock.fake_wall_ms;
	ck_assert_int_gt(bu_campaign_state_open(rig->gate, fabric_of(rig), &campaign),
			 0);
	own = bu_gate_place(&campaign.topology, rig_node(rig, number)->name);
	for (int i = 0; own >= 0 && i < campaign.topology.nodes; i++) {
		const struct bu_indexed_pair *indexed =
			bu_pair_index_find(&campaign, own, i, &dir);

		if (!indexed)
			continue;
		ck_assert_str_eq(indexed->log->name[dir], rig_node(rig, number)->name);
		ck_assert_str_eq(indexed->log->name[!dir], campaign.nodes[i]->name);
		count++;
	}
	bu_campaign_state_close(&campaign);
	bu_gate_roles_drop(rig->gate);
	return count;
}

/* What is kept from look to look is of one profile: in another one nodes come and go.
 */
START_TEST(a_node_that_comes_back_has_met_whom_it_met)
{
	struct rig rig;
	struct links links = good_links();
	struct timed timed = {.slow = 0};

	begin(&rig, NODES);
	check_all(&rig, NODES);
	for (int i = 0; i < 30 && met_by(&rig, NODES) == 0; i++)
		run(&rig, &links, &timed, 1);
	ck_assert_int_eq(met_by(&rig, NODES), 1);
	rig_revise(&rig, NODES - 1, "", "");
	rig_restart(&rig);
	rig_pass(&rig, 1);
	met_by(&rig, 1);
	ck_assert_int_eq(met_by(&rig, NODES), 0);
	rig_revise(&rig, NODES, "", "");
	rig_pass(&rig, 1);
	ck_assert_int_eq(met_by(&rig, NODES), 1);
	end(&rig, &timed);
}
END_TEST

/* What was measured in another boot is over. */
START_TEST(who_was_started_again_has_met_nobody)
{
	struct rig rig;
	struct links links = good_links();
	struct timed timed = {.slow = 0};

	begin(&rig, NODES);
	check_all(&rig, NODES);
	for (int i = 0; i < 30 && met_by(&rig, 2) == 0; i++)
		run(&rig, &links, &timed, 1);
	ck_assert_int_eq(met_by(&rig, 2), 1);
	bu_node_set_boot_id(rig_node(&rig, 2), "boot-again");
	ck_assert_int_eq(met_by(&rig, 2), 0);
	end(&rig, &timed);
}
END_TEST

RIG_UNIT("stragglers", a_slow_probe_is_remembered_until_the_next,
	 what_failed_is_no_pace, a_little_longer_is_not_slow,
	 two_that_were_slow_meet_others_first,
	 who_was_slow_twice_waits_for_who_needs_it,
	 a_node_that_comes_back_has_met_whom_it_met,
	 who_was_started_again_has_met_nobody)
