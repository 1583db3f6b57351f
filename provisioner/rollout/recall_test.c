/* SPDX-License-Identifier: Apache-2.0 */
/* An abort of what has begun: who goes back to where it was, and who goes on. */
#include <string.h>

#include "base/json.h"
#include "provisioner/rollout/rollout.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

static struct rig rig;
static struct bu_node *node;

/* In service; its order of this class has begun, and it is in this state. */
static void
begun(enum bu_class class, enum bu_state in)
{
	node = rig_up_to(&rig, RIG_READY);
	rig_apply(&rig, 1, class, "d2", NULL, NULL);
	rig_write(&rig, "sinfo", in == BU_STATE_DRAINING ? "draining\n" : "");
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	rig_until(&rig, node, BU_STATE_DRAINING);
	if (in == BU_STATE_DRAINING) {
		rig_until_step(&rig, node, BU_ACTION_LEAVE, BU_STEP_OPEN);
		return;
	}
	rig_until(&rig, node, BU_STATE_INSPECTING);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	if (in == BU_STATE_IMAGING)
		rig_inspect(&rig, 1);
}

static void
abort_it(int called_back, const char *why)
{
	bu_autojson json_t *told = bu_rollouts_recalled(rig.rollouts, "r-1");
	const json_t *on = json_array_get(json_object_get(told, "going_on"), 0);

	ck_assert_uint_eq(json_array_size(json_object_get(told, "called_back")),
			  (size_t)called_back);
	ck_assert_str_eq(bu_json_str(on, "why", ""), why);
	ck_assert_int_eq(bu_rollouts_abort(rig.rollouts, "r-1", "ann", NULL), 0);
	rig_pass(&rig, 1);
}

static int
boots(void)
{
	return rig_count(&rig, "boot disk node001") +
	       rig_count(&rig, "boot network node001");
}

/* Its jobs go on all the time. */
START_TEST(who_still_drains_goes_on_in_its_cluster)
{
	for (int restart = 0; restart < 2; restart++) {
		bu_autofree char *told = NULL;
		int before;

		begun(BU_CLASS_WIPE, BU_STATE_DRAINING);
		before = boots();
		abort_it(1, "");
		if (restart) {
			rig_restart(&rig);
			node = rig_node(&rig, 1);
		}
		ck_assert_int_eq(node->state, BU_STATE_JOINING);
		rig_reason_says(node->reason, "ann aborted its rollout");
		ck_assert_int_eq(node->order->withdrawn, 1);
		rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
		rig_write(&rig, "sinfo.next", "mixed\n");
		rig_answer(&rig, node, NULL);
		for (int i = 0; i < 20 && node->state != BU_STATE_READY; i++)
			rig_pass(&rig, 1000);
		ck_assert_int_eq(node->state, BU_STATE_READY);
		ck_assert_int_eq(boots(), before);
		ck_assert_str_eq(node->installed_digest, "d1");
		told = rig_read(&rig, "scontrol.log");
		rig_text_has(told, "state=resume");
		rig_end(&rig);
	}
}
END_TEST

/* Nothing was written: its system is on its disk, and is booted. */
START_TEST(who_was_not_written_to_boots_its_own_system)
{
	int before;

	begun(BU_CLASS_WIPE, BU_STATE_INSPECTING);
	before = rig_count(&rig, "boot disk node001");
	abort_it(1, "");
	ck_assert_int_eq(node->state, BU_STATE_BOOTING);
	ck_assert_int_eq(node->order->withdrawn, 1);
	rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&rig, "boot disk node001"), before + 1);
	rig_come_up(&rig, 1, "boot-back");
	rig_join(&rig, 1);
	ck_assert_str_eq(node->installed_digest, "d1");
	ck_assert_int_eq(node->order->open, 0);
	rig_end(&rig);
}
END_TEST

START_TEST(who_was_new_is_enrolled_again)
{
	node = rig_up_to(&rig, RIG_STARTED);
	abort_it(1, "");
	ck_assert_int_eq(node->state, BU_STATE_ENROLLED);
	ck_assert_int_eq(node->order->withdrawn, 1);
	rig_end(&rig);
}
END_TEST

