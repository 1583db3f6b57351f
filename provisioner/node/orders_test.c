/* SPDX-License-Identifier: Apache-2.0 */
/* What applied plans do to a node that is in service, class by class. */
#include "provisioner/node/orders.h"

#include <string.h>

#include "base/json.h"
#include "provisioner/node/verbs.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

enum { HOUR_MS = 3600 * 1000 };

/* Ready, with an open order of this class, whose turn begins now. */
static struct bu_node *
begin_order(struct rig *rig, enum bu_class class, const char *from, const char *to)
{
	struct bu_node *node = rig_up_to(rig, RIG_READY);
	struct bu_err err = {0};

	rig_apply(rig, 1, class, "d1", from, to);
	ck_assert_msg(bu_reconcile_begin(rig->rec, node, &err) == 0, "%s", err.text);
	return node;
}

/* Slurm knows it no more: it has left. */
static void
leaves(struct rig *rig, struct bu_node *node)
{
	rig_until(rig, node, BU_STATE_DRAINING);
	rig_write(rig, "sinfo", "");
	rig_until_step(rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 1);
}

START_TEST(a_restart_leaves_and_joins_without_a_reboot)
{
	struct rig rig;
	struct bu_node *node = begin_order(&rig, BU_CLASS_RESTART, NULL, NULL);
	char kinds[4096];
	int64_t seq = node->order->seq;

	ck_assert_int_eq(node->order->failed, 0);
	leaves(&rig, node);
	rig_answer(&rig, node, NULL);
	/* its certificates are of this boot: nothing is measured again */
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_joins(&rig, node);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_int_eq(node->order->failed, 0);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	rig_events_after(&rig, seq, kinds);
	ck_assert_str_eq(kinds,
			 "state intent outcome intent outcome state state intent "
			 "outcome state ");
	rig_end(&rig);
}
END_TEST

/* The boot that the person asked for was not done when bringup stopped, and no other
 * one comes of a restart's own. */
START_TEST(a_reboot_within_a_restart_is_begun_again)
{
	static const struct bu_verb_ask ask = {.verb = BU_VERB_REBOOT,
					       .by = "ann",
					       .reason = "",
					       .grant = "",
					       .op = ""};
	struct rig rig;
	struct bu_node *node = begin_order(&rig, BU_CLASS_RESTART, NULL, NULL);
	bu_autofree char *said = NULL;

	leaves(&rig, node);
	rig_answer(&rig, node, NULL);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	said = bu_verb_run(rig.rec, node, &ask, NULL);
	ck_assert_ptr_nonnull(said);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	rig_write(&rig, "power.hang", "");
	rig_answer(&rig, node, NULL);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_OPEN);
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
	rig_remove(&rig, "power.hang");
	rig_write(&rig, "power.node001", "on");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	for (int s = 0; s < 600 && node->step.status != BU_STEP_DONE; s++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	ck_assert_int_eq(node->repeats, 1);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 3);
	rig_end(&rig);
}
END_TEST

/* Its time begins with it, however long the node was in service before. */
START_TEST(a_step_in_service_has_its_own_time)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	rig_pass(&rig, HOUR_MS);
	rig_apply(&rig, 1, BU_CLASS_RECONFIGURE, "d1", NULL, NULL);
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	rig_pass(&rig, 890 * 1000);
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	rig_pass(&rig, 20 * 1000);
	ck_assert_int_eq(node->step.status, BU_STEP_FAILED);
	rig_end(&rig);
}
END_TEST

