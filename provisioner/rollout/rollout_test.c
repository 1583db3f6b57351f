/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and turns, under the limits of a pool; rollouts that stop. */
#include "provisioner/rollout/rollout.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/rollout.h"
#include "tests/support/row.h"

START_TEST(the_canary_goes_alone_then_no_more_than_may_be_away)
{
	struct rig rig;
	bu_autojson json_t *json = NULL;

	begin(&rig, 4, NULL);
	apply(&rig, 4, "wipe");
	ck_assert_int_eq(strncmp(last(&rig)->id, "r-1700000", 9), 0);
	has(last(&rig)->id, "-abcdef");
	ck_assert_str_eq(rig.fleet->commit, "c0ffee");
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_DRAINING);
	ck_assert_int_eq(count_in(&rig, BU_STATE_READY), 3);
	waits_for(&rig, 2, "the canary of pool train comes first: 0 of 1 done");
	come_back(&rig, 1);
	pass_some(&rig);
	ck_assert_str_eq(rig_node(&rig, 1)->facets, "f2");
	ck_assert_str_eq(rig_node(&rig, 1)->commit, "c0ffee");
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 2); /* 50 % of 4 */
	ck_assert_int_eq(count_in(&rig, BU_STATE_READY), 2);
	waits_for(&rig, 4,
		  "2 of pool train are away or under way, node002 (draining) among "
		  "them; max_unavailable is 2");
	json = bu_rollouts_json(rig.rollouts);
	ck_assert_int_eq(bu_json_int(json, "total", 0), 4);
	ck_assert_int_eq(bu_json_int(json, "done", 0), 1);
	ck_assert_int_eq(bu_json_int(json, "turn", 0), 1);
	ck_assert_int_eq(bu_json_int(json, "under_way", 0), 2);
	for (int i = 2; i <= 4; i++) {
		come_back(&rig, i);
		pass_some(&rig);
	}
	is_state(&rig, BU_ROLLOUT_DONE);
	ck_assert_int_eq(last(&rig)->done, 4);
	ck_assert_int_gt(bu_fleet_minutes(rig.fleet, "train", BU_CLASS_WIPE) * 1e6, 0);
	ck_assert(bu_fleet_minutes(rig.fleet, "other", BU_CLASS_WIPE) < 0);
	rig_end(&rig);
}
END_TEST

/* The plan says who is first, not the name. */
START_TEST(the_first_batch_goes_first)
{
	struct rig rig;
	bu_autojson json_t *plan = NULL,
			   *grants = json_pack("[{s:s}]", "class", "wipe");
	json_t *step;
	size_t i;
	char id[40];

	begin(&rig, 4, NULL);
	plan = plan_of(&rig, 4, "wipe");
	json_array_foreach (json_object_get(plan, "steps"), i, step)
		json_object_set_new(step, "batch", json_integer(i != 2));
	ck_assert_int_eq(consent_apply(rig.rollouts, plan, "abcdef0", grants, id, NULL),
			 0);
	pass_some(&rig);
	ck_assert_int_eq(count_begun(&rig), 1);
	ck_assert_int_eq(rig_node(&rig, 3)->order->begun, 1);
	rig_end(&rig);
}
END_TEST