/* Another rollout has it, or it waits for its turn. */
START_TEST(who_is_not_under_way_in_it_is_not_asked)
{
	static const char *const rollouts[] = {"r-2", "r-1"};

	for (int waits = 0; waits < 2; waits++) {
		bu_autojson json_t *told = NULL;

		if (waits) {
			node = rig_up_to(&rig, RIG_READY);
			rig_apply(&rig, 1, BU_CLASS_WIPE, "d2", NULL, NULL);
			ck_assert_int_eq(node->order->open, 1);
		} else {
			begun(BU_CLASS_WIPE, BU_STATE_DRAINING);
		}
		told = bu_rollouts_recalled(rig.rollouts, rollouts[waits]);
		ck_assert_uint_eq(json_array_size(json_object_get(told, "called_back")),
				  0);
		ck_assert_uint_eq(json_array_size(json_object_get(told, "going_on")),
				  0);
		rig_end(&rig);
	}
}
END_TEST

/* Half a system is no system: it goes on to its end. */
START_TEST(who_is_written_to_goes_on)
{
	struct bu_err bad;

	begun(BU_CLASS_WIPE, BU_STATE_IMAGING);
	abort_it(0, "it is imaging");
	ck_assert_int_eq(node->state, BU_STATE_IMAGING);
	ck_assert_int_eq(node->order->open, 1);
	rig_end(&rig);

	/* also when it boots once more to be written again */
	begun(BU_CLASS_WIPE, BU_STATE_IMAGING);
	bu_err_set(&bad, BU_ERR_IO, 0, "disk gone");
	rig_answer(&rig, node, &bad);
	for (int i = 0; i < 20 && node->state != BU_STATE_INSPECTING; i++)
		rig_pass(&rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	abort_it(0, "its disk is being written");
	ck_assert_int_eq(node->order->open, 1);
	rig_end(&rig);
}
END_TEST

/* It is out of its cluster, and its files are being written. */
START_TEST(who_has_left_for_a_restart_goes_on)
{
	node = rig_up_to(&rig, RIG_READY);
	rig_apply(&rig, 1, BU_CLASS_RESTART, "d1", NULL, NULL);
	rig_write(&rig, "sinfo", "");
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	abort_it(0, "it has left its cluster");
	rig_answer(&rig, node, NULL);
	rig_until(&rig, node, BU_STATE_JOINING);
	rig_end(&rig);
}
END_TEST

/* What was ordered cannot be written, however often: it comes back with what it has. */
START_TEST(who_cannot_be_configured_goes_back)
{
	struct bu_err bad;

	for (int restart = 0; restart < 2; restart++) {
		node = rig_up_to(&rig, RIG_READY);
		rig_apply(&rig, 1, BU_CLASS_RESTART, "d1", NULL, NULL);
		rig_write(&rig, "sinfo", "");
		ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
		rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
		bu_err_set(&bad, BU_ERR_INVAL, 0, "correct the MAC");
		rig_answer(&rig, node, &bad);
		for (int i = 0; i < 20 && !node->hold->owner; i++)
			rig_pass(&rig, 1000);
		rig_why_says(&rig, node,
			     "bringup rollout abort r-1 takes its order back");
		abort_it(1, "");
		if (restart) {
			rig_restart(&rig);
			node = rig_node(&rig, 1);
		}
		ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
		ck_assert_int_eq(node->state, BU_STATE_JOINING);
		ck_assert_int_eq(node->order->withdrawn, 1);
		rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
		rig_write(&rig, "sinfo.next", "idle\n");
		rig_write(&rig, "sinfo", "drained\n");
		rig_answer(&rig, node, NULL);
		for (int i = 0; i < 20 && node->state != BU_STATE_READY; i++)
			rig_pass(&rig, 1000);
		ck_assert_int_eq(node->state, BU_STATE_READY);
		rig_end(&rig);
	}
}
END_TEST

/* Without certificates of this boot it could not join again. */
START_TEST(who_could_not_join_again_drains_on)
{
	struct bu_event spoilt;

	begun(BU_CLASS_WIPE, BU_STATE_DRAINING);
	row_init(&spoilt, BU_EVENT_CERTIFICATE, node->name,
		 json_pack("{s:s,s:s}", "kind", "boot", "digest", "of another boot"));
	bu_reconcile_note(rig.rec, &spoilt, 1);
	rig_pass(&rig, 1);
	abort_it(0, "node node001: 'abort' in state draining: it has no valid "
		    "certificates for this machine and this boot");
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("recall", who_still_drains_goes_on_in_its_cluster,
	 who_was_not_written_to_boots_its_own_system, who_was_new_is_enrolled_again,
	 who_is_not_under_way_in_it_is_not_asked, who_is_written_to_goes_on,
	 who_has_left_for_a_restart_goes_on, who_cannot_be_configured_goes_back,
	 who_could_not_join_again_drains_on)
