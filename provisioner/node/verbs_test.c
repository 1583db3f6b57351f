/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people ask of nodes, from the word to its end: once as it is, and once with the
 * daemon ended and started anew after each row of the log.
 */
#include "provisioner/node/verbs.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/support/verbs.h"

/* Each row: a verb, where it leads first, and what takes the node back. */
static const struct {
	enum bu_verb verb, back;
	enum bu_state rests; /* ready: it comes back by itself */
	int boots;           /* power cycles of all that */
	const char *says, *back_says;
} trips[] = {
	{BU_VERB_DRAIN, BU_VERB_RESUME, BU_STATE_PARKED, 0,
	 "ready -> draining, then parked", "parked -> validating"},
	{BU_VERB_DRAIN, BU_VERB_REBOOT, BU_STATE_PARKED, 1,
	 "ready -> draining, then parked", "parked -> booting"},
	{BU_VERB_SERVICE, BU_VERB_RELEASE, BU_STATE_SERVICING, 0,
	 "ready -> draining, then servicing", "servicing -> validating"},
	{BU_VERB_VALIDATE, BU_VERB_VALIDATE, BU_STATE_READY, 0,
	 "ready -> draining, then validating", ""},
	{BU_VERB_REBOOT, BU_VERB_REBOOT, BU_STATE_READY, 1,
	 "ready -> draining, then booting", ""},
};

/* 0: it came to its end before the log had so many rows more. */
static int
take_trip(size_t i, int64_t rows)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	int before = boots(&rig);
	int64_t cut = rows ? last_seq(&rig) + rows : 0;

	ask(&rig, trips[i].verb, trips[i].says);
	goes_to(&rig, BU_STATE_DRAINING, &cut);
	node = goes_to(&rig, trips[i].rests, &cut);
	if (trips[i].rests != BU_STATE_READY) {
		rig_reason_has(node->reason, "by ann: fan 3");
		be_the_world(&rig, node);
		ask(&rig, trips[i].back, trips[i].back_says);
		node = goes_to(&rig, BU_STATE_READY, &cut);
	}
	ck_assert_int_eq(boots(&rig) - before, trips[i].boots);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	rig_end(&rig);
	return rows && !cut;
}

START_TEST(what_was_taken_out_comes_back)
{
	for (size_t i = 0; i < BU_LEN(trips); i++)
		take_trip(i, 0);
}
END_TEST

START_TEST(what_was_taken_out_comes_back_over_a_restart_at_any_row)
{
	for (size_t i = 0; i < BU_LEN(trips); i++) {
		int64_t rows = 1;

		while (take_trip(i, rows))
			rows++;
		ck_assert_int_gt(rows, 6);
	}
}
END_TEST

/* Nothing is done with it for days, and nothing is late. */
START_TEST(who_is_drained_or_serviced_is_left_alone)
{
	static const enum bu_verb verbs[] = {BU_VERB_DRAIN, BU_VERB_SERVICE};
	static const enum bu_state rests[] = {BU_STATE_PARKED, BU_STATE_SERVICING};

	for (size_t i = 0; i < BU_LEN(verbs); i++) {
		struct rig rig;
		struct bu_node *node = ready(&rig);
		int before = boots(&rig);
		int64_t seq;

		bu_verb_info(verbs[i]);
		free(ask_as(&rig, verbs[i], "", 0, NULL));
		node = goes_to(&rig, rests[i], NULL);
		seq = last_seq(&rig);
		for (int hours = 0; hours < 72; hours++)
			rig_pass(&rig, 3600 * 1000);
		ck_assert_int_eq(node->state, rests[i]);
		ck_assert_int_eq(last_seq(&rig), seq);
		ck_assert_int_eq(boots(&rig), before);
		/* its machine may go on and off: it is known, and stays where it is */
		if (i == 1) {
			bu_autoinventory struct bu_inventory *own =
				rig_inventory(1, "boot-of-service");
			bu_autojson json_t *stamp = rig_stamp(&rig, node);

			ck_assert_int_eq(bu_reconcile_hello(rig.rec, node,
							    BU_WHERE_INSTALLED, stamp,
							    own, NULL),
					 0);
			rig_pass(&rig, 1);
			ck_assert_str_eq(node->boot_id, "boot-of-service");
			ck_assert_int_eq(node->state, BU_STATE_SERVICING);
			rig_reason_has(node->reason, "service by ann");
		}
		rig_end(&rig);
	}
}
END_TEST