START_TEST(what_stands_in_the_way_is_shown)
{
	struct rig rig;
	bu_autojson json_t *shown = NULL, *again = NULL;
	const json_t *node;
	struct bu_event event;

	begin(&rig, 4, NULL);
	apply(&rig, 4, "reboot");
	ck_assert_int_eq(rig_node(&rig, 1)->order->begun, 1);
	row_init(&event, BU_EVENT_HELD, rig_node(&rig, 1)->name,
		 json_pack("{s:s,s:s}", "owner", "anna", "reason", "a card"));
	bu_reconcile_note(rig.rec, &event, 1);
	pass_some(&rig);
	shown = bu_rollouts_show(rig.rollouts, last(&rig)->id, NULL);
	node = json_array_get(json_object_get(shown, "nodes"), 0);
	ck_assert_str_eq(bu_json_str(node, "status", ""), "under-way");
	has(rig_sentence(json_object_get(node, "reason")), "anna");
	node = json_array_get(json_object_get(shown, "nodes"), 1);
	has(rig_sentence(json_object_get(node, "reason")), "canary");
	ck_assert_int_eq(bu_json_int(shown, "quarantined", -1), 0);
	move(&rig, 1, "quarantined", "accused", "slow");
	move(&rig, 2, "quarantined", "accused", "slow");
	pass_some(&rig);
	again = bu_rollouts_show(rig.rollouts, last(&rig)->id, NULL);
	ck_assert_int_eq(bu_json_int(again, "failed", -1), 2);
	ck_assert_int_eq(bu_json_int(again, "quarantined", -1), 2);
	move(&rig, 2, "failed", "late", "no boot");
	json_decref(bu_steal(&again));
	again = bu_rollouts_show(rig.rollouts, last(&rig)->id, NULL);
	ck_assert_int_eq(bu_json_int(again, "quarantined", -1), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_canary_that_fails_stops_the_rollout)
{
	struct rig rig;
	struct bu_err err = {0};
	bu_autojson json_t *json = NULL;

	begin(&rig, 4, "failure_budget = 3\n");
	apply(&rig, 4, "reboot");
	move(&rig, 1, "failed", "late", "no boot");
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_STOPPED);
	rig_reason_says(&last(&rig)->reason,
			"pool train: 1 of its failure budget of 3, a canary among "
			"them; node001: no boot");
	rig_reason_is(&last(&rig)->reason, CANARY_FAULT);
	ck_assert_int_eq(count_begun(&rig), 1);
	waits_for(&rig, 2, "is stopped: pool train: 1 of");
	waits_for(&rig, 2, "; bringup rollout resume r-");
	rig_restart(&rig); /* it stays so */
	watch(&rig);
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_STOPPED);
	ck_assert_int_eq(count_begun(&rig), 1);
	/* a person forgives it: the next canary has its turn, alone */
	ck_assert_int_eq(bu_rollouts_pause(rig.rollouts, last(&rig)->id, "me", &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	has(err.text, "is stopped; only one that is running can become paused");
	ck_assert_int_eq(bu_rollouts_resume(rig.rollouts, last(&rig)->id, "me", NULL),
			 0);
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_RUNNING);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_DRAINING);
	ck_assert_int_eq(count_begun(&rig), 2);
	json = bu_rollouts_show(rig.rollouts, last(&rig)->id, NULL);
	ck_assert_int_eq(bu_json_int(json, "failed", 0), 1);
	has(rig_sentence(json_object_get(
		    json_array_get(json_object_get(json, "pools"), 0), "why")),
	    "the canary of pool train comes first");
	rig_end(&rig);
}
END_TEST

START_TEST(failures_up_to_the_budget_stop_the_rollout)
{
	struct rig rig;
	bu_autojson json_t *json = NULL;
	const json_t *pool;

	begin(&rig, 8, "failure_budget = 2\n");
	apply(&rig, 8, "reimage");
	come_back(&rig, 1);
	pass_some(&rig);
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 4);
	move(&rig, 2, "quarantined", "accused", "slow");
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_RUNNING);
	json = bu_rollouts_show(rig.rollouts, last(&rig)->id, NULL);
	pool = json_array_get(json_object_get(json, "pools"), 0);
	ck_assert_int_eq(bu_json_int(pool, "faults", 0), 1);
	ck_assert_int_eq(bu_json_int(pool, "failure_budget", 0), 2);
	/* who failed is away: nobody takes its place */
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 3);
	bu_reconcile_note(
		rig.rec,
		&(struct bu_event){
			.kind = BU_EVENT_HELD,
			.node = "node003",
			.body = row_whole(BU_EVENT_HELD, "",
					  json_pack("{s:s,s:s}", "owner", "bringup",
						    "reason", "jobs do not end"))},
		1);
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_STOPPED);
	rig_reason_is(&last(&rig)->reason, BUDGET_SPENT);
	rig_reason_has(&last(&rig)->reason,
		       "2 of its failure budget of 2; node003: jobs do not");
	ck_assert_int_eq(count_in(&rig, BU_STATE_READY), 4);
	ck_assert_int_eq(rig_node(&rig, 2)->order->failed, 1);
	rig_reason_says(&rig_node(&rig, 2)->order->reason, "slow");
	rig_end(&rig);
}
END_TEST

