/* SPDX-License-Identifier: Apache-2.0 */
/* An order that failed is tried again: what is done anew, and what is not. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tests/support/row.h"
#include "tests/support/verbs.h"

/* Only its boot has failed: it boots, and its order goes on to its end. 0: as of
 * take_trip(). */
static int
retries(int64_t rows)
{
	struct rig rig;
	struct bu_node *node = failed_booting(&rig);
	int network = rig_count(&rig, "boot network node001");
	int64_t cut = rows ? last_seq(&rig) + rows : 0;

	ck_assert_int_eq(node->order->failed, 1);
	rig_write(&rig, "power.node001", "off");
	ask(&rig, BU_VERB_RETRY, "failed -> booting, nothing is written");
	rig_until(&rig, node, BU_STATE_BOOTING);
	ck_assert_int_eq(node->order->open && node->order->begun, 1);
	node = goes_to(&rig, BU_STATE_READY, &cut);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), network);
	ck_assert_str_eq(bu_order_status(node->order), "done");
	ck_assert_int_eq(rig.fleet->rollouts[0].failed, 0);
	ck_assert_int_eq(rig.fleet->rollouts[0].done, 1);
	rig_end(&rig);
	return rows && !cut;
}

START_TEST(a_boot_that_failed_is_retried_without_a_write)
{
	int64_t rows = 1;

	retries(0);
	while (retries(rows))
		rows++;
	ck_assert_int_gt(rows, 6);
}
END_TEST

/* The mark of the unfinished install on the disk is known again; nothing more than what
 * was granted is granted. */
START_TEST(an_install_that_failed_is_retried_as_it_was)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_IMAGING);
	struct bu_err bad;
	char step[112];

	strcpy(step, node->step.id);
	bu_err_set(&bad, BU_ERR_VERIFY, 0, "frame 3 was changed");
	rig_answer(&rig, node, &bad);
	rig_until(&rig, node, BU_STATE_FAILED);
	ask(&rig, BU_VERB_RETRY, "its order (install, of rollout r-1) is opened again");
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->order->open, 1);
	ck_assert_int_eq(node->order->reset, 0);
	ck_assert_str_eq(node->order->image_digest, "d1");
	ck_assert_int_eq(rig.fleet->rollouts[0].failed, 0);
	ck_assert_int_eq(rig.fleet->rollouts[0].total, 1);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(rig.fleet->rollouts[0].total, 1);
	/* its ramdisk still runs, and says so: it may be switched off */
	node->live.last_seen_ms = bu_wall_ms(&rig.clock);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	ck_assert_str_eq(node->step.id, step);
	rig_end(&rig);
}
END_TEST

START_TEST(a_retry_is_refused_where_it_means_nothing)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	struct bu_event event;

	refused(&rig, BU_VERB_RETRY, BU_ERR_STATE, "its last order has not failed");
	row_init(&event, BU_EVENT_HELD, node->name,
		 json_pack("{s:s,s:s}", "owner", "bringup", "reason", "late"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ask(&rig, BU_VERB_RETRY, "released");
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	rig_end(&rig);

	node = rig_up_to(&rig, RIG_IMAGING);
	ck_assert_int_eq(bu_rollouts_abort(rig.rollouts, "r-1", "ann", NULL), 0);
	rig_pass(&rig, 1);
	{
		struct bu_err bad;

		bu_err_set(&bad, BU_ERR_VERIFY, 0, "no");
		rig_answer(&rig, node, &bad);
	}
	rig_until(&rig, node, BU_STATE_FAILED);
	refused(&rig, BU_VERB_RETRY, BU_ERR_STATE,
		"rollout r-1 was aborted; bringup apply orders it again");
	rig_end(&rig);
}
END_TEST

/* Of the agent that it did not change to; of nothing once it has that one. */
START_TEST(the_agent_that_failed_is_told_until_it_runs)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);
	bu_autofree char *before = NULL, *after = NULL;
	struct bu_event event;

	before = rig_why(&rig, node);
	ck_assert_ptr_null(strstr(before, "bringup-agent's log"));
	BU_EVENT_MAKE(&event, BU_EVENT_AGENT, node->name, agent, .version = "2.0",
		      .digest = "d2", .result = BU_AGENT_REFUSED,
		      .detail = "no such file");
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	BU_TEXT_COPY(bu_node_agent(node)->digest, "d1");
	rig_why_says(&rig, node, "agent 2.0 was not started");
	rig_why_says(&rig, node, "no such file; see bringup-agent's log on the node");
	BU_TEXT_COPY(bu_node_agent(node)->digest, "d2");
	after = rig_why(&rig, node);
	ck_assert_ptr_null(strstr(after, "agent 2.0"));
	rig_end(&rig);
}
END_TEST

RIG_UNIT("verbs_retry", the_agent_that_failed_is_told_until_it_runs,
	 a_boot_that_failed_is_retried_without_a_write,
	 an_install_that_failed_is_retried_as_it_was,
	 a_retry_is_refused_where_it_means_nothing)
