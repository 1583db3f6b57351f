/* SPDX-License-Identifier: Apache-2.0 */
/* A machine that becomes another one after it was measured. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/reconcile.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static const char changed[] =
	"it is measured again: certificate: the machine's hardware has changed";

/* Its agent tells of its boot once more; a device has got this GUID by then. */
static void
tell(struct rig *rig, struct bu_node *node, const char *guid)
{
	bu_autoinventory struct bu_inventory *inventory =
		rig_inventory(1, node->boot_id);
	bu_autojson json_t *stamp = rig_stamp(rig, node);
	struct bu_err err = {0};

	inventory->rdma = bu_xcalloc(1, sizeof(*inventory->rdma));
	inventory->rdma_count = 1;
	BU_TEXT_COPY(inventory->rdma[0].name, "mlx5_0");
	BU_TEXT_COPY(inventory->rdma[0].node_guid, guid);
	ck_assert_msg(bu_reconcile_hello(rig->rec, node, BU_WHERE_INSTALLED, stamp,
					 inventory, &err) == 0,
		      "%s", err.text);
	rig_pass(rig, 1);
}

static void
until_validating(struct rig *rig, struct bu_node *node)
{
	rig_until(rig, node, BU_STATE_VALIDATING);
	rig_until_step(rig, node, BU_ACTION_NONE, BU_STEP_NONE);
	rig_reason_says(node->reason, changed);
}

/* Measured with what it has now. */
static void
proven(struct rig *rig, struct bu_node *node)
{
	rig_certify(rig, 1);
	if (node->state == BU_STATE_VALIDATING)
		rig_fire(rig, node, BU_TRIGGER_PROVEN);
	rig_until(rig, node, BU_STATE_JOINING);
	rig_until_step(rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
}

static void
joins(struct rig *rig, struct bu_node *node)
{
	proven(rig, node);
	rig_joins(rig, node);
	ck_assert_int_eq(node->order->open, 0);
	ck_assert_int_eq(rig_count(rig, "boot disk node001"), 1);
}

START_TEST(who_changes_while_it_joins_is_measured_again_by_itself)
{
	/* Slurm knows it and gives it nothing yet; or does not know it. */
	static const char *const rows[] = {"IDLE+DRAIN+DYNAMIC_NORM\n", ""};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct bu_node *node = rig_up_to(&rig, RIG_JOINING);
		bu_autofree char *told = NULL;

		rig_write(&rig, "sinfo", "");
		rig_answer(&rig, node, NULL);
		rig_pass(&rig, 100);
		tell(&rig, node, "a01");
		ck_assert_int_eq(node->state, BU_STATE_DRAINING);
		rig_reason_says(node->reason, changed);
		rig_write(&rig, "sinfo", rows[i]);
		rig_pass(&rig, 5000);
		rig_write(&rig, "sinfo", "");
		until_validating(&rig, node);
		told = rig_read(&rig, "scontrol.log");
		ck_assert_ptr_null(strstr(told, "resume"));
		ck_assert_int_eq(node->serves, 0);
		/* what it was measured for before counts no more */
		ck_assert_int_eq(node->again, 1);
		ck_assert_str_eq(node->boot_cert, "");
		ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
		joins(&rig, node);
		rig_end(&rig);
	}
}
END_TEST

/* It joins again while jobs run on it. They end first, be it after a restart. */
START_TEST(who_has_jobs_leaves_when_they_have_ended)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	rig_write(&rig, "sinfo", "");
	rig_until(&rig, node, BU_STATE_JOINING);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_write(&rig, "sinfo", "draining\n"); /* a job of before runs */
	tell(&rig, node, "a01");
	rig_pass(&rig, 200 * 1000);
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	ck_assert_int_eq(node->serves, 1);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->next->state, BU_STATE_VALIDATING);
	rig_write(&rig, "sinfo", "");
	until_validating(&rig, node);
	joins(&rig, node);
	rig_end(&rig);
}
END_TEST

START_TEST(who_is_lost_with_other_hardware_is_measured_before_it_joins)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	tell(&rig, node, "a01");
	for (int i = 0; i < 100; i++)
		rig_pass(&rig, 1000);
	/* its jobs go on */
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_write(&rig, "sinfo", "");
	until_validating(&rig, node);
	ck_assert_int_eq(node->outdated, 1);
	joins(&rig, node);
	rig_end(&rig);
}
END_TEST

/* A change of its profile on its way: the order is carried out all the same. */
START_TEST(its_order_goes_on)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	rig_apply(&rig, 1, BU_CLASS_RESTART, "d1", NULL, NULL);
	rig_write(&rig, "sinfo", "");
	ck_assert_int_eq(bu_reconcile_begin(rig.rec, node, NULL), 0);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	rig_answer(&rig, node, NULL);
	rig_until(&rig, node, BU_STATE_JOINING);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	tell(&rig, node, "a01");
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	rig_answer(&rig, node, NULL);
	until_validating(&rig, node);
	ck_assert_int_eq(node->order->begun, 1);
	joins(&rig, node);
	ck_assert_int_eq(node->order->failed, 0);
	rig_end(&rig);
}
END_TEST

static void
change(struct rig *rig, struct bu_node *node, int time)
{
	char guid[8];

	snprintf(guid, sizeof(guid), "a%02d", time);
	proven(rig, node);
	tell(rig, node, guid);
	rig_until(rig, node, BU_STATE_VALIDATING);
	ck_assert_int_eq(node->outdated, time);
}

START_TEST(who_keeps_changing_is_held_out_of_its_cluster)
{
	struct rig rig;
	struct bu_node *node = rig_up_to(&rig, RIG_VALIDATING);

	rig_write(&rig, "sinfo", "");
	rig_open_gate(&rig);
	for (int time = 1; time <= 3; time++) {
		rig_pass(&rig, 5000);
		ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
		change(&rig, node, time);
	}
	rig_pass(&rig, 5000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_BRINGUP);
	rig_reason_is(&node->hold->reason, OUTDATED_OFTEN);
	rig_why_says(&rig, node, "has changed 3 times");
	rig_why_says(&rig, node, "bringup node release node001");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(node->outdated, 3);
	/* A person has looked. */
	ck_assert_int_eq(bu_reconcile_release(rig.rec, node, "ann", NULL), 0);
	rig_pass(&rig, 5000);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	ck_assert_int_eq(node->outdated, 0);
	change(&rig, node, 1);
	/* Another boot may have other devices. */
	rig_come_up(&rig, 1, "boot-again");
	ck_assert_int_eq(node->outdated, 0);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("outdated", who_changes_while_it_joins_is_measured_again_by_itself,
	 who_has_jobs_leaves_when_they_have_ended,
	 who_is_lost_with_other_hardware_is_measured_before_it_joins, its_order_goes_on,
	 who_keeps_changing_is_held_out_of_its_cluster)