START_TEST(people_pause_resume_and_abort)
{
	struct rig rig;
	const char *id;
	struct bu_err err = {0};

	begin(&rig, 4, NULL);
	ck_assert_int_eq(bu_rollouts_pause(rig.rollouts, "r-0", "me", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	apply(&rig, 4, "wipe");
	id = last(&rig)->id;
	ck_assert_int_eq(bu_rollouts_pause(rig.rollouts, id, "me", NULL), 0);
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_PAUSED);
	come_back(&rig, 1); /* who is under way ends */
	pass_some(&rig);
	ck_assert_int_eq(count_in(&rig, BU_STATE_READY), 4);
	waits_for(&rig, 2, "is paused");
	ck_assert_int_eq(bu_rollouts_resume(rig.rollouts, id, "me", NULL), 0);
	pass_some(&rig);
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 2);
	ck_assert_int_eq(bu_rollouts_abort(rig.rollouts, id, "me", NULL), 0);
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_ABORTED);
	ck_assert_int_eq(last(&rig)->withdrawn, 1);
	ck_assert_int_eq(rig_node(&rig, 4)->order->open, 0);
	rig_reason_says(&rig_node(&rig, 4)->order->reason, "me aborted its rollout");
	ck_assert_int_eq(last(&rig)->ended_ms, 0);
	come_back(&rig, 2);
	come_back(&rig, 3);
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_ABORTED);
	ck_assert_int_gt(last(&rig)->ended_ms, 0);
	ck_assert_int_eq(last(&rig)->done, 3);
	ck_assert_int_eq(bu_rollouts_resume(rig.rollouts, id, "me", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	rig_end(&rig);
}
END_TEST

START_TEST(a_pause_forgives_nothing)
{
	struct rig rig;

	begin(&rig, 4, NULL);
	apply(&rig, 4, "wipe");
	ck_assert_int_eq(bu_rollouts_pause(rig.rollouts, last(&rig)->id, "me", NULL),
			 0);
	pass_some(&rig);
	move(&rig, 1, "failed", "late", "no boot");
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_PAUSED);
	ck_assert_int_eq(bu_rollouts_resume(rig.rollouts, last(&rig)->id, "me", NULL),
			 0);
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_STOPPED);
	ck_assert_int_eq(count_begun(&rig), 1);
	rig_end(&rig);
}
END_TEST

/* Each is a process for a moment. Those that wait for it do not count. */
START_TEST(no_more_than_32_are_relabelled_at_a_time)
{
	struct rig rig;

	begin(&rig, 40, NULL);
	rig_write(&rig, "slurm.fail", "not now\n");
	apply(&rig, 40, "relabel");
	pass_some(&rig);
	ck_assert_int_eq(count_begun(&rig), 32);
	waits_for(&rig, 40, "32 others are relabelled now");
	rig_end(&rig);
}
END_TEST

START_TEST(relabelling_disturbs_nobody_and_is_done_at_once)
{
	struct rig rig;
	bu_autofree char *told = NULL;

	begin(&rig, 4, NULL);
	for (int i = 1; i <= 4; i++) {
		bu_autofree char *file = bu_xasprintf("features.node%03d", i);

		rig_write(&rig, file, " AvailableFeatures=old X=1\n");
	}
	apply(&rig, 4, "relabel");
	for (int i = 0; i < 2000 && last(&rig)->done < 4; i++) {
		ck_assert_int_eq(count_in(&rig, BU_STATE_READY), 4);
		rig_pass(&rig, i % 20 ? 1 : 500);
	}
	is_state(&rig, BU_ROLLOUT_DONE);
	ck_assert_str_eq(rig_node(&rig, 4)->facets, "f2");
	told = rig_read(&rig, "scontrol.log");
	/* in one word */
	has(told, "update nodename=node001,node002,node003,node004 "
		  "availablefeatures=rxe,lab activefeatures=rxe,lab\n");
	ck_assert_ptr_null(strstr(told, "drain"));
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 0);
	rig_end(&rig);
}
END_TEST

