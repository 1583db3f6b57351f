/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes on their way from enrolled to ready, with everything that may happen to them.
 */
#include "base/text.h"
#include "provisioner/node/reconcile.h"

#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

enum { HOUR_MS = 3600 * 1000 };

START_TEST(a_node_goes_its_way_to_ready)
{
	struct rig rig;
	struct bu_node *node;
	bu_autofree char *scontrol = NULL;
	char kinds[4096];

	node = rig_up_to(&rig, RIG_ENROLLED);
	ck_assert_int_eq(node->state, BU_STATE_ENROLLED);
	ck_assert_int_eq(node->order->open, 1);
	rig_to_validating(&rig, 1);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	ck_assert_int_eq(node->disk_touched, 1);
	ck_assert_str_eq(node->installed_digest, "d1");
	rig_join(&rig, 1);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_int_eq(node->stages_count, 5);
	scontrol = rig_read(&rig, "scontrol.log");
	ck_assert_str_eq(scontrol, ""); /* it was idle: nothing was asked for */
	rig_events_after(&rig, 0, kinds);
	ck_assert_str_eq(kinds,
			 "- order state intent outcome admitted bound booted state "
			 "intent outcome installed state intent outcome bound booted "
			 "state certificate certificate state intent outcome state ");
	rig_end(&rig);
}
END_TEST

START_TEST(nothing_is_done_before_its_intent_is_in_the_log)
{
	struct rig rig;
	struct bu_node *node;

	node = rig_up_to(&rig, RIG_ENROLLED);
	rig_fire(&rig, node, BU_TRIGGER_START);
	ck_assert_int_eq(node->state, BU_STATE_ENROLLED); /* not in the log yet */
	ck_assert_int_eq(node->live.appending, 1);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 0);
	rig_write(&rig, "power.hang", "");
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	ck_assert_int_eq(node->step.attempt, 1);
	ck_assert_int_gt(node->step.intent_seq, node->state_seq);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(one_change_at_a_time)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err err = {0};
	struct bu_event extra;

	node = rig_up_to(&rig, RIG_ENROLLED);
	row_init(&extra, BU_EVENT_BOOTED, "node001", json_object());
	ck_assert_int_eq(bu_reconcile_move(rig.rec, node,
					   &(struct bu_move){.on = BU_TRIGGER_PROVEN,
							     .extra = &extra,
							     .count = 1},
					   &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_str_eq(err.text,
			 "node node001: 'proven' has no effect in state enrolled");
	rig_fire(&rig, node, BU_TRIGGER_START);
	ck_assert_int_eq(bu_reconcile_fire(rig.rec, node, BU_TRIGGER_START, NULL, &err),
			 -1);
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	rig_until(&rig, node, BU_STATE_INSPECTING);
	rig_end(&rig);
}
END_TEST

START_TEST(a_machine_has_one_name)
{
	struct rig rig;
	struct bu_node *first, *second;
	struct bu_event event;
	char before[BU_DIGEST_SIZE];

	rig_begin(&rig, 2);
	first = rig_node(&rig, 1);
	second = rig_node(&rig, 2);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	row_init(&event, BU_EVENT_ADMITTED, "node002",
		 json_pack("{s:s,s:s}", "step", "s", "machine", first->machine));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_str_eq(first->machine, "");
	ck_assert_ptr_eq(bu_fleet_node_of(rig.fleet, second->machine), second);
	ck_assert_ptr_null(bu_fleet_node_of(rig.fleet, ""));
	/* another machine takes the name: the first has none now */
	row_init(&event, BU_EVENT_ADMITTED, "node002",
		 json_pack("{s:s,s:s}", "step", "s", "machine", "m2"));
	bu_text_copy(before, sizeof(before), second->machine);
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_ptr_null(bu_fleet_node_of(rig.fleet, before));
	ck_assert_ptr_eq(bu_fleet_node_of(rig.fleet, "m2"), second);
	rig_end(&rig);
}
END_TEST

/* Each row is a site whose hardware class the paper machine does not meet. */
START_TEST(what_does_not_fit_is_quarantined)
{
	static const struct {
		const char *wants, *says;
	} rows[] = {
		{"disk = rotational:no\nnics = 2\n",
		 "disk rotational:no, and 2 disks are that; say more of it in the"},
		{"disk = smallest\nnics = 3\n", "wants 3 NICs; it has 2"},
		{"disk = smallest\ngpus = 8\n", "wants 8 GPUs; it has 0"},
		{"disk = smallest\nmemory_min = 1 GiB\n",
		 "wants 1024 MiB of memory; it has 512"},
		{"disk = smallest\ncpus_min = 2\n", "wants 2 CPUs; it has 1"},
		{"disk = smallest\nproduct = DGX*\n", "product DGX*; it is without a"},
	};
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct bu_node *node;

		rig_begin(&rig, 0);
		rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1",
			  "disk = smallest\nnics = 2\n", rows[i].wants);
		node = rig_node(&rig, 1);
		rig_start(&rig, 1);
		ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), inventory, NULL),
				 0);
		rig_pass(&rig, 1);
		ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_RAMDISK,
						    NULL, inventory, NULL),
				 0);
		rig_until(&rig, node, BU_STATE_QUARANTINED);
		rig_reason_has(node->reason, rows[i].says);
		rig_why_says(&rig, node, rows[i].says);
		ck_assert_int_eq(node->order->open, 0);
		ck_assert_int_eq(node->disk_touched, 0);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(an_install_that_cannot_be_verified_fails_at_once)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err bad;

	node = rig_up_to(&rig, RIG_IMAGING);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 1);
	bu_err_set(&bad, BU_ERR_VERIFY, 0, "frame 3 of root was changed, \xc3\xa9");
	bu_reconcile_result(rig.rec, node, "other step", 1, &bad);
	bu_reconcile_result(rig.rec, node, node->step.id, 7, &bad);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_IMAGING); /* old words are ignored */
	bu_reconcile_result(rig.rec, node, node->step.id, 1, &bad);
	rig_until(&rig, node, BU_STATE_FAILED);
	rig_reason_says(node->reason, bad.text);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 0);
	rig_end(&rig);
}
END_TEST