/* What could not be written is not what it is called. */
START_TEST(a_renamed_node_is_called_as_before_until_its_files_are_written)
{
	static const struct {
		enum bu_outcome result;
		const char *called;
	} rows[] = {{BU_OUTCOME_FAILED, "node001"}, {BU_OUTCOME_DONE, ""}};
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);
	struct bu_event event;

	BU_EVENT_MAKE(&event, BU_EVENT_RENAMED, node->name, renamed, .to = "gpu001");
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_str_eq(node->called, "node001");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_event events[3];

		BU_EVENT_MAKE(&events[0], BU_EVENT_ORDER, node->name, order,
			      .rollout = "r-1", .class = "reconfigure");
		BU_EVENT_MAKE(&events[1], BU_EVENT_INTENT, node->name, intent,
			      .step = "s", .attempt = 1, .action = "configure");
		BU_EVENT_MAKE(&events[2], BU_EVENT_OUTCOME, node->name, outcome,
			      .step = "s", .attempt = 1, .result = rows[i].result);
		bu_reconcile_note(rig.rec, events, 3);
		rig_pass(&rig, 1);
		ck_assert_str_eq(node->called, rows[i].called);
	}
	rig_end(&rig);
}
END_TEST

/* Its system died under a restart's order: a release alone leads nowhere. */
START_TEST(who_is_held_with_a_silent_agent_is_told_what_leads_out)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_VALIDATING);
	struct bu_event event;
	struct bu_reason reason;
	bu_autofree char *why = NULL;

	BU_REASON_SET(&reason, LATE, .text = {"the fabric was not measured"});
	bu_hold_event(&event, node->name, BU_OWNER_BRINGUP, "", &reason);
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	node->live.last_seen_ms = rig.clock.fake_wall_ms;
	why = rig_why(&rig, node);
	ck_assert_ptr_null(strstr(why, "bringup node reboot node001"));
	rig_pass(&rig, 200 * 1000);
	rig_why_says(&rig, node,
		     "if its agent is not heard again: bringup node reboot node001");
	rig_end(&rig);
}
END_TEST

START_TEST(a_reboot_writes_its_files_first_and_is_measured_again)
{
	struct rig rig;
	struct bu_node *node = begin_order(&rig, BU_CLASS_REBOOT, NULL, NULL);

	leaves(&rig, node);
	rig_answer(&rig, node, NULL);
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 2);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_come_up(&rig, 1, "boot-2");
	rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_join(&rig, 1);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_str_eq(node->facets, "f-d1");
	rig_end(&rig);
}
END_TEST

START_TEST(files_that_cannot_be_written_hold_the_node_and_are_tried_again)
{
	struct rig rig;
	struct bu_node *node = begin_order(&rig, BU_CLASS_RESTART, NULL, NULL);
	struct bu_err bad;

	leaves(&rig, node);
	bu_err_set(&bad, BU_ERR_INVAL, 0, "no NIC has 52:54:00:78:00:01");
	rig_answer(&rig, node, &bad);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_FAILED);
	rig_pass(&rig, 5001);
	rig_reason_says(&node->hold->reason, bad.text);
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	ck_assert_int_ne(node->order->fault_seq, 0);
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "me", NULL), 0);
	/* it does not leave once more */
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	ck_assert_int_eq(node->step.attempt, 2);
	ck_assert_int_eq(node->order->fault_seq, 0);
	rig_answer(&rig, node, NULL);
	rig_until(&rig, node, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_that_reboots_while_it_drains_is_asked_from_the_beginning)
{
	struct rig rig;
	struct bu_node *node = begin_order(&rig, BU_CLASS_RESTART, NULL, NULL);
	bu_autoinventory struct bu_inventory *again = rig_inventory(1, "boot-2");
	bu_autojson json_t *stamp = NULL;

	leaves(&rig, node);
	stamp = rig_stamp(&rig, node);
	ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED, stamp,
					    again, NULL),
			 0);
	rig_pass(&rig, 1);
	ck_assert_str_eq(node->boot_id, "boot-2");
	leaves(&rig, node);
	rig_answer(&rig, node, NULL);
	/* another boot: it has to prove itself */
	rig_until(&rig, node, BU_STATE_VALIDATING);
	rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	/* it was promised that its power is not touched */
	rig_why_says(&rig, node, "then: the node is held for a person");
	rig_certify(&rig, 1);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_joins(&rig, node);
	ck_assert_int_eq(node->order->open, 0);
	rig_end(&rig);
}
END_TEST