/* The agent's answer to the node's open step; NULL = done. */
static void
configured(struct rig *rig, int number, const char *failure)
{
	struct bu_node *node = rig_node(rig, number);
	struct bu_err err;

	ck_assert_int_eq(node->step.action, BU_ACTION_CONFIGURE);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 1);
	bu_err_set(&err, BU_ERR_VERIFY, 0, "%s", failure ? failure : "");
	bu_reconcile_result(rig->rec, node, node->step.id, node->step.attempt,
			    failure ? &err : NULL);
	for (int i = 0; i < 2000 && node->order->open; i++)
		rig_pass(rig, i % 20 ? 1 : 500);
	ck_assert_int_eq(node->order->open, 0);
	pass_some(rig);
}

START_TEST(reconfiguring_keeps_nodes_in_service_under_the_same_limits)
{
	struct rig rig;

	begin(&rig, 5, NULL);
	for (int i = 1; i <= 5; i++) {
		bu_autofree char *file = bu_xasprintf("features.node%03d", i);

		rig_write(&rig, file, " AvailableFeatures=rxe,lab X=1\n");
	}
	apply(&rig, 5, "reconfigure");
	ck_assert_int_eq(count_begun(&rig), 1);
	configured(&rig, 1, NULL);
	ck_assert_str_eq(rig_node(&rig, 1)->facets, "f2");
	ck_assert_int_eq(count_begun(&rig), 3);
	configured(&rig, 2, "rolled back: the appliance was not reached in 60 s");
	is_state(&rig, BU_ROLLOUT_STOPPED);
	ck_assert_int_eq(rig_node(&rig, 2)->state, BU_STATE_READY);
	ck_assert_str_eq(rig_node(&rig, 2)->facets, "f-d1");
	rig_reason_has(&rig_node(&rig, 2)->order->reason, "rolled back");
	rig_reason_has(&last(&rig)->reason, "node002: rolled back");
	configured(&rig, 3, NULL); /* it was under way */
	ck_assert_int_eq(count_begun(&rig), 3);
	ck_assert_int_eq(count_in(&rig, BU_STATE_READY), 5);
	rig_end(&rig);
}
END_TEST