/* What a second try cannot mend is not tried again; all else is. */
START_TEST(a_failure_is_final_or_not_by_its_kind)
{
	static const struct {
		enum bu_err_kind kind;
		int final;
	} rows[] = {
		{BU_ERR_VERIFY, 1},  {BU_ERR_STATE, 1}, {BU_ERR_INVAL, 1},
		{BU_ERR_DENIED, 1},  {BU_ERR_IO, 0},    {BU_ERR_REMOTE, 0},
		{BU_ERR_TIMEOUT, 0}, {BU_ERR_BUSY, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct bu_node *node = rig_up_to(&rig, RIG_IMAGING);
		struct bu_err failure;

		bu_err_set(&failure, rows[i].kind, 0, "it did not work");
		rig_answer(&rig, node, &failure);
		for (int k = 0; k < 5; k++)
			rig_pass(&rig, 1);
		ck_assert_msg((node->state == BU_STATE_FAILED) == rows[i].final,
			      "%s: %s", bu_err_name(rows[i].kind),
			      bu_state_name(node->state));
		if (!rows[i].final)
			ck_assert_int_eq(node->state, BU_STATE_IMAGING);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(an_install_that_broke_off_is_tried_again_under_its_name)
{
	struct rig rig;
	struct bu_node *node;
	char id[112];
	struct bu_err bad;

	node = rig_up_to(&rig, RIG_IMAGING);
	strcpy(id, node->step.id);
	bu_err_set(&bad, BU_ERR_IO, 0, "disk gone");
	bu_reconcile_result(rig.rec, node, id, 1, &bad);
	rig_until_step(&rig, node, BU_ACTION_INSTALL, BU_STEP_FAILED);
	ck_assert_int_eq(node->state, BU_STATE_IMAGING);
	rig_pass(&rig, 5001);
	rig_until(&rig, node, BU_STATE_INSPECTING);
	rig_reason_says(node->reason, "disk gone");
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	rig_inspect(&rig, 1);
	ck_assert_str_eq(node->step.id, id);
	ck_assert_int_eq(node->step.attempt, 2);
	rig_end(&rig);
}
END_TEST

START_TEST(a_late_node_is_cycled_twice_then_failed)
{
	struct rig rig;
	struct bu_node *node;

	node = rig_up_to(&rig, RIG_STARTED);
	for (int cycles = 1; cycles <= 2; cycles++) {
		rig_pass(&rig, 299 * 1000);
		ck_assert_int_eq(node->repeats, cycles - 1);
		rig_pass(&rig, 3000);
		ck_assert_int_eq(node->repeats, cycles);
		rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
		ck_assert_int_eq(rig_count(&rig, "boot network node001"), cycles + 1);
		ck_assert_int_eq(node->step.attempt, cycles + 1);
	}
	rig_why_says(&rig, node, "then: failed");
	rig_pass(&rig, 302 * 1000);
	rig_until(&rig, node, BU_STATE_FAILED);
	rig_reason_says(node->reason,
			"the agent did not report from the boot ramdisk within 300 s: "
			"its machine has not asked for its boot script; 2 power cycles "
			"did not help");
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 3);
	rig_pass(&rig, HOUR_MS);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 3);
	rig_end(&rig);
}
END_TEST

/* A firmware that takes its time is not reset in the middle of it. */
START_TEST(a_post_counts_beside_the_time_of_the_state)
{
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", "nics = 2\n",
		  "nics = 2\npost = 6 m\n");
	node = rig_node(&rig, 1);
	rig_fire(&rig, node, BU_TRIGGER_START);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	rig_pass(&rig, (360 + 298) * 1000);
	ck_assert_int_eq(node->repeats, 0);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_pass(&rig, 5000);
	ck_assert_int_eq(node->repeats, 1);
	rig_end(&rig);
}
END_TEST

