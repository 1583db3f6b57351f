/* SPDX-License-Identifier: Apache-2.0 */
/* An order goes on by its own revision, whatever is applied after its turn. */
#include "provisioner/node/revisions.h"

#include <sqlite3.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

#define DISK "disk = smallest\n"
#define OTHER_DISK "disk = serial:B\n"

static const char *
disk_of(const struct rig *rig, int number)
{
	return bu_fleet_ordered(rig->fleet, rig_node(rig, number))->hardware->disk;
}

/* How many revisions but the applied one are in memory, or may come into it. */
static int
kept(const struct rig *rig)
{
	int count = 0;

	for (const struct bu_revision *revision = rig->fleet->revisions; revision;
	     revision = revision->next)
		count += strcmp(revision->digest, rig->fleet->revision) != 0;
	return count;
}

START_TEST(a_turn_is_carried_out_by_its_own_revision_to_its_end)
{
	struct rig rig;
	struct bu_target target;

	rig_begin(&rig, 2);
	rig_start(&rig, 1);
	rig_revise(&rig, 2, DISK, OTHER_DISK);
	/* one is under way, the other has not begun */
	ck_assert_str_eq(disk_of(&rig, 1), "smallest");
	ck_assert_str_eq(disk_of(&rig, 2), "serial:B");
	ck_assert_str_eq(bu_fleet_desired(rig.fleet, rig_node(&rig, 1))->hardware->disk,
			 "serial:B");
	ck_assert_int_eq(bu_fleet_target(rig.fleet, rig_node(&rig, 1), &target, NULL),
			 0);
	ck_assert_ptr_ne(target.desired, rig.fleet->desired);
	ck_assert_ptr_eq(target.node, bu_desired_node(target.desired, "node001"));
	ck_assert_int_eq(kept(&rig), 1);
	/* also after a third, also in another process, which reads the log alone */
	rig_revise(&rig, 2, DISK, "disk = serial:C\n");
	ck_assert_str_eq(disk_of(&rig, 1), "smallest");
	rig_restart(&rig);
	ck_assert_str_eq(disk_of(&rig, 1), "smallest");
	ck_assert_str_eq(disk_of(&rig, 2), "serial:C");
	/* also of a node that is in the applied one no more */
	rig_revise(&rig, 1, NULL, NULL);
	ck_assert_ptr_null(bu_fleet_ordered(rig.fleet, rig_node(&rig, 2)));
	ck_assert_int_eq(kept(&rig), 1);
	/* it ends: what was applied last is what the node should be */
	rig_revise(&rig, 2, DISK, OTHER_DISK);
	rig_fire(&rig, rig_node(&rig, 1), BU_TRIGGER_FAULT);
	rig_until(&rig, rig_node(&rig, 1), BU_STATE_FAILED);
	ck_assert_str_eq(disk_of(&rig, 1), "serial:B");
	ck_assert_ptr_null(rig.fleet->revisions);
	rig_end(&rig);
}
END_TEST

START_TEST(an_order_that_replaces_a_turn_is_of_its_own_revision)
{
	struct rig rig;

	rig_begin(&rig, 2);
	rig_start(&rig, 1);
	rig_start(&rig, 2);
	rig_revise(&rig, 2, DISK, OTHER_DISK);
	ck_assert_int_eq(kept(&rig), 1);
	rig_fire(&rig, rig_node(&rig, 1), BU_TRIGGER_FAULT);
	rig_until(&rig, rig_node(&rig, 1), BU_STATE_FAILED);
	/* the other one still needs it */
	ck_assert_int_eq(kept(&rig), 1);
	ck_assert_str_eq(disk_of(&rig, 2), "smallest");
	rig_apply(&rig, 2, BU_CLASS_WIPE, "d2", DISK, OTHER_DISK);
	ck_assert_int_eq(kept(&rig), 0);
	ck_assert_str_eq(disk_of(&rig, 1), "serial:B");
	ck_assert_str_eq(disk_of(&rig, 2), "serial:B");
	rig_start(&rig, 1);
	rig_revise(&rig, 2, NULL, NULL);
	ck_assert_str_eq(disk_of(&rig, 1), "serial:B");
	rig_end(&rig);
}
END_TEST

/* The log's own word goes before the profile that was applied with it. */
START_TEST(an_order_names_its_revision)
{
	struct rig rig;
	struct bu_event event;
	char old[65];

	rig_begin(&rig, 1);
	memcpy(old, rig.fleet->revision, sizeof(old));
	ck_assert_str_eq(rig_node(&rig, 1)->order->revision, old);
	rig_revise(&rig, 1, DISK, OTHER_DISK);
	ck_assert_str_ne(rig_node(&rig, 1)->order->revision, old);
	row_init(&event, BU_EVENT_ORDER, "node001",
		 json_pack("{s:s,s:s,s:s}", "rollout", "r-1", "class", "install",
			   "revision", old));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_str_eq(rig_node(&rig, 1)->order->revision, old);
	rig_start(&rig, 1);
	ck_assert_str_eq(disk_of(&rig, 1), "smallest");
	rig_end(&rig);
}
END_TEST

static void
spoil(const struct rig *rig, const char *digest)
{
	bu_autofree char *path = bu_xasprintf("%s/log.db", rig->dir);
	bu_autofree char *sql =
		bu_xasprintf("UPDATE blob SET text='{}' WHERE digest='%s'", digest);
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_changes(db), 1);
	sqlite3_close(db);
}

START_TEST(a_revision_that_cannot_be_read_fails_its_step_by_name)
{
	struct rig rig;
	struct bu_target target;
	struct bu_err err = {0};
	struct bu_node *node;
	char old[65], begin[40];

	rig_begin(&rig, 1);
	memcpy(old, rig.fleet->revision, sizeof(old));
	snprintf(begin, sizeof(begin), "revision %.12s, by which rollout", old);
	rig_write(&rig, "power.refuse", "BMC is asleep");
	node = rig_node(&rig, 1);
	rig_fire(&rig, node, BU_TRIGGER_START);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_FAILED);
	rig_revise(&rig, 1, DISK, OTHER_DISK);
	spoil(&rig, old);
	/* It is in memory: nobody reads the log for it. */
	ck_assert_str_eq(disk_of(&rig, 1), "smallest");
	bu_desired_destroy(bu_steal(&rig.fleet->revisions->desired));
	ck_assert_int_eq(bu_fleet_target(rig.fleet, node, &target, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	rig_text_has(err.text, begin);
	rig_text_has(err.text, "r-1 changes node001: blob ");
	ck_assert_ptr_null(bu_fleet_ordered(rig.fleet, node));
	rig_remove(&rig, "power.refuse");
	for (int i = 0; i < 400 && node->state != BU_STATE_FAILED; i++)
		rig_pass(&rig, 1000);
	/* no power was touched, and who asks is told why */
	ck_assert_str_eq(bu_state_name(node->state), "failed");
	rig_reason_has(node->reason, begin);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("revisions", a_turn_is_carried_out_by_its_own_revision_to_its_end,
	 an_order_that_replaces_a_turn_is_of_its_own_revision,
	 an_order_names_its_revision,
	 a_revision_that_cannot_be_read_fails_its_step_by_name)