/* The way back from quarantine that once was a wipe. */
static int
repair(int64_t rows)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_VALIDATING);
	int before = boots(&rig);
	char kinds[4096];
	int64_t seq, cut;

	ck_assert_int_eq(
		bu_reconcile_fire(rig.rec, node, BU_TRIGGER_ACCUSED, NULL, NULL), 0);
	node = goes_to(&rig, BU_STATE_QUARANTINED, NULL);
	be_the_world(&rig, node);
	seq = node->state_seq;
	cut = rows ? seq + rows : 0;
	ask(&rig, BU_VERB_VALIDATE, "quarantined -> validating");
	node = goes_to(&rig, BU_STATE_READY, &cut);
	ck_assert_int_eq(boots(&rig), before);
	ck_assert_str_eq(node->installed_digest, "d1");
	rig_events_after(&rig, seq, kinds);
	/* measured anew: what was measured before counts for nothing */
	ck_assert_int_eq(strncmp(kinds, "again state ", 12), 0);
	rig_end(&rig);
	return rows && !cut;
}

START_TEST(a_repaired_node_leaves_quarantine_without_a_wipe)
{
	int64_t rows = 1;

	repair(0);
	while (repair(rows))
		rows++;
	ck_assert_int_gt(rows, 4);
}
END_TEST

START_TEST(a_machine_that_is_off_is_started_to_be_validated)
{
	struct rig rig;
	struct bu_node *node = failed_booting(&rig);
	int before = boots(&rig);

	rig_write(&rig, "power.node001", "off");
	ask(&rig, BU_VERB_VALIDATE, "failed -> booting");
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
	ck_assert_int_eq(boots(&rig) - before, 1);
	goes_to(&rig, BU_STATE_READY, NULL);
	rig_end(&rig);
}
END_TEST

/* On, and nobody knows what runs there: no reset; its agent's word is enough. */
START_TEST(a_machine_that_is_on_is_never_reset_to_be_validated)
{
	struct rig rig;
	struct bu_node *node = failed_booting(&rig);
	int before = boots(&rig);

	rig_write(&rig, "power.node001", "on");
	ask(&rig, BU_VERB_VALIDATE, "failed -> booting");
	rig_until(&rig, node, BU_STATE_BOOTING);
	for (int i = 0; i < 100; i++)
		rig_pass(&rig, 2000);
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	for (int i = 0; i < 100; i++)
		rig_pass(&rig, 2000);
	ck_assert_int_eq(node->state, BU_STATE_FAILED);
	rig_reason_has(node->reason, "bringup node reboot node001 power-cycles it");
	ck_assert_int_eq(boots(&rig), before);
	/* who asks for the reset gets it */
	ask(&rig, BU_VERB_REBOOT, "failed -> booting");
	goes_to(&rig, BU_STATE_READY, NULL);
	ck_assert_int_eq(boots(&rig) - before, 1);
	rig_end(&rig);
}
END_TEST

/* bringupd was away: it does not know that the system runs until its agent speaks. */
START_TEST(an_agents_word_ends_booting_without_a_reset)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	int before = boots(&rig);

	ask(&rig, BU_VERB_SERVICE, "ready -> draining, then servicing");
	node = goes_to(&rig, BU_STATE_SERVICING, NULL);
	rig_write(&rig, "power.node001", "on");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ask(&rig, BU_VERB_RELEASE, "servicing -> booting");
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_pass(&rig, 10000);
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	node->live.last_seen_ms = bu_wall_ms(&rig.clock); /* it asked for work */
	rig_pass(&rig, 2000);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	ck_assert_int_eq(boots(&rig), before);
	goes_to(&rig, BU_STATE_READY, NULL);
	rig_end(&rig);
}
END_TEST