/* A BMC that restarts takes minutes: what it refuses is tried again until then. */
START_TEST(a_refused_power_cycle_climbs_with_its_reason)
{
	const int pauses_s[] = {60, 240, 5};
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);

	rig_write(&rig, "power.refuse", "BMC: \xe9 no sockets"); /* Latin-1 */
	rig_fire(&rig, node, BU_TRIGGER_START);
	for (int i = 0; i < 3; i++) {
		rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_FAILED);
		rig_pass(&rig, (pauses_s[i] - 1) * 1000);
		ck_assert_int_eq(node->repeats, i);
		if (i < 2)
			rig_reason_is(node->live.wait_reason, BMC_REFUSES);
		rig_pass(&rig, 2000);
	}
	rig_until(&rig, node, BU_STATE_FAILED);
	rig_reason_says(node->reason, "BMC: \xef\xbf\xbd no sockets; tried 3 times");
	rig_end(&rig);
}
END_TEST

START_TEST(the_wall_clock_may_jump)
{
	struct rig rig;
	struct bu_node *node;

	node = rig_up_to(&rig, RIG_STARTED);
	rig.clock.fake_wall_ms += 10 * HOUR_MS; /* time was set for the first time */
	rig_pass(&rig, 2000);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(node->repeats, 0);
	rig.clock.fake_wall_ms -= 20 * HOUR_MS;
	rig_restart(&rig); /* the intent seems to be of the future, and is not ours */
	rig_pass(&rig, 2000);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(joining_late_is_held_and_a_release_tries_anew)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err err = {0};

	node = rig_up_to(&rig, RIG_JOINING);
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "me", &err), -1);
	ck_assert_str_eq(err.text, "node node001 is not held");
	rig_pass(&rig, 302 * 1000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
	rig_reason_says(&node->hold->reason,
			"the cluster did not take the node within 300 s");
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1); /* no power */
	rig_why_says(&rig, node, "bringup node release node001");
	rig_pass(&rig, 10 * HOUR_MS);
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "me", NULL), 0);
	rig_pass(&rig, 2000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE); /* its time begins again */
	rig_pass(&rig, 290 * 1000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	rig_joins(&rig, node);
	rig_end(&rig);
}
END_TEST