START_TEST(jobs_may_take_as_long_as_the_pool_says)
{
	struct rig rig;
	struct bu_node *node;

	node = begin_order(&rig, BU_CLASS_WIPE, NULL, NULL);
	rig_write(&rig, "sinfo", "draining\n");
	rig_until_step(&rig, node, BU_ACTION_LEAVE, BU_STEP_OPEN);
	for (int hours = 0; hours < 48; hours++)
		rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	rig_end(&rig);

	node = begin_order(&rig, BU_CLASS_WIPE, "max_unavailable = 50 %\n",
			   "max_unavailable = 50 %\ndrain_deadline = 2 h\n");
	rig_write(&rig, "sinfo", "draining\n");
	rig_write(&rig, "squeue", "4711 (alice)\n");
	rig_until_step(&rig, node, BU_ACTION_LEAVE, BU_STEP_OPEN);
	/* a later word is for later orders */
	rig_revise(&rig, 1, NULL, NULL);
	for (int i = 0; i < 400 && !node->live.cluster_words[0]; i++)
		rig_pass(&rig, 500);
	rig_why_says(&rig, node, "Slurm: draining; jobs 4711 (alice)");
	rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	rig_pass(&rig, HOUR_MS);
	rig_pass(&rig, 2000);
	rig_reason_says(&node->hold->reason,
			"the node's jobs did not end within 7200 s: Slurm: draining; "
			"jobs 4711 (alice)");
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_live_change_is_asked_again_after_a_restart_and_not_for_ever)
{
	struct rig rig;
	struct bu_node *node = begin_order(&rig, BU_CLASS_RECONFIGURE, NULL, NULL);
	char id[112];

	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	strcpy(id, node->step.id);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	rig_pass(&rig, 899 * 1000);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 1);
	ck_assert_str_eq(node->step.id, id);
	rig_why_says(&rig, node, "then: the step has failed; the node stays ready");
	rig_pass(&rig, 3000);
	ck_assert_int_eq(node->order->open, 0);
	rig_reason_says(&node->order->reason, "its agent did not report that its files "
					      "are written within 900 s");
	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 0);
	bu_reconcile_result(rig.rec, node, id, 1, NULL); /* too late */
	rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(node->order->failed, 1);
	/* another order is another step */
	rig_apply(&rig, 1, BU_CLASS_RECONFIGURE, "d1", NULL, NULL);
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	ck_assert_str_ne(node->step.id, id);
	/* what the cluster knows may have changed with it */
	rig_write(&rig, "features.node001", " AvailableFeatures=rxe,lab X=1\n");
	rig_answer(&rig, node, NULL);
	rig_until_step(&rig, node, BU_ACTION_RELABEL, BU_STEP_DONE);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_int_eq(node->order->failed, 0);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_relabelling_that_was_cut_off_is_done)
{
	struct rig rig;
	struct bu_node *node = begin_order(&rig, BU_CLASS_RELABEL, NULL, NULL);

	rig_until_step(&rig, node, BU_ACTION_RELABEL, BU_STEP_OPEN);
	rig_write(&rig, "features.node001", " AvailableFeatures=old X=1\n");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	for (int i = 0; i < 400 && node->order->open; i++)
		rig_pass(&rig, i % 20 ? 1 : 500);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_int_eq(node->order->failed, 0);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

START_TEST(only_an_open_order_can_begin)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);
	struct bu_err err = {0};

	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, &err), -1);
	ck_assert_str_eq(err.text, "node node001 has no order to start");
	rig_apply(&rig, 1, BU_CLASS_RECONFIGURE, "d1", NULL, NULL);
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	rig_end(&rig);
}
END_TEST