/* The jobs go on, and so does the node. */
START_TEST(a_drain_is_called_back)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	bu_autofree char *told = NULL;
	int before = boots(&rig);

	ask(&rig, BU_VERB_DRAIN, "ready -> draining, then parked");
	rig_write(&rig, "sinfo", "draining\n");
	rig_until_step(&rig, node, BU_ACTION_LEAVE, BU_STEP_OPEN);
	for (int i = 0; i < 20; i++)
		rig_pass(&rig, 1000);
	rig_why_says(&rig, node, "then: parked (drain by ann: fan 3)");
	/* another end of it may be chosen meanwhile */
	ask(&rig, BU_VERB_SERVICE, "draining -> draining, then servicing");
	rig_pass(&rig, 100);
	rig_why_says(&rig, node, "then: servicing (service by ann: fan 3)");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	rig_why_says(&rig, node, "then: servicing (service by ann: fan 3)");
	ask(&rig, BU_VERB_RESUME, "draining -> joining");
	rig_until(&rig, node, BU_STATE_JOINING);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_write(&rig, "sinfo.next", "mixed\n");
	rig_answer(&rig, node, NULL);
	rig_until(&rig, node, BU_STATE_READY);
	told = rig_read(&rig, "scontrol.log");
	rig_text_has(told, "state=resume");
	ck_assert_int_eq(boots(&rig), before);
	rig_end(&rig);
}
END_TEST

/* It may be in the cluster already, though nobody said so: it is taken out of it. */
START_TEST(a_join_that_is_broken_off_leaves_nothing_behind)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_JOINING);
	bu_autofree char *told = NULL;

	rig_write(&rig, "sinfo", "down*\n");
	rig_answer(&rig, node, NULL);
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	ask(&rig, BU_VERB_DRAIN, "joining -> draining, then parked");
	rig_write(&rig, "sinfo", "idle\n");
	rig_write(&rig, "sinfo.next", "drained\n");
	for (int i = 0; i < 20 && node->state != BU_STATE_PARKED; i++) {
		rig_pass(&rig, 1000);
		if (node->state == BU_STATE_DRAINING && i > 5)
			rig_write(&rig, "sinfo", "");
	}
	ck_assert_int_eq(node->state, BU_STATE_PARKED);
	told = rig_read(&rig, "scontrol.log");
	rig_text_has(told, "state=drain");
	rig_end(&rig);
}
END_TEST

/* A profile without it is no reason to leave its jobs in the lurch. */
START_TEST(who_has_left_the_profile_drains_to_be_retired)
{
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 2);
	rig_to_validating(&rig, 1);
	rig_join(&rig, 1);
	rig_to_validating(&rig, 2);
	rig_join(&rig, 2);
	rig_apply(&rig, 1, BU_CLASS_RELABEL, "d1", NULL, NULL);
	node = rig_node(&rig, 2);
	ck_assert_int_eq(node->live.in_profile, 0);
	ck_assert_ptr_null(bu_verb_run(
		rig.rec, node,
		&(struct bu_verb_ask){.verb = BU_VERB_DRAIN, .by = "ann", .reason = ""},
		NULL));
	free(bu_verb_run(rig.rec, node,
			 &(struct bu_verb_ask){
				 .verb = BU_VERB_RETIRE, .by = "ann", .reason = ""},
			 NULL));
	rig_write(&rig, "sinfo", "draining\n");
	for (int i = 0; i < 20; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	rig_write(&rig, "sinfo", "");
	rig_until(&rig, node, BU_STATE_RETIRED);
	ck_assert_int_eq(bu_node_is_gone(node), 1);
	rig_end(&rig);
}
END_TEST

/* What its cluster said meanwhile is not lost: nobody says it again. */
START_TEST(who_comes_back_into_the_profile_goes_on)
{
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 2);
	rig_to_validating(&rig, 2);
	rig_join(&rig, 2);
	node = rig_node(&rig, 2);
	free(bu_verb_run(
		rig.rec, node,
		&(struct bu_verb_ask){.verb = BU_VERB_DRAIN, .by = "ann", .reason = ""},
		NULL));
	rig_until_step(&rig, node, BU_ACTION_LEAVE, BU_STEP_OPEN);
	rig_revise(&rig, 1, NULL, NULL);
	ck_assert_int_eq(node->live.in_profile, 0);
	rig_write(&rig, "sinfo", "");
	rig_until_step(&rig, node, BU_ACTION_LEAVE, BU_STEP_DONE);
	for (int i = 0; i < 20; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	rig_revise(&rig, 2, NULL, NULL);
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_PARKED);
	rig_end(&rig);
}
END_TEST