START_TEST(a_failed_join_is_another_attempt_after_a_release)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_err bad;

	node = rig_up_to(&rig, RIG_JOINING);
	bu_err_set(&bad, BU_ERR_STATE, 0, "the image has no user munge");
	bu_reconcile_result(rig.rec, node, node->step.id, 1, &bad);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_FAILED);
	rig_pass(&rig, 5001);
	rig_reason_says(&node->hold->reason, bad.text);
	rig_restart(&rig); /* held is in the log */
	node = rig_node(&rig, 1);
	rig_reason_says(&node->hold->reason, bad.text);
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "me", NULL), 0);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	ck_assert_int_eq(node->step.attempt, 2); /* the agent does it anew */
	rig_joins(&rig, node);
	rig_end(&rig);
}
END_TEST

/* The cluster's answer comes while the node is lent as a partner. */
START_TEST(an_outcome_is_not_lost_to_another_event)
{
	struct rig rig;
	struct bu_node *node;

	node = rig_up_to(&rig, RIG_JOINING);
	rig_write(&rig, "sinfo", "idle\n");
	bu_reconcile_result(rig.rec, node, node->step.id, 1, NULL);
	for (int i = 0; i < 400 && node->step.status == BU_STEP_OPEN; i++) {
		struct bu_event lease;

		row_init(&lease, BU_EVENT_LEASE, node->name, json_object());
		bu_reconcile_note(rig.rec, &lease, 1);
		bu_loop_step(rig.loop, 5); /* the clock stands: it is on its way */
		ck_assert_int_gt(node->live.appending, 0);
		bu_clock_advance(&rig.clock, 1);
		bu_loop_step(rig.loop, 0); /* and now it is in */
	}
	rig_until(&rig, node, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

START_TEST(another_system_on_the_disk_is_a_fault)
{
	static const struct {
		const char *kind, *step, *machine, *says;
	} rows[] = {
		{NULL, NULL, NULL, "the system has no stamp"},
		{"stamp", "node001.1.install", "",
		 "the stamp is of step node001.1.install"},
		{"stamp", "", "0123456789abcdef", "on machine 0123456789abcdef"},
		{"mark", "", "", "it is a mark, not a stamp"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autoinventory struct bu_inventory *inventory =
			rig_inventory(1, "b1");
		bu_autojson json_t *body = NULL, *stamp = NULL;
		struct rig rig;
		struct bu_node *node;
		struct bu_err err = {0};

		rig_begin(&rig, 1);
		rig_start(&rig, 1);
		rig_inspect(&rig, 1);
		rig_install(&rig, 1);
		node = rig_node(&rig, 1);
		if (rows[i].kind) {
			body = json_pack(
				"{s:s,s:s,s:s}", "kind", rows[i].kind, "step",
				*rows[i].step ? rows[i].step : node->installed_step,
				"machine",
				*rows[i].machine ? rows[i].machine : node->machine);
			stamp = bu_trust_sign(rig.trust, body, NULL);
		}
		ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED,
						    stamp, inventory, &err),
				 -1);
		ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
		rig_text_has(err.text, rows[i].says);
		rig_until(&rig, node, BU_STATE_FAILED);
		rig_reason_has(node->reason, "booted another system");
		rig_reason_has(node->reason, rows[i].says);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_reboot_of_a_ready_node_leads_back_to_validating)
{
	struct rig rig;
	struct bu_node *node;
	bu_autoinventory struct bu_inventory *same = rig_inventory(1, "boot-1");
	bu_autojson json_t *stamp = NULL;

	node = rig_up_to(&rig, RIG_READY);
	stamp = rig_stamp(&rig, node);
	ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED, stamp,
					    same, NULL),
			 0);
	rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_READY); /* the same boot: nothing */
	rig_come_up(&rig, 1, "boot-again");
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), -1);
	rig_join(&rig, 1);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(an_order_outlives_a_reboot_before_its_turn)
{
	struct rig rig;
	struct bu_node *node;

	node = rig_up_to(&rig, RIG_READY);
	ck_assert_int_eq(node->order->open, 0);
	rig_apply(&rig, 1, BU_CLASS_WIPE, "d2", NULL, NULL);
	rig_come_up(&rig, 1, "boot-again");
	rig_join(&rig, 1);
	ck_assert_int_eq(node->order->open, 1);
	ck_assert_str_eq(node->installed_digest, "d1");
	rig_write(&rig, "sinfo", ""); /* Slurm knows it no more: it has left */
	rig_fire(&rig, node, BU_TRIGGER_REBUILD);
	rig_until(&rig, node, BU_STATE_INSPECTING);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	rig_inspect(&rig, 1);
	rig_install(&rig, 1);
	rig_come_up(&rig, 1, "boot-3");
	rig_join(&rig, 1);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_str_eq(node->installed_digest, "d2");
	rig_end(&rig);
}
END_TEST

