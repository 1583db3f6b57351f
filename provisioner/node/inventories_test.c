/* SPDX-License-Identifier: Apache-2.0 */
/* An inventory that changes for ever is a condition of its node, and not a log. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static int
say(struct rig *rig, struct bu_inventory *inventory, int number)
{
	struct bu_node *node = rig_node(rig, 1);
	bu_autojson json_t *stamp = rig_stamp(rig, node);
	int rc;

	snprintf(inventory->dmi.product, sizeof(inventory->dmi.product), "Box %d",
		 number);
	rc = bu_reconcile_hello(rig->rec, node, BU_WHERE_INSTALLED, stamp, inventory,
				NULL);
	rig_pass(rig, 1000);
	return rc;
}

START_TEST(changes_without_end_are_not_kept_and_said)
{
	struct rig rig;
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-1");
	struct bu_node *node = rig_up_to(&rig, RIG_READY);
	char kept[BU_DIGEST_SIZE];
	int64_t rows, bytes;

	BU_TEXT_COPY(inventory->boot_id, node->boot_id);
	ck_assert_int_eq(say(&rig, inventory, 0), 0);
	ck_assert_int_eq(say(&rig, inventory, 1), 0);
	rig_pass(&rig, 2000);
	ck_assert_int_eq(node->conditions[BU_CONDITION_UNSTEADY_INVENTORY].on, 0);
	BU_TEXT_COPY(kept, node->inventory);
	rows = bu_store_appended(rig.fleet->store);
	bytes = bu_store_bytes(rig.fleet->store);
	for (int i = 2; i < 300; i++)
		ck_assert_int_eq(say(&rig, inventory, i), 0);
	ck_assert_str_ne(node->inventory, kept); /* some of them are */
	ck_assert_int_le(bu_store_appended(rig.fleet->store), rows + 12);
	ck_assert_int_le(bu_store_bytes(rig.fleet->store), bytes + (128 << 10));
	rig_pass(&rig, 2000);
	ck_assert_int_eq(node->conditions[BU_CONDITION_UNSTEADY_INVENTORY].on, 1);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	/* The last one is kept when there is room for it, and then it is over. */
	for (int i = 0; i < 60 && node->conditions[BU_CONDITION_UNSTEADY_INVENTORY].on;
	     i++) {
		ck_assert_int_eq(say(&rig, inventory, 299), 0);
		rig_pass(&rig, 60000);
	}
	ck_assert_int_eq(node->conditions[BU_CONDITION_UNSTEADY_INVENTORY].on, 0);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("inventories", changes_without_end_are_not_kept_and_said)