START_TEST(an_order_of_a_node_that_left_the_profile_is_withdrawn)
{
	struct rig rig;

	rig_begin(&rig, 4);
	ck_assert_int_eq(rig_node(&rig, 3)->order->open, 1);
	rig_start(&rig, 4);
	rig_revise(&rig, 2, NULL, NULL);
	ck_assert_int_eq(rig_node(&rig, 3)->order->open, 0);
	rig_reason_has(&rig_node(&rig, 3)->order->reason, "it is no longer in the "
							  "profile");
	/* one under way is not as if it had never been */
	ck_assert_int_eq(rig_node(&rig, 4)->order->open, 1);
	ck_assert_int_eq(rig_node(&rig, 2)->order->open, 1);
	ck_assert_int_eq(bu_fleet_rollout(rig.fleet, "r-1")->withdrawn, 1);
	/* and what is withdrawn is withdrawn once */
	rig_revise(&rig, 1, NULL, NULL);
	ck_assert_int_eq(rig_node(&rig, 2)->order->open, 0);
	ck_assert_int_eq(bu_fleet_rollout(rig.fleet, "r-1")->withdrawn, 2);
	rig_end(&rig);
}
END_TEST

/* Two decisions of one turn of the loop: the order goes, its node begins. */
static void begin_withdrawn(enum bu_class class)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);
	struct bu_err err = {0};
	struct bu_event event;

	rig_apply(&rig, 1, class, "d1", NULL, NULL);
	row_init(&event, BU_EVENT_ROLLOUT, "",
		 json_pack("{s:s,s:s,s:s}", "rollout", "r-1", "to", "aborted", "by",
			   "me"));
	bu_reconcile_note(rig.rec, &event, 1);
	ck_assert_msg(bu_reconcile_begin(rig.rec, node, &err) == 0, "%s", err.text);
	for (int i = 0; i < 20; i++)
		rig_pass(&rig, 100);
	ck_assert_int_eq(node->order->withdrawn, 1);
	ck_assert_int_eq(node->order->begun, 0);
	ck_assert_str_eq(bu_state_name(node->state), "ready");
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 0);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_str_eq(bu_state_name(node->state), "ready");
	ck_assert_int_eq(node->live.appending, 0);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 0);
	rig_end(&rig);
}

START_TEST(a_turn_that_meets_the_end_of_its_order_is_none)
{
	begin_withdrawn(BU_CLASS_RELABEL);
	begin_withdrawn(BU_CLASS_RECONFIGURE);
	begin_withdrawn(BU_CLASS_REBOOT);
	begin_withdrawn(BU_CLASS_WIPE);
}
END_TEST

/* Its jobs end while a person has it. */
START_TEST(what_a_person_holds_stays_in_its_cluster)
{
	struct rig rig;
	struct bu_node *node = begin_order(&rig, BU_CLASS_REBOOT, NULL, NULL);
	struct bu_event held;
	bu_autofree char *before = NULL, *after = NULL;

	rig_write(&rig, "sinfo", "draining\n");
	rig_until(&rig, node, BU_STATE_DRAINING);
	for (int i = 0; i < 20; i++)
		rig_pass(&rig, 500);
	row_init(&held, BU_EVENT_HELD, node->name,
		 json_pack("{s:s,s:s}", "owner", "local", "reason", "a look"));
	bu_reconcile_note(rig.rec, &held, 1);
	rig_pass(&rig, 1);
	rig_write(&rig, "sinfo", "drained\n");
	for (int i = 0; i < 40; i++)
		rig_pass(&rig, 1000);
	before = rig_read(&rig, "scontrol.log");
	ck_assert_ptr_null(strstr(before, "delete"));
	/* and goes on from there */
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "me", NULL), 0);
	rig_write(&rig, "sinfo.next", "");
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	after = rig_read(&rig, "scontrol.log");
	ck_assert_ptr_nonnull(strstr(after, "delete nodename=node001"));
	rig_end(&rig);
}
END_TEST