/* Whatever is cut short, the log is the state. */
START_TEST(a_stop_with_events_on_their_way_starts_nothing)
{
	struct rig rig;
	struct bu_node *node;

	node = rig_up_to(&rig, RIG_ENROLLED);
	rig_fire(&rig, node, BU_TRIGGER_START);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 0);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(a_pool_without_a_cluster_is_ready_when_its_agent_has_its_certificates)
{
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", "cluster = hpc\n", "");
	rig_to_validating(&rig, 1);
	rig_certify(&rig, 1);
	node = rig_node(&rig, 1);
	rig_fire(&rig, node, BU_TRIGGER_PROVEN);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 1);
	bu_reconcile_result(rig.rec, node, node->step.id, 1, NULL);
	rig_until(&rig, node, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

/* It was let in by a look at the cluster that nobody had ended. */
START_TEST(a_node_that_restarts_while_it_joins_is_not_let_in)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_JOINING);
	bu_autofree char *told = NULL;

	rig_write(&rig, "sinfo", "down*\n");
	rig_answer(&rig, node, NULL);
	for (int i = 0; i < 20; i++)
		rig_pass(&rig, 100);
	rig_fire(&rig, node, BU_TRIGGER_BOOTED);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	rig_write(&rig, "sinfo", "drained\n");
	for (int i = 0; i < 200; i++)
		rig_pass(&rig, 100);
	told = rig_read(&rig, "scontrol.log");
	ck_assert_str_eq(told, "");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("reconcile", a_node_that_restarts_while_it_joins_is_not_let_in,
	 a_node_goes_its_way_to_ready, nothing_is_done_before_its_intent_is_in_the_log,
	 one_change_at_a_time, a_machine_has_one_name, what_does_not_fit_is_quarantined,
	 an_install_that_cannot_be_verified_fails_at_once,
	 a_failure_is_final_or_not_by_its_kind,
	 an_install_that_broke_off_is_tried_again_under_its_name,
	 a_late_node_is_cycled_twice_then_failed,
	 a_post_counts_beside_the_time_of_the_state,
	 a_refused_power_cycle_climbs_with_its_reason, the_wall_clock_may_jump,
	 joining_late_is_held_and_a_release_tries_anew,
	 a_failed_join_is_another_attempt_after_a_release,
	 an_outcome_is_not_lost_to_another_event, another_system_on_the_disk_is_a_fault,
	 a_reboot_of_a_ready_node_leads_back_to_validating,
	 an_order_outlives_a_reboot_before_its_turn,
	 a_stop_with_events_on_their_way_starts_nothing,
	 a_pool_without_a_cluster_is_ready_when_its_agent_has_its_certificates)