START_TEST(nothing_is_disturbed_outside_of_the_maintenance)
{
	struct rig rig;

	/* The paper clock begins on a Tuesday at 22:13 UTC. */
	begin(&rig, 2, "maintenance = wed 02:00-04:00\n");
	apply(&rig, 2, "restart");
	rig_pass(&rig, 60 * 1000);
	pass_some(&rig);
	ck_assert_int_eq(count_begun(&rig), 0);
	waits_for(&rig, 1, "outside the maintenance of pool train (wed 02:00-04:00");
	rig_pass(&rig, 4 * 3600 * 1000);
	pass_some(&rig);
	ck_assert_int_eq(count_begun(&rig), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(who_is_out_of_service_anyway_starts_at_once)
{
	struct rig rig;

	rig_begin(&rig, 4);
	watch(&rig);
	apply(&rig, 4, "install");
	ck_assert_int_eq(count_in(&rig, BU_STATE_INSPECTING), 4);
	/* nothing was lost: their failures are counted for no budget */
	for (int i = 1; i <= 3; i++)
		move(&rig, i, "failed", "late", "no boot");
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_RUNNING);
	ck_assert_int_eq(last(&rig)->failed, 3);
	rig_end(&rig);
}
END_TEST

/* A node that breaks before its turn is rebuilt by nobody, above all not by an order
 * that was to change a label. */
START_TEST(a_node_that_fails_before_its_turn_stays_with_its_evidence)
{
	struct rig rig;

	begin(&rig, 4, NULL);
	apply(&rig, 4, "reconfigure");
	move(&rig, 3, "quarantined", "accused", "slow");
	pass_some(&rig);
	ck_assert_int_eq(rig_node(&rig, 3)->order->open, 0);
	ck_assert_int_eq(rig_node(&rig, 3)->order->failed, 1);
	ck_assert_int_eq(rig_node(&rig, 3)->state, BU_STATE_QUARANTINED);
	is_state(&rig, BU_ROLLOUT_RUNNING); /* it was not the rollout */
	/* and one that restarts in its turn is a failure of the rollout */
	move(&rig, 1, "validating", "booted", "");
	pass_some(&rig);
	is_state(&rig, BU_ROLLOUT_STOPPED);
	rig_reason_has(&last(&rig)->reason,
		       "node001: it restarted while it was reconfigured");
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_that_left_the_profile_blocks_nobody)
{
	struct rig rig;

	begin(&rig, 3, NULL); /* 50 % of 3: one at a time */
	move(&rig, 3, "failed", "late", "");
	bu_fleet_unwatch(rig.fleet, on_change, rig.rollouts);
	rig_apply(&rig, 2, BU_CLASS_NONE, "d1", NULL, NULL);
	bu_fleet_watch(rig.fleet, on_change, rig.rollouts);
	apply(&rig, 2, "wipe");
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(an_order_of_nothing_takes_back_what_waits)
{
	struct rig rig;

	begin(&rig, 4, NULL);
	apply(&rig, 4, "wipe");
	pass_some(&rig);
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 1); /* the canary */
	ck_assert_int_eq(rig_node(&rig, 4)->order->open, 1);
	apply_as(&rig, 4, "none", "012345");
	ck_assert_int_eq(rig_node(&rig, 4)->order->open, 0);
	ck_assert_int_eq(by_digest(&rig, "abcdef")->withdrawn, 4);
	ck_assert_int_eq(by_digest(&rig, "012345")->done, 4);
	ck_assert_int_eq(by_digest(&rig, "012345")->state, BU_ROLLOUT_DONE);
	rig_end(&rig);
}
END_TEST

START_TEST(two_rollouts_share_the_limits_and_a_new_plan_overtakes)
{
	struct rig rig;
	const struct bu_rollout *first;

	begin(&rig, 4, NULL);
	apply(&rig, 4, "wipe");
	come_back(&rig, 1);
	pass_some(&rig);
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 2); /* 2 and 3 */
	apply_as(&rig, 1, "reboot", "012345");
	first = by_digest(&rig, "abcdef");
	ck_assert_int_eq(first->total, 4);
	waits_for(&rig, 1, "2 of pool train are away");
	come_back(&rig, 2);
	pass_some(&rig);
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 2); /* 3 and one more */
	/* an order that had not begun is overtaken */
	apply_as(&rig, 4, "reboot", "999999");
	ck_assert_int_eq(by_digest(&rig, "012345")->withdrawn + first->withdrawn, 3);
	rig_end(&rig);
}
END_TEST