/* It has stopped, and what was left of it another plan took over. */
START_TEST(a_rollout_that_has_ended_does_not_go_on)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);
	struct bu_event events[2];
	struct bu_err err = {0};

	rig_apply(&rig, 1, BU_CLASS_REBOOT, "d1", NULL, NULL);
	row_init(&events[0], BU_EVENT_ROLLOUT, "",
		 json_pack("{s:s,s:s,s:s}", "rollout", "r-1", "to", "stopped", "by",
			   "bringup"));
	row_init(&events[1], BU_EVENT_ORDER, node->name,
		 json_pack("{s:s,s:s}", "rollout", "r-2", "class", "none"));
	bu_reconcile_note(rig.rec, events, 2);
	rig_pass(&rig, 1);
	ck_assert_int_eq(bu_rollouts_resume(rig.rollouts, "r-1", "me", &err), -1);
	ck_assert_str_eq(err.text,
			 "rollout r-1 has ended (stopped): none of its orders is open");
	ck_assert_int_eq(bu_rollouts_abort(rig.rollouts, "r-1", "me", &err), -1);
	rig_end(&rig);
}
END_TEST

/* Both are asked before either is in the log. */
START_TEST(a_resume_that_meets_an_abort_is_none)
{
	struct rig rig;

	rig_up_to(&rig, RIG_READY);
	rig_apply(&rig, 1, BU_CLASS_REBOOT, "d1", NULL, NULL);
	rig_pass(&rig, 1);
	ck_assert_int_eq(bu_rollouts_pause(rig.rollouts, "r-1", "me", NULL), 0);
	rig_pass(&rig, 1);
	ck_assert_int_eq(bu_rollouts_abort(rig.rollouts, "r-1", "me", NULL), 0);
	ck_assert_int_eq(bu_rollouts_resume(rig.rollouts, "r-1", "me", NULL), 0);
	rig_pass(&rig, 1);
	ck_assert_int_eq(bu_fleet_rollout(rig.fleet, "r-1")->state, BU_ROLLOUT_ABORTED);
	rig_end(&rig);
}
END_TEST

/* What is done at once stays so over a restart; of before there was no word of it. */
START_TEST(an_order_keeps_its_batch)
{
	static const struct {
		const char *row;
		int batch;
	} rows[] = {
		{"{'rollout':'r-1','class':'relabel','batch':-1}", -1},
		{"{'rollout':'r-1','class':'relabel'}", 0},
	};
	struct rig rig;

	rig_begin(&rig, 1);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_event event;

		row_init(&event, BU_EVENT_ORDER, "node001", quoted(rows[i].row));
		bu_reconcile_note(rig.rec, &event, 1);
		rig_pass(&rig, 1);
		ck_assert_int_eq(rig_node(&rig, 1)->order->batch, rows[i].batch);
		rig_restart(&rig);
		ck_assert_int_eq(rig_node(&rig, 1)->order->batch, rows[i].batch);
	}
	rig_end(&rig);
}
END_TEST

RIG_UNIT("orders", an_order_keeps_its_batch, a_step_in_service_has_its_own_time,
	 a_renamed_node_is_called_as_before_until_its_files_are_written,
	 a_resume_that_meets_an_abort_is_none,
	 an_order_of_a_node_that_left_the_profile_is_withdrawn,
	 a_restart_leaves_and_joins_without_a_reboot,
	 a_reboot_within_a_restart_is_begun_again,
	 who_is_held_with_a_silent_agent_is_told_what_leads_out,
	 a_reboot_writes_its_files_first_and_is_measured_again,
	 files_that_cannot_be_written_hold_the_node_and_are_tried_again,
	 a_node_that_reboots_while_it_drains_is_asked_from_the_beginning,
	 jobs_may_take_as_long_as_the_pool_says,
	 a_live_change_is_asked_again_after_a_restart_and_not_for_ever,
	 a_relabelling_that_was_cut_off_is_done, only_an_open_order_can_begin,
	 a_turn_that_meets_the_end_of_its_order_is_none,
	 a_rollout_that_has_ended_does_not_go_on,
	 what_a_person_holds_stays_in_its_cluster)