START_TEST(a_drain_for_an_order_is_the_orders)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);

	rig_apply(&rig, 1, BU_CLASS_REBOOT, "d1", NULL, NULL);
	rig_write(&rig, "sinfo", "draining\n");
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	rig_until_step(&rig, node, BU_ACTION_LEAVE, BU_STEP_OPEN);
	ck_assert_int_eq(node->next->state, BU_STATE_BOOTING);
	rig_why_says(&rig, node, "then: booting (reboot of rollout");
	refused(&rig, BU_VERB_DRAIN, BU_ERR_STATE,
		"is draining for an order (reboot, of rollout");
	refused(&rig, BU_VERB_RESUME, BU_ERR_STATE, "cancels it");
	rig_end(&rig);
}
END_TEST

/* It leaves its cluster for an order that goes no further: nobody waits for that. */
START_TEST(who_left_the_profile_for_an_order_is_retired)
{
	const struct bu_verb_ask retire = {
		.verb = BU_VERB_RETIRE, .by = "ann", .reason = ""};
	struct rig rig;
	struct bu_node *node;
	struct bu_err err = {0};

	rig_begin(&rig, 2);
	rig_to_validating(&rig, 2);
	rig_join(&rig, 2);
	rig_apply(&rig, 2, BU_CLASS_REIMAGE, "d1", NULL, NULL);
	node = rig_node(&rig, 2);
	rig_write(&rig, "sinfo", "draining\n");
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	rig_until_step(&rig, node, BU_ACTION_LEAVE, BU_STEP_OPEN);
	rig_revise(&rig, 1, NULL, NULL);
	/* Its jobs run: the order is called back first. */
	ck_assert_ptr_null(bu_verb_run(rig.rec, node, &retire, &err));
	rig_text_has(err.text, "cancels it");
	rig_write(&rig, "sinfo", "");
	rig_until_step(&rig, node, BU_ACTION_LEAVE, BU_STEP_DONE);
	for (int i = 0; i < 20; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	free(bu_verb_run(rig.rec, node, &retire, NULL));
	rig_until(&rig, node, BU_STATE_RETIRED);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_int_eq(bu_node_is_gone(node), 1);
	ck_assert_int_eq(rig_count(&rig, "boot network node002"), 1); /* its first */
	rig_end(&rig);
}
END_TEST

/* It is out of its cluster, and its machine died: nobody can write its files. */
START_TEST(who_has_left_for_an_order_can_be_replaced)
{
	static const struct {
		enum bu_verb verb;
		const char *says;
		enum bu_state to;
	} rows[] = {
		{BU_VERB_REPLACE, "draining -> enrolled; released", BU_STATE_ENROLLED},
		{BU_VERB_RETIRE, "draining -> retired; released", BU_STATE_RETIRED},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct bu_node *node = ready(&rig);

		rig_apply(&rig, 1, BU_CLASS_REBOOT, "d1", NULL, NULL);
		rig_write(&rig, "sinfo", "");
		ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
		rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
		refused(&rig, BU_VERB_SERVICE, BU_ERR_STATE,
			"its files are being written; it takes: replace, retire");
		for (int k = 0; k < 1000 && !node->hold->owner; k++)
			rig_pass(&rig, 1000);
		rig_why_says(&rig, node, "come back: bringup node replace node001");
		ask(&rig, rows[i].verb, rows[i].says);
		rig_until(&rig, node, rows[i].to);
		ck_assert_str_eq(node->machine, "");
		ck_assert_int_eq(node->order->withdrawn, 1);
		rig_restart(&rig);
		ck_assert_int_eq(rig_node(&rig, 1)->state, rows[i].to);
		rig_end(&rig);
	}
}
END_TEST

/* Its jobs end first; then nothing is known of the machine any more. */
static int
forget(enum bu_verb verb, enum bu_state to, int64_t rows)
{
	bu_autofree char *says =
		bu_xasprintf("ready -> draining, then %s", bu_state_name(to));
	struct rig rig;
	struct bu_node *node = ready(&rig);
	int before = boots(&rig);
	int64_t cut = rows ? last_seq(&rig) + rows : 0;
	char machine[65];

	BU_TEXT_COPY(machine, node->machine);
	ask(&rig, verb, says);
	node = goes_to(&rig, BU_STATE_DRAINING, &cut);
	ck_assert_str_eq(node->machine, machine);
	node = goes_to(&rig, to, &cut);
	ck_assert_str_eq(node->machine, "");
	ck_assert_ptr_null(bu_fleet_node_of(rig.fleet, machine));
	ck_assert_str_eq(node->installed_digest, "");
	ck_assert_int_eq(node->disk_touched, 0);
	ck_assert_str_eq(node->full_cert, "");
	ck_assert_int_eq(boots(&rig), before);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->state, to);
	ck_assert_str_eq(node->machine, "");
	rig_end(&rig);
	return rows && !cut;
}