/* A plan rests on what its nodes are, and what they do next on their orders. */
START_TEST(an_order_and_a_turn_do_not_cross_on_their_way_to_the_log)
{
	struct rig rig;
	bu_autojson json_t *plan = NULL;
	struct bu_err err = {0};
	char id[40];

	begin(&rig, 2, NULL);
	apply(&rig, 2, "reboot"); /* the second waits for the canary */
	bu_fleet_unwatch(rig.fleet, on_change, rig.rollouts);
	plan = plan_of(&rig, 2, "reboot");
	rig_fire(&rig, rig_node(&rig, 2), BU_TRIGGER_REBUILD);
	ck_assert_int_eq(consent_apply(rig.rollouts, plan, "111111", NULL, id, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	has(err.text, "node node002 is changing");
	rig_pass(&rig, 1);
	ck_assert_int_eq(rig_node(&rig, 2)->order->begun, 1);
	ck_assert_uint_eq(rig.fleet->rollouts_count, 2);

	move(&rig, 1, "ready", "joined", "");
	move(&rig, 2, "ready", "joined", "");
	ck_assert_int_eq(consent_apply(rig.rollouts, plan, "222222", NULL, id, &err),
			 0);
	ck_assert_int_eq(bu_reconcile_fire(rig.rec, rig_node(&rig, 2),
					   BU_TRIGGER_BOOTED, NULL, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	rig_pass(&rig, 1);
	ck_assert_int_eq(rig_node(&rig, 2)->order->open, 1);
	ck_assert_int_eq(rig_node(&rig, 2)->live.appending, 0);
	rig_end(&rig);
}
END_TEST

/* Nothing waits, so this is done at once. */
static void
take_back(struct rig *rig, int number, const char *digest)
{
	bu_autojson json_t *plan = plan_of(rig, number, "none");
	char id[40];

	while (number-- > 1)
		json_array_remove(json_object_get(plan, "steps"), 0);
	ck_assert_int_eq(consent_apply(rig->rollouts, plan, digest, NULL, id, NULL), 0);
	pass_some(rig);
}

START_TEST(the_last_rollouts_are_kept)
{
	struct rig rig;
	bu_autojson json_t *list = NULL, *json = NULL, *one = NULL;
	struct bu_err err = {0};

	begin(&rig, 2, NULL);
	json = bu_rollouts_json(rig.rollouts);
	ck_assert_str_eq(bu_json_str(json, "id", ""), "r-1");
	for (int i = 0; i < 40; i++) {
		char digest[16];

		snprintf(digest, sizeof(digest), "%06d", i);
		if (i == 20)
			apply_as(&rig, 1, "reboot", digest);
		else
			take_back(&rig, 2, digest);
	}
	list = bu_rollouts_list(rig.rollouts);
	ck_assert_uint_eq(json_array_size(list), BU_ROLLOUTS_MAX);
	has(bu_json_str(json_array_get(list, 0), "id", ""), "-000039");
	/* one that is over does not take the place of one under way */
	json_decref(json);
	json = bu_rollouts_json(rig.rollouts);
	has(bu_json_str(json, "id", ""), "-000020");
	ck_assert_str_eq(bu_json_str(json, "state", ""), "running");
	one = bu_rollouts_show(rig.rollouts, by_digest(&rig, "000020")->id, NULL);
	ck_assert_str_eq(bu_json_str(json_array_get(json_object_get(one, "nodes"), 0),
				     "status", ""),
			 "under-way");
	ck_assert_ptr_null(bu_rollouts_show(rig.rollouts, "r-1", &err));
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	rig_end(&rig);
}
END_TEST

START_TEST(without_a_rollout_there_is_none)
{
	struct rig rig;
	bu_autojson json_t *json = NULL, *list = NULL;

	rig_begin(&rig, 0);
	json = bu_rollouts_json(rig.rollouts);
	list = bu_rollouts_list(rig.rollouts);
	ck_assert(json_is_null(json));
	ck_assert_uint_eq(json_array_size(list), 0);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("rollout", the_canary_goes_alone_then_no_more_than_may_be_away,
	 the_first_batch_goes_first, what_stands_in_the_way_is_shown,
	 a_canary_that_fails_stops_the_rollout,
	 failures_up_to_the_budget_stop_the_rollout, people_pause_resume_and_abort,
	 a_pause_forgives_nothing, relabelling_disturbs_nobody_and_is_done_at_once,
	 no_more_than_32_are_relabelled_at_a_time,
	 reconfiguring_keeps_nodes_in_service_under_the_same_limits,
	 nothing_is_disturbed_outside_of_the_maintenance,
	 who_is_out_of_service_anyway_starts_at_once,
	 a_node_that_fails_before_its_turn_stays_with_its_evidence,
	 a_node_that_left_the_profile_blocks_nobody,
	 an_order_of_nothing_takes_back_what_waits,
	 two_rollouts_share_the_limits_and_a_new_plan_overtakes,
	 an_order_and_a_turn_do_not_cross_on_their_way_to_the_log,
	 the_last_rollouts_are_kept, without_a_rollout_there_is_none)