START_TEST(a_replaced_machine_is_forgotten_after_it_has_left)
{
	int64_t rows = 1;

	forget(BU_VERB_REPLACE, BU_STATE_ENROLLED, 0);
	forget(BU_VERB_RETIRE, BU_STATE_RETIRED, 0);
	while (forget(BU_VERB_RETIRE, BU_STATE_RETIRED, rows))
		rows++;
	ck_assert_int_gt(rows, 3);
}
END_TEST

START_TEST(what_is_refused_says_what_can_be_asked)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	int64_t seq = last_seq(&rig);

	refused(&rig, BU_VERB_DRAIN, BU_ERR_STATE,
		"node node001 is enrolled; drain has no effect there; it takes: hold, "
		"rebuild, power, bmc-reset, retire");
	refused(&rig, BU_VERB_RELEASE, BU_ERR_STATE, "node node001 is not held");
	ck_assert_int_eq(last_seq(&rig), seq);
	rig_start(&rig, 1);
	refused(&rig, BU_VERB_VALIDATE, BU_ERR_STATE,
		"hold, power, bmc-reset, replace, retire");
	free(ask_as(&rig, BU_VERB_HOLD, "mine", 0, NULL));
	refused(&rig, BU_VERB_RETIRE, BU_ERR_BUSY, "ask again");
	rig_pass(&rig, 1);
	refused(&rig, BU_VERB_RETIRE, BU_ERR_STATE,
		"node node001 is held by ann: mine; bringup node release node001 ends "
		"the hold");
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	rig_end(&rig);
}
END_TEST

/* Half of its new system is on the disk: there is nothing to boot. */
START_TEST(what_was_half_written_is_not_booted)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	struct bu_err bad;

	rig_apply(&rig, 1, BU_CLASS_WIPE, "d2", NULL, NULL);
	rig_write(&rig, "sinfo", "");
	rig_fire(&rig, node, BU_TRIGGER_REBUILD);
	rig_until(&rig, node, BU_STATE_INSPECTING);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	rig_inspect(&rig, 1);
	bu_err_set(&bad, BU_ERR_VERIFY, 0, "the frame was changed");
	rig_answer(&rig, node, &bad);
	rig_until(&rig, node, BU_STATE_FAILED);
	refused(&rig, BU_VERB_VALIDATE, BU_ERR_STATE,
		"its disk has no system of bringup");
	refused(&rig, BU_VERB_REBOOT, BU_ERR_STATE,
		"its disk has no system of bringup");
	ask(&rig, BU_VERB_RETIRE, "failed -> retired");
	rig_until(&rig, node, BU_STATE_RETIRED);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("verbs", what_was_taken_out_comes_back,
	 what_was_taken_out_comes_back_over_a_restart_at_any_row,
	 who_is_drained_or_serviced_is_left_alone,
	 a_repaired_node_leaves_quarantine_without_a_wipe,
	 a_machine_that_is_off_is_started_to_be_validated,
	 a_machine_that_is_on_is_never_reset_to_be_validated,
	 an_agents_word_ends_booting_without_a_reset, a_drain_is_called_back,
	 a_join_that_is_broken_off_leaves_nothing_behind,
	 who_has_left_the_profile_drains_to_be_retired,
	 who_left_the_profile_for_an_order_is_retired,
	 who_comes_back_into_the_profile_goes_on, a_drain_for_an_order_is_the_orders,
	 who_has_left_for_an_order_can_be_replaced,
	 a_replaced_machine_is_forgotten_after_it_has_left,
	 what_is_refused_says_what_can_be_asked, what_was_half_written_is_not_booted)
